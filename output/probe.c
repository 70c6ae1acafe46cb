/* probe.c - compile, read the debug info back. */
#include "output/probe.h"

#include "base/file.h"
#include "output/scratch.h"

#include <ctype.h>
#include <string.h>

enum { SECONDS = 600, MAX_ERRORS = 64 << 10 };

/*
 * What would write beside the object, or leave its debug info elsewhere or
 * incomplete.  None changes a layout.  A name with a star is a prefix; one with
 * a blank takes the next argument along.
 */
static const char *const unwanted[] = {
	"-M", "-MM", "-MD", "-MMD", "-MG", "-MP", "-MF ", "-MT ", "-MQ ", "-MJ ", "-Wp,-M*", "-save-temps*",
	"--save-temps*", "-fdump-*", "-ftime-trace*", "-fstack-usage", "-fcallgraph-info*", "--coverage",
	"-ftest-coverage", "-gsplit-dwarf*", "-femit-struct-debug-*", "-fdebug-types-section", "-flto*", "-Werror*",
	"-fsyntax-only", "-E", "-S",
};

/* Behind the person's flags, so that they win. */
static const char *const common_flags[] = { "-g", "-gz=none", "-w", "-c" };
/* Or clang would leave out records that it thinks another unit describes. */
static const char *const clang_flags[] = { "-fstandalone-debug", "-Qunused-arguments" };

/* How many arguments from args[0] on are not wanted. */
static size_t skip(const char *const *args, size_t nr)
{
	for (size_t i = 0; i < sizeof(unwanted) / sizeof(*unwanted); i++) {
		const char *word = unwanted[i];
		size_t len = strlen(word) - 1;

		if (word[len] == ' ' && !strncmp(args[0], word, len))
			return args[0][len] || nr < 2 ? 1 : 2;
		if (word[len] == '*' ? !strncmp(args[0], word, len) : !strcmp(args[0], word))
			return 1;
	}
	return 0;
}

/* The argument with the mirror's paths and the real file of edits. */
static char *translate(const struct lm_probe_request *req, const char *arg, struct lm_arena *arena)
{
	char *text = req->mirror ? lm_mirror_path(req->mirror, arg, arena) : lm_arena_strdup(arena, arg);
	const char *virtual = req->edits ? req->config->edits_path : NULL;
	char *at = virtual && *virtual ? strstr(text, virtual) : NULL;

	if (!at)
		return text;
	return lm_arena_printf(arena, "%.*s%s%s", (int)(at - text), text, req->edits, at + strlen(virtual));
}

static char **make_argv(const struct lm_probe_request *req, const char *object, const char *source,
			struct lm_arena *arena)
{
	const char *const *args = req->is_clang ? req->config->clang_args : req->config->gcc_args;
	size_t nr_args = req->is_clang ? req->config->nr_clang_args : req->config->nr_gcc_args, nr = 0;
	char **argv = LM_ARENA_ARRAY(arena, char *, nr_args + 16);
	const char *const tail[] = { "-o", object, "-x", "c", source };

	argv[nr++] = lm_arena_strdup(arena, req->compiler);
	for (size_t i = 0; i < nr_args; i++) {
		size_t away = skip(args + i, nr_args - i);

		if (away)
			i += away - 1;
		else
			argv[nr++] = translate(req, args[i], arena);
	}
	for (size_t i = 0; i < sizeof(common_flags) / sizeof(*common_flags); i++)
		argv[nr++] = lm_arena_strdup(arena, common_flags[i]);
	for (size_t i = 0; req->is_clang && i < sizeof(clang_flags) / sizeof(*clang_flags); i++)
		argv[nr++] = lm_arena_strdup(arena, clang_flags[i]);
	for (size_t i = 0; i < sizeof(tail) / sizeof(*tail); i++)
		argv[nr++] = lm_arena_strdup(arena, tail[i]);
	return argv;
}

/* The unit with a variable of the record behind it, so that the debug info must describe it. */
static char *probe_text(const struct lm_probe_request *req, struct lm_arena *arena)
{
	struct lm_configs unit = *req->configs;
	const char *kind = req->record->is_typedef_name ? "" : req->record->is_union ? "union " : "struct ";
	const char *text;

	if (req->header_alone)
		unit.source = NULL;
	text = lm_config_main_text(&unit, arena);
	if (req->mirror)
		text = lm_mirror_path(req->mirror, text, arena);
	return lm_arena_printf(arena, "%s\n%s%s linemate_probe;\n", text, kind, req->record->name);
}

/* The first line that speaks of an error, else the first line. */
static const char *first_complaint(const struct lm_probe_request *req, const char *errors, struct lm_arena *arena)
{
	const char *at = strstr(errors, "error:"), *line = at ? at : errors;
	char *text;

	while (line > errors && line[-1] != '\n')
		line--;
	text = lm_arena_strndup(arena, line, strcspn(line, "\n"));
	if (!req->mirror)
		return text;
	return lm_mirror_path(&(struct lm_mirror){ .root = req->mirror->dir, .dir = req->mirror->root }, text, arena);
}

static struct lm_err *read_back(const struct lm_probe_request *req, const char *object, struct lm_probe *probe)
{
	struct lm_err *err = lm_debuginfo_open(object, &probe->bin), *bug;

	if (!err)
		err = lm_debuginfo_record(probe->bin, req->record->name, &probe->record);
	if (!err && probe->record)
		return NULL;
	bug = lm_err_new(LM_ERR_BUG, "Configuration \"%s\": %s compiled the header, but its debug info does not describe "
			 "%s%s%s; please report this.", req->config->name, req->compiler, req->record->name,
			 err ? ": " : "", err ? err->msg : "");
	lm_err_free(err);
	lm_debuginfo_close(probe->bin);
	probe->bin = NULL;
	return bug;
}

struct lm_err *lm_probe_run(const struct lm_probe_request *req, struct lm_arena *arena, struct lm_probe *out)
{
	char *source = lm_arena_printf(arena, "%s/%s.c", req->dir, req->name);
	char *object = lm_arena_printf(arena, "%s/%s.o", req->dir, req->name);
	char *text = probe_text(req, arena);
	const char *cwd = translate(req, req->config->dir, arena);
	struct lm_probe probe = { .complaint = "" };
	struct lm_str errors = { 0 };
	struct lm_err *err = lm_scratch_write(source, text, strlen(text));

	if (err)
		return err;
	lm_run(make_argv(req, object, source, arena), cwd, SECONDS, MAX_ERRORS, &errors, &probe.status);
	if (probe.status)
		probe.complaint = first_complaint(req, lm_str_text(&errors), arena);
	else
		err = read_back(req, object, &probe);
	lm_str_release(&errors);
	if (!err)
		*out = probe;
	return err;
}

char *lm_probe_version(const char *producer, struct lm_arena *arena)
{
	for (const char *p = producer; *p; p++) {
		size_t len = strspn(p, "0123456789.");

		if (!isdigit((unsigned char)*p))
			continue;
		if (memchr(p, '.', len))
			return lm_arena_strndup(arena, p, len);
		p += len - 1;
	}
	return lm_arena_strdup(arena, "");
}
