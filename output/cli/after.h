/*
 * after.h - the job's record as another text of its header has it, and the
 * job's accesses joined to it.
 */
#ifndef LM_OUTPUT_CLI_AFTER_H
#define LM_OUTPUT_CLI_AFTER_H

#include "output/cli/job.h"
#include "output/version.h"

/* Zero-initialise; release in any case. */
struct lm_after {
	struct lm_version version;
	struct lm_accesses accesses;
	bool has_accesses;
};

/* Parses the file in place of the job's header, in every configuration; needs lm_job_parse(). */
struct lm_err *lm_after_parse(struct lm_after *after, struct lm_job *job, const char *path) LM_MUST_CHECK;

/* Joins the job's accesses, by member; needs lm_job_join(). */
struct lm_err *lm_after_join(struct lm_after *after, struct lm_job *job) LM_MUST_CHECK;

void lm_after_release(struct lm_after *after);

#endif
