/*
 * tree.h - a git tree as it was at a revision, for compilers to read.
 *
 * A mirror (mirror.h) of the work tree in a temporary directory, in which the
 * tracked files that differ at the revision are as they were there, and those
 * that it has not are missing.  What git does not track (generated headers,
 * build output) is the work tree's, whatever the revision.  One thread each.
 */
#ifndef LM_OUTPUT_TREE_H
#define LM_OUTPUT_TREE_H

#include "base/table.h"
#include "output/git.h"
#include "output/mirror.h"

struct lm_tree {
	struct lm_arena arena;
	struct lm_git *git;
	struct lm_mirror mirror;
	char *dir;			/* temporary; NULL until made */
	const char *rev;		/* id of the commit it shows; NULL: the work tree as it is */
	struct lm_strings *touched;	/* files that were put or taken away since it was made */
};

/*
 * A mirror of the work tree that holds path.  out is zero; lm_tree_close() in
 * any case.  real: directories where the compiler runs, so that "../x" stays
 * inside (those outside the tree are ignored).
 */
struct lm_err *lm_tree_open(const char *path, const char *const *real, size_t nr_real,
			    struct lm_tree *out) LM_MUST_CHECK;

/* Makes it show commit rev.  After a failure it shows nothing that is of use. */
struct lm_err *lm_tree_show(struct lm_tree *tree, const char *rev) LM_MUST_CHECK;

/* A file's path relative to the root, from its path in the mirror or in the work tree; NULL if it lies elsewhere. */
const char *lm_tree_below(const struct lm_tree *tree, const char *path);

/* Has the mirror another version of this file than the work tree, perhaps? */
bool lm_tree_touched(const struct lm_tree *tree, const char *file);

void lm_tree_close(struct lm_tree *tree);

#endif
