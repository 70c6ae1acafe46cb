/* cmd_log.c - `linemate log`: which commits changed the layout, and which brought a pair together? */
#include "base/file.h"
#include "base/parallel.h"
#include "output/cli/commands.h"
#include "output/cli/job.h"
#include "output/history.h"

#include <string.h>
#include <unistd.h>

enum { OPT_PAIR = 0x400, OPT_FIRST_PARENT };

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "The commits:", 3 },
	{ "pair", OPT_PAIR, "F,G", 0, "tell only which commits made members F and G line mates, or parted them", 3 },
	{ "first-parent", OPT_FIRST_PARENT, NULL, 0, "follow first parents only: a merge counts as one commit", 3 },
	{ 0 },
};

/* The common options come first: their parser has this as its input. */
struct log_options {
	struct lm_options common;
	struct lm_list pair;
	const char *range;
	bool first_parent;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct log_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		lm_options_init(state);
		return 0;
	case OPT_PAIR:
		if (o->pair.nr)
			argp_error(state, "--pair can be given once");
		lm_options_add_pair(state, &o->pair, "--pair", arg);
		return 0;
	case OPT_FIRST_PARENT:
		o->first_parent = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->range)
			argp_error(state, "unexpected argument '%s': one range is read; compiler flags go behind --", arg);
		o->range = arg;
		return 0;
	case ARGP_KEY_END:
		lm_options_need_record(state);
		if (!o->range || (!strstr(o->range, "..") && !strstr(o->range, "^!")))
			argp_error(state, "no range of commits is named: give REV1..REV2, or REV.. for all since REV");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &lm_common_argp, 0, NULL, 0 }, { 0 } };
static const struct argp argp = {
	table, parse, "REV1..REV2 [-- FLAGS...]",
	"Tells which commits of a range changed the layout of a record in a configuration, newest first, and which line "
	"mates each of them made; with a profile also what that cost.  Commits that touch nothing which the record's "
	"unit includes are not even parsed.\v",
	children, lm_options_help, NULL,
};

/* ---- the steps ---- */

struct log {
	struct lm_job *job;
	const struct log_options *o;
	struct lm_git_range range;
	struct lm_history_request req;
	struct lm_history history;
};

static struct lm_err *find_range(struct log *l)
{
	struct lm_git *git = NULL;
	struct lm_err *err = lm_git_open(l->job->configs.header, &git);

	if (!err)
		err = lm_git_range(git, l->o->range, &l->job->arena, &l->range);
	lm_git_close(git);
	return err;
}

static void make_request(struct log *l)
{
	const struct lm_options *o = l->job->o;
	const char *pair = l->o->pair.nr ? l->o->pair.items[0] : NULL, *comma = pair ? strchr(pair, ',') : NULL;

	l->req = (struct lm_history_request){
		.configs = &l->job->configs, .record = o->record, .range = &l->range, .first_parent = l->o->first_parent,
		.line = o->line, .base_align = o->base_align, .cpus = o->cpus,
	};
	if (comma) {
		l->req.pair_a = lm_arena_strndup(&l->job->arena, pair, (size_t)(comma - pair));
		l->req.pair_b = comma + 1;
	}
}

/* Offsets in the whole record are those of the range's end. */
static struct lm_err *read_profile(struct log *l)
{
	struct lm_job *job = l->job;
	struct lm_err *err;

	job->subject = lm_history_last(&l->history)->subject;
	err = lm_job_open_binary(job);
	if (!err)
		err = lm_job_read_profiles(job);
	if (!err && job->has_accesses)
		lm_join_name_rows(&job->subject, &job->accesses);
	return err;
}

static struct lm_err *print(const struct log *l)
{
	const struct lm_options *o = l->job->o;
	bool to_stdout = o->output[0] == '-' && !o->output[1];
	struct lm_print_opts opts = { to_stdout && lm_options_color(o, STDOUT_FILENO), o->verbose, 0 };
	struct lm_str out = { 0 };
	struct lm_err *err;

	if (l->req.pair_a && !l->history.pair_known)
		return lm_err_new(LM_ERR_USAGE, "--pair %s,%s: neither end of the range nor a commit that changes the "
				  "layout has both of these members in one configuration; `linemate show' lists them.",
				  l->req.pair_a, l->req.pair_b);
	if (o->json)
		lm_history_json(&l->req, &l->history, &out);
	else
		lm_history_text(&l->req, &l->history, &opts, &out);
	err = lm_file_write(o->output, out.text, out.len);
	lm_str_release(&out);
	return err;
}

static struct lm_err *run(struct log *l)
{
	struct lm_err *err = lm_job_read_header(l->job);

	if (!err)
		err = lm_job_derive(l->job);
	if (!err)
		err = find_range(l);
	if (err)
		return err;
	make_request(l);
	err = lm_history_read(&l->req, &l->history);
	if (!err)
		err = read_profile(l);
	if (!err) {
		lm_history_compare(&l->req, l->job->has_accesses ? &l->job->accesses : NULL, &l->history);
		err = print(l);
	}
	return err;
}

struct lm_err *lm_cmd_log(int argc, char **argv)
{
	struct log_options o = { 0 };
	struct lm_job job;
	struct log l = { .job = &job, .o = &o };
	struct lm_err *err;

	lm_options_parse(&argp, "log", argc, argv, &o.common);
	lm_progress_enable(o.common.verbose >= 0 && !o.common.json);
	lm_job_start(&job, &o.common);
	err = run(&l);
	lm_history_release(&l.history);
	lm_job_release(&job);
	lm_options_release(&o.common);
	return err;
}
