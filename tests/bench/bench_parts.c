/*
 * bench_parts.c - what `linemate patch` cannot do without, one part at a time.
 *
 *   bench_parts OPTIONS --changed FILE [-- FLAGS]   time each part
 *   bench_parts OPTIONS --parses [-- FLAGS]         time the parses with the header as it is
 *   bench_parts OPTIONS --unit FILE [-- FLAGS]      write the unit to FILE, print how to compile it
 *
 * OPTIONS are those of `linemate show`; FILE of --changed is the rewritten
 * header.  Parts: every configuration parsed with the header as it is and with
 * the changed one, and compiled changed with gcc and with clang by the commands
 * that the verification runs.  A line a part: kind, configuration, seconds,
 * seconds of all processors.
 */
#include "base/file.h"
#include "output/cli/job.h"
#include "output/probe.h"
#include "output/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { OPT_CHANGED = 0x300, OPT_UNIT, OPT_PARSES };

/* Argp hands its input, the common options, to the parser: what is ours stands behind them. */
struct bench_options {
	struct lm_options common;
	const char *changed, *unit;
	bool parses;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bench_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		lm_options_init(state);
		return 0;
	case OPT_CHANGED:
		o->changed = arg;
		return 0;
	case OPT_UNIT:
		o->unit = arg;
		return 0;
	case OPT_PARSES:
		o->parses = true;
		return 0;
	case ARGP_KEY_END:
		lm_options_need_record(state);
		if ((o->changed != NULL) + (o->unit != NULL) + o->parses != 1)
			argp_error(state, "give --changed, --parses or --unit");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option table[] = {
	{ "changed", OPT_CHANGED, "FILE", 0, "the rewritten header: time all parts", 3 },
	{ "parses", OPT_PARSES, NULL, 0, "time the parses alone", 3 },
	{ "unit", OPT_UNIT, "FILE", 0, "write the unit there; print directory and flags of clang, a line each", 3 },
	{ 0 },
};
static const struct argp_child children[] = { { &lm_common_argp, 0, NULL, 0 }, { 0 } };
static const struct argp argp = { table, parse, "[-- FLAGS...]", NULL, children, NULL, NULL };

static void must(struct lm_err *err)
{
	if (!err)
		return;
	fprintf(stderr, "%s\n", err->msg);
	exit(1);
}

/* ---- clocks ---- */

struct clocks {
	double wall, cpu;
};

static double in_seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static struct clocks now(void)
{
	struct rusage self, children_too;
	struct timespec t;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children_too);
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (struct clocks){
		(double)t.tv_sec + (double)t.tv_nsec * 1e-9,
		in_seconds(self.ru_utime) + in_seconds(self.ru_stime) + in_seconds(children_too.ru_utime) +
			in_seconds(children_too.ru_stime),
	};
}

static struct clocks since(struct clocks start)
{
	struct clocks end = now();

	return (struct clocks){ end.wall - start.wall, end.cpu - start.cpu };
}

static void print(const char *kind, const char *config, struct clocks took)
{
	printf("%s\t%s\t%.6f\t%.6f\n", kind, config, took.wall, took.cpu);
}

/* ---- the parts ---- */

static void time_parse(const struct lm_job *job, const char *kind, const char *text, size_t len, bool want_hazards)
{
	const struct lm_source_request request = {
		.configs = &job->configs, .record = job->o->record, .text = text, .len = len,
		.want_hazards = want_hazards,
	};

	for (size_t i = 0; i < job->configs.nr; i++) {
		struct lm_source source = { 0 };
		struct clocks start = now();

		must(lm_source_parse(&request, i, &source));
		print(kind, job->configs.items[i].name, since(start));
		lm_source_release(&source);
	}
}

/* The compiler alone: what reading its debug info takes is found by doing it once more. */
static struct clocks time_compiler(const struct lm_probe_request *req, struct lm_arena *arena)
{
	const char *object = lm_arena_printf(arena, "%s/%s.o", req->dir, req->name);
	const struct lm_dbg_record *record;
	struct lm_debuginfo *bin;
	struct lm_probe probe;
	struct clocks start = now(), took, reading;

	must(lm_probe_run(req, arena, &probe));
	took = since(start);
	if (probe.status)
		must(lm_err_new(LM_ERR_INPUT, "%s fails: %s", req->compiler, probe.complaint));
	lm_debuginfo_close(probe.bin);
	start = now();
	must(lm_debuginfo_open(object, &bin));
	must(lm_debuginfo_record(bin, req->record->name, &record));
	reading = since(start);
	lm_debuginfo_close(bin);
	return (struct clocks){ took.wall - reading.wall, took.cpu - reading.cpu };
}

static void time_compilations(struct lm_job *job, const struct lm_mirror *mirror, const char *dir)
{
	static const char *const compilers[] = { "gcc", "clang-19" };

	for (size_t i = 0; i < job->configs.nr; i++) {
		const struct lm_config *config = &job->configs.items[i];
		const char *edits = *config->edits ? lm_arena_printf(&job->arena, "%s/edits-%zu.h", dir, i) : NULL;

		if (edits)
			must(lm_scratch_write(edits, config->edits, strlen(config->edits)));
		for (size_t c = 0; c < 2; c++) {
			struct lm_probe_request req = {
				.configs = &job->configs, .config = config, .record = &job->sources[i].record,
				.compiler = compilers[c], .is_clang = c, .mirror = mirror, .dir = dir, .edits = edits,
				.name = lm_arena_printf(&job->arena, "%zu-%zu", i, c),
			};

			print(compilers[c], config->name, time_compiler(&req, &job->arena));
		}
	}
}

static void time_parts(struct lm_job *job, const char *changed)
{
	struct lm_mirror_request want = { .root = job->configs.root, .file = job->configs.header };
	char *text, *dir, *links;
	struct lm_mirror mirror;

	must(lm_file_read(changed, "header", 1 << 24, &job->arena, &text, &want.len));
	must(lm_temp_dir(&job->arena, &dir));
	must(lm_scratch_dir(&job->arena, &links));
	want.text = text;
	want.dir = lm_arena_printf(&job->arena, "%s/tree", links);
	want.real = &job->configs.items[0].dir;
	want.nr_real = 1;
	must(lm_mirror_make(&want, &job->arena, &mirror));
	time_parse(job, "before", job->text, job->len, true);
	time_parse(job, "after", text, want.len, false);
	time_compilations(job, &mirror, dir);
	lm_remove_tree(dir);
	lm_remove_tree(links);
}

static void print_unit(struct lm_job *job, const char *path)
{
	const struct lm_config *config = &job->configs.items[0];
	const char *text = lm_config_main_text(&job->configs, &job->arena);

	must(lm_file_write(path, text, strlen(text)));
	printf("%s\n", config->dir);
	for (size_t i = 0; i < config->nr_clang_args; i++)
		printf("%s\n", config->clang_args[i]);
}

int main(int argc, char **argv)
{
	struct bench_options o = { .changed = NULL };
	struct lm_job job;

	lm_options_parse(&argp, "parts", argc, argv, &o.common);
	lm_job_start(&job, &o.common);
	must(lm_job_read_header(&job));
	if (o.unit) {
		print_unit(&job, o.unit);
	} else if (o.parses) {
		must(lm_job_parse(&job, false));
		time_parse(&job, "before", job.text, job.len, false);
	} else {
		must(lm_job_parse(&job, true));	/* and so everything is in memory */
		time_parts(&job, o.changed);
	}
	lm_job_release(&job);
	lm_options_release(&o.common);
	return 0;
}
