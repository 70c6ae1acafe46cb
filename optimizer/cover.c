/* cover.c - few rows that show each two switches in all four ways. */
#include "optimizer/cover.h"

#include <string.h>

/* Zero is where everything starts. */
enum { OPEN, PROMISED, COVERED, LOST, FORBIDDEN };
/* As many pairs are tried as the start of a row. */
enum { MOST_SEEDS = 200 };

#define UNSET 2

static uint8_t *state_of(const struct lm_cover *c, size_t a, uint8_t x, size_t b, uint8_t y)
{
	return a <= b ? &c->state[((a * c->nr + b) * 2 + x) * 2 + y] : &c->state[((b * c->nr + a) * 2 + y) * 2 + x];
}

struct lm_cover lm_cover_make(size_t nr, struct lm_arena *arena)
{
	return (struct lm_cover){ .nr = nr, .state = lm_arena_array(arena, nr * nr + 1, 4) };
}

/* Sets each pair of the row that is in state `from` or below. */
static void set_row(struct lm_cover *c, const uint8_t *row, uint8_t to)
{
	for (size_t a = 0; a < c->nr; a++) {
		for (size_t b = a; b < c->nr; b++) {
			uint8_t *s = state_of(c, a, row[a], b, row[b]);

			if (*s < to)
				*s = to;
		}
	}
}

void lm_cover_saw(struct lm_cover *c, const uint8_t *row)
{
	for (size_t a = 0; a < c->nr; a++)
		for (size_t b = a; b < c->nr; b++)
			*state_of(c, a, row[a], b, row[b]) = COVERED;
}

void lm_cover_forbid(struct lm_cover *c, struct lm_cover_pair p)
{
	uint8_t *s = state_of(c, p.a, p.x, p.b, p.y);

	/* Alone it may fail, and do with others. */
	if (*s != COVERED)
		*s = FORBIDDEN;
}

void lm_cover_lose(struct lm_cover *c, const uint8_t *row)
{
	for (size_t a = 0; a < c->nr; a++) {
		for (size_t b = a; b < c->nr; b++) {
			uint8_t *s = state_of(c, a, row[a], b, row[b]);

			if (*s == OPEN || *s == PROMISED)
				*s = LOST;
		}
	}
}

size_t lm_cover_gain(const struct lm_cover *c, const uint8_t *row)
{
	size_t gain = 0;

	for (size_t a = 0; a < c->nr; a++)
		for (size_t b = a; b < c->nr; b++)
			gain += *state_of(c, a, row[a], b, row[b]) == OPEN;
	return gain;
}

void lm_cover_begin(struct lm_cover *c)
{
	for (size_t i = 0; i < c->nr * c->nr * 4; i++)
		if (c->state[i] == PROMISED)
			c->state[i] = OPEN;
}

/* What switch k in value v adds to the row; -1 if it must not. */
static int gain_of(const struct lm_cover *c, const uint8_t *row, size_t k, uint8_t v)
{
	uint8_t own = *state_of(c, k, v, k, v);
	int gain = own == OPEN;

	if (own == FORBIDDEN)
		return -1;
	for (size_t b = 0; b < c->nr; b++) {
		uint8_t s = row[b] == UNSET || b == k ? COVERED : *state_of(c, k, v, b, row[b]);

		if (s == FORBIDDEN)
			return -1;
		gain += s == OPEN;
	}
	return gain;
}

/* Completes a row that starts from one pair; what it covers, or -1. */
static int fill(const struct lm_cover *c, struct lm_cover_pair seed, uint8_t *row)
{
	int total;

	memset(row, UNSET, c->nr);
	total = gain_of(c, row, seed.a, seed.x);
	row[seed.a] = seed.x;
	if (total >= 0 && seed.b != seed.a) {
		int more = gain_of(c, row, seed.b, seed.y);

		total = more < 0 ? -1 : total + more;
		row[seed.b] = seed.y;
	}
	for (size_t k = 0; k < c->nr && total >= 0; k++) {
		int as_is, turned;

		if (row[k] != UNSET)
			continue;
		as_is = gain_of(c, row, k, 0);
		turned = gain_of(c, row, k, 1);
		if (as_is < 0 && turned < 0)
			return -1;
		row[k] = turned > as_is;
		total += turned > as_is ? turned : as_is;
	}
	return total;
}

static size_t turned(const struct lm_cover *c, const uint8_t *row)
{
	size_t n = 0;

	for (size_t k = 0; k < c->nr; k++)
		n += row[k];
	return n;
}

/* The next open pair from *p on; false behind the last. */
static bool next_open(const struct lm_cover *c, struct lm_cover_pair *p, size_t *at)
{
	for (; *at < c->nr * c->nr * 4; ++*at) {
		struct lm_cover_pair q = { .a = *at / 4 / c->nr, .b = *at / 4 % c->nr, .x = *at / 2 & 1, .y = *at & 1 };

		if (c->state[*at] != OPEN || q.a > q.b || (q.a == q.b && q.x != q.y))
			continue;
		*p = q;
		++*at;
		return true;
	}
	return false;
}

bool lm_cover_next(struct lm_cover *c, uint8_t *row, struct lm_arena *arena)
{
	uint8_t *best = LM_ARENA_ARRAY(arena, uint8_t, c->nr + 1);
	struct lm_cover_pair seed;
	int most = -1, seeds = 0;
	size_t at = 0;

	while (seeds < MOST_SEEDS && next_open(c, &seed, &at)) {
		int total = fill(c, seed, row);

		if (total < 0) {	/* no row has it */
			*state_of(c, seed.a, seed.x, seed.b, seed.y) = LOST;
			continue;
		}
		seeds++;
		if (total > most || (total == most && turned(c, row) < turned(c, best))) {
			most = total;
			memcpy(best, row, c->nr);
		}
	}
	if (most < 0)
		return false;
	memcpy(row, best, c->nr);
	set_row(c, row, PROMISED);
	return true;
}

struct lm_cover_pair *lm_cover_lost(const struct lm_cover *c, struct lm_arena *arena, size_t *nr)
{
	struct lm_cover_pair *pairs = LM_ARENA_ARRAY(arena, struct lm_cover_pair, c->nr * c->nr * 4 + 1);

	*nr = 0;
	for (size_t at = 0; at < c->nr * c->nr * 4; at++) {
		struct lm_cover_pair q = { .a = at / 4 / c->nr, .b = at / 4 % c->nr, .x = at / 2 & 1, .y = at & 1 };

		if (c->state[at] != COVERED && q.a <= q.b && (q.a != q.b || q.x == q.y))
			pairs[(*nr)++] = q;
	}
	return pairs;
}

/* ---- as few as can be ---- */

/* How many of `rows` rows a switch is turned in. */
static unsigned set_size(size_t rows)
{
	return (unsigned)rows / 2 + 1;
}

static size_t nr_sets(size_t rows)
{
	size_t n = 1;

	for (size_t k = 1; k <= set_size(rows); k++)
		n = n * (rows - set_size(rows) + k) / k;
	return n;
}

size_t lm_cover_least(size_t nr)
{
	size_t rows = nr ? 1 : 0;

	while (rows && nr_sets(rows) < nr)
		rows++;
	return rows;
}

void lm_cover_least_row(size_t nr, size_t r, uint8_t *row)
{
	size_t rows = lm_cover_least(nr);
	uint32_t set = (1u << set_size(rows)) - 1;

	for (size_t k = 0; k < nr; k++) {
		uint32_t low = set & -set, carried = set + low;

		row[k] = set >> r & 1;
		/* The next larger number with as many bits. */
		set = carried | ((set ^ carried) >> 2) / low;
	}
}
