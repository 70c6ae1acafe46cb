/*
 * bench.h - a C program that plays a profile's accesses on this machine, for
 * one layout of the record beside others, and what its times say.
 *
 * Three parts: the schedule (which thread does what, one after the other), the
 * program's text, and the statistics of what it printed.  All pure; whoever
 * asks builds and runs.
 */
#ifndef LM_OUTPUT_BENCH_H
#define LM_OUTPUT_BENCH_H

#include "base/arena.h"
#include "base/str.h"
#include "optimizer/join.h"

#include <stdbool.h>

/*
 * Layouts, in the order of the program's tables.  AGAIN is BEFORE once more:
 * how much do two runs of one layout differ?
 */
#define LM_BENCH_LAYOUTS(X) \
	X(BEFORE, "before") \
	X(AFTER, "after") \
	X(AGAIN, "before again") \
	X(IDEAL, "ideal")

enum lm_bench_layout {
#define X(name, text) LM_BENCH_##name,
	LM_BENCH_LAYOUTS(X)
#undef X
	LM_NR_BENCH
};

/* ---- schedule ---- */

enum lm_bench_op { LM_BENCH_LOAD, LM_BENCH_STORE, LM_BENCH_ADD, LM_BENCH_IDLE };

struct lm_bench_slot {
	enum lm_bench_op op;
	uint32_t size;		/* 1, 2, 4, 8 */
	uint32_t touch;		/* index of the touch */
};

/* What one thread plays again and again. */
struct lm_bench_player {
	uint32_t threads, thread;	/* one of how many, which */
	struct lm_bench_slot *slots;	/* [LM_BENCH_SLOTS] */
	uint32_t ops;			/* slots that are not idle */
};

enum { LM_BENCH_SLOTS = 1024 };

struct lm_bench_schedule {
	struct lm_bench_player *players; /* by threads, thread */
	size_t nr;
};

/*
 * Players for 1, 2, 4, ... and max_threads threads.  Thread t of n plays what
 * the profile's CPUs t, t + n, ... did (with more threads than CPUs, CPU t
 * modulo their number): sites drawn by rate, each one's accesses one after the
 * other.  The thread with most to do is never idle, the others are in
 * proportion.
 */
void lm_bench_schedule(const struct lm_view *view, const struct lm_usage *u, uint32_t v, uint32_t max_threads,
		       struct lm_arena *arena, struct lm_bench_schedule *out);

/* ---- program ---- */

struct lm_bench_program {
	const char *record;		/* "struct mem_cgroup" */
	const struct lm_usage *usage;
	uint32_t view;
	const uint64_t *places[LM_NR_BENCH]; /* [nr_touches] byte of the object that a touch starts at */
	uint64_t size;			/* the largest object of all layouts, in bytes */
	uint32_t rounds, slice_ms;
};

void lm_bench_text(const struct lm_bench_program *p, const struct lm_bench_schedule *s, struct lm_str *out);

/* ---- statistics ---- */

struct lm_bench_spread {
	double median, low, high;	/* and quartiles */
};

enum lm_bench_verdict { LM_BENCH_NO_DIFFERENCE, LM_BENCH_FASTER, LM_BENCH_SLOWER };

/*
 * Two layouts compared round by round.  There is a difference if the sign test
 * says so (chance below 1 in 1000), and the median of the ratios is further from 1
 * than two runs of one and the same layout usually are, and than 2 %.
 */
struct lm_bench_comparison {
	struct lm_bench_spread ratio;	/* of the second to the first in each round */
	double chance;			/* of signs as unequal as these if there is no difference: 0 .. 1 */
	enum lm_bench_verdict verdict;	/* is the second one faster? */
};

/* Results of one number of threads. */
struct lm_bench_result {
	uint32_t threads;
	struct lm_bench_spread speed[LM_NR_BENCH]; /* operations per second */
	double noise;			/* how far the ratio of AGAIN to BEFORE is from 1: median */
	struct lm_bench_comparison after, ideal; /* to BEFORE */
};

/* speed[layout][rounds]: operations per second; rounds > 0. */
void lm_bench_judge(const double *const *speed, size_t rounds, struct lm_bench_result *out);

/* Reads the program's rows: "threads round layout speed", each once.  LM_ERR_BUG: they are something else. */
struct lm_err *lm_bench_read(const char *text, uint32_t rounds, const struct lm_bench_schedule *s,
			     struct lm_arena *arena, struct lm_bench_result **out, size_t *nr) LM_MUST_CHECK;

#endif
