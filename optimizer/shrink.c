/* shrink.c - the one move that gives cache lines back. */
#include "optimizer/shrink.h"

#include "optimizer/moves.h"
#include "optimizer/objective.h"

#include <math.h>
#include <string.h>

/* Records of more units are left alone: every move of each is laid out. */
enum { MOST_UNITS = 1024 };

/* Sums in another order differ in their last digits: that is no cost. */
static const double noise = 1e-6;

/* What one more member on another line is worth, as a share of the transfers. */
static const double displaced_price = 1e-3;

struct shrinking {
	const struct lm_subject *s;
	const struct lm_rules *r;	/* past padding */
	const struct lm_plan_opts *opts;
	struct lm_objective *objective;
	struct lm_layout *layouts;	/* [nr_views], scratch */
	struct lm_order order;		/* scratch */
	double transfers, robust;	/* of the declared order */
	uint64_t most;			/* bytes given back by the best so far, over all views */
	double score;			/* of the best so far: its transfers, dearer for each displaced member */
	uint32_t way;			/* units that it passes */
	struct lm_curve_point best;
};

/* Can fewer lines hold the base configuration's members at all? */
static bool has_room(const struct lm_subject *s, uint32_t line)
{
	const struct lm_record *rec = s->views[0].rec;
	uint64_t bytes = 0;

	for (uint32_t f = 0; f < rec->nr_fields; f++)
		bytes += rec->fields[f].bits == LM_NOT_BITS ? rec->fields[f].size : 0;
	return lm_layout_lines(bytes, line) < lm_layout_lines(rec->size, line);
}

/* The declared order with units [block, block + size) put before place `to` of the others. */
static void make_order(struct lm_order *o, uint32_t n, uint32_t block, uint32_t size, uint32_t to)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i <= n - size; i++) {
		for (uint32_t b = 0; i == to && b < size; b++)
			o->units[k++] = block + b;
		if (i < n - size)
			o->units[k++] = i < block ? i : i + size;
	}
}

/* Bytes that the order gives back over all views; 0 if it grows one, or takes no line off base. */
static uint64_t given_back(struct shrinking *x)
{
	uint64_t sum = 0;

	for (uint32_t v = 0; v < x->s->nr_views; v++) {
		const struct lm_view *view = &x->s->views[v];

		lm_layout_units(view, x->s->body->nr_units, &x->order, x->opts->line, NULL, &x->layouts[v]);
		if (x->layouts[v].size > view->rec->size)
			return 0;
		if (!v && lm_layout_lines(x->layouts[v].size, x->opts->line) >=
			  lm_layout_lines(view->rec->size, x->opts->line))
			return 0;
		sum += view->rec->size - x->layouts[v].size;
	}
	return sum;
}

/* Padding with nothing behind it parts nothing any more: whoever put it there meant something. */
static bool empties_group(const struct shrinking *x)
{
	uint32_t n = x->s->body->nr_units;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t next = i + 1 < n ? x->order.units[i + 1] : LM_NONE;

		if (x->r->padding[x->order.units[i]] && (next == LM_NONE || x->r->padding[next]))
			return true;
	}
	return false;
}

/* Members whose first byte changes its line, over all views. */
static uint32_t count_displaced(const struct shrinking *x)
{
	uint64_t line = 8 * (uint64_t)x->opts->line;
	uint32_t count = 0;

	for (uint32_t v = 0; v < x->s->nr_views; v++) {
		const struct lm_record *rec = x->s->views[v].rec;

		for (uint32_t f = 0; f < rec->nr_fields; f++)
			count += rec->fields[f].bit_offset / line != x->layouts[v].bit_offset[f] / line;
	}
	return count;
}

static bool is_better(const struct shrinking *x, uint64_t bytes, double score, uint32_t way)
{
	if (bytes != x->most)
		return bytes > x->most;
	if (fabs(score - x->score) > noise * x->score)
		return score < x->score;
	return way < x->way;
}

static void try_order(struct shrinking *x, uint32_t way, struct lm_arena *arena)
{
	uint64_t bytes = given_back(x);
	double transfers, robust, score;

	if (!bytes || bytes < x->most || !lm_rules_order_ok(x->s, x->r, &x->order) || empties_group(x))
		return;
	transfers = lm_objective_transfers(x->objective, &x->order);
	/* Where there is nothing to transfer, displaced members alone count. */
	score = (transfers + 1) * (1 + displaced_price * count_displaced(x));
	if (!(transfers <= x->transfers * (1 + noise)) || !is_better(x, bytes, score, way))
		return;
	robust = lm_objective_robust(x->objective, &x->order, INFINITY, NULL);
	if (!(robust <= x->robust + noise * fmax(1, fabs(x->robust))))
		return;
	x->most = bytes;
	x->score = score;
	x->way = way;
	x->best = (struct lm_curve_point){ .moves = lm_moves_count(x->s, &x->order), .cost = robust, .reach = robust,
					   .transfers = transfers, .order = lm_order_copy(x->s, &x->order, arena) };
}

static void try_block(struct shrinking *x, uint32_t block, struct lm_arena *arena)
{
	uint32_t n = x->s->body->nr_units, size = 1;

	while (block + size < n && x->r->block[block + size] == block)
		size++;
	for (uint32_t to = 0; to <= n - size; to++) {
		if (to == block)
			continue;
		make_order(&x->order, n, block, size, to);
		try_order(x, to < block ? block - to : to - block, arena);
	}
}

bool lm_shrink_find(const struct lm_subject *s, const struct lm_rules *r, const struct lm_usage *u,
		    const struct lm_plan_opts *opts, double until, struct lm_arena *arena, struct lm_curve_point *out)
{
	struct lm_objective_opts objective_opts = { .line = opts->line, .base_align = opts->base_align };
	struct lm_rules loose = lm_rules_past_padding(s, r, arena);
	struct shrinking x = { .s = s, .r = &loose, .opts = opts, .order = lm_order_identity(s, arena) };
	uint32_t n = s->body->nr_units;

	if (n > MOST_UNITS || !has_room(s, opts->line))
		return false;
	x.layouts = LM_ARENA_ARRAY(arena, struct lm_layout, s->nr_views);
	for (uint32_t v = 0; v < s->nr_views; v++)
		x.layouts[v].bit_offset = LM_ARENA_ARRAY(arena, uint64_t, s->views[v].rec->nr_fields + 1);
	x.objective = lm_objective_new(s, &loose, u, &objective_opts);
	x.transfers = lm_objective_transfers(x.objective, &x.order);
	x.robust = lm_objective_robust(x.objective, &x.order, INFINITY, NULL);
	for (uint32_t b = 0; b < n && lm_now() < until; b++)
		if (r->block[b] == b && !r->fixed[b])
			try_block(&x, b, arena);
	lm_objective_free(x.objective);
	if (!x.most || lm_now() >= until)
		return false;
	*out = x.best;
	return true;
}
