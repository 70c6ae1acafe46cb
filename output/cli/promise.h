/* promise.h - `linemate patch --promise FILE`. */
#ifndef LM_OUTPUT_CLI_PROMISE_H
#define LM_OUTPUT_CLI_PROMISE_H

#include "output/cli/job.h"

/* Writes what the plan in story promises to o->promise, whole or not at all; nothing without --promise. */
struct lm_err *lm_job_write_promises(struct lm_job *job, const struct lm_story *story) LM_MUST_CHECK;

#endif
