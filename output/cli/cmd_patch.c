/* cmd_patch.c - `linemate patch`: profile + header -> a unified diff, and its evidence. */
#include "base/file.h"
#include "base/parallel.h"
#include "output/cli/commands.h"
#include "output/cli/job.h"
#include "output/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SECONDS 86400.0
#define MAX_MOVES 1000

enum { OPT_PIN = 0x200, OPT_TOGETHER, OPT_APART, OPT_MOVES, OPT_TIME, OPT_NO_BARRIERS };

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "The decision:", 3 },
	{ "pin", OPT_PIN, "F", 0, "member F must keep its offset; repeatable", 3 },
	{ "keep-together", OPT_TOGETHER, "F,G", 0, "members F and G must share a line; repeatable", 3 },
	{ "apart", OPT_APART, "F,G", 0, "members F and G must not share a line; repeatable", 3 },
	{ "moves", OPT_MOVES, "N|all", 0,
	  "most members that may move; default: the fewest that reach 95 % of the possible gain", 3 },
	{ "no-barriers", OPT_NO_BARRIERS, NULL, 0, "force no member onto a line of its own start", 3 },
	{ "time", OPT_TIME, "SECONDS", 0, "limit for search and solver together; default: 60", 3 },
	{ 0 },
};

static double seconds(const struct argp_state *state, const char *arg)
{
	char *end;
	double n = strtod(arg, &end);

	if (end == arg || *end || !isfinite(n) || n <= 0 || n > MAX_SECONDS)
		argp_error(state, "--time wants seconds above 0 and at most %.0f, not '%s'", MAX_SECONDS, arg);
	return n;
}

static int moves(const struct argp_state *state, const char *arg)
{
	char *end;
	long n = strtol(arg, &end, 10);

	if (!strcmp(arg, "all"))
		return -1;
	if (arg[0] < '0' || arg[0] > '9' || *end || n < 1 || n > MAX_MOVES)
		argp_error(state, "--moves wants a number from 1 to %d, or all, not '%s'", MAX_MOVES, arg);
	return (int)n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct lm_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		lm_options_init(state);
		return 0;
	case OPT_PIN:
		if (!*arg)
			argp_error(state, "--pin wants the name of a member");
		lm_options_add(o, &o->pins, arg);
		return 0;
	case OPT_TOGETHER:
		lm_options_add_pair(state, &o->together, "--keep-together", arg);
		return 0;
	case OPT_APART:
		lm_options_add_pair(state, &o->apart, "--apart", arg);
		return 0;
	case OPT_MOVES:
		o->moves = moves(state, arg);
		return 0;
	case OPT_TIME:
		o->seconds = seconds(state, arg);
		return 0;
	case OPT_NO_BARRIERS:
		o->no_barriers = true;
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
	"Finds the smallest reordering of a record's members that takes contended line mates apart, checks it with two "
	"compilers, and prints it as a unified diff for git apply or patch -p1.  The report goes to stderr.\v",
	children, lm_options_help, NULL,
};

/* ---- the steps ---- */

static struct lm_err *collect_rules(struct lm_job *job, struct lm_rules *rules)
{
	const struct lm_options *o = job->o;
	struct lm_rules_opts opts = {
		.pins = o->pins.items,
		.nr_pins = o->pins.nr,
		.together = o->together.items,
		.nr_together = o->together.nr,
		.apart = o->apart.items,
		.nr_apart = o->apart.nr,
		.line = o->line,
		.path = o->header,
	};
	struct lm_err *err = lm_rules_collect(&job->subject, job->sources, &opts, &job->arena, rules);

	if (!err && rules->refused)
		err = lm_err_new(LM_ERR_REFUSED, "%s", rules->refusal_text);
	return err;
}

/* A macro can serve as barrier only if every configuration has it. */
static struct lm_rewrite_opts common_barriers(const struct lm_job *job)
{
	struct lm_rewrite_opts opts = { job->sources[0].barrier, job->sources[0].barrier_attr };

	for (size_t i = 1; i < job->configs.nr; i++) {
		const struct lm_source *s = &job->sources[i];

		if (opts.barrier && (!s->barrier || strcmp(s->barrier, opts.barrier)))
			opts.barrier = NULL;
		if (opts.barrier_attr && (!s->barrier_attr || strcmp(s->barrier_attr, opts.barrier_attr)))
			opts.barrier_attr = NULL;
	}
	return opts;
}

/* The diff of a rewrite, made while compilers check it. */
struct diff_work {
	const struct lm_job *job;
	const struct lm_rewrite *rewrite;
	struct lm_str *diff;
	struct lm_err *err;
};

static void make_diff(void *arg)
{
	struct diff_work *w = arg;

	w->err = lm_diff(w->job->configs.header_in_root, w->job->text, w->job->len, w->rewrite->text, w->rewrite->len,
			 w->diff);
}

static struct lm_err *rewrite_and_verify(struct lm_job *job, const struct lm_plan *plan,
					 const struct lm_rewrite_opts *barriers, struct lm_rewrite *rewrite,
					 struct lm_verified *verified, struct lm_str *diff)
{
	struct diff_work work = { .job = job, .rewrite = rewrite, .diff = diff };
	struct lm_verify_request request = {
		.configs = &job->configs,
		.record = job->o->record,
		.subject = &job->subject,
		.order = &plan->order,
		.after = plan->after,
		.rewrite = rewrite,
		.ahead = job->ahead,
		.meanwhile = make_diff,
		.arg = &work,
	};
	struct lm_err *err = lm_rewrite(&job->body, &plan->order, barriers, &job->arena, rewrite);

	if (!err)
		err = lm_verify(&request, &job->arena, verified);
	if (!err)
		return work.err;
	lm_err_free(work.err);
	return err;
}

/* Words to stderr, product to stdout or -o: the diff, or with --json the report that contains it. */
static struct lm_err *print(const struct lm_job *job, const struct lm_story *story)
{
	struct lm_print_opts opts = { lm_options_color(job->o, STDERR_FILENO), job->o->verbose, 0 };
	struct lm_str out = { 0 };
	struct lm_err *err = NULL;

	if (job->o->json) {
		lm_report_json(story, &out);
		err = lm_file_write(job->o->output, out.text, out.len);
	} else {
		if (story->diff)
			err = lm_file_write(job->o->output, story->diff, story->diff_len);
		lm_report_text(story, &opts, &out);
		if (!err)
			lm_job_say(job, &out);
	}
	lm_str_release(&out);
	return err;
}

/* What a plan becomes. */
struct outcome {
	struct lm_plan plan;
	struct lm_rewrite rewrite;
	struct lm_verified verified;
	struct lm_str diff;
};

static struct lm_err *plan_and_rewrite(struct lm_job *job, const struct lm_rules *rules,
				       const struct lm_rewrite_opts *barriers, struct outcome *out)
{
	struct lm_err *err = lm_plan_make(&job->subject, rules, &job->usage, &job->plan_opts, &job->arena, &out->plan);

	if (err || out->plan.verdict != LM_VERDICT_MOVED)
		return err;
	return rewrite_and_verify(job, &out->plan, barriers, &out->rewrite, &out->verified, &out->diff);
}

static bool has_barriers(const struct lm_plan *plan)
{
	for (uint32_t i = 0; i < plan->nr_moves; i++)
		if (plan->moves[i].barrier)
			return true;
	return false;
}

/* The rules with one more thing to say. */
static struct lm_rules with_note(struct lm_job *job, const struct lm_rules *rules, const char *note)
{
	struct lm_rules more = *rules;

	more.notes = LM_ARENA_ARRAY(&job->arena, const char *, rules->nr_notes + 1);
	for (uint32_t i = 0; i < rules->nr_notes; i++)
		more.notes[i] = rules->notes[i];
	more.notes[more.nr_notes++] = note;
	return more;
}

/*
 * The project's macro need not align in every configuration (the kernel's is
 * empty without SMP).  Verification sees that; then it is done without.
 */
static struct lm_err *plan_without_barriers(struct lm_job *job, struct lm_err *why, const struct lm_rewrite_opts *barriers,
					    struct lm_rules *rules, struct outcome *out)
{
	if (!why || why->code != LM_ERR_BUG || out->plan.verdict != LM_VERDICT_MOVED || !has_barriers(&out->plan))
		return why;
	lm_err_free(why);
	lm_str_release(&out->diff);
	memset(out, 0, sizeof(*out));
	job->plan_opts.allow_barriers = false;
	*rules = with_note(job, rules, "a line start that the project's macro should force did not hold in every "
			   "configuration: planned without it");
	return plan_and_rewrite(job, rules, barriers, out);
}

static struct lm_err *decide(struct lm_job *job, struct lm_rules *rules)
{
	struct lm_rewrite_opts barriers = common_barriers(job);
	struct lm_story story = lm_job_story(job);
	struct outcome out = { 0 };
	struct lm_err *err;

	if (!barriers.barrier && !barriers.barrier_attr)
		job->plan_opts.allow_barriers = false;
	err = plan_and_rewrite(job, rules, &barriers, &out);
	err = plan_without_barriers(job, err, &barriers, rules, &out);
	story.rules = rules;
	story.plan = &out.plan;
	if (out.plan.verdict == LM_VERDICT_MOVED) {
		story.rewrite = &out.rewrite;
		story.verified = &out.verified;
		story.diff = lm_str_text(&out.diff);
		story.diff_len = out.diff.len;
	}
	if (!err)
		err = print(job, &story);
	lm_str_release(&out.diff);
	return err;
}

/* A configuration whose own lines are longer than those that are planned for. */
static void note_longer_lines(struct lm_job *job, struct lm_rules *rules)
{
	struct lm_str names = { 0 };
	uint64_t longest = 0;

	for (size_t i = 0; i < job->configs.nr; i++) {
		uint64_t line = job->sources[i].line_size;

		if (line <= job->o->line)
			continue;
		longest = line > longest ? line : longest;
		lm_str_addf(&names, "%s%s", names.len ? ", " : "", job->configs.items[i].name);
	}
	if (longest)
		*rules = with_note(job, rules, lm_arena_printf(&job->arena, "the code takes cache lines as %llu bytes in %s, "
							       "the plan as %u; --line %llu plans for the longer ones",
							       (unsigned long long)longest, lm_str_text(&names),
							       job->o->line, (unsigned long long)longest));
	lm_str_release(&names);
}

static struct lm_err *run(struct lm_job *job)
{
	struct lm_rules rules = { 0 };
	struct lm_err *err = lm_job_read_header(job);

	if (!err)
		lm_job_parse_ahead(job);
	if (!err)
		err = lm_job_parse(job, true);
	if (!err)
		err = lm_job_open_binary(job);
	if (!err)
		err = lm_job_read_profiles(job);
	if (!err)
		err = lm_job_join(job);
	if (!err)
		err = collect_rules(job, &rules);
	if (!err)
		note_longer_lines(job, &rules);
	if (!err)
		err = decide(job, &rules);
	return err;
}

struct lm_err *lm_cmd_patch(int argc, char **argv)
{
	struct lm_options o;
	struct lm_job job;
	struct lm_err *err;

	lm_options_parse(&argp, "patch", argc, argv, &o);
	lm_progress_enable(o.verbose >= 0 && !o.json);
	lm_job_start(&job, &o);
	err = run(&job);
	lm_job_release(&job);
	lm_options_release(&o);
	return err;
}
