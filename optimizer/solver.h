/*
 * solver.h - a linear or integer program as columns and rows; glpk.c solves
 * it.  Only door to GLPK.
 */
#ifndef LM_OPTIMIZER_SOLVER_H
#define LM_OPTIMIZER_SOLVER_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct lm_lp;

enum lm_row_sense { LM_ROW_EQ, LM_ROW_LE, LM_ROW_GE };

/* A minimisation problem without columns, its rows given.  Free with lm_lp_free. */
struct lm_err *lm_lp_new(const double *rhs, const enum lm_row_sense *sense, uint32_t nr_rows,
			 struct lm_lp **ret) LM_MUST_CHECK;
void lm_lp_free(struct lm_lp *lp);

/* Adds a column >= 0 (<= 1 if binary) with these entries; its index counts from 0. */
struct lm_err *lm_lp_add(struct lm_lp *lp, double cost, const uint32_t *rows, const double *values, uint32_t nr,
			 bool binary) LM_MUST_CHECK;

struct lm_lp_result {
	bool optimal;
	double value;
	double *x;		/* [columns], the caller's memory, may be NULL */
	double *duals;		/* [rows], LP only, may be NULL */
};

/* Simplex, warm-started from the last call.  LM_ERR_BUG if GLPK aborts. */
struct lm_err *lm_lp_solve(struct lm_lp *lp, struct lm_lp_result *ret) LM_MUST_CHECK;

/* Branch and bound over the columns there are. */
struct lm_err *lm_lp_solve_integer(struct lm_lp *lp, double seconds, struct lm_lp_result *ret) LM_MUST_CHECK;

#endif
