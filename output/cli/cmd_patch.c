/* cmd_patch.c - `linemate patch`: profile + header -> a unified diff, and its evidence. */
#include "base/file.h"
#include "output/cli/commands.h"
#include "output/cli/decide.h"
#include "output/cli/mail.h"

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
		state->child_inputs[1] = state->child_inputs[2] = state->input;
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

static const struct argp_child children[] = {
	{ &lm_common_argp, 0, NULL, 0 }, { &lm_decide_argp, 0, NULL, 0 }, { &lm_mail_argp, 0, NULL, 0 }, { 0 },
};
static const struct argp argp = {
	table, parse, "[-- FLAGS...]",
	"Finds the smallest reordering of a record's members that takes contended line mates apart, checks it with two "
	"compilers, and prints it as a unified diff for git apply or patch -p1.  The report goes to stderr.\v"
	"Examples:\n"
	"  linemate patch --struct conn --header src/conn.h -p build \\\n"
	"    --binary build/server --profile perf.data -o conn.patch\n"
	"  linemate patch --struct conn --header src/conn.h --profile conn.access \\\n"
	"    --comment -- -Iinclude\n"
	"  linemate patch --struct mem_cgroup --header include/linux/memcontrol.h \\\n"
	"    --kbuild . --config v1:+CONFIG_MEMCG_V1 --binary vmlinux \\\n"
	"    --profile perf.data --mail --trailer 'Signed-off-by: A. B <a@b.org>'",
	children, lm_options_help, NULL,
};

/* What git am, or git apply and patch, take. */
static struct lm_err *write_patch(const struct lm_options *o, const struct lm_decisions *d, const struct lm_mail_head *head)
{
	struct lm_str mail = { 0 };
	struct lm_err *err;

	if (!o->mail)
		return lm_file_write(o->output, d->diff.text, d->diff.len);
	err = lm_report_mail(&d->items[0].story, d->items[0].job.configs.header_in_root, head, &mail);
	if (!err)
		err = lm_file_write(o->output, mail.text, mail.len);
	lm_str_release(&mail);
	return err;
}

/* Words to stderr, product to stdout or -o: the diff or mail, or with --json the report that contains the diff. */
static struct lm_err *print(const struct lm_options *o, const struct lm_decisions *d, const struct lm_mail_head *head)
{
	struct lm_print_opts opts = { lm_options_color(o, STDERR_FILENO), o->verbose, 0 };
	struct lm_str out = { 0 };
	struct lm_err *err = NULL;

	if (o->json) {
		lm_decisions_json(d, &out);
		err = lm_file_write(o->output, out.text, out.len);
	} else {
		if (d->diff.len)
			err = write_patch(o, d, head);
		lm_decisions_text(d, &opts, &out);
		if (!err)
			lm_job_say(&d->items[0].job, &out);
	}
	lm_str_release(&out);
	return err;
}

static struct lm_err *run(struct lm_options *o, struct lm_decisions *d)
{
	const char *header = lm_real_path(o->header, &o->arena);
	struct lm_mail_head head = { 0 };
	/* Before all the work: an author that is missing should not be told behind it. */
	struct lm_err *err = lm_mail_head_make(o, header ? header : ".", &o->arena, &head);

	if (!err)
		err = lm_decide(o, d);
	/* A header in a package is found on the way only. */
	if (!err && !header)
		err = lm_mail_head_make(o, d->items[0].job.configs.header, &o->arena, &head);
	return err ? err : print(o, d, &head);
}

struct lm_err *lm_cmd_patch(int argc, char **argv)
{
	struct lm_decisions decisions = { 0 };
	struct lm_options o;
	struct lm_err *err;

	lm_options_parse(&argp, "patch", argc, argv, &o);
	err = run(&o, &decisions);
	lm_decisions_release(&decisions);
	lm_options_release(&o);
	return err;
}
