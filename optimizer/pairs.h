/*
 * pairs.h - who fights with whom: line mates that cost, and what no layout
 * removes.
 *
 * The excess of two leaves on a line is the price of the two together less the
 * price of each alone: what parting them would save if they were the only ones
 * there.  The price of one leaf alone is its true sharing.
 */
#ifndef LM_OPTIMIZER_PAIRS_H
#define LM_OPTIMIZER_PAIRS_H

#include "optimizer/objective.h"
#include "optimizer/plan.h"

/*
 * The pairs of all views under these layouts [nr_views] that cost at least
 * `least` transfers, worst first, one entry a pair of leaf paths (its worst
 * view).  Lines are counted with the base on a line.
 */
void lm_pairs_find(const struct lm_subject *s, const struct lm_usage *u, struct lm_objective *o,
		   const struct lm_layout *layouts, uint32_t line, double least, struct lm_arena *arena,
		   struct lm_pair **pairs, uint32_t *nr);

/* The same with a pricing of one's own for each view [nr_views]. */
void lm_pairs_priced(const struct lm_subject *s, const struct lm_usage *u, struct lm_cost *const *costs,
		     const struct lm_layout *layouts, uint32_t line, double least, struct lm_arena *arena,
		     struct lm_pair **pairs, uint32_t *nr);

/* Fills in apart_after and slack of every pair under the new layouts. */
void lm_pairs_judge(const struct lm_subject *s, const struct lm_usage *u, const struct lm_layout *after, uint32_t line,
		    uint32_t base_align, struct lm_pair *pairs, uint32_t nr);

/* Leaves of the base view that cost transfers even alone, worst first. */
void lm_pairs_true_sharing(const struct lm_subject *s, const struct lm_usage *u, struct lm_objective *o,
			   uint32_t line, double least, struct lm_arena *arena, struct lm_true_sharing **shared,
			   uint32_t *nr);

/*
 * In how many of the objective's perturbations a pair of two units that is
 * apart afterwards is on one line, with the identity and with the new order.
 */
void lm_pairs_stability(const struct lm_subject *s, const struct lm_usage *u, const struct lm_objective *o,
			const struct lm_order *order, const struct lm_pair *pairs, uint32_t nr, uint32_t line,
			uint32_t base_align, struct lm_stability *out);

#endif
