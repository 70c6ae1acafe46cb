/* cmd_show.c - `linemate show`: the layout in pahole's dress, with the heat beside it. */
#include "base/file.h"
#include "output/cli/commands.h"
#include "output/cli/job.h"

#include <unistd.h>

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		lm_options_init(state);
		return 0;
	case ARGP_KEY_END:
		lm_options_need_record(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &lm_common_argp, 0, NULL, 0 }, { 0 } };
static const struct argp argp = {
	NULL, parse, "[-- FLAGS...]",
	"Prints the layout of a record in each configuration as pahole does: offsets, sizes, cache lines, holes.  With "
	"a profile also the reads and writes of each member and the expected transfers of each line.\v",
	children, lm_options_help, NULL,
};

static struct lm_err *print(const struct lm_job *job)
{
	bool to_stdout = job->o->output[0] == '-' && !job->o->output[1];
	struct lm_print_opts opts = { to_stdout && lm_options_color(job->o, STDOUT_FILENO), job->o->verbose, 0 };
	struct lm_story story = lm_job_story(job);
	struct lm_str out = { 0 }, words = { 0 };
	struct lm_err *err;

	if (job->o->json)
		lm_show_json(&story, &out);
	for (uint32_t v = 0; !job->o->json && v < job->subject.nr_views; v++) {
		if (v)
			lm_str_add_char(&out, '\n');
		lm_show_text(&story, v, &opts, &out);
	}
	err = lm_file_write(job->o->output, out.text, out.len);
	if (!err && story.derived && !job->o->json) {
		lm_derived_report(story.derived, &opts, &words);
		lm_job_say(job, &words);
		lm_str_clear(&words);
	}
	if (!err && job->has_accesses && !job->o->json) {
		lm_str_add(&words, "Evidence\n");
		lm_evidence_report(&job->accesses, job->has_attribution ? &job->attribution : NULL, job->by_offset,
				   &words);
		lm_job_say(job, &words);
	}
	lm_str_release(&words);
	lm_str_release(&out);
	return err;
}

static struct lm_err *run(struct lm_job *job)
{
	struct lm_err *err = lm_job_read_header(job);

	if (!err)
		err = lm_job_parse(job, false);
	if (!err)
		err = lm_job_open_binary(job);
	if (!err)
		err = lm_job_read_profiles(job);
	if (!err)
		err = lm_job_join(job);
	if (!err)
		err = print(job);
	return err;
}

struct lm_err *lm_cmd_show(int argc, char **argv)
{
	struct lm_options o;
	struct lm_job job;
	struct lm_err *err;

	lm_options_parse(&argp, "show", argc, argv, &o);
	lm_job_start(&job, &o);
	err = run(&job);
	lm_job_release(&job);
	lm_options_release(&o);
	return err;
}
