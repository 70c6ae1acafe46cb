/* cmd_patch.c - `linemate patch`: profile + header -> a unified diff, and its evidence. */
#include "base/file.h"
#include "base/parallel.h"
#include "output/cli/asserts.h"
#include "output/cli/commands.h"
#include "output/cli/job.h"
#include "output/cli/promise.h"
#include "output/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SECONDS 86400.0
#define MAX_MOVES 1000

enum { OPT_PIN = 0x200, OPT_TOGETHER, OPT_APART, OPT_MOVES, OPT_TIME, OPT_NO_BARRIERS, OPT_PROMISE, OPT_ASSERTS };

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "The decision:", 3 },
	{ "pin", OPT_PIN, "F", 0, "member F must keep its offset; repeatable", 3 },
	{ "keep-together", OPT_TOGETHER, "F,G", 0, "members F and G must share a line; repeatable", 3 },
	{ "apart", OPT_APART, "F,G", 0, "members F and G must not share a line; repeatable", 3 },
	{ "moves", OPT_MOVES, "N|all", 0,
	  "most members that may move; default: the fewest that reach 95 % of the possible gain", 3 },
	{ "no-barriers", OPT_NO_BARRIERS, NULL, 0, "force no member onto a line of its own start", 3 },
	{ "promise", OPT_PROMISE, "FILE", 0, "write what the new layout promises to FILE, for linemate check", 4 },
	{ "asserts", OPT_ASSERTS, NULL, 0, "let the patch also add assertions behind the record: what it parts stays apart", 4 },
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
static void check_several(const struct argp_state *state)
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
	case ARGP_KEY_INIT:
		o->several = true;
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
	case OPT_PROMISE:
		if (!*arg || !strcmp(arg, "-"))
			argp_error(state, "--promise wants the path of a file");
		o->promise = arg;
		return 0;
	case OPT_ASSERTS:
		o->asserts = true;
		return 0;
	case OPT_NO_BARRIERS:
		o->no_barriers = true;
		return 0;
	case ARGP_KEY_END:
		lm_options_need_record(state);
		check_several(state);
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
	struct lm_err *err = lm_rewrite(&job->body, &plan->order, barriers, &job->arena, rewrite);

	if (!err)
		err = add_asserts(job, rules, plan, rewrite);
	if (!err)
		err = lm_verify(&request, &job->arena, verified);
	if (!err)
		return work.err;
	lm_err_free(work.err);
	return err;
}

/* What a plan becomes. */
struct outcome {
	struct lm_plan plan;
	struct lm_rewrite rewrite;
	struct lm_verified verified;
	struct lm_str diff;
	struct lm_users *users;
};

static struct lm_err *compare_users(struct lm_job *job, struct outcome *out)
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

static struct lm_err *plan_and_rewrite(struct lm_job *job, const struct lm_rules *rules,
				       const struct lm_rewrite_opts *barriers, struct outcome *out)
{
	struct lm_err *err = lm_plan_make(&job->subject, rules, &job->usage, &job->plan_opts, &job->arena, &out->plan);

	if (!err && out->plan.verdict == LM_VERDICT_MOVED)
		err = rewrite_and_verify(job, rules, &out->plan, barriers, &out->rewrite, &out->verified, &out->diff);
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

/* One record, from its options to its story. */
struct one {
	struct lm_options o;	/* the person's, for this record; its lists are not its own */
	struct lm_job job;
	struct lm_rules rules;
	struct outcome out;
	struct lm_story story;
};

static struct lm_err *decide(struct one *x)
{
	struct lm_job *job = &x->job;
	struct lm_rewrite_opts barriers = common_barriers(job);
	struct outcome *out = &x->out;
	struct lm_err *err;

	if (!barriers.barrier && !barriers.barrier_attr)
		job->plan_opts.allow_barriers = false;
	err = plan_and_rewrite(job, &x->rules, &barriers, out);
	err = plan_without_barriers(job, err, &barriers, &x->rules, out);
	x->story = lm_job_story(job);
	x->story.rules = &x->rules;
	x->story.plan = &out->plan;
	x->story.users = out->users;
	if (out->plan.verdict == LM_VERDICT_MOVED) {
		x->story.rewrite = &out->rewrite;
		x->story.verified = &out->verified;
		x->story.diff = lm_str_text(&out->diff);
		x->story.diff_len = out->diff.len;
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

static void start(struct one *x, const struct lm_options *o, const char *record)
{
	x->o = *o;
	x->o.record = record;
	lm_job_start(&x->job, &x->o);
}

/* text NULL: the header as it is; else what records before this one made of it. */
static struct lm_err *run(struct one *x, char *text, size_t len)
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
	struct one *x = LM_ARENA_NEW(s->arena, struct one);
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
static struct lm_err *whole_diff(const struct one *all, size_t nr, struct lm_str *diff)
{
	const struct one *last = &all[nr - 1];
	const char *text = last->story.rewrite ? last->out.rewrite.text : last->job.text;
	size_t len = last->story.rewrite ? last->out.rewrite.len : last->job.len;

	if (nr == 1) {
		if (last->story.diff)
			lm_str_add_bytes(diff, last->story.diff, last->story.diff_len);
		return NULL;
	}
	if (len == all[0].job.len && !memcmp(text, all[0].job.text, len))
		return NULL;
	return lm_diff(last->job.configs.header_in_root, all[0].job.text, all[0].job.len, text, len, diff);
}

static void add_words(const struct one *all, size_t nr, const struct lm_str *diff, struct lm_str *out)
{
	const struct lm_options *o = &all[0].o;
	struct lm_print_opts opts = { lm_options_color(o, STDERR_FILENO), o->verbose, 0 };
	struct lm_arena arena = { 0 };
	const struct lm_story **stories = LM_ARENA_ARRAY(&arena, const struct lm_story *, nr);

	for (size_t i = 0; i < nr; i++) {
		stories[i] = &all[i].story;
		if (!o->json && i)
			lm_str_add_char(out, '\n');
		if (!o->json)
			lm_report_text(stories[i], &opts, out);
	}
	if (o->json && nr == 1)
		lm_report_json(stories[0], out);
	else if (o->json)
		lm_reports_json(stories, nr, diff->len ? lm_str_text(diff) : NULL, diff->len, out);
	lm_arena_release(&arena);
}

/* Words to stderr, product to stdout or -o: the diff, or with --json the report that contains it. */
static struct lm_err *print(const struct one *all, size_t nr)
{
	const struct lm_options *o = &all[0].o;
	struct lm_str out = { 0 }, diff = { 0 };
	struct lm_err *err = whole_diff(all, nr, &diff);

	if (!err) {
		add_words(all, nr, &diff, &out);
		if (o->json)
			err = lm_file_write(o->output, out.text, out.len);
		else if (diff.len)
			err = lm_file_write(o->output, diff.text, diff.len);
		if (!err && !o->json)
			lm_job_say(&all[0].job, &out);
	}
	lm_str_release(&out);
	lm_str_release(&diff);
	return err;
}

static struct lm_err *run_all(const struct lm_options *o)
{
	size_t nr = o->records.nr;
	struct lm_arena arena = { 0 };
	struct one *all = LM_ARENA_ARRAY(&arena, struct one, nr);
	const char **order;
	char *text = NULL;
	size_t len = 0;
	struct lm_err *err = order_records(o, &arena, &order);

	for (size_t i = 0; i < nr && !err; i++) {
		start(&all[i], o, order[i]);
		err = run(&all[i], text, len);
		text = all[i].story.rewrite ? all[i].out.rewrite.text : all[i].job.text;
		len = all[i].story.rewrite ? all[i].out.rewrite.len : all[i].job.len;
	}
	if (!err)
		err = print(all, nr);
	for (size_t i = 0; i < nr; i++) {
		lm_str_release(&all[i].out.diff);
		lm_job_release(&all[i].job);
	}
	lm_arena_release(&arena);
	return err;
}

struct lm_err *lm_cmd_patch(int argc, char **argv)
{
	struct lm_options o;
	struct lm_err *err;

	lm_options_parse(&argp, "patch", argc, argv, &o);
	lm_progress_enable(o.verbose >= 0 && !o.json);
	err = run_all(&o);
	lm_options_release(&o);
	return err;
}
