/*
 * cost_between.c - what the units of a record cost each other.
 *
 * The search asks for thousands of layouts that differ little: the ranges stay
 * on their lines from one layout to the next, those of moved fields are put
 * elsewhere, and only the lines that this touches are priced anew.  Prices are
 * added up from the first line to the last each time, so that the sum does not
 * depend on what was asked before.
 */
#include "optimizer/cost_parts.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

static void *grown(void *old, size_t used, size_t nr, size_t size)
{
	char *p = reallocarray(old, nr, size);

	if (!p)
		lm_oom();
	memset(p + used * size, 0, (nr - used) * size);
	return p;
}

static void reserve(struct lm_cost_place *p, size_t lines)
{
	size_t cap = lines + lines / 2 + 64;

	if (lines <= p->cap)
		return;
	p->sums = grown(p->sums, p->cap, cap, sizeof(*p->sums));
	p->prices = grown(p->prices, p->cap, cap, sizeof(*p->prices));
	p->stale = grown(p->stale, p->cap, cap, sizeof(*p->stale));
	p->cap = cap;
}

static void make_places(struct lm_cost *c)
{
	struct lm_cost_places *places = &c->places;

	places->nr = c->nr_bases;
	places->items = lm_cost_take(places->nr, sizeof(*places->items));
	places->fields = lm_cost_take(c->nr_ranges, sizeof(*places->fields));
	for (size_t b = 0; b < places->nr; b++) {
		places->items[b].base = b * c->step;
		places->items[b].spans = lm_cost_take(c->nr_ranges, sizeof(*places->items[b].spans));
		for (uint32_t k = 0; k < c->nr_ranges; k++)
			places->items[b].spans[k] = (struct lm_cost_span){ 1, 0 };	/* nowhere */
	}
	for (uint32_t k = 0; k < c->nr_ranges; k++) {
		if (!k || c->ranges[k].field != c->ranges[k - 1].field)
			places->fields[places->nr_fields++] =
				(struct lm_cost_field){ c->ranges[k].field, k, k, UINT64_MAX };
		places->fields[places->nr_fields - 1].end++;
	}
}

void lm_cost_places_free(struct lm_cost_places *places)
{
	for (size_t b = 0; b < places->nr; b++) {
		struct lm_cost_place *p = &places->items[b];

		free(p->spans);
		free(p->sums);
		free(p->prices);
		free(p->stale);
		free(p->lines);
	}
	free(places->items);
	free(places->fields);
	free(places->memory.sums);
	free(places->memory.prices);
}

/* Adds a mark to the lines of a span; minus the mark takes it off. */
static void mark(struct lm_cost_place *p, struct lm_cost_span span, uint64_t by)
{
	for (uint64_t l = span.begin; l <= span.end; l++) {
		p->sums[l] += by;
		if (p->stale[l])
			continue;
		p->stale[l] = 1;
		if (p->nr_lines == p->cap_lines) {
			p->cap_lines = p->cap_lines ? 2 * p->cap_lines : 64;
			p->lines = grown(p->lines, p->nr_lines, p->cap_lines, sizeof(*p->lines));
		}
		p->lines[p->nr_lines++] = l;
	}
}

static void move_range(struct lm_cost *c, struct lm_cost_place *p, uint32_t k, uint64_t bit_offset)
{
	struct lm_cost_span old = p->spans[k], now = lm_cost_span_of(c, k, bit_offset, p->base);

	if (now.begin == old.begin && now.end == old.end)
		return;
	reserve(p, now.end + 1);
	p->used = now.end + 1 > p->used ? now.end + 1 : p->used;
	p->spans[k] = now;
	mark(p, old, -c->ranges[k].mark);
	mark(p, now, c->ranges[k].mark);
}

static void move_field(struct lm_cost *c, struct lm_cost_field *f, uint64_t bit_offset)
{
	f->bit_offset = bit_offset;
	for (size_t b = 0; b < c->places.nr; b++)
		for (uint32_t k = f->first; k < f->end; k++)
			move_range(c, &c->places.items[b], k, bit_offset);
}

/*
 * Transfers of a line less those of each unit's part of it alone; 0 if one
 * unit has it for itself, exactly.
 */
static double price_between(struct lm_cost *c, const struct lm_cost_span *spans, uint64_t line)
{
	uint32_t units = 0;
	double alone = 0;

	for (uint32_t k = 0; k < c->nr_ranges; k = c->unit_end[k]) {
		bool here = false;

		for (uint32_t i = k; i < c->unit_end[k] && !here; i++)
			here = spans[i].begin <= line && line <= spans[i].end;
		if (!here)
			continue;
		units++;
		alone += lm_cost_price_line(c, spans, line, k, c->unit_end[k]);
	}
	return units < 2 ? 0 : lm_cost_price_line(c, spans, line, 0, c->nr_ranges) - alone;
}

/* Prices of the lines whose ranges have changed. */
static void refresh(struct lm_cost *c, struct lm_cost_place *p)
{
	while (p->nr_lines) {
		size_t l = p->lines[--p->nr_lines];
		bool known = true;
		double *price;

		p->stale[l] = 0;
		p->prices[l] = 0;
		if (!p->sums[l])
			continue;
		price = lm_cost_recall(&c->places.memory, p->sums[l], &known);
		if (!known)
			*price = price_between(c, p->spans, l);
		p->prices[l] = *price;
	}
}

/* Over the touched lines only, each once. */
static double sparse_sum(struct lm_cost *c, struct lm_cost_place *p)
{
	double sum = 0;

	for (uint32_t k = 0; k < c->nr_ranges; k++) {
		for (uint64_t l = p->spans[k].begin; l <= p->spans[k].end; l++) {
			sum += p->stale[l] ? 0 : p->prices[l];
			p->stale[l] = 1;
		}
	}
	for (uint32_t k = 0; k < c->nr_ranges; k++)
		memset(p->stale + p->spans[k].begin, 0, p->spans[k].end - p->spans[k].begin + 1);
	return sum;
}

static double sum_of(struct lm_cost *c, struct lm_cost_place *p)
{
	double sum = 0;

	if (c->sparse)
		return sparse_sum(c, p);
	for (size_t l = 0; l < p->used; l++)
		sum += p->prices[l];
	return sum;
}

double lm_cost_between(struct lm_cost *c, const struct lm_layout *layout)
{
	struct lm_cost_places *places = &c->places;
	double sum = 0;

	if (!places->items)
		make_places(c);
	for (uint32_t i = 0; i < places->nr_fields; i++) {
		struct lm_cost_field *f = &places->fields[i];

		if (layout->bit_offset[f->field] != f->bit_offset)
			move_field(c, f, layout->bit_offset[f->field]);
	}
	for (size_t b = 0; b < places->nr; b++) {
		refresh(c, &places->items[b]);
		sum += sum_of(c, &places->items[b]);
	}
	return sum / c->nr_bases;
}

double lm_cost_most_saved(struct lm_cost *c)
{
	double sum = 0;

	/* A unit's part of a line costs at most the whole unit on one line; it has at most a line for each range and end. */
	for (uint32_t k = 0; k < c->nr_ranges; k = c->unit_end[k]) {
		uint64_t lines = 0;

		for (uint32_t i = k; i < c->unit_end[k]; i++) {
			c->spans[i] = (struct lm_cost_span){ 0, 0 };
			lines += 1 + (c->ranges[i].size + c->line - 2) / c->line;
		}
		sum += (double)lines * lm_cost_price_line(c, c->spans, 0, k, c->unit_end[k]);
	}
	return sum;
}
