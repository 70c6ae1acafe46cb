/*
 * rewrite_parts.h - the new body as a row of elements.  Private to rewrite*.c.
 *
 * rewrite.c decides what moves and builds the row, rewrite_guard.c writes
 * directives, rewrite_place.c finds the place of each moved unit,
 * rewrite_text.c turns the row into text.
 */
#ifndef LM_OUTPUT_REWRITE_PARTS_H
#define LM_OUTPUT_REWRITE_PARTS_H

#include "base/str.h"
#include "output/rewrite.h"

enum lm_element_kind {
	LM_EL_PIECE,		/* a piece in its old place */
	LM_EL_UNIT,		/* a moved unit */
	LM_EL_OPEN,		/* a new #if line */
	LM_EL_MID,		/* a new #elif or #else line */
	LM_EL_CLOSE,		/* a new #endif line */
	LM_EL_BLANK,		/* a new blank line */
	LM_EL_BARRIER,		/* a new padding line */
};

struct lm_element {
	enum lm_element_kind kind;
	uint32_t piece;		/* PIECE, UNIT: its piece; else LM_NONE */
	const char *line;	/* new lines: the text without indentation and newline */
	const char *condition;	/* OPEN: in full, as in a step; else NULL */
	uint32_t above;		/* a comment piece to put above it, or LM_NONE */
	bool align;		/* PIECE, UNIT: append the barrier attribute */
	bool gone;
};

/* One guard around something: two are the same if their condition is. */
struct lm_step {
	uint32_t guard, branch;
	const char *condition;	/* in full, with the earlier branches of its chain excluded */
};

struct lm_path {
	struct lm_step *steps;	/* outermost first */
	uint32_t nr;
};

struct lm_writer {
	const struct lm_body *body;
	const struct lm_order *order;
	const struct lm_rewrite_opts *opts;
	struct lm_arena *arena;
	uint32_t *unit_piece;	/* [nr_units] */
	uint32_t *endif_piece;	/* [nr_guards] */
	uint32_t *if_piece;	/* [nr_guards] */
	bool *dropped;		/* [nr_pieces] directive made superfluous */
	bool *moves;		/* [nr_units] */
	uint32_t *position;	/* [nr_units] in the new order */
	uint32_t *kept;		/* pieces that stay, in order */
	uint32_t nr_kept;
	struct lm_element *row;
	size_t nr_row, cap_row;
	uint32_t pad_number;	/* the last N of _padN_ */
};

/* ---- rewrite_guard.c ---- */

/* The guards around (guard, branch); in arena. */
struct lm_path lm_writer_path(const struct lm_writer *w, uint32_t guard, uint32_t branch);

/* Number of leading steps that are the same. */
uint32_t lm_path_common(const struct lm_path *a, const struct lm_path *b);

/* Adds the directives that lead from one context to another one. */
void lm_writer_go(struct lm_writer *w, const struct lm_path *from, const struct lm_path *to);

/*
 * The same for the way back to the context of kept piece `next` (LM_NONE: the
 * end): what is opened goes on with the rest of the old chain.  The first
 * `intact` steps were never left.
 */
void lm_writer_return(struct lm_writer *w, const struct lm_path *from, const struct lm_path *to, uint32_t intact,
		      uint32_t next);

/* Marks guards without content, and what is between, as gone. */
void lm_writer_sweep(struct lm_writer *w);

/* Marks an #endif and the #if behind it as gone where both are of one condition and the change brought them together. */
void lm_writer_merge(struct lm_writer *w);

/* ---- rewrite_place.c ---- */

/* The guards around the place before kept[at]; at may be nr_kept. */
struct lm_path lm_writer_context(const struct lm_writer *w, uint32_t at);

/*
 * place[u] for every moved unit: it goes before kept[place[u]]; equal places
 * keep the new order.
 */
void lm_writer_place(struct lm_writer *w, uint32_t *place);

/* ---- rewrite_text.c ---- */

struct lm_element *lm_writer_push(struct lm_writer *w, enum lm_element_kind kind, uint32_t piece, const char *line);

/* Adds blank lines to the row: around moved units where their old place had some, none left over. */
void lm_writer_tidy(struct lm_writer *w);

/* The row as the text between the braces. */
void lm_writer_print(struct lm_writer *w, struct lm_str *out);

#endif
