/* bench_report.h - what a benchmark's results say, as text and as JSON. */
#ifndef LM_OUTPUT_BENCH_REPORT_H
#define LM_OUTPUT_BENCH_REPORT_H

#include "output/bench.h"

struct lm_bench_story {
	const char *record;		/* "struct mem_cgroup" */
	const char *what;		/* where the second layout comes from: one clause */
	const struct lm_bench_result *results;
	size_t nr_results;
	uint32_t rounds, slice_ms;
	uint32_t cpus;			/* of the profile */
	bool cpus_assumed;
};

void lm_bench_report_text(const struct lm_bench_story *s, struct lm_str *out);
void lm_bench_report_json(const struct lm_bench_story *s, struct lm_str *out);

#endif
