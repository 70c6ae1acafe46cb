/*
 * cover.h - which combinations of switches to try, so that each is seen on and
 * off and each two of them in all four ways, in few rows (a covering array of
 * strength two, greedy).  Pure, and the same on every machine.
 *
 * A row has one byte a switch: 0 as it is in the base, 1 turned.
 */
#ifndef LM_OPTIMIZER_COVER_H
#define LM_OPTIMIZER_COVER_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lm_cover {
	size_t nr;
	uint8_t *state;		/* of switches a <= b in values x, y: a state of cover.c; a == b: x == y, the value alone */
};

/* A pair of values; a == b: one value. */
struct lm_cover_pair {
	size_t a, b;
	uint8_t x, y;
};

struct lm_cover lm_cover_make(size_t nr, struct lm_arena *arena);

/* The row works: its pairs are covered. */
void lm_cover_saw(struct lm_cover *c, const uint8_t *row);

/* No row may have this pair. */
void lm_cover_forbid(struct lm_cover *c, struct lm_cover_pair pair);

/* What of the row is not covered cannot be. */
void lm_cover_lose(struct lm_cover *c, const uint8_t *row);

/* How many pairs of the row, two switches or one, are open. */
size_t lm_cover_gain(const struct lm_cover *c, const uint8_t *row);

/* Forgets which pairs lm_cover_next() has promised. */
void lm_cover_begin(struct lm_cover *c);

/*
 * The row that covers most of what is neither covered nor promised since
 * lm_cover_begin(), and then is closest to the base; promises its pairs.  False
 * if there is nothing left to cover.
 */
bool lm_cover_next(struct lm_cover *c, uint8_t *row, struct lm_arena *arena);

/* Pairs never covered, forbidden ones among them, in order; in arena. */
struct lm_cover_pair *lm_cover_lost(const struct lm_cover *c, struct lm_arena *arena, size_t *nr);

/*
 * The least number of rows, base besides, that show each two of nr switches in
 * all four ways, and row number r of them (Kleitman and Spencer, 1973: each
 * switch is turned in a set of rows of its own, all sets of one size that is
 * more than half of the rows).  More than half of the switches are turned in
 * each: good where nearly everything compiles.  At most 1000 switches.
 */
size_t lm_cover_least(size_t nr);
void lm_cover_least_row(size_t nr, size_t r, uint8_t *row);

#endif
