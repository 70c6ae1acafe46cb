/* decide.c - the steps from the command line to a verified diff, as patch and report take them. */
#include "output/cli/decide.h"

#include "output/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp lm_decide_argp = { .options = table, .parser = parse };

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

static struct lm_err *plan_and_rewrite(struct lm_job *job, const struct lm_rewrite_opts *barriers,
				       struct lm_decision *out)
{
	struct lm_err *err = lm_plan_make(&job->subject, &out->rules, &job->usage, &job->plan_opts, &job->arena, &out->plan);

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
					    struct lm_decision *out)
{
	if (!why || why->code != LM_ERR_BUG || out->plan.verdict != LM_VERDICT_MOVED || !has_barriers(&out->plan))
		return why;
	lm_err_free(why);
	lm_str_release(&out->diff);
	out->plan = (struct lm_plan){ 0 };
	out->rewrite = (struct lm_rewrite){ 0 };
	out->verified = (struct lm_verified){ 0 };
	job->plan_opts.allow_barriers = false;
	out->rules = with_note(job, &out->rules, "a line start that the project's macro should force did not hold in every "
			   "configuration: planned without it");
	return plan_and_rewrite(job, barriers, out);
}

/* Reads all there is to read. */
static struct lm_err *prepare(struct lm_job *job)
{
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
	return err;
}

struct lm_err *lm_decide(struct lm_job *job, struct lm_decision *out)
{
	struct lm_rewrite_opts barriers;
	struct lm_err *err = prepare(job);

	memset(out, 0, sizeof(*out));
	if (!err)
		err = collect_rules(job, &out->rules);
	if (err)
		return err;
	barriers = common_barriers(job);
	if (!barriers.barrier && !barriers.barrier_attr)
		job->plan_opts.allow_barriers = false;
	err = plan_and_rewrite(job, &barriers, out);
	return plan_without_barriers(job, err, &barriers, out);
}

struct lm_story lm_decision_story(const struct lm_job *job, const struct lm_decision *d)
{
	struct lm_story story = lm_job_story(job);

	story.rules = &d->rules;
	story.plan = &d->plan;
	if (d->plan.verdict == LM_VERDICT_MOVED) {
		story.rewrite = &d->rewrite;
		story.verified = &d->verified;
		story.diff = lm_str_text(&d->diff);
		story.diff_len = d->diff.len;
	}
	return story;
}

void lm_decision_release(struct lm_decision *d)
{
	lm_str_release(&d->diff);
}
