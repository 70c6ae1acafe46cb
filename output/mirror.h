/*
 * mirror.h - the person's tree with one file changed, without writing to it.
 *
 * A copy of the tree made of links: a compiler that is given the mirror's
 * paths instead of the tree's reads the changed file wherever it reads that
 * file, and everything else as it is.  Directories on the way to the changed
 * file (and to others that are named) are real ones, so that "../x.h" written
 * in a file of theirs stays inside the mirror; so are others near the root,
 * as far as a budget goes; the rest are links to whole directories.
 */
#ifndef LM_OUTPUT_MIRROR_H
#define LM_OUTPUT_MIRROR_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>

struct lm_mirror {
	const char *root;	/* of the tree, absolute, no slash at its end */
	const char *dir;	/* of the mirror, the same */
};

struct lm_mirror_request {
	const char *root;	/* absolute directory, not "/" */
	const char *dir;	/* where to make the mirror: does not exist, its parent does */
	const char *file;	/* absolute path, below root: the changed file; NULL: nothing is changed yet */
	const char *text;	/* its new bytes */
	size_t len;
	const char *const *real; /* absolute directories that must be real; those outside root are ignored */
	size_t nr_real;
};

/* LM_ERR_INPUT: a directory or link cannot be made or the tree not be read.  Strings in arena. */
struct lm_err *lm_mirror_make(const struct lm_mirror_request *req, struct lm_arena *arena,
			      struct lm_mirror *out) LM_MUST_CHECK;

/*
 * Changes a mirror that is made.  Paths are relative to the root, without "."
 * and ".."; directories on the way become real ones, whatever is there, so that
 * nothing is ever written through a link.  file may be new.  LM_ERR_INPUT as
 * above.  Nothing in arena is needed later (mirror_change.c).
 */
struct lm_err *lm_mirror_put(const struct lm_mirror *m, const char *file, const char *text, size_t len,
			     struct lm_arena *arena) LM_MUST_CHECK;
struct lm_err *lm_mirror_put_link(const struct lm_mirror *m, const char *file, const char *target,
				  struct lm_arena *arena) LM_MUST_CHECK;
struct lm_err *lm_mirror_drop(const struct lm_mirror *m, const char *file, struct lm_arena *arena) LM_MUST_CHECK;
struct lm_err *lm_mirror_make_real(const struct lm_mirror *m, const char *dir, struct lm_arena *arena) LM_MUST_CHECK;

/*
 * An argument, path or piece of C with each path below the root replaced by
 * the mirror's.  A path begins at the start, behind an option's letters
 * (-I/tree/include) or behind one of = , : " ' ( or a blank.  In arena.
 */
char *lm_mirror_path(const struct lm_mirror *m, const char *text, struct lm_arena *arena);

#endif
