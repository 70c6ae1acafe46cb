/*
 * plan.h - from facts to a plan: verdict, order, cost before and after, bound,
 * the curve of few moves, what is left as true sharing.
 */
#ifndef LM_OPTIMIZER_PLAN_H
#define LM_OPTIMIZER_PLAN_H

#include "base/arena.h"
#include "base/err.h"
#include "optimizer/cost.h"
#include "optimizer/rules.h"

enum lm_verdict { LM_VERDICT_MOVED, LM_VERDICT_KEPT, LM_VERDICT_REFUSED };

/* Why the record was kept. */
#define LM_KEPT(X) \
	X(NO_CONTENTION, "no line is contended in this profile") \
	X(TRUE_SHARING, "what is contended is contended inside single fields: no layout helps") \
	X(SMALL_GAIN, "the best order that keeps all rules saves too little to be worth a change") \
	X(WEAK_EVIDENCE, "the profile has too few samples on the contended lines to tell") \
	X(NO_ORDER, "no order keeps all rules and saves transfers") \
	X(TIME, "the time limit was reached before an order was found that saves enough (--time gives more)")

enum lm_kept {
#define X(name, text) LM_KEPT_##name,
	LM_KEPT(X)
#undef X
	LM_NR_KEPT
};

struct lm_plan_opts {
	uint32_t line;
	uint32_t base_align;
	int moves;		/* most units that may move; 0: fewest that reach 95 % of the gain; -1: any number */
	double seconds;		/* limit for search and solver together; 0: 60 */
	bool allow_barriers;
};

/* One view's figures under one order. */
struct lm_view_figures {
	uint64_t size, lines;
	uint32_t holes;			/* number of gaps between fields */
	uint64_t hole_bytes, tail_bytes;
	double transfers;		/* expected, base line */
	double transfers_double;	/* the same with twice the line size */
};

/* A pair of leaves that share a line and fight: excess = cost of both together less each alone. */
struct lm_pair {
	uint32_t view;
	uint64_t line;			/* number of the line in the view's layout */
	uint32_t leaf_a, leaf_b;	/* leaves of the view's record; a is the one written more */
	double excess;			/* expected transfers */
	bool inside;			/* both in one unit: its place decides by luck, no order of units can promise */
	bool apart_after;		/* not line mates in any view under the plan's order */
	int64_t slack;			/* bytes between them after, less a line if the base is not fixed; the smallest over views */
};

/* Contention inside one leaf: no layout removes it. */
struct lm_true_sharing {
	uint32_t leaf;			/* of the base view */
	double transfers;
};

struct lm_move {
	uint32_t unit;
	uint32_t after;			/* unit it now follows, LM_NONE: first */
	bool barrier;			/* it starts a line */
	bool stays;			/* in its place: only the barrier is new */
};

/* One point of the curve: the best order found with at most k moves. */
struct lm_curve_point {
	uint32_t moves;
	double cost;			/* robust cost (objective.h), what the search minimises */
	double reach;			/* the least robust cost seen with as many moves; this order's is as good within 5 % of its gain */
	double transfers;		/* expected, sum over views, unperturbed, contention inside units and all */
	struct lm_order order;
};

struct lm_stability {
	uint64_t perturbations;		/* over all views */
	uint64_t meet_before, meet_after; /* in how many a separated pair is on one line, with the old and new order */
};

struct lm_plan {
	enum lm_verdict verdict;
	enum lm_kept kept;		/* if KEPT */
	bool for_size;			/* MOVED, but not for transfers: it gives lines back and costs no more of them */
	struct lm_order order;		/* the chosen one; identity unless MOVED */
	struct lm_layout *before, *after; /* [nr_views] */
	struct lm_view_figures *fig_before, *fig_after; /* [nr_views] */
	double transfers_before, transfers_after; /* sums over views */
	double bound;			/* no order costs less (sum over views); 0 if unknown */
	bool bound_proven;
	bool exhaustive;		/* every order was tried */
	struct lm_move *moves;
	uint32_t nr_moves;
	struct lm_curve_point *curve;	/* 0, 1, 2, ... moves, last one: any */
	uint32_t nr_curve;
	struct lm_pair *pairs;		/* worst first, base layout before; all views, one entry a pair of leaf paths */
	uint32_t nr_pairs;
	struct lm_pair *new_pairs;	/* pairs that fight after and were not line mates before */
	uint32_t nr_new_pairs;
	struct lm_true_sharing *shared;	/* worst first */
	uint32_t nr_shared;
	double shared_total;		/* transfers in base, after, that units cost alone: no order removes them */
	struct lm_stability stability;
	bool base_fixed;
};

/*
 * Plans.  Everything lives in arena.  A refusal by rules is a verdict, not an
 * error.  LM_ERR_LIMIT: time over before any answer; LM_ERR_BUG from check.c.
 */
struct lm_err *lm_plan_make(const struct lm_subject *s, const struct lm_rules *r, const struct lm_usage *u,
			    const struct lm_plan_opts *opts, struct lm_arena *arena,
			    struct lm_plan *out) LM_MUST_CHECK;

#endif
