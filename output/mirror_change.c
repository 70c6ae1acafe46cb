/* mirror_change.c - files of a mirror replaced and taken away, one at a time. */
#include "output/mirror.h"

#include "base/file.h"
#include "output/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct lm_err *failed(const char *what, const char *path)
{
	return lm_err_new(LM_ERR_INPUT, "%s: cannot %s for a copy of the tree: %s.", path, what, strerror(errno));
}

/* Links to all that the tree has in dir, but to what holds the mirror itself. */
static struct lm_err *link_entries(const struct lm_mirror *m, const char *dir, struct lm_arena *arena)
{
	const char *from = lm_arena_printf(arena, "%s/%s", m->root, dir);
	DIR *stream = opendir(from);
	struct lm_err *err = NULL;
	struct dirent *d;

	/* The tree may have a file there, or nothing: another version has a directory. */
	if (!stream)
		return errno == ENOTDIR || errno == ENOENT ? NULL : failed("list the directory", from);
	while (!err && (d = readdir(stream))) {
		char *target = lm_arena_printf(arena, "%s/%s", from, d->d_name);
		size_t len = strlen(target);

		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, "..") ||
		    (!strncmp(m->dir, target, len) && (m->dir[len] == '/' || !m->dir[len])))
			continue;
		if (symlink(target, lm_arena_printf(arena, "%s/%s/%s", m->dir, dir, d->d_name)))
			err = failed("make a link", target);
	}
	closedir(stream);
	return err;
}

/* One directory, whose parent is real already. */
static struct lm_err *make_one_real(const struct lm_mirror *m, const char *dir, struct lm_arena *arena)
{
	char *path = lm_arena_printf(arena, "%s/%s", m->dir, dir);
	struct stat st;
	bool is_there = !lstat(path, &st);

	if (is_there && S_ISDIR(st.st_mode))
		return NULL;
	if (is_there && unlink(path))
		return failed("replace", path);
	if (mkdir(path, 0700))
		return failed("make a directory", path);
	/* A directory that was dropped stays empty; a link to one of the tree becomes its copy. */
	return is_there && S_ISLNK(st.st_mode) ? link_entries(m, dir, arena) : NULL;
}

struct lm_err *lm_mirror_make_real(const struct lm_mirror *m, const char *dir, struct lm_arena *arena)
{
	struct lm_err *err = NULL;
	const char *end = dir;

	while (!err && *end) {
		end += strcspn(end, "/");
		err = make_one_real(m, lm_arena_strndup(arena, dir, (size_t)(end - dir)), arena);
		end += strspn(end, "/");
	}
	return err;
}

struct lm_err *lm_mirror_drop(const struct lm_mirror *m, const char *file, struct lm_arena *arena)
{
	const char *slash = strrchr(file, '/'), *path = lm_arena_printf(arena, "%s/%s", m->dir, file);
	struct lm_err *err = slash ? lm_mirror_make_real(m, lm_arena_strndup(arena, file, (size_t)(slash - file)), arena) :
			     NULL;
	struct stat st;

	if (err || lstat(path, &st))
		return err;
	if (S_ISDIR(st.st_mode))
		lm_remove_tree(path);
	else if (unlink(path))
		return failed("take away", path);
	return NULL;
}

struct lm_err *lm_mirror_put(const struct lm_mirror *m, const char *file, const char *text, size_t len,
			     struct lm_arena *arena)
{
	struct lm_err *err = lm_mirror_drop(m, file, arena);

	return err ? err : lm_scratch_write(lm_arena_printf(arena, "%s/%s", m->dir, file), text, len);
}

struct lm_err *lm_mirror_put_link(const struct lm_mirror *m, const char *file, const char *target,
				  struct lm_arena *arena)
{
	struct lm_err *err = lm_mirror_drop(m, file, arena);
	const char *path = lm_arena_printf(arena, "%s/%s", m->dir, file);

	return !err && symlink(target, path) ? failed("make a link", path) : err;
}
