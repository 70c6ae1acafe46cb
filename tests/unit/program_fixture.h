/*
 * program_fixture.h - a program that is compiled here, its debug info and code,
 * and samples to attribute: what the tests of attribution share.
 */
#ifndef LM_TESTS_PROGRAM_FIXTURE_H
#define LM_TESTS_PROGRAM_FIXTURE_H

#include "base/arena.h"
#include "base/file.h"
#include "base/str.h"
#include "profiles/attribution.h"
#include "profiles/elf_image.h"
#include "profiles/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct place {
	struct lm_arena arena;
	char *dir, *path;
	struct lm_debuginfo *bin;
	struct lm_image *image;
	struct lm_samples samples;
	struct lm_accesses out;
	struct lm_attribution result;
};

static inline void must(struct lm_err *err)
{
	if (err)
		fail_msg("%s", err->msg);
}

/* Compiles source with a command of words with blanks between; the program is called name. */
static inline void place_open(struct place *p, const char *source, const char *name, const char *command)
{
	char *c, *words, *argv[32] = { NULL };
	struct lm_str errors = { 0 };
	size_t nr = 0;
	int status;

	must(lm_temp_dir(&p->arena, &p->dir));
	c = lm_arena_printf(&p->arena, "%s/program.c", p->dir);
	p->path = lm_arena_printf(&p->arena, "%s/%s", p->dir, name);
	must(lm_file_write(c, source, strlen(source)));
	words = lm_arena_strdup(&p->arena, command);
	for (char *word = strtok(words, " "); word && nr < 28; word = strtok(NULL, " "))
		argv[nr++] = word;
	argv[nr++] = lm_arena_strdup(&p->arena, "-o");
	argv[nr++] = p->path;
	argv[nr] = c;
	lm_run(argv, p->dir, 60, 4096, &errors, &status);
	if (status)
		fail_msg("%s: %s", command, lm_str_text(&errors));
	lm_str_release(&errors);
	must(lm_debuginfo_open(p->path, &p->bin));
	must(lm_image_open(p->path, &p->image));
	lm_samples_init(&p->samples);
	lm_accesses_init(&p->out);
}

static inline void place_close(struct place *p)
{
	lm_samples_release(&p->samples);
	lm_accesses_release(&p->out);
	lm_image_close(p->image);
	lm_debuginfo_close(p->bin);
	lm_remove_tree(p->dir);
	lm_arena_release(&p->arena);
}

/* For cmocka: a new place in *state, and its end. */
static inline int place_setup(void **state, const char *source, const char *name, const char *command)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	place_open(p, source, name, command);
	*state = p;
	return 0;
}

static inline int teardown(void **state)
{
	place_close(*state);
	free(*state);
	return 0;
}

/* The outcomes and the drops add up. */
static inline void adds_up(const struct place *p)
{
	uint64_t outcomes = 0, drops = 0;

	for (unsigned i = 0; i < LM_NR_OUTCOMES; i++)
		outcomes += p->result.count[i];
	for (unsigned i = 0; i < LM_NR_DROPS; i++)
		drops += p->out.drops[i];
	assert_int_equal(outcomes, p->result.samples);
	assert_int_equal(p->out.samples, p->out.used + drops);
}

#endif
