/* promise_check.c - promises + layouts -> what is broken, and by how much. */
#include "optimizer/promise_check.h"

#include "optimizer/path.h"
#include "optimizer/similar.h"

#include <string.h>

struct judging {
	const struct lm_promises *p;
	const struct lm_subject *s;
	const struct lm_layout *layouts;
	const struct lm_promise_opts *opts;
	struct lm_arena *arena;
	struct lm_promise_verdict *out;
};

/* One view's layout with what is known of an object's address. */
struct ground {
	const struct lm_view *view;
	const struct lm_layout *layout;	/* NULL: as clang says */
	uint64_t line;
	uint64_t step;			/* objects start at multiples of it; at least 1 */
};

struct extent {
	uint32_t field;
	uint64_t begin, end;		/* bytes from the record's start */
};

static struct ground ground_of(const struct lm_view *view, const struct lm_layout *layout,
			       const struct lm_promise_opts *opts)
{
	struct ground g = { .view = view, .layout = layout, .line = opts->line };
	uint32_t align = layout ? layout->align : view->rec->align;

	g.step = align > opts->base_align ? align : opts->base_align;
	g.step = g.step ? g.step : 1;
	return g;
}

bool lm_promise_base_fixed(const struct lm_view *view, const struct lm_promise_opts *opts)
{
	return ground_of(view, NULL, opts).step >= opts->line;
}

static uint64_t field_bit(const struct ground *g, uint32_t f)
{
	return g->layout ? g->layout->bit_offset[f] : g->view->rec->fields[f].bit_offset;
}

static uint64_t field_start(const struct ground *g, uint32_t f)
{
	return field_bit(g, f) / 8;
}

static bool find(const struct ground *g, const char *member, struct extent *e)
{
	const struct lm_field *f;
	uint64_t start;

	if (!lm_path_extent(g->view->rec, member, &e->field, &e->begin, &e->end))
		return false;
	f = &g->view->rec->fields[e->field];
	start = field_start(g, e->field);
	if (f->bits != LM_NOT_BITS)
		e->end = (field_bit(g, e->field) % 8 + f->bits + 7) / 8;
	e->begin += start;
	e->end += start;
	/* A member without bytes (a flexible array) stands for the first byte of what it will hold. */
	e->end += e->end == e->begin;
	return true;
}

/* ---- where bytes meet ---- */

/* May byte x and a later byte y lie on one line? */
static bool may_meet(const struct ground *g, uint64_t x, uint64_t y)
{
	if (g->step >= g->line)
		return x / g->line == y / g->line;
	for (uint64_t base = 0; base < g->line; base += g->step)
		if ((base + x) / g->line == (base + y) / g->line)
			return true;
	return false;
}

static bool share_line(const struct ground *g, const struct extent *a, const struct extent *b)
{
	const struct extent *first = a->begin < b->begin ? a : b, *second = first == a ? b : a;

	return second->begin < first->end || may_meet(g, first->end - 1, second->begin);
}

/* Bytes that the later of two line mates must move away; if less, that the earlier one must. */
static uint64_t bytes_apart(const struct ground *g, const struct extent *a, const struct extent *b)
{
	const struct extent *first = a->begin < b->begin ? a : b, *second = first == a ? b : a;
	uint64_t last = first->end - 1, up = 0, down;

	if (second->begin <= last)
		up = last - second->begin + 1;
	while (may_meet(g, last, second->begin + up))
		up++;
	if (g->step < g->line)
		return up;
	down = last - last / g->line * g->line + 1;
	/* Nothing lies in front of the record. */
	return down < up && down <= first->begin ? down : up;
}

/* Can bytes [begin, end) lie on one line?  Where the base is not known: no more than a line of them. */
static bool on_one_line(const struct ground *g, uint64_t begin, uint64_t end)
{
	if (g->step >= g->line)
		return begin / g->line == (end - 1) / g->line;
	return end - begin <= g->line;
}

/* ---- one side of a breach in words ---- */

static const char *leaf_text(const struct lm_leaf *l, uint64_t start, uint64_t begin, struct lm_arena *arena)
{
	uint64_t at = start + l->offset;

	if (l->elem_size && l->size > l->elem_size && begin > at)
		return lm_arena_printf(arena, "%s[%llu]", l->path, (unsigned long long)((begin - at) / l->elem_size));
	if (l->elem_size && l->size > l->elem_size)
		return lm_arena_printf(arena, "%s[0]", l->path);
	return l->path;
}

/* The first leaf of e that lies in bytes [begin, end). */
static const char *leaf_in(const struct ground *g, const struct extent *e, uint64_t begin, uint64_t end,
			   struct lm_arena *arena)
{
	const struct lm_record *rec = g->view->rec;
	const struct lm_field *f = &rec->fields[e->field];
	uint64_t start = field_start(g, e->field);

	begin = begin > e->begin ? begin : e->begin;
	end = end < e->end ? end : e->end;
	for (uint32_t i = f->first_leaf; i < f->first_leaf + f->nr_leaves; i++) {
		const struct lm_leaf *l = &rec->leaves[i];

		if (start + l->offset < end && start + l->offset + l->size > begin)
			return leaf_text(l, start, begin, arena);
	}
	return f->key;
}

static struct lm_breach_side side(const struct ground *g, const char *member, const struct extent *e, uint64_t begin,
				  uint64_t end, struct lm_arena *arena)
{
	return (struct lm_breach_side){ .member = member, .field = e->field, .begin = e->begin, .end = e->end,
					.leaf = arena ? leaf_in(g, e, begin, end, arena) : NULL };
}

/* ---- the promises, each in one view; true: kept.  arena NULL: only the answer is wanted ---- */

static bool pair_kept(const struct ground *g, const char *m, const char *n, struct lm_arena *arena,
		      struct lm_breach *out)
{
	struct extent a, b;

	if (!find(g, m, &a) || !find(g, n, &b) || !share_line(g, &a, &b))
		return true;

	uint64_t later = a.begin > b.begin ? a.begin : b.begin, last = a.begin < b.begin ? a.end - 1 : b.end - 1;
	uint64_t begin = later / g->line * g->line, end = begin + g->line;

	/* Where the base is not known, what lies within a line of the other one may be on its line. */
	if (g->step < g->line) {
		begin = later > g->line - 1 ? later - (g->line - 1) : 0;
		end = last + g->line;
	}
	out->a = side(g, m, &a, begin, end, arena);
	out->b = side(g, n, &b, begin, end, arena);
	out->line = later / g->line;
	out->bytes = bytes_apart(g, &a, &b);
	return false;
}

static bool together_kept(const struct ground *g, const struct lm_promise *p, struct lm_arena *arena,
			  struct lm_breach *out)
{
	struct extent low = { 0 }, high = { 0 }, e;
	const char *first = NULL, *last = NULL;

	for (uint32_t i = 0; i < p->nr_members; i++) {
		if (!find(g, p->members[i], &e))
			continue;
		if (!first || e.begin < low.begin) {
			low = e;
			first = p->members[i];
		}
		if (!last || e.end > high.end) {
			high = e;
			last = p->members[i];
		}
	}
	if (!first || on_one_line(g, low.begin, high.end))
		return true;
	out->a = side(g, first, &low, low.begin, low.end, arena);
	out->b = side(g, last, &high, high.begin, high.end, arena);
	out->line = low.begin / g->line;
	out->bytes = g->step < g->line ? high.end - low.begin - g->line : high.end - (out->line + 1) * g->line;
	return false;
}

static bool start_kept(const struct ground *g, const char *member, bool first, struct lm_arena *arena,
		       struct lm_breach *out)
{
	struct extent e;

	if (!find(g, member, &e) || (first ? e.begin == 0 : g->step >= g->line && e.begin % g->line == 0))
		return true;
	out->a = side(g, member, &e, e.begin, e.end, arena);
	out->line = e.begin / g->line;
	out->bytes = first ? e.begin : e.begin % g->line;
	return false;
}

/* Bytes that the members take in any order, without what lies between them. */
static uint64_t sum_members(const struct lm_record *rec)
{
	uint64_t bytes = 0, bits = 0;

	for (uint32_t f = 0; f < rec->nr_fields; f++) {
		if (rec->fields[f].bits == LM_NOT_BITS)
			bytes += rec->is_union ? 0 : rec->fields[f].size;
		else
			bits += rec->is_union ? 0 : rec->fields[f].bits;
	}
	return bytes + (bits + 7) / 8;
}

/* Member i of p, in view v; MAX_SIZE and TOGETHER are one of a kind. */
static bool kept(const struct ground *g, const struct lm_promise *p, uint32_t i, struct lm_arena *arena,
		 struct lm_breach *out)
{
	out->size = g->layout ? g->layout->size : g->view->rec->size;
	switch (p->kind) {
	case LM_PROMISE_APART:
		return pair_kept(g, p->members[0], p->members[1], arena, out);
	case LM_PROMISE_TOGETHER:
		return together_kept(g, p, arena, out);
	case LM_PROMISE_MAX_SIZE:
		out->bytes = out->size > p->bytes ? out->size - p->bytes : 0;
		out->least = sum_members(g->view->rec);
		return !out->bytes;
	case LM_PROMISE_LINE_START:
	case LM_PROMISE_FIRST:
		return start_kept(g, p->members[i], p->kind == LM_PROMISE_FIRST, arena, out);
	case LM_PROMISE_WRITE_HOT:
	case LM_PROMISE_READ_MOSTLY:
	case LM_NR_PROMISES:
		break;
	}
	return true;
}

static uint32_t rounds(const struct lm_promise *p)
{
	return p->kind == LM_PROMISE_LINE_START ? p->nr_members : 1;
}

bool lm_promise_holds(const struct lm_promise *p, const struct lm_subject *s, uint32_t v,
		      const struct lm_layout *layout, const struct lm_promise_opts *opts)
{
	struct ground g = ground_of(&s->views[v], layout, opts);
	struct lm_breach unused = { 0 };

	for (uint32_t i = 0; i < rounds(p) && lm_promise_in(p, s->views[v].config); i++)
		if (!kept(&g, p, i, NULL, &unused))
			return false;
	return true;
}

/* ---- what cannot be judged ---- */

static bool member_exists(const struct lm_subject *s, const struct lm_promise *p, const char *member)
{
	uint32_t field;
	uint64_t begin, end;

	for (uint32_t v = 0; v < s->nr_views; v++)
		if (lm_promise_in(p, s->views[v].config) &&
		    lm_path_extent(s->views[v].rec, member, &field, &begin, &end))
			return true;
	return false;
}

static void offer_names(const struct lm_subject *s, struct lm_similar *similar)
{
	for (uint32_t v = 0; v < s->nr_views; v++) {
		const struct lm_record *rec = s->views[v].rec;

		for (uint32_t f = 0; f < rec->nr_fields; f++)
			lm_similar_add(similar, rec->fields[f].key);
		for (uint32_t l = 0; l < rec->nr_leaves && strpbrk(similar->name, ".["); l++)
			lm_similar_add(similar, rec->leaves[l].path);
	}
}

static struct lm_err *no_member(const struct judging *j, const struct lm_promise *p, const char *member)
{
	struct lm_similar similar = { .arena = j->arena, .name = member };
	const char *list, *record = j->s->views[0].rec->name;

	offer_names(j->s, &similar);
	list = lm_similar_list(&similar);
	return lm_err_new(LM_ERR_INPUT, "%s:%u: promises something of %.200s, but %s has no such member in %s; %s%s.", p->file,
			  p->line, member, record, p->nr_configs ? "these configurations" : "any configuration",
			  *list ? "it has " : "take the promise out if the member is gone", list);
}

static struct lm_err *check_names(const struct judging *j, const struct lm_promise *p)
{
	for (uint32_t c = 0; c < p->nr_configs; c++) {
		struct lm_similar similar = { .arena = j->arena, .name = p->configs[c] };
		bool found = false;

		for (uint32_t v = 0; v < j->s->nr_views; v++) {
			found |= !strcmp(j->s->views[v].config, p->configs[c]);
			lm_similar_add(&similar, j->s->views[v].config);
		}
		if (!found) {
			const char *list = lm_similar_list(&similar);

			return lm_err_new(LM_ERR_INPUT, "%s:%u: no configuration is named \"%s\"; %s%s.", p->file, p->line,
					  p->configs[c], *list ? "there is " : "say it with a line \"config NAME:+OPTION\", "
					  "or with --config", list);
		}
	}
	for (uint32_t i = 0; i < p->nr_members; i++)
		if (!member_exists(j->s, p, p->members[i]))
			return no_member(j, p, p->members[i]);
	return NULL;
}

/* Members that a line cannot hold, or that no order parts. */
static struct lm_err *check_members(const struct judging *j, const struct lm_promise *p, const struct lm_view *view)
{
	struct ground g = ground_of(view, NULL, j->opts);
	struct extent e, first;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->nr_members; i++) {
		if (!find(&g, p->members[i], &e))
			continue;
		sum += e.end - e.begin;
		if (i && p->kind == LM_PROMISE_APART && find(&g, p->members[0], &first) && first.begin < e.end &&
		    e.begin < first.end)
			return lm_err_new(LM_ERR_INPUT, "%s:%u: %s and %s have bytes in common and cannot be apart; name members "
					  "that have not.", p->file, p->line, p->members[0], p->members[i]);
	}
	if (p->kind == LM_PROMISE_TOGETHER && sum > j->opts->line)
		return lm_err_new(LM_ERR_INPUT, "%s:%u: these members have %llu bytes in configuration %s and cannot be together on "
				  "one line of %u; name fewer, or parts of them.", p->file, p->line, (unsigned long long)sum,
				  view->config, j->opts->line);
	return NULL;
}

static struct lm_err *check_sense(const struct judging *j, const struct lm_promise *p)
{
	struct lm_err *err = check_names(j, p);

	for (uint32_t v = 0; !err && v < j->s->nr_views; v++) {
		const struct lm_view *view = &j->s->views[v];

		if (!lm_promise_in(p, view->config))
			continue;
		err = check_members(j, p, view);
	}
	return err;
}

/* ---- all of them ---- */

/* The breach goes to the last of `broken` if that is the same promise again, in another view. */
static void add_breach(struct judging *j, struct lm_broken *b, const struct lm_breach *breach)
{
	if (!b->nr_breaches)
		b->breaches = LM_ARENA_ARRAY(j->arena, struct lm_breach, j->s->nr_views);
	b->breaches[b->nr_breaches++] = *breach;
}

static void push(struct judging *j, const struct lm_broken *b)
{
	if (b->nr_breaches)
		*LM_ARENA_PUSH(j->arena, j->out->broken, j->out->nr, j->out->cap) = *b;
}

static const struct lm_layout *layout_of(const struct judging *j, uint32_t v)
{
	return j->layouts ? &j->layouts[v] : NULL;
}

static void judge_alone(struct judging *j, const struct lm_promise *p, uint32_t i)
{
	struct lm_broken b = { .promise = p };

	for (uint32_t v = 0; v < j->s->nr_views; v++) {
		struct ground g = ground_of(&j->s->views[v], layout_of(j, v), j->opts);
		struct lm_breach breach = { .view = v };

		if (lm_promise_in(p, g.view->config) && !kept(&g, p, i, j->arena, &breach))
			add_breach(j, &b, &breach);
	}
	push(j, &b);
}

/* One member written against one read. */
static void judge_two(struct judging *j, const struct lm_promise *w, const struct lm_promise *r, uint32_t i, uint32_t k)
{
	struct lm_broken b = { .promise = w, .other = r };

	for (uint32_t v = 0; v < j->s->nr_views; v++) {
		struct ground g = ground_of(&j->s->views[v], layout_of(j, v), j->opts);
		struct lm_breach breach = { .view = v };

		if (!lm_promise_in(w, g.view->config) || !lm_promise_in(r, g.view->config))
			continue;
		breach.size = g.layout ? g.layout->size : g.view->rec->size;
		if (!pair_kept(&g, w->members[i], r->members[k], j->arena, &breach))
			add_breach(j, &b, &breach);
	}
	push(j, &b);
}

static void judge(struct judging *j, const struct lm_promise *p)
{
	for (uint32_t i = 0; i < rounds(p); i++)
		judge_alone(j, p, i);
	if (p->kind != LM_PROMISE_WRITE_HOT)
		return;
	for (size_t n = 0; n < j->p->nr; n++)
		for (uint32_t i = 0; j->p->items[n].kind == LM_PROMISE_READ_MOSTLY && i < p->nr_members; i++)
			for (uint32_t k = 0; k < j->p->items[n].nr_members; k++)
				judge_two(j, p, &j->p->items[n], i, k);
}

static void count(struct judging *j)
{
	j->out->nr_promises = j->p->nr;
	for (size_t i = 0; i < j->p->nr; i++) {
		bool broken = false;

		for (size_t b = 0; b < j->out->nr; b++)
			broken |= j->out->broken[b].promise == &j->p->items[i] || j->out->broken[b].other == &j->p->items[i];
		j->out->nr_kept += !broken;
	}
}

struct lm_err *lm_promises_judge(const struct lm_promises *p, const struct lm_subject *s,
				 const struct lm_layout *layouts, const struct lm_promise_opts *opts,
				 struct lm_arena *arena, struct lm_promise_verdict *out)
{
	struct lm_promise_verdict verdict = { 0 };
	struct judging j = { p, s, layouts, opts, arena, &verdict };

	for (size_t i = 0; i < p->nr; i++) {
		struct lm_err *err = check_sense(&j, &p->items[i]);

		if (err)
			return err;
	}
	for (size_t i = 0; i < p->nr; i++)
		judge(&j, &p->items[i]);
	count(&j);
	*out = verdict;
	return NULL;
}
