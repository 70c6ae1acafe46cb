/* scratch.h - files that nobody keeps: what only the checks read. */
#ifndef LM_OUTPUT_SCRATCH_H
#define LM_OUTPUT_SCRATCH_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>

/*
 * Writes a new file.  Not whole-or-nothing and not synced as lm_file_write()
 * does, which makes a busy disk wait for seconds.  LM_ERR_INPUT on failure.
 */
struct lm_err *lm_scratch_write(const char *path, const char *text, size_t len) LM_MUST_CHECK;

/*
 * A private directory for many small entries: in memory where there is
 * /dev/shm, since thousands of links cost milliseconds there and, measured,
 * half a minute on a busy disk.  TMPDIR is obeyed if it is set.  Remove it with
 * lm_remove_tree().
 */
struct lm_err *lm_scratch_dir(struct lm_arena *arena, char **ret) LM_MUST_CHECK;

#endif
