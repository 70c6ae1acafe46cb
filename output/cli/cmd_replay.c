/* cmd_replay.c - `linemate replay`: the accesses of a profile, played through caches for one layout or two. */
#include "base/file.h"
#include "base/parallel.h"
#include "output/cli/after.h"
#include "output/cli/commands.h"
#include "output/replay_report.h"

#include <string.h>

enum { OPT_AFTER = 0x300, OPT_ORDER };

/* What this command asks beside what all do. */
struct own {
	struct lm_options o;	/* first: the parsers of all commands know this only */
	const char *after;
	const char *order;	/* NULL: what the profile allows */
};

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "The replay:", 3 },
	{ "after", OPT_AFTER, "FILE", 0, "the header's new text: replays both layouts", 3 },
	{ "order", OPT_ORDER, "WHICH", 0,
	  "recorded: as time stamps or the trace have it; turns: CPUs in turn, one access each; random: drawn by their "
	  "rates; default: what the profile allows, in the order turns for a trace without times, recorded, random", 3 },
	{ 0 },
};

static const char *order_word(const struct argp_state *state, const char *arg)
{
	if (strcmp(arg, "recorded") && strcmp(arg, "turns") && strcmp(arg, "random"))
		argp_error(state, "--order wants recorded, turns or random, not '%s'", arg);
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
		if (!*arg)
			argp_error(state, "--after wants a path, not an empty one");
		own->after = arg;
		return 0;
	case OPT_ORDER:
		own->order = order_word(state, arg);
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
	"Plays the accesses of a profile through a model of the CPUs' caches, and prints the misses and upgrades of each "
	"line, beside what the cost model expects.  With --after also for the header's new text, so that a patch can be "
	"judged by another means than the one that found it.\v",
	children, lm_options_help, NULL,
};

/* ---- the order ---- */

struct replay {
	struct lm_job job;
	struct lm_after after;
	struct lm_trace trace;
	const struct own *own;
	const char *order, *why;
};

/* Why the profile has no order to replay; NULL: it has one. */
static const char *why_no_order(const struct replay *r)
{
	if (r->own->o.profiles.nr > 1)
		return "several profiles have no common order";
	if (!r->trace.nr)
		return "the profile does not tell which access came first";
	if (r->trace.unordered)
		return "some samples of the profile have no time or no CPU";
	return NULL;
}

static struct lm_err *choose_order(struct replay *r)
{
	const char *no_order = why_no_order(r), *asked = r->own->order;

	if (no_order && asked && strcmp(asked, "random"))
		return lm_err_new(LM_ERR_INPUT, "%s: cannot be replayed in order: %s; give --order random, or one profile "
				  "with data addresses, times and CPUs (perf mem record; perf script -F +addr,+time,+cpu)",
				  r->own->o.profiles.items[0], no_order);
	r->order = asked ? asked : no_order ? "random" : r->trace.by_cpu ? "turns" : "recorded";
	if (asked)
		r->why = "as asked for";
	else if (no_order)
		r->why = no_order;
	else
		r->why = r->trace.by_cpu ? "an emulator recorded it: order is known on each CPU only" : "by time";
	lm_trace_settle(&r->trace, !strcmp(r->order, "turns"));
	return NULL;
}

/* ---- one layout ---- */

/* Where the trace's kinds, recorded in the base configuration, lie in another record. */
static struct lm_replay_place *find_places(struct replay *r, const struct lm_record *to)
{
	struct lm_replay_place *places = LM_ARENA_ARRAY(&r->job.arena, struct lm_replay_place, r->trace.nr_kinds + 1);
	const struct lm_record *from = r->job.subject.views[0].rec;
	struct lm_place p;

	for (size_t k = 0; k < r->trace.nr_kinds; k++)
		if (lm_join_place(from, r->trace.kinds[k].offset, to, &p))
			places[k] = (struct lm_replay_place){ true, to->fields[p.field].bit_offset / 8 + p.offset };
	return places;
}

static uint64_t *declared_offsets(const struct lm_record *rec, struct lm_arena *arena)
{
	uint64_t *offsets = LM_ARENA_ARRAY(arena, uint64_t, rec->nr_fields);

	for (uint32_t f = 0; f < rec->nr_fields; f++)
		offsets[f] = rec->fields[f].bit_offset;
	return offsets;
}

static void play_side(struct replay *r, const struct lm_subject *s, const struct lm_usage *u, uint32_t v,
		      struct lm_replay_side *side)
{
	const struct lm_view *view = &s->views[v];
	uint32_t line = r->own->o.line;
	struct lm_replay played;

	if (!strcmp(r->order, "random"))
		lm_replay_random(u, v, declared_offsets(view->rec, &r->job.arena), line, &r->job.arena, &played);
	else
		lm_replay_trace(&r->trace, find_places(r, view->rec), line, &r->job.arena, &played);
	lm_replay_side_make(view, u, v, line, &played, &r->job.arena, side);
}

/* ---- the steps ---- */

static double all_accesses(const struct replay *r)
{
	double sum = 0;

	if (strcmp(r->order, "random"))
		return (double)r->trace.nr;
	for (size_t i = 0; i < r->job.accesses.nr; i++) {
		const struct lm_access *a = &r->job.accesses.rows[i];

		sum += (double)(a->reads > a->writes ? a->reads : a->writes);
	}
	return sum;
}

static struct lm_err *print(struct replay *r)
{
	struct lm_job *job = &r->job;
	struct lm_replay_story story = {
		.record = job->title, .after = r->own->after, .line = r->own->o.line, .nr_cpus = job->usage.nr_cpus,
		.nr_objects = job->usage.nr_objects, .accesses = all_accesses(r), .order = r->order, .why_order = r->why,
		.sampled = job->usage.worst != LM_EVIDENCE_EXACT, .nr_configs = job->configs.nr,
	};
	struct lm_str out = { 0 };
	struct lm_err *err;

	story.configs = LM_ARENA_ARRAY(&job->arena, struct lm_replay_config, story.nr_configs);
	for (uint32_t v = 0; v < job->subject.nr_views; v++) {
		lm_progress("replaying", v, job->subject.nr_views);
		story.configs[v].name = job->subject.views[v].config;
		if (job->subject.views[v].rec->align < story.line && r->own->o.base_align < story.line)
			story.base_open = true;
		play_side(r, &job->subject, &job->usage, v, &story.configs[v].before);
		if (r->own->after)
			play_side(r, &r->after.version.subject, &r->after.version.usage, v, &story.configs[v].after);
	}
	lm_progress("replaying", 1, 1);
	if (r->own->o.json)
		lm_replay_json(&story, &out);
	else
		lm_replay_text(&story, r->own->o.verbose, &out);
	err = lm_file_write(r->own->o.output, out.text, out.len);
	lm_str_release(&out);
	return err;
}

static struct lm_err *run(struct replay *r)
{
	struct lm_err *err = lm_job_read_header(&r->job);

	if (!err)
		err = lm_job_parse(&r->job, false);
	if (!err && r->own->after)
		err = lm_after_parse(&r->after, &r->job, r->own->after);
	if (!err)
		err = lm_job_open_binary(&r->job);
	if (!err && r->own->o.profiles.nr == 1)
		r->job.trace = &r->trace;
	if (!err)
		err = lm_job_read_profiles(&r->job);
	if (!err)
		err = choose_order(r);
	if (!err)
		err = lm_job_join(&r->job);
	if (!err && r->own->after)
		err = lm_after_join(&r->after, &r->job);
	return err ? err : print(r);
}

struct lm_err *lm_cmd_replay(int argc, char **argv)
{
	struct own own = { .after = NULL };
	struct replay r = { .own = &own };
	struct lm_err *err;

	lm_options_parse(&argp, "replay", argc, argv, &own.o);
	lm_progress_enable(own.o.verbose >= 0 && !own.o.json);
	lm_job_start(&r.job, &own.o);
	err = run(&r);
	lm_trace_release(&r.trace);
	lm_after_release(&r.after);
	lm_job_release(&r.job);
	lm_options_release(&own.o);
	return err;
}
