/*
 * source_ahead.c - a unit parsed before the change of its header is known.
 *
 * The header is the unit's main file here, so that what it includes is clang's
 * precompiled preamble: after a change of the record only the header's own
 * text is parsed, in a hundredth of the time.  As main file a header means
 * something else in rare cases (#include_next, #pragma once and a header that
 * comes back to it); whoever sees an error or a difference must ask
 * lm_source_parse(), as lm_source_parse_changed() does.
 */
#include <clang-c/Index.h>

#include "optimizer/source_parts.h"

#include "base/parallel.h"
#include "base/str.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A unit with its preamble takes some 150 MB for a header of the kernel. */
enum { MOST = 8 };

/* One configuration. */
struct unit {
	struct lm_parse parse;	/* not yet a record's: index and unit */
	struct lm_arena arena;
	pthread_t thread;
	bool running, parsed;
};

struct lm_source_ahead {
	struct lm_source_request req;
	struct unit *units;
	size_t nr;
};

/* Preambles in memory, or NULL where libclang cannot. */
static CXIndex make_index(void)
{
#if CINDEX_VERSION >= CINDEX_VERSION_ENCODE(0, 64)
	CXIndexOptions opts = { .Size = sizeof(opts), .StorePreamblesInMemory = 1 };

	return clang_createIndexWithOptions(&opts);
#else
	return NULL;
#endif
}

/* The header and its probes as the main file, and the virtual file of edits; how many. */
static unsigned main_files(const struct lm_parse *p, struct CXUnsavedFile files[2])
{
	struct lm_str s = { 0 };

	lm_str_add_bytes(&s, p->req->text, p->req->len);
	lm_str_add(&s, lm_unit_probes(p, ""));
	files[0] = (struct CXUnsavedFile){
		p->req->configs->header, lm_arena_strndup(p->arena, lm_str_text(&s), s.len), s.len,
	};
	lm_str_release(&s);
	files[1] = (struct CXUnsavedFile){ p->config->edits_path, p->config->edits, strlen(p->config->edits) };
	return *p->config->edits ? 2 : 1;
}

static void *parse(void *arg)
{
	struct unit *unit = arg;
	struct lm_parse *p = &unit->parse;
	struct CXUnsavedFile files[2];
	unsigned nr_files = main_files(p, files);
	int nr_args;
	const char **args = lm_unit_args(p, &nr_args);

	p->index = make_index();
	unit->parsed = p->index && !clang_parseTranslationUnit2(p->index, p->req->configs->header, args, nr_args, files,
			nr_files, CXTranslationUnit_SkipFunctionBodies | CXTranslationUnit_PrecompiledPreamble |
			CXTranslationUnit_CreatePreambleOnFirstParse, &p->tu);
	return NULL;
}

static void start(struct unit *unit, const struct lm_source_request *req, size_t i)
{
	unit->parse = (struct lm_parse){ .req = req, .config = &req->configs->items[i], .arena = &unit->arena };
	unit->running = !pthread_create(&unit->thread, NULL, parse, unit);
}

struct lm_source_ahead *lm_source_ahead_start(const struct lm_source_request *req)
{
	size_t cpus = lm_processors(), nr = req->configs->nr;
	struct lm_source_ahead *ahead;

	nr = cpus <= nr ? 0 : cpus - nr < nr ? cpus - nr : nr;
	nr = nr < MOST ? nr : MOST;
	if (!nr || req->configs->source || CINDEX_VERSION < CINDEX_VERSION_ENCODE(0, 64))
		return NULL;
	ahead = calloc(1, sizeof(*ahead));
	if (!ahead)
		lm_oom();
	ahead->units = calloc(nr, sizeof(*ahead->units));
	if (!ahead->units)
		lm_oom();
	ahead->nr = nr;
	ahead->req = *req;
	for (size_t i = 0; i < nr; i++)
		start(&ahead->units[i], &ahead->req, i);
	return ahead;
}

static void wait_for(struct unit *unit)
{
	if (unit->running)
		pthread_join(unit->thread, NULL);
	unit->running = false;
}

/* With the changed header; false where the whole unit must be parsed after all. */
static bool parse_again(struct unit *unit, const struct lm_source_request *req, size_t i, struct lm_source *out)
{
	struct lm_parse *p = &unit->parse;
	struct CXUnsavedFile files[2];
	struct lm_err *err = NULL;
	unsigned nr_files;
	bool done;

	wait_for(unit);
	if (!unit->parsed)
		return false;
	out->config = &req->configs->items[i];
	*p = (struct lm_parse){
		.req = req, .config = out->config, .out = out, .arena = &out->arena, .index = p->index, .tu = p->tu,
	};
	nr_files = main_files(p, files);
	/* A unit that failed here can only be disposed of. */
	done = !clang_reparseTranslationUnit(p->tu, nr_files, files, clang_defaultReparseOptions(p->tu));
	if (done) {
		p->header = clang_getFile(p->tu, req->configs->header);
		err = lm_unit_first_error(p);
		if (!err)
			err = lm_source_read(p);
	}
	lm_unit_close(p);
	unit->parsed = false;
	done = done && !err;
	lm_err_free(err);
	return done;
}

struct lm_err *lm_source_parse_changed(struct lm_source_ahead *ahead, const struct lm_source_request *req, size_t i,
				       struct lm_source *out)
{
	if (ahead && i < ahead->nr && parse_again(&ahead->units[i], req, i, out))
		return NULL;
	lm_source_release(out);
	return lm_source_parse(req, i, out);
}

void lm_source_ahead_end(struct lm_source_ahead *ahead)
{
	for (size_t i = 0; ahead && i < ahead->nr; i++) {
		struct unit *unit = &ahead->units[i];

		wait_for(unit);
		lm_unit_close(&unit->parse);
		lm_arena_release(&unit->arena);
	}
	if (ahead)
		free(ahead->units);
	free(ahead);
}
