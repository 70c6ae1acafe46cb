/* diff.h - old and new text -> unified diff.  Door to libgit2 (with git*.c). */
#ifndef LM_OUTPUT_DIFF_H
#define LM_OUTPUT_DIFF_H

#include "base/err.h"
#include "base/str.h"

/*
 * A diff with a/PATH and b/PATH headers that git apply and patch -p1 take.
 * path is relative to the tree's root.  Nothing is added if the texts are equal.
 */
struct lm_err *lm_diff(const char *path, const char *old_text, size_t old_len, const char *new_text,
		       size_t new_len, struct lm_str *out) LM_MUST_CHECK;

/* What git writes above a diff: changed lines a file, files, insertions and deletions. */
struct lm_err *lm_diff_stat(const char *diff, size_t len, struct lm_str *out) LM_MUST_CHECK;

/* The root of the git work tree that holds path, in out (no slash at its end); "" if there is none. */
void lm_git_root(const char *path, struct lm_str *out);

#endif
