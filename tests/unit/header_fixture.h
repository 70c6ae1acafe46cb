/* header_fixture.h - a header in a temporary folder, read the way the program reads one. */
#ifndef LM_TESTS_HEADER_FIXTURE_H
#define LM_TESTS_HEADER_FIXTURE_H

#include "base/arena.h"
#include "base/file.h"
#include "optimizer/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MAX_SOURCES = 4 };

/* One header and what was made of it.  fixture_open(), fixture_parse() ..., fixture_close(). */
struct fixture {
	struct lm_arena arena;
	char *dir;
	const char *header;		/* DIR/x.h */
	const char *text;
	struct lm_config_request request;
	struct lm_configs configs;
	struct lm_source sources[MAX_SOURCES];
};

static inline const char *fixture_write(struct fixture *f, const char *name, const char *text)
{
	char *path = lm_arena_printf(&f->arena, "%s/%s", f->dir, name);
	char *dir = lm_arena_strndup(&f->arena, path, (size_t)(strrchr(path, '/') - path));

	assert_null(lm_make_dirs(dir));
	assert_null(lm_file_write(path, text, strlen(text)));
	return path;
}

static inline void fixture_open(struct fixture *f, const char *text)
{
	char *dir;

	*f = (struct fixture){ .text = text };
	assert_null(lm_temp_dir(&f->arena, &dir));
	f->dir = lm_real_path(dir, &f->arena);
	f->header = fixture_write(f, "x.h", text);
	f->request.header = f->header;
}

static inline void fixture_close(struct fixture *f)
{
	for (size_t i = 0; i < MAX_SOURCES; i++)
		lm_source_release(&f->sources[i]);
	lm_remove_tree(f->dir);
	lm_arena_release(&f->arena);
}

/* Blank-separated flags. */
static inline void fixture_flags(struct fixture *f, const char *flags)
{
	const char **items = LM_ARENA_ARRAY(&f->arena, const char *, strlen(flags) + 1);
	char *copy = lm_arena_strdup(&f->arena, flags);
	size_t nr = 0;

	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		items[nr++] = word;
	f->request.flags = items;
	f->request.nr_flags = nr;
}

static inline struct lm_err *fixture_try(struct fixture *f, const char *record)
{
	struct lm_source_request req = {
		.configs = &f->configs, .record = record, .text = f->text, .len = strlen(f->text), .want_hazards = true,
	};
	struct lm_err *err = lm_configs_make(&f->request, &f->arena, &f->configs);

	if (err)
		return err;
	assert_true(f->configs.nr <= MAX_SOURCES);
	for (size_t i = 0; i < MAX_SOURCES; i++)
		lm_source_release(&f->sources[i]);
	return lm_source_parse_all(&req, f->sources);
}

static inline const struct lm_record *fixture_parse(struct fixture *f, const char *record)
{
	struct lm_err *err = fixture_try(f, record);

	if (err)
		fail_msg("%s", err->msg);
	return &f->sources[0].record;
}

/* Expects an error with this code whose sentence contains words (and more words, if not NULL). */
static inline void fixture_fails(struct lm_err *err, enum lm_errc code, const char *words, const char *more)
{
	if (!err)
		fail_msg("no error, but \"%s\" was expected", words);
	if (err->code != code || !strstr(err->msg, words) || (more && !strstr(err->msg, more)))
		fail_msg("expected %d with \"%s\" and \"%s\", got %d: %s", code, words, more ? more : "", err->code, err->msg);
	assert_null(strchr(err->msg, '\33'));
	lm_err_free(err);
}

static inline const struct lm_field *field(const struct lm_record *rec, const char *key)
{
	for (uint32_t i = 0; i < rec->nr_fields; i++)
		if (!strcmp(rec->fields[i].key, key))
			return &rec->fields[i];
	fail_msg("no member %s", key);
	return NULL;
}

static inline const struct lm_leaf *leaf(const struct lm_record *rec, const char *path)
{
	for (uint32_t i = 0; i < rec->nr_leaves; i++)
		if (!strcmp(rec->leaves[i].path, path))
			return &rec->leaves[i];
	fail_msg("no leaf %s", path);
	return NULL;
}

#endif
