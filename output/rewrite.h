/*
 * rewrite.h - order + body -> the header's new text.
 *
 * Units that keep their place are not touched: the smallest set of units moves
 * (those outside the longest common subsequence), byte for byte with their
 * comments.  A unit under a guard takes its guard along (repeated), a guard
 * that must be split is closed and opened again, an emptied guard goes.
 */
#ifndef LM_OUTPUT_REWRITE_H
#define LM_OUTPUT_REWRITE_H

#include "base/arena.h"
#include "base/err.h"
#include "optimizer/subject.h"

struct lm_rewrite {
	char *text;		/* the whole new header */
	size_t len;
	uint32_t *moved;	/* units that were moved, in the order of the new text */
	uint32_t nr_moved;
	/* What was added to or taken from the tokens of the record, for verify.c. */
	const char **added_directives, **removed_directives;
	uint32_t nr_added_directives, nr_removed_directives;
	const char **added_tokens;	/* barriers: each token once a use */
	uint32_t nr_added_tokens;
	/* Whole lines put in behind the record, before byte added_at of the old header; added_len 0: none. */
	const char *added_text;
	size_t added_at, added_len;
	uint32_t nr_asserts;		/* assertions in them */
};

struct lm_rewrite_opts {
	const char *barrier;		/* padding macro with a name argument ("CACHELINE_PADDING"), or NULL */
	const char *barrier_attr;	/* attribute macro, or NULL; padding is preferred */
};

/* LM_ERR_BUG: a barrier is asked for and the project has no macro for it. */
struct lm_err *lm_rewrite(const struct lm_body *body, const struct lm_order *order,
			  const struct lm_rewrite_opts *opts, struct lm_arena *arena,
			  struct lm_rewrite *out) LM_MUST_CHECK;

#endif
