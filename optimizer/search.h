/*
 * search.h - what the parts of the search share: moves.c follows the curve,
 * neighbours.c makes single moves, all_orders.c tries every order.
 */
#ifndef LM_OPTIMIZER_SEARCH_H
#define LM_OPTIMIZER_SEARCH_H

#include "optimizer/moves.h"

enum { LM_BEAM = 4 };		/* orders kept from level to level */

/* An order with its price. */
struct lm_state {
	struct lm_order order;
	double transfers;	/* expected, as it stands; sum over views */
	double robust;		/* objective.h */
	double reach;		/* robust cost of the best order of its level, of which this is the calm one */
	uint32_t moves;
};

/* Units that move with `block`, its first one counted. */
uint32_t lm_block_size(const struct lm_search *x, uint32_t block);

/*
 * The best orders one move away from those of `from`: at most LM_BEAM, best
 * first, in out; returns their number.  start is the robust cost of the declared
 * order.  No result has more than max_moves moves because of a barrier.
 */
size_t lm_neighbours(const struct lm_search *x, const struct lm_state *from, size_t nr_from, double start,
		     uint32_t max_moves, struct lm_arena *arena, struct lm_state *out);

/*
 * Tries every order if at most 8 blocks may move; false if there are more.
 * best[m], m = 0 .. nr_units, is the best order of exactly m moves if it beats
 * all with fewer, else its order.units are NULL.  *all is false if time was over
 * first: best is then of those tried.
 */
bool lm_all_orders(const struct lm_search *x, struct lm_arena *arena, struct lm_state **best, bool *all);

#endif
