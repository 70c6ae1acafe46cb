/* mirror.c - a tree of links with one file changed. */
#include "output/mirror.h"

#include "base/str.h"
#include "output/scratch.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Entries made for directories beyond those needed: small projects become
 * wholly real, of a kernel the first level.
 */
enum { BUDGET = 2000 };

struct work {
	const struct lm_mirror_request *req;
	struct lm_arena *arena;
	const char **needed;	/* directories that must be real, relative to root; "" is the root */
	size_t nr_needed, cap_needed;
	const char **queue;	/* directories to make, the nearest to the root first */
	size_t nr_queue, cap_queue;
	size_t made;
};

/* The directory that a path lies in. */
static char *parent_of(struct lm_arena *arena, const char *path)
{
	char *parent = lm_arena_strdup(arena, path), *slash = strrchr(parent, '/');

	*(slash ? slash : parent) = 0;
	return parent;
}

/* The part of path behind root and its slash; "" for root itself; NULL if it lies elsewhere. */
static const char *below(const char *root, const char *path)
{
	size_t len = strlen(root);

	if (strncmp(path, root, len) || (path[len] && path[len] != '/'))
		return NULL;
	path += len;
	return path + strspn(path, "/");
}

static bool is_needed(const struct work *w, const char *dir)
{
	for (size_t i = 0; i < w->nr_needed; i++)
		if (!strcmp(w->needed[i], dir))
			return true;
	return false;
}

/* dir and all above it. */
static void need(struct work *w, const char *dir)
{
	char *above = lm_arena_strdup(w->arena, dir);

	for (size_t len = strlen(above); len && above[len - 1] == '/'; len--)
		above[len - 1] = 0;
	while (!is_needed(w, above)) {
		char *slash = strrchr(above, '/');

		*LM_ARENA_PUSH(w->arena, w->needed, w->nr_needed, w->cap_needed) = lm_arena_strdup(w->arena, above);
		*(slash ? slash : above) = 0;
	}
}

static struct lm_err *failed(const char *what, const char *path)
{
	return lm_err_new(LM_ERR_INPUT, "%s: cannot %s for a copy of the tree: %s.", path, what, strerror(errno));
}

static char *join(const struct work *w, const char *top, const char *dir, const char *name)
{
	return lm_arena_printf(w->arena, "%s%s%s/%s", top, *dir ? "/" : "", dir, name);
}

/* One entry of a directory: the changed file, a directory for later, or a link. */
static struct lm_err *make_entry(struct work *w, const char *dir, const struct dirent *d)
{
	const char *name = d->d_name;
	char *path = lm_arena_printf(w->arena, "%s%s%s", dir, *dir ? "/" : "", name);
	char *from = join(w, w->req->root, dir, name), *to = join(w, w->req->dir, dir, name);
	/* The temporary directory may lie inside the tree: it is no part of it, but what holds it is. */
	const char *inside = below(from, w->req->dir);

	if ((inside && !strchr(inside, '/')) || (w->req->file && !strcmp(from, w->req->file)))
		return NULL;
	w->made++;
	if (is_needed(w, path) || (d->d_type == DT_DIR && *name != '.' && w->made + w->nr_queue < BUDGET)) {
		*LM_ARENA_PUSH(w->arena, w->queue, w->nr_queue, w->cap_queue) = path;
		return NULL;
	}
	return symlink(from, to) ? failed("make a link", to) : NULL;
}

static struct lm_err *make_dir(struct work *w, const char *dir)
{
	char *from = lm_arena_printf(w->arena, "%s/%s", w->req->root, dir);
	char *to = lm_arena_printf(w->arena, "%s/%s", w->req->dir, dir);
	bool needed = is_needed(w, dir);
	DIR *stream = needed || w->made < BUDGET ? opendir(from) : NULL;
	struct lm_err *err = NULL;
	struct dirent *d;

	if (!stream && needed)
		return failed("list the directory", from);
	if (!stream)
		return symlink(from, to) ? failed("make a link", to) : NULL;
	if (mkdir(to, 0700))
		err = failed("make a directory", to);
	while (!err && (d = readdir(stream)))
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			err = make_entry(w, dir, d);
	closedir(stream);
	return err;
}

struct lm_err *lm_mirror_make(const struct lm_mirror_request *req, struct lm_arena *arena, struct lm_mirror *out)
{
	struct work w = { .req = req, .arena = arena };
	const char *file = req->file ? below(req->root, req->file) : "";
	/* What holds the temporary directory that holds the mirror. */
	const char *holder = below(req->root, parent_of(arena, parent_of(arena, req->dir)));

	if (!file || (req->file && !*file))
		return lm_err_new(LM_ERR_INPUT, "%s: does not lie below %s; give --root.", req->file, req->root);
	need(&w, parent_of(arena, file));
	if (holder)
		need(&w, holder);
	for (size_t i = 0; i < req->nr_real; i++) {
		const char *dir = below(req->root, req->real[i]);

		if (dir)
			need(&w, dir);
	}
	*LM_ARENA_PUSH(arena, w.queue, w.nr_queue, w.cap_queue) = "";
	for (size_t i = 0; i < w.nr_queue; i++) {
		struct lm_err *err = make_dir(&w, w.queue[i]);

		if (err)
			return err;
	}
	out->root = lm_arena_strdup(arena, req->root);
	out->dir = lm_arena_strdup(arena, req->dir);
	return req->file ? lm_scratch_write(join(&w, req->dir, "", file), req->text, req->len) : NULL;
}

/*
 * Can a path begin at `at`?  Behind letters it can only if these are an
 * option's, or /src would be found in -I/usr/src.
 */
static bool begins_path(const char *text, const char *at)
{
	const char *p = text;

	if (at == text || strchr("=,:\"'( \t\n", at[-1]))
		return true;
	if (*p++ != '-')
		return false;
	while (p < at && (isalpha((unsigned char)*p) || *p == '-'))
		p++;
	return p == at;
}

char *lm_mirror_path(const struct lm_mirror *m, const char *text, struct lm_arena *arena)
{
	size_t len = strlen(m->root);
	struct lm_str s = { 0 };
	const char *p = text, *at;
	char *copy;

	while ((at = strstr(p, m->root))) {
		bool whole = !at[len] || strchr("/,:\"') \t\n", at[len]);

		lm_str_add_bytes(&s, p, (size_t)(at - p));
		lm_str_add(&s, whole && begins_path(text, at) ? m->dir : m->root);
		p = at + len;
	}
	lm_str_add(&s, p);
	copy = lm_arena_strdup(arena, lm_str_text(&s));
	lm_str_release(&s);
	return copy;
}
