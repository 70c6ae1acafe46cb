/* promise_plan.h - the promises that a plan stands for, to be checked from then on. */
#ifndef LM_OUTPUT_PROMISE_PLAN_H
#define LM_OUTPUT_PROMISE_PLAN_H

#include "optimizer/promise.h"
#include "output/report.h"

/*
 * Adds to p what the plan's layout keeps: pairs that fought and are apart, with
 * the evidence; what the person's rules ask for; line starts; the size of each
 * configuration; write-hot and read-mostly members that share no line.  Every
 * promise holds under plan->after in the configurations that it names.  All in
 * arena; the head of p is the caller's.  LM_ERR_BUG: they do not hold.
 */
struct lm_err *lm_promises_of_plan(const struct lm_story *story, struct lm_arena *arena,
				   struct lm_promises *p) LM_MUST_CHECK;

#endif
