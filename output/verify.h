/*
 * verify.h - is the rewritten header what the plan says?  Nothing is printed
 * before this has passed.
 *
 *  1. the tokens of the record are the same multiset, but for what rewrite.h
 *     says it added or took;
 *  2. parsed again with libclang in every configuration, every field is at the
 *     offset of the plan;
 *  3. compiled with gcc and with clang in every configuration, in a mirror of
 *     the tree made of symlinks (the person's tree is never written), and the
 *     DWARF read back with libdwarf equals the plan.
 */
#ifndef LM_OUTPUT_VERIFY_H
#define LM_OUTPUT_VERIFY_H

#include "optimizer/plan.h"
#include "optimizer/source.h"
#include "output/rewrite.h"

struct lm_verify_request {
	const struct lm_configs *configs;
	const char *record;
	const struct lm_subject *subject;
	const struct lm_order *order;
	const struct lm_layout *after;	/* [nr_views] the plan's layouts */
	const struct lm_rewrite *rewrite;
	struct lm_source_ahead *ahead;	/* of the original header, or NULL */
	void (*meanwhile)(void *arg);	/* something else to do while compilers run, on any thread; or NULL */
	void *arg;
};

/* A configuration that one compiler could not speak of; libclang did. */
struct lm_unspoken {
	const char *config, *compiler;
	const char *why;	/* a clause: "it does not compile the header there as it is: ..." */
};

struct lm_verified {
	const char *compilers;	/* "gcc 12.2.0 and clang 19.1.7", in arena; "" if none is installed */
	uint32_t nr_compilations;
	struct lm_unspoken *unspoken;
	uint32_t nr_unspoken;
	const char *missing;	/* "gcc" or "clang" if it is not installed; else NULL */
};

/*
 * LM_ERR_BUG: any difference (names configuration, compiler, field, offsets).
 * LM_ERR_INPUT: the original header does not compile with that compiler
 * either (then it is not our bug; the first error is quoted), the flags lead
 * around the changed header, or no compiler.  LM_ERR_REFUSED: a compiler and
 * libclang disagree on the original already.  LM_ERR_LIMIT: a compiler hangs.
 */
struct lm_err *lm_verify(const struct lm_verify_request *req, struct lm_arena *arena,
			 struct lm_verified *out) LM_MUST_CHECK;

#endif
