/*
 * check.h - is this plan right?  Asked of every plan, in every build.
 *
 * Shares no code with packing, moves or glpk.  Lays the order out again, tests
 * each rule by its own reading, prices both layouts with a formula of its own
 * and compares with what the plan claims.  A mismatch is our bug, never the
 * user's: LM_ERR_BUG, no patch.
 */
#ifndef LM_OPTIMIZER_CHECK_H
#define LM_OPTIMIZER_CHECK_H

#include "optimizer/plan.h"

struct lm_err *lm_check_plan(const struct lm_subject *s, const struct lm_rules *r, const struct lm_usage *u,
			     const struct lm_plan_opts *opts, const struct lm_plan *plan) LM_MUST_CHECK;

#endif
