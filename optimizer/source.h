/*
 * source.h - a translation unit in one configuration -> the record with
 * clang's offsets and extents, and the code that depends on its order.
 * Door to libclang (with hazard.c).
 */
#ifndef LM_OPTIMIZER_SOURCE_H
#define LM_OPTIMIZER_SOURCE_H

#include "base/arena.h"
#include "base/err.h"
#include "optimizer/config.h"
#include "optimizer/guards.h"
#include "optimizer/record.h"

/* Code that depends on the order of fields. */
#define LM_HAZARDS(X) \
	X(POSITIONAL_INIT, "positional-initialiser", "an initialiser lists values by position") \
	X(OFFSET_ASSERT, "offset-assert", "a static assertion fixes an offset") \
	X(RANDSTRUCT, "randstruct", "the compiler shuffles this record (randomize_layout with RANDSTRUCT on)")

enum lm_hazard_kind {
#define X(name, word, text) LM_HAZARD_##name,
	LM_HAZARDS(X)
#undef X
	LM_NR_HAZARDS
};

struct lm_hazard {
	enum lm_hazard_kind kind;
	const char *file;	/* where the code is */
	uint32_t line;		/* from 1 */
	const char *member;	/* member named by an offset assert (top level key); else NULL */
};

/* A record that holds the parsed one by value, at any depth. */
struct lm_user {
	const char *name;	/* "struct mem_cgroup" */
	uint64_t size;		/* bytes */
};

/* One configuration, parsed. */
struct lm_source {
	struct lm_arena arena;	/* owns everything below */
	const struct lm_config *config;
	struct lm_record record;
	struct lm_hazard *hazards;
	size_t nr_hazards;
	struct lm_user *users;	/* in the order of the unit's text, if asked for */
	size_t nr_users;
	uint64_t line_size;	/* L1_CACHE_BYTES if defined, else 0 */
	const char *barrier;	/* padding macro that exists here and takes a name, e.g. "CACHELINE_PADDING"; or NULL */
	const char *barrier_attr; /* attribute macro that exists here, e.g. "____cacheline_aligned_in_smp"; or NULL */
	const char **files;	/* [nr_files] what was read, as clang opened it, absolute; if wanted, also on failure */
	size_t nr_files;
	bool absent;		/* the unit compiles, but the record is not defined in the header */
	const char *barrier_text; /* what the attribute macro expands to, or NULL: empty where it aligns nothing */
	/* If guards are wanted: the record and those nested in it by value, and what their guards test. */
	struct lm_guarded *guarded;
	size_t nr_guarded;
	struct lm_tested_list tested;
};

struct lm_source_request {
	const struct lm_configs *configs;
	const char *record;	/* tag or typedef name */
	const char *text;	/* the header's bytes: parsed instead of the file on disk */
	size_t len;
	bool want_hazards;
	bool want_files;
	bool want_users;
	bool want_guards;
	bool want_bodies;	/* of functions, so that errors in them are seen */
};

/*
 * Parses configuration i; function bodies are skipped.  out->arena must be
 * zero; release it in any case.
 *
 * LM_ERR_INPUT: does not compile (first error with file:line:column, from
 * clang, and the configuration's name); the record is not defined in the
 * header (says where it is, or lists up to five similar names); incomplete
 * type.  LM_ERR_REFUSED: C++.
 */
struct lm_err *lm_source_parse(const struct lm_source_request *req, size_t i,
			       struct lm_source *out) LM_MUST_CHECK;

/* All configurations in parallel; the error of the first failing one in order. */
struct lm_err *lm_source_parse_all(const struct lm_source_request *req,
				   struct lm_source *out /* [configs->nr] */) LM_MUST_CHECK;

/*
 * What each macro is in configuration i before the header: values[k] is NULL
 * where names[k] is not defined, "m" where that of a module is; in arena.
 */
struct lm_err *lm_source_macros(const struct lm_source_request *req, size_t i, const char *const *names, size_t nr,
				struct lm_arena *arena, const char **values) LM_MUST_CHECK;

void lm_source_release(struct lm_source *s);

/*
 * Units whose header is about to change: what it includes is parsed meanwhile,
 * on processors that have nothing else to do.
 */
struct lm_source_ahead;

/*
 * Starts threads for the first configurations, as many as there are processors
 * beyond one a configuration, at most 8; NULL if there are none, if a source is parsed
 * rather than the header alone (a change would be in what it includes), or if
 * libclang is older than 17 (it would write files).  configs, text and what
 * they point to must live until lm_source_ahead_end().
 */
struct lm_source_ahead *lm_source_ahead_start(const struct lm_source_request *req);

/* As lm_source_parse(); faster where ahead has the unit.  Once for each i.  ahead may be NULL. */
struct lm_err *lm_source_parse_changed(struct lm_source_ahead *ahead, const struct lm_source_request *req, size_t i,
				       struct lm_source *out) LM_MUST_CHECK;

/* Waits for its threads.  ahead may be NULL. */
void lm_source_ahead_end(struct lm_source_ahead *ahead);

#endif
