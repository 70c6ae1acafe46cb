/*
 * body_join.c - glues items that must stay together into one unit.
 *
 * Each rule marks ranges of items; a range that cuts through a guard is
 * widened to the whole guard, so that no directive is torn from its #endif.
 */
#include "optimizer/body_scan.h"

#include <string.h>

enum { MAX_DEFINE_REACH = 12 };	/* items: more would tie down too much of the record */

struct joiner {
	struct lm_scan *s;
	size_t *guard_end;	/* [nr_guards] index of the ENDIF item */
};

static bool is_directive(const struct lm_item *item)
{
	return item->kind == LM_ITEM_IF || item->kind == LM_ITEM_MID || item->kind == LM_ITEM_ENDIF;
}

/* Joins items a .. b, and what is needed to take guards whole. */
static void join_range(struct joiner *j, size_t a, size_t b)
{
	struct lm_scan *s = j->s;

	for (size_t i = a; i <= b; i++) {
		if (!is_directive(&s->items[i]))
			continue;

		uint32_t g = s->items[i].guard;

		if (j->guard_end[g] > b)
			b = j->guard_end[g];
		if (s->guard_if[g] < a) {
			a = s->guard_if[g];
			i = a;		/* look again: what is new may cut other guards */
		}
	}
	for (size_t i = a; i < b; i++)
		s->items[i].join = true;
}

/* The nearest declaration before or behind item i, with no directive between; nr_items if there is none. */
static size_t neighbour(const struct lm_scan *s, size_t i, bool forward)
{
	for (;;) {
		if (!forward && !i)
			return s->nr_items;
		i = forward ? i + 1 : i - 1;
		if (i >= s->nr_items || is_directive(&s->items[i]))
			return s->nr_items;
		if (s->items[i].kind == LM_ITEM_DECL)
			return i;
	}
}

static bool uses(const struct lm_scan *s, const struct lm_item *item, const char *macro)
{
	for (size_t i = item->first; i < item->last; i++)
		if (s->lex.items[i].kind != LM_LEX_COMMENT && lm_scan_uses_word(s, i, macro))
			return true;
	return false;
}

/*
 * A macro defined for the members right behind it (task_struct's
 * MAX_LOCK_DEPTH) is one unit with them.  Users elsewhere stop the whole
 * record from being rearranged: see check_defines().
 */
static void join_define(struct joiner *j, size_t at)
{
	struct lm_scan *s = j->s;
	struct lm_directive d;
	size_t last = at;

	lm_lex_directive(s->text, &s->lex.items[s->items[at].decl_first], s->arena, &d);
	if (d.kind != LM_DIR_DEFINE)
		return;

	const char *name = lm_scan_macro_name(s, &d);

	for (size_t i = at + 1; i < s->nr_items && i - at <= MAX_DEFINE_REACH && !is_directive(&s->items[i]); i++)
		if (uses(s, &s->items[i], name))
			last = i;
	if (last > at)
		join_range(j, at, last);
}

static void join_stuck(struct joiner *j)
{
	struct lm_scan *s = j->s;

	for (size_t i = 0; i < s->nr_items; i++) {
		if (s->items[i].kind != LM_ITEM_STUCK)
			continue;
		if (s->lex.items[s->items[i].decl_first].kind == LM_LEX_DIRECTIVE)
			join_define(j, i);
		if (s->items[i].join)
			continue;

		size_t before = neighbour(s, i, false), behind = neighbour(s, i, true);

		if (before < s->nr_items)
			join_range(j, before, i);
		else if (behind < s->nr_items)
			join_range(j, i, behind);
	}
}

/* A field whose extent covers several items (a macro that opens a struct): one unit. */
static void join_extents(struct joiner *j)
{
	struct lm_scan *s = j->s;
	size_t a = 0;

	for (size_t e = 0; e < s->nr_extents; e++) {
		while (a < s->nr_items && s->lex.items[s->items[a].last - 1].end <= s->extents[e].begin)
			a++;

		size_t b = a;

		while (b + 1 < s->nr_items && s->lex.items[s->items[b + 1].first].begin < s->extents[e].end)
			b++;
		if (b > a && b < s->nr_items)
			join_range(j, a, b);
	}
}

/* What may stand directly before the scan: the first bit-field that can, by guard. */
struct edge {
	size_t entry, out;	/* nr_items: no bit-field */
	bool has_else;
};

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Bit-fields that are neighbours in some configuration share storage there:
 * all of them and the guards between are one unit.
 */
static void join_bits(struct joiner *j)
{
	struct lm_scan *s = j->s;
	struct edge *edges = LM_ARENA_ARRAY(s->arena, struct edge, s->nr_guards + 1);
	size_t before = s->nr_items;

	for (size_t i = 0; i < s->nr_items; i++) {
		const struct lm_item *item = &s->items[i];
		struct edge *e = is_directive(item) ? &edges[item->guard] : NULL;

		if (item->kind == LM_ITEM_DECL) {
			if (item->bits && before < i)
				join_range(j, before, i);
			before = item->bits ? i : s->nr_items;
		} else if (item->kind == LM_ITEM_IF) {
			*e = (struct edge){ .entry = before, .out = s->nr_items };
		} else if (item->kind == LM_ITEM_MID) {
			const struct lm_guard *g = &s->guards[item->guard];

			e->out = min_size(e->out, before);
			e->has_else |= !*g->branches[item->branch].condition;
			before = e->entry;
		} else if (item->kind == LM_ITEM_ENDIF) {
			before = min_size(e->out, before);
			before = e->has_else ? before : min_size(before, e->entry);
		}
	}
}

/* A comment right above a unit that starts with a directive belongs to it. */
static void join_comments_above(struct lm_scan *s)
{
	for (size_t i = 1; i < s->nr_items; i++) {
		struct lm_item *c = &s->items[i - 1];
		bool starts = s->lex.items[s->items[i].first].kind == LM_LEX_DIRECTIVE &&
			      (s->items[i].join || s->items[i].kind == LM_ITEM_DECL);

		if (starts && c->kind == LM_ITEM_COMMENT && !c->stays && !c->join &&
		    s->lex.items[c->last - 1].kind == LM_LEX_COMMENT &&
		    s->lex.items[c->last - 1].last_line + 1 == s->lex.items[s->items[i].first].line)
			c->join = true;
	}
}

/* Items first .. last as one. */
static struct lm_item merge(const struct lm_scan *s, size_t first, size_t last)
{
	struct lm_item all = s->items[first];
	bool decl = false;

	if (all.kind == LM_ITEM_IF) {
		all.branch = s->guards[all.guard].parent_branch;
		all.guard = s->guards[all.guard].parent;
	}
	all.kind = LM_ITEM_COMMENT;
	all.last = s->items[last].last;
	for (size_t i = first; i <= last; i++) {
		const struct lm_item *item = &s->items[i];
		bool assert = item->kind == LM_ITEM_STUCK && s->lex.items[item->decl_first].kind != LM_LEX_DIRECTIVE;

		all.bits |= item->bits;
		if (item->kind != LM_ITEM_DECL && (!assert || all.kind == LM_ITEM_DECL))
			continue;
		if (!decl)
			all.decl_first = item->decl_first;
		all.decl_last = item->decl_last;
		all.macro = !decl && item->macro;
		all.kind = LM_ITEM_DECL;
		decl |= item->kind == LM_ITEM_DECL;
	}
	return all;
}

static uint32_t renumber_one(const uint32_t *ids, uint32_t g)
{
	return g == LM_NONE ? LM_NONE : ids[g];
}

/* Guards that went into a unit disappear from the tree. */
static void renumber_guards(struct lm_scan *s)
{
	uint32_t *ids = LM_ARENA_ARRAY(s->arena, uint32_t, s->nr_guards + 1), nr = 0;

	for (size_t g = 0; g < s->nr_guards; g++)
		ids[g] = LM_NONE;
	for (size_t i = 0; i < s->nr_items; i++)
		if (s->items[i].kind == LM_ITEM_IF)
			ids[s->items[i].guard] = nr++;
	for (size_t g = 0; g < s->nr_guards; g++) {
		if (ids[g] == LM_NONE)
			continue;
		s->guards[g].parent = renumber_one(ids, s->guards[g].parent);
		s->guards[ids[g]] = s->guards[g];
	}
	for (size_t i = 0; i < s->nr_items; i++) {
		s->items[i].guard = renumber_one(ids, s->items[i].guard);
		if (s->items[i].kind == LM_ITEM_IF)
			s->guard_if[s->items[i].guard] = i;
	}
	s->nr_guards = nr;
}

void lm_scan_join(struct lm_scan *s)
{
	struct joiner j = { .s = s, .guard_end = LM_ARENA_ARRAY(s->arena, size_t, s->nr_guards + 1) };
	size_t nr = 0;

	for (size_t i = 0; i < s->nr_items; i++)
		if (s->items[i].kind == LM_ITEM_ENDIF)
			j.guard_end[s->items[i].guard] = i;
	join_stuck(&j);
	join_extents(&j);
	join_bits(&j);
	join_comments_above(s);
	for (size_t i = 0; i < s->nr_items; i++) {
		size_t last = i;

		while (last + 1 < s->nr_items && s->items[last].join)
			last++;
		s->items[nr++] = last > i || s->items[i].kind == LM_ITEM_STUCK ? merge(s, i, last) : s->items[i];
		i = last;
	}
	s->nr_items = nr;
	renumber_guards(s);
}
