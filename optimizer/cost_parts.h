/*
 * cost_parts.h - what the two files that price layouts share: cost.c (ranges,
 * lines, whole layouts) and cost_between.c (what units cost each other).
 * Private to them.
 */
#ifndef LM_OPTIMIZER_COST_PARTS_H
#define LM_OPTIMIZER_COST_PARTS_H

#include "optimizer/cost.h"
#include "optimizer/cost_line.h"

/*
 * Touches that go to the same lines whatever the layout: of the same bytes, or
 * inside one granule of the field, that is, between two multiples of its
 * alignment.
 */
struct lm_cost_range {
	uint32_t field, size;
	uint64_t offset;	/* bytes inside the field */
	uint64_t mark;
	uint32_t first, nr;	/* of by_range */
};

/* First and last line of a range. */
struct lm_cost_span {
	uint64_t begin, end;
};

/* Prices by sums of marks: open addressing; sum 0 is an empty slot. */
struct lm_cost_memory {
	uint64_t *sums;
	double *prices;
	size_t nr, cap;
};

/*
 * Lines further than this from the record's start share the last number: the
 * profile of a flexible array may name any offset behind the record.
 */
enum { LM_COST_MAX_LINES = 1 << 20 };

/* The ranges on their lines for one base, as lm_cost_between() saw them last. */
struct lm_cost_place {
	uint64_t base;			/* bytes */
	struct lm_cost_span *spans;	/* [nr_ranges] */
	uint64_t *sums;			/* [cap]: marks of the ranges on each line, added up */
	double *prices;			/* [cap]: what units cost each other there */
	uint8_t *stale;			/* [cap]: the price is of an earlier sum, and the line is in lines */
	size_t *lines, nr_lines, cap_lines;
	size_t used, cap;		/* lines */
};

/* A field with ranges, and where lm_cost_between() saw it last. */
struct lm_cost_field {
	uint32_t field, first, end;	/* its ranges are [first, end) */
	uint64_t bit_offset;
};

struct lm_cost_places {
	struct lm_cost_place *items;	/* [nr_bases]; NULL before the first use */
	size_t nr;
	struct lm_cost_field *fields;	/* those with ranges */
	uint32_t nr_fields;
	struct lm_cost_memory memory;
};

struct lm_cost {
	const struct lm_view *view;
	const struct lm_touch *touches;
	struct lm_cost_line *price;
	struct lm_cost_range *ranges;	/* sorted by field */
	uint32_t nr_ranges;
	uint32_t *by_range;	/* indexes of touches, grouped by range */
	uint32_t *unit_end;	/* [nr_ranges]: first range behind those of the same unit */
	uint32_t line, step, nr_bases;	/* step: bytes between the bases that alignment allows */
	struct lm_cost_memory memory;
	uint32_t line_shift;	/* line == 1 << line_shift */
	uint64_t *sums;		/* [cap_lines]: marks of the ranges on each line, added up; scratch of one pricing */
	size_t cap_lines;
	struct lm_cost_span *spans; /* [nr_ranges]; scratch of one pricing */
	bool sparse;		/* far more lines than ranges: only touched lines are looked at, and sums is 0 between uses */
	struct lm_cost_places places;
};

/* Zeroed memory, at least one byte. */
void *lm_cost_take(size_t nr, size_t size);

/* Where a range lies if its field begins at bit_offset and the record at base bytes behind a line's start. */
struct lm_cost_span lm_cost_span_of(const struct lm_cost *c, uint32_t range, uint64_t bit_offset, uint64_t base);

/* Price of those of ranges [first, end) that lie on this line. */
double lm_cost_price_line(struct lm_cost *c, const struct lm_cost_span *spans, uint64_t line, uint32_t first,
			  uint32_t end);

/* The price kept under a sum that is not 0: to be filled in if it was not *known. */
double *lm_cost_recall(struct lm_cost_memory *m, uint64_t sum, bool *known);

void lm_cost_places_free(struct lm_cost_places *p);

#endif
