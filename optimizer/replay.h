/*
 * replay.h - what a layout costs when accesses are played through caches, one
 * by one.  The judge of cost.h's formula: it shares no code with it.  Pure.
 *
 * One cache a CPU, without limit, kept coherent by MESI: a line is held by any
 * number of readers or by one writer.  An access by a CPU that does not hold
 * the line is a *miss* (the first touch of a line by anybody is none: no other
 * CPU takes part), a store by one that shares it with others an *upgrade*.
 */
#ifndef LM_OPTIMIZER_REPLAY_H
#define LM_OPTIMIZER_REPLAY_H

#include "base/arena.h"
#include "optimizer/join.h"
#include "profiles/access.h"

/* Where a kind of access lands in a layout: bytes of its object, which starts on a line. */
struct lm_replay_place {
	bool there;		/* false: this layout has no such member */
	uint64_t offset;
};

/* Counts are exact; or, of random interleavings, means, with the standard deviation of one run. */
struct lm_replay_line {
	uint32_t object;
	uint64_t line;		/* number of the line in the object */
	double accesses, misses, upgrades;
	double misses_spread, upgrades_spread;
};

struct lm_replay {
	struct lm_replay_line *lines;	/* those touched, by object and line; in the arena */
	size_t nr_lines;
	double accesses, misses, upgrades;
	double absent;			/* accesses whose place is not there */
	double misses_spread, upgrades_spread;
};

/* Plays the trace, settled, as it is; places[nr_kinds] are those of its kinds, lines are `line` bytes. */
void lm_replay_trace(const struct lm_trace *t, const struct lm_replay_place *places, uint32_t line,
		     struct lm_arena *arena, struct lm_replay *out);

/*
 * Without order: accesses of view v, drawn at random by their rates (what one
 * site touches on a line is one access, as in cost.h), a number of times from
 * fixed seeds.  bit_offset: of the view's fields, as in lm_layout.
 */
void lm_replay_random(const struct lm_usage *u, uint32_t v, const uint64_t *bit_offset, uint32_t line,
		      struct lm_arena *arena, struct lm_replay *out);

#endif
