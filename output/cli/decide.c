/* decide.c - the steps from the command line to verified diffs, as patch and report take them. */
#include "output/cli/decide.h"

#include "output/cli/asserts.h"
#include "output/cli/promise.h"
#include "output/diff.h"
#include "output/reason.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SECONDS 86400.0
#define MAX_MOVES 1000

enum { OPT_PIN = 0x200, OPT_TOGETHER, OPT_APART, OPT_MOVES, OPT_TIME, OPT_NO_BARRIERS, OPT_ASSERTS, OPT_COMMENT };

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "The decision:", 3 },
	{ "pin", OPT_PIN, "F", 0, "member F must keep its offset; repeatable", 3 },
	{ "keep-together", OPT_TOGETHER, "F,G", 0, "members F and G must share a line; repeatable", 3 },
	{ "apart", OPT_APART, "F,G", 0, "members F and G must not share a line; repeatable", 3 },
	{ "moves", OPT_MOVES, "N|all", 0,
	  "most members that may move; default: the fewest that reach 95 % of the possible gain", 3 },
	{ "no-barriers", OPT_NO_BARRIERS, NULL, 0, "force no member onto a line of its own start", 3 },
	{ "asserts", OPT_ASSERTS, NULL, 0, "let the patch also add assertions behind the record: what it parts stays apart", 4 },
	{ "comment", OPT_COMMENT, NULL, 0, "let the patch also add a comment with the reason at each separated member", 4 },
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

/* What is about one record only. */
void lm_decide_check_several(const struct argp_state *state)
{
	const struct lm_options *o = state->input;

	for (size_t i = 0; i < o->records.nr; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(o->records.items[i], o->records.items[k]))
				argp_error(state, "--struct %s is given twice", o->records.items[i]);
	if (o->records.nr > 1 && o->promise)
		argp_error(state, "a promise file is of one record: with --promise give one --struct");
	if (o->records.nr > 1 && o->nr_objects)
		argp_error(state, "an --object is of one record: give one --struct");
	if (o->records.nr > 1 && o->pins.nr + o->together.nr + o->apart.nr)
		argp_error(state, "--pin, --keep-together and --apart name members of one record: with several, write them as "
			   "comments into the header");
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
	case OPT_ASSERTS:
		o->asserts = true;
		return 0;
	case OPT_COMMENT:
		o->comment = true;
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
	struct lm_promises promises = { 0 };
	struct lm_rules_opts opts = {
		.pins = o->pins.items,
		.nr_pins = o->pins.nr,
		.together = o->together.items,
		.nr_together = o->together.nr,
		.apart = o->apart.items,
		.nr_apart = o->apart.nr,
		.line = o->line,
		.path = o->header,
		.promises = &promises,
	};
	struct lm_err *err = lm_promises_read_comments(o->header, &job->body, &job->arena, &promises);

	if (!err)
		err = lm_rules_collect(&job->subject, job->sources, &opts, &job->arena, rules);

	if (!err && rules->refused)
		err = lm_err_new(LM_ERR_REFUSED, "%s", rules->refusal_text);
	return err;
}

/* A macro can serve as barrier only if every configuration has it. */
static struct lm_rewrite_opts common_barriers(const struct lm_job *job)
{
	struct lm_rewrite_opts opts = {
		.barrier = job->sources[0].barrier, .barrier_attr = job->sources[0].barrier_attr,
	};

	for (size_t i = 1; i < job->configs.nr; i++) {
		const struct lm_source *s = &job->sources[i];

		if (opts.barrier && (!s->barrier || strcmp(s->barrier, opts.barrier)))
			opts.barrier = NULL;
		if (opts.barrier_attr && (!s->barrier_attr || strcmp(s->barrier_attr, opts.barrier_attr)))
			opts.barrier_attr = NULL;
	}
	return opts;
}

/* With --comment the reason stands beside what is separated. */
static const struct lm_rewrite_opts *with_reasons(struct lm_job *job, const struct lm_plan *plan,
						  const struct lm_rewrite_opts *barriers)
{
	struct lm_rewrite_opts *opts = LM_ARENA_NEW(&job->arena, struct lm_rewrite_opts);
	struct lm_story story = lm_job_story(job);

	*opts = *barriers;
	story.plan = plan;
	opts->notes = job->o->comment ? lm_reasons_make(&story, &job->arena) : NULL;
	return opts;
}

/* Assertions stand for what the plan promises: that takes the whole story. */
static struct lm_err *add_asserts(struct lm_job *job, const struct lm_rules *rules, const struct lm_plan *plan,
				  struct lm_rewrite *rewrite)
{
	struct lm_story story = lm_job_story(job);

	story.rules = rules;
	story.plan = plan;
	return lm_job_add_asserts(job, &story, rewrite);
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

static struct lm_err *rewrite_and_verify(struct lm_job *job, const struct lm_rules *rules, const struct lm_plan *plan,
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
	struct lm_err *err = lm_rewrite(&job->body, &plan->order, with_reasons(job, plan, barriers), &job->arena, rewrite);

	if (!err)
		err = add_asserts(job, rules, plan, rewrite);
	if (!err)
		err = lm_verify(&request, &job->arena, verified);
	if (!err)
		return work.err;
	lm_err_free(work.err);
	return err;
}

static struct lm_err *compare_users(struct lm_job *job, struct lm_decision *out)
{
	const struct lm_users_request request = {
		.configs = &job->configs,
		.record = job->o->record,
		.sources = job->sources,
		.plan = &out->plan,
		.rewrite = out->plan.verdict == LM_VERDICT_MOVED ? &out->rewrite : NULL,
	};

	out->users = LM_ARENA_ARRAY(&job->arena, struct lm_users, job->configs.nr + 1);
	return lm_users_compare(&request, &job->arena, out->users);
}

static struct lm_err *plan_and_rewrite(struct lm_job *job, const struct lm_rewrite_opts *barriers,
				       struct lm_decision *out)
{
	struct lm_err *err = lm_plan_make(&job->subject, &out->rules, &job->usage, &job->plan_opts, &job->arena, &out->plan);

	if (!err && out->plan.verdict == LM_VERDICT_MOVED)
		err = rewrite_and_verify(job, &out->rules, &out->plan, barriers, &out->rewrite, &out->verified, &out->diff);
	return err ? err : compare_users(job, out);
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

static struct lm_err *decide(struct lm_decision *x)
{
	struct lm_job *job = &x->job;
	struct lm_rewrite_opts barriers = common_barriers(job);
	struct lm_err *err;

	if (!barriers.barrier && !barriers.barrier_attr)
		job->plan_opts.allow_barriers = false;
	err = plan_and_rewrite(job, &barriers, x);
	err = plan_without_barriers(job, err, &barriers, x);
	x->story = lm_job_story(job);
	x->story.rules = &x->rules;
	x->story.plan = &x->plan;
	x->story.users = x->users;
	if (x->plan.verdict == LM_VERDICT_MOVED) {
		x->story.rewrite = &x->rewrite;
		x->story.verified = &x->verified;
		x->story.diff = lm_str_text(&x->diff);
		x->story.diff_len = x->diff.len;
	}
	return err ? err : lm_job_write_promises(job, &x->story);
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

static void start(struct lm_decision *x, const struct lm_options *o, const char *record)
{
	x->o = *o;
	x->o.record = record;
	lm_job_start(&x->job, &x->o);
}

/* text NULL: the header as it is; else what records before this one made of it. */
static struct lm_err *run(struct lm_decision *x, char *text, size_t len)
{
	struct lm_job *job = &x->job;
	struct lm_err *err = lm_job_read_header(job);

	if (!err && text) {
		job->text = text;
		job->len = len;
	}
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
		err = collect_rules(job, &x->rules);
	if (!err)
		note_longer_lines(job, &x->rules);
	if (!err)
		err = decide(x);
	return err;
}

/* ---- several records ---- */

/* Records of one header, and which holds which: what is inside is planned first. */
struct several {
	const struct lm_options *o;
	struct lm_arena *arena;
	uint8_t *holds;		/* [nr * nr] */
	const char **order;
};

static struct lm_err *see_holders(struct several *s, size_t i)
{
	const struct lm_list *records = &s->o->records;
	struct lm_decision *x = LM_ARENA_NEW(s->arena, struct lm_decision);
	struct lm_err *err;

	start(x, s->o, records->items[i]);
	err = lm_job_read_header(&x->job);
	if (!err)
		err = lm_job_parse(&x->job, true);
	for (size_t v = 0; !err && v < x->job.configs.nr; v++)
		for (size_t u = 0; u < x->job.sources[v].nr_users; u++)
			for (size_t k = 0; k < records->nr; k++) {
				const char *name = x->job.sources[v].users[u].name, *blank = strrchr(name, ' ');

				if (!strcmp(blank ? blank + 1 : name, records->items[k]))
					s->holds[k * records->nr + i] = 1;
			}
	lm_job_release(&x->job);
	return err;
}

static void put_in_order(struct several *s)
{
	size_t nr = s->o->records.nr;
	uint8_t *placed = lm_arena_alloc(s->arena, nr);

	for (size_t n = 0; n < nr; n++)
		for (size_t i = 0; i < nr && !s->order[n]; i++) {
			bool ready = !placed[i];

			for (size_t k = 0; k < nr && ready; k++)
				ready = placed[k] || !s->holds[i * nr + k];
			if (ready) {
				s->order[n] = s->o->records.items[i];
				placed[i] = 1;
			}
		}
}

static struct lm_err *order_records(const struct lm_options *o, struct lm_arena *arena, const char ***order)
{
	size_t nr = o->records.nr;
	struct several s = { o, arena, lm_arena_alloc(arena, nr * nr), LM_ARENA_ARRAY(arena, const char *, nr) };
	struct lm_err *err = NULL;

	for (size_t i = 0; i < nr && !err && nr > 1; i++)
		err = see_holders(&s, i);
	put_in_order(&s);
	*order = s.order;
	return err;
}

/* ---- all of it ---- */

/* What all records together make of the header. */
static struct lm_err *whole_diff(const struct lm_decision *all, size_t nr, struct lm_str *diff)
{
	const struct lm_decision *last = &all[nr - 1];
	const char *text = last->story.rewrite ? last->rewrite.text : last->job.text;
	size_t len = last->story.rewrite ? last->rewrite.len : last->job.len;

	if (nr == 1) {
		if (last->story.diff)
			lm_str_add_bytes(diff, last->story.diff, last->story.diff_len);
		return NULL;
	}
	if (len == all[0].job.len && !memcmp(text, all[0].job.text, len))
		return NULL;
	return lm_diff(last->job.configs.header_in_root, all[0].job.text, all[0].job.len, text, len, diff);
}

struct lm_err *lm_decide(const struct lm_options *o, struct lm_decisions *out)
{
	const char **order;
	char *text = NULL;
	size_t len = 0;
	struct lm_err *err;

	memset(out, 0, sizeof(*out));
	out->nr = o->records.nr;
	out->items = LM_ARENA_ARRAY(&out->arena, struct lm_decision, out->nr);
	err = order_records(o, &out->arena, &order);
	for (size_t i = 0; i < out->nr && !err; i++) {
		struct lm_decision *x = &out->items[i];

		start(x, o, order[i]);
		err = run(x, text, len);
		text = x->story.rewrite ? x->rewrite.text : x->job.text;
		len = x->story.rewrite ? x->rewrite.len : x->job.len;
	}
	return err ? err : whole_diff(out->items, out->nr, &out->diff);
}

void lm_decisions_release(struct lm_decisions *d)
{
	for (size_t i = 0; i < d->nr; i++) {
		lm_str_release(&d->items[i].diff);
		lm_job_release(&d->items[i].job);
	}
	lm_str_release(&d->diff);
	lm_arena_release(&d->arena);
}

static const struct lm_story **stories_of(const struct lm_decisions *d, struct lm_arena *arena)
{
	const struct lm_story **stories = LM_ARENA_ARRAY(arena, const struct lm_story *, d->nr);

	for (size_t i = 0; i < d->nr; i++)
		stories[i] = &d->items[i].story;
	return stories;
}

void lm_decisions_text(const struct lm_decisions *d, const struct lm_print_opts *opts, struct lm_str *out)
{
	for (size_t i = 0; i < d->nr; i++) {
		if (i)
			lm_str_add_char(out, '\n');
		lm_report_text(&d->items[i].story, opts, out);
	}
}

void lm_decisions_json(const struct lm_decisions *d, struct lm_str *out)
{
	struct lm_arena arena = { 0 };

	if (d->nr == 1)
		lm_report_json(&d->items[0].story, out);
	else
		lm_reports_json(stories_of(d, &arena), d->nr, d->diff.len ? d->diff.text : NULL, d->diff.len, out);
	lm_arena_release(&arena);
}
