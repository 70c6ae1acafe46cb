/*
 * decide.h - what `linemate patch` and `linemate report` both do: everything
 * from the header to a verified diff.  They differ in what they print.
 */
#ifndef LM_OUTPUT_CLI_DECIDE_H
#define LM_OUTPUT_CLI_DECIDE_H

#include "output/cli/job.h"

/* What a profile and a header come to; the parts live in the job's arena, the diff is its own. */
struct lm_decision {
	struct lm_rules rules;
	struct lm_plan plan;
	struct lm_rewrite rewrite;	/* this and the rest: only if the plan moves something */
	struct lm_verified verified;
	struct lm_str diff;
};

/* The options "The decision:", as a child of a verb's argp; its input is the struct lm_options. */
extern const struct argp lm_decide_argp;

/* All steps of a started job.  out must be released in any case. */
struct lm_err *lm_decide(struct lm_job *job, struct lm_decision *out) LM_MUST_CHECK;

/* The whole story; borrows both. */
struct lm_story lm_decision_story(const struct lm_job *job, const struct lm_decision *d);

void lm_decision_release(struct lm_decision *d);

#endif
