/*
 * pack_items.h - the packing problem made ready for pricing: ways of units to
 * lie on lines, their windows, and touches merged as far as no set of windows
 * can tell them apart.
 *
 * A unit whose start modulo the line is known has one way to lie on lines; else
 * every multiple of its alignment is tried.  A *way* cuts the unit's hot leaves
 * into windows, one a line; starts that cut alike are one way.  A window's bytes
 * are all the bytes of the unit, cold ones included, that lie on that line:
 * nothing else can be there.  Where starts that cut alike differ, the least is
 * taken, so that nothing possible is forbidden.
 *
 * Each window of each way is an *item*.
 */
#ifndef LM_OPTIMIZER_PACK_ITEMS_H
#define LM_OPTIMIZER_PACK_ITEMS_H

#include "optimizer/cost_line.h"
#include "optimizer/packing.h"

#include <stdbool.h>

/* What an item adds to one slot of the price. */
struct lm_pack_rate {
	uint32_t slot, cell;
	uint32_t group;		/* slots of one group are used by the same atoms */
	double touches, writes;
};

struct lm_pack_item {
	uint32_t unit;
	uint32_t first_leaf, nr_leaves;
	uint32_t bytes;			/* of the line, taken by the unit */
	bool from_before, goes_on;	/* the unit reaches over the start or end of the line: one unit of a line can */
	int64_t line_at;		/* number of the line in the record, or -1 */
	double alone;			/* price of a line that holds only this */
	uint32_t *touches;		/* merged ones, for lm_cost_line_push */
	uint32_t nr_touches;
	struct lm_pack_rate *rates;	/* by cell, then slot; one a slot */
	uint32_t nr_rates;
	uint32_t *groups;		/* of its rates, each once */
	uint32_t nr_groups;
};

/* One way of a unit: items first .. first + nr, in the order of their lines. */
struct lm_pack_way {
	uint32_t unit, first, nr;
};

struct lm_pack_items {
	const struct lm_pack *pack;
	struct lm_pack_item *items;	/* by way */
	uint32_t nr_items;
	struct lm_pack_way *ways;	/* by unit; only units with hot leaves have any */
	uint32_t nr_ways;
	uint32_t *start;		/* items of each unit's cheapest way */
	uint32_t nr_start;
	uint32_t most_lines;		/* no packing has more */
	uint32_t least_bytes;		/* of the smallest item */
	struct lm_cost_line *price;	/* over the merged touches */
	uint32_t nr_groups;
};

/* Everything but the price lives in arena; lm_pack_items_release() frees that. */
void lm_pack_items_make(const struct lm_pack *p, struct lm_arena *arena, struct lm_pack_items *out);
void lm_pack_items_release(struct lm_pack_items *p);

/* Can the two be on one line together, their bytes aside? */
bool lm_pack_items_meet(const struct lm_pack_items *p, uint32_t a, uint32_t b);

/* Price of a line that holds these items.  The price must be empty, and is afterwards. */
double lm_pack_items_value(struct lm_pack_items *p, const uint32_t *items, uint32_t nr);

#endif
