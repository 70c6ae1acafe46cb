/*
 * cost.c - usage + layout -> expected transfers.
 *
 * A layout decides only which line each touched byte range lies on.  Ranges
 * (field, offset, size) are few, and the search meets the same sets of ranges
 * on a line again and again: the price of a set is kept under a 64-bit sum of
 * random marks, one a range.  Two sets with one sum are a matter of 2^-64 a
 * pair; check.c prices the result without this memory.
 */
#include "optimizer/cost.h"

#include "base/err.h"
#include "optimizer/cost_line.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * Touches that go to the same lines whatever the layout: of the same bytes, or
 * inside one granule of the field, that is, between two multiples of its
 * alignment.
 */
struct range {
	uint32_t field, size;
	uint64_t offset;	/* bytes inside the field */
	uint64_t mark;
	uint32_t first, nr;	/* of by_range */
};

struct memory {			/* open addressing; sum 0 is an empty slot */
	uint64_t *sums;
	double *prices;
	size_t nr, cap;
};

/*
 * lm_cost_between() depends on where the touched fields begin and on nothing
 * else: perturbations and moves of cold units ask for the same places again.
 */
enum { KNOWN_BITS = 13 };

/* A price, and what it was asked for. */
struct known {
	uint64_t key;
	double price;
};

struct lm_cost {
	const struct lm_view *view;
	const struct lm_touch *touches;
	struct lm_cost_line *price;
	struct range *ranges;
	uint32_t nr_ranges;
	uint32_t *by_range;	/* indexes of touches, grouped by range */
	uint32_t *unit_end;	/* [nr_ranges]: first range behind those of the same unit */
	uint32_t line, step, nr_bases;	/* step: bytes between the bases that alignment allows */
	struct memory memory;
	uint32_t line_shift;	/* line == 1 << line_shift */
	uint64_t *sums;		/* [cap_lines]: marks of the ranges on each line, added up; scratch of one pricing */
	uint64_t *unit_sums;	/* [cap_lines]: the same of one unit's ranges; all 0 between uses */
	size_t cap_lines;
	uint32_t *fields, nr_fields; /* those with ranges: where they begin decides a price */
	struct known *known;	/* [1 << KNOWN_BITS]: what lm_cost_between() answered last */
	uint64_t *begins, *ends; /* [nr_ranges]: first and last line of each range; scratch */
	bool sparse;		/* far more lines than ranges: only touched lines are looked at, and sums is 0 between uses */
};

static void *take(size_t nr, size_t size)
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
	struct order_key *keys = take(nr, sizeof(*keys));

	for (size_t i = 0; i < nr; i++)
		keys[i] = key_of(c, (uint32_t)i);
	qsort(keys, nr, sizeof(*keys), by_bytes);
	c->ranges = take(nr, sizeof(*c->ranges));
	c->by_range = take(nr, sizeof(*c->by_range));
	for (size_t i = 0; i < nr; i++) {
		struct range *r = c->nr_ranges ? &c->ranges[c->nr_ranges - 1] : NULL;

		if (!r || r->field != keys[i].field || r->offset != keys[i].offset || r->size != keys[i].size) {
			r = &c->ranges[c->nr_ranges++];
			*r = (struct range){ keys[i].field, keys[i].size, keys[i].offset, mark_of(c->nr_ranges),
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
	struct lm_cost *c = take(1, sizeof(*c));
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
	c->unit_end = take(c->nr_ranges, sizeof(*c->unit_end));
	for (uint32_t k = c->nr_ranges; k-- > 0;) {
		bool last = k + 1 == c->nr_ranges ||
			    view->field_unit[c->ranges[k].field] != view->field_unit[c->ranges[k + 1].field];

		c->unit_end[k] = last ? k + 1 : c->unit_end[k + 1];
	}
	c->begins = take(c->nr_ranges, sizeof(*c->begins));
	c->ends = take(c->nr_ranges, sizeof(*c->ends));
	c->sparse = (view->rec->size >> c->line_shift) > SPARSE_LINES + SPARSE_FACTOR * (uint64_t)c->nr_ranges;
	c->known = take(1 << KNOWN_BITS, sizeof(*c->known));
	c->fields = take(c->nr_ranges, sizeof(*c->fields));
	for (uint32_t k = 0; k < c->nr_ranges; k++)
		if (!k || c->ranges[k].field != c->ranges[k - 1].field)
			c->fields[c->nr_fields++] = c->ranges[k].field;
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
	free(c->sums);
	free(c->unit_end);
	free(c->unit_sums);
	free(c->known);
	free(c->fields);
	free(c->begins);
	free(c->ends);
	free(c);
}

bool lm_cost_base_fixed(const struct lm_cost *c)
{
	return c->nr_bases == 1;
}

/* Slot of sum: its own, or the empty one where it belongs. */
static size_t slot_of(const struct memory *m, uint64_t sum)
{
	size_t i = (size_t)(sum & (m->cap - 1));

	while (m->sums[i] && m->sums[i] != sum)
		i = (i + 1) & (m->cap - 1);
	return i;
}

static void memory_grow(struct memory *m)
{
	struct memory old = *m;

	m->cap = old.cap ? 2 * old.cap : 1024;
	m->sums = take(m->cap, sizeof(*m->sums));
	m->prices = take(m->cap, sizeof(*m->prices));
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

/*
 * Price of those of ranges [first, end) that spread() put on this line; pushed
 * in the order of ranges, so that it is the same every time.
 */
static double price_line(struct lm_cost *c, uint64_t line, uint32_t first, uint32_t end)
{
	for (uint32_t k = first; k < end; k++) {
		const struct range *r = &c->ranges[k];

		if (c->begins[k] > line || c->ends[k] < line)
			continue;
		for (uint32_t i = r->first; i < r->first + r->nr; i++)
			lm_cost_line_push(c->price, c->by_range[i]);
	}

	double value = lm_cost_line_value(c->price);

	lm_cost_line_clear(c->price);
	return value;
}

/* The same from memory; sum is what the marks of these ranges add up to. */
static double line_price(struct lm_cost *c, uint64_t sum, uint64_t line, uint32_t first, uint32_t end)
{
	struct memory *m = &c->memory;

	if (!sum)
		return 0;
	if (2 * m->nr >= m->cap)
		memory_grow(m);

	size_t at = slot_of(m, sum);

	if (!m->sums[at]) {
		m->prices[at] = price_line(c, line, first, end);
		m->sums[at] = sum;
		m->nr++;
	}
	return m->prices[at];
}

/*
 * Lines further than this from the record's start share the last number: the
 * profile of a flexible array may name any offset behind the record.
 */
enum { MAX_LINES = 1 << 20 };

/* Puts every range on its lines; returns the number of lines. */
static size_t spread(struct lm_cost *c, const struct lm_layout *layout, uint64_t base)
{
	uint64_t last = layout->size >> c->line_shift;
	size_t lines;

	for (uint32_t k = 0; k < c->nr_ranges; k++) {
		const struct range *r = &c->ranges[k];
		uint64_t begin = layout->bit_offset[r->field] / 8 + r->offset + base;

		c->begins[k] = begin >> c->line_shift;
		c->ends[k] = (begin + r->size - 1) >> c->line_shift;
		if (c->ends[k] >= MAX_LINES) {
			c->ends[k] = MAX_LINES - 1;
			c->begins[k] = c->begins[k] < MAX_LINES ? c->begins[k] : MAX_LINES - 1;
		}
		last = c->ends[k] > last ? c->ends[k] : last;
	}
	lines = (size_t)(last < MAX_LINES ? last + 1 : MAX_LINES);
	if (lines > c->cap_lines) {
		c->cap_lines = lines + lines / 2;
		free(c->sums);
		free(c->unit_sums);
		c->sums = take(c->cap_lines, sizeof(*c->sums));
		c->unit_sums = take(c->cap_lines, sizeof(*c->unit_sums));
	}
	if (!c->sparse)
		memset(c->sums, 0, lines * sizeof(*c->sums));
	for (uint32_t k = 0; k < c->nr_ranges; k++)
		for (uint64_t l = c->begins[k]; l <= c->ends[k]; l++)
			c->sums[l] += c->ranges[k].mark;
	return lines;
}

/* Price of the touched lines, each once; out as in lm_cost_lines(), or NULL. */
static double touched_lines(struct lm_cost *c, double *out, size_t nr)
{
	double sum = 0;

	for (uint32_t k = 0; k < c->nr_ranges; k++) {
		for (uint64_t l = c->begins[k]; l <= c->ends[k]; l++) {
			double price = line_price(c, c->sums[l], l, 0, c->nr_ranges);

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
		sum += line_price(c, c->sums[l], l, 0, c->nr_ranges);
	return sum;
}

double lm_cost_layout(struct lm_cost *c, const struct lm_layout *layout)
{
	double sum = 0;

	for (uint32_t b = 0; b < c->nr_bases; b++)
		sum += whole_lines(c, spread(c, layout, (uint64_t)b * c->step));
	return sum / c->nr_bases;
}

/*
 * Transfers of ranges [first, end), one unit's, as if they were alone, on the
 * lines that they share with others; lines that they do not are taken off the
 * layout's sums.
 */
static double unit_alone(struct lm_cost *c, uint32_t first, uint32_t end)
{
	uint64_t from = UINT64_MAX, to = 0;
	double sum = 0;

	for (uint32_t k = first; k < end; k++) {
		for (uint64_t l = c->begins[k]; l <= c->ends[k]; l++)
			c->unit_sums[l] += c->ranges[k].mark;
		from = c->begins[k] < from ? c->begins[k] : from;
		to = c->ends[k] > to ? c->ends[k] : to;
	}
	for (uint64_t l = from; l <= to; l++) {
		if (c->unit_sums[l] == c->sums[l])
			c->sums[l] = 0;	/* nobody else is there: what it costs is no matter between units */
		else
			sum += line_price(c, c->unit_sums[l], l, first, end);
		c->unit_sums[l] = 0;
	}
	return sum;
}

static double shared_alone(struct lm_cost *c)
{
	double sum = 0;

	for (uint32_t k = 0; k < c->nr_ranges; k = c->unit_end[k])
		sum += unit_alone(c, k, c->unit_end[k]);
	return sum;
}

static uint64_t mix(uint64_t key, uint64_t word)
{
	key = (key ^ word) * 0x9e3779b97f4a7c15u;
	return key ^ key >> 32;
}

double lm_cost_between(struct lm_cost *c, const struct lm_layout *layout)
{
	uint64_t key = 1;
	double sum = 0;
	struct known *k;

	for (uint32_t i = 0; i < c->nr_fields; i++)
		key = mix(key, layout->bit_offset[c->fields[i]]);
	k = &c->known[key >> (64 - KNOWN_BITS)];
	if (k->key == key)
		return k->price;
	for (uint32_t b = 0; b < c->nr_bases; b++) {
		size_t lines = spread(c, layout, (uint64_t)b * c->step);
		double alone = shared_alone(c);

		sum += whole_lines(c, lines) - alone;
	}
	k->key = key;
	k->price = sum / c->nr_bases;
	return k->price;
}

double lm_cost_most_saved(struct lm_cost *c)
{
	double sum = 0;

	/* A unit's part of a line costs at most the whole unit on one line; it has at most a line for each range and end. */
	for (uint32_t k = 0; k < c->nr_ranges; k = c->unit_end[k]) {
		uint64_t lines = 0;

		for (uint32_t i = k; i < c->unit_end[k]; i++) {
			c->begins[i] = c->ends[i] = 0;
			lines += 1 + (c->ranges[i].size + c->line - 2) / c->line;
		}
		sum += (double)lines * price_line(c, 0, k, c->unit_end[k]);
	}
	return sum;
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
		double price = line_price(c, c->sums[l], l, 0, c->nr_ranges);

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
