/* derive_parts.h - the combinations tried so far.  Private to derive*.c. */
#ifndef LM_OPTIMIZER_DERIVE_PARTS_H
#define LM_OPTIMIZER_DERIVE_PARTS_H

#include "optimizer/derive.h"

enum lm_row_state { LM_ROW_NEW, LM_ROW_WORKS, LM_ROW_FAILS };

/* A combination: base with some switches turned. */
struct lm_row {
	uint8_t *turned;	/* [nr_turned] a switch found later is as in base */
	size_t nr_turned;
	enum lm_row_state state;
	const char *key;	/* equal keys: the same text of the record; NULL: not known */
	size_t config;		/* its configuration and source; SIZE_MAX: none of its own */
	size_t same_as;		/* an earlier row with its text, which speaks for it; SIZE_MAX: none */
	const char *why;	/* FAILS */
	bool asked;		/* to learn what fails: it is there to cover only what no other row does */
	bool given_up;		/* FAILS, and nobody knows by which of its pairs */
};

struct lm_deriving {
	struct lm_source_request *req;
	struct lm_configs *configs;
	struct lm_arena *arena;
	struct lm_source *sources;	/* [configs->nr], room for many more */
	size_t nr_given;		/* configurations that are not derived: base and what was asked for */
	size_t nr_taken;		/* sources whose guards were looked at */
	struct lm_guarded *texts;
	size_t nr_texts, cap_texts;
	struct lm_tested_list fixed;
	struct lm_switch *switches;
	size_t nr_switches, cap_switches;
	struct lm_row *rows;		/* the given ones first */
	size_t nr_rows, cap_rows;
	struct lm_cover cover;
	struct lm_cover_pair *forbidden;
	size_t nr_forbidden, cap_forbidden;	/* which do not compile; both turned, or a == b: alone */
	size_t nr_same_text, nr_parsed;
	size_t least_of;		/* switches that the smallest array was proposed for, 0: it was not */
	bool bodies;			/* function bodies of base and derived configurations count */
};

/* ---- derive_options.c ---- */

/* Looks at the guards of the sources that were parsed since the last call. */
struct lm_err *lm_deriving_take(struct lm_deriving *d) LM_MUST_CHECK;

/* Is switch k of the row turned? */
uint8_t lm_row_turned(const struct lm_row *row, size_t k);

/* What the record's text depends on in this combination. */
const char *lm_row_key(const struct lm_deriving *d, const struct lm_row *row);

/* "+CONFIG_A,-CONFIG_B", and lines of #undef and #define. */
const char *lm_row_items(const struct lm_deriving *d, const struct lm_row *row, struct lm_str *edits);

/* A short name that no configuration has yet: "+A -B", or "auto4". */
const char *lm_row_name(const struct lm_deriving *d, const struct lm_row *row);

#endif
