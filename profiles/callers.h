/*
 * callers.h - where a function is called from, as far as its file shows.
 *
 * A function is closed if nothing but direct calls and jumps leads to it: its
 * address lies in no data, in no relocation and in no other instruction, and no
 * other file may call it by name.
 */
#ifndef LM_PROFILES_CALLERS_H
#define LM_PROFILES_CALLERS_H

#include "profiles/flow.h"

struct lm_callers;

/* A call, or a jump that leaves its function, to the start of another function. */
struct lm_call {
	uint64_t at;			/* the instruction's address */
	const struct lm_function *caller;	/* owned by the debug info */
};

/* Borrows source, which must live as long. */
struct lm_callers *lm_callers_new(const struct lm_flow_source *source);
void lm_callers_free(struct lm_callers *callers);	/* NULL is fine */

/*
 * The places in the code that may be calls of function: bytes that read as one.
 * Whether an instruction starts there, its caller's flow must tell.  *nr counts
 * them; if they are more than cap, or the function is not closed, none are
 * written.  *closed is false where a call lies outside every function of the
 * debug info, too.
 */
struct lm_err *lm_callers_of(struct lm_callers *callers, const struct lm_function *function, struct lm_call *calls,
			     size_t cap, size_t *nr, bool *closed) LM_MUST_CHECK;

#endif
