/* asserts.h - `linemate patch --asserts`. */
#ifndef LM_OUTPUT_CLI_ASSERTS_H
#define LM_OUTPUT_CLI_ASSERTS_H

#include "output/cli/job.h"

/*
 * Adds assertions to the rewritten header: in the first manner that the header
 * alone compiles with, in every configuration.
 * Nothing without --asserts.
 */
struct lm_err *lm_job_add_asserts(struct lm_job *job, const struct lm_story *story, struct lm_rewrite *rewrite) LM_MUST_CHECK;

#endif
