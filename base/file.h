/* file.h - whole files in, whole files out, programs run and waited for. */
#ifndef LM_BASE_FILE_H
#define LM_BASE_FILE_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct lm_arena;

/*
 * Reads a regular file whole into the arena, NUL added behind the last byte.
 * LM_ERR_INPUT: cannot be opened or read, is no regular file, or is larger
 * than max bytes; what names the kind of file in the message ("header").
 */
struct lm_err *lm_file_read(const char *path, const char *what, size_t max, struct lm_arena *arena,
			    char **text, size_t *len) LM_MUST_CHECK;

/*
 * Writes a file whole or not at all: a temporary beside it, fsync, rename.
 * "-" writes to stdout.  LM_ERR_INPUT on failure; an old file stays as it was.
 */
struct lm_err *lm_file_write(const char *path, const char *text, size_t len) LM_MUST_CHECK;

/* True for an existing directory / regular file. */
bool lm_is_dir(const char *path);
bool lm_is_file(const char *path);

/* Absolute path without symlinks, in the arena; NULL if it does not exist. */
char *lm_real_path(const char *path, struct lm_arena *arena);

/* Makes a private temporary directory (honours TMPDIR); path in the arena. */
struct lm_err *lm_temp_dir(struct lm_arena *arena, char **path) LM_MUST_CHECK;

/* A name for mkdtemp() in parent that carries the process's number; in the arena. */
char *lm_temp_name(const char *parent, struct lm_arena *arena);

/* Removes what this process made in parent under lm_temp_name(): for a program that is told to end. */
void lm_remove_temp_dirs(const char *parent);

/* Removes a tree that lm_temp_dir() made.  Does not follow symlinks. */
void lm_remove_tree(const char *path);

/* mkdir -p of dir. */
struct lm_err *lm_make_dirs(const char *dir) LM_MUST_CHECK;

/*
 * Runs argv[0] (found in PATH) in cwd (NULL: here), stdin empty, stdout
 * dropped, at most limit bytes of stderr kept in *errors.  *status is the exit
 * code, 127 if it could not be started, 128 + N after signal N, 124 after
 * seconds ran out (it is killed).
 */
void lm_run(char *const argv[], const char *cwd, unsigned seconds, size_t limit, struct lm_str *errors,
	    int *status);

/* True if name is an executable found in PATH. */
bool lm_in_path(const char *name);

#endif
