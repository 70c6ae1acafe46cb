/*
 * body_scan.h - the lexemes of a body -> a row of items.  Private to body*.c.
 *
 * Two steps: lm_scan_body() cuts the row at every declaration, directive and
 * section comment; lm_scan_join() glues together what must stay together.
 */
#ifndef LM_OPTIMIZER_BODY_SCAN_H
#define LM_OPTIMIZER_BODY_SCAN_H

#include "optimizer/body.h"
#include "optimizer/lexer.h"

enum lm_item_kind {
	LM_ITEM_DECL,
	LM_ITEM_STUCK,		/* makes no member, goes with its neighbour: #define, static_assert, a lone ';' */
	LM_ITEM_IF,
	LM_ITEM_MID,
	LM_ITEM_ENDIF,
	LM_ITEM_COMMENT,
};

/* Indices of lexemes; last is one behind. */
struct lm_item {
	enum lm_item_kind kind;
	size_t first, last;		/* with its comments */
	size_t decl_first, decl_last;	/* without */
	uint32_t guard, branch;		/* as in lm_piece */
	bool macro;			/* DECL: a macro without ';' */
	bool bits;			/* DECL: declares a bit-field */
	bool stays;			/* COMMENT: speaks of more than what is below it */
	bool join;			/* goes with the item behind it */
	size_t trail;			/* DECL: lexeme of the first comment behind it, 0 none */
};

struct lm_scan {
	const char *path, *text;
	size_t begin, end;		/* of the body */
	uint32_t line;			/* of the '{' */
	struct lm_lexemes lex;
	const struct lm_extent *extents; /* sorted by begin, then end */
	size_t nr_extents;
	struct lm_arena *arena;

	struct lm_item *items;
	size_t nr_items, cap_items;
	struct lm_guard *guards;
	size_t *guard_if;		/* [nr_guards] index of its IF item */
	size_t nr_guards, cap_guards, cap_guard_if;
	uint32_t guard, branch;		/* where the scan stands */
	const char *refusal;
};

struct lm_err *lm_scan_body(struct lm_scan *s) LM_MUST_CHECK;

/* Merges items: afterwards there is no STUCK item, and guards inside a unit are no guards any more. */
void lm_scan_join(struct lm_scan *s);

/* Sets the reason why the body cannot be rearranged, unless there is one already. */
void lm_scan_refuse(struct lm_scan *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Index behind the bracket that closes lexeme `open`; directives and comments skipped; limit if it does not. */
size_t lm_scan_close(const char *text, const struct lm_lexeme *x, size_t open, size_t limit);

/*
 * If a macro that takes no ';' stands at lexeme `at`: the index behind it,
 * else 0.
 */
size_t lm_scan_macro(const struct lm_scan *s, size_t at);

/* Is the word in lexeme `at`, also inside a directive? */
bool lm_scan_uses_word(const struct lm_scan *s, size_t at, const char *word);

/* The macro of a #define or #undef; in arena. */
const char *lm_scan_macro_name(const struct lm_scan *s, const struct lm_directive *d);

/* First extent with begin >= at, or nr_extents. */
size_t lm_scan_extent(const struct lm_scan *s, size_t at);

/* What the unit's text tells: name, flags, number of declarators.  Fills all but piece bounds and guards. */
void lm_scan_describe(const struct lm_scan *s, const struct lm_item *item, struct lm_unit *u);

/* Is it a name of cache-line machinery (CACHELINE_PADDING, RTE_CACHE_GUARD)? */
bool lm_scan_fence_name(const char *text, const struct lm_lexeme *x);

#endif
