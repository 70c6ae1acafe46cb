/* neighbours.c - the best orders one move away. */
#include "optimizer/search.h"

#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>

enum {
	BEAM = LM_BEAM,
	SHORT_LIST = 96,	/* candidates of a level priced under change in one configuration */
	SHORTER_LIST = 32,	/* of these, in every configuration */
	ALIKE = 12,		/* of the short list, at most so many that do as good as the same */
	SMALL = 64,		/* units; in larger records cold ones move in the best order only */
	MOST = 2000000,		/* candidates of a level; of more, every second, third, ... is taken */
};

/* Two orders whose gains differ by less than this share are equally good: the calmer one is taken. */
static const double as_good = 0.05;

/* Costs that differ by less than this share are the same. */
static const double same_cost = 1e-4;

/* What one more field on another line is worth, as a share of the transfers. */
static const double displaced_price = 1e-3;

/* And one more move; a barrier, which counts as one, stays in the text for good and costs the same again. */
static const double move_price = 1e-2;

/* And a paragraph torn apart. */
static const double torn_price = 5e-3;

/* What a transfer is worth that only another hot element of an array would cause. */
static const double whole_arrays = 0.5;

/* And one that only the worst perturbation would cause. */
static const double worst_case = 0.5;

enum barrier_choice { NO_BARRIER, BARRIER_AT_MOVED, BARRIER_BEHIND, NR_BARRIER_CHOICES };

struct candidate {
	uint32_t from;		/* which of the level's orders */
	uint32_t block;		/* first unit of the block that moves */
	uint32_t to;		/* position among the other units that it is put before */
	enum barrier_choice barrier;
	double cost, robust, worst;
	uint64_t hash;		/* of the order it makes */
};

struct level {
	const struct lm_search *search;
	const struct lm_state *from;
	struct candidate *items;
	size_t nr;
	size_t seen, stride;	/* candidates met while listing; every stride-th is kept */
	double start;		/* robust cost of the declared order */
	struct lm_order *scratch; /* [nr_workers] */
};

/* The order that c makes of its level's order; false if it is the same again. */
static bool make_order(const struct level *l, const struct candidate *c, struct lm_order *out)
{
	const struct lm_order *from = &l->from[c->from].order;
	uint32_t n = l->search->s->body->nr_units, size = lm_block_size(l->search, c->block);
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

		c->cost = INFINITY;
		over = over || late(l, i);
		if (over || !make_order(l, c, o))
			continue;
		c->cost = lm_objective_cost(l->search->workers[worker], o);
		c->hash = hash_order(o, l->search->s->body->nr_units);
	}
}

/* The short list's first pricing under change: one configuration, to know which deserve all. */
static void guess_worker(void *arg, size_t worker)
{
	struct level *l = arg;
	struct lm_order *o = &l->scratch[worker];

	for (size_t i = worker; i < l->nr; i += l->search->nr_workers) {
		make_order(l, &l->items[i], o);
		l->items[i].cost = lm_now() > l->search->until ? INFINITY :
				   lm_objective_guess(l->search->workers[worker], o);
	}
}

/* The robust cost up to which a candidate is as good as one of cost `best`. */
static double as_good_as(double best, double start)
{
	return isfinite(best) ? best + (isfinite(start) ? (start - best) * as_good : best * as_good) : INFINITY;
}

/*
 * A candidate is given up when it cannot be as good as the best of the same
 * worker, so surely not as good as the best of all.
 */
static void robust_worker(void *arg, size_t worker)
{
	struct level *l = arg;
	struct lm_order *o = &l->scratch[worker];
	double best = INFINITY;

	for (size_t i = worker; i < l->nr; i += l->search->nr_workers) {
		l->items[i].robust = INFINITY;
		if (lm_now() > l->search->until)
			continue;
		make_order(l, &l->items[i], o);
		l->items[i].robust = lm_objective_robust(l->search->workers[worker], o, as_good_as(best, l->start),
							  &l->items[i].worst);
		best = l->items[i].robust < best ? l->items[i].robust : best;
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

static int by_cost(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost < y->cost ? -1 : 1;
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
	uint32_t n = x->s->body->nr_units, size = lm_block_size(x, c->block), behind = c->to, i = 0;

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
	uint32_t n = x->s->body->nr_units, others = n - lm_block_size(x, block);

	for (enum barrier_choice b = NO_BARRIER; b < NR_BARRIER_CHOICES; b++) {
		if (b != NO_BARRIER && budget < 2)
			continue;
		for (uint32_t to = 0; to <= others; to++) {
			struct candidate c = { .from = from, .block = block, .to = to, .barrier = b };

			if (l->seen++ % l->stride == 0 && barrier_possible(l, &c))
				l->items[l->nr++] = c;
		}
	}
}

static void list_candidates(struct level *l, size_t nr_from, uint32_t max_moves, struct lm_arena *arena)
{
	const struct lm_search *x = l->search;
	size_t n = x->s->body->nr_units, all = nr_from * n * (n + 1) * NR_BARRIER_CHOICES;

	l->seen = 0;
	l->stride = all / MOST + 1;
	l->items = LM_ARENA_ARRAY(arena, struct candidate, all / l->stride + 1);
	for (uint32_t f = 0; f < nr_from; f++)
		for (uint32_t u = 0; u < n; u++)
			if (x->rules->block[u] == u && !x->rules->fixed[u] && (!f || n <= SMALL || x->hot[u]))
				list_block(l, f, u, max_moves - l->from[f].moves);
}

/* Does the list hold ALIKE orders already that move the same block and cost as good as the same? */
static bool have_enough_like(const struct level *l, size_t kept, const struct candidate *c)
{
	double near = fabs(l->from[0].robust) * same_cost;
	uint32_t alike = 0;

	while (kept-- > 0 && c->cost - l->items[kept].cost <= near)
		alike += l->items[kept].block == c->block && l->items[kept].barrier == c->barrier;
	return alike >= ALIKE;
}

/* Keeps the cheapest different orders: the short list. */
static void cut_to_short_list(struct level *l)
{
	size_t kept = 0;

	qsort(l->items, l->nr, sizeof(*l->items), by_cost);
	for (size_t i = 0; i < l->nr && kept < SHORT_LIST && isfinite(l->items[i].cost); i++) {
		if (kept && l->items[i].hash == l->items[kept - 1].hash)
			continue;
		if (!have_enough_like(l, kept, &l->items[i]))
			l->items[kept++] = l->items[i];
	}
	l->nr = kept;
}

/* Fields whose first or last byte changes its line, over all views: what a reviewer has to think about. */
static uint32_t count_displaced(const struct lm_search *x, const struct lm_order *order, struct lm_arena *arena)
{
	uint32_t count = 0;

	for (uint32_t v = 0; v < x->s->nr_views; v++) {
		const struct lm_record *rec = x->s->views[v].rec;
		const struct lm_layout *before = lm_objective_before(x->workers[0], v);
		uint64_t line = 8 * (uint64_t)x->line;
		struct lm_layout after = { .bit_offset = LM_ARENA_ARRAY(arena, uint64_t, rec->nr_fields + 1) };

		lm_layout_units(&x->s->views[v], x->s->body->nr_units, order, x->line, NULL, &after);
		for (uint32_t f = 0; f < rec->nr_fields; f++) {
			uint64_t last = rec->fields[f].size ? 8 * rec->fields[f].size - 1 : 0;

			count += before->bit_offset[f] / line != after.bit_offset[f] / line ||
				 (before->bit_offset[f] + last) / line != (after.bit_offset[f] + last) / line;
		}
	}
	return count;
}

static uint32_t count_barriers(const struct lm_search *x, const struct lm_order *order)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < x->s->body->nr_units; i++)
		count += order->barrier[i];
	return count;
}

/* Do units a and b stand in one paragraph of the text: nothing but the two, no blank line or guard between? */
static bool same_paragraph(const struct lm_body *body, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; a < b && i + 1 < body->nr_pieces; i++)
		if (body->pieces[i].unit == a)
			return b == a + 1 && body->pieces[i + 1].unit == b;
	return false;
}

/* Paragraphs of the text that the order puts strangers into. */
static uint32_t count_torn(const struct lm_search *x, const struct lm_order *order)
{
	const struct lm_body *body = x->s->body;
	uint32_t count = 0;

	for (uint32_t i = 0; i + 2 < body->nr_units; i++)
		count += same_paragraph(body, order->units[i], order->units[i + 2]) &&
			 !same_paragraph(body, order->units[i], order->units[i + 1]);
	return count;
}

/*
 * Drops what is not as good as the best (the list is sorted by robust cost),
 * and puts the one first that a reviewer would take: fewest transfers as it
 * stands, little to fear from other elements of arrays and from the change that
 * hurts most, few moves, few displaced fields.
 */
static void prefer_calm(struct level *l, struct lm_arena *arena)
{
	struct lm_objective *o = l->search->workers[0];
	struct lm_order *order = &l->scratch[0];
	double best = INFINITY;
	size_t pick = 0, nr = 0;

	for (; nr < l->nr && l->items[nr].robust <= as_good_as(l->items[0].robust, l->start); nr++) {
		make_order(l, &l->items[nr], order);

		double cost = lm_objective_transfers(o, order) +
			      whole_arrays * fmax(0, lm_objective_whole_arrays(o, order)) +
			      worst_case * (l->items[nr].worst - l->items[nr].robust);

		cost *= 1 + displaced_price * count_displaced(l->search, order, arena) +
			move_price * (lm_moves_count(l->search->s, order) + count_barriers(l->search, order)) +
			torn_price * count_torn(l->search, order);
		if (cost < best) {
			best = cost;
			pick = nr;
		}
	}
	l->nr = isfinite(best) ? nr : 0;

	struct candidate c = l->items[pick];

	for (; l->nr && pick > 0; pick--)
		l->items[pick] = l->items[pick - 1];
	if (l->nr)
		l->items[0] = c;
}

size_t lm_neighbours(const struct lm_search *x, const struct lm_state *from, size_t nr_from, double start,
		     uint32_t max_moves, struct lm_arena *keep, struct lm_state *out)
{
	struct lm_arena arena = { 0 };
	struct level l = { .search = x, .from = from, .start = start,
			   .scratch = LM_ARENA_ARRAY(&arena, struct lm_order, x->nr_workers) };
	double reach;
	size_t nr = 0;

	for (size_t w = 0; w < x->nr_workers; w++)
		l.scratch[w] = lm_order_identity(x->s, &arena);
	list_candidates(&l, nr_from, max_moves, &arena);
	lm_parallel(x->nr_workers, price_worker, &l);
	cut_to_short_list(&l);
	if (l.nr > SHORTER_LIST) {
		lm_parallel(x->nr_workers, guess_worker, &l);
		qsort(l.items, l.nr, sizeof(*l.items), by_cost);
		l.nr = SHORTER_LIST;
	}
	lm_parallel(x->nr_workers, robust_worker, &l);
	qsort(l.items, l.nr, sizeof(*l.items), by_robust);
	reach = l.nr ? l.items[0].robust : INFINITY;
	if (l.nr)
		prefer_calm(&l, &arena);
	for (size_t i = 0; i < l.nr && nr < BEAM && isfinite(l.items[i].robust); i++) {
		struct lm_order o = lm_order_identity(x->s, keep);

		make_order(&l, &l.items[i], &o);
		out[nr++] = (struct lm_state){ o, lm_objective_transfers(x->workers[0], &o), l.items[i].robust,
						i ? l.items[i].robust : reach, lm_moves_count(x->s, &o) };
	}
	lm_arena_release(&arena);
	return nr;
}
