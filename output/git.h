/*
 * git.h - a git tree and its revisions, read only.  Door to libgit2 (with
 * diff.c).
 *
 * Nothing is checked out and no index is written.  Ids are the 40 digits of a
 * commit or blob.  Strings live in the arena that the function is given.
 */
#ifndef LM_OUTPUT_GIT_H
#define LM_OUTPUT_GIT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* An open work tree.  One thread each. */
struct lm_git;

/* The work tree that holds path.  LM_ERR_INPUT: there is none, or git does not open it. */
struct lm_err *lm_git_open(const char *path, struct lm_git **out) LM_MUST_CHECK;
void lm_git_close(struct lm_git *git);	/* NULL is fine */

/* Its root: absolute, without links, no slash at its end. */
const char *lm_git_work_tree(const struct lm_git *git);

/* What a person wrote for one or two revisions. */
struct lm_git_range {
	const char *from, *to;		/* ids; to is NULL if one revision was named */
	const char *from_name, *to_name;	/* as written: "HEAD~1" */
};

/*
 * Understands REV, A..B, A...B (from where both began) and C^! (what C did).
 * An empty side is HEAD.  LM_ERR_INPUT: no such revision.
 */
struct lm_err *lm_git_range(struct lm_git *git, const char *text, struct lm_arena *arena,
			    struct lm_git_range *out) LM_MUST_CHECK;

enum lm_git_kind { LM_GIT_FILE, LM_GIT_LINK, LM_GIT_GONE };

/* A file that differs, as it is in the second of two trees. */
struct lm_git_file {
	const char *path;	/* relative to the root, no "." or ".." in it */
	enum lm_git_kind kind;
	const char *blob;	/* id; "" if gone */
	bool fresh;		/* the first tree has no file of this name */
};

struct lm_git_files {
	struct lm_git_file *items;
	size_t nr, cap;
};

/* Tracked files that differ between two commits, by path.  from NULL: the work tree.  Submodules are left out. */
struct lm_err *lm_git_differences(struct lm_git *git, const char *from, const char *to, struct lm_arena *arena,
				  struct lm_git_files *out) LM_MUST_CHECK;

/* A blob's bytes, added to out. */
struct lm_err *lm_git_read(struct lm_git *git, const char *blob, struct lm_str *out) LM_MUST_CHECK;

/* What path was called in commit rev, if a rename leads from there to path in the work tree; else NULL. */
struct lm_err *lm_git_old_name(struct lm_git *git, const char *rev, const char *path, struct lm_arena *arena,
			       const char **out) LM_MUST_CHECK;

struct lm_git_commit {
	const char *id;
	const char **parents;	/* ids, the first parent first */
	unsigned nr_parents;
	const char *subject, *author;
	const char *date;	/* of the author, in the author's zone: "2026-08-01" */
};

struct lm_git_commits {
	struct lm_git_commit *items;
	size_t nr, cap;
};

/* One commit. */
struct lm_err *lm_git_commit(struct lm_git *git, const char *id, struct lm_arena *arena,
			     struct lm_git_commit *out) LM_MUST_CHECK;

/* The commits that `to` has and `from` has not, children before parents.  first_parent: only along first parents. */
struct lm_err *lm_git_log(struct lm_git *git, const char *from, const char *to, bool first_parent,
			  struct lm_arena *arena, struct lm_git_commits *out) LM_MUST_CHECK;

#endif
