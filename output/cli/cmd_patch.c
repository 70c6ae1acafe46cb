/* cmd_patch.c - `linemate patch`: profile + header -> a unified diff, and its evidence. */
#include "base/file.h"
#include "base/parallel.h"
#include "output/cli/commands.h"
#include "output/cli/decide.h"

#include <string.h>
#include <unistd.h>

enum { OPT_PROMISE = 0x300 };

static const struct argp_option table[] = {
	{ "promise", OPT_PROMISE, "FILE", 0, "write what the new layout promises to FILE, for linemate check", 4 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct lm_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		o->several = true;
		lm_options_init(state);
		state->child_inputs[1] = state->input;
		return 0;
	case OPT_PROMISE:
		if (!*arg || !strcmp(arg, "-"))
			argp_error(state, "--promise wants the path of a file");
		o->promise = arg;
		return 0;
	case ARGP_KEY_END:
		lm_options_need_record(state);
		lm_decide_check_several(state);
		lm_options_need_profile(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &lm_common_argp, 0, NULL, 0 }, { &lm_decide_argp, 0, NULL, 0 }, { 0 } };
static const struct argp argp = {
	table, parse, "[-- FLAGS...]",
	"Finds the smallest reordering of a record's members that takes contended line mates apart, checks it with two "
	"compilers, and prints it as a unified diff for git apply or patch -p1.  The report goes to stderr.\v",
	children, lm_options_help, NULL,
};

/* Words to stderr, product to stdout or -o: the diff, or with --json the report that contains it. */
static struct lm_err *print(const struct lm_options *o, const struct lm_decisions *d)
{
	struct lm_print_opts opts = { lm_options_color(o, STDERR_FILENO), o->verbose, 0 };
	struct lm_str out = { 0 };
	struct lm_err *err = NULL;

	if (o->json) {
		lm_decisions_json(d, &out);
		err = lm_file_write(o->output, out.text, out.len);
	} else {
		if (d->diff.len)
			err = lm_file_write(o->output, d->diff.text, d->diff.len);
		lm_decisions_text(d, &opts, &out);
		if (!err)
			lm_job_say(&d->items[0].job, &out);
	}
	lm_str_release(&out);
	return err;
}

struct lm_err *lm_cmd_patch(int argc, char **argv)
{
	struct lm_decisions decisions;
	struct lm_options o;
	struct lm_err *err;

	lm_options_parse(&argp, "patch", argc, argv, &o);
	lm_progress_enable(o.verbose >= 0 && !o.json);
	err = lm_decide(&o, &decisions);
	if (!err)
		err = print(&o, &decisions);
	lm_decisions_release(&decisions);
	lm_options_release(&o);
	return err;
}
