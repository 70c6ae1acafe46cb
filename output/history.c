/* history.c - which commits may change a layout, and what it is there. */
#include "output/history_parts.h"

#include "base/parallel.h"
#include "base/table.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reading {
	const struct lm_history_request *req;
	struct lm_history *h;
	/*
	 * Open as long as threads have repositories of their own: the last one
	 * closed ends libgit2, which would then forget what it keeps for a thread.
	 */
	struct lm_git *git;
	struct lm_strings *ids;		/* of commits: the string's id is the node's number */
	struct lm_strings *files;	/* that units include, relative to the tree */
	struct lm_strings *names;	/* of these, without directories */
	size_t cap;
	uint32_t start, end;		/* nodes of the range's ends */
	uint32_t *todo;			/* nodes to work on */
	size_t nr_todo;
	size_t nr_chunks;
	struct lm_err **errors;		/* [nr_chunks] */
	atomic_size_t done;
	const char *stage;
};

/* ---- the nodes ---- */

static uint32_t find_node(const struct reading *r, const char *id)
{
	uint32_t node = lm_strings_find(r->ids, id, strlen(id));

	return node == LM_NO_STRING ? LM_NONE : node;
}

static uint32_t add_node(struct reading *r, struct lm_git_commit commit)
{
	struct lm_history *h = r->h;
	uint32_t node = find_node(r, commit.id);

	if (node != LM_NONE)
		return node;
	*LM_ARENA_PUSH(&h->arena, h->nodes, h->nr_nodes, r->cap) = (struct lm_node){ .commit = commit, .parent = LM_NONE };
	return lm_strings_add(r->ids, commit.id, strlen(commit.id));
}

static struct lm_err *add_outside(struct reading *r, const char *id)
{
	struct lm_git_commit commit;
	struct lm_err *err = find_node(r, id) == LM_NONE ? lm_git_commit(r->git, id, &r->h->arena, &commit) : NULL;

	if (!err && find_node(r, id) == LM_NONE)
		add_node(r, commit);
	return err;
}

/*
 * Who is compared with whom.  First parents outside the range (a branch that
 * began before it) are compared with the range's start, so that they need a
 * parse only if something differs.
 */
static struct lm_err *link_nodes(struct reading *r, size_t nr_range)
{
	struct lm_history *h = r->h;
	struct lm_err *err = NULL;

	for (size_t i = 0; !err && i < nr_range; i++)
		if (h->nodes[i].commit.nr_parents)
			err = add_outside(r, h->nodes[i].commit.parents[0]);
	for (size_t i = 0; !err && i < h->nr_nodes; i++) {
		struct lm_node *n = &h->nodes[i];

		n->parents = LM_ARENA_ARRAY(&h->arena, uint32_t, n->commit.nr_parents + 1u);
		for (unsigned k = 0; k < n->commit.nr_parents; k++)
			n->parents[k] = find_node(r, n->commit.parents[k]);
		if (i != r->start)
			n->parent = i < nr_range && n->commit.nr_parents ? n->parents[0] : r->start;
	}
	return err;
}

static struct lm_err *find_nodes(struct reading *r)
{
	const struct lm_git_range *range = r->req->range;
	struct lm_git_commits commits = { 0 };
	struct lm_err *err = lm_git_open(r->req->configs->header, &r->git);

	if (!err)
		err = lm_git_log(r->git, range->from, range->to, r->req->first_parent, &r->h->arena, &commits);
	for (size_t i = 0; !err && i < commits.nr; i++)
		add_node(r, commits.items[i]);
	if (!err)
		err = add_outside(r, range->from);
	if (!err)
		err = add_outside(r, range->to);
	if (!err) {
		r->start = find_node(r, range->from);
		r->end = find_node(r, range->to);
		r->h->nr = commits.nr;
		err = link_nodes(r, commits.nr);
	}
	return err;
}

/* ---- work in chunks: one repository, one mirror a chunk ---- */

static void chunk_of(const struct reading *r, size_t chunk, size_t *first, size_t *last)
{
	*first = r->nr_todo * chunk / r->nr_chunks;
	*last = r->nr_todo * (chunk + 1) / r->nr_chunks;
}

static void tell(struct reading *r)
{
	lm_progress(r->stage, atomic_fetch_add(&r->done, 1) + 1, r->nr_todo);
}

static struct lm_err *do_chunks(struct reading *r, const char *stage, void (*work)(void *arg, size_t chunk))
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct lm_err *err = NULL;

	r->nr_chunks = cpus < 1 ? 1 : (size_t)cpus;
	r->nr_chunks = r->nr_chunks > r->nr_todo ? r->nr_todo : r->nr_chunks;
	r->stage = stage;
	r->errors = calloc(r->nr_chunks + 1, sizeof(*r->errors));
	if (!r->errors)
		lm_oom();
	atomic_store(&r->done, 0);
	lm_progress(stage, 0, r->nr_todo);
	lm_parallel(r->nr_chunks, work, r);
	lm_progress(stage, 1, 1);
	for (size_t i = 0; i < r->nr_chunks; i++) {
		if (!err)
			err = r->errors[i];
		else
			lm_err_free(r->errors[i]);
	}
	free(r->errors);
	r->errors = NULL;
	return err;
}

/* ---- which files differ ---- */

static void list_chunk(void *arg, size_t chunk)
{
	struct reading *r = arg;
	struct lm_git *git = NULL;
	struct lm_err *err = lm_git_open(r->req->configs->header, &git);
	size_t i, last;

	chunk_of(r, chunk, &i, &last);
	for (; !err && i < last; i++) {
		struct lm_node *n = &r->h->nodes[r->todo[i]];

		if (n->parent != LM_NONE)
			err = lm_git_differences(git, r->h->nodes[n->parent].commit.id, n->commit.id, &n->arena, &n->files);
		tell(r);
	}
	lm_git_close(git);
	r->errors[chunk] = err;
}

static struct lm_err *list_files(struct reading *r)
{
	r->nr_todo = r->h->nr_nodes;
	for (uint32_t i = 0; i < r->nr_todo; i++)
		r->todo[i] = i;
	return do_chunks(r, "comparing commits", list_chunk);
}

/* ---- parsing ---- */

static struct lm_err *parse_node(struct reading *r, struct lm_tree *tree, struct lm_node *n)
{
	const char *label = lm_arena_printf(&n->arena, "%.12s", n->commit.id);
	struct lm_err *err = lm_tree_show(tree, n->commit.id);

	if (err)
		return err;
	err = lm_version_of_tree(r->req->configs, label, tree, &n->version);
	if (!err)
		err = lm_version_parse(&n->version, r->req->record);
	if (err)
		n->why = lm_arena_strdup(&n->arena, err->msg);
	lm_err_free(err);
	n->parsed = true;
	return NULL;
}

static void parse_chunk(void *arg, size_t chunk)
{
	struct reading *r = arg;
	struct lm_tree tree = { 0 };
	struct lm_err *err = lm_tree_open(r->req->configs->header, &r->req->configs->items[0].dir, 1, &tree);
	size_t first, i, last;

	chunk_of(r, chunk, &first, &last);
	for (i = first; !err && i < last; i++) {
		err = parse_node(r, &tree, &r->h->nodes[r->todo[i]]);
		tell(r);
	}
	/* The files' paths are relative to the mirror: they are taken before it goes. */
	for (i = first; i < last; i++) {
		struct lm_node *n = &r->h->nodes[r->todo[i]];
		struct lm_strings *files = lm_strings_new();

		lm_version_files(&n->version, files);
		n->version.files = files;
		n->version.tree = NULL;
	}
	lm_tree_close(&tree);
	r->errors[chunk] = err;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Parses the nodes of the list; what they include is added to the set. */
static struct lm_err *parse_todo(struct reading *r)
{
	struct lm_err *err = do_chunks(r, "reading commits", parse_chunk);

	for (size_t i = 0; i < r->nr_todo; i++) {
		struct lm_version *v = &r->h->nodes[r->todo[i]].version;

		for (uint32_t k = 0; v->files && k < lm_strings_nr(v->files); k++) {
			const char *file = lm_strings_get(v->files, k), *name = base_name(file);

			lm_strings_add(r->files, file, strlen(file));
			lm_strings_add(r->names, name, strlen(name));
		}
		lm_strings_free(v->files);
		v->files = NULL;
	}
	return err;
}

static bool touches(const struct reading *r, const struct lm_node *n)
{
	for (size_t i = 0; i < n->files.nr; i++) {
		const struct lm_git_file *f = &n->files.items[i];
		const char *name = base_name(f->path);

		if (lm_strings_find(r->files, f->path, strlen(f->path)) != LM_NO_STRING)
			return true;
		if ((f->fresh || f->kind != LM_GIT_FILE) &&
		    lm_strings_find(r->names, name, strlen(name)) != LM_NO_STRING)
			return true;
	}
	return false;
}

static struct lm_err *parse_ends(struct reading *r)
{
	struct lm_err *err;

	r->todo[0] = r->start;
	r->todo[1] = r->end;
	r->nr_todo = r->start == r->end ? 1 : 2;
	err = parse_todo(r);
	for (size_t i = 0; !err && i < r->nr_todo; i++)
		if (r->h->nodes[r->todo[i]].why)
			err = lm_err_new(LM_ERR_INPUT, "%s", r->h->nodes[r->todo[i]].why);
	return err;
}

static struct lm_err *parse_all(struct reading *r)
{
	struct lm_err *err = parse_ends(r);

	while (!err) {
		r->nr_todo = 0;
		for (uint32_t i = 0; i < r->h->nr_nodes; i++)
			if (!r->h->nodes[i].parsed && touches(r, &r->h->nodes[i]))
				r->todo[r->nr_todo++] = i;
		if (!r->nr_todo)
			break;
		err = parse_todo(r);
	}
	return err;
}

struct lm_err *lm_history_read(const struct lm_history_request *req, struct lm_history *out)
{
	struct reading r = { .req = req, .h = out, .ids = lm_strings_new(), .files = lm_strings_new(),
			     .names = lm_strings_new() };
	struct lm_err *err = find_nodes(&r);

	r.todo = LM_ARENA_ARRAY(&out->arena, uint32_t, out->nr_nodes + 2);
	if (!err)
		err = list_files(&r);
	if (!err)
		err = parse_all(&r);
	if (!err)
		out->title = out->nodes[r.end].version.title;
	out->first_node = r.start;
	out->last_node = r.end;
	lm_git_close(r.git);
	lm_strings_free(r.ids);
	lm_strings_free(r.files);
	lm_strings_free(r.names);
	return err;
}

struct lm_version *lm_history_last(const struct lm_history *h)
{
	return &h->nodes[h->last_node].version;
}

uint32_t lm_history_layout(const struct lm_history *h, uint32_t node)
{
	while (node != LM_NONE && (!h->nodes[node].parsed || h->nodes[node].why))
		node = h->nodes[node].parent;
	return node;
}

void lm_history_release(struct lm_history *h)
{
	for (size_t i = 0; i < h->nr_nodes; i++) {
		if (h->nodes[i].has_accesses)
			lm_accesses_release(&h->nodes[i].accesses);
		lm_version_release(&h->nodes[i].version);
		lm_arena_release(&h->nodes[i].arena);
	}
	lm_arena_release(&h->arena);
	*h = (struct lm_history){ 0 };
}
