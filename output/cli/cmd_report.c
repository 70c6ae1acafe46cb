/* cmd_report.c - `linemate report`: what patch decides, told as text, JSON or a page; the header stays as it is. */
#include "base/file.h"
#include "base/parallel.h"
#include "output/cli/commands.h"
#include "output/cli/decide.h"

#include <unistd.h>

enum { OPT_HTML = 0x300 };

/* What this verb has beyond the common options. */
struct report_options {
	struct lm_options common;	/* first: lm_options_parse() hands it to argp */
	bool html;
};

static const struct argp_option table[] = {
	{ "html", OPT_HTML, NULL, 0, "write one page for a browser: everything is in it, nothing is fetched", 4 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_options *r = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		r->common.several = true;
		lm_options_init(state);
		state->child_inputs[1] = state->input;
		return 0;
	case OPT_HTML:
		r->html = true;
		return 0;
	case ARGP_KEY_END:
		lm_options_need_record(state);
		lm_decide_check_several(state);
		lm_options_need_profile(state);
		if (r->html && r->common.json)
			argp_error(state, "--html and --json exclude each other: give one");
		if (r->html && r->common.records.nr > 1)
			argp_error(state, "a page is of one record: with --html give one --struct");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &lm_common_argp, 0, NULL, 0 }, { &lm_decide_argp, 0, NULL, 0 }, { 0 } };
static const struct argp argp = {
	table, parse, "[-- FLAGS...]",
	"Tells what linemate patch would do and why: plans, verifies and compares as it does, and changes nothing.  "
	"The report goes to stdout as text with the diff at its end, as JSON, or as a page.\v"
	"Examples:\n"
	"  linemate report --struct conn --header src/conn.h -p build \\\n"
	"    --binary build/server --profile perf.data --html -o conn.html\n"
	"  linemate report --struct conn --header src/conn.h -p build \\\n"
	"    --profile conn.access --json",
	children, lm_options_help, NULL,
};

/* The words, and behind them the diff: git apply and patch skip the words. */
static void add_text(const struct lm_options *o, const struct lm_decisions *d, struct lm_str *out)
{
	bool to_stdout = o->output[0] == '-' && !o->output[1];
	struct lm_print_opts opts = { to_stdout && lm_options_color(o, STDOUT_FILENO), o->verbose, 0 };

	lm_decisions_text(d, &opts, out);
	if (!d->diff.len)
		return;
	lm_str_add_char(out, '\n');
	lm_str_add_bytes(out, d->diff.text, d->diff.len);
}

static struct lm_err *print(const struct report_options *r, const struct lm_decisions *d)
{
	struct lm_str out = { 0 };
	struct lm_err *err;

	if (r->html)
		lm_report_html(&d->items[0].story, &out);
	else if (r->common.json)
		lm_decisions_json(d, &out);
	else
		add_text(&r->common, d, &out);
	err = lm_file_write(r->common.output, out.text, out.len);
	lm_str_release(&out);
	return err;
}

struct lm_err *lm_cmd_report(int argc, char **argv)
{
	struct report_options r = { .html = false };
	struct lm_options *o = &r.common;
	struct lm_decisions decisions;
	struct lm_err *err;

	lm_options_parse(&argp, "report", argc, argv, o);
	lm_progress_enable(o->verbose >= 0 && !o->json);
	err = lm_decide(o, &decisions);
	if (!err)
		err = print(&r, &decisions);
	lm_decisions_release(&decisions);
	lm_options_release(o);
	return err;
}
