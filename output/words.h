/* words.h - numbers and sentences as the reports write them. */
#ifndef LM_OUTPUT_WORDS_H
#define LM_OUTPUT_WORDS_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>

#define LM_TEXT_WIDTH 100

/* Rounded to a whole number, thousands set apart by commas: 1,634,322.  In arena. */
const char *lm_count(struct lm_arena *arena, double v);

/* A signed per cent figure, "-66 %"; one decimal below 10 % where it says more.  In arena. */
const char *lm_percent(struct lm_arena *arena, double percent);

/* Text of unknown origin made safe for a terminal, on one line.  In arena. */
const char *lm_safe(struct lm_arena *arena, const char *text);

/*
 * Adds text and a newline, broken at blanks to LM_TEXT_WIDTH columns: the first
 * line starts with first blanks, the others with rest blanks.
 */
void lm_wrap(struct lm_str *out, unsigned first, unsigned rest, const char *text);

/* The same, to width columns. */
void lm_wrap_to(struct lm_str *out, unsigned width, unsigned first, unsigned rest, const char *text);

/* As lm_wrap(), formatted. */
void lm_wrapf(struct lm_str *out, unsigned first, unsigned rest, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Terminal dress; nothing where on is false. */
#define LM_BOLD "1"
#define LM_RED "31"
#define LM_GREEN "32"
void lm_paint(struct lm_str *out, bool on, const char *dress, const char *text);

#endif
