/*
 * layout.h - where fields land in memory for a given order, in one
 * configuration.  The only place that knows the ABI's placement rules
 * (System V, as gcc and clang implement it, bit-fields, packed, aligned
 * members and types, #pragma pack).  Pure.
 */
#ifndef LM_OPTIMIZER_LAYOUT_H
#define LM_OPTIMIZER_LAYOUT_H

#include "optimizer/record.h"
#include "optimizer/subject.h"

/*
 * Invariants, kept by lm_layout_fields(): fields overlap nowhere; size is a
 * multiple of align; every field ends at or before size; align is a power of 2.
 */
struct lm_layout {
	uint64_t size;		/* bytes, tail padding included */
	uint32_t align;		/* bytes */
	uint64_t *bit_offset;	/* [rec->nr_fields], the caller's memory */
};

/* A change of one field's size, for perturbation; field LM_NONE: no change. */
struct lm_resize {
	uint32_t field;
	int64_t bytes;		/* added to its size; result is at least 0 */
};

/*
 * Places rec's fields in the given order (a permutation of 0 .. nr_fields - 1;
 * else assert).  line_start[i] != 0 (may be NULL): position i is aligned up to
 * `line` bytes (a barrier; it also raises align to line).  resize may be NULL.
 */
void lm_layout_fields(const struct lm_record *rec, const uint32_t *order, const uint8_t *line_start,
		      uint32_t line, const struct lm_resize *resize, struct lm_layout *out);

/* How far a layout had come before a position of its order. */
struct lm_layout_mark {
	uint64_t bit, end, align;
	uint32_t nr;
};

/* Before the first position: nothing is placed. */
#define LM_LAYOUT_START ((struct lm_layout_mark){ .align = 8 })

/*
 * The same for an order of units.  A barrier before a unit that the view lacks
 * does nothing.  marks may be NULL, else [nr_units].  No memory is allocated.
 */
void lm_layout_units(const struct lm_view *view, uint32_t nr_units, const struct lm_order *order, uint32_t line,
		     struct lm_layout_mark *marks, struct lm_layout *out);

/*
 * The same with one field resized, whose unit stands at position `from`: places
 * anew what stands there and behind.  What stands before must be in out as
 * lm_layout_units() left it with these marks.
 */
void lm_layout_resized(const struct lm_view *view, uint32_t nr_units, const struct lm_order *order, uint32_t line,
		       const struct lm_layout_mark *marks, uint32_t from, const struct lm_resize *resize,
		       struct lm_layout *out);

/* Number of lines that size bytes touch: ceil(size / line). */
uint64_t lm_layout_lines(uint64_t size, uint32_t line);

#endif
