/*
 * after.h - a second version of the record: the same configurations, another
 * text of the header.
 */
#ifndef LM_OUTPUT_CLI_AFTER_H
#define LM_OUTPUT_CLI_AFTER_H

#include "output/cli/job.h"

/* Zero-initialise; release in any case. */
struct lm_after {
	struct lm_source *sources;	/* [job->configs.nr] */
	size_t nr;
	struct lm_body body;
	struct lm_subject subject;
	struct lm_accesses accesses;	/* the job's, joined to this version */
	struct lm_usage usage;
	bool has_accesses;
};

/* Parses the file in place of the job's header, in every configuration; needs lm_job_parse(). */
struct lm_err *lm_after_parse(struct lm_after *after, struct lm_job *job, const char *path) LM_MUST_CHECK;

/* Joins the job's accesses, by member; needs lm_job_join(). */
struct lm_err *lm_after_join(struct lm_after *after, struct lm_job *job) LM_MUST_CHECK;

void lm_after_release(struct lm_after *after);

#endif
