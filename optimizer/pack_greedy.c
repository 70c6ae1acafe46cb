/* pack_greedy.c - a good packing without a solver. */
#include "optimizer/pack_greedy.h"

#include <math.h>
#include <string.h>

enum {
	MOST_JOINED = 400,	/* joining compares all pairs of lines after each step; beyond this it takes too long */
	LOOK = 200,		/* lines with room that an item is tried on, where there are more items */
};

static void push_line(struct lm_pack_items *p, const struct lm_pack_line_set *l, uint32_t without)
{
	for (uint32_t i = 0; i < l->nr; i++)
		for (uint32_t k = 0; l->items[i] != without && k < p->items[l->items[i]].nr_touches; k++)
			lm_cost_line_push(p->price, p->items[l->items[i]].touches[k]);
}

/* Price of a and b (may be NULL) on one line, item `without` left out. */
static double price_of(struct lm_pack_items *p, const struct lm_pack_line_set *a, const struct lm_pack_line_set *b,
		       uint32_t without)
{
	push_line(p, a, without);
	if (b)
		push_line(p, b, without);

	double value = lm_cost_line_value(p->price);

	lm_cost_line_clear(p->price);
	return value;
}

static bool item_meets(const struct lm_pack_items *p, const struct lm_pack_line_set *l, uint32_t item)
{
	for (uint32_t i = 0; i < l->nr; i++)
		if (!lm_pack_items_meet(p, l->items[i], item))
			return false;
	return true;
}

static bool lines_meet(const struct lm_pack_items *p, const struct lm_pack_line_set *a,
		       const struct lm_pack_line_set *b)
{
	if (a->bytes + b->bytes > p->pack->line)
		return false;
	for (uint32_t i = 0; i < a->nr; i++)
		if (!item_meets(p, b, a->items[i]))
			return false;
	return true;
}

static void remove_line(struct lm_pack_line_set *lines, uint32_t *nr, uint32_t at)
{
	memmove(&lines[at], &lines[at + 1], (--*nr - at) * sizeof(*lines));
}

/* gain[i * nr + j], i < j: what joining the two saves; -INFINITY if they cannot. */
static double gain_of(struct lm_pack_items *p, const struct lm_pack_line_set *a, const struct lm_pack_line_set *b)
{
	if (!lines_meet(p, a, b))
		return -INFINITY;
	return a->price + b->price - price_of(p, a, b, LM_NONE);
}

static void join_lines(struct lm_pack_items *p, struct lm_pack_line_set *lines, uint32_t *nr, struct lm_arena *arena)
{
	uint32_t all = *nr, left = *nr;
	double *gain = LM_ARENA_ARRAY(arena, double, (size_t)all * all + 1);

	for (uint32_t i = 0; i < all; i++)
		for (uint32_t j = i + 1; j < all; j++)
			gain[(size_t)i * all + j] = gain_of(p, &lines[i], &lines[j]);
	for (;;) {
		double best = -INFINITY;
		uint32_t a = 0, b = 0;

		for (uint32_t i = 0; i < all; i++)
			for (uint32_t j = i + 1; j < all; j++)
				if (lines[i].nr && lines[j].nr && gain[(size_t)i * all + j] > best) {
					best = gain[(size_t)i * all + j];
					a = i;
					b = j;
				}
		if (best == -INFINITY || (best <= 0 && left <= p->pack->lines))
			break;
		lines[a].price += lines[b].price - best;
		memcpy(lines[a].items + lines[a].nr, lines[b].items, lines[b].nr * sizeof(*lines[b].items));
		lines[a].nr += lines[b].nr;
		lines[a].bytes += lines[b].bytes;
		lines[b].nr = 0;
		left--;
		for (uint32_t k = 0; k < all; k++)
			if (lines[k].nr && k < a)
				gain[(size_t)k * all + a] = gain_of(p, &lines[k], &lines[a]);
			else if (lines[k].nr && k > a)
				gain[(size_t)a * all + k] = gain_of(p, &lines[a], &lines[k]);
	}
	for (uint32_t i = all; i-- > 0;)
		if (!lines[i].nr)
			remove_line(lines, nr, i);
}

/* Moves item number k of lines[from] where it costs least; true if that pays. */
static bool move_item(struct lm_pack_items *p, struct lm_pack_line_set *lines, uint32_t nr, uint32_t from, uint32_t k)
{
	struct lm_pack_line_set *f = &lines[from];
	uint32_t item = f->items[k], to = from;
	struct lm_pack_line_set single = { .items = &item, .nr = 1 };
	double rest = price_of(p, f, NULL, item), best = 1e-9 * f->price, price = 0;

	for (uint32_t j = 0; j < nr; j++) {
		if (j == from || lines[j].bytes + p->items[item].bytes > p->pack->line ||
		    !item_meets(p, &lines[j], item))
			continue;

		double with = price_of(p, &lines[j], &single, LM_NONE);
		double gain = f->price - rest + lines[j].price - with;

		if (gain > best) {
			best = gain;
			price = with;
			to = j;
		}
	}
	if (to == from)
		return false;
	lines[to].items[lines[to].nr++] = item;
	lines[to].bytes += p->items[item].bytes;
	lines[to].price = price;
	f->items[k] = f->items[--f->nr];
	f->bytes -= p->items[item].bytes;
	f->price = rest;
	return true;
}

void lm_pack_improve(struct lm_pack_items *p, struct lm_pack_line_set *lines, uint32_t *nr)
{
	bool moved = true;

	/* Each move saves, so it ends; the rounds are limited for the sake of time only. */
	for (int round = 0; moved && round < 20; round++) {
		moved = false;
		for (uint32_t i = 0; i < *nr; i++)
			for (uint32_t k = 0; k < lines[i].nr;)
				if (move_item(p, lines, *nr, i, k))
					moved = true;
				else
					k++;
		for (uint32_t i = *nr; i-- > 0;)
			if (!lines[i].nr)
				remove_line(lines, nr, i);
	}
}

/* Of the last LOOK lines with room for the item the best, and what that saves; LM_NONE if there is none. */
static uint32_t best_line(struct lm_pack_items *p, const struct lm_pack_line_set *lines, uint32_t nr,
			  const struct lm_pack_line_set *single, double *gain)
{
	uint32_t best = LM_NONE;

	*gain = -INFINITY;
	for (uint32_t i = nr, looked = 0; i-- > 0 && looked < LOOK;) {
		if (lines[i].bytes + single->bytes > p->pack->line || lines[i].nr == p->pack->line)
			continue;
		looked++;

		double g = gain_of(p, &lines[i], single);

		if (g > *gain) {
			*gain = g;
			best = i;
		}
	}
	return best;
}

/* One item after the other goes where it costs nothing, else on a new line, else where it costs least. */
static struct lm_pack_line_set *fit_lines(struct lm_pack_items *p, struct lm_arena *arena, uint32_t *nr)
{
	struct lm_pack_line_set *lines = LM_ARENA_ARRAY(arena, struct lm_pack_line_set, p->nr_start + 1);

	*nr = 0;
	for (uint32_t i = 0; i < p->nr_start; i++) {
		struct lm_pack_line_set single = { .items = &p->start[i], .nr = 1, .bytes = p->items[p->start[i]].bytes,
						   .price = p->items[p->start[i]].alone };
		double gain;
		uint32_t at = best_line(p, lines, *nr, &single, &gain);
		struct lm_pack_line_set *l = &lines[at];

		if (at == LM_NONE || (gain < -1e-9 * single.price && *nr < p->pack->lines)) {
			l = &lines[(*nr)++];
			*l = (struct lm_pack_line_set){ .items = LM_ARENA_ARRAY(arena, uint32_t, p->pack->line) };
			gain = 0;
		}
		l->items[l->nr++] = p->start[i];
		l->bytes += single.bytes;
		l->price += single.price - gain;
	}
	return lines;
}

struct lm_pack_line_set *lm_pack_greedy(struct lm_pack_items *p, struct lm_arena *arena, uint32_t *nr)
{
	if (p->nr_start > MOST_JOINED)
		return fit_lines(p, arena, nr);

	struct lm_pack_line_set *lines = LM_ARENA_ARRAY(arena, struct lm_pack_line_set, p->nr_start + 1);

	*nr = p->nr_start;
	for (uint32_t i = 0; i < *nr; i++) {
		const struct lm_pack_item *x = &p->items[p->start[i]];

		lines[i].items = LM_ARENA_ARRAY(arena, uint32_t, p->nr_start);
		lines[i].items[0] = p->start[i];
		lines[i].nr = 1;
		lines[i].bytes = x->bytes;
		lines[i].price = x->alone;
	}
	join_lines(p, lines, nr, arena);
	lm_pack_improve(p, lines, nr);
	return lines;
}
