/* cmd_profile.c - `linemate profile`: any perf output -> an access file, and what is in it. */
#include "base/file.h"
#include "output/cli/commands.h"
#include "output/cli/job.h"
#include "output/words.h"

#include <stdlib.h>
#include <string.h>

#define TOP_MEMBERS 10

static error_t parse(int key, char *arg, struct argp_state *state)
{
	const struct lm_options *o = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		lm_options_init(state);
		return 0;
	case ARGP_KEY_END:
		lm_options_need_profile(state);
		if (o->header && !o->record)
			argp_error(state, "no record is named: give --struct NAME");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &lm_common_argp, 0, NULL, 0 }, { 0 } };
static const struct argp argp = {
	NULL, parse, "[-- FLAGS...]",
	"Turns any perf output into an access file: reads and writes by function, member and CPU, as text that can be "
	"read, diffed, edited and added up.  With --struct and --header, offsets become member paths.  A summary goes "
	"to stderr.\v",
	children, lm_options_help, NULL,
};

/* ---- the summary ---- */

struct member {
	const char *name;
	uint64_t reads, writes;
};

static int compare_name(const void *pa, const void *pb)
{
	return strcmp(((const struct member *)pa)->name, ((const struct member *)pb)->name);
}

static int compare_hits(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;
	double hits_a = (double)a->reads + (double)a->writes, hits_b = (double)b->reads + (double)b->writes;

	if (hits_a != hits_b)
		return hits_a > hits_b ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Adds up rows of the same member; returns their number. */
static size_t add_up(struct member *m, size_t nr)
{
	size_t out = 0;

	qsort(m, nr, sizeof(*m), compare_name);
	for (size_t i = 0; i < nr; i++) {
		if (out && !strcmp(m[out - 1].name, m[i].name)) {
			m[out - 1].reads += m[i].reads;
			m[out - 1].writes += m[i].writes;
		} else {
			m[out++] = m[i];
		}
	}
	qsort(m, out, sizeof(*m), compare_hits);
	return out;
}

static void say_members(const struct lm_accesses *t, struct lm_arena *arena, struct lm_str *out)
{
	struct member *m = LM_ARENA_ARRAY(arena, struct member, t->nr + 1);
	size_t nr;

	for (size_t i = 0; i < t->nr; i++) {
		const char *path = lm_strings_get(t->strings, t->rows[i].member);

		if (!strcmp(path, LM_WHOLE_RECORD))
			path = lm_arena_printf(arena, "offset %llu", (unsigned long long)t->rows[i].offset);
		m[i] = (struct member){ lm_safe(arena, path), t->rows[i].reads, t->rows[i].writes };
	}
	nr = add_up(m, t->nr);
	lm_str_addf(out, "  %-48s %14s %14s\n", "member", "reads", "writes");
	for (size_t i = 0; i < nr && i < TOP_MEMBERS; i++)
		lm_str_addf(out, "  %-48s %14s %14s\n", m[i].name, lm_count(arena, (double)m[i].reads),
			    lm_count(arena, (double)m[i].writes));
	if (nr > TOP_MEMBERS)
		lm_str_addf(out, "  and %zu more members\n", nr - TOP_MEMBERS);
}

static void say_totals(const struct lm_accesses *t, struct lm_arena *arena, struct lm_str *out)
{
	double reads = 0, writes = 0;
	int32_t last_cpu = LM_CPU_UNKNOWN;
	uint32_t objects = 0;

	for (size_t i = 0; i < t->nr; i++) {
		reads += (double)t->rows[i].reads;
		writes += (double)t->rows[i].writes;
		last_cpu = t->rows[i].cpu > last_cpu ? t->rows[i].cpu : last_cpu;
		objects = t->rows[i].object >= objects ? t->rows[i].object + 1 : objects;
	}
	lm_wrapf(out, 2, 6, "accesses: %s reads, %s writes in %zu rows; %s; %u object%s", lm_count(arena, reads),
		 lm_count(arena, writes), t->nr,
		 last_cpu < 0 ? "no CPU is named" : lm_arena_printf(arena, last_cpu ? "CPUs 0 to %d" : "CPU %d", last_cpu), objects,
		 objects == 1 ? "" : "s");
}

static void say(const struct lm_job *job)
{
	const struct lm_accesses *t = &job->accesses;
	struct lm_arena arena = { 0 };
	struct lm_str out = { 0 };

	lm_str_add(&out, "Profile\n");
	lm_evidence_report(t, job->has_attribution ? &job->attribution : NULL, job->by_offset, &out);
	say_totals(t, &arena, &out);
	say_members(t, &arena, &out);
	lm_job_say(job, &out);
	lm_str_release(&out);
	lm_arena_release(&arena);
}

/* ---- the steps ---- */

static struct lm_err *run(struct lm_job *job)
{
	struct lm_str out = { 0 };
	struct lm_err *err = NULL;

	if (job->o->header)
		err = lm_job_read_header(job);
	if (!err && job->o->header)
		err = lm_job_parse(job, false);
	if (!err)
		err = lm_job_open_binary(job);
	if (!err)
		err = lm_job_read_profiles(job);
	if (err)
		return err;
	if (job->o->header)
		lm_join_name_rows(&job->subject, &job->accesses);
	lm_accesses_sort(&job->accesses);
	if (job->o->json)
		lm_accesses_json(&job->accesses, job->has_attribution ? &job->attribution : NULL, &out);
	else
		lm_accesses_print(&job->accesses, &out);
	err = lm_file_write(job->o->output, out.text, out.len);
	if (!err && !job->o->json)
		say(job);
	lm_str_release(&out);
	return err;
}

struct lm_err *lm_cmd_profile(int argc, char **argv)
{
	struct lm_options o;
	struct lm_job job;
	struct lm_err *err;

	lm_options_parse(&argp, "profile", argc, argv, &o);
	lm_job_start(&job, &o);
	err = run(&job);
	lm_job_release(&job);
	lm_options_release(&o);
	return err;
}
