/* reason.c - the parted pairs of a plan -> a sentence beside one member of each. */
#include "output/reason.h"

#include "output/report_rows.h"

#include <string.h>

/* Pairs that cost less than this share of the worst are no reason worth a comment. */
#define SMALL_SHARE 0.05
/* More names make a comment that nobody reads. */
enum { MAX_OTHERS = 3 };

/* What one unit's comment is made of. */
struct reason {
	bool any, written, read_too;		/* the unit itself */
	uint32_t others[MAX_OTHERS];		/* units to keep away from */
	bool other_written[MAX_OTHERS];
	uint32_t nr_others;
};

static uint32_t unit_of(const struct lm_story *s, const struct lm_pair *p, uint32_t leaf)
{
	const struct lm_view *view = &s->subject->views[p->view];

	return view->field_unit[view->rec->leaves[leaf].field];
}

static bool moves(const struct lm_plan *plan, uint32_t unit)
{
	for (uint32_t i = 0; i < plan->nr_moves; i++)
		if (plan->moves[i].unit == unit)
			return true;
	return false;
}

/* Is more written to the leaf than read? */
static bool is_written(const struct lm_story *s, const struct lm_pair *p, uint32_t leaf, struct lm_arena *arena)
{
	struct lm_row_side side;

	lm_row_side_make(s, p->view, leaf, &s->plan->before[p->view], LM_ANY_LINE, arena, &side);
	return side.writes > side.reads;
}

static void add_reason(struct reason *r, uint32_t other, bool written, bool other_written)
{
	r->any = true;
	r->written = r->written || written;
	r->read_too = r->read_too || !written;
	for (uint32_t i = 0; i < r->nr_others; i++)
		if (r->others[i] == other) {
			r->other_written[i] = r->other_written[i] || other_written;
			return;
		}
	if (r->nr_others < MAX_OTHERS) {
		r->other_written[r->nr_others] = other_written;
		r->others[r->nr_others++] = other;
	}
}

static void collect(const struct lm_story *s, struct lm_arena *arena, struct reason *reasons)
{
	const struct lm_plan *plan = s->plan;

	for (uint32_t i = 0; i < plan->nr_pairs && plan->pairs[i].excess >= SMALL_SHARE * plan->pairs[0].excess; i++) {
		const struct lm_pair *p = &plan->pairs[i];
		uint32_t a = unit_of(s, p, p->leaf_a), b = unit_of(s, p, p->leaf_b);

		if (!p->apart_after || a == b)
			continue;

		/* a is the one written more: against a mere reader it counts as the writer. */
		bool b_written = is_written(s, p, p->leaf_b, arena);

		if (moves(plan, a) && !moves(plan, b))
			add_reason(&reasons[a], b, true, b_written);
		else
			add_reason(&reasons[b], a, b_written, true);
	}
}

/* Could this name end the comment, or say something in it that linemate obeys? */
static bool is_harmless(const char *name)
{
	return !strstr(name, "*/") && !strstr(name, "/*") && !strstr(name, "linemate") && !strpbrk(name, "\r\n\\");
}

static const char *sentence(const struct lm_story *s, const struct reason *r, struct lm_arena *arena)
{
	const struct lm_body *body = s->subject->body;
	struct lm_str text = { 0 };
	bool all_written = true;
	const char *copy;

	for (uint32_t i = 0; i < r->nr_others; i++) {
		if (!is_harmless(body->units[r->others[i]].name))
			return NULL;
		all_written = all_written && r->other_written[i];
	}
	lm_str_add(&text, !r->written ? "Read" : r->read_too ? "Read and written" : "Written");
	lm_str_add(&text, " often: keep away from ");
	for (uint32_t i = 0; i < r->nr_others; i++)
		lm_str_addf(&text, "%s%s", !i ? "" : i + 1 < r->nr_others ? ", " : " and ", body->units[r->others[i]].name);
	lm_str_addf(&text, ", which %s %s.", r->nr_others > 1 ? "are" : "is", all_written ? "written" : "read");
	copy = lm_arena_strdup(arena, lm_str_text(&text));
	lm_str_release(&text);
	return copy;
}

/* One comment is enough for neighbours with the same reason. */
static void say_once(const struct lm_story *s, const char **sentences)
{
	const char *last = NULL;

	for (uint32_t i = 0; i < s->subject->body->nr_units; i++) {
		const char **own = &sentences[s->plan->order.units[i]];
		bool same = *own && last && !strcmp(*own, last);

		last = *own;
		if (same)
			*own = NULL;
	}
}

const char **lm_reasons_make(const struct lm_story *s, struct lm_arena *arena)
{
	uint32_t nr = s->subject->body->nr_units;
	struct reason *reasons = LM_ARENA_ARRAY(arena, struct reason, nr + 1u);
	const char **out = LM_ARENA_ARRAY(arena, const char *, nr + 1u);

	collect(s, arena, reasons);
	for (uint32_t u = 0; u < nr; u++)
		if (reasons[u].any)
			out[u] = sentence(s, &reasons[u], arena);
	say_once(s, out);
	return out;
}
