/* pack_pricing.c - the line with the least reduced cost, by branch and bound. */
#include "optimizer/pack_pricing.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* An item that could join the line. */
struct candidate {
	uint32_t item;
	double profit;	/* at most this much falls the reduced cost if it joins; 0 if negative */
	double density;	/* profit a byte */
	bool matters;
};

struct lm_pricer {
	struct lm_pack_items *items;
	const double *duals;
	uint32_t *useful, nr_useful;	/* items that can be in the best set */
	double *common;			/* [groups] bytes of the candidates that have its slots in common */
	const struct lm_cost_slot *slots;
	struct lm_cost_part *parts;	/* scratch: one item's parts */
	struct candidate **levels;	/* [depth] scratch, made when first reached */
	uint32_t *chosen, nr_chosen;	/* the line now */
	uint32_t free;			/* its bytes left */
	double sum;			/* duals of the chosen */
	double tolerance, deadline, best, open;
	bool late;
	uint64_t nodes, first_find, patience;
	struct lm_pack_column *found;
	uint32_t nr_found, max_found;
	uint32_t *store;		/* [max_found * nr_items] items of found columns */
	uint32_t cap_store;
};

static void *take(size_t nr, size_t size)
{
	void *p = calloc(nr ? nr : 1, size);

	if (!p)
		lm_oom();
	return p;
}

struct lm_pricer *lm_pricer_new(struct lm_pack_items *items)
{
	struct lm_pricer *r = take(1, sizeof(*r));
	uint32_t rates = 0, nr_slots;

	r->items = items;
	for (uint32_t i = 0; i < items->nr_items; i++)
		rates = items->items[i].nr_rates > rates ? items->items[i].nr_rates : rates;
	r->useful = take(items->nr_items, sizeof(*r->useful));
	r->common = take(items->nr_groups, sizeof(*r->common));
	r->slots = lm_cost_line_slots(items->price, &nr_slots);
	r->parts = take(rates, sizeof(*r->parts));
	r->levels = take((size_t)items->nr_items + 1, sizeof(struct candidate *));
	r->chosen = take(items->nr_items, sizeof(*r->chosen));
	return r;
}

void lm_pricer_free(struct lm_pricer *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i <= r->items->nr_items; i++)
		free(r->levels[i]);
	free(r->levels);
	free(r->useful);
	free(r->common);
	free(r->parts);
	free(r->chosen);
	free(r->store);
	free(r);
}

double lm_pricer_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- what was found ---- */

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static bool found_before(const struct lm_pricer *r, const uint32_t *items, uint32_t nr)
{
	for (uint32_t i = 0; i < r->nr_found; i++)
		if (r->found[i].nr == nr && !memcmp(r->found[i].items, items, nr * sizeof(*items)))
			return true;
	return false;
}

/* Keeps the line as it is, if it is among the best max. */
static void keep(struct lm_pricer *r, double price, double reduced)
{
	uint32_t *sorted = r->store + (size_t)r->max_found * r->items->nr_items, at = r->nr_found;

	if (reduced >= -r->tolerance || !r->max_found)
		return;
	if (r->nr_found == r->max_found && reduced >= r->found[r->nr_found - 1].reduced)
		return;
	memcpy(sorted, r->chosen, r->nr_chosen * sizeof(*sorted));
	qsort(sorted, r->nr_chosen, sizeof(*sorted), by_number);
	if (found_before(r, sorted, r->nr_chosen))
		return;

	uint32_t *mine = r->nr_found < r->max_found ? r->store + (size_t)r->nr_found++ * r->items->nr_items :
						      r->found[--at].items;

	while (at && r->found[at - 1].reduced > reduced) {
		r->found[at] = r->found[at - 1];
		at--;
	}
	memcpy(mine, sorted, r->nr_chosen * sizeof(*mine));
	r->found[at] = (struct lm_pack_column){ mine, r->nr_chosen, price, reduced };
}

static bool same_leaves(const struct lm_pack_item *x, const struct lm_pack_item *y)
{
	return x->first_leaf == y->first_leaf && x->nr_leaves == y->nr_leaves;
}

/* Has another way the same window, worth as much, in no more bytes, and no harder to combine? */
static bool outdone(const struct lm_pricer *r, uint32_t i)
{
	const struct lm_pack_item *x = &r->items->items[i], *first = r->items->items;
	const struct lm_pack_item *y = x;

	while (y > first && y[-1].unit == x->unit)
		y--;
	for (; y < first + r->items->nr_items && y->unit == x->unit; y++) {
		double more = r->duals[y - first] - r->duals[i];

		if (y == x || !same_leaves(x, y) || y->bytes > x->bytes || more < 0)
			continue;
		if (y->from_before > x->from_before || y->goes_on > x->goes_on)
			continue;
		/* Of two equals the first stays. */
		if (y < x || more > 0 || y->bytes < x->bytes || y->from_before < x->from_before ||
		    y->goes_on < x->goes_on)
			return true;
	}
	return false;
}

static void begin(struct lm_pricer *r, const double *duals, double tolerance, struct lm_pack_column *out, uint32_t max)
{
	const struct lm_pack_items *p = r->items;

	if (max + 1 > r->cap_store) {
		free(r->store);
		r->store = take((size_t)(max + 1) * p->nr_items, sizeof(*r->store));
		r->cap_store = max + 1;
	}
	r->duals = duals;
	r->tolerance = tolerance;
	r->found = out;
	r->nr_found = 0;
	r->max_found = max;
	r->nr_chosen = 0;
	r->free = p->pack->line;
	r->sum = 0;
	/* An item that fills a line alone is priced from the start; only bit-fields of no whole byte could join it. */
	r->nr_useful = 0;
	for (uint32_t i = 0; i < p->nr_items; i++)
		if (duals[i] > 0 && (p->items[i].bytes < p->pack->line || p->least_bytes == 0) && !outdone(r, i))
			r->useful[r->nr_useful++] = i;
}

static bool joins(const struct lm_pricer *r, uint32_t item)
{
	if (r->items->items[item].bytes > r->free)
		return false;
	for (uint32_t i = 0; i < r->nr_chosen; i++)
		if (!lm_pack_items_meet(r->items, r->chosen[i], item))
			return false;
	return true;
}

static void push_touches(struct lm_pricer *r, uint32_t item)
{
	const struct lm_pack_item *x = &r->items->items[item];

	for (uint32_t i = 0; i < x->nr_touches; i++)
		lm_cost_line_push(r->items->price, x->touches[i]);
}

/* The line before an item joined it. */
struct spot {
	size_t mark;
	double sum;
};

static struct spot join(struct lm_pricer *r, uint32_t item)
{
	struct spot before = { lm_cost_line_mark(r->items->price), r->sum };

	push_touches(r, item);
	r->chosen[r->nr_chosen++] = item;
	r->free -= r->items->items[item].bytes;
	r->sum += r->duals[item];
	return before;
}

/* Takes back the last join. */
static void leave(struct lm_pricer *r, struct spot before)
{
	r->free += r->items->items[r->chosen[--r->nr_chosen]].bytes;
	r->sum = before.sum;
	lm_cost_line_pop_to(r->items->price, before.mark);
}

/* ---- greedy ---- */

/* The item that lowers the reduced cost most; false if none does. */
static bool best_addition(struct lm_pricer *r, double price, uint32_t *ret)
{
	struct lm_pack_items *p = r->items;
	double least = 0;
	bool any = false;

	for (uint32_t k = 0; k < r->nr_useful; k++) {
		uint32_t i = r->useful[k];

		if (r->duals[i] <= -least || !joins(r, i))
			continue;

		size_t mark = lm_cost_line_mark(p->price);

		push_touches(r, i);

		double change = lm_cost_line_value(p->price) - price - r->duals[i];

		lm_cost_line_pop_to(p->price, mark);
		if (change < least) {
			least = change;
			*ret = i;
			any = true;
		}
	}
	return any;
}

uint32_t lm_pricer_greedy(struct lm_pricer *r, const double *duals, double tolerance, double deadline,
			  struct lm_pack_column *out, uint32_t max)
{
	begin(r, duals, tolerance, out, max);
	for (uint32_t seed = 0; seed < r->nr_useful && lm_pricer_clock() < deadline; seed++) {
		uint32_t next = r->useful[seed];
		double price;

		r->nr_chosen = 0;
		r->free = r->items->pack->line;
		r->sum = 0;
		do {
			join(r, next);
			price = lm_cost_line_value(r->items->price);
		} while (best_addition(r, price, &next));
		keep(r, price, price - r->sum);
		lm_cost_line_clear(r->items->price);
	}
	return r->nr_found;
}

/* ---- branch and bound ---- */

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* What the item adds to the line at least, whatever else of the candidates joins. */
static double adds_at_least(struct lm_pricer *r, const struct lm_pack_item *x)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < x->nr_rates; i++) {
		const struct lm_pack_rate *e = &x->rates[i];
		const struct lm_cost_slot *now = &r->slots[e->slot];

		if (e->touches <= now->touches && e->writes <= now->writes)
			continue;

		double share = r->common[e->group] * x->bytes;
		double touches = larger(e->touches - now->touches, 0), writes = larger(e->writes - now->writes, 0);

		if (share < 1) {
			touches *= share;
			writes *= share;
		}
		if (nr && r->parts[nr - 1].cell == e->cell) {
			r->parts[nr - 1].touches += touches;
			r->parts[nr - 1].writes += writes;
		} else {
			r->parts[nr++] = (struct lm_cost_part){ e->cell, touches, writes };
		}
	}
	return lm_cost_line_adds(r->items->price, r->free ? (double)x->bytes / r->free : 0, r->parts, nr);
}

static int by_density(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->density != y->density)
		return x->density > y->density ? -1 : 1;
	return (x->item > y->item) - (x->item < y->item);
}

/* common[] becomes the share of a touch that an item gets for each of its bytes. */
static void share_touches(struct lm_pricer *r, const struct candidate *c, uint32_t nr)
{
	memset(r->common, 0, r->items->nr_groups * sizeof(*r->common));
	for (uint32_t i = 0; i < nr; i++) {
		const struct lm_pack_item *x = &r->items->items[c[i].item];

		for (uint32_t k = 0; k < x->nr_groups; k++)
			r->common[x->groups[k]] += x->bytes;
	}
	for (uint32_t i = 0; i < r->items->nr_groups; i++)
		if (r->common[i] > 0)
			r->common[i] = 1 / (r->common[i] < r->free ? r->common[i] : r->free);
}

static void rate_candidates(struct lm_pricer *r, struct candidate *c, uint32_t nr)
{
	share_touches(r, c, nr);
	for (uint32_t i = 0; i < nr; i++) {
		const struct lm_pack_item *x = &r->items->items[c[i].item];

		c[i].profit = larger(r->duals[c[i].item] - adds_at_least(r, x), 0);
		c[i].density = c[i].profit / (x->bytes ? x->bytes : 1e-3);
	}
	if (nr)
		qsort(c, nr, sizeof(*c), by_density);
}

void lm_pricer_floor(struct lm_pricer *r, double *duals)
{
	uint32_t nr = r->items->nr_items;
	struct candidate *all = take(nr, sizeof(*all));

	r->free = r->items->pack->line;
	for (uint32_t i = 0; i < nr; i++)
		all[i].item = i;
	share_touches(r, all, nr);
	for (uint32_t i = 0; i < nr; i++)
		duals[i] = adds_at_least(r, &r->items->items[i]);
	free(all);
}

/* The most that candidates, sorted by density, bring in so many bytes. */
static double knapsack(const struct lm_pricer *r, const struct candidate *c, uint32_t nr, uint32_t bytes)
{
	double sum = 0;

	for (uint32_t i = 0; i < nr && c[i].profit > 0; i++) {
		uint32_t mine = r->items->items[c[i].item].bytes;

		if (mine > bytes)
			return sum + c[i].density * bytes;
		sum += c[i].profit;
		bytes -= mine;
	}
	return sum;
}

/* knapsack() of all but candidate number i. */
static double knapsack_without(const struct lm_pricer *r, const struct candidate *c, uint32_t nr, uint32_t i,
			       uint32_t bytes)
{
	double sum = 0;

	for (uint32_t k = 0; k < nr && c[k].profit > 0; k++) {
		uint32_t mine = r->items->items[c[k].item].bytes;

		if (k == i)
			continue;
		if (mine > bytes)
			return sum + c[k].density * bytes;
		sum += c[k].profit;
		bytes -= mine;
	}
	return sum;
}

/* Time is over, or enough was found and looked for. */
static bool stop(struct lm_pricer *r)
{
	if (r->late)
		return true;
	r->nodes++;
	if (r->nr_found && !r->first_find)
		r->first_find = r->nodes;
	if (r->first_find && r->nodes > 2 * r->first_find + r->patience)
		r->late = true;
	else if ((r->nodes & 63) == 0)
		r->late = lm_pricer_clock() > r->deadline;
	return r->late;
}

/* The reduced cost that a set must beat to matter. */
static double cutoff(const struct lm_pricer *r)
{
	return r->best < -r->tolerance ? r->best : -r->tolerance;
}

static struct candidate *level(struct lm_pricer *r)
{
	struct candidate **l = &r->levels[r->nr_chosen];

	if (!*l)
		*l = take(r->items->nr_items, sizeof(**l));
	return *l;
}

/* Leaves out candidates that, by their profits, are in no set that matters; `reduced` is what profits count from. */
static uint32_t drop_hopeless(struct lm_pricer *r, struct candidate *c, uint32_t nr, double reduced)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t bytes = r->free - r->items->items[c[i].item].bytes;

		c[i].matters = reduced - c[i].profit - knapsack_without(r, c, nr, i, bytes) < cutoff(r);
	}
	for (uint32_t i = 0; i < nr; i++)
		if (c[i].matters)
			c[left++] = c[i];
	return left;
}

/*
 * Leaves only candidates that can be in a set that matters.  With fewer left,
 * fewer share a touch and each adds more: rate again while that helps.
 */
static uint32_t sift(struct lm_pricer *r, struct candidate *c, uint32_t nr, double reduced)
{
	for (;;) {
		uint32_t left = drop_hopeless(r, c, nr, reduced);

		if (left == nr)
			return nr;
		nr = left;
		rate_candidates(r, c, nr);
	}
}

/* All sets that extend the line by some of the candidates; their profits, of one item ago, count from base. */
static void extend(struct lm_pricer *r, const struct candidate *from, uint32_t nr_from, double base)
{
	struct candidate *c = level(r);
	struct lm_pack_items *p = r->items;
	double price = lm_cost_line_value(p->price), reduced = price - r->sum;
	uint32_t nr = 0;

	if (r->nr_chosen) {
		keep(r, price, reduced);
		r->best = reduced < r->best ? reduced : r->best;
	}
	for (uint32_t i = 0; i < nr_from; i++)
		if (joins(r, from[i].item))
			c[nr++] = from[i];
	if (r->nr_chosen)
		nr = drop_hopeless(r, c, nr, base);
	rate_candidates(r, c, nr);
	nr = sift(r, c, nr, reduced);
	for (uint32_t i = 0; i < nr; i++) {
		if (reduced - knapsack(r, c + i, nr - i, r->free) >= cutoff(r))
			return;
		if (stop(r)) {
			double left = reduced - knapsack(r, c + i, nr - i, r->free);

			r->open = left < r->open ? left : r->open;
			return;
		}

		uint32_t bytes = p->items[c[i].item].bytes;

		if (reduced - c[i].profit - knapsack(r, c + i + 1, nr - i - 1, r->free - bytes) >= cutoff(r))
			continue;

		struct spot before = join(r, c[i].item);

		extend(r, c + i + 1, nr - i - 1, reduced - c[i].profit);
		leave(r, before);
	}
}

uint32_t lm_pricer_search(struct lm_pricer *r, const double *duals, double tolerance, double deadline,
			  uint64_t patience, struct lm_pack_column *out, uint32_t max, double *least, bool *complete)
{
	struct candidate *all = take(r->items->nr_items, sizeof(*all));

	begin(r, duals, tolerance, out, max);
	r->deadline = deadline;
	r->best = r->open = 0;
	r->late = false;
	r->nodes = r->first_find = 0;
	r->patience = patience;
	for (uint32_t i = 0; i < r->nr_useful; i++)
		all[i].item = r->useful[i];
	extend(r, all, r->nr_useful, 0);
	assert(!r->nr_chosen);
	free(all);
	*complete = !r->late;
	*least = r->open < cutoff(r) ? r->open : cutoff(r);
	return r->nr_found;
}
