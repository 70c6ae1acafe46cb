/*
 * version.h - a record as one version of its sources has it, in every
 * configuration: the header's text in the tree as it is, or a whole tree at a
 * revision.
 *
 * The flags are those of the work tree in every version.
 */
#ifndef LM_OUTPUT_VERSION_H
#define LM_OUTPUT_VERSION_H

#include "optimizer/join.h"
#include "optimizer/layout.h"
#include "output/tree.h"

struct lm_version {
	struct lm_arena arena;
	const char *label;		/* what the person calls it: "HEAD~1", "new.h", "the work tree" */
	const char *note;		/* more of it for people: " (1a2b3c4d5e6f Subject)"; NULL: none */
	const char *shown;		/* the header in messages; NULL: found by the tree */
	const char *old_name;		/* the header's other name in this version, relative to the tree; else NULL */
	struct lm_configs configs;
	struct lm_tree *tree;		/* borrowed; NULL: the work tree */
	const char *text;		/* of the header */
	size_t len;
	struct lm_source *sources;	/* [configs.nr] */
	struct lm_body body;
	struct lm_subject subject;
	struct lm_layout *layouts;	/* [configs.nr] as clang lays the record out */
	const char *title;		/* "struct mem_cgroup" */
	struct lm_usage usage;		/* once joined */
	struct lm_strings *files;	/* the caller's, to keep what lm_version_files() gave; not released here */
	bool absent;			/* parsing failed because the record is not there */
};

/*
 * The header with this text (borrowed) in the tree as it is; messages call it
 * shown.  out is zero; lm_version_release() in any case.
 */
void lm_version_of_text(const struct lm_configs *configs, const char *label, const char *shown, const char *text,
			size_t len, struct lm_version *out);

/*
 * The revision that the tree shows.  A header that has another name there is
 * followed.  LM_ERR_INPUT: there is no such header.
 */
struct lm_err *lm_version_of_tree(const struct lm_configs *configs, const char *label, struct lm_tree *tree,
				  struct lm_version *out) LM_MUST_CHECK;

/*
 * Parses every configuration, on this thread.  Errors as lm_source_parse() and
 * lm_subject_make(), in the version's own words; the record is not there:
 * LM_ERR_INPUT, and out->absent.  The sources' lists of files are made even on
 * failure, where the compiler got so far.
 */
struct lm_err *lm_version_parse(struct lm_version *v, const char *record) LM_MUST_CHECK;

/* The same of several on all processors; the first error in order. */
struct lm_err *lm_versions_parse(struct lm_version *const *versions, size_t nr, const char *record) LM_MUST_CHECK;

/* Adds the files of the tree that were read, relative to it, to files.  Nothing without a tree. */
void lm_version_files(const struct lm_version *v, struct lm_strings *files);

/*
 * Copies from to out (initialised) with the names of v: a member that `other`
 * calls otherwise, at the same place, is called as v does.
 */
void lm_version_accesses(const struct lm_version *v, const struct lm_version *other, const struct lm_accesses *from,
			 struct lm_accesses *out);

/* Fills v->usage, which borrows t; as lm_join(), which counts in t what fits no member. */
struct lm_err *lm_version_join(struct lm_version *v, struct lm_accesses *t, const char *record,
			       uint32_t cpus) LM_MUST_CHECK;

void lm_version_release(struct lm_version *v);

#endif
