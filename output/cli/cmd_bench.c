/* cmd_bench.c - `linemate bench`: the old and the new layout, timed on this machine. */
#include "base/file.h"
#include "base/parallel.h"
#include "optimizer/plan.h"
#include "output/bench_report.h"
#include "output/cli/after.h"
#include "output/cli/commands.h"
#include "output/scratch.h"

#include <sched.h>
#include <string.h>

enum { OPT_AFTER = 0x500, OPT_KEEP, OPT_ROUNDS, OPT_MS };
enum { MIN_ROUNDS = 11, ROUNDS = 21, MAX_ROUNDS = 10000, SLICE_MS = 5, MAX_SLICE_MS = 10000, MAX_THREADS = 256 };
enum { BUILD_SECONDS = 120, MAX_ROWS = 64 << 20, MAX_OBJECT = 64 << 20 };

struct own {
	struct lm_options o;	/* first: the parsers of all commands know this only */
	const char *after, *keep;
	uint32_t rounds, slice_ms;
};

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "The benchmark:", 3 },
	{ "after", OPT_AFTER, "FILE", 0, "the header's new text; default: the order that patch would choose", 3 },
	{ "keep", OPT_KEEP, "DIR", 0, "keep the program in this directory, which is made: bench.c, bench, rows.tsv", 3 },
	{ "rounds", OPT_ROUNDS, "N", 0, "rounds of all layouts in turn; default: 21", 3 },
	{ "ms", OPT_MS, "N", 0, "milliseconds of one run of one layout; default: 5", 3 },
	{ 0 },
};

static const char *path_of(const struct argp_state *state, const char *option, const char *arg)
{
	if (!*arg)
		argp_error(state, "%s wants a path, not an empty one", option);
	return arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct own *own = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		lm_options_init(state);
		return 0;
	case OPT_AFTER:
		own->after = path_of(state, "--after", arg);
		return 0;
	case OPT_KEEP:
		own->keep = path_of(state, "--keep", arg);
		return 0;
	case OPT_ROUNDS:
		own->rounds = lm_options_number(state, "--rounds", arg, MIN_ROUNDS, MAX_ROUNDS);
		return 0;
	case OPT_MS:
		own->slice_ms = lm_options_number(state, "--ms", arg, 1, MAX_SLICE_MS);
		return 0;
	case ARGP_KEY_END:
		lm_options_need_record(state);
		lm_options_need_profile(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &lm_common_argp, 0, NULL, 0 }, { 0 } };
static const struct argp argp = {
	table, parse, "[-- FLAGS...]",
	"Writes, builds and runs a small C program that plays the profile's accesses on this machine: threads pinned to "
	"CPUs, loads, stores and atomic adds at the members' offsets, in the old layout, the new one, and one with every "
	"accessed member on a line of its own.  It measures the layout on this machine; it is not the workload.\v",
	children, lm_options_help, NULL,
};

struct bench {
	struct lm_job job;
	struct lm_after after;
	struct lm_plan plan;
	const struct own *own;
	const char *what;
	struct lm_bench_program program;
	struct lm_bench_schedule schedule;
	char *dir;			/* where the program is */
	struct lm_bench_result *results;
	size_t nr_results;
};

/* ---- layouts, in the base configuration ---- */

static uint64_t *places(struct bench *b)
{
	return LM_ARENA_ARRAY(&b->job.arena, uint64_t, b->job.usage.nr_touches[0]);
}

static const uint64_t *places_by_offsets(struct bench *b, const uint64_t *bit_offset)
{
	uint64_t *ret = places(b);

	for (size_t i = 0; i < b->job.usage.nr_touches[0]; i++) {
		const struct lm_touch *t = &b->job.usage.touches[0][i];

		ret[i] = bit_offset[t->field] / 8 + t->offset;
	}
	return ret;
}

static uint64_t *declared(struct bench *b, const struct lm_record *rec)
{
	uint64_t *ret = LM_ARENA_ARRAY(&b->job.arena, uint64_t, rec->nr_fields);

	for (uint32_t f = 0; f < rec->nr_fields; f++)
		ret[f] = rec->fields[f].bit_offset;
	return ret;
}

/* Every unit that is accessed starts a line, and nothing else is on it. */
static const uint64_t *ideal_places(struct bench *b)
{
	const struct lm_view *view = &b->job.subject.views[0];
	uint32_t nr_units = b->job.body.nr_units, line = b->own->o.line;
	uint64_t *start = LM_ARENA_ARRAY(&b->job.arena, uint64_t, nr_units + 1), *end = LM_ARENA_ARRAY(&b->job.arena,
		uint64_t, nr_units + 1), at = 0, *ret = places(b);

	for (size_t i = 0; i < b->job.usage.nr_touches[0]; i++) {
		const struct lm_touch *t = &b->job.usage.touches[0][i];
		uint32_t unit = view->field_unit[t->field];
		uint64_t first = view->rec->fields[view->first_field[unit]].bit_offset / 8;

		ret[i] = view->rec->fields[t->field].bit_offset / 8 + t->offset - first;
		end[unit] = ret[i] + t->size > end[unit] ? ret[i] + t->size : end[unit];
	}
	for (uint32_t unit = 0; unit < nr_units; unit++) {
		start[unit] = at;
		at += (end[unit] + line - 1) / line * line;
	}
	for (size_t i = 0; i < b->job.usage.nr_touches[0]; i++)
		ret[i] += start[view->field_unit[b->job.usage.touches[0][i].field]];
	b->program.size = at > b->program.size ? at : b->program.size;
	return ret;
}

/* The places of what is accessed in the header's new text. */
static struct lm_err *after_places(struct bench *b, const uint64_t **ret)
{
	const struct lm_record *from = b->job.subject.views[0].rec, *to = b->after.version.subject.views[0].rec;
	const uint64_t *before = b->program.places[LM_BENCH_BEFORE];
	uint64_t *found = places(b);
	struct lm_place p;

	for (size_t i = 0; i < b->job.usage.nr_touches[0]; i++) {
		uint32_t field = b->job.usage.touches[0][i].field;

		if (!lm_join_place(from, before[i], to, &p))
			return lm_err_new(LM_ERR_INPUT, "%s: has no member for what the profile's accesses to %s are: a layout "
					  "can be timed against another one of the same members only", b->own->after,
					  from->fields[field].key);
		found[i] = to->fields[p.field].bit_offset / 8 + p.offset;
	}
	b->program.size = to->size > b->program.size ? to->size : b->program.size;
	b->what = lm_arena_printf(&b->job.arena, "before and after are %s and %s", b->own->o.header, b->own->after);
	*ret = found;
	return NULL;
}

/* A line start can be forced where the project has a macro for it, in every configuration. */
static bool has_barriers(const struct lm_job *job)
{
	for (size_t i = 0; i < job->configs.nr; i++)
		if (!job->sources[i].barrier && !job->sources[i].barrier_attr)
			return false;
	return true;
}

static struct lm_err *plan_places(struct bench *b, const uint64_t **ret)
{
	struct lm_job *job = &b->job;
	struct lm_rules_opts opts = { .line = b->own->o.line, .path = b->own->o.header };
	struct lm_rules rules;
	struct lm_err *err = lm_rules_collect(&job->subject, job->sources, &opts, &job->arena, &rules);

	if (!err && rules.refused)
		err = lm_err_new(LM_ERR_REFUSED, "%s", rules.refusal_text);
	job->plan_opts.allow_barriers = has_barriers(job);
	if (!err)
		err = lm_plan_make(&job->subject, &rules, &job->usage, &job->plan_opts, &job->arena, &b->plan);
	if (err)
		return err;
	*ret = places_by_offsets(b, b->plan.after[0].bit_offset);
	b->program.size = b->plan.after[0].size > b->program.size ? b->plan.after[0].size : b->program.size;
	b->what = b->plan.verdict == LM_VERDICT_MOVED ?
		  lm_arena_printf(&job->arena, "before is as declared, after the order with %u move%s that patch would choose",
				  b->plan.nr_moves, b->plan.nr_moves == 1 ? "" : "s") :
		  "patch would change nothing, so that before and after are the same";
	return NULL;
}

static struct lm_err *lay_out(struct bench *b)
{
	const struct lm_record *rec = b->job.subject.views[0].rec;
	struct lm_err *err;

	if (!b->job.usage.nr_touches[0])
		return lm_err_new(LM_ERR_INPUT, "%s: none of its accesses is to a member that the base configuration has: bench "
				  "times that one", b->own->o.profiles.items[0]);
	b->program.size = rec->size;
	b->program.places[LM_BENCH_BEFORE] = places_by_offsets(b, declared(b, rec));
	b->program.places[LM_BENCH_AGAIN] = b->program.places[LM_BENCH_BEFORE];
	b->program.places[LM_BENCH_IDEAL] = ideal_places(b);
	err = b->own->after ? after_places(b, &b->program.places[LM_BENCH_AFTER]) :
	      plan_places(b, &b->program.places[LM_BENCH_AFTER]);
	for (size_t i = 0; !err && i < b->job.usage.nr_touches[0]; i++)	/* of a flexible array's elements */
		for (int k = 0; k < LM_NR_BENCH; k++)
			if (b->program.places[k][i] + 8 > b->program.size)
				b->program.size = b->program.places[k][i] + 8;
	if (!err && b->program.size > MAX_OBJECT)
		err = lm_err_new(LM_ERR_LIMIT, "%s: an object of %s is larger than 64 MB, or accessed behind that: too large to "
				 "be timed", b->own->o.header, b->job.title);
	return err;
}

/* ---- the program ---- */

/* CPUs that this process may run on. */
static uint32_t usable_cpus(void)
{
	cpu_set_t set;
	int nr = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);

	return nr < 1 ? 1 : nr < MAX_THREADS ? (uint32_t)nr : MAX_THREADS;
}

static struct lm_err *write_program(struct bench *b)
{
	struct lm_job *job = &b->job;
	struct lm_str text = { 0 };
	struct lm_err *err = NULL;

	b->program.record = job->title;
	b->program.usage = &job->usage;
	b->program.rounds = b->own->rounds;
	b->program.slice_ms = b->own->slice_ms;
	lm_bench_schedule(&job->subject.views[0], &job->usage, 0, usable_cpus(), &job->arena, &b->schedule);
	lm_bench_text(&b->program, &b->schedule, &text);
	if (b->own->keep) {
		err = lm_make_dirs(b->own->keep);
		b->dir = lm_arena_strdup(&job->arena, b->own->keep);
	} else {
		err = lm_temp_dir(&job->arena, &b->dir);	/* not in /dev/shm: nothing may run there on some machines */
	}
	if (!err)
		err = lm_file_write(lm_arena_printf(&job->arena, "%s/bench.c", b->dir), text.text, text.len);
	lm_str_release(&text);
	return err;
}

static struct lm_err *run_in_dir(struct bench *b, const char *const *argv, unsigned seconds, const char *what)
{
	struct lm_str errors = { 0 };
	struct lm_err *err = NULL;
	int status;

	lm_run((char *const *)argv, b->dir, seconds, 4096, &errors, &status);
	if (status)
		err = lm_err_new(LM_ERR_INPUT, "The benchmark's program cannot be %s: %s ended with code %d: %.300s; keep it with "
				 "--keep DIR to look at it", what, argv[0], status, lm_str_text(&errors));
	lm_str_release(&errors);
	return err;
}

static struct lm_err *build_and_run(struct bench *b)
{
	static const char *const build[] = { "gcc", "-O2", "-pthread", "-o", "bench", "bench.c", NULL };
	static const char *const run[] = { "./bench", "rows.tsv", NULL };
	uint32_t counts = 0;
	struct lm_err *err;
	char *rows;
	size_t len;

	for (size_t i = 0; i < b->schedule.nr; i += b->schedule.players[i].threads)
		counts++;
	lm_progress("building the benchmark", 0, 2);
	err = run_in_dir(b, build, BUILD_SECONDS, "built");
	lm_progress("running the benchmark", 1, 2);
	/* It repeats runs up to nine times; more than that, and the machine is not for benchmarks. */
	if (!err)
		err = run_in_dir(b, run, 60 + 30 * counts * b->own->rounds * LM_NR_BENCH * b->own->slice_ms / 1000, "run");
	lm_progress("running the benchmark", 2, 2);
	if (!err)
		err = lm_file_read(lm_arena_printf(&b->job.arena, "%s/rows.tsv", b->dir), "the benchmark's rows", MAX_ROWS,
				   &b->job.arena, &rows, &len);
	if (!err)
		err = lm_bench_read(rows, b->own->rounds, &b->schedule, &b->job.arena, &b->results, &b->nr_results);
	return err;
}

static struct lm_err *print(const struct bench *b)
{
	const struct lm_bench_story story = {
		.record = b->job.title, .what = b->what, .results = b->results, .nr_results = b->nr_results,
		.rounds = b->own->rounds, .slice_ms = b->own->slice_ms, .cpus = b->job.usage.nr_cpus,
		.cpus_assumed = b->job.usage.cpus_assumed,
	};
	struct lm_str out = { 0 };
	struct lm_err *err;

	if (b->own->o.json)
		lm_bench_report_json(&story, &out);
	else
		lm_bench_report_text(&story, &out);
	err = lm_file_write(b->own->o.output, out.text, out.len);
	lm_str_release(&out);
	return err;
}

static struct lm_err *run(struct bench *b)
{
	struct lm_err *err = lm_job_read_header(&b->job);

	if (!err)
		err = lm_job_parse(&b->job, !b->own->after);
	if (!err && b->own->after)
		err = lm_after_parse(&b->after, &b->job, b->own->after);
	if (!err)
		err = lm_job_open_binary(&b->job);
	if (!err)
		err = lm_job_read_profiles(&b->job);
	if (!err)
		err = lm_job_join(&b->job);
	if (!err)
		err = lay_out(b);
	if (!err)
		err = write_program(b);
	if (!err)
		err = build_and_run(b);
	if (!err)
		err = print(b);
	if (b->dir && !b->own->keep)
		lm_remove_tree(b->dir);
	return err;
}

struct lm_err *lm_cmd_bench(int argc, char **argv)
{
	struct own own = { .rounds = ROUNDS, .slice_ms = SLICE_MS };
	struct bench b = { .own = &own };
	struct lm_err *err;

	lm_options_parse(&argp, "bench", argc, argv, &own.o);
	lm_progress_enable(own.o.verbose >= 0 && !own.o.json);
	lm_job_start(&b.job, &own.o);
	err = run(&b);
	lm_after_release(&b.after);
	lm_job_release(&b.job);
	lm_options_release(&own.o);
	return err;
}
