/*
 * pack_greedy.h - a good packing without a solver: lines are joined while that
 * pays, then items change lines while that pays.  First columns and first
 * value of the column generation.
 */
#ifndef LM_OPTIMIZER_PACK_GREEDY_H
#define LM_OPTIMIZER_PACK_GREEDY_H

#include "optimizer/pack_items.h"

struct lm_pack_line_set {
	uint32_t *items;	/* [nr_start of the problem, or a line's bytes if there are too many to join] */
	uint32_t nr;
	uint32_t bytes;
	double price;
};

/*
 * Starts from p->start.  More lines than the problem allows are left only if
 * joining cannot get below.  More than a few hundred items are put on lines one
 * after the other.
 */
struct lm_pack_line_set *lm_pack_greedy(struct lm_pack_items *p, struct lm_arena *arena, uint32_t *nr);

/* Improves any packing in place; *nr may fall. */
void lm_pack_improve(struct lm_pack_items *p, struct lm_pack_line_set *lines, uint32_t *nr);

#endif
