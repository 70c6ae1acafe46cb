/*
 * handed.h - what the callers of a function hand to it.
 *
 * Inside a function a pointer to a part of a record (a lock, a counter) says
 * nothing of what is around the part.  The callers know: they had the record
 * before they took the part's address.
 */
#ifndef LM_PROFILES_HANDED_H
#define LM_PROFILES_HANDED_H

#include "profiles/callers.h"

enum lm_handed_kind {
	LM_HANDED_RECORD,	/* a place in the record that is looked for */
	LM_HANDED_OTHER,	/* a place that cannot be in that record */
	LM_HANDED_OPEN,		/* a part of which the caller does not know the record either */
};

/* One thing that is handed over: no two are alike. */
struct lm_handed {
	enum lm_handed_kind kind;
	struct lm_reach reach;			/* LM_NO_TYPE: OPEN, and nothing is known */
	const struct lm_function *by;		/* whose code had it first */
};

struct lm_handed_list {
	const struct lm_handed *items;
	size_t nr;
	bool complete;		/* nobody else calls the function, and all callers were looked at */
};

struct lm_handing;

/* What is asked about one record (its type).  Borrows source. */
struct lm_handing *lm_handing_new(const struct lm_flow_source *source, uint32_t record);
void lm_handing_free(struct lm_handing *h);	/* NULL is fine */

/* True if both are the same place of the record. */
bool lm_handed_alike(const struct lm_handed *a, const struct lm_handed *b);

/*
 * What callers hand over in the n-th argument register, n from 0.  alike: only
 * if it is always the same place of the record; else the list is not complete.
 * ret's items live as long as h.
 */
struct lm_err *lm_handed_to(struct lm_handing *h, const struct lm_function *function, unsigned n, bool alike,
			    struct lm_handed_list *ret) LM_MUST_CHECK;

/*
 * The same at one call: returns[0] is where function returns to, returns[1]
 * where its caller does, and so on, nr of them, as addresses of the file; the
 * caller's own frame may be missing.  False where the code has no such calls.
 */
struct lm_err *lm_handed_by(struct lm_handing *h, const struct lm_function *function, unsigned n,
			    const uint64_t *returns, size_t nr, struct lm_handed *ret, bool *found) LM_MUST_CHECK;

/*
 * In how many places of the record an object lies that the n-th argument
 * register may point to, as the declared parameter has it; 0: in none.
 */
struct lm_err *lm_handed_places(struct lm_handing *h, const struct lm_function *function, unsigned n, size_t *ret)
	LM_MUST_CHECK;

/* What samples can show of a function: its operands, but for those on its own stack. */
struct lm_shown {
	bool any;	/* one that is read or written, as asked for */
	bool record;	/* one of those in the record */
};

struct lm_err *lm_handed_shows(struct lm_handing *h, const struct lm_function *function, bool reads, bool writes,
			       struct lm_shown *ret) LM_MUST_CHECK;

#endif
