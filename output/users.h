/* users.h - what a smaller or larger record makes of the records that hold it by value. */
#ifndef LM_OUTPUT_USERS_H
#define LM_OUTPUT_USERS_H

#include "optimizer/plan.h"
#include "optimizer/source.h"
#include "output/rewrite.h"

struct lm_users_row {
	const char *name;	/* "struct mem_cgroup" */
	uint64_t before, after;	/* bytes */
};

/* One configuration's. */
struct lm_users {
	struct lm_users_row *rows;	/* in the order of the unit's text */
	size_t nr;
};

struct lm_users_request {
	const struct lm_configs *configs;
	const char *record;
	const struct lm_source *sources;	/* [configs->nr] parsed with want_users */
	const struct lm_plan *plan;
	const struct lm_rewrite *rewrite;	/* NULL: nothing changes */
};

/*
 * Parses the new header in the configurations whose record changes its size,
 * at the same time; in the others what holds it keeps its size.  users
 * [configs->nr], strings borrowed from the sources, the rest in arena.
 *
 * LM_ERR_REFUSED: a record that holds it grows.  LM_ERR_BUG: the new header
 * cannot be parsed, or has lost one.
 */
struct lm_err *lm_users_compare(const struct lm_users_request *req, struct lm_arena *arena,
				struct lm_users *users) LM_MUST_CHECK;

#endif
