/*
 * replay_report.h - what replaying the accesses says of a layout, beside what
 * the cost model says: rows by line, computed once, and two printers.
 */
#ifndef LM_OUTPUT_REPLAY_REPORT_H
#define LM_OUTPUT_REPLAY_REPORT_H

#include "base/str.h"
#include "optimizer/replay.h"

/* One line of the record, all objects added up. */
struct lm_replay_row {
	uint64_t line;
	double accesses, misses, upgrades;
	double spread;		/* of misses and upgrades together; 0: counted */
	double model;		/* transfers that cost.h expects */
	const char *members;	/* those that are accessed there, most first */
};

/* One layout in one configuration. */
struct lm_replay_side {
	uint64_t size;		/* of the record; 0: there is no such side */
	struct lm_replay_row *rows;	/* by line */
	size_t nr_rows;
	double misses, upgrades, spread, model, absent;
};

struct lm_replay_config {
	const char *name;
	struct lm_replay_side before, after;
};

struct lm_replay_story {
	const char *record;	/* "struct mem_cgroup" */
	const char *after;	/* path of the new header, or NULL */
	uint32_t line;
	uint32_t nr_cpus, nr_objects;
	double accesses;
	const char *order;	/* "recorded", "turns", "random" */
	const char *why_order;	/* one clause */
	bool sampled;		/* not every access is in the profile */
	bool base_open;		/* nothing promises that objects start on a line, as is taken here */
	struct lm_replay_config *configs;
	size_t nr_configs;
};

/*
 * Rows of one side: what was played, and what the formula says of the same
 * accesses (usage u joined to the subject whose view v is `view`).
 */
void lm_replay_side_make(const struct lm_view *view, const struct lm_usage *u, uint32_t v, uint32_t line,
			 const struct lm_replay *played, struct lm_arena *arena, struct lm_replay_side *out);

void lm_replay_text(const struct lm_replay_story *s, int verbose, struct lm_str *out);
void lm_replay_json(const struct lm_replay_story *s, struct lm_str *out);

#endif
