/*
 * picture.h - the record's cache lines to be drawn, before and after: which
 * stretch of which field lies where, how hot it is, which pairs meet there.
 * All that is computed for the picture of a page; the printer only prints.
 *
 * Places on a line are in bits from its start, so that bit-fields are to scale.
 * Lines count from 0, with the object's first byte at the start of line 0.
 */
#ifndef LM_OUTPUT_PICTURE_H
#define LM_OUTPUT_PICTURE_H

#include "output/report_rows.h"
#include "output/show.h"

/* Heat 0 is no access at all; each level above 1 is ten times the one below, the last one reaches the view's most. */
#define LM_HEAT_LEVELS 5

struct lm_pic_heat {
	uint32_t begin, end;	/* bits from the line's start */
	unsigned reads, writes;	/* levels */
};

/* What of a field lies on one line. */
struct lm_pic_stretch {
	uint32_t field;
	uint32_t begin, end;
	bool first, last;	/* the field begins, ends here */
	bool label;		/* the longest stretch of its field: the one to write its name on */
	struct lm_pic_heat *heat;
	uint32_t nr_heat;
};

/* Where the hottest bytes of a pair's two leaves lie; on a line that both share if there is one. */
struct lm_pic_pair {
	uint32_t pair;		/* of the rows' pairs; of the new pairs if fresh */
	bool fresh, joined;	/* joined: on one line */
	uint64_t line_a, line_b;
	uint32_t begin_a, end_a, begin_b, end_b;
	uint32_t field_a, field_b;
};

struct lm_pic_line {
	uint64_t number;
	uint64_t nr;		/* lines that this row stands for: more than 1 where nothing happens on all of them */
	uint32_t used;		/* bits that belong to the record */
	double transfers;
	bool loud;		/* something to see: a pair, a move, or a good part of all transfers */
	struct lm_pic_stretch *items;
	uint32_t nr_items;
};

struct lm_pic_side {
	struct lm_pic_line *lines;
	uint32_t nr_lines;
	uint64_t nr_hidden;	/* more lines behind the last row */
	struct lm_pic_pair *pairs;
	uint32_t nr_pairs;
	double transfers;
};

struct lm_pic_field {
	const struct lm_show_field *show;
	struct lm_row_side who;
	uint64_t before, after;			/* bytes */
	uint64_t line_before, line_after;	/* of the first byte */
	uint64_t last_before, last_after;
	uint32_t hottest[3];	/* of show's parts, hottest first */
	uint32_t nr_hottest;
	bool moves;		/* its unit moves, or starts a line now */
	bool link;		/* moves, and is the first of its unit; or belongs to a pair and changes its line */
};

struct lm_picture {
	const char *config;
	uint32_t line;			/* bytes */
	struct lm_pic_field *fields;	/* by index in the record */
	uint32_t nr_fields;
	uint32_t *order_before, *order_after;	/* [nr_fields] by offset */
	struct lm_pic_side before, after;	/* after is like before unless the rows' plan moves something */
};

/*
 * Draws view v of the rows' story.  Where a record is large, runs of lines that
 * nobody touches become one row; of more than most_lines rows on a side also
 * runs where little happens; what is left is cut there.
 */
void lm_picture_make(const struct lm_rows *rows, uint32_t v, uint32_t most_lines, struct lm_arena *arena,
		     struct lm_picture *out);

#endif
