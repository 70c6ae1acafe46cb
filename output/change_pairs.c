/* change_pairs.c - the line mates that explain why one version costs more than the other. */
#include "output/change_parts.h"

#include "optimizer/pairs.h"
#include "optimizer/path.h"
#include "output/words.h"

#include <stdlib.h>
#include <string.h>

static const double least_share = 0.001;	/* differences below this share of the transfers are not listed */

/* One configuration of one version, as a subject of its own. */
struct slice {
	struct lm_subject subject;
	struct lm_usage usage;
	struct lm_plan_opts plan_opts;
	struct lm_story story;
	const struct lm_layout *layout;
	const struct lm_record *rec;
	struct lm_pair *pairs;
	uint32_t nr;
};

static void cut_slice(const struct lm_version *v, uint32_t view, const struct lm_change_opts *opts,
		      struct lm_arena *arena, struct slice *s)
{
	struct lm_objective_opts objective = { .line = opts->line, .base_align = opts->base_align };
	struct lm_objective *o;

	*s = (struct slice){
		.subject = { .body = v->subject.body, .views = v->subject.views + view, .nr_views = 1 },
		.usage = v->usage, .plan_opts = { .line = opts->line, .base_align = opts->base_align },
		.layout = &v->layouts[view], .rec = v->subject.views[view].rec,
	};
	s->usage.touches += view;
	s->usage.nr_touches += view;
	s->story = (struct lm_story){ .subject = &s->subject, .usage = &s->usage, .opts = &s->plan_opts };
	o = lm_objective_new(&s->subject, NULL, &s->usage, &objective);
	lm_pairs_find(&s->subject, &s->usage, o, s->layout, opts->line, 1e-9, arena, &s->pairs, &s->nr);
	lm_objective_free(o);
}

static const char *path_of(const struct slice *s, uint32_t leaf)
{
	return s->rec->leaves[leaf].path;
}

/* What the same two leaves cost each other in the other version. */
static double excess_in(const struct slice *s, const char *a, const char *b)
{
	for (uint32_t i = 0; i < s->nr; i++) {
		const char *x = path_of(s, s->pairs[i].leaf_a), *y = path_of(s, s->pairs[i].leaf_b);

		if ((!strcmp(x, a) && !strcmp(y, b)) || (!strcmp(x, b) && !strcmp(y, a)))
			return s->pairs[i].excess;
	}
	return 0;
}

/* The lines of what is touched of a leaf. */
static const char *lines_in(const struct slice *s, const char *path, uint32_t line, struct lm_arena *arena)
{
	uint32_t leaf = lm_path_leaf(s->rec, path);
	uint64_t begin = UINT64_MAX, end = 0, start;

	if (leaf == LM_NONE)
		return "nowhere";
	for (size_t i = 0; i < s->usage.nr_touches[0]; i++) {
		const struct lm_touch *t = &s->usage.touches[0][i];

		if (t->leaf != leaf)
			continue;
		begin = t->offset < begin ? t->offset : begin;
		end = t->offset + t->size > end ? t->offset + t->size : end;
	}
	if (!end) {
		begin = s->rec->leaves[leaf].offset;
		end = begin + (s->rec->leaves[leaf].size ? s->rec->leaves[leaf].size : 1);
	}
	start = s->layout->bit_offset[s->rec->leaves[leaf].field] / 8;
	begin = (start + begin) / line;
	end = (start + end - 1) / line;
	if (begin == end)
		return lm_arena_printf(arena, "line %llu", (unsigned long long)begin);
	return lm_arena_printf(arena, "lines %llu-%llu", (unsigned long long)begin, (unsigned long long)end);
}

struct rows {
	struct lm_change_pair *items;
	size_t nr, cap;
};

static void fill_row(const struct lm_change *c, uint32_t v, const struct slice *own, const struct slice *other,
		     const struct lm_pair *p, struct lm_arena *arena, struct lm_change_pair *row)
{
	/* Where the base moves, a line is no fixed set of bytes: show all accesses. */
	uint64_t line = c->base_fixed ? p->line : LM_ANY_LINE;

	lm_row_side_make(&own->story, 0, p->leaf_a, own->layout, line, arena, &row->a);
	lm_row_side_make(&own->story, 0, p->leaf_b, own->layout, line, arena, &row->b);
	row->config = c->configs[v].name;
	row->line = p->line;
	row->excess = p->excess;
	row->other_excess = excess_in(other, row->path_a, row->path_b);
	row->other_a = lines_in(other, row->path_a, c->line, arena);
	row->other_b = lines_in(other, row->path_b, c->line, arena);
	row->inside = NULL;
	if (own->rec->leaves[p->leaf_a].field == own->rec->leaves[p->leaf_b].field)
		row->inside = lm_safe(arena, own->rec->fields[own->rec->leaves[p->leaf_a].field].key);
}

static bool same_pair(const struct lm_change_pair *row, const char *a, const char *b)
{
	return (!strcmp(row->path_a, a) && !strcmp(row->path_b, b)) || (!strcmp(row->path_a, b) && !strcmp(row->path_b, a));
}

/* The pairs of one version that cost more there than in the other. */
static void add_pairs(const struct lm_change *c, uint32_t v, const struct slice *own, const struct slice *other,
		      struct lm_arena *arena, struct rows *rows)
{
	const struct lm_change_config *config = &c->configs[v];
	double most = config->before.transfers > config->after.transfers ? config->before.transfers : config->after.transfers;

	for (uint32_t i = 0; i < own->nr; i++) {
		const struct lm_pair *p = &own->pairs[i];
		struct lm_change_pair found = { .path_a = path_of(own, p->leaf_a), .path_b = path_of(own, p->leaf_b) };
		double by = p->excess - excess_in(other, found.path_a, found.path_b);
		struct lm_change_pair *row = NULL;

		if (by <= least_share * most)
			continue;
		for (size_t k = 0; k < rows->nr && !row; k++)
			if (same_pair(&rows->items[k], found.path_a, found.path_b))
				row = &rows->items[k];
		if (!row) {
			row = LM_ARENA_PUSH(arena, rows->items, rows->nr, rows->cap);
			*row = found;
		}
		row->configs = lm_change_list(row->configs, config->name, arena);
		if (by > row->excess - row->other_excess)
			fill_row(c, v, own, other, p, arena, row);
	}
}

static int by_difference(const void *pa, const void *pb)
{
	const struct lm_change_pair *a = pa, *b = pb;
	double x = a->excess - a->other_excess, y = b->excess - b->other_excess;

	if (x != y)
		return x > y ? -1 : 1;
	return strcmp(a->path_a, b->path_a) ? strcmp(a->path_a, b->path_a) : strcmp(a->path_b, b->path_b);
}

void lm_change_pairs(struct lm_change *c, const struct lm_change_opts *opts, struct lm_arena *arena)
{
	struct rows came = { 0 }, went = { 0 };

	for (uint32_t v = 0; v < c->nr_configs; v++) {
		struct slice before, after;

		if (!c->configs[v].cmp.changed)
			continue;
		cut_slice(c->before, v, opts, arena, &before);
		cut_slice(c->after, v, opts, arena, &after);
		add_pairs(c, v, &after, &before, arena, &came);
		add_pairs(c, v, &before, &after, arena, &went);
	}
	if (came.nr)
		qsort(came.items, came.nr, sizeof(*came.items), by_difference);
	if (went.nr)
		qsort(went.items, went.nr, sizeof(*went.items), by_difference);
	c->came = came.items;
	c->nr_came = (uint32_t)came.nr;
	c->went = went.items;
	c->nr_went = (uint32_t)went.nr;
}
