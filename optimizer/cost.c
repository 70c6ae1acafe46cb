/*
 * cost.c - usage + layout -> expected transfers.
 *
 * A layout decides only which line each touched byte range lies on.  Ranges
 * (field, offset, size) are few, and the search meets the same sets of ranges
 * on a line again and again: the price of a set is kept under a 64-bit sum of
 * random marks, one a range.  Two sets with one sum are a matter of 2^-64 a
 * pair; check.c prices the result without this memory.
 */
#include "base/err.h"
#include "optimizer/cost_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void *lm_cost_take(size_t nr, size_t size)
{
	void *p = calloc(nr ? nr : 1, size);

	if (!p)
		lm_oom();
	return p;
}

/* The mark of range i: splitmix64, a public-domain mixer by Sebastiano Vigna. */
static uint64_t mark_of(uint64_t i)
{
	uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

struct order_key {
	uint64_t offset;
	uint32_t field, size, index;
};

static int by_bytes(const void *a, const void *b)
{
	const struct order_key *x = a, *y = b;

	if (x->field != y->field)
		return x->field < y->field ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/*
 * The bytes that stand for touch t: those between two multiples of the field's
 * alignment if it reaches over none, else its own.
 */
static struct order_key key_of(const struct lm_cost *c, uint32_t i)
{
	const struct lm_touch *t = &c->touches[i];
	const struct lm_record *rec = c->view->rec;
	const struct lm_field *f = &rec->fields[t->field];
	uint64_t granule = f->type_align > f->attr_align ? f->type_align : f->attr_align;

	if (f->packed || rec->packed || rec->pack || f->bits != LM_NOT_BITS || !granule)
		granule = 1;
	granule = granule < c->line ? granule : c->line;
	if (t->offset / granule == (t->offset + t->size - 1) / granule)
		return (struct order_key){ t->offset / granule * granule, t->field, 1, i };
	return (struct order_key){ t->offset, t->field, t->size, i };
}

static void make_ranges(struct lm_cost *c, size_t nr)
{
	struct order_key *keys = lm_cost_take(nr, sizeof(*keys));

	for (size_t i = 0; i < nr; i++)
		keys[i] = key_of(c, (uint32_t)i);
	qsort(keys, nr, sizeof(*keys), by_bytes);
	c->ranges = lm_cost_take(nr, sizeof(*c->ranges));
	c->by_range = lm_cost_take(nr, sizeof(*c->by_range));
	for (size_t i = 0; i < nr; i++) {
		struct lm_cost_range *r = c->nr_ranges ? &c->ranges[c->nr_ranges - 1] : NULL;

		if (!r || r->field != keys[i].field || r->offset != keys[i].offset || r->size != keys[i].size) {
			r = &c->ranges[c->nr_ranges++];
			*r = (struct lm_cost_range){ keys[i].field, keys[i].size, keys[i].offset, mark_of(c->nr_ranges),
					     (uint32_t)i, 0 };
		}
		c->by_range[i] = keys[i].index;
		r->nr++;
	}
	free(keys);
}

/* A record of more lines than these holds a buffer, and is mostly untouched. */
enum { SPARSE_LINES = 64, SPARSE_FACTOR = 4 };

struct lm_cost *lm_cost_new(const struct lm_view *view, const struct lm_usage *usage, uint32_t view_index,
			    const struct lm_cost_opts *opts)
{
	struct lm_cost *c = lm_cost_take(1, sizeof(*c));
	size_t nr = usage->nr_touches[view_index];
	uint32_t align = view->rec->align > opts->base_align ? view->rec->align : opts->base_align;

	assert(opts->line && !(opts->line & (opts->line - 1)) && nr < UINT32_MAX);
	c->view = view;
	c->touches = usage->touches[view_index];
	c->price = lm_cost_line_new(c->touches, nr);
	c->line = opts->line;
	c->line_shift = (uint32_t)__builtin_ctz(opts->line);
	c->step = align ? align : 1;
	c->nr_bases = c->step >= c->line ? 1 : c->line / c->step;
	make_ranges(c, nr);
	c->unit_end = lm_cost_take(c->nr_ranges, sizeof(*c->unit_end));
	for (uint32_t k = c->nr_ranges; k-- > 0;) {
		bool last = k + 1 == c->nr_ranges ||
			    view->field_unit[c->ranges[k].field] != view->field_unit[c->ranges[k + 1].field];

		c->unit_end[k] = last ? k + 1 : c->unit_end[k + 1];
	}
	c->spans = lm_cost_take(c->nr_ranges, sizeof(*c->spans));
	c->sparse = (view->rec->size >> c->line_shift) > SPARSE_LINES + SPARSE_FACTOR * (uint64_t)c->nr_ranges;
	return c;
}

void lm_cost_free(struct lm_cost *c)
{
	if (!c)
		return;
	lm_cost_line_free(c->price);
	free(c->ranges);
	free(c->by_range);
	free(c->memory.sums);
	free(c->memory.prices);
	free(c->spans);
	free(c->sums);
	free(c->unit_end);
	lm_cost_places_free(&c->places);
	free(c);
}

bool lm_cost_base_fixed(const struct lm_cost *c)
{
	return c->nr_bases == 1;
}

/* Slot of sum: its own, or the empty one where it belongs. */
static size_t slot_of(const struct lm_cost_memory *m, uint64_t sum)
{
	size_t i = (size_t)(sum & (m->cap - 1));

	while (m->sums[i] && m->sums[i] != sum)
		i = (i + 1) & (m->cap - 1);
	return i;
}

static void memory_grow(struct lm_cost_memory *m)
{
	struct lm_cost_memory old = *m;

	m->cap = old.cap ? 2 * old.cap : 1024;
	m->sums = lm_cost_take(m->cap, sizeof(*m->sums));
	m->prices = lm_cost_take(m->cap, sizeof(*m->prices));
	for (size_t i = 0; i < old.cap; i++) {
		if (!old.sums[i])
			continue;

		size_t at = slot_of(m, old.sums[i]);

		m->sums[at] = old.sums[i];
		m->prices[at] = old.prices[i];
	}
	free(old.sums);
	free(old.prices);
}

/* Pushed in the order of ranges, so that the price is the same every time. */
double lm_cost_price_line(struct lm_cost *c, const struct lm_cost_span *spans, uint64_t line, uint32_t first,
			  uint32_t end)
{
	for (uint32_t k = first; k < end; k++) {
		const struct lm_cost_range *r = &c->ranges[k];

		if (spans[k].begin > line || spans[k].end < line)
			continue;
		for (uint32_t i = r->first; i < r->first + r->nr; i++)
			lm_cost_line_push(c->price, c->by_range[i]);
	}

	double value = lm_cost_line_value(c->price);

	lm_cost_line_clear(c->price);
	return value;
}

double *lm_cost_recall(struct lm_cost_memory *m, uint64_t sum, bool *known)
{
	if (2 * m->nr >= m->cap)
		memory_grow(m);

	size_t at = slot_of(m, sum);

	*known = m->sums[at];
	m->nr += !*known;
	m->sums[at] = sum;
	return &m->prices[at];
}

/* Price of all ranges on the line, from memory if it can be; sum is what their marks add up to. */
static double line_price(struct lm_cost *c, uint64_t sum, uint64_t line)
{
	bool known;
	double *price;

	if (!sum)
		return 0;
	price = lm_cost_recall(&c->memory, sum, &known);
	if (!known)
		*price = lm_cost_price_line(c, c->spans, line, 0, c->nr_ranges);
	return *price;
}

struct lm_cost_span lm_cost_span_of(const struct lm_cost *c, uint32_t range, uint64_t bit_offset, uint64_t base)
{
	const struct lm_cost_range *r = &c->ranges[range];
	uint64_t begin = bit_offset / 8 + r->offset + base;
	uint64_t end = (begin + r->size - 1) >> c->line_shift, max = LM_COST_MAX_LINES - 1;

	begin >>= c->line_shift;
	return (struct lm_cost_span){ begin < max ? begin : max, end < max ? end : max };
}

/* Puts every range on its lines; returns the number of lines. */
static size_t spread(struct lm_cost *c, const struct lm_layout *layout, uint64_t base)
{
	uint64_t last = layout->size >> c->line_shift;
	size_t lines;

	for (uint32_t k = 0; k < c->nr_ranges; k++) {
		c->spans[k] = lm_cost_span_of(c, k, layout->bit_offset[c->ranges[k].field], base);
		last = c->spans[k].end > last ? c->spans[k].end : last;
	}
	lines = (size_t)(last < LM_COST_MAX_LINES ? last + 1 : LM_COST_MAX_LINES);
	if (lines > c->cap_lines) {
		c->cap_lines = lines + lines / 2;
		free(c->sums);
		c->sums = lm_cost_take(c->cap_lines, sizeof(*c->sums));
	}
	if (!c->sparse)
		memset(c->sums, 0, lines * sizeof(*c->sums));
	for (uint32_t k = 0; k < c->nr_ranges; k++)
		for (uint64_t l = c->spans[k].begin; l <= c->spans[k].end; l++)
			c->sums[l] += c->ranges[k].mark;
	return lines;
}

/* Price of the touched lines, each once; out as in lm_cost_lines(), or NULL. */
static double touched_lines(struct lm_cost *c, double *out, size_t nr)
{
	double sum = 0;

	for (uint32_t k = 0; k < c->nr_ranges; k++) {
		for (uint64_t l = c->spans[k].begin; l <= c->spans[k].end; l++) {
			double price = line_price(c, c->sums[l], l);

			c->sums[l] = 0;
			sum += price;
			if (out && l < nr)
				out[l] += price;
		}
	}
	return sum;
}

static double whole_lines(struct lm_cost *c, size_t lines)
{
	double sum = 0;

	if (c->sparse)
		return touched_lines(c, NULL, 0);
	for (size_t l = 0; l < lines; l++)
		sum += line_price(c, c->sums[l], l);
	return sum;
}

double lm_cost_layout(struct lm_cost *c, const struct lm_layout *layout)
{
	double sum = 0;

	for (uint32_t b = 0; b < c->nr_bases; b++)
		sum += whole_lines(c, spread(c, layout, (uint64_t)b * c->step));
	return sum / c->nr_bases;
}

double lm_cost_lines(struct lm_cost *c, const struct lm_layout *layout, double *out, size_t nr)
{
	size_t lines = spread(c, layout, 0);
	double sum = 0;

	for (size_t l = 0; l < nr; l++)
		out[l] = 0;
	if (c->sparse)
		return touched_lines(c, out, nr);
	for (size_t l = 0; l < lines; l++) {
		double price = line_price(c, c->sums[l], l);

		sum += price;
		if (l < nr)
			out[l] = price;
	}
	return sum;
}

double lm_cost_set(struct lm_cost *c, const uint32_t *touches, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		lm_cost_line_push(c->price, touches[i]);

	double value = lm_cost_line_value(c->price);

	lm_cost_line_clear(c->price);
	return value;
}
