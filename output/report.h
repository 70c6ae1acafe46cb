/*
 * report.h - the report as rows, computed once; printers without arithmetic.
 */
#ifndef LM_OUTPUT_REPORT_H
#define LM_OUTPUT_REPORT_H

#include "base/str.h"
#include "optimizer/derive.h"
#include "optimizer/plan.h"
#include "output/rewrite.h"
#include "output/users.h"
#include "output/verify.h"
#include "profiles/attribution.h"

/* All that a report is made of; borrowed.  Parts that a command has not are NULL. */
struct lm_story {
	const char *record;		/* "struct mem_cgroup" */
	const char *header;		/* path as given */
	const struct lm_subject *subject;
	const struct lm_source *sources;	/* [subject->nr_views] */
	const struct lm_rules *rules;
	const struct lm_usage *usage;
	const struct lm_plan *plan;
	const struct lm_plan_opts *opts;
	const struct lm_rewrite *rewrite;
	const struct lm_verified *verified;
	const char *binary;		/* path of --binary, or NULL */
	const char *build_id;		/* of --binary, or NULL */
	const char *const *profiles;	/* paths as given */
	size_t nr_profiles;
	const struct lm_attribution *attribution; /* of samples by --binary, or NULL */
	const char *perf_version;	/* that recorded the samples, or NULL */
	bool by_offset;			/* samples became members by their offset in base, and no binary vouches for base */
	const struct lm_users *users;	/* [subject->nr_views] records that hold this one, or NULL */
	bool kernel;			/* Linux kernel flags: the allocator's steps are known */
	const struct lm_derived *derived; /* of --configs auto, or NULL */
	const char *diff;		/* the unified diff, or NULL */
	size_t diff_len;
};

struct lm_print_opts {
	bool color;
	int verbose;		/* -1 quiet, 0, 1 */
	uint32_t top;		/* rows of a table; 0: 10 */
};

/* The report of `linemate patch` (words on stderr). */
void lm_report_text(const struct lm_story *story, const struct lm_print_opts *opts, struct lm_str *out);

/* The same as JSON (jansson). */
void lm_report_json(const struct lm_story *story, struct lm_str *out);

/* Of several records: their reports in a list, and one diff of them all (NULL: none). */
void lm_reports_json(const struct lm_story *const *stories, size_t nr, const char *diff, size_t diff_len,
		     struct lm_str *out);

/* The same as one page for a browser: nothing outside it is needed or fetched. */
void lm_report_html(const struct lm_story *story, struct lm_str *out);

/* What the profile is worth: samples used and dropped by reason, events, evidence class; by_offset as in the story. */
void lm_evidence_report(const struct lm_accesses *t, const struct lm_attribution *attribution, bool by_offset,
			struct lm_str *out);

/* What --configs auto found, with a heading. */
void lm_derived_report(const struct lm_derived *d, const struct lm_print_opts *opts, struct lm_str *out);

/* The access table as JSON. */
void lm_accesses_json(const struct lm_accesses *t, const struct lm_attribution *by_code, struct lm_str *out);

/* `linemate show`: view v's layout in pahole's dress, with reads, writes and the cost of each line. */
void lm_show_text(const struct lm_story *story, uint32_t view, const struct lm_print_opts *opts, struct lm_str *out);

/* All views as JSON. */
void lm_show_json(const struct lm_story *story, struct lm_str *out);

#endif
