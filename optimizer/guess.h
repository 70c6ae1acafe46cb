/*
 * guess.h - without a profile: what the source lets one guess of who is
 * written and who is only read.
 *
 * Locks, atomics, reference counts, list heads, queues and numbers called like
 * counters are taken as written by any CPU; pointers, limits, sizes, flags,
 * names of operations and what is const as read mostly.  All else is unknown
 * and counts as neither.  A guess: names lie, and what nobody touches is hot
 * for nobody.
 */
#ifndef LM_OPTIMIZER_GUESS_H
#define LM_OPTIMIZER_GUESS_H

#include "base/arena.h"
#include "optimizer/record.h"

enum lm_guess { LM_GUESS_UNKNOWN, LM_GUESS_WRITTEN, LM_GUESS_READ };

/* What leaf looks like; *why says by what ("a lock"); static text. */
enum lm_guess lm_guess_leaf(const struct lm_record *rec, uint32_t leaf, const char **why);

/* A leaf that looks written and one of another member that looks read, on one line; one entry a pair of members. */
struct lm_guessed {
	uint32_t written, read;		/* leaves of the record */
	const char *why_written, *why_read;
	uint64_t line;			/* the first they share, as if the object starts on a line */
};

/*
 * The pairs of `after` that were on no common line in `before` (where one is
 * new, all of its pairs).  In arena.
 */
void lm_guess_new_pairs(const struct lm_record *before, const struct lm_record *after, uint32_t line,
			struct lm_arena *arena, struct lm_guessed **items, uint32_t *nr);

#endif
