/* git_habits.c - author and manner of subjects, by libgit2. */
#include "output/git_habits.h"

#include "base/file.h"

#include <ctype.h>
#include <git2.h>
#include <string.h>

/* As many subjects are counted, and as many commits looked at to find them: a kernel has a million. */
enum { MAX_SUBJECTS = 40, MAX_COMMITS = 20000, MAX_PREFIX = 40 };

/* ---- who ---- */

static const char *author_of(git_config *config, struct lm_arena *arena)
{
	git_config *snapshot = NULL;
	const char *name = NULL, *mail = NULL, *author = NULL;

	if (git_config_snapshot(&snapshot, config))
		return NULL;
	if (!git_config_get_string(&name, snapshot, "user.name") &&
	    !git_config_get_string(&mail, snapshot, "user.email") && *name && *mail)
		author = lm_arena_printf(arena, "%s <%s>", name, mail);
	git_config_free(snapshot);
	return author;
}

static void find_author(git_repository *repo, struct lm_arena *arena, struct lm_git_habits *out)
{
	git_config *config = NULL;

	if (repo ? !git_repository_config(&config, repo) : !git_config_open_default(&config))
		out->author = author_of(config, arena);
	git_config_free(config);
}

/* ---- how subjects begin ---- */

static bool is_place_byte(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_/.+*-{}", c));
}

/* "mm", "mm, memcg", "drivers/net": one word, or several with commas between. */
static bool is_place(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (is_place_byte(text[i]) || (text[i] == ',' && i && i + 1 < len))
			continue;
		if (text[i] != ' ' || !i || text[i - 1] != ',')
			return false;
	}
	return len > 0;
}

const char *lm_git_prefix_of(const char *subject, struct lm_arena *arena)
{
	size_t begin = 0, end = 0;

	for (const char *colon; (colon = strstr(subject + begin, ": ")); begin = end + 2) {
		size_t at = (size_t)(colon - subject);

		if (at > MAX_PREFIX || !is_place(subject + begin, at - begin))
			break;
		end = at;
	}
	return end ? lm_arena_strndup(arena, subject, end) : NULL;
}

/* The file's blob in a commit; false: it has none there. */
static bool blob_in(const git_commit *commit, const char *path, git_oid *id)
{
	git_tree *tree = NULL;
	git_tree_entry *entry = NULL;
	bool found = !git_commit_tree(&tree, commit) && !git_tree_entry_bypath(&entry, tree, path);

	if (found)
		git_oid_cpy(id, git_tree_entry_id(entry));
	git_tree_entry_free(entry);
	git_tree_free(tree);
	return found;
}

/* Did this commit, no merge, change the file? */
static bool changes(const git_commit *commit, const char *path)
{
	unsigned parents = git_commit_parentcount(commit);
	git_commit *parent = NULL;
	git_oid before, now;
	bool differs;

	if (parents > 1 || !blob_in(commit, path, &now))
		return false;
	if (!parents)
		return true;
	if (git_commit_parent(&parent, commit, 0))
		return false;
	differs = !blob_in(parent, path, &before) || !git_oid_equal(&before, &now);
	git_commit_free(parent);
	return differs;
}

/* Fills prefixes, the latest first; their number. */
static size_t read_prefixes(git_repository *repo, const char *path, struct lm_arena *arena,
			    const char *prefixes[MAX_SUBJECTS])
{
	git_revwalk *walk = NULL;
	size_t nr = 0, subjects = 0;
	git_oid id;

	/* No order is asked for: libgit2 would read all history before the first commit. */
	if (git_revwalk_new(&walk, repo) || git_revwalk_push_head(walk)) {
		git_revwalk_free(walk);
		return 0;
	}
	for (size_t i = 0; i < MAX_COMMITS && subjects < MAX_SUBJECTS && !git_revwalk_next(&id, walk); i++) {
		git_commit *commit = NULL;

		if (git_commit_lookup(&commit, repo, &id))
			break;
		if (changes(commit, path)) {
			const char *subject = git_commit_summary(commit);

			subjects++;
			prefixes[nr] = subject ? lm_git_prefix_of(subject, arena) : NULL;
			nr += prefixes[nr] != NULL;
		}
		git_commit_free(commit);
	}
	git_revwalk_free(walk);
	return nr;
}

static void find_prefix(git_repository *repo, const char *header, struct lm_arena *arena, struct lm_git_habits *out)
{
	const char *root = git_repository_workdir(repo), *prefixes[MAX_SUBJECTS];
	size_t nr, best = 0, len;

	root = root ? lm_real_path(root, arena) : NULL;
	header = lm_real_path(header, arena);
	len = root ? strlen(root) : 0;
	if (!root || !header || strncmp(header, root, len) || header[len] != '/')
		return;
	nr = read_prefixes(repo, header + len + 1, arena, prefixes);
	for (size_t i = 0; i < nr; i++) {
		size_t times = 0;

		for (size_t k = 0; k < nr; k++)
			times += !strcmp(prefixes[i], prefixes[k]);
		if (times > best) {
			best = times;
			out->prefix = prefixes[i];
		}
	}
}

/* ---- when ---- */

static void find_time(git_repository *repo, struct lm_git_habits *out)
{
	git_commit *commit = NULL;
	git_oid id;

	if (git_reference_name_to_id(&id, repo, "HEAD") || git_commit_lookup(&commit, repo, &id))
		return;
	out->has_time = true;
	out->time = git_commit_time(commit);
	git_commit_free(commit);
}

void lm_git_habits_find(const char *header, struct lm_arena *arena, struct lm_git_habits *out)
{
	git_repository *repo = NULL;

	memset(out, 0, sizeof(*out));
	git_libgit2_init();
	if (git_repository_open_ext(&repo, header, 0, NULL))
		repo = NULL;
	find_author(repo, arena, out);
	if (repo) {
		find_prefix(repo, header, arena, out);
		find_time(repo, out);
	}
	git_repository_free(repo);
	git_libgit2_shutdown();
}
