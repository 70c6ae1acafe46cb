/*
 * report_rows.h - the report as rows: everything that is computed, once, so
 * that the printers print.  Shared by report.c and the printers only.
 *
 * Counts are of the profile's accesses (or samples); transfers are expected
 * values (cost.h); offsets and sizes are bytes; lines count from 0.
 */
#ifndef LM_OUTPUT_REPORT_ROWS_H
#define LM_OUTPUT_REPORT_ROWS_H

#include "output/report.h"

/* A function on one side of a pair. */
struct lm_row_site {
	const char *name;
	double reads, writes;
	const char *cpus;	/* "0-3,7"; "" where the profile names none */
};

/* What is done to one leaf on one line. */
struct lm_row_side {
	const char *leaf;	/* path, with the touched element of an array */
	double reads, writes;
	struct lm_row_site *sites;	/* most accesses first */
	uint32_t nr_sites;
	uint32_t nr_main;	/* of these, with more than a small share of the accesses; 1 or more if there are any */
	bool same_cpus;		/* the main sites run on the same CPUs */
};

struct lm_row_config {
	const char *name, *spec;
	bool spec_is_name;	/* the name says it all: "+A -B" */
	const struct lm_view_figures *before, *after;
	double percent, percent_double;	/* change of the transfers */
	const char *step_before, *step_after;	/* kernel allocator, in words */
	bool same_step;
};

struct lm_row_pair {
	struct lm_row_side a, b;	/* a is written more */
	const char *config;
	uint64_t line;
	double excess;
	const char *inside;	/* the unit that holds both leaves, so that no order parts them for sure; else NULL */
	bool apart;
	int64_t slack;
	const char *together;	/* configurations in which they are line mates under the plan: "base, v1"; "" none */
};

struct lm_row_move {
	const char *unit;
	const char *from, *to;	/* unit in front, before and after; NULL: the record's start */
	bool barrier;
	bool stays;		/* in its place: only the barrier is new */
	uint32_t *pairs;	/* of the rows' pairs: those that this move parts */
	uint32_t nr_pairs;
};

struct lm_row_point {
	uint32_t moves, barriers;	/* units moved, barriers set */
	bool any;		/* last point: as many moves as it takes */
	bool chosen;
	double transfers;
	double percent;		/* of what is possible; negative if it is not known */
	double under_change;	/* what the order was chosen by: the mean over perturbations; negative if a rule is broken */
};

/* A field whose line changed. */
struct lm_row_shift {
	const char *field;
	uint64_t line_before, line_after;	/* of its first byte */
	uint64_t last_before, last_after;	/* line of its last byte */
	uint64_t offset_before, offset_after;
};

struct lm_row_shifts {
	const char *config;
	struct lm_row_shift *items;
	uint32_t nr;
	const char *same_as;	/* an earlier configuration with the same fields and lines, or NULL */
};

struct lm_row_shared {
	struct lm_row_side side;
	double transfers;
};

struct lm_row_rule {
	const char *unit, *other;	/* other may be NULL */
	const char *word, *text, *because;
};

struct lm_rows {
	struct lm_arena *arena;
	const struct lm_story *story;
	uint32_t nr_units, nr_views;
	bool moved, sampled;
	double percent;			/* change of the transfers, over all views */
	struct lm_row_config *configs;	/* [nr_views] */
	struct lm_row_pair *pairs, *new_pairs;
	uint32_t nr_pairs, nr_new_pairs;
	uint32_t nr_main_pairs;		/* of the pairs, those that cost more than a small share of the worst */
	struct lm_row_move *moves;
	uint32_t nr_moves;		/* rows: units that move, and those that only start a line now */
	uint32_t nr_moved, nr_barriers;
	uint32_t *shift_pairs;		/* pairs parted by what the moves shift, not by a move of their own */
	uint32_t nr_shift_pairs;
	struct lm_row_point *curve;
	uint32_t nr_curve;
	double gap_percent;		/* between the plan and the bound; negative if no bound */
	struct lm_row_shifts *shifts;	/* [nr_views] */
	struct lm_row_shared *shared;
	uint32_t nr_shared;
	uint32_t nr_main_shared;	/* of these, with more than a small share */
	double shared_transfers;	/* in base; never more than what remains */
	double shared_percent;		/* of what remains in base */
	double meet_before, meet_after;	/* per cent of perturbations */
	struct lm_row_rule *rules;
	uint32_t nr_rules;
	const char *base_promise;	/* what is known of the object's first byte */
};

/* Computes everything; story must have subject, plan, usage, rules and opts. */
void lm_rows_make(const struct lm_story *story, struct lm_arena *arena, struct lm_rows *out);

/*
 * Accesses of view v to a leaf, by function.  line LM_ANY_LINE: all of them;
 * else only those that reach into that line under layout.
 */
#define LM_ANY_LINE UINT64_MAX
void lm_row_side_make(const struct lm_story *story, uint32_t v, uint32_t leaf, const struct lm_layout *layout,
		      uint64_t line, struct lm_arena *arena, struct lm_row_side *out);

/* Of view v's accesses to a whole field, by function; without a leaf's name. */
void lm_row_field_side_make(const struct lm_story *story, uint32_t v, uint32_t field, struct lm_arena *arena,
			    struct lm_row_side *out);

/* Why a record was kept. */
const char *lm_kept_text(enum lm_kept kept);

/* "move 2 of 24 members, add 1 barrier" */
const char *lm_rows_what_to_do(const struct lm_rows *rows, struct lm_arena *arena);

/* "any: 3 moves, 1 barrier" */
const char *lm_row_point_name(const struct lm_row_point *c, struct lm_arena *arena);

#endif
