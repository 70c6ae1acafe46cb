/*
 * pack_pricing.h - which line would improve the program most?
 *
 * Given a dual >= 0 for every item, the set of items that fits one line and has
 * the least reduced cost: its price less its duals.  Found by depth
 * first branch and bound.  The bound adds, for what could still join a line S,
 *
 *   the best sum of (dual of item - what it adds to S at least)
 *
 * as a knapsack with fractions over the free bytes.  What an item adds at least
 * is lm_cost_line_adds(): the item gets a share of S in proportion to its bytes
 * of the free ones, and of a touch that several items have in common such a
 * share too.  Shares add up to at most 1, so the figures may be summed.
 */
#ifndef LM_OPTIMIZER_PACK_PRICING_H
#define LM_OPTIMIZER_PACK_PRICING_H

#include "optimizer/pack_items.h"

/* A set of items that fits one line. */
struct lm_pack_column {
	uint32_t *items;	/* ascending */
	uint32_t nr;
	double price;
	double reduced;		/* price less duals */
};

struct lm_pricer;

/* From malloc; free with lm_pricer_free.  items is borrowed. */
struct lm_pricer *lm_pricer_new(struct lm_pack_items *items);
void lm_pricer_free(struct lm_pricer *r);	/* NULL is fine */

/*
 * Duals under which no set has a reduced cost below 0, without a search: what
 * each item adds at least to an empty line.
 */
void lm_pricer_floor(struct lm_pricer *r, double *duals);

/*
 * Greedy from every item: sets with reduced cost below -tolerance, the best
 * first, no two equal, at most max; from fewer items once the monotonic clock
 * passes deadline.  Returns how many.  The columns' items stay valid until the
 * next call.
 */
uint32_t lm_pricer_greedy(struct lm_pricer *r, const double *duals, double tolerance, double deadline,
			  struct lm_pack_column *out, uint32_t max);

/*
 * The same by branch and bound, until the monotonic clock passes deadline, or
 * until something was found and patience steps were made.  *least is a proven
 * lower bound of the reduced cost of every set, exact within tolerance if the
 * search came to its end (*complete).
 */
uint32_t lm_pricer_search(struct lm_pricer *r, const double *duals, double tolerance, double deadline,
			  uint64_t patience, struct lm_pack_column *out, uint32_t max, double *least, bool *complete);

/* Seconds of the monotonic clock. */
double lm_pricer_clock(void);

#endif
