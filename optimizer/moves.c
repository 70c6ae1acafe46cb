/* moves.c - the best order with at most k moves. */
#include "optimizer/search.h"

#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_LEVELS = 12 };

/* A point of the curve is worth showing if it saves this share of what came before. */
static const double worth = 5e-3;

/* This share of the gain that the bound leaves possible is near it. */
static const double near_share = 0.95;

double lm_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Marks the units of a longest rising subsequence of order: those that stay. */
static void mark_staying(const struct lm_order *order, uint32_t n, uint8_t *stays)
{
	uint32_t *best = calloc(n + 1, sizeof(*best)), *from = calloc(n + 1, sizeof(*from)), last = LM_NONE;

	if (!best || !from)
		lm_oom();
	for (uint32_t i = 0; i < n; i++) {
		best[i] = 1;
		from[i] = LM_NONE;
		for (uint32_t j = 0; j < i; j++) {
			if (order->units[j] < order->units[i] && best[j] + 1 > best[i]) {
				best[i] = best[j] + 1;
				from[i] = j;
			}
		}
		if (last == LM_NONE || best[i] > best[last])
			last = i;
	}
	memset(stays, 0, n);
	for (uint32_t i = last; i != LM_NONE; i = from[i])
		stays[order->units[i]] = 1;
	free(best);
	free(from);
}

uint32_t lm_moves_count(const struct lm_subject *s, const struct lm_order *order)
{
	uint32_t n = s->body->nr_units, count = 0;
	uint8_t *stays = calloc(n + 1, 1);

	if (!stays)
		lm_oom();
	mark_staying(order, n, stays);
	for (uint32_t i = 0; i < n; i++)
		count += !stays[i] + order->barrier[i];
	free(stays);
	return count;
}

void lm_moves_list(const struct lm_subject *s, const struct lm_order *order, struct lm_arena *arena,
		   struct lm_move **moves, uint32_t *nr)
{
	uint32_t n = s->body->nr_units;
	uint8_t *stays = lm_arena_alloc(arena, n + 1);

	mark_staying(order, n, stays);
	*moves = LM_ARENA_ARRAY(arena, struct lm_move, n + 1);
	*nr = 0;
	for (uint32_t i = 0; i < n; i++)
		if (!stays[order->units[i]] || order->barrier[i])
			(*moves)[(*nr)++] = (struct lm_move){
				.unit = order->units[i], .after = i ? order->units[i - 1] : LM_NONE,
				.barrier = order->barrier[i], .stays = stays[order->units[i]],
			};
}

uint32_t lm_block_size(const struct lm_search *x, uint32_t block)
{
	uint32_t n = 1;

	while (block + n < x->s->body->nr_units && x->rules->block[block + n] == block)
		n++;
	return n;
}

struct curve {
	struct lm_arena *arena;
	struct lm_curve_point *points;
	size_t nr, cap;
};

static void add_point(struct curve *c, const struct lm_state *s)
{
	*LM_ARENA_PUSH(c->arena, c->points, c->nr, c->cap) =
		(struct lm_curve_point){ .moves = s->moves, .cost = s->robust, .reach = s->reach, .transfers = s->transfers,
					 .order = s->order };
}

/* Is s so near to the proven bound that more moves are only worth a look? */
static bool near_bound(const struct lm_search *x, double start, const struct lm_state *s)
{
	return x->bound > 0 && isfinite(start) && start - s->transfers >= near_share * (start - x->bound);
}

/* Follows single moves from `from` as long as they help; every level that helps is a point. */
static void climb(const struct lm_search *x, const struct lm_state *from, double start, struct curve *c)
{
	struct lm_state level[LM_BEAM], next[LM_BEAM];
	double transfers = c->points[0].transfers;
	bool last = false;
	size_t nr = 1;

	level[0] = *from;
	for (uint32_t k = 1; k <= MAX_LEVELS && lm_now() < x->until; k++) {
		size_t found;

		lm_progress("searching, moves", k, MAX_LEVELS + 1);
		found = lm_neighbours(x, level, nr, start, level[0].moves + 2, c->arena, next);

		if (!found || (k > 1 && next[0].robust >= level[0].robust * (1 - worth)))
			return;
		add_point(c, &next[0]);
		if (last)
			return;
		last = near_bound(x, transfers, &next[0]);
		nr = last ? 1 : found;
		memcpy(level, next, nr * sizeof(*next));
	}
}

static int by_moves(const void *a, const void *b)
{
	const struct lm_curve_point *x = a, *y = b;

	if (x->moves != y->moves)
		return x->moves < y->moves ? -1 : 1;
	return (x->cost > y->cost) - (x->cost < y->cost);
}

/* Sorts by moves and drops points that cost hardly less than one with fewer moves. */
static void tidy(struct curve *c, double least)
{
	size_t kept = 1;

	qsort(c->points + 1, c->nr - 1, sizeof(*c->points), by_moves);
	for (size_t i = 1; i < c->nr; i++)
		if (c->points[i].moves && (!isfinite(c->points[kept - 1].cost) ||
					   c->points[i].cost < c->points[kept - 1].cost * (1 - least)))
			c->points[kept++] = c->points[i];
	c->nr = kept;
}

static void price(const struct lm_search *x, struct lm_state *s)
{
	s->transfers = lm_objective_transfers(x->workers[0], &s->order);
	s->robust = s->reach = lm_objective_robust(x->workers[0], &s->order, INFINITY, NULL);
}

static double least(const struct curve *c)
{
	double cost = INFINITY;

	for (size_t i = 0; i < c->nr; i++)
		cost = c->points[i].cost < cost ? c->points[i].cost : cost;
	return cost;
}

static bool reached(const struct lm_search *x, const struct curve *c)
{
	for (size_t i = 1; i < c->nr; i++) {
		struct lm_state s = { .transfers = c->points[i].transfers };

		if (near_bound(x, c->points[0].transfers, &s))
			return true;
	}
	return false;
}

void lm_moves_search(const struct lm_search *x, const struct lm_order *starts, size_t nr_starts,
		     struct lm_arena *arena, struct lm_curve_point **curve, uint32_t *nr_curve, bool *exhaustive)
{
	struct curve c = { .arena = arena };
	struct lm_state start = { .order = lm_order_identity(x->s, arena) }, *best;

	price(x, &start);
	add_point(&c, &start);
	bool tried = lm_all_orders(x, arena, &best, exhaustive);

	if (!*exhaustive || x->allow_barriers)	/* every order is tried without barriers only */
		climb(x, &start, start.robust, &c);
	for (uint32_t m = 1; tried && m <= x->s->body->nr_units; m++)
		if (best[m].order.units)
			add_point(&c, &best[m]);
	/* Late as it may be: pricing these is quick, and in a record of thousands of members they are all there is. */
	for (size_t i = 0; i < nr_starts && !*exhaustive && !reached(x, &c); i++) {
		struct lm_state s = { .order = starts[i], .moves = lm_moves_count(x->s, &starts[i]) };

		price(x, &s);
		if (s.robust >= least(&c))	/* climbing on from here would take as long as all before */
			continue;
		add_point(&c, &s);
		climb(x, &s, start.robust, &c);
	}
	lm_progress("searching", 1, 1);
	tidy(&c, *exhaustive ? 0 : worth);
	*curve = c.points;
	*nr_curve = (uint32_t)c.nr;
}
