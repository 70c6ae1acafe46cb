/*
 * solver.h - a linear or integer program as columns and rows; glpk.c solves
 * it.  Only door to GLPK.
 *
 * A thread has at most one problem at a time: GLPK keeps one heap a thread,
 * and what is left of it after an abort can only be thrown away whole.
 */
#ifndef LM_OPTIMIZER_SOLVER_H
#define LM_OPTIMIZER_SOLVER_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct lm_lp;

enum lm_row_sense { LM_ROW_EQ, LM_ROW_LE, LM_ROW_GE };

/*
 * A minimisation problem without columns, its rows given.  Free with
 * lm_lp_free.  LM_ERR_BUG if this thread already has one, or GLPK aborts.
 */
struct lm_err *lm_lp_new(const double *rhs, const enum lm_row_sense *sense, uint32_t nr_rows,
			 struct lm_lp **ret) LM_MUST_CHECK;
void lm_lp_free(struct lm_lp *lp);	/* NULL is fine */

/*
 * Adds a column >= 0 (<= 1 if binary) with these entries; its index counts from
 * 0.  LM_ERR_BUG: a row twice or outside.  After any LM_ERR_BUG the problem can
 * only be freed.
 */
struct lm_err *lm_lp_add(struct lm_lp *lp, double cost, const uint32_t *rows, const double *values, uint32_t nr,
			 bool binary) LM_MUST_CHECK;

struct lm_lp_result {
	bool optimal;
	double value;
	double *x;		/* [columns], the caller's memory, may be NULL */
	double *duals;		/* [rows], LP only, may be NULL */
};

/*
 * Simplex, warm-started from the last call; binary columns count as <= 1.
 * optimal is false if there is no solution.  LM_ERR_BUG if GLPK aborts.
 */
struct lm_err *lm_lp_solve(struct lm_lp *lp, struct lm_lp_result *ret) LM_MUST_CHECK;

/*
 * Branch and bound over the columns there are, all of which are taken as 0 or
 * 1 for the call.  optimal is false, value and x untouched, if nothing was
 * found in time; a solution that time did not let be proven counts as optimal.
 */
struct lm_err *lm_lp_solve_integer(struct lm_lp *lp, double seconds, struct lm_lp_result *ret) LM_MUST_CHECK;

#endif
