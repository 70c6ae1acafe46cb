/*
 * packing.h - the packing problem: hot leaves into lines at least cost, as a
 * set-partitioning program whose columns carry the non-linear cost.
 *
 * An *item* is a window of one unit: hot leaves of a unit that lie on one line
 * together with everything between them.  A *column* is a set of items that
 * fits one line.  Per configuration:
 *
 *   minimise   sum of cost(column) x_column
 *   such that  every hot leaf is in exactly one chosen column
 *              at most `lines` columns
 *
 * Any layout of the units gives a feasible point of this program, so its LP
 * value is a lower bound for the cost of every order: the proven bound of the
 * plan.  Columns are generated: duals from GLPK, pricing by branch and bound
 * (cost is monotone, so cost(S) - duals(S) - the best remaining duals that
 * still fit is a valid bound).
 */
#ifndef LM_OPTIMIZER_PACKING_H
#define LM_OPTIMIZER_PACKING_H

#include "base/arena.h"
#include "base/err.h"
#include "optimizer/cost.h"
#include "optimizer/join.h"
#include "optimizer/rules.h"

#include <stdint.h>

/* ---- the abstract problem: no record, no solver ---- */

/* A leaf (indivisible, never straddles a line) at a known place in its unit. */
struct lm_pack_leaf {
	uint32_t unit;		/* pack-local unit index */
	uint32_t begin, end;	/* bytes inside the unit */
	const uint32_t *touches; /* indexes into the view's touches */
	uint32_t nr_touches;
};

struct lm_pack_unit {
	uint32_t id;		/* the subject's unit; lm_packing_solve() ignores it */
	uint32_t size, align;	/* bytes */
	int32_t phase;		/* offset of the unit's start modulo the line if every order keeps it, else -1 */
	int32_t at;		/* absolute offset if every order keeps it, else -1 */
	uint32_t segment;	/* units of different segments never share a line; all 0 where nothing keeps them apart */
};

struct lm_pack {
	uint32_t line;		/* bytes */
	uint32_t lines;		/* most lines */
	struct lm_pack_unit *units;
	uint32_t nr_units;
	struct lm_pack_leaf *leaves;	/* sorted by unit, begin */
	uint32_t nr_leaves;
	const struct lm_touch *touches;	/* of the view; borrowed.  cost_line.h prices sets of them */
	size_t nr_touches;
};

/* A chosen line: leaves by index. */
struct lm_pack_line {
	uint32_t *leaves;
	uint32_t nr;
	double cost;
};

struct lm_packing {
	double bound;		/* no order costs less.  0 if nothing was proven in time */
	double value;		/* best packing found; 0, and no lines, if none within the limit of lines was */
	bool proven;		/* column generation ran to its end: bound is the LP's value, less at most 0.01 % */
	struct lm_pack_line *lines;
	uint32_t nr_lines;
	uint32_t nr_columns;	/* generated */
	double seconds;
};

/* Solves; seconds is a wall-clock limit (then proven is false, the bound a valid weaker one). */
struct lm_err *lm_packing_solve(const struct lm_pack *p, double seconds, struct lm_arena *arena,
				struct lm_packing *out) LM_MUST_CHECK;

/* ---- from a record to the abstract problem ---- */

/*
 * The packing problem of view v.  The coldest leaves, those that together have
 * less than `threshold` of all touches, are filler (a write counts once a CPU).
 * The view's record must have its base on a line; a field whose distance from
 * its neighbours depends on the order is a unit of its own.
 */
void lm_pack_build(const struct lm_subject *s, const struct lm_rules *r, const struct lm_usage *u, uint32_t v,
		   struct lm_cost *cost, const struct lm_layout *before, uint32_t line, double threshold,
		   struct lm_arena *arena, struct lm_pack *out);

#endif
