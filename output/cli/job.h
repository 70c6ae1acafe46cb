/*
 * job.h - what the commands do before they differ: configurations, header,
 * records, subject, binary, profiles.  Each step needs those before it.
 */
#ifndef LM_OUTPUT_CLI_JOB_H
#define LM_OUTPUT_CLI_JOB_H

#include "optimizer/config.h"
#include "optimizer/derive.h"
#include "optimizer/join.h"
#include "output/cli/options.h"
#include "output/report.h"
#include "profiles/access.h"
#include "profiles/attribution.h"

/* Zero-initialise; release in any case. */
struct lm_job {
	const struct lm_options *o;
	struct lm_arena arena;
	struct lm_configs configs;
	char *text;			/* the header */
	size_t len;
	struct lm_source *sources;	/* [configs.nr] */
	struct lm_source_ahead *ahead;	/* for the parse of the rewritten header, or NULL */
	bool want_ahead;		/* as soon as the configurations are known */
	struct lm_derived derived;	/* with --configs auto */
	struct lm_body body;
	struct lm_subject subject;
	struct lm_debuginfo *binary;
	const struct lm_dbg_record *binary_record;
	struct lm_accesses accesses;
	struct lm_usage usage;
	struct lm_plan_opts plan_opts;
	const char *title;		/* "struct mem_cgroup" */
	bool has_accesses;
	struct lm_attribution attribution; /* of samples by the binary, all profiles added up */
	bool has_attribution;
	struct lm_trace *trace;		/* set it before reading one profile: gets the order of its accesses, too */
	bool by_offset;			/* rows came as offsets in the whole record, and no binary was checked */
};

void lm_job_start(struct lm_job *job, const struct lm_options *o);
struct lm_err *lm_job_read_header(struct lm_job *job) LM_MUST_CHECK;
void lm_job_parse_ahead(struct lm_job *job);	/* begins; for a command that will parse a changed header */
/* to_patch: hazards, and the records that hold this one, are looked for, too. */
struct lm_err *lm_job_parse(struct lm_job *job, bool to_patch) LM_MUST_CHECK;
struct lm_err *lm_job_derive(struct lm_job *job) LM_MUST_CHECK;	/* --configs auto, where other parses follow */
struct lm_err *lm_job_open_binary(struct lm_job *job) LM_MUST_CHECK;	/* nothing without --binary */
struct lm_err *lm_job_read_profiles(struct lm_job *job) LM_MUST_CHECK;	/* nothing without --profile */
struct lm_err *lm_job_join(struct lm_job *job) LM_MUST_CHECK;		/* nothing without --profile */

/* The story so far; what later steps make is for the caller to add. */
struct lm_story lm_job_story(const struct lm_job *job);

void lm_job_release(struct lm_job *job);

/* Prints words to stderr unless -q. */
void lm_job_say(const struct lm_job *job, const struct lm_str *words);

#endif
