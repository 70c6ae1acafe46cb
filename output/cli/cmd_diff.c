/* cmd_diff.c - `linemate diff`: what did a change do to the layout? */
#include "base/file.h"
#include "base/parallel.h"
#include "output/change.h"
#include "output/cli/commands.h"
#include "output/cli/job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_HEADER (16u << 20)

enum { OPT_BEFORE = 0x300, OPT_AFTER };

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "The two versions (or as arguments: REV, REV1..REV2, or two files; default: HEAD):", 3 },
	{ "before", OPT_BEFORE, "FILE", 0, "the header as it was, read in its place; default: the header itself", 3 },
	{ "after", OPT_AFTER, "FILE", 0, "the header as it shall be, read in its place; default: the header itself", 3 },
	{ 0 },
};

/* The common options come first: their parser has this as its input. */
struct diff_options {
	struct lm_options common;
	const char *before, *after;	/* files */
	const char *words[2];		/* arguments */
	unsigned nr_words;
};

static const char *path(const struct argp_state *state, const char *option, const char *arg)
{
	if (!*arg)
		argp_error(state, "%s wants a path, not an empty one", option);
	return arg;
}

static void check(const struct argp_state *state, struct diff_options *o)
{
	bool files = o->nr_words == 2 && lm_is_file(o->words[0]) && lm_is_file(o->words[1]);

	if (o->nr_words && (o->before || o->after))
		argp_error(state, "'%s' and --before or --after: give revisions or files, not both", o->words[0]);
	if (files) {
		o->before = o->words[0];
		o->after = o->words[1];
		o->nr_words = 0;
		if (!o->common.header)
			o->common.header = o->after;
	}
	if (!o->common.header && o->after && o->before)
		o->common.header = o->after;
	lm_options_need_record(state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct diff_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		lm_options_init(state);
		return 0;
	case OPT_BEFORE:
		o->before = path(state, "--before", arg);
		return 0;
	case OPT_AFTER:
		o->after = path(state, "--after", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (o->nr_words == 2 || !*arg)
			argp_error(state, "unexpected argument '%s': two versions are compared; compiler flags go behind --", arg);
		o->words[o->nr_words++] = arg;
		return 0;
	case ARGP_KEY_END:
		check(state, o);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &lm_common_argp, 0, NULL, 0 }, { 0 } };
static const struct argp argp = {
	table, parse, "[REV | REV1..REV2 | OLD NEW] [-- FLAGS...]",
	"Tells what a change did to the layout of a record in each configuration: a change of its header, or of anything "
	"that the header includes.  With a profile also what it cost, and which line mates explain it.  Exits with 1 if "
	"contention was added.\v",
	children, lm_options_help, NULL,
};

/* ---- the versions ---- */

struct diff {
	struct lm_job *job;
	const struct diff_options *o;
	struct lm_tree trees[2];
	struct lm_version versions[2];	/* before, after */
	struct lm_accesses accesses[2];	/* a copy for each: what fits no member is counted in it */
	bool has_accesses;
	struct lm_change change;
};

/* Version i is what revision id has. */
static struct lm_err *from_revision(struct diff *d, int i, const char *name, const char *id)
{
	const struct lm_configs *configs = &d->job->configs;
	struct lm_arena *arena = &d->job->arena;
	struct lm_git_commit commit;
	struct lm_err *err = lm_tree_open(configs->header, &configs->items[0].dir, 1, &d->trees[i]);

	if (!err)
		err = lm_git_commit(d->trees[i].git, id, arena, &commit);
	if (!err)
		err = lm_tree_show(&d->trees[i], id);
	if (!err)
		err = lm_version_of_tree(configs, name, &d->trees[i], &d->versions[i]);
	if (!err)
		d->versions[i].note = lm_arena_printf(arena, " (%.12s %s)", id, commit.subject);
	return err;
}

/* Version i is a file in the header's place; NULL: the header itself. */
static struct lm_err *from_file(struct diff *d, int i, const char *file)
{
	struct lm_job *job = d->job;
	char *text = job->text;
	size_t len = job->len;
	struct lm_err *err = file ? lm_file_read(file, "header", MAX_HEADER, &job->arena, &text, &len) : NULL;

	if (!err)
		lm_version_of_text(&job->configs, file ? file : job->o->header, file ? file : job->o->header, text, len,
				   &d->versions[i]);
	return err;
}

static struct lm_err *from_work_tree(struct diff *d, int i)
{
	struct lm_job *job = d->job;

	lm_version_of_text(&job->configs, "the work tree", job->o->header, job->text, job->len, &d->versions[i]);
	return NULL;
}

static struct lm_err *revisions(struct diff *d, struct lm_git *git)
{
	struct lm_git_range range;
	const char *word = d->o->nr_words ? d->o->words[0] : "HEAD";
	struct lm_err *err;

	if (d->o->nr_words == 2)
		word = lm_arena_printf(&d->job->arena, "%s..%s", d->o->words[0], d->o->words[1]);
	err = lm_git_range(git, word, &d->job->arena, &range);
	if (!err)
		err = from_revision(d, 0, range.from_name, range.from);
	if (err)
		return err;
	return range.to ? from_revision(d, 1, range.to_name, range.to) : from_work_tree(d, 1);
}

static struct lm_err *find_versions(struct diff *d)
{
	struct lm_git *git = NULL;
	struct lm_err *err;

	if (d->o->before || d->o->after) {
		err = from_file(d, 0, d->o->before);
		return err ? err : from_file(d, 1, d->o->after);
	}
	err = lm_git_open(d->job->configs.header, &git);
	if (!err)
		err = revisions(d, git);
	lm_git_close(git);
	return err;
}

static struct lm_err *parse_versions(struct diff *d)
{
	struct lm_version *both[] = { &d->versions[0], &d->versions[1] };

	return lm_versions_parse(both, 2, d->job->o->record);
}

/* ---- the profile ---- */

/* The program may be the one from before or from after the change. */
static struct lm_err *open_binary(struct diff *d)
{
	struct lm_job *job = d->job;
	struct lm_err *err, *other;

	job->subject = d->versions[1].subject;
	err = lm_job_open_binary(job);
	if (!err || !job->binary_record)
		return err;
	other = lm_join_binary(&d->versions[0].subject.views[0], job->binary_record, job->o->binary);
	if (other) {
		lm_err_free(other);
		return err;
	}
	lm_err_free(err);
	job->subject = d->versions[0].subject;
	return NULL;
}

static struct lm_err *join_profile(struct diff *d)
{
	struct lm_job *job = d->job;
	struct lm_err *err = open_binary(d);

	if (!err)
		err = lm_job_read_profiles(job);
	if (err || !job->has_accesses)
		return err;
	/* Offsets in the whole record are of the profiled program. */
	lm_join_name_rows(&job->subject, &job->accesses);
	d->has_accesses = true;
	for (int i = 0; i < 2; i++)
		lm_accesses_init(&d->accesses[i]);
	for (int i = 0; !err && i < 2; i++) {
		lm_version_accesses(&d->versions[i], &d->versions[1 - i], &job->accesses, &d->accesses[i]);
		err = lm_version_join(&d->versions[i], &d->accesses[i], job->o->record, job->o->cpus);
	}
	return err;
}

/* ---- the answer ---- */

static void say_evidence(const struct diff *d)
{
	const struct lm_job *job = d->job;
	struct lm_str words = { 0 };

	if (!d->has_accesses || job->o->json || d->change.verdict == LM_CHANGE_NONE)
		return;
	lm_str_add(&words, "Evidence\n");
	lm_evidence_report(&d->accesses[1], job->has_attribution ? &job->attribution : NULL, job->by_offset, &words);
	lm_job_say(job, &words);
	lm_str_release(&words);
}

static struct lm_err *print(struct diff *d)
{
	const struct lm_options *o = d->job->o;
	bool to_stdout = o->output[0] == '-' && !o->output[1];
	struct lm_print_opts opts = { to_stdout && lm_options_color(o, STDOUT_FILENO), o->verbose, 0 };
	struct lm_str out = { 0 };
	struct lm_err *err;

	if (o->json)
		lm_change_json(&d->change, &out);
	else
		lm_change_text(&d->change, &opts, &out);
	err = lm_file_write(o->output, out.text, out.len);
	if (!err)
		say_evidence(d);
	lm_str_release(&out);
	return err;
}

static struct lm_err *run(struct diff *d)
{
	struct lm_err *err = lm_job_read_header(d->job);

	if (!err)
		err = lm_job_derive(d->job);
	if (!err)
		err = find_versions(d);
	if (!err)
		err = parse_versions(d);
	if (!err)
		err = join_profile(d);
	if (!err) {
		struct lm_change_opts opts = { d->job->o->line, d->job->o->base_align, d->has_accesses };

		lm_change_make(&d->versions[0], &d->versions[1], &opts, &d->job->arena, &d->change);
		err = print(d);
	}
	return err;
}

static void release(struct diff *d)
{
	for (int i = 0; i < 2; i++) {
		lm_version_release(&d->versions[i]);
		lm_tree_close(&d->trees[i]);
		if (d->has_accesses)
			lm_accesses_release(&d->accesses[i]);
	}
}

struct lm_err *lm_cmd_diff(int argc, char **argv)
{
	struct diff_options o = { 0 };
	struct lm_job job;
	struct diff d = { .job = &job, .o = &o };
	struct lm_err *err;

	lm_options_parse(&argp, "diff", argc, argv, &o.common);
	lm_progress_enable(o.common.verbose >= 0 && !o.common.json);
	lm_job_start(&job, &o.common);
	err = run(&d);
	if (!err && d.change.verdict == LM_CHANGE_ADDED)
		err = lm_err_new(LM_ERR_FOUND, "%s", "");
	release(&d);
	lm_job_release(&job);
	lm_options_release(&o.common);
	return err;
}
