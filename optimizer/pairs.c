/* pairs.c - who fights with whom. */
#include "optimizer/pairs.h"

#include "optimizer/path.h"

#include <stdlib.h>
#include <string.h>

/* One leaf on one line: which touches of the view fall there. */
struct part {
	uint64_t line;
	uint32_t leaf;
	uint32_t *touches;
	size_t nr, cap;
	double alone;
};

struct parts {
	struct part *items;	/* sorted by line, leaf */
	size_t nr, cap;
};

/* A touch cut to one line. */
struct piece {
	uint64_t line;
	uint32_t leaf, touch;
};

static int by_line(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->leaf != y->leaf)
		return x->leaf < y->leaf ? -1 : 1;
	return (x->touch > y->touch) - (x->touch < y->touch);
}

/* Every leaf's share of every line, in view v. */
static struct parts find_parts(const struct lm_usage *u, uint32_t v, const struct lm_layout *l, uint32_t line,
			       struct lm_cost *cost, struct lm_arena *arena)
{
	struct piece *pieces = NULL;
	size_t nr = 0, cap = 0;
	struct parts parts = { 0 };

	for (uint32_t i = 0; i < u->nr_touches[v]; i++) {
		const struct lm_touch *t = &u->touches[v][i];
		uint64_t begin = l->bit_offset[t->field] / 8 + t->offset;

		if (t->leaf == LM_NONE)
			continue;
		for (uint64_t at = begin / line; at <= (begin + t->size - 1) / line; at++)
			*LM_ARENA_PUSH(arena, pieces, nr, cap) = (struct piece){ at, t->leaf, i };
	}
	if (nr)
		qsort(pieces, nr, sizeof(*pieces), by_line);
	for (size_t i = 0; i < nr; i++) {
		struct part *p = parts.nr ? &parts.items[parts.nr - 1] : NULL;

		if (!p || p->line != pieces[i].line || p->leaf != pieces[i].leaf) {
			p = LM_ARENA_PUSH(arena, parts.items, parts.nr, parts.cap);
			*p = (struct part){ .line = pieces[i].line, .leaf = pieces[i].leaf };
		}
		*LM_ARENA_PUSH(arena, p->touches, p->nr, p->cap) = pieces[i].touch;
	}
	for (size_t i = 0; i < parts.nr; i++)
		parts.items[i].alone = lm_cost_set(cost, parts.items[i].touches, parts.items[i].nr);
	return parts;
}

static double writes_of(const struct lm_usage *u, uint32_t v, const struct part *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->nr; i++)
		sum += u->touches[v][p->touches[i]].writes;
	return sum;
}

static double price_both(struct lm_cost *cost, const struct part *a, const struct part *b, struct lm_arena *arena)
{
	uint32_t *both = LM_ARENA_ARRAY(arena, uint32_t, a->nr + b->nr);

	memcpy(both, a->touches, a->nr * sizeof(*both));
	memcpy(both + a->nr, b->touches, b->nr * sizeof(*both));
	return lm_cost_set(cost, both, a->nr + b->nr);
}

struct pair_list {
	struct lm_pair *items;
	size_t nr, cap;
};

static const char *path_of(const struct lm_subject *s, const struct lm_pair *p, uint32_t leaf)
{
	return s->views[p->view].rec->leaves[leaf].path;
}

static bool same_paths(const struct lm_subject *s, const struct lm_pair *a, const struct lm_pair *b)
{
	const char *a1 = path_of(s, a, a->leaf_a), *a2 = path_of(s, a, a->leaf_b);
	const char *b1 = path_of(s, b, b->leaf_a), *b2 = path_of(s, b, b->leaf_b);

	return (!strcmp(a1, b1) && !strcmp(a2, b2)) || (!strcmp(a1, b2) && !strcmp(a2, b1));
}

static void add_pair(const struct lm_subject *s, struct pair_list *list, struct lm_pair p, struct lm_arena *arena)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (!same_paths(s, &list->items[i], &p))
			continue;
		if (p.excess > list->items[i].excess)
			list->items[i] = p;
		return;
	}
	*LM_ARENA_PUSH(arena, list->items, list->nr, list->cap) = p;
}

static int by_excess(const void *a, const void *b)
{
	const struct lm_pair *x = a, *y = b;

	if (x->excess != y->excess)
		return x->excess > y->excess ? -1 : 1;
	if (x->view != y->view)
		return x->view < y->view ? -1 : 1;
	if (x->leaf_a != y->leaf_a)
		return x->leaf_a < y->leaf_a ? -1 : 1;
	return (x->leaf_b > y->leaf_b) - (x->leaf_b < y->leaf_b);
}

/* Two leaves at the same bytes (members of one union) are no pair: they are one place. */
static bool overlap(const struct lm_record *rec, uint32_t a, uint32_t b)
{
	const struct lm_leaf *x = &rec->leaves[a], *y = &rec->leaves[b];

	return x->field == y->field && x->offset < y->offset + y->size && y->offset < x->offset + x->size;
}

static uint32_t unit_of(const struct lm_subject *s, uint32_t v, uint32_t leaf)
{
	return s->views[v].field_unit[s->views[v].rec->leaves[leaf].field];
}

static void pairs_of_line(const struct lm_subject *s, const struct lm_usage *u, uint32_t v, struct lm_cost *cost,
			  const struct part *parts, size_t nr, double least, struct lm_arena *arena,
			  struct pair_list *list)
{
	for (size_t i = 0; i < nr; i++) {
		for (size_t j = i + 1; j < nr; j++) {
			const struct part *a = &parts[i], *b = &parts[j];
			struct lm_arena scratch = { 0 };
			double excess;

			if (overlap(s->views[v].rec, a->leaf, b->leaf))
				continue;
			excess = price_both(cost, a, b, &scratch) - a->alone - b->alone;
			lm_arena_release(&scratch);
			if (excess < least)
				continue;
			if (writes_of(u, v, b) > writes_of(u, v, a)) {
				a = &parts[j];
				b = &parts[i];
			}
			add_pair(s, list, (struct lm_pair){
				.view = v, .line = a->line, .leaf_a = a->leaf, .leaf_b = b->leaf, .excess = excess,
				.inside = unit_of(s, v, a->leaf) == unit_of(s, v, b->leaf),
			}, arena);
		}
	}
}

void lm_pairs_priced(const struct lm_subject *s, const struct lm_usage *u, struct lm_cost *const *costs,
		     const struct lm_layout *layouts, uint32_t line, double least, struct lm_arena *arena,
		     struct lm_pair **pairs, uint32_t *nr)
{
	struct pair_list list = { 0 };

	for (uint32_t v = 0; v < s->nr_views; v++) {
		struct lm_arena scratch = { 0 };
		struct parts parts = find_parts(u, v, &layouts[v], line, costs[v], &scratch);

		for (size_t i = 0, j; i < parts.nr; i = j) {
			for (j = i; j < parts.nr && parts.items[j].line == parts.items[i].line; j++)
				;
			pairs_of_line(s, u, v, costs[v], &parts.items[i], j - i, least, arena, &list);
		}
		lm_arena_release(&scratch);
	}
	if (list.nr)
		qsort(list.items, list.nr, sizeof(*list.items), by_excess);
	*pairs = list.items;
	*nr = (uint32_t)list.nr;
}

void lm_pairs_find(const struct lm_subject *s, const struct lm_usage *u, struct lm_objective *o,
		   const struct lm_layout *layouts, uint32_t line, double least, struct lm_arena *arena,
		   struct lm_pair **pairs, uint32_t *nr)
{
	struct lm_cost **costs = LM_ARENA_ARRAY(arena, struct lm_cost *, s->nr_views);

	for (uint32_t v = 0; v < s->nr_views; v++)
		costs[v] = lm_objective_pricing(o, v);
	lm_pairs_priced(s, u, costs, layouts, line, least, arena, pairs, nr);
}

/* ---- are they apart? ---- */

/* Bytes of a leaf that the profile touches, inside its field; false if none in view v. */
static bool touched_bytes(const struct lm_usage *u, uint32_t v, uint32_t leaf, uint64_t *begin, uint64_t *end)
{
	*begin = UINT64_MAX;
	*end = 0;
	for (size_t i = 0; i < u->nr_touches[v]; i++) {
		const struct lm_touch *t = &u->touches[v][i];

		if (t->leaf != leaf)
			continue;
		*begin = t->offset < *begin ? t->offset : *begin;
		*end = t->offset + t->size > *end ? t->offset + t->size : *end;
	}
	return *end != 0;
}

struct reach {			/* a leaf's touched bytes in one view; end 0: absent */
	uint32_t field;
	uint64_t begin, end;
};

static struct reach reach_of(const struct lm_subject *s, const struct lm_usage *u, uint32_t v, const char *path)
{
	const struct lm_record *rec = s->views[v].rec;
	uint32_t leaf = lm_path_leaf(rec, path);
	struct reach r = { 0 };

	if (leaf == LM_NONE || !touched_bytes(u, v, leaf, &r.begin, &r.end))
		return (struct reach){ 0 };
	r.field = rec->leaves[leaf].field;
	return r;
}

/* Bytes between which an object may start in a line; the line itself if its alignment fixes that. */
static uint32_t base_step(const struct lm_subject *s, uint32_t v, uint32_t line, uint32_t base_align)
{
	uint32_t align = s->views[v].rec->align > base_align ? s->views[v].rec->align : base_align;

	return align < 1 ? 1 : align < line ? align : line;
}

/*
 * Bytes between the two; negative if they overlap.  meet: they share a line for
 * some base.  Where several are possible, the line that holds the first one's
 * last byte may start at any multiple of step: the furthest that it can reach
 * is a line from the last multiple at or before that byte, and the second must
 * be behind it.  What it has left to that is the distance then.
 */
static int64_t distance(const struct reach *a, const struct reach *b, const struct lm_layout *l, uint32_t line,
			uint32_t step, bool *meet)
{
	uint64_t a0 = l->bit_offset[a->field] / 8 + a->begin, a1 = l->bit_offset[a->field] / 8 + a->end;
	uint64_t b0 = l->bit_offset[b->field] / 8 + b->begin, b1 = l->bit_offset[b->field] / 8 + b->end;
	int64_t gap = a0 < b0 ? (int64_t)(b0 - a1) : (int64_t)(a0 - b1);

	if (step < line) {
		uint64_t last = (a0 < b0 ? a1 : b1) - 1, second = a0 < b0 ? b0 : a0;

		gap = (int64_t)second - (int64_t)(last / step * step + line);
		*meet = gap < 0;
		return gap;
	}
	*meet = a0 < b0 ? (a1 - 1) / line >= b0 / line : (b1 - 1) / line >= a0 / line;
	return gap;
}

void lm_pairs_judge(const struct lm_subject *s, const struct lm_usage *u, const struct lm_layout *after, uint32_t line,
		    uint32_t base_align, struct lm_pair *pairs, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		struct lm_pair *p = &pairs[i];

		p->apart_after = true;
		p->slack = INT64_MAX;
		for (uint32_t v = 0; v < s->nr_views; v++) {
			struct reach a = reach_of(s, u, v, path_of(s, p, p->leaf_a));
			struct reach b = reach_of(s, u, v, path_of(s, p, p->leaf_b));
			bool meet;

			if (!a.end || !b.end)
				continue;

			int64_t slack = distance(&a, &b, &after[v], line, base_step(s, v, line, base_align), &meet);

			p->apart_after &= !meet;
			p->slack = slack < p->slack ? slack : p->slack;
		}
	}
}

/* ---- true sharing ---- */

static int by_transfers(const void *a, const void *b)
{
	const struct lm_true_sharing *x = a, *y = b;

	if (x->transfers != y->transfers)
		return x->transfers > y->transfers ? -1 : 1;
	return (x->leaf > y->leaf) - (x->leaf < y->leaf);
}

void lm_pairs_true_sharing(const struct lm_subject *s, const struct lm_usage *u, struct lm_objective *o,
			   uint32_t line, double least, struct lm_arena *arena, struct lm_true_sharing **shared,
			   uint32_t *nr)
{
	struct lm_arena scratch = { 0 };
	struct lm_cost *cost = lm_objective_pricing(o, 0);
	struct parts parts = find_parts(u, 0, lm_objective_before(o, 0), line, cost, &scratch);
	double *sums = LM_ARENA_ARRAY(arena, double, s->views[0].rec->nr_leaves + 1);

	*shared = LM_ARENA_ARRAY(arena, struct lm_true_sharing, s->views[0].rec->nr_leaves + 1);
	*nr = 0;
	for (size_t i = 0; i < parts.nr; i++)
		sums[parts.items[i].leaf] += parts.items[i].alone;
	lm_arena_release(&scratch);
	for (uint32_t l = 0; l < s->views[0].rec->nr_leaves; l++) {
		if (sums[l] < least || sums[l] <= 0)
			continue;
		(*shared)[(*nr)++] = (struct lm_true_sharing){ l, sums[l] };
	}
	qsort(*shared, *nr, sizeof(**shared), by_transfers);
}

/* ---- under change ---- */

static bool any_meet(const struct reach *reaches, uint32_t nr, const struct lm_layout *l, uint32_t line,
		     uint32_t step)
{
	for (uint32_t i = 0; i < nr; i++) {
		bool meet = false;

		if (reaches[2 * i].end && reaches[2 * i + 1].end)
			distance(&reaches[2 * i], &reaches[2 * i + 1], l, line, step, &meet);
		if (meet)
			return true;
	}
	return false;
}

void lm_pairs_stability(const struct lm_subject *s, const struct lm_usage *u, const struct lm_objective *o,
			const struct lm_order *order, const struct lm_pair *pairs, uint32_t nr, uint32_t line,
			uint32_t base_align, struct lm_stability *out)
{
	struct lm_arena arena = { 0 };
	struct lm_order identity = lm_order_identity(s, &arena);
	const struct lm_layout_mark start = LM_LAYOUT_START;

	*out = (struct lm_stability){ 0 };
	for (uint32_t v = 0; v < s->nr_views; v++) {
		struct reach *reaches = LM_ARENA_ARRAY(&arena, struct reach, 2 * (size_t)nr + 1);
		struct lm_layout l = { .bit_offset = LM_ARENA_ARRAY(&arena, uint64_t, s->views[v].rec->nr_fields + 1) };
		uint32_t kept = 0;
		size_t nr_resizes;
		const struct lm_resize *resizes = lm_objective_perturbations(o, v, &nr_resizes);
		uint32_t step = base_step(s, v, line, base_align);

		for (uint32_t i = 0; i < nr; i++) {
			if (!pairs[i].apart_after || pairs[i].inside)
				continue;
			reaches[2 * kept] = reach_of(s, u, v, path_of(s, &pairs[i], pairs[i].leaf_a));
			reaches[2 * kept + 1] = reach_of(s, u, v, path_of(s, &pairs[i], pairs[i].leaf_b));
			kept++;
		}
		for (size_t i = 0; i < nr_resizes; i++) {
			out->perturbations++;
			lm_layout_resized(&s->views[v], s->body->nr_units, &identity, line, &start, 0, &resizes[i], &l);
			out->meet_before += any_meet(reaches, kept, &l, line, step);
			lm_layout_resized(&s->views[v], s->body->nr_units, order, line, &start, 0, &resizes[i], &l);
			out->meet_after += any_meet(reaches, kept, &l, line, step);
		}
	}
	lm_arena_release(&arena);
}
