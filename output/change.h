/*
 * change.h - what a change of the sources did to a record's layout: two
 * versions in, rows out.  Computed once; the printers (change_text.c,
 * change_json.c) print.
 *
 * With a profile both versions are priced by the same accesses: contention was
 * added in a configuration if its expected transfers rise by more than a
 * hundredth, and by more than one access in a thousand (where accesses were
 * sampled: ten samples at least).  Without one, new line mates of which one
 * looks written and one looks read (optimizer/guess.h) count as added.
 */
#ifndef LM_OUTPUT_CHANGE_H
#define LM_OUTPUT_CHANGE_H

#include "optimizer/compare.h"
#include "optimizer/guess.h"
#include "output/report_rows.h"
#include "output/version.h"

enum lm_change_verdict {
	LM_CHANGE_NONE,		/* the layout is the same in every configuration */
	LM_CHANGE_NEUTRAL,	/* it is not, but no contention was added */
	LM_CHANGE_LESS,		/* contention was taken away somewhere, added nowhere */
	LM_CHANGE_ADDED,
};

struct lm_change_config {
	const char *name, *spec;
	struct lm_comparison cmp;
	struct lm_view_figures before, after;	/* transfers only where priced */
	double percent;				/* change of the transfers */
	int turn;				/* contention: 1 added, -1 taken away, 0 neither */
	uint32_t same_as;			/* the first configuration with the same comparison, at most itself */
};

/* A member whose size or alignment is another one; one entry for all configurations with the same sizes. */
struct lm_change_resize {
	const char *member, *type;
	bool is_record;				/* nested: it is what changed, not this record's own text */
	uint64_t before, after;			/* bytes */
	uint32_t align_before, align_after;
	const char *configs;			/* "base, v1" */
};

/* Two leaves that cost more in one version than in the other. */
struct lm_change_pair {
	struct lm_row_side a, b;		/* a is written more; in the version where they cost more */
	const char *config;			/* where the difference is largest; the figures are of it */
	const char *configs;			/* all of them */
	uint64_t line;
	double excess;				/* transfers that they cost each other */
	double other_excess;			/* the same in the other version */
	const char *other_a, *other_b;		/* where they are there: "line 18", "lines 18-19", "nowhere" */
	const char *inside;			/* the member that holds both, else NULL */
	const char *path_a, *path_b;		/* leaves */
};

struct lm_change_guess {
	const char *written, *read;		/* leaves */
	const char *why_written, *why_read;
	const char *config;
	uint64_t line;
	const char *configs;
};

struct lm_change {
	const struct lm_version *before, *after;
	const char *title;
	uint32_t line;				/* bytes */
	bool priced, sampled, base_fixed;
	bool same_text;				/* the record's own text is the same, byte for byte */
	bool renamed;
	enum lm_change_verdict verdict;
	struct lm_change_config *configs;
	uint32_t nr_configs;
	const char *changed_in, *worse_in, *better_in;	/* configurations; "" */
	struct lm_change_resize *resizes;
	uint32_t nr_resizes;
	struct lm_change_pair *came, *went;	/* largest difference first; only where priced */
	uint32_t nr_came, nr_went;
	struct lm_change_guess *guesses;	/* only where not priced */
	uint32_t nr_guesses;
};

struct lm_change_opts {
	uint32_t line, base_align;		/* bytes */
	bool priced;				/* both versions are joined to a profile */
};

/* Both versions are parsed, with the same configurations.  Everything lives in arena or in the versions. */
void lm_change_make(const struct lm_version *before, const struct lm_version *after, const struct lm_change_opts *opts,
		    struct lm_arena *arena, struct lm_change *out);

/* What `linemate diff` prints. */
void lm_change_text(const struct lm_change *c, const struct lm_print_opts *opts, struct lm_str *out);

/* One paragraph, without a heading: for `linemate log`. */
void lm_change_brief(const struct lm_change *c, const struct lm_print_opts *opts, unsigned indent, struct lm_str *out);

void lm_change_json(const struct lm_change *c, struct lm_str *out);

/* "base, v1": adds a name to a list that may be NULL.  In arena. */
const char *lm_change_list(const char *list, const char *name, struct lm_arena *arena);

#endif
