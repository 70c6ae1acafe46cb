/*
 * show.h - a layout with its heat as rows: what show.c computes, for the
 * printers of `linemate show`.
 */
#ifndef LM_OUTPUT_SHOW_H
#define LM_OUTPUT_SHOW_H

#include "output/report.h"

/* Accesses to one leaf, or to one element of an array of scalars. */
struct lm_show_part {
	const char *name;	/* path from the record */
	uint64_t offset, size;	/* bytes, from the record's start */
	double reads, writes;
};

struct lm_show_field {
	const char *decl;	/* "atomic_long_t memory_events[10];" */
	const char *name;
	uint64_t offset, size;	/* bytes */
	uint32_t bit, bits;	/* bit-field: first bit inside its byte, width; else bits is LM_NOT_BITS */
	uint64_t hole;		/* bytes left free in front of it */
	double reads, writes;
	struct lm_show_part *parts;	/* touched ones, by offset */
	uint32_t nr_parts;
};

struct lm_show {
	const char *config;
	struct lm_show_field *fields;	/* by offset */
	uint32_t nr_fields;
	double *line_cost;		/* expected transfers of each line; all 0 without a profile */
	uint64_t nr_lines;
	uint64_t size, align, sum_members, hole_bytes, tail;
	uint64_t base_align;		/* bytes: what is known of every object's address */
	uint64_t sum_bits;		/* of all bit-fields; not in sum_members */
	uint32_t holes;
	bool heat;			/* a profile is there */
	double transfers, transfers_double, accesses;
};

/* Computes view v; story must have subject, opts and, for the heat, usage.  In arena. */
void lm_show_make(const struct lm_story *story, uint32_t v, struct lm_arena *arena, struct lm_show *out);

#endif
