/* moves.c - the best order with at most k moves. */
#include "optimizer/moves.h"

#include "base/parallel.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	BEAM = 6,		/* orders kept from level to level */
	SHORT_LIST = 48,	/* candidates of a level priced under change */
	MAX_LEVELS = 12,
	SMALL = 64,		/* units; in larger records cold ones move in the best order only */
	MAX_EXHAUSTIVE = 8,	/* blocks: 8! orders */
};

/* A level of the curve is worth showing if it saves this share of what came before. */
static const double worth = 5e-3;

/* An order that costs this much more than the one it is made from leads nowhere. */
static const double hopeless = 1.02;

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
				.barrier = order->barrier[i],
			};
}

/* ---- one level: all single moves of some orders ---- */

enum barrier_choice { NO_BARRIER, BARRIER_AT_MOVED, BARRIER_BEHIND, NR_BARRIER_CHOICES };

struct candidate {
	uint32_t from;		/* which of the level's orders */
	uint32_t block;		/* first unit of the block that moves */
	uint32_t to;		/* position among the other units that it is put before */
	enum barrier_choice barrier;
	double transfers, robust;
	uint64_t hash;		/* of the order it makes */
};

struct state {
	struct lm_order order;
	double transfers, robust;
	uint32_t moves;
};

struct level {
	const struct lm_search *search;
	const struct state *from;
	struct candidate *items;
	size_t nr;
	struct lm_order *scratch; /* [nr_workers] */
};

static uint32_t block_size(const struct lm_search *x, uint32_t block)
{
	uint32_t n = 1;

	while (block + n < x->s->body->nr_units && x->rules->block[block + n] == block)
		n++;
	return n;
}

/* The order that c makes of its level's order; false if it is the same again. */
static bool make_order(const struct level *l, const struct candidate *c, struct lm_order *out)
{
	const struct lm_order *from = &l->from[c->from].order;
	uint32_t n = l->search->s->body->nr_units, size = block_size(l->search, c->block);
	uint32_t at = 0, k = 0;

	while (from->units[at] != c->block)
		at++;
	if (c->to == at && c->barrier == NO_BARRIER)
		return false;
	for (uint32_t i = 0; i < n - size + 1; i++) {
		uint32_t j = i < at ? i : i + size;

		if (i == c->to) {
			for (uint32_t b = 0; b < size; b++, k++) {
				out->units[k] = from->units[at + b];
				out->barrier[k] = from->barrier[at + b];
			}
			if (c->barrier == BARRIER_AT_MOVED)
				out->barrier[k - size] = 1;
		}
		if (i == n - size)
			break;
		out->units[k] = from->units[j];
		out->barrier[k] = from->barrier[j];
		if (i == c->to && c->barrier == BARRIER_BEHIND)
			out->barrier[k] = 1;
		k++;
	}
	return true;
}

static uint64_t hash_order(const struct lm_order *o, uint32_t n)
{
	uint64_t h = 1469598103934665603u;	/* FNV-1a */

	for (uint32_t i = 0; i < n; i++) {
		h = (h ^ o->units[i]) * 1099511628211u;
		h = (h ^ o->barrier[i]) * 1099511628211u;
	}
	return h;
}

/* Time is over; asked now and then only. */
static bool late(const struct level *l, size_t i)
{
	return i / l->search->nr_workers % 64 == 63 && lm_now() > l->search->until;
}

static void price_worker(void *arg, size_t worker)
{
	struct level *l = arg;
	struct lm_order *o = &l->scratch[worker];
	bool over = false;

	for (size_t i = worker; i < l->nr; i += l->search->nr_workers) {
		struct candidate *c = &l->items[i];

		c->transfers = INFINITY;
		over = over || late(l, i);
		if (over || !make_order(l, c, o))
			continue;
		c->transfers = lm_objective_transfers(l->search->workers[worker], o, l->from[0].transfers * hopeless);
		c->hash = hash_order(o, l->search->s->body->nr_units);
	}
}

/* Inserts cost into best[0 .. BEAM), sorted. */
static void keep_best(double *best, double cost)
{
	for (uint32_t i = BEAM; i-- > 0 && cost < best[i];) {
		if (i + 1 < BEAM)
			best[i + 1] = best[i];
		best[i] = cost;
	}
}

/*
 * A candidate is given up once BEAM others of the same worker are surely
 * better: it cannot be among the BEAM best of all, however the work is shared.
 */
static void robust_worker(void *arg, size_t worker)
{
	struct level *l = arg;
	struct lm_order *o = &l->scratch[worker];
	double best[BEAM];

	for (uint32_t i = 0; i < BEAM; i++)
		best[i] = INFINITY;
	for (size_t i = worker; i < l->nr; i += l->search->nr_workers) {
		l->items[i].robust = INFINITY;
		if (lm_now() > l->search->until)
			continue;
		make_order(l, &l->items[i], o);
		l->items[i].robust = lm_objective_robust(l->search->workers[worker], o, best[BEAM - 1]);
		keep_best(best, l->items[i].robust);
	}
}

static int by_place(const struct candidate *x, const struct candidate *y)
{
	if (x->barrier != y->barrier)
		return x->barrier < y->barrier ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static int by_transfers(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->transfers != y->transfers)
		return x->transfers < y->transfers ? -1 : 1;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return by_place(x, y);
}

static int by_robust(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->robust != y->robust)
		return x->robust < y->robust ? -1 : 1;
	return by_place(x, y);
}

/* A barrier makes sense before a hot unit only, and where it can promise a line start. */
static bool barrier_possible(const struct level *l, const struct candidate *c)
{
	const struct lm_search *x = l->search;
	const struct lm_order *from = &l->from[c->from].order;
	uint32_t n = x->s->body->nr_units, size = block_size(x, c->block), behind = c->to, i = 0;

	if (c->barrier == NO_BARRIER)
		return true;
	if (!x->allow_barriers || !lm_objective_base_fixed(x->workers[0]))
		return false;
	if (c->barrier == BARRIER_AT_MOVED)
		return x->hot[c->block];
	/* The unit that follows: number c->to of those that are not in the block. */
	while (i < n && from->units[i] != c->block)
		i++;
	behind += behind >= i ? size : 0;
	return behind < n && x->hot[from->units[behind]];
}

/* All moves of block `block` in order number `from`. */
static void list_block(struct level *l, uint32_t from, uint32_t block, uint32_t budget)
{
	const struct lm_search *x = l->search;
	uint32_t n = x->s->body->nr_units, others = n - block_size(x, block);

	for (enum barrier_choice b = NO_BARRIER; b < NR_BARRIER_CHOICES; b++) {
		if (b != NO_BARRIER && budget < 2)
			continue;
		for (uint32_t to = 0; to <= others; to++) {
			struct candidate c = { .from = from, .block = block, .to = to, .barrier = b };

			if (barrier_possible(l, &c))
				l->items[l->nr++] = c;
		}
	}
}

static void list_candidates(struct level *l, size_t nr_from, uint32_t max_moves, struct lm_arena *arena)
{
	const struct lm_search *x = l->search;
	uint32_t n = x->s->body->nr_units;

	l->items = LM_ARENA_ARRAY(arena, struct candidate, nr_from * n * (n + 1) * NR_BARRIER_CHOICES);
	for (uint32_t f = 0; f < nr_from; f++)
		for (uint32_t u = 0; u < n; u++)
			if (x->rules->block[u] == u && !x->rules->fixed[u] && (!f || n <= SMALL || x->hot[u]))
				list_block(l, f, u, max_moves - l->from[f].moves);
}

/* Keeps the cheapest different orders: the short list. */
static void cut_to_short_list(struct level *l)
{
	size_t kept = 0;

	qsort(l->items, l->nr, sizeof(*l->items), by_transfers);
	for (size_t i = 0; i < l->nr && kept < SHORT_LIST && isfinite(l->items[i].transfers); i++)
		if (!kept || l->items[i].hash != l->items[kept - 1].hash)
			l->items[kept++] = l->items[i];
	l->nr = kept;
}

static struct lm_order new_order(const struct lm_search *x, struct lm_arena *arena)
{
	return lm_order_identity(x->s, arena);
}

/*
 * The best orders one move away from `from`: at most BEAM, best first, in out.
 * Returns their number.
 */
static size_t next_level(const struct lm_search *x, const struct state *from, size_t nr_from, uint32_t max_moves,
			 struct lm_arena *keep, struct state *out)
{
	struct lm_arena arena = { 0 };
	struct level l = { .search = x, .from = from,
			   .scratch = LM_ARENA_ARRAY(&arena, struct lm_order, x->nr_workers) };
	size_t nr = 0;

	for (size_t w = 0; w < x->nr_workers; w++)
		l.scratch[w] = new_order(x, &arena);
	list_candidates(&l, nr_from, max_moves, &arena);
	lm_parallel(x->nr_workers, price_worker, &l);
	cut_to_short_list(&l);
	lm_parallel(x->nr_workers, robust_worker, &l);
	qsort(l.items, l.nr, sizeof(*l.items), by_robust);
	for (size_t i = 0; i < l.nr && nr < BEAM && isfinite(l.items[i].robust); i++) {
		struct lm_order o = new_order(x, keep);

		make_order(&l, &l.items[i], &o);
		out[nr++] = (struct state){ o, l.items[i].transfers, l.items[i].robust, lm_moves_count(x->s, &o) };
	}
	lm_arena_release(&arena);
	return nr;
}

/* ---- every order ---- */

struct exhaustive {
	const struct lm_search *x;
	uint32_t blocks[MAX_EXHAUSTIVE], sizes[MAX_EXHAUSTIVE];
	uint32_t nr;
	bool fixed_too;		/* fixed units are permuted along; the rules sort out what they forbid */
	struct state *best;	/* [nr_units + 1] by number of moves; order.units NULL: none yet */
	struct lm_order scratch;
};

/* Fills fixed units and the permutation into scratch: block units take the free places in turn. */
static void try_permutation(struct exhaustive *e, const uint32_t *perm, struct lm_arena *arena)
{
	const struct lm_search *x = e->x;
	uint32_t n = x->s->body->nr_units, block = 0, inside = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (x->rules->fixed[i] && !e->fixed_too) {
			e->scratch.units[i] = i;
			continue;
		}
		e->scratch.units[i] = e->blocks[perm[block]] + inside;
		if (++inside == e->sizes[perm[block]]) {
			inside = 0;
			block++;
		}
	}

	uint32_t moves = lm_moves_count(x->s, &e->scratch);
	struct state *best = &e->best[moves];
	double enough = best->order.units ? best->robust : INFINITY;
	double robust = lm_objective_robust(x->workers[0], &e->scratch, enough);

	if (!isfinite(robust) || robust >= enough)
		return;
	*best = (struct state){ lm_order_copy(x->s, &e->scratch, arena),
				lm_objective_transfers(x->workers[0], &e->scratch, INFINITY), robust, moves };
}

static void permute(struct exhaustive *e, uint32_t *perm, uint32_t k, struct lm_arena *arena)
{
	if (k == e->nr) {
		try_permutation(e, perm, arena);
		return;
	}
	for (uint32_t i = k; i < e->nr; i++) {
		uint32_t t = perm[k];

		perm[k] = perm[i];
		perm[i] = t;
		permute(e, perm, k + 1, arena);
		perm[i] = perm[k];
		perm[k] = t;
	}
}

/* Collects the blocks to permute; false if they are too many. */
static bool collect_blocks(struct exhaustive *e)
{
	const struct lm_search *x = e->x;

	e->nr = 0;
	for (uint32_t u = 0; u < x->s->body->nr_units; u++) {
		if (x->rules->block[u] != u || (x->rules->fixed[u] && !e->fixed_too))
			continue;
		if (e->nr == MAX_EXHAUSTIVE)
			return false;
		e->blocks[e->nr] = u;
		e->sizes[e->nr++] = block_size(x, u);
	}
	return e->nr > 0;
}

/*
 * A fixed unit between movable ones (a fence, a pin) keeps its place among the
 * fixed ones only: the others may walk around it, so it is permuted along.
 */
static bool exhaustive_possible(struct exhaustive *e)
{
	if (!collect_blocks(e))
		return false;
	for (uint32_t u = e->blocks[0]; u < e->blocks[e->nr - 1]; u++)
		e->fixed_too |= e->x->rules->fixed[u];
	return !e->fixed_too || collect_blocks(e);
}

/* ---- the curve ---- */

struct curve {
	struct lm_arena *arena;
	struct lm_curve_point *points;
	size_t nr, cap;
};

static void add_point(struct curve *c, const struct state *s)
{
	*LM_ARENA_PUSH(c->arena, c->points, c->nr, c->cap) =
		(struct lm_curve_point){ .moves = s->moves, .cost = s->robust, .transfers = s->transfers,
					 .order = s->order };
}

static void search_all_orders(struct exhaustive *e, struct curve *c)
{
	uint32_t n = e->x->s->body->nr_units, perm[MAX_EXHAUSTIVE];

	e->best = LM_ARENA_ARRAY(c->arena, struct state, n + 1);
	e->scratch = new_order(e->x, c->arena);
	for (uint32_t i = 0; i < e->nr; i++)
		perm[i] = i;
	permute(e, perm, 0, c->arena);
	for (uint32_t m = 1; m <= n; m++)
		if (e->best[m].order.units)
			add_point(c, &e->best[m]);
}

/* Follows single moves from `from` as long as they help; every level that helps is a point. */
static void climb(const struct lm_search *x, const struct state *from, struct curve *c)
{
	struct state level[BEAM], next[BEAM];
	size_t nr = 1;

	level[0] = *from;
	for (uint32_t k = 1; k <= MAX_LEVELS && lm_now() < x->until; k++) {
		size_t found = next_level(x, level, nr, level[0].moves + 2, c->arena, next);

		if (!found || (k > 1 && next[0].robust >= level[0].robust * (1 - worth)))
			return;
		for (size_t i = 0; i < found; i++)
			add_point(c, &next[i]);
		nr = found;
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

void lm_moves_search(const struct lm_search *x, const struct lm_order *starts, size_t nr_starts,
		     struct lm_arena *arena, struct lm_curve_point **curve, uint32_t *nr_curve, bool *exhaustive)
{
	struct curve c = { .arena = arena };
	struct exhaustive e = { .x = x };
	struct state start = { .order = lm_order_identity(x->s, arena) };

	start.transfers = lm_objective_transfers(x->workers[0], &start.order, INFINITY);
	start.robust = lm_objective_robust(x->workers[0], &start.order, INFINITY);
	add_point(&c, &start);
	*exhaustive = exhaustive_possible(&e);
	if (*exhaustive)
		search_all_orders(&e, &c);
	else
		climb(x, &start, &c);
	for (size_t i = 0; i < nr_starts && !*exhaustive && lm_now() < x->until; i++) {
		struct state s = { .order = starts[i], .moves = lm_moves_count(x->s, &starts[i]) };

		s.transfers = lm_objective_transfers(x->workers[0], &s.order, INFINITY);
		s.robust = lm_objective_robust(x->workers[0], &s.order, INFINITY);
		if (!isfinite(s.robust))
			continue;
		add_point(&c, &s);
		climb(x, &s, &c);
	}
	tidy(&c, *exhaustive ? 0 : worth);
	*curve = c.points;
	*nr_curve = (uint32_t)c.nr;
}
