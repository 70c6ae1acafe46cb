/*
 * body.h - the text between a record's braces -> pieces and units.
 *
 * Every byte between '{' and '}' belongs to exactly one piece, in order; a
 * piece is whole lines where it can be.  A *unit* is the smallest text that
 * moves: a declaration with the comments above and behind it, with all its
 * declarators; a run of bit-fields; a union or anonymous struct; a macro that
 * makes members.  Guards (#if ... #endif) form a tree.
 */
#ifndef LM_OPTIMIZER_BODY_H
#define LM_OPTIMIZER_BODY_H

#include "base/arena.h"
#include "base/err.h"
#include "optimizer/record.h"

enum lm_piece_kind {
	LM_PIECE_UNIT,
	LM_PIECE_IF,		/* #if #ifdef #ifndef, whole line(s) with their comment */
	LM_PIECE_MID,		/* #elif #else */
	LM_PIECE_ENDIF,
	LM_PIECE_BLANK,		/* white space only */
	LM_PIECE_COMMENT,	/* a comment that belongs to a section, not to a unit */
};

struct lm_piece {
	enum lm_piece_kind kind;
	size_t begin, end;	/* bytes of the header */
	uint32_t unit;		/* UNIT: its id; else LM_NONE */
	uint32_t guard;		/* innermost guard around the piece; IF/MID/ENDIF: the guard it belongs to; LM_NONE outside */
	uint32_t branch;	/* of that guard, from 0; IF: 0, MID: the branch it opens, ENDIF: the last */
};

struct lm_branch {
	size_t begin, end;	/* bytes of its directive piece */
	const char *condition;	/* as an #if expression: "defined(CONFIG_X)", "!defined(X)", "A > 2"; "" for #else */
	const char *simple;	/* macro name if the directive is #ifdef/#ifndef NAME or #if [!]defined(NAME); else NULL */
	bool negated;		/* with simple: #ifndef or !defined */
};

struct lm_guard {
	uint32_t parent;	/* enclosing guard, or LM_NONE */
	uint32_t parent_branch;
	uint32_t nr_branches;
	struct lm_branch *branches;
	uint32_t line;		/* from 1 */
};

struct lm_unit {
	const char *name;	/* what people call it: first member's key, else the text, shortened; unique */
	size_t begin, end;	/* bytes of the header, comments and last newline included */
	size_t decl_begin, decl_end; /* first token of the declaration .. behind its last token (';') */
	uint32_t line;		/* of the declaration, from 1 */
	uint32_t guard, branch;	/* innermost guard, or LM_NONE */
	bool bit_run;		/* a run of adjacent bit-fields */
	bool fence;		/* __cacheline_group_begin/end and the like by name; body.c knows the names */
	bool group_begin, group_end; /* __cacheline_group_begin / _end */
	bool comment_first;	/* its comment says that it must stay first ("first member", "must be first", ...) */
	bool comment_last;	/* or last ("must be at the end", ...) */
	bool comment_layout;	/* its comment speaks of the layout ("same cache line", "offset", "hole", "pad") */
	bool pin_comment;	/* carries "linemate: pin" */
	uint32_t nr_declarators; /* best knowledge from the text */
};

struct lm_body {
	const char *text;	/* the header; borrowed */
	size_t len;
	size_t begin, end;	/* behind '{' .. before '}' */
	struct lm_piece *pieces;
	uint32_t nr_pieces;
	struct lm_unit *units;	/* in the order of the text; the index is the id */
	uint32_t nr_units;
	struct lm_guard *guards;
	uint32_t nr_guards;
	bool crlf;
	const char *refusal;	/* why this body cannot be rearranged ("#include inside the record at line 7"), or NULL */
};

/* The extent of one field in one configuration; bind_fields() needs all of them. */
struct lm_extent {
	size_t begin, end;
	bool bit_field;
};

/*
 * Splits the text between open ('{') and close ('}').
 *
 * extents: what clang says of the fields of all configurations, in any order
 * (equal ones may repeat): they tell macros without a semicolon from
 * declarations.  Text that no configuration sees is split by its own syntax.
 * All in arena.  LM_ERR_INPUT: unbalanced guards, unterminated comment or
 * declaration, with file (path) and line.
 */
struct lm_err *lm_body_read(const char *path, const char *text, size_t len, size_t open, size_t close,
			    const struct lm_extent *extents, size_t nr_extents, struct lm_arena *arena,
			    struct lm_body *out) LM_MUST_CHECK;

/* The unit that holds byte `at`, or LM_NONE. */
uint32_t lm_body_unit_at(const struct lm_body *body, size_t at);

/*
 * The multiset of tokens between two offsets, preprocessor lines left out
 * (they are returned apart), comments as tokens: what verify.c compares.
 * Tokens are NUL-terminated strings, sorted by bytes.
 */
struct lm_tokens {
	const char **items;
	size_t nr;
	const char **directives; /* white space folded, sorted */
	size_t nr_directives;
};
void lm_body_tokens(const char *text, size_t begin, size_t end, struct lm_arena *arena, struct lm_tokens *out);

#endif
