/* cmd_patch.c - `linemate patch`: profile + header -> a unified diff, and its evidence. */
#include "base/file.h"
#include "base/parallel.h"
#include "output/cli/commands.h"
#include "output/cli/decide.h"

#include <unistd.h>

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		lm_options_init(state);
		state->child_inputs[1] = state->input;
		return 0;
	case ARGP_KEY_END:
		lm_options_need_record(state);
		lm_options_need_profile(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &lm_common_argp, 0, NULL, 0 }, { &lm_decide_argp, 0, NULL, 0 }, { 0 } };
static const struct argp argp = {
	NULL, parse, "[-- FLAGS...]",
	"Finds the smallest reordering of a record's members that takes contended line mates apart, checks it with two "
	"compilers, and prints it as a unified diff for git apply or patch -p1.  The report goes to stderr.\v",
	children, lm_options_help, NULL,
};

/* Words to stderr, product to stdout or -o: the diff, or with --json the report that contains it. */
static struct lm_err *print(const struct lm_job *job, const struct lm_decision *decision)
{
	struct lm_story story = lm_decision_story(job, decision);
	struct lm_print_opts opts = { lm_options_color(job->o, STDERR_FILENO), job->o->verbose, 0 };
	struct lm_str out = { 0 };
	struct lm_err *err = NULL;

	if (job->o->json) {
		lm_report_json(&story, &out);
		err = lm_file_write(job->o->output, out.text, out.len);
	} else {
		if (story.diff)
			err = lm_file_write(job->o->output, story.diff, story.diff_len);
		lm_report_text(&story, &opts, &out);
		if (!err)
			lm_job_say(job, &out);
	}
	lm_str_release(&out);
	return err;
}

struct lm_err *lm_cmd_patch(int argc, char **argv)
{
	struct lm_options o;
	struct lm_job job;
	struct lm_decision decision = { 0 };
	struct lm_err *err;

	lm_options_parse(&argp, "patch", argc, argv, &o);
	lm_progress_enable(o.verbose >= 0 && !o.json);
	lm_job_start(&job, &o);
	err = lm_decide(&job, &decision);
	if (!err)
		err = print(&job, &decision);
	lm_decision_release(&decision);
	lm_job_release(&job);
	lm_options_release(&o);
	return err;
}
