/*
 * kbuild.c - the flags that a kernel build recorded: beside each object lies
 * .NAME.o.cmd with the command (savedcmd_, before 6.2 cmd_) and what it read
 * (deps_), both as make variables.
 */
#include "optimizer/base_flags.h"

#include "base/file.h"

#include <fts.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CMD = 16 << 20 };

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The value of the make variable PREFIX* in text; NULL if it is not there. */
static char *variable(const char *text, const char *prefix, struct lm_arena *arena)
{
	const char *at = text;

	while (at && strncmp(at, prefix, strlen(prefix))) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	at = at ? strstr(at, " := ") : NULL;
	if (!at)
		return NULL;
	at += strlen(" := ");

	const char *end = at;

	while (*end && (*end != '\n' || (end > at && end[-1] == '\\')))
		end++;
	return lm_arena_strndup(arena, at, (size_t)(end - at));
}

/* make's ways to write # and $. */
static const char *unescape(const char *value, struct lm_arena *arena)
{
	static const struct {
		const char *text;
		char is;
	} escapes[] = { { "$(pound)", '#' }, { "\\#", '#' }, { "$$", '$' } };
	char *copy = lm_arena_alloc(arena, strlen(value) + 1), *to = copy;

	while (*value) {
		size_t i = 0;

		while (i < 3 && strncmp(value, escapes[i].text, strlen(escapes[i].text)))
			i++;
		*to++ = i < 3 ? escapes[i].is : *value;
		value += i < 3 ? strlen(escapes[i].text) : 1;
	}
	return copy;
}

/* The flags in a .cmd file; false if it does not compile C for the kernel. */
static bool read_command(const char *text, struct lm_arena *arena, struct lm_flags *flags)
{
	const char *command = variable(text, "savedcmd_", arena), *source = variable(text, "source_", arena);
	struct lm_flags words = { 0 };

	if (!command)
		command = variable(text, "cmd_", arena);
	if (!command || !source || strlen(source) < 2 || strcmp(source + strlen(source) - 2, ".c"))
		return false;
	lm_flags_split(&words, arena, unescape(command, arena));
	/* Decompressor, real mode and the like: other flags than the kernel's own. */
	if (!lm_flags_have(&words, "-D__KERNEL__") || lm_flags_have(&words, "-m16") || lm_flags_have(&words, "-D_SETUP") ||
	    lm_flags_have(&words, "-D__DISABLE_EXPORTS"))
		return false;
	lm_flags_strip_command(flags, arena, &words);
	return true;
}

struct cmd_files {
	struct cmd_file {
		const char *path;
		size_t len;
		bool namesake;		/* .memcontrol.o.cmd for memcontrol.h */
	} *items;
	size_t nr, cap;
};

static int by_promise(const void *va, const void *vb)
{
	const struct cmd_file *a = va, *b = vb;

	if (a->namesake != b->namesake)
		return a->namesake ? -1 : 1;
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return strcmp(a->path, b->path);
}

/* Folders with programs of the build host or code that runs outside the kernel. */
static bool is_foreign(const char *name)
{
	static const char *const names[] = { "scripts", "tools", "Documentation", "usr", "boot", "vdso", "realmode",
					     "purgatory", "samples" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return name[0] == '.';
}

static struct cmd_files find_cmd_files(const char *dir, const char *header, struct lm_arena *arena)
{
	char *roots[] = { lm_arena_strdup(arena, dir), NULL };
	const char *base = base_name(header);
	char *mine = lm_arena_printf(arena, ".%.*s.o.cmd", (int)strcspn(base, "."), base);
	struct cmd_files files = { 0 };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);

	for (FTSENT *e; fts && (e = fts_read(fts));) {
		size_t n = e->fts_namelen;

		if (e->fts_info == FTS_D && e->fts_level > 0 && is_foreign(e->fts_name))
			fts_set(fts, e, FTS_SKIP);
		if (n < 7 || strcmp(e->fts_name + n - 6, ".o.cmd") || e->fts_name[0] != '.')
			continue;
		*LM_ARENA_PUSH(arena, files.items, files.nr, files.cap) = (struct cmd_file){
			.path = lm_arena_strdup(arena, e->fts_path),
			.len = e->fts_pathlen,
			.namesake = !strcmp(e->fts_name, mine),
		};
	}
	if (fts)
		fts_close(fts);
	if (files.nr)
		qsort(files.items, files.nr, sizeof(*files.items), by_promise);
	return files;
}

/* True if one of the words of deps is this very file. */
static bool depends_on(const char *dir, const char *deps, const char *header, struct lm_arena *arena)
{
	const char *base = base_name(header);

	while (*(deps += strspn(deps, " \t\n\\"))) {
		size_t n = strcspn(deps, " \t\n");
		char *word = lm_arena_strndup(arena, deps, n);

		deps += n;
		if (strcmp(base_name(word), base))
			continue;

		char *real = lm_real_path(*word == '/' ? word : lm_arena_printf(arena, "%s/%s", dir, word), arena);

		if (real && !strcmp(real, header))
			return true;
	}
	return false;
}

/* The same for a copy of the header elsewhere: the last two parts of the paths agree. */
static bool depends_on_namesake(const char *text, const char *header, struct lm_arena *arena)
{
	const char *slash = strrchr(header, '/');

	while (slash && slash > header && slash[-1] != '/')
		slash--;
	return slash && strstr(text, lm_arena_printf(arena, "/%s \\\n", slash));
}

/* Reads one .cmd file into scratch; *exact: its object includes the header itself. */
static bool try_cmd_file(const char *dir, const char *path, const char *header, struct lm_arena *scratch, bool *exact)
{
	struct lm_flags flags = { 0 };
	char *text, *deps;
	size_t len;
	struct lm_err *err = lm_file_read(path, ".cmd file", MAX_CMD, scratch, &text, &len);

	if (err) {	/* gone or unreadable: another one will do */
		lm_err_free(err);
		return false;
	}
	if (!strstr(text, base_name(header)) || !(deps = variable(text, "deps_", scratch)))
		return false;
	*exact = depends_on(dir, deps, header, scratch);
	return (*exact || depends_on_namesake(text, header, scratch)) && read_command(text, scratch, &flags);
}

static const char *find_object(const char *dir, const char *header, struct lm_arena *arena)
{
	struct cmd_files files = find_cmd_files(dir, header, arena);
	const char *found = NULL;

	for (size_t i = 0; i < files.nr; i++) {
		struct lm_arena scratch = { 0 };
		bool exact = false, usable = try_cmd_file(dir, files.items[i].path, header, &scratch, &exact);

		lm_arena_release(&scratch);
		if (usable && (exact || !found))
			found = files.items[i].path;
		if (usable && exact)
			break;
	}
	return found;
}

/* The .cmd file of a source, in the tree itself or in the object tree of another one. */
static const char *cmd_of_source(const char *dir, const char *source, struct lm_arena *arena)
{
	char *tree = lm_real_path(lm_arena_printf(arena, "%s/source", dir), arena);
	const char *roots[] = { dir, tree };

	for (size_t i = 0; i < 2; i++) {
		size_t n = roots[i] ? strlen(roots[i]) : 0;

		if (!n || strncmp(source, roots[i], n) || source[n] != '/')
			continue;

		const char *inside = source + n + 1, *base = base_name(inside), *dot = strrchr(base, '.');
		char *path = lm_arena_printf(arena, "%s/%.*s.%.*s.o.cmd", dir, (int)(base - inside), inside,
					     (int)(dot ? dot - base : (long)strlen(base)), base);

		if (lm_is_file(path))
			return path;
	}
	return NULL;
}

struct lm_err *lm_kbuild_flags(const char *dir, const char *header, const char *source, struct lm_arena *arena,
			       struct lm_base_flags *out)
{
	const char *path = source ? cmd_of_source(dir, source, arena) : find_object(dir, header, arena);
	struct lm_flags flags = { 0 };
	char *text;
	size_t len;

	if (!path)
		return source ? lm_err_new(LM_ERR_INPUT, "%s: no .cmd file for %s; build its object first.", dir, source) :
				lm_err_new(LM_ERR_INPUT, "%s: no object of this kernel tree includes %s; build one that does, "
					   "or give --source.", dir, header);

	struct lm_err *err = lm_file_read(path, ".cmd file", MAX_CMD, arena, &text, &len);

	if (err)
		return err;
	if (!read_command(text, arena, &flags))
		return lm_err_new(LM_ERR_INPUT, "%s: this does not record how a C file of the kernel is compiled; give another "
				  "--source.", path);
	*out = (struct lm_base_flags){
		.flags = flags, .dir = dir, .note = lm_arena_printf(arena, "flags of %s", path),
	};
	return NULL;
}
