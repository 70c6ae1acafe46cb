/* git.c - a git tree and its revisions, by libgit2. */
#include "output/git.h"

#include "base/file.h"

#include <git2.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct lm_git {
	struct lm_arena arena;
	git_repository *repo;
	const char *root;
};

static struct lm_err *failed(const char *what, const char *why)
{
	const git_error *e = git_error_last();

	return lm_err_new(LM_ERR_INPUT, "%s: %s: %s.", what, why, e && e->message ? e->message : "git gives no reason");
}

struct lm_err *lm_git_open(const char *path, struct lm_git **out)
{
	struct lm_git *git = calloc(1, sizeof(*git));
	const char *dir;
	int code;

	if (!git)
		lm_oom();
	git_libgit2_init();
	code = git_repository_open_ext(&git->repo, path, 0, NULL);
	dir = code ? NULL : git_repository_workdir(git->repo);
	git->root = dir ? lm_real_path(dir, &git->arena) : NULL;
	if (git->root) {
		*out = git;
		return NULL;
	}

	struct lm_err *err = code == GIT_ENOTFOUND ?
			     lm_err_new(LM_ERR_INPUT, "%s: lies in no git work tree; give two files instead of "
					"revisions.", path) :
			     code ? failed(path, "git does not open its tree") :
			     lm_err_new(LM_ERR_INPUT, "%s: its git repository has no work tree; make one with git worktree.",
					path);

	lm_git_close(git);
	return err;
}

void lm_git_close(struct lm_git *git)
{
	if (!git)
		return;
	git_repository_free(git->repo);
	git_libgit2_shutdown();
	lm_arena_release(&git->arena);
	free(git);
}

const char *lm_git_work_tree(const struct lm_git *git)
{
	return git->root;
}

/* ---- revisions ---- */

static const char *id_text(const git_oid *id, struct lm_arena *arena)
{
	char text[GIT_OID_HEXSZ + 1];

	return lm_arena_strdup(arena, git_oid_tostr(text, sizeof(text), id));
}

/* The commit that a word names. */
static struct lm_err *resolve(struct lm_git *git, const char *name, struct lm_arena *arena, const char **id)
{
	git_object *object = NULL, *commit = NULL;
	struct lm_err *err = NULL;

	if (git_revparse_single(&object, git->repo, name))
		err = lm_err_new(LM_ERR_INPUT, "%s: is no revision of the git tree %s; check it with git rev-parse.", name,
				 git->root);
	else if (git_object_peel(&commit, object, GIT_OBJECT_COMMIT))
		err = lm_err_new(LM_ERR_INPUT, "%s: is no commit of the git tree %s; give a commit, a branch or a tag.", name,
				 git->root);
	else
		*id = id_text(git_object_id(commit), arena);
	git_object_free(commit);
	git_object_free(object);
	return err;
}

static struct lm_err *merge_base(struct lm_git *git, struct lm_git_range *range, struct lm_arena *arena)
{
	git_oid a, b, base;

	git_oid_fromstr(&a, range->from);
	git_oid_fromstr(&b, range->to);
	if (git_merge_base(&base, git->repo, &a, &b))
		return lm_err_new(LM_ERR_INPUT, "%s and %s: have no common ancestor; give two dots instead of three.",
				  range->from_name, range->to_name);
	range->from = id_text(&base, arena);
	range->from_name = lm_arena_strndup(arena, range->from, 12);
	return NULL;
}

struct lm_err *lm_git_range(struct lm_git *git, const char *text, struct lm_arena *arena, struct lm_git_range *out)
{
	const char *dots = strstr(text, "..");
	size_t len = strlen(text);
	struct lm_git_range r = { .from_name = text };
	struct lm_err *err;
	bool three = false;

	if (dots) {
		three = dots[2] == '.';
		r.from_name = dots == text ? "HEAD" : lm_arena_strndup(arena, text, (size_t)(dots - text));
		r.to_name = dots[2 + three] ? lm_arena_strdup(arena, dots + 2 + three) : "HEAD";
	} else if (len > 2 && !strcmp(text + len - 2, "^!")) {
		r.to_name = lm_arena_strndup(arena, text, len - 2);
		r.from_name = lm_arena_printf(arena, "%s^", r.to_name);
	}
	err = resolve(git, r.from_name, arena, &r.from);
	if (!err && r.to_name)
		err = resolve(git, r.to_name, arena, &r.to);
	if (!err && three)
		err = merge_base(git, &r, arena);
	if (!err)
		*out = r;
	return err;
}

/* ---- what differs ---- */

static struct lm_err *open_tree(struct lm_git *git, const char *id, git_tree **out)
{
	git_commit *commit = NULL;
	git_oid oid;
	int code = git_oid_fromstr(&oid, id);

	code = code || git_commit_lookup(&commit, git->repo, &oid) || git_commit_tree(out, commit);
	git_commit_free(commit);
	return code ? failed(id, "git cannot read this commit") : NULL;
}

/* git writes no such names, but what a hostile repository holds must not lead out of the tree. */
static bool is_tame(const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		if (!len || (len == 1 && path[0] == '.') || (len == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += len;
		path += *path != 0;
	}
	return true;
}

static struct lm_err *take_delta(const git_diff_delta *d, struct lm_arena *arena, struct lm_git_files *out)
{
	bool gone = d->status == GIT_DELTA_DELETED;
	const char *path = gone ? d->old_file.path : d->new_file.path;
	struct lm_git_file file = { .path = path, .kind = LM_GIT_GONE, .blob = "" };

	if (!path || !is_tame(path))
		return lm_err_new(LM_ERR_INPUT, "%s: git has a file of this name, which would lie outside the tree; repair the "
				  "repository.", path ? path : "(no name)");
	if (!gone && (d->new_file.mode == GIT_FILEMODE_COMMIT || d->new_file.mode == GIT_FILEMODE_TREE))
		return NULL;
	file.path = lm_arena_strdup(arena, path);
	if (!gone) {
		file.fresh = d->status == GIT_DELTA_ADDED;
		file.kind = d->new_file.mode == GIT_FILEMODE_LINK ? LM_GIT_LINK : LM_GIT_FILE;
		file.blob = id_text(&d->new_file.id, arena);
	}
	*LM_ARENA_PUSH(arena, out->items, out->nr, out->cap) = file;
	return NULL;
}

/* The diff from a commit or the work tree (NULL) to a commit. */
static struct lm_err *make_diff(struct lm_git *git, const char *from, const char *to, git_diff **out)
{
	git_diff_options opts;
	git_tree *old = NULL, *new = NULL;
	struct lm_err *err = open_tree(git, to, &new);

	git_diff_options_init(&opts, GIT_DIFF_OPTIONS_VERSION);
	opts.flags = GIT_DIFF_IGNORE_SUBMODULES | GIT_DIFF_INCLUDE_TYPECHANGE | GIT_DIFF_SKIP_BINARY_CHECK;
	opts.ignore_submodules = GIT_SUBMODULE_IGNORE_ALL;
	if (!err && from)
		err = open_tree(git, from, &old);
	if (!err && from && git_diff_tree_to_tree(out, git->repo, old, new, &opts))
		err = failed(to, "git cannot compare this commit");
	/* There is no diff from the work tree: it is made the other way round and turned. */
	opts.flags |= GIT_DIFF_REVERSE;
	if (!err && !from && git_diff_tree_to_workdir_with_index(out, git->repo, new, &opts))
		err = failed(to, "git cannot compare the work tree with this commit");
	git_tree_free(old);
	git_tree_free(new);
	return err;
}

struct lm_err *lm_git_differences(struct lm_git *git, const char *from, const char *to, struct lm_arena *arena,
				  struct lm_git_files *out)
{
	git_diff *diff = NULL;
	struct lm_git_files files = { 0 };
	struct lm_err *err = make_diff(git, from, to, &diff);

	for (size_t i = 0; !err && i < git_diff_num_deltas(diff); i++)
		err = take_delta(git_diff_get_delta(diff, i), arena, &files);
	git_diff_free(diff);
	if (!err)
		*out = files;
	return err;
}

struct lm_err *lm_git_read(struct lm_git *git, const char *blob, struct lm_str *out)
{
	git_blob *b = NULL;
	git_oid oid;

	if (git_oid_fromstr(&oid, blob) || git_blob_lookup(&b, git->repo, &oid))
		return failed(blob, "git cannot read this file");
	lm_str_add_bytes(out, git_blob_rawcontent(b), (size_t)git_blob_rawsize(b));
	git_blob_free(b);
	return NULL;
}

struct lm_err *lm_git_old_name(struct lm_git *git, const char *rev, const char *path, struct lm_arena *arena,
			       const char **out)
{
	git_diff_find_options opts;
	git_diff *diff = NULL;
	struct lm_err *err = make_diff(git, NULL, rev, &diff);

	*out = NULL;
	if (err)
		return err;
	git_diff_find_options_init(&opts, GIT_DIFF_FIND_OPTIONS_VERSION);
	opts.flags = GIT_DIFF_FIND_RENAMES;
	if (git_diff_find_similar(diff, &opts))
		err = failed(path, "git cannot look for its old name");
	for (size_t i = 0; !err && i < git_diff_num_deltas(diff); i++) {
		const git_diff_delta *d = git_diff_get_delta(diff, i);

		if (d->status == GIT_DELTA_RENAMED && !strcmp(d->old_file.path, path) && is_tame(d->new_file.path))
			*out = lm_arena_strdup(arena, d->new_file.path);
	}
	git_diff_free(diff);
	return err;
}

/* ---- commits ---- */

static const char *date_text(const git_signature *author, struct lm_arena *arena)
{
	time_t at = author ? (time_t)author->when.time + 60 * (time_t)author->when.offset : 0;
	struct tm tm;

	if (!author || !gmtime_r(&at, &tm))
		return "";
	return lm_arena_printf(arena, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

static struct lm_err *take_commit(struct lm_git *git, const git_oid *id, struct lm_arena *arena,
				  struct lm_git_commit *out)
{
	git_commit *commit = NULL;

	if (git_commit_lookup(&commit, git->repo, id))
		return failed(id_text(id, arena), "git cannot read this commit");

	const git_signature *author = git_commit_author(commit);
	const char *subject = git_commit_summary(commit);

	*out = (struct lm_git_commit){
		.id = id_text(id, arena),
		.nr_parents = git_commit_parentcount(commit),
		.subject = lm_arena_strdup(arena, subject ? subject : ""),
		.author = lm_arena_strdup(arena, author && author->name ? author->name : ""),
		.date = date_text(author, arena),
	};
	out->parents = LM_ARENA_ARRAY(arena, const char *, out->nr_parents + 1u);
	for (unsigned i = 0; i < out->nr_parents; i++)
		out->parents[i] = id_text(git_commit_parent_id(commit, i), arena);
	git_commit_free(commit);
	return NULL;
}

struct lm_err *lm_git_commit(struct lm_git *git, const char *id, struct lm_arena *arena, struct lm_git_commit *out)
{
	git_oid oid;

	if (git_oid_fromstr(&oid, id))
		return failed(id, "is no commit");
	return take_commit(git, &oid, arena, out);
}

struct lm_err *lm_git_log(struct lm_git *git, const char *from, const char *to, bool first_parent,
			  struct lm_arena *arena, struct lm_git_commits *out)
{
	struct lm_git_commits commits = { 0 };
	git_revwalk *walk = NULL;
	struct lm_err *err = NULL;
	git_oid a, b, id;
	int code = git_oid_fromstr(&a, from) || git_oid_fromstr(&b, to) || git_revwalk_new(&walk, git->repo);

	code = code || git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_TIME);
	if (!code && first_parent)
		code = git_revwalk_simplify_first_parent(walk);
	code = code || git_revwalk_push(walk, &b) || git_revwalk_hide(walk, &a);
	while (!code && !err && !(code = git_revwalk_next(&id, walk)))
		err = take_commit(git, &id, arena, LM_ARENA_PUSH(arena, commits.items, commits.nr, commits.cap));
	if (!err && code != GIT_ITEROVER)
		err = failed(to, "git cannot list the commits that lead there");
	git_revwalk_free(walk);
	if (!err)
		*out = commits;
	return err;
}
