/*
 * lexer.h - bytes of C -> lexemes: words, numbers, literals, punctuation,
 * comments and whole preprocessor lines.
 *
 * Works on any bytes: what is no C becomes punctuation of one byte.  White
 * space and spliced lines are in no lexeme.
 */
#ifndef LM_OPTIMIZER_LEXER_H
#define LM_OPTIMIZER_LEXER_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lm_lex_kind {
	LM_LEX_WORD,
	LM_LEX_NUMBER,		/* C's preprocessing number */
	LM_LEX_LITERAL,		/* string or character; ends at the line's end if it is not closed */
	LM_LEX_PUNCT,		/* one byte */
	LM_LEX_COMMENT,		/* without the newline behind a // comment */
	LM_LEX_DIRECTIVE,	/* from '#' to before the newline, comments and spliced lines included */
};

struct lm_lexeme {
	enum lm_lex_kind kind;
	size_t begin, end;
	uint32_t line, last_line;	/* of its first and last byte, from 1 */
};

#define LM_LEX_FINE SIZE_MAX

struct lm_lexemes {
	struct lm_lexeme *items;	/* in arena */
	size_t nr;
	size_t unclosed;		/* index of the first comment, or literal in code, that never ends; or LM_LEX_FINE */
};

/* Lexes text[begin .. end); `line` is the line of begin; begin counts as the start of a line only if it is one. */
void lm_lex(const char *text, size_t begin, size_t end, uint32_t line, struct lm_arena *arena,
	    struct lm_lexemes *out);

/* The 1-based line of byte `at`. */
uint32_t lm_lex_line(const char *text, size_t at);

/* The lexeme is exactly this text. */
bool lm_lex_is(const char *text, const struct lm_lexeme *x, const char *word);

/* The lexeme is this one byte of punctuation. */
bool lm_lex_punct(const char *text, const struct lm_lexeme *x, char c);

/* White space between lexemes; a backslash counts when a newline follows. */
bool lm_lex_space(char c);

bool lm_lex_word_byte(char c);	/* a letter, digit, '_', '$' or a byte above 127 */

enum lm_directive_kind {
	LM_DIR_IF,
	LM_DIR_IFDEF,
	LM_DIR_IFNDEF,
	LM_DIR_ELIF,
	LM_DIR_ELIFDEF,
	LM_DIR_ELIFNDEF,
	LM_DIR_ELSE,
	LM_DIR_ENDIF,
	LM_DIR_DEFINE,
	LM_DIR_UNDEF,
	LM_DIR_NULL,		/* a lone '#' */
	LM_DIR_OTHER,		/* include, pragma, error, line and what else there is */
};

struct lm_directive {
	enum lm_directive_kind kind;
	const char *word;	/* "include"; "" for a lone '#' */
	const char *rest;	/* what follows, comments out, white space folded, "defined X" as "defined(X)" */
};

/* Takes a DIRECTIVE lexeme apart; strings in arena. */
void lm_lex_directive(const char *text, const struct lm_lexeme *x, struct lm_arena *arena,
		      struct lm_directive *out);

/* text[begin .. end) with every run of white space and splices as one blank, none at the ends; in arena. */
const char *lm_lex_fold(const char *text, size_t begin, size_t end, struct lm_arena *arena);

#endif
