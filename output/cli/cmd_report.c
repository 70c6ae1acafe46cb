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
		lm_options_init(state);
		state->child_inputs[1] = state->input;
		return 0;
	case OPT_HTML:
		r->html = true;
		return 0;
	case ARGP_KEY_END:
		lm_options_need_record(state);
		lm_options_need_profile(state);
		if (r->html && r->common.json)
			argp_error(state, "--html and --json exclude each other: give one");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &lm_common_argp, 0, NULL, 0 }, { &lm_decide_argp, 0, NULL, 0 }, { 0 } };
static const struct argp argp = {
	table, parse, "[-- FLAGS...]",
	"Tells what linemate patch would do and why: plans, verifies and compares as it does, and changes nothing.  "
	"The report goes to stdout as text with the diff at its end, as JSON, or as a page.\v",
	children, lm_options_help, NULL,
};

/* The words, and behind them the diff: git apply and patch skip the words. */
static void add_text(const struct lm_options *o, const struct lm_story *story, struct lm_str *out)
{
	bool to_stdout = o->output[0] == '-' && !o->output[1];
	struct lm_print_opts opts = { to_stdout && lm_options_color(o, STDOUT_FILENO), o->verbose, 0 };

	lm_report_text(story, &opts, out);
	if (!story->diff)
		return;
	lm_str_add_char(out, '\n');
	lm_str_add_bytes(out, story->diff, story->diff_len);
}

static struct lm_err *print(const struct report_options *r, const struct lm_story *story)
{
	struct lm_str out = { 0 };
	struct lm_err *err;

	if (r->html)
		lm_report_html(story, &out);
	else if (r->common.json)
		lm_report_json(story, &out);
	else
		add_text(&r->common, story, &out);
	err = lm_file_write(r->common.output, out.text, out.len);
	lm_str_release(&out);
	return err;
}

struct lm_err *lm_cmd_report(int argc, char **argv)
{
	struct report_options r = { .html = false };
	struct lm_options *o = &r.common;
	struct lm_decision decision = { 0 };
	struct lm_story story;
	struct lm_job job;
	struct lm_err *err;

	lm_options_parse(&argp, "report", argc, argv, o);
	lm_progress_enable(o->verbose >= 0 && !o->json);
	lm_job_start(&job, o);
	err = lm_decide(&job, &decision);
	if (!err) {
		story = lm_decision_story(&job, &decision);
		err = print(&r, &story);
	}
	lm_decision_release(&decision);
	lm_job_release(&job);
	lm_options_release(o);
	return err;
}
