/*
 * rewrite_place.c - where a moved unit goes: between its new neighbours there
 * may be several places in different guards; the one that needs the fewest new
 * directives wins.
 */
#include "output/rewrite_parts.h"

#include <string.h>

/* In units of taste: one directive more is worse than any looks. */
enum { OPEN_COST = 20, SPLIT_COST = 40, COMMENT_COST = 3, NEVER = 1 << 20 };

/* Moved units order[from .. to) between two kept ones, and the places kept[low .. high] there. */
struct gap {
	uint32_t from, to;
	uint32_t low, high;
	bool late;		/* of equal places the last one */
	struct lm_path *unit_path;	/* [to - from] */
	struct lm_path *place_path;	/* [high - low + 1] */
	uint32_t *looks;		/* [high - low + 1] */
};

struct lm_path lm_writer_context(const struct lm_writer *w, uint32_t at)
{
	const struct lm_body *b = w->body;
	const struct lm_piece *p;

	/* The context before kept[at]: before an #if it is outside, before #else and #endif the branch that ends. */
	if (at >= w->nr_kept)
		return lm_writer_path(w, LM_NONE, 0);
	p = &b->pieces[w->kept[at]];
	switch (p->kind) {
	case LM_PIECE_IF:
		return lm_writer_path(w, b->guards[p->guard].parent, b->guards[p->guard].parent_branch);
	case LM_PIECE_MID:
		return lm_writer_path(w, p->guard, p->branch - 1);
	case LM_PIECE_UNIT:
	case LM_PIECE_ENDIF:
	case LM_PIECE_BLANK:
	case LM_PIECE_COMMENT:
		break;
	}
	return lm_writer_path(w, p->guard, p->branch);
}

/* Behind the '{' on its line, and before the '}' on its line, is no place. */
static bool is_edge(const struct lm_writer *w, uint32_t at)
{
	const struct lm_body *b = w->body;
	const struct lm_piece *first = at < w->nr_kept ? &b->pieces[w->kept[at]] : NULL;

	if (first && first->begin == b->begin && (first->kind == LM_PIECE_BLANK || first->kind == LM_PIECE_COMMENT))
		return true;
	if (first && first->kind == LM_PIECE_BLANK && at && first->begin == b->pieces[w->kept[at - 1]].end &&
	    b->pieces[w->kept[at - 1]].begin == b->begin && b->pieces[w->kept[at - 1]].kind == LM_PIECE_COMMENT &&
	    b->text[first->begin - 1] != '\n')
		return true;
	return at == w->nr_kept && at && b->pieces[w->kept[at - 1]].kind == LM_PIECE_BLANK &&
	       b->pieces[w->kept[at - 1]].begin != b->begin;
}

static uint32_t looks_of(const struct lm_writer *w, uint32_t at)
{
	if (is_edge(w, at))
		return NEVER;
	/* Not between a comment and what it stands above. */
	if (at && at < w->nr_kept && w->body->pieces[w->kept[at - 1]].kind == LM_PIECE_COMMENT &&
	    w->kept[at - 1] + 1 == w->kept[at] && w->body->pieces[w->kept[at]].kind != LM_PIECE_BLANK)
		return w->body->pieces[w->kept[at]].kind == LM_PIECE_IF ? OPEN_COST : COMMENT_COST;
	return 0;
}

static uint32_t way_cost(const struct lm_path *from, const struct lm_path *to)
{
	uint32_t common = lm_path_common(from, to);

	return (to->nr - common) * OPEN_COST;
}

/* Leaving the guards around a place costs more: they are split. */
static uint32_t enter_cost(const struct lm_path *place, const struct lm_path *unit)
{
	uint32_t common = lm_path_common(place, unit);

	return (place->nr - common) * SPLIT_COST + (unit->nr - common) * OPEN_COST;
}

static void choose(const struct lm_writer *w, const struct gap *g, uint32_t *place)
{
	uint32_t nr = g->to - g->from, places = g->high - g->low + 1;
	uint32_t *cost = LM_ARENA_ARRAY(w->arena, uint32_t, (size_t)nr * places);
	uint32_t *came = LM_ARENA_ARRAY(w->arena, uint32_t, (size_t)nr * places);

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t best = LM_NONE, best_at = 0;

		for (uint32_t p = 0; p < places; p++) {
			uint32_t fresh = enter_cost(&g->place_path[p], &g->unit_path[i]) + g->looks[p];
			uint32_t *c = &cost[i * places + p], before = LM_NONE;

			if (i)
				before = cost[(i - 1) * places + p] + way_cost(&g->unit_path[i - 1], &g->unit_path[i]);
			*c = !i ? fresh : before;
			came[i * places + p] = p;
			/* Its own place, with the one before it at an earlier place. */
			if (i && best != LM_NONE && best + fresh < *c) {
				*c = best + fresh;
				came[i * places + p] = best_at;
			}
			if (i && (best == LM_NONE || cost[(i - 1) * places + p] < best)) {
				best = cost[(i - 1) * places + p];
				best_at = p;
			}
		}
	}

	uint32_t at = 0;

	for (uint32_t p = 1; p < places; p++) {
		uint32_t a = cost[(nr - 1) * places + p], b = cost[(nr - 1) * places + at];

		if (a < b || (a == b && g->late))
			at = p;
	}
	for (uint32_t i = nr; i-- > 0;) {
		place[w->order->units[g->from + i]] = g->low + at;
		at = came[i * places + at];
	}
}

static void place_gap(const struct lm_writer *w, struct gap *g, uint32_t *place)
{
	uint32_t nr = g->to - g->from, places = g->high - g->low + 1;

	g->unit_path = LM_ARENA_ARRAY(w->arena, struct lm_path, nr);
	g->place_path = LM_ARENA_ARRAY(w->arena, struct lm_path, places);
	g->looks = LM_ARENA_ARRAY(w->arena, uint32_t, places);
	for (uint32_t i = 0; i < nr; i++) {
		const struct lm_unit *u = &w->body->units[w->order->units[g->from + i]];

		g->unit_path[i] = lm_writer_path(w, u->guard, u->branch);
	}
	for (uint32_t p = 0; p < places; p++) {
		g->place_path[p] = lm_writer_context(w, g->low + p);
		g->looks[p] = looks_of(w, g->low + p);
	}
	choose(w, g, place);
}

void lm_writer_place(struct lm_writer *w, uint32_t *place)
{
	const struct lm_body *b = w->body;
	uint32_t at = 0, i = 0;
	const struct lm_unit *before = NULL;

	/* `at` is behind the last kept unit; one gap after another. */
	while (i < b->nr_units) {
		struct gap g = { .from = i, .low = at };

		while (i < b->nr_units && w->moves[w->order->units[i]])
			i++;
		g.to = i;
		while (at < w->nr_kept && b->pieces[w->kept[at]].kind != LM_PIECE_UNIT)
			at++;
		g.high = at;
		g.late = !before || before->fence;
		if (g.to > g.from)
			place_gap(w, &g, place);
		if (i < b->nr_units) {
			before = &b->units[w->order->units[i]];
			at++;
			i++;
		}
	}
}
