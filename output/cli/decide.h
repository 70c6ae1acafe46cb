/*
 * decide.h - what `linemate patch` and `linemate report` both do: everything
 * from the command line to verified diffs.  They differ in what they print.
 */
#ifndef LM_OUTPUT_CLI_DECIDE_H
#define LM_OUTPUT_CLI_DECIDE_H

#include "output/cli/job.h"

/* One record, from its options to its story; the parts live in the job's arena, the diff is its own. */
struct lm_decision {
	struct lm_options o;		/* the person's, for this record; its lists are not its own */
	struct lm_job job;
	struct lm_rules rules;
	struct lm_plan plan;
	struct lm_rewrite rewrite;	/* this, verified and diff: only if the plan moves something */
	struct lm_verified verified;
	struct lm_str diff;
	struct lm_users *users;
	struct lm_story story;		/* all of it */
};

/* Of every --struct, what is inside another one first. */
struct lm_decisions {
	struct lm_arena arena;
	struct lm_decision *items;
	size_t nr;
	struct lm_str diff;		/* what all together make of the header; empty: nothing */
};

/* The options "The decision:", as a child of a verb's argp; its input is the struct lm_options. */
extern const struct argp lm_decide_argp;

/* For a verb's parser at ARGP_KEY_END: ends with a sentence if options are of one record and several are named. */
void lm_decide_check_several(const struct argp_state *state);

/* All steps for all records; o outlives out, which must be released in any case. */
struct lm_err *lm_decide(const struct lm_options *o, struct lm_decisions *out) LM_MUST_CHECK;
void lm_decisions_release(struct lm_decisions *d);

/* The reports of all records, one behind the other. */
void lm_decisions_text(const struct lm_decisions *d, const struct lm_print_opts *opts, struct lm_str *out);
void lm_decisions_json(const struct lm_decisions *d, struct lm_str *out);

#endif
