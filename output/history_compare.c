/* history_compare.c - each commit of a range against its parent. */
#include "output/history_parts.h"

#include <string.h>

struct comparing {
	const struct lm_history_request *req;
	const struct lm_accesses *accesses;	/* NULL: none */
	struct lm_history *h;
};

/* Joins the profile to a version, once; a version that has none of its members stays without. */
static bool is_priced(const struct comparing *c, struct lm_node *n)
{
	struct lm_err *err;

	if (!c->accesses || n->has_accesses)
		return n->priced;
	n->has_accesses = true;
	lm_accesses_init(&n->accesses);
	lm_version_accesses(&n->version, lm_history_last(c->h), c->accesses, &n->accesses);
	err = lm_version_join(&n->version, &n->accesses, c->req->record, c->req->cpus);
	n->priced = !err;
	lm_err_free(err);
	return n->priced;
}

static bool differ(const struct comparing *c, const struct lm_node *a, const struct lm_node *b)
{
	struct lm_arena scratch = { 0 };
	bool changed = false;

	for (uint32_t v = 0; v < b->version.subject.nr_views && !changed; v++) {
		struct lm_comparison cmp;

		lm_compare(a->version.subject.views[v].rec, b->version.subject.views[v].rec, c->req->line, &scratch, &cmp);
		changed = cmp.changed;
	}
	lm_arena_release(&scratch);
	return changed;
}

/* A merge that has the layout of one of its parents did nothing of its own. */
static bool merged_it(const struct comparing *c, const struct lm_node *n, const struct lm_node *layout)
{
	for (unsigned k = 1; k < n->commit.nr_parents; k++) {
		uint32_t other = n->parents[k] == LM_NONE ? LM_NONE : lm_history_layout(c->h, n->parents[k]);

		/* A parent from before the range: nobody knows; then it is no news of this range. */
		if (other == LM_NONE || !differ(c, &c->h->nodes[other], layout))
			return true;
	}
	return false;
}

/* Configurations in which the pair shares a line in one version and not in the other (NULL: no other). */
static const char *pair_in(const struct comparing *c, const struct lm_version *in, const struct lm_version *not_in,
			   uint64_t *line)
{
	const struct lm_history_request *req = c->req;
	const char *list = "";

	for (uint32_t v = 0; req->pair_a && v < in->subject.nr_views; v++) {
		bool known;
		uint64_t at = 0;
		bool meet = lm_paths_meet(in->subject.views[v].rec, req->pair_a, req->pair_b, req->line, &at, &known);

		c->h->pair_known |= known;
		if (!meet || (not_in && lm_paths_meet(not_in->subject.views[v].rec, req->pair_a, req->pair_b, req->line, NULL,
						      NULL)))
			continue;
		if (line && !*list)
			*line = at;
		list = lm_change_list(list, in->subject.views[v].config, &c->h->arena);
	}
	return list;
}

static bool touches_header(const struct lm_node *n, const struct lm_history *h)
{
	/* The same file in every version but for renames: its path ends the header's. */
	const char *header = h->nodes[h->last_node].version.configs.header;

	for (size_t i = 0; i < n->files.nr; i++) {
		size_t len = strlen(n->files.items[i].path), whole = strlen(header);

		if (whole > len && header[whole - len - 1] == '/' && !strcmp(header + whole - len, n->files.items[i].path))
			return true;
	}
	return false;
}

static void compare(const struct comparing *c, uint32_t i, struct lm_history_commit *out)
{
	struct lm_history *h = c->h;
	struct lm_node *n = &h->nodes[i];
	uint32_t before = n->parent == LM_NONE ? LM_NONE : lm_history_layout(h, n->parent);
	struct lm_change_opts opts = { .line = c->req->line, .base_align = c->req->base_align };

	*out = (struct lm_history_commit){ .commit = n->commit, .came_in = "", .went_in = "",
					   .touches_header = touches_header(n, h) };
	if (!n->parsed)
		return;
	out->kind = LM_HISTORY_NO_LAYOUT;
	out->why = n->why;
	if (n->why || before == LM_NONE)
		return;
	out->kind = LM_HISTORY_SAME;
	if (!differ(c, &h->nodes[before], n))
		return;
	out->kind = LM_HISTORY_MERGE;
	if (!c->req->first_parent && n->commit.nr_parents > 1 && merged_it(c, n, n))
		return;
	out->kind = LM_HISTORY_CHANGED;
	opts.priced = is_priced(c, &h->nodes[before]) && is_priced(c, n);
	lm_change_make(&h->nodes[before].version, &n->version, &opts, &h->arena, &out->change);
	out->came_in = pair_in(c, &n->version, &h->nodes[before].version, &out->came_line);
	out->went_in = pair_in(c, &h->nodes[before].version, &n->version, NULL);
}

void lm_history_compare(const struct lm_history_request *req, const struct lm_accesses *accesses, struct lm_history *h)
{
	struct comparing c = { .req = req, .accesses = accesses, .h = h };

	h->commits = LM_ARENA_ARRAY(&h->arena, struct lm_history_commit, h->nr + 1);
	for (size_t i = 0; i < h->nr; i++)
		compare(&c, (uint32_t)i, &h->commits[i]);
	h->together_before = pair_in(&c, &h->nodes[h->first_node].version, NULL, NULL);
	h->together_after = pair_in(&c, &h->nodes[h->last_node].version, NULL, NULL);
}
