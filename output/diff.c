/* diff.c - old and new text -> unified diff, by libgit2. */
#include "output/diff.h"

#include <git2.h>
#include <stdbool.h>
#include <string.h>

static struct lm_err *git_failed(const char *path)
{
	const git_error *e = git_error_last();

	return lm_err_new(LM_ERR_BUG, "%s: libgit2 made no diff: %s.", path,
			  e && e->message ? e->message : "no reason given");
}

/*
 * git splits file name and time by a tab: a name with blanks has one behind it
 * in the --- and +++ lines, or patch(1) takes the first word only.  libgit2
 * leaves it out.
 */
static void add_patch(const char *path, const char *text, size_t len, struct lm_str *out)
{
	bool in_head = true;

	for (size_t at = 0; at < len;) {
		const char *newline = memchr(text + at, '\n', len - at);
		size_t end = newline ? (size_t)(newline - text) : len;
		bool name = in_head && (!strncmp(text + at, "--- ", 4) || !strncmp(text + at, "+++ ", 4));

		in_head = in_head && strncmp(text + at, "@@ ", 3) != 0;
		lm_str_add_bytes(out, text + at, end - at);
		if (name && strchr(path, ' ') && text[at + 4] != '"')
			lm_str_add_char(out, '\t');
		if (newline)
			lm_str_add_char(out, '\n');
		at = end + 1;
	}
}

struct lm_err *lm_diff(const char *path, const char *old_text, size_t old_len, const char *new_text, size_t new_len,
		       struct lm_str *out)
{
	git_diff_options opts;
	git_buf buf = GIT_BUF_INIT;
	git_patch *patch = NULL;
	struct lm_err *err = NULL;

	if (old_len == new_len && !memcmp(old_text, new_text, old_len))
		return NULL;
	git_libgit2_init();
	git_diff_options_init(&opts, GIT_DIFF_OPTIONS_VERSION);
	opts.context_lines = 3;
	opts.flags = GIT_DIFF_FORCE_TEXT;
	if (git_patch_from_buffers(&patch, old_text, old_len, path, new_text, new_len, path, &opts) ||
	    git_patch_to_buf(&buf, patch))
		err = git_failed(path);
	else
		add_patch(path, buf.ptr, buf.size, out);
	git_buf_dispose(&buf);
	git_patch_free(patch);
	git_libgit2_shutdown();
	return err;
}

#define STAT_WIDTH 72

struct lm_err *lm_diff_stat(const char *text, size_t len, struct lm_str *out)
{
	git_diff_stats *stats = NULL;
	git_buf buf = GIT_BUF_INIT;
	git_diff *diff = NULL;
	struct lm_err *err = NULL;

	git_libgit2_init();
	if (git_diff_from_buffer(&diff, text, len) || git_diff_get_stats(&stats, diff) ||
	    git_diff_stats_to_buf(&buf, stats, GIT_DIFF_STATS_FULL, STAT_WIDTH))
		err = git_failed("the diff that was made");
	else
		lm_str_add_bytes(out, buf.ptr, buf.size);
	git_buf_dispose(&buf);
	git_diff_stats_free(stats);
	git_diff_free(diff);
	git_libgit2_shutdown();
	return err;
}

/* Length of the folder around ".../.git/", 0 if it is called otherwise. */
static size_t plain_root(const char *git_dir)
{
	size_t len = strlen(git_dir);

	return len > 6 && !strcmp(git_dir + len - 6, "/.git/") ? len - 6 : 0;
}

void lm_git_root(const char *path, struct lm_str *out)
{
	git_buf found = GIT_BUF_INIT;
	git_repository *repo = NULL;

	git_libgit2_init();
	if (!git_repository_discover(&found, path, 0, NULL)) {
		/* A tree of another user (in a container) is not opened, but it is one. */
		bool opened = !git_repository_open(&repo, found.ptr);
		const char *dir = opened ? git_repository_workdir(repo) : found.ptr;
		size_t len = !opened ? plain_root(dir) : dir ? strlen(dir) : 0;

		while (len > 1 && dir[len - 1] == '/')
			len--;
		if (len)
			lm_str_add_bytes(out, dir, len);
	}
	git_repository_free(repo);
	git_buf_dispose(&found);
	git_libgit2_shutdown();
}
