/* picture_pairs.c - where the two leaves of a pair lie in one view's layout. */
#include "output/picture_parts.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of a leaf that are touched, and how often. */
struct spot {
	uint64_t begin, end;	/* bytes from the record's start */
	double weight;
};

struct spots {
	struct spot *items;	/* one a line, by line: the hottest */
	size_t nr;
};

/* A view's leaf by its path; LM_NONE if the view has none. */
static uint32_t leaf_by_path(const struct lm_record *rec, const char *path)
{
	for (uint32_t i = 0; i < rec->nr_leaves; i++)
		if (!strcmp(rec->leaves[i].path, path))
			return i;
	return LM_NONE;
}

static int compare_spot(const void *pa, const void *pb)
{
	const struct spot *a = pa, *b = pb;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return 0;
}

/* Adds equal spots up, then keeps the hottest of each line. */
static void keep_hottest(struct spots *s, uint32_t line)
{
	size_t sums = 0, nr = 0;

	for (size_t i = 0; i < s->nr; i++) {
		if (sums && !compare_spot(&s->items[sums - 1], &s->items[i]))
			s->items[sums - 1].weight += s->items[i].weight;
		else
			s->items[sums++] = s->items[i];
	}
	for (size_t i = 0; i < sums; i++) {
		if (!nr || s->items[nr - 1].begin / line != s->items[i].begin / line)
			s->items[nr++] = s->items[i];
		else if (s->items[i].weight > s->items[nr - 1].weight)
			s->items[nr - 1] = s->items[i];
	}
	s->nr = nr;
}

static struct spots find_spots(const struct lm_pic_work *w, const struct lm_layout *l, uint32_t leaf, bool writes_only)
{
	const struct lm_usage *u = w->rows->story->usage;
	struct spots s = { 0 };

	for (size_t i = 0; i < u->nr_touches[w->v]; i++)
		s.nr += u->touches[w->v][i].leaf == leaf;
	s.items = LM_ARENA_ARRAY(w->arena, struct spot, s.nr + 1);
	s.nr = 0;
	for (size_t i = 0; i < u->nr_touches[w->v]; i++) {
		const struct lm_touch *t = &u->touches[w->v][i];
		uint64_t begin = l->bit_offset[t->field] / 8 + t->offset;
		double weight = t->writes + (writes_only ? 0 : t->reads);

		if (t->leaf == leaf && weight > 0)
			s.items[s.nr++] = (struct spot){ begin, begin + (t->size ? t->size : 1), weight };
	}
	qsort(s.items, s.nr, sizeof(*s.items), compare_spot);
	keep_hottest(&s, w->pic->line);
	return s;
}

static const struct spot *hottest(const struct spots *s)
{
	const struct spot *best = NULL;

	for (size_t i = 0; i < s->nr; i++)
		if (!best || s->items[i].weight > best->weight)
			best = &s->items[i];
	return best;
}

/* The hottest line that both are on. */
static bool meet(const struct spots *a, const struct spots *b, uint32_t line, const struct spot **at_a,
		 const struct spot **at_b)
{
	double best = 0;

	for (size_t i = 0, j = 0; i < a->nr && j < b->nr;) {
		uint64_t la = a->items[i].begin / line, lb = b->items[j].begin / line;

		if (la == lb && a->items[i].weight + b->items[j].weight > best) {
			best = a->items[i].weight + b->items[j].weight;
			*at_a = &a->items[i];
			*at_b = &b->items[j];
		}
		i += la <= lb;
		j += lb <= la;
	}
	return best > 0;
}

static void place(uint64_t line, const struct spot *s, uint64_t *number, uint32_t *begin, uint32_t *end)
{
	uint64_t stop = (s->begin / line + 1) * line;

	*number = s->begin / line;
	*begin = (uint32_t)(s->begin % line) * 8;
	*end = *begin + (uint32_t)((s->end < stop ? s->end : stop) - s->begin) * 8;
}

static void add_pair(struct lm_pic_work *w, const struct lm_layout *l, const struct lm_pair *p, uint32_t number,
		     bool fresh, struct lm_pic_side *side)
{
	const struct lm_record *from = w->rows->story->subject->views[p->view].rec, *rec = w->view->rec;
	uint32_t a = leaf_by_path(rec, from->leaves[p->leaf_a].path);
	uint32_t b = leaf_by_path(rec, from->leaves[p->leaf_b].path);
	struct lm_pic_pair *row = &side->pairs[side->nr_pairs];
	const struct spot *at_a = NULL, *at_b = NULL;
	struct spots sa, sb;

	if (a == LM_NONE || b == LM_NONE)
		return;
	sa = find_spots(w, l, a, true);
	sb = find_spots(w, l, b, false);
	*row = (struct lm_pic_pair){ .pair = number, .fresh = fresh };
	row->joined = meet(&sa, &sb, w->pic->line, &at_a, &at_b);
	if (!row->joined) {
		at_a = hottest(&sa);
		at_b = hottest(&sb);
	}
	if (!at_a || !at_b || (fresh && !row->joined))
		return;
	place(w->pic->line, at_a, &row->line_a, &row->begin_a, &row->end_a);
	place(w->pic->line, at_b, &row->line_b, &row->begin_b, &row->end_b);
	row->field_a = rec->leaves[a].field;
	row->field_b = rec->leaves[b].field;
	/* An element of a flexible array may lie behind all that is drawn. */
	if (row->line_a < side->nr_lines && row->line_b < side->nr_lines)
		side->nr_pairs++;
}

static uint32_t nr_shown(uint32_t nr)
{
	return nr < LM_PIC_PAIRS ? nr : LM_PIC_PAIRS;
}

void lm_pic_add_pairs(struct lm_pic_work *w, const struct lm_layout *l, bool is_after, struct lm_pic_side *side)
{
	const struct lm_plan *plan = w->rows->story->plan;
	uint32_t nr = nr_shown(w->rows->nr_main_pairs), nr_new = is_after ? nr_shown(w->rows->nr_new_pairs) : 0;

	side->pairs = LM_ARENA_ARRAY(w->arena, struct lm_pic_pair, nr + nr_new + 1u);
	for (uint32_t i = 0; i < nr; i++)
		add_pair(w, l, &plan->pairs[i], i, false, side);
	for (uint32_t i = 0; i < nr_new; i++)
		add_pair(w, l, &plan->new_pairs[i], i, true, side);
}

static void link_field(struct lm_pic_work *w, const struct lm_pair *p, uint32_t leaf_of_pair)
{
	const char *path = w->rows->story->subject->views[p->view].rec->leaves[leaf_of_pair].path;
	uint32_t leaf = leaf_by_path(w->view->rec, path);
	struct lm_pic_field *f;

	if (leaf == LM_NONE)
		return;
	f = &w->pic->fields[w->view->rec->leaves[leaf].field];
	f->link |= f->line_before != f->line_after;
}

void lm_pic_mark_pairs(struct lm_pic_work *w)
{
	const struct lm_plan *plan = w->rows->story->plan;

	for (uint32_t i = 0; i < nr_shown(w->rows->nr_main_pairs); i++) {
		link_field(w, &plan->pairs[i], plan->pairs[i].leaf_a);
		link_field(w, &plan->pairs[i], plan->pairs[i].leaf_b);
	}
}
