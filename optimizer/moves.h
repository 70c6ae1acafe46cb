/*
 * moves.h - the best order with at most k moves.
 *
 * Reviewers want the smallest diff that reaches the goal, so the answer is a
 * curve.  One move takes one block of units (mostly a single unit) to another
 * gap, with or without a barrier before it or before what now follows it; a
 * barrier counts as a move of its own.  k moves are found from the best orders
 * of k - 1 (beam search); where at most 8 units may move, every order is tried
 * instead and the curve is exact.
 */
#ifndef LM_OPTIMIZER_MOVES_H
#define LM_OPTIMIZER_MOVES_H

#include "optimizer/objective.h"
#include "optimizer/plan.h"

struct lm_search {
	const struct lm_subject *s;
	const struct lm_rules *rules;
	struct lm_objective **workers;	/* [nr_workers]: one a thread */
	size_t nr_workers;
	const uint8_t *hot;		/* [nr_units]: has accesses in some view */
	uint32_t line;			/* bytes */
	double bound;			/* no order costs less transfers; 0: not known */
	bool allow_barriers;
	double until;			/* lm_now() after which no new level is begun */
};

/* Seconds of a steady clock. */
double lm_now(void);

/* Units that must move to make order from the identity: all but a longest rising subsequence, barriers added. */
uint32_t lm_moves_count(const struct lm_subject *s, const struct lm_order *order);

/* The moves themselves, in the order of the new text. */
void lm_moves_list(const struct lm_subject *s, const struct lm_order *order, struct lm_arena *arena,
		   struct lm_move **moves, uint32_t *nr);

/*
 * The curve: points of 0, 1, 2, ... moves, each better than the one before,
 * the last the best order found with any number.  starts are more orders to
 * begin from (they may be improved further); may be NULL.  *exhaustive: every
 * order was tried, the last point is the optimum.
 */
void lm_moves_search(const struct lm_search *search, const struct lm_order *starts, size_t nr_starts,
		     struct lm_arena *arena, struct lm_curve_point **curve, uint32_t *nr_curve, bool *exhaustive);

#endif
