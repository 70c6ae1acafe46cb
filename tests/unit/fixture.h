/*
 * fixture.h - from a header's text and a few access rows to everything that a
 * plan is made of, for tests.
 */
#ifndef LM_TESTS_FIXTURE_H
#define LM_TESTS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "optimizer/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIXTURE_VIEWS = 4 };

struct fixture {
	struct lm_arena arena;
	char *dir;
	struct lm_configs configs;
	struct lm_source sources[FIXTURE_VIEWS];
	struct lm_body body;
	struct lm_subject subject;
	struct lm_rules rules;
	struct lm_accesses accesses;
	struct lm_usage usage;
	const char *path;
};

struct fixture_row {
	const char *site, *member;
	uint64_t offset;
	uint32_t size;
	int32_t cpu;
	uint64_t reads, writes;
};

/* Fails the test with the error's sentence. */
static inline void must(struct lm_err *err)
{
	if (err)
		fail_msg("%s", err->msg);
}

/* Parses `text` (struct s) in base and in the configurations of specs (NULL-terminated, may be NULL). */
static inline void fixture_open(struct fixture *f, const char *text, const char *const *specs)
{
	static const char *const flags[] = { "-Wall" };
	struct lm_config_request request = { .flags = flags, .nr_flags = 1, .specs = specs };

	memset(f, 0, sizeof(*f));
	while (specs && specs[request.nr_specs])
		request.nr_specs++;
	assert_true(request.nr_specs < FIXTURE_VIEWS);
	must(lm_temp_dir(&f->arena, &f->dir));
	f->path = lm_arena_printf(&f->arena, "%s/s.h", f->dir);
	must(lm_file_write(f->path, text, strlen(text)));
	request.header = f->path;
	must(lm_configs_make(&request, &f->arena, &f->configs));

	struct lm_source_request source = { .configs = &f->configs, .record = "s", .text = text, .len = strlen(text),
					    .want_hazards = true };

	must(lm_source_parse_all(&source, f->sources));
	must(lm_subject_make("s.h", text, strlen(text), f->sources, f->configs.nr, &f->arena, &f->body, &f->subject));
	lm_accesses_init(&f->accesses);
}

static inline void fixture_rules(struct fixture *f, const struct lm_rules_opts *opts)
{
	struct lm_rules_opts o = opts ? *opts : (struct lm_rules_opts){ 0 };

	o.line = o.line ? o.line : 64;
	o.path = "s.h";
	must(lm_rules_collect(&f->subject, f->sources, &o, &f->arena, &f->rules));
}

static inline void fixture_access(struct fixture *f, const struct fixture_row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct lm_access a = {
			.site = lm_strings_add(f->accesses.strings, rows[i].site, strlen(rows[i].site)),
			.member = lm_strings_add(f->accesses.strings, rows[i].member, strlen(rows[i].member)),
			.offset = rows[i].offset, .size = rows[i].size, .cpu = rows[i].cpu,
			.reads = rows[i].reads, .writes = rows[i].writes,
		};

		lm_accesses_add(&f->accesses, a);
		f->accesses.samples += rows[i].reads + rows[i].writes;
		f->accesses.used += rows[i].reads + rows[i].writes;
	}
	must(lm_join(&f->subject, &f->accesses, "s", 0, &f->arena, &f->usage));
}

static inline void fixture_close(struct fixture *f)
{
	for (size_t i = 0; i < f->configs.nr; i++)
		lm_source_release(&f->sources[i]);
	lm_accesses_release(&f->accesses);
	lm_remove_tree(f->dir);
	lm_arena_release(&f->arena);
}

/* Unit by name, failing if there is none. */
static inline uint32_t fixture_unit(const struct fixture *f, const char *name)
{
	for (uint32_t u = 0; u < f->body.nr_units; u++)
		if (!strcmp(f->body.units[u].name, name))
			return u;
	fail_msg("no unit %s", name);
	return LM_NONE;
}

#endif
