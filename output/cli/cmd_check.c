/* cmd_check.c - `linemate check`: does the layout keep its promises? */
#include "base/file.h"
#include "output/broken.h"
#include "output/cli/commands.h"
#include "output/cli/job.h"

#include <string.h>

#define MAX_PROMISES (1u << 20)	/* bytes of a promise file */

enum { OPT_SARIF = 0x400 };

static const struct argp_option table[] = {
	{ "sarif", OPT_SARIF, NULL, 0, "write SARIF 2.1.0 instead, for code scanning; the lines then go to stderr", 4 },
	{ 0 },
};

static void check_use(const struct argp_state *state)
{
	const struct lm_options *o = state->input;

	if (!o->promises.nr)
		lm_options_need_record(state);
	if (o->promises.nr > 1 && o->header)
		argp_error(state, "--header names one header, but there are several promise files: let each name its own");
	if (o->profiles.nr)
		argp_error(state, "check judges layouts and takes no profile");
	if (o->sarif && o->json)
		argp_error(state, "give one of --json and --sarif");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct lm_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		lm_options_init(state);
		return 0;
	case OPT_SARIF:
		o->sarif = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!*arg)
			argp_error(state, "a promise file's name is empty");
		lm_options_add(o, &o->promises, arg);
		return 0;
	case ARGP_KEY_END:
		check_use(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &lm_common_argp, 0, NULL, 0 }, { 0 } };
static const struct argp argp = {
	table, parse, "[FILE...] [-- FLAGS...]",
	"Tells whether a record's layout keeps its promises in every configuration: those of promise files, and those in "
	"comments of the header.  Prints one line for each that is broken, and exits with 1.  What a file does not say "
	"(record, header, flags, configurations) comes from the options.\v",
	children, lm_options_help, NULL,
};

/* One file, or the header's comments alone. */
struct one {
	struct lm_options o;	/* the person's, completed by the file; its arena is not its own */
	struct lm_job job;
	struct lm_promises promises;
	struct lm_promise_verdict verdict;
};

/* ---- what the file says of the record and its flags ---- */

/* dir/path as a person would write it from here; as it is where that does not exist. */
static const char *from_here(struct lm_arena *arena, const char *dir, const char *path)
{
	char *real = *path == '/' ? NULL : lm_real_path(lm_arena_printf(arena, "%s/%s", dir, path), arena);
	char *here = lm_real_path(".", arena);
	size_t len = here ? strlen(here) : 0;

	if (!real)
		return path;
	if (len > 1 && !strncmp(real, here, len) && real[len] == '/')
		return real + len + 1;
	return here && !strcmp(real, here) ? "." : real;
}

static const char *directory_of(struct lm_arena *arena, const struct lm_promises *p)
{
	const char *slash = strrchr(p->path, '/');
	const char *own = slash ? lm_arena_strndup(arena, p->path, (size_t)(slash - p->path) + 1) : ".";

	if (!p->directory)
		return own;
	return *p->directory == '/' ? p->directory : lm_arena_printf(arena, "%s/%s", own, p->directory);
}

static void take_path(struct lm_arena *arena, const char *dir, const char *path, const char **to)
{
	if (!*to && path)
		*to = *path ? from_here(arena, dir, path) : path;
}

/* The lists of the file first, then those of the command line. */
static const char **chain(struct lm_arena *arena, const char *const *a, size_t nr_a, const char *const *b, size_t nr_b)
{
	const char **all = LM_ARENA_ARRAY(arena, const char *, nr_a + nr_b + 1);

	for (size_t i = 0; i < nr_a; i++)
		all[i] = a[i];
	for (size_t i = 0; i < nr_b; i++)
		all[nr_a + i] = b[i];
	return all;
}

static void complete(struct one *x)
{
	const struct lm_promises *p = &x->promises;
	struct lm_arena *arena = &x->job.arena;
	const char *dir = directory_of(arena, p);
	struct lm_options *o = &x->o;
	bool flags_given = o->compile_db || o->kbuild || o->kernel_headers;

	o->record = o->record ? o->record : p->record;
	take_path(arena, dir, p->header, &o->header);
	take_path(arena, dir, p->source, &o->source);
	take_path(arena, dir, p->root, &o->root);
	if (!flags_given) {
		take_path(arena, dir, p->compile_db, &o->compile_db);
		take_path(arena, dir, p->kbuild, &o->kbuild);
		take_path(arena, dir, p->kernel_headers, &o->kernel_headers);
	}
	if (p->nr_flags) {
		o->directory = dir;
		o->flags = chain(arena, p->flags, p->nr_flags, o->flags, o->nr_flags);
		o->nr_flags += p->nr_flags;
	}
	o->configs.items = chain(arena, p->configs, p->nr_configs, o->configs.items, o->configs.nr);
	o->configs.nr += p->nr_configs;
	o->kconfigs.items = chain(arena, p->kconfigs, p->nr_kconfigs, o->kconfigs.items, o->kconfigs.nr);
	o->kconfigs.nr += p->nr_kconfigs;
	for (size_t i = 0; i < p->nr_kconfigs; i++)
		o->kconfigs.items[i] = from_here(arena, dir, p->kconfigs[i]);
	o->line = p->line && !o->line_given ? p->line : o->line;
	o->base_align = o->base_align ? o->base_align : p->base_align;
}

static struct lm_err *read_file(struct one *x, const char *path)
{
	const struct lm_options *o = &x->o;
	struct lm_promises *p = &x->promises;
	char *text;
	size_t len;
	struct lm_err *err = lm_file_read(path, "promise file", MAX_PROMISES, &x->job.arena, &text, &len);

	if (!err)
		err = lm_promises_read(path, text, len, &x->job.arena, p);
	if (err)
		return err;
	if (o->record && p->record && strcmp(o->record, p->record))
		return lm_err_new(LM_ERR_INPUT, "%s:%u: holds promises of %s, not of %s; check --struct.", path, p->record_line,
				  p->record, o->record);
	if (!o->record && !p->record)
		return lm_err_new(LM_ERR_INPUT, "%s: says not of which record; write a line \"record NAME\", or give --struct.",
				  path);
	if (!o->header && !p->header)
		return lm_err_new(LM_ERR_INPUT, "%s: says not which header defines %s; write a line \"header FILE\", or give "
				  "--header.", path, o->record ? o->record : p->record);
	complete(x);
	return NULL;
}

/* ---- the steps ---- */

static struct lm_err *judge(struct one *x)
{
	const struct lm_promise_opts opts = { x->o.line, x->o.base_align };
	struct lm_job *job = &x->job;
	struct lm_err *err = lm_job_read_header(job);

	if (!err)
		err = lm_job_parse(job, false);
	if (!err)
		err = lm_job_open_binary(job);
	if (!err)
		err = lm_promises_read_comments(x->o.header, &job->body, &job->arena, &x->promises);
	if (err)
		return err;
	if (!x->promises.nr)
		return lm_err_new(LM_ERR_INPUT, "%s: nothing is promised of %s, neither in comments nor in a promise file; write "
				  "one by hand, or with linemate patch --promise.", x->o.header, job->title);
	return lm_promises_judge(&x->promises, &job->subject, NULL, &opts, &job->arena, &x->verdict);
}

static struct lm_err *check_one(const struct lm_options *o, const char *path, struct one *x)
{
	struct lm_err *err = NULL;

	x->o = *o;
	lm_job_start(&x->job, &x->o);
	if (path)
		err = read_file(x, path);
	return err ? err : judge(x);
}

static struct lm_checked checked_of(const struct one *x)
{
	struct lm_promise_opts opts = { x->o.line, x->o.base_align };
	struct lm_checked c = {
		.path = x->promises.path,
		.record = x->job.title,
		.header = x->o.header,
		.subject = &x->job.subject,
		.configs = &x->job.configs,
		.promises = &x->promises,
		.verdict = &x->verdict,
		.line = x->o.line,
		.base_fixed = true,
	};

	for (uint32_t v = 0; v < x->job.subject.nr_views; v++)
		c.base_fixed &= lm_promise_base_fixed(&x->job.subject.views[v], &opts);
	return c;
}

static struct lm_err *print(const struct lm_options *o, const struct one *all, size_t nr, struct lm_arena *arena)
{
	struct lm_checked *checked = LM_ARENA_ARRAY(arena, struct lm_checked, nr + 1);
	struct lm_str out = { 0 }, words = { 0 };
	struct lm_err *err;
	size_t broken = 0;

	for (size_t i = 0; i < nr; i++) {
		checked[i] = checked_of(&all[i]);
		broken += checked[i].verdict->nr;
	}
	if (o->json)
		lm_broken_json(checked, nr, &out);
	else if (o->sarif)
		lm_broken_sarif(checked, nr, &out);
	else
		lm_broken_text(checked, nr, &out);
	if (o->sarif)
		lm_broken_text(checked, nr, &words);
	err = lm_file_write(o->output, out.text, out.len);
	if (!err && !o->json) {
		lm_broken_summary(checked, nr, &words);
		lm_job_say(&all[0].job, &words);
	}
	lm_str_release(&words);
	lm_str_release(&out);
	return err || !broken ? err : lm_err_new(LM_ERR_FOUND, "%s", "");
}

static struct lm_err *run(const struct lm_options *o)
{
	size_t nr = o->promises.nr ? o->promises.nr : 1;
	struct lm_arena arena = { 0 };
	struct one *all = LM_ARENA_ARRAY(&arena, struct one, nr);
	struct lm_err *err = NULL;

	for (size_t i = 0; i < nr && !err; i++)
		err = check_one(o, o->promises.nr ? o->promises.items[i] : NULL, &all[i]);
	if (!err)
		err = print(o, all, nr, &arena);
	for (size_t i = 0; i < nr; i++)
		lm_job_release(&all[i].job);
	lm_arena_release(&arena);
	return err;
}

struct lm_err *lm_cmd_check(int argc, char **argv)
{
	struct lm_options o;
	struct lm_err *err;

	lm_options_parse(&argp, "check", argc, argv, &o);
	err = run(&o);
	lm_options_release(&o);
	return err;
}
