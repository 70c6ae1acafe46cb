/* cmd_rank.c - `linemate rank`: which records of a program are worth a look. */
#include "base/file.h"
#include "base/parallel.h"
#include "output/cli/commands.h"
#include "output/cli/options.h"
#include "output/rank.h"
#include "profiles/reader.h"

enum { DEFAULT_TOP = 20, MAX_TOP = 1000000, OPT_TOP = 0x400 };

struct own {
	struct lm_options o;	/* first: the parsers of all commands know this only */
	uint32_t top;
};

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "The ranking:", 3 },
	{ "top", OPT_TOP, "N", 0, "rows at most; default: 20", 3 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct own *own = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		lm_options_init(state);
		return 0;
	case OPT_TOP:
		own->top = lm_options_number(state, "--top", arg, 1, MAX_TOP);
		return 0;
	case ARGP_KEY_END:
		lm_options_need_profile(state);
		if (!own->o.binary)
			argp_error(state, "no binary is named: give --binary FILE, the program that was profiled, built with -g");
		if (own->o.header || own->o.record)
			argp_error(state, "rank looks at every record of the binary: give neither --struct nor --header");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &lm_common_argp, 0, NULL, 0 }, { 0 } };
static const struct argp argp = {
	table, parse, "",
	"Ranks all records of a program's debug info that a profile's samples touch: by the transfers that another order "
	"of their members could remove at most.  Needs samples (perf.data, perf script text, lackey traces): their code "
	"says which record each one touches.\v",
	children, lm_options_help, NULL,
};

static struct lm_err *read_samples(const struct lm_options *o, struct lm_samples *samples)
{
	const struct lm_reader_opts opts = { 0 };
	struct lm_err *err = NULL;

	for (size_t i = 0; i < o->profiles.nr && !err; i++) {
		if (o->weights[i] != 1)
			err = lm_err_new(LM_ERR_USAGE, "%s: rank counts samples: give no weight", o->profiles.items[i]);
		else
			err = lm_profile_read_samples(o->profiles.items[i], &opts, samples);
	}
	return err;
}

static struct lm_err *print(const struct own *own, const struct lm_rank *rank)
{
	struct lm_str out = { 0 };
	struct lm_err *err;

	if (own->o.json)
		lm_rank_json(rank, &out);
	else
		lm_rank_text(rank, own->o.verbose > 0 ? 0 : own->top, &out);
	err = lm_file_write(own->o.output, out.text, out.len);
	lm_str_release(&out);
	return err;
}

static struct lm_err *run(const struct own *own, struct lm_debuginfo *bin, struct lm_samples *samples)
{
	struct lm_attributed_all all;
	struct lm_arena arena = { 0 };
	struct lm_rank rank;
	struct lm_err *err = lm_attribute_all(bin, samples, own->o.force, &all);

	if (!err && !all.nr)
		err = lm_err_new(LM_ERR_INPUT, "%s: none of the profile's samples is an access to one of its records; give "
				 "the program that was profiled, built with -g", own->o.binary);
	if (!err)
		err = lm_rank_make(bin, &all, own->o.line, own->o.cpus, &arena, &rank);
	if (!err)
		err = print(own, &rank);
	lm_attributed_release(&all);
	lm_arena_release(&arena);
	return err;
}

struct lm_err *lm_cmd_rank(int argc, char **argv)
{
	struct own own = { .top = DEFAULT_TOP };
	struct lm_debuginfo *bin = NULL;
	struct lm_samples samples;
	struct lm_err *err;

	lm_options_parse(&argp, "rank", argc, argv, &own.o);
	lm_progress_enable(own.o.verbose >= 0 && !own.o.json);
	lm_samples_init(&samples);
	err = read_samples(&own.o, &samples);
	if (!err)
		err = lm_debuginfo_open(own.o.binary, &bin);
	if (!err)
		err = run(&own, bin, &samples);
	lm_debuginfo_close(bin);
	lm_samples_release(&samples);
	lm_options_release(&own.o);
	return err;
}
