/*
 * packing.c - column generation: the lines of the best packing, and a bound
 * that no layout can beat.
 *
 *   minimise   sum of price(c) x_c                      c: sets of items on one line
 *   such that  sum of x_c over c with item i >= y_w     for every item i of every way w
 *              sum of y_w over the ways of a unit >= 1  for every unit (where it has one way, y is 1)
 *              sum of x_c <= lines
 *
 * Covering is enough: a window covered twice can be left out once, which never
 * costs more.  For any duals pi_i >= 0 of the items and mu <= 0 of the lines,
 *
 *   sum over units of min over ways (sum of pi of its items)
 *   + lines * mu + K * min(0, least reduced cost)
 *
 * bounds the program from below, K the most lines that a packing can have: the
 * bound holds after every round of pricing, not only at the end.
 */
#include "optimizer/packing.h"

#include "optimizer/pack_greedy.h"
#include "optimizer/pack_items.h"
#include "optimizer/pack_pricing.h"
#include "optimizer/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The bound ends within this share of the linear program's value. */
#define EXACTNESS 1e-4

enum { PER_ROUND = 30, PATIENCE = 2000 };

struct generation {
	struct lm_pack_items items;
	struct lm_arena *arena;
	struct lm_lp *lp;
	struct lm_pricer *pricer;
	struct lm_pack_column *columns;
	size_t nr_columns, cap_columns;
	size_t first_column;		/* columns[0] in the program: the penalty and the ways are before it */
	uint32_t *way_column;		/* [nr_ways] of y_w; 0 where the unit has one way */
	uint32_t nr_rows;		/* items, units with several ways, lines */
	uint32_t *rows;			/* [nr_rows] scratch */
	double *values;			/* [nr_rows] scratch */
	double scale;			/* price of the program's unit */
	double *duals;			/* [nr_rows] in prices; the last is mu */
	struct lm_pack_line_set *best;	/* the best packing known */
	uint32_t nr_best;
	double value;			/* its price; INFINITY if it has too many lines */
	double bound;
	bool proven;
	double start, deadline;
};

static double clock_left(const struct generation *g)
{
	return g->deadline - lm_pricer_clock();
}

/* ---- the restricted program ---- */

static struct lm_err *add_column(struct generation *g, const struct lm_pack_column *c)
{
	for (uint32_t i = 0; i <= c->nr; i++) {
		g->rows[i] = i < c->nr ? c->items[i] : g->nr_rows - 1;
		g->values[i] = 1;
	}

	struct lm_err *err = lm_lp_add(g->lp, c->price / g->scale, g->rows, g->values, c->nr + 1, false);

	if (err)
		return err;

	uint32_t *items = LM_ARENA_ARRAY(g->arena, uint32_t, c->nr);

	memcpy(items, c->items, c->nr * sizeof(*items));
	*LM_ARENA_PUSH(g->arena, g->columns, g->nr_columns, g->cap_columns) =
		(struct lm_pack_column){ items, c->nr, c->price, 0 };
	return NULL;
}

static bool one_way(const struct lm_pack_items *p, uint32_t w)
{
	return (w == 0 || p->ways[w - 1].unit != p->ways[w].unit) &&
	       (w + 1 == p->nr_ways || p->ways[w + 1].unit != p->ways[w].unit);
}

/* y_w for every way that is a choice; `unit_row` is the row of the first unit that has one. */
static struct lm_err *add_ways(struct generation *g, uint32_t unit_row)
{
	const struct lm_pack_items *p = &g->items;

	for (uint32_t w = 0; w < p->nr_ways; w++) {
		const struct lm_pack_way *way = &p->ways[w];
		struct lm_err *err;

		if (one_way(p, w))
			continue;
		for (uint32_t i = 0; i <= way->nr; i++) {
			g->rows[i] = i < way->nr ? way->first + i : unit_row;
			g->values[i] = i < way->nr ? -1 : 1;
		}
		err = lm_lp_add(g->lp, 0, g->rows, g->values, way->nr + 1, false);
		if (err)
			return err;
		g->way_column[w] = (uint32_t)g->first_column++;
		unit_row += w + 1 < p->nr_ways && p->ways[w + 1].unit != way->unit;
	}
	return NULL;
}

/* Rows and right-hand sides. */
static struct lm_err *add_rows(struct generation *g)
{
	const struct lm_pack_items *p = &g->items;
	double *rhs = LM_ARENA_ARRAY(g->arena, double, g->nr_rows);
	enum lm_row_sense *sense = LM_ARENA_ARRAY(g->arena, enum lm_row_sense, g->nr_rows);

	for (uint32_t i = 0; i + 1 < g->nr_rows; i++) {
		rhs[i] = i >= p->nr_items;
		sense[i] = LM_ROW_GE;
	}
	for (uint32_t w = 0; w < p->nr_ways; w++)
		for (uint32_t i = 0; one_way(p, w) && i < p->ways[w].nr; i++)
			rhs[p->ways[w].first + i] = 1;
	rhs[g->nr_rows - 1] = p->pack->lines;
	sense[g->nr_rows - 1] = LM_ROW_LE;
	return lm_lp_new(rhs, sense, g->nr_rows, &g->lp);
}

/* The penalty for lines over the limit (so that there is always a solution), the ways, every item alone, the greedy. */
static struct lm_err *open_program(struct generation *g)
{
	const struct lm_pack_items *p = &g->items;
	uint32_t last = g->nr_rows - 1;
	double total = 0, minus = -1;
	struct lm_err *err = add_rows(g);

	for (uint32_t i = 0; i < p->nr_items; i++)
		total += p->items[i].alone;
	if (!err)
		err = lm_lp_add(g->lp, total / g->scale + 1, &last, &minus, 1, false);
	g->first_column = 1;
	if (!err)
		err = add_ways(g, p->nr_items);
	for (uint32_t i = 0; !err && i < p->nr_items; i++)
		err = add_column(g, &(struct lm_pack_column){ &i, 1, p->items[i].alone, 0 });
	for (uint32_t i = 0; !err && i < g->nr_best; i++)
		err = add_column(g, &(struct lm_pack_column){ g->best[i].items, g->best[i].nr, g->best[i].price, 0 });
	return err;
}

/* Solves the linear program and turns its duals into prices of the right sign. */
static struct lm_err *solve_linear(struct generation *g, bool *optimal)
{
	struct lm_lp_result r = { .duals = g->duals };
	struct lm_err *err = lm_lp_solve(g->lp, &r);

	if (err)
		return err;
	*optimal = r.optimal;
	for (uint32_t i = 0; i < g->nr_rows; i++) {
		double d = r.optimal ? g->duals[i] * g->scale : 0;

		/* Rounding can put a dual on the wrong side of 0, where the bound would not hold. */
		g->duals[i] = i + 1 == g->nr_rows ? (d < 0 ? d : 0) : d > 0 ? d : 0;
	}
	return NULL;
}

/* ---- generation ---- */

/* Single items are in the program, so they are not searched for; but the simplex is only so exact. */
static double least_of_singles(const struct generation *g, double least)
{
	for (uint32_t i = 0; i < g->items.nr_items; i++) {
		double reduced = g->items.items[i].alone - g->duals[i];

		least = reduced < least ? reduced : least;
	}
	return least;
}

static void raise_bound(struct generation *g, double least)
{
	const struct lm_pack_items *p = &g->items;
	double mu = g->duals[g->nr_rows - 1], bound = p->pack->lines * mu;

	for (uint32_t w = 0, end; w < p->nr_ways; w = end) {
		double cheapest = INFINITY;

		for (end = w; end < p->nr_ways && p->ways[end].unit == p->ways[w].unit; end++) {
			double sum = 0;

			for (uint32_t i = 0; i < p->ways[end].nr; i++)
				sum += g->duals[p->ways[end].first + i];
			cheapest = sum < cheapest ? sum : cheapest;
		}
		bound += cheapest;
	}
	least = least_of_singles(g, least);
	if (least < mu)
		bound += p->most_lines * (least - mu);
	g->bound = bound > g->bound ? bound : g->bound;
}

static struct lm_err *generate(struct generation *g)
{
	struct lm_pack_column found[PER_ROUND];

	/* A first bound, should there be no time for another. */
	lm_pricer_floor(g->pricer, g->duals);
	raise_bound(g, 0);

	double tolerance = EXACTNESS * g->scale * g->nr_best / (g->items.most_lines + 1);

	for (;;) {
		bool optimal, complete = false;
		struct lm_err *err = solve_linear(g, &optimal);

		if (err)
			return err;
		if (!optimal || clock_left(g) < 0)
			return NULL;

		double mu = g->duals[g->nr_rows - 1];
		uint32_t nr = lm_pricer_greedy(g->pricer, g->duals, tolerance - mu, g->deadline, found,
						PER_ROUND);

		if (!nr) {
			double least;

			nr = lm_pricer_search(g->pricer, g->duals, tolerance - mu, g->deadline, PATIENCE, found,
					      PER_ROUND, &least, &complete);
			raise_bound(g, least);
		}
		if (!nr) {
			g->proven = complete;
			return NULL;
		}
		for (uint32_t i = 0; i < nr; i++) {
			err = add_column(g, &found[i]);
			if (err)
				return err;
		}
	}
}

/* ---- whole lines ---- */

/* Marks the items of one way a unit: of those chosen the first. */
static uint8_t *wanted_items(struct generation *g, const double *x)
{
	const struct lm_pack_items *p = &g->items;
	uint8_t *wanted = LM_ARENA_ARRAY(g->arena, uint8_t, p->nr_items + 1);
	uint32_t done = LM_NONE;

	for (uint32_t w = 0; w < p->nr_ways; w++) {
		const struct lm_pack_way *way = &p->ways[w];

		if (way->unit == done || (g->way_column[w] && x[g->way_column[w]] < 0.5))
			continue;
		memset(wanted + way->first, 1, way->nr);
		done = way->unit;
	}
	return wanted;
}

/* Chosen columns may hold an item that is not wanted, or twice, where that is no dearer: it is left out. */
static uint32_t lines_of(struct generation *g, const double *x, struct lm_pack_line_set *lines)
{
	uint8_t *wanted = wanted_items(g, x);
	uint32_t nr = 0;

	for (size_t c = 0; c < g->nr_columns; c++) {
		struct lm_pack_line_set *l = &lines[nr];

		if (x[g->first_column + c] < 0.5)
			continue;
		*l = (struct lm_pack_line_set){ .items = LM_ARENA_ARRAY(g->arena, uint32_t, g->items.nr_items) };
		for (uint32_t i = 0; i < g->columns[c].nr; i++) {
			uint32_t item = g->columns[c].items[i];

			if (!wanted[item])
				continue;
			wanted[item] = 0;
			l->items[l->nr++] = item;
			l->bytes += g->items.items[item].bytes;
		}
		l->price = lm_pack_items_value(&g->items, l->items, l->nr);
		nr += l->nr > 0;
	}
	return nr;
}

static void take_if_better(struct generation *g, struct lm_pack_line_set *lines, uint32_t nr)
{
	double value = 0;

	for (uint32_t i = 0; i < nr; i++)
		value += lines[i].price;
	if (nr > g->items.pack->lines || value >= g->value)
		return;
	g->value = value;
	g->best = lines;
	g->nr_best = nr;
}

static struct lm_err *solve_whole(struct generation *g, double seconds)
{
	double *x = LM_ARENA_ARRAY(g->arena, double, g->first_column + g->nr_columns);
	struct lm_lp_result r = { .x = x };

	if (g->value <= g->bound * (1 + 1e-9))
		return NULL;

	struct lm_err *err = lm_lp_solve_integer(g->lp, seconds, &r);

	if (err || !r.optimal)
		return err;

	struct lm_pack_line_set *lines = LM_ARENA_ARRAY(g->arena, struct lm_pack_line_set, g->nr_columns + 1);
	uint32_t nr = lines_of(g, x, lines);

	lm_pack_improve(&g->items, lines, &nr);
	take_if_better(g, lines, nr);
	return NULL;
}

/* ---- in and out ---- */

static void start(struct generation *g)
{
	const struct lm_pack_items *p = &g->items;

	g->nr_rows = p->nr_items + 1;
	for (uint32_t w = 0; w < p->nr_ways; w++)
		g->nr_rows += !one_way(p, w) && (w == 0 || p->ways[w - 1].unit != p->ways[w].unit);
	g->rows = LM_ARENA_ARRAY(g->arena, uint32_t, g->nr_rows);
	g->values = LM_ARENA_ARRAY(g->arena, double, g->nr_rows);
	g->duals = LM_ARENA_ARRAY(g->arena, double, g->nr_rows);
	g->way_column = LM_ARENA_ARRAY(g->arena, uint32_t, p->nr_ways + 1);
	g->best = lm_pack_greedy(&g->items, g->arena, &g->nr_best);
	g->value = 0;
	for (uint32_t i = 0; i < g->nr_best; i++)
		g->value += g->best[i].price;
	g->scale = g->value > 0 ? g->value / g->nr_best : 1;
	if (g->nr_best > g->items.pack->lines)
		g->value = INFINITY;
	g->pricer = lm_pricer_new(&g->items);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int by_first_leaf(const void *a, const void *b)
{
	return by_number(((const struct lm_pack_line *)a)->leaves, ((const struct lm_pack_line *)b)->leaves);
}

static void finish(const struct generation *g, struct lm_arena *arena, struct lm_packing *out)
{
	bool any = g->value < INFINITY;
	uint32_t nr = any ? g->nr_best : 0;

	*out = (struct lm_packing){ .bound = g->bound * (1 - 1e-9),
				    .value = any ? g->value : 0,
				    .proven = g->proven,
				    .lines = LM_ARENA_ARRAY(arena, struct lm_pack_line, nr + 1),
				    .nr_lines = nr,
				    .nr_columns = (uint32_t)g->nr_columns,
				    .seconds = lm_pricer_clock() - g->start };
	for (uint32_t i = 0; i < nr; i++) {
		const struct lm_pack_line_set *from = &g->best[i];
		struct lm_pack_line *l = &out->lines[i];

		for (uint32_t k = 0; k < from->nr; k++)
			l->nr += g->items.items[from->items[k]].nr_leaves;
		l->leaves = LM_ARENA_ARRAY(arena, uint32_t, l->nr);
		l->cost = from->price;
		l->nr = 0;
		for (uint32_t k = 0; k < from->nr; k++) {
			const struct lm_pack_item *x = &g->items.items[from->items[k]];

			for (uint32_t j = 0; j < x->nr_leaves; j++)
				l->leaves[l->nr++] = x->first_leaf + j;
		}
		qsort(l->leaves, l->nr, sizeof(*l->leaves), by_number);
	}
	qsort(out->lines, nr, sizeof(*out->lines), by_first_leaf);
}

struct lm_err *lm_packing_solve(const struct lm_pack *p, double seconds, struct lm_arena *arena,
				struct lm_packing *out)
{
	struct lm_arena scratch = { 0 };
	struct generation g = { .arena = &scratch, .start = lm_pricer_clock() };
	struct lm_err *err;

	/* A part of the time is for whole lines. */
	g.deadline = g.start + 0.8 * seconds;
	lm_pack_items_make(p, &scratch, &g.items);
	start(&g);
	err = open_program(&g);
	if (!err)
		err = generate(&g);
	if (!err)
		err = solve_whole(&g, g.start + seconds - lm_pricer_clock());
	if (!err)
		finish(&g, arena, out);
	lm_lp_free(g.lp);
	lm_pricer_free(g.pricer);
	lm_pack_items_release(&g.items);
	lm_arena_release(&scratch);
	return err;
}
