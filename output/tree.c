/* tree.c - a git tree as it was at a revision. */
#include "output/tree.h"

#include "base/file.h"
#include "output/scratch.h"

#include <string.h>

struct lm_err *lm_tree_open(const char *path, const char *const *real, size_t nr_real, struct lm_tree *out)
{
	struct lm_mirror_request req = { .real = real, .nr_real = nr_real };
	struct lm_err *err = lm_git_open(path, &out->git);

	if (err)
		return err;
	req.root = lm_git_work_tree(out->git);
	if (!strcmp(req.root, "/"))
		return lm_err_new(LM_ERR_INPUT, "%s: its git work tree is the whole file system; move it into a directory.",
				  path);
	out->touched = lm_strings_new();
	err = lm_scratch_dir(&out->arena, &out->dir);
	if (err)
		return err;
	req.dir = lm_arena_printf(&out->arena, "%s/tree", lm_real_path(out->dir, &out->arena));
	return lm_mirror_make(&req, &out->arena, &out->mirror);
}

static struct lm_err *put(struct lm_tree *tree, const struct lm_git_file *file, struct lm_arena *arena)
{
	struct lm_str text = { 0 };
	struct lm_err *err;

	lm_strings_add(tree->touched, file->path, strlen(file->path));
	if (file->kind == LM_GIT_GONE)
		return lm_mirror_drop(&tree->mirror, file->path, arena);
	err = lm_git_read(tree->git, file->blob, &text);
	if (!err && file->kind == LM_GIT_LINK)
		err = lm_mirror_put_link(&tree->mirror, file->path, lm_str_text(&text), arena);
	else if (!err)
		err = lm_mirror_put(&tree->mirror, file->path, lm_str_text(&text), text.len, arena);
	lm_str_release(&text);
	return err;
}

struct lm_err *lm_tree_show(struct lm_tree *tree, const char *rev)
{
	struct lm_arena arena = { 0 };
	struct lm_git_files files = { 0 };
	struct lm_err *err = lm_git_differences(tree->git, tree->rev, rev, &arena, &files);

	/* First what goes: a directory may come where a file was. */
	for (size_t i = 0; !err && i < files.nr; i++)
		if (files.items[i].kind == LM_GIT_GONE)
			err = put(tree, &files.items[i], &arena);
	for (size_t i = 0; !err && i < files.nr; i++)
		if (files.items[i].kind != LM_GIT_GONE)
			err = put(tree, &files.items[i], &arena);
	if (!err)
		tree->rev = lm_arena_strdup(&tree->arena, rev);
	lm_arena_release(&arena);
	return err;
}

const char *lm_tree_below(const struct lm_tree *tree, const char *path)
{
	const char *tops[] = { tree->mirror.dir, tree->mirror.root };

	for (size_t i = 0; i < 2; i++) {
		size_t len = strlen(tops[i]);

		if (!strncmp(path, tops[i], len) && path[len] == '/')
			return path + len + strspn(path + len, "/");
	}
	return NULL;
}

bool lm_tree_touched(const struct lm_tree *tree, const char *file)
{
	return lm_strings_find(tree->touched, file, strlen(file)) != LM_NO_STRING;
}

void lm_tree_close(struct lm_tree *tree)
{
	if (tree->dir)
		lm_remove_tree(tree->dir);
	lm_git_close(tree->git);
	lm_strings_free(tree->touched);
	lm_arena_release(&tree->arena);
	*tree = (struct lm_tree){ 0 };
}
