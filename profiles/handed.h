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
 * The argument registers by which parts of the record are handed over, as the
 * declared parameters have it: bit n is the n-th register.
 */
struct lm_err *lm_handed_parts(struct lm_handing *h, const struct lm_function *function, uint32_t *ret) LM_MUST_CHECK;

/* True if some instruction of function touches memory that is not its own stack: samples can show that it ran. */
struct lm_err *lm_handed_shows(struct lm_handing *h, const struct lm_function *function, bool *ret) LM_MUST_CHECK;

#endif
