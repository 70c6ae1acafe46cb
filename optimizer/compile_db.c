/*
 * compile_db.c - flags out of compile_commands.json
 * (https://clang.llvm.org/docs/JSONCompilationDatabase.html).  Door to jansson.
 */
#include "optimizer/base_flags.h"

#include "base/file.h"

#include <jansson.h>
#include <string.h>

static const char *string_of(const json_t *entry, const char *key)
{
	const char *text = json_string_value(json_object_get(entry, key));

	return text ? text : "";
}

/* Absolute, links resolved if the file exists. */
static const char *file_of(const json_t *entry, struct lm_arena *arena)
{
	const char *file = string_of(entry, "file");
	char *path = *file == '/' ? lm_arena_strdup(arena, file) :
				    lm_arena_printf(arena, "%s/%s", string_of(entry, "directory"), file);
	char *real = lm_real_path(path, arena);

	return real ? real : path;
}

static bool is_c(const char *file)
{
	size_t n = strlen(file);

	return n > 2 && !strcmp(file + n - 2, ".c");
}

/* How many folders two paths share. */
static size_t closeness(const char *a, const char *b)
{
	size_t nr = 0;

	for (size_t i = 0; a[i] && a[i] == b[i]; i++)
		nr += a[i] == '/';
	return nr;
}

static const json_t *choose(const json_t *db, const char *header, const char *source, struct lm_arena *arena)
{
	const json_t *best = NULL, *entry;
	size_t i, best_closeness = 0;

	json_array_foreach(db, i, entry) {
		const char *file = file_of(entry, arena);

		if (source && !strcmp(file, source))
			return entry;
		if (source || !is_c(file) || (best && closeness(file, header) <= best_closeness))
			continue;
		best = entry;
		best_closeness = closeness(file, header);
	}
	return best;
}

static void words_of(const json_t *entry, struct lm_flags *words, struct lm_arena *arena)
{
	const json_t *arguments = json_object_get(entry, "arguments"), *word;
	size_t i;

	if (!json_is_array(arguments)) {
		lm_flags_split(words, arena, string_of(entry, "command"));
		return;
	}
	json_array_foreach(arguments, i, word)
		if (json_is_string(word))
			lm_flags_add(words, arena, lm_arena_strdup(arena, json_string_value(word)));
}

static struct lm_err *take(const json_t *db, const char *path, const char *header, const char *source,
			   struct lm_arena *arena, struct lm_base_flags *out)
{
	const json_t *entry;
	struct lm_flags words = { 0 };
	struct lm_base_flags base = { 0 };

	if (!json_is_array(db))
		return lm_err_new(LM_ERR_INPUT, "%s: this is not a compilation database: no list at the top.", path);
	entry = choose(db, header, source, arena);
	if (!entry && source)
		return lm_err_new(LM_ERR_INPUT, "%s: has no entry for %s; give a --source that it has.", path, source);
	if (!entry)
		return lm_err_new(LM_ERR_INPUT, "%s: has no entry for a C file.", path);
	words_of(entry, &words, arena);
	base.dir = lm_real_path(string_of(entry, "directory"), arena);
	if (!words.nr || !base.dir)
		return lm_err_new(LM_ERR_INPUT, "%s: the entry for %s has no command or names a directory that does not exist; "
				  "make the database again.", path, file_of(entry, arena));
	lm_flags_strip_command(&base.flags, arena, &words);
	base.note = lm_arena_printf(arena, "flags of %s in %s", file_of(entry, arena), path);
	*out = base;
	return NULL;
}

struct lm_err *lm_compile_db_flags(const char *path, const char *header, const char *source, struct lm_arena *arena,
				   struct lm_base_flags *out)
{
	enum { MAX_DB = 1 << 30 };
	json_error_t where;
	char *text;
	size_t len;

	if (lm_is_dir(path))
		path = lm_arena_printf(arena, "%s/compile_commands.json", path);

	struct lm_err *err = lm_file_read(path, "compilation database", MAX_DB, arena, &text, &len);

	if (err)
		return err;

	json_t *db = json_loadb(text, len, 0, &where);

	if (!db)
		return lm_err_new(LM_ERR_INPUT, "%s:%d:%d: this is not JSON: %s.", path, where.line, where.column, where.text);
	err = take(db, path, header, source, arena, out);
	json_decref(db);
	return err;
}
