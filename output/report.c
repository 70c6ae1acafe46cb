/* report.c - plan + usage + evidence -> the rows of the report.  All the arithmetic is here. */
#include "output/report.h"
#include "optimizer/pairs.h"
#include "optimizer/path.h"
#include "output/report_rows.h"
#include "output/words.h"

#include <math.h>
#include <string.h>

/* SLUB makes slabs of at most 8 pages unless told otherwise (slub_max_order 3, mm/slub.c). */
#define SLAB_BYTES 32768
/* Pairs and leaves that cost less than this share of the worst pair, of all true sharing, are shown with -v only. */
#define SMALL_SHARE 0.05

static double change(double before, double after)
{
	return before > 0 ? 100.0 * (after - before) / before : 0;
}

/* ---- configurations ---- */

/* The allocator's view of one object: kmalloc bucket (mm/slab_common.c) and objects in a slab of its own cache. */
static const char *allocator_step(uint64_t size, struct lm_arena *arena)
{
	static const struct {
		unsigned size;
		const char *name;
	} buckets[] = { { 8, "8" }, { 16, "16" }, { 32, "32" }, { 64, "64" }, { 96, "96" }, { 128, "128" },
			{ 192, "192" }, { 256, "256" }, { 512, "512" }, { 1024, "1k" }, { 2048, "2k" },
			{ 4096, "4k" }, { 8192, "8k" } };

	for (size_t i = 0; size && i < sizeof(buckets) / sizeof(*buckets); i++)
		if (size <= buckets[i].size)
			return lm_arena_printf(arena, "kmalloc-%s, or %u objects in a 32 KiB slab", buckets[i].name,
					       (unsigned)(SLAB_BYTES / size));
	return size ? "whole pages" : "no bytes";
}

static void add_configs(struct lm_rows *rows)
{
	const struct lm_story *s = rows->story;

	rows->configs = LM_ARENA_ARRAY(rows->arena, struct lm_row_config, rows->nr_views + 1);
	for (uint32_t v = 0; v < rows->nr_views; v++) {
		struct lm_row_config *row = &rows->configs[v];

		row->name = lm_safe(rows->arena, s->subject->views[v].config);
		row->spec = s->sources && s->sources[v].config ? lm_safe(rows->arena, s->sources[v].config->spec) : "";
		row->spec_is_name = *row->name == '+' || *row->name == '-';
		row->before = &s->plan->fig_before[v];
		row->after = &s->plan->fig_after[v];
		row->percent = change(row->before->transfers, row->after->transfers);
		row->percent_double = change(row->before->transfers_double, row->after->transfers_double);
		row->step_before = allocator_step(row->before->size, rows->arena);
		row->step_after = allocator_step(row->after->size, rows->arena);
		row->same_step = !strcmp(row->step_before, row->step_after);
	}
}

/* ---- pairs, moves, curve ---- */

static const char *unit_name(const struct lm_rows *rows, uint32_t unit)
{
	return unit == LM_NONE ? NULL : lm_safe(rows->arena, rows->story->subject->body->units[unit].name);
}

static uint32_t unit_of(const struct lm_story *s, uint32_t v, uint32_t leaf)
{
	const struct lm_view *view = &s->subject->views[v];

	return view->field_unit[view->rec->leaves[leaf].field];
}

/* Are the two line mates in view v under the plan? */
static bool meets_in(const struct lm_story *s, const struct lm_pair *p, uint32_t v)
{
	const struct lm_record *from = s->subject->views[p->view].rec, *rec = s->subject->views[v].rec;
	struct lm_subject view = { .body = s->subject->body, .views = &s->subject->views[v], .nr_views = 1 };
	struct lm_usage usage = *s->usage;
	struct lm_pair pair = *p;

	usage.touches += v;
	usage.nr_touches += v;
	pair.view = 0;
	pair.leaf_a = lm_path_leaf(rec, from->leaves[p->leaf_a].path);
	pair.leaf_b = lm_path_leaf(rec, from->leaves[p->leaf_b].path);
	if (pair.leaf_a == LM_NONE || pair.leaf_b == LM_NONE)
		return false;
	lm_pairs_judge(&view, &usage, &s->plan->after[v], s->opts->line, s->opts->base_align, &pair, 1);
	return !pair.apart_after;
}

static const char *together_in(const struct lm_rows *rows, const struct lm_pair *p)
{
	const struct lm_story *s = rows->story;
	struct lm_str names = { 0 };

	for (uint32_t v = 0; v < rows->nr_views && !p->apart_after; v++)
		if (meets_in(s, p, v))
			lm_str_addf(&names, "%s%s", names.len ? ", " : "", rows->configs[v].name);

	const char *text = lm_arena_strdup(rows->arena, lm_str_text(&names));

	lm_str_release(&names);
	return text;
}

static struct lm_row_pair *make_pairs(struct lm_rows *rows, const struct lm_pair *pairs, uint32_t nr,
				      const struct lm_layout *layouts)
{
	struct lm_row_pair *out = LM_ARENA_ARRAY(rows->arena, struct lm_row_pair, nr + 1);
	const struct lm_story *s = rows->story;

	for (uint32_t i = 0; i < nr; i++) {
		const struct lm_pair *p = &pairs[i];
		/* Where the base moves, a line is no fixed set of bytes: show all accesses. */
		uint64_t line = s->plan->base_fixed ? p->line : LM_ANY_LINE;

		lm_row_side_make(s, p->view, p->leaf_a, &layouts[p->view], line, rows->arena, &out[i].a);
		lm_row_side_make(s, p->view, p->leaf_b, &layouts[p->view], line, rows->arena, &out[i].b);
		out[i].config = rows->configs[p->view].name;
		out[i].line = p->line;
		out[i].excess = p->excess;
		out[i].inside = unit_of(s, p->view, p->leaf_a) == unit_of(s, p->view, p->leaf_b) ?
				unit_name(rows, unit_of(s, p->view, p->leaf_a)) : NULL;
		out[i].apart = p->apart_after;
		out[i].slack = p->slack;
		out[i].together = together_in(rows, p);
	}
	return out;
}

static bool pair_has_unit(const struct lm_story *s, const struct lm_pair *p, uint32_t unit)
{
	return unit_of(s, p->view, p->leaf_a) == unit || unit_of(s, p->view, p->leaf_b) == unit;
}

static void add_moves(struct lm_rows *rows)
{
	const struct lm_plan *plan = rows->story->plan;

	rows->nr_moves = plan->nr_moves;
	rows->moves = LM_ARENA_ARRAY(rows->arena, struct lm_row_move, plan->nr_moves + 1);
	rows->shift_pairs = LM_ARENA_ARRAY(rows->arena, uint32_t, plan->nr_pairs + 1);
	for (uint32_t i = 0; i < plan->nr_moves; i++) {
		struct lm_row_move *row = &rows->moves[i];
		const struct lm_move *m = &plan->moves[i];

		row->unit = unit_name(rows, m->unit);
		row->from = unit_name(rows, m->unit ? m->unit - 1 : LM_NONE);
		row->to = unit_name(rows, m->after);
		row->barrier = m->barrier;
		row->stays = m->stays;
		rows->nr_moved += !m->stays;
		rows->nr_barriers += m->barrier;
		row->pairs = LM_ARENA_ARRAY(rows->arena, uint32_t, plan->nr_pairs + 1);
		/* What a single move shifts it also parts; of several, each answers for its own unit. */
		for (uint32_t p = 0; p < plan->nr_pairs; p++)
			if (plan->pairs[p].apart_after &&
			    (plan->nr_moves == 1 || pair_has_unit(rows->story, &plan->pairs[p], m->unit)))
				row->pairs[row->nr_pairs++] = p;
	}
	for (uint32_t p = 0; p < plan->nr_pairs; p++) {
		bool own = plan->nr_moves == 1 || !plan->pairs[p].apart_after;

		for (uint32_t i = 0; !own && i < plan->nr_moves; i++)
			own = pair_has_unit(rows->story, &plan->pairs[p], plan->moves[i].unit);
		if (!own)
			rows->shift_pairs[rows->nr_shift_pairs++] = p;
	}
}

static bool same_order(const struct lm_order *a, const struct lm_order *b, uint32_t nr)
{
	return !memcmp(a->units, b->units, nr * sizeof(*a->units)) && !memcmp(a->barrier, b->barrier, nr);
}

static void add_curve(struct lm_rows *rows)
{
	const struct lm_plan *plan = rows->story->plan;
	double start, best, possible;

	rows->gap_percent = -1;
	if (plan->bound > 0 && plan->transfers_after > 0)
		rows->gap_percent = 100.0 * (plan->transfers_after - plan->bound) / plan->transfers_after;
	rows->nr_curve = plan->nr_curve;
	rows->curve = LM_ARENA_ARRAY(rows->arena, struct lm_row_point, plan->nr_curve + 1);
	if (!plan->nr_curve)
		return;
	start = plan->curve[0].transfers;
	best = plan->bound > 0 ? plan->bound : plan->curve[plan->nr_curve - 1].transfers;
	possible = start - best;
	/* What is possible without passing padding says nothing of an order that does. */
	possible = plan->for_size ? 0 : possible;
	for (uint32_t i = 0; i < plan->nr_curve; i++) {
		struct lm_row_point *row = &rows->curve[i];

		/* The search counts a barrier as a move: both change the header. */
		for (uint32_t u = 0; u < rows->nr_units; u++)
			row->barriers += plan->curve[i].order.barrier[u] != 0;
		row->moves = plan->curve[i].moves > row->barriers ? plan->curve[i].moves - row->barriers : 0;
		row->any = i && i + 1 == plan->nr_curve;
		row->transfers = plan->curve[i].transfers;
		row->under_change = isfinite(plan->curve[i].cost) ? plan->curve[i].cost : -1;
		row->percent = possible > 0 ? 100.0 * (start - row->transfers) / possible : -1;
	}
	for (uint32_t i = 0; i < plan->nr_curve; i++)
		if (same_order(&plan->curve[i].order, &plan->order, rows->nr_units)) {
			rows->curve[i].chosen = true;
			break;
		}
}

/* ---- what else changes ---- */

static bool same_shifts(const struct lm_row_shifts *a, const struct lm_row_shifts *b)
{
	if (a->nr != b->nr)
		return false;
	for (uint32_t i = 0; i < a->nr; i++)
		if (strcmp(a->items[i].field, b->items[i].field) ||
		    a->items[i].line_before != b->items[i].line_before ||
		    a->items[i].line_after != b->items[i].line_after ||
		    a->items[i].last_before != b->items[i].last_before ||
		    a->items[i].last_after != b->items[i].last_after)
			return false;
	return true;
}

static void add_shifts(struct lm_rows *rows)
{
	const struct lm_story *s = rows->story;
	uint32_t line = s->opts->line;

	rows->shifts = LM_ARENA_ARRAY(rows->arena, struct lm_row_shifts, rows->nr_views + 1);
	for (uint32_t v = 0; v < rows->nr_views; v++) {
		const struct lm_record *rec = s->subject->views[v].rec;
		struct lm_row_shifts *shifts = &rows->shifts[v];

		shifts->config = rows->configs[v].name;
		shifts->items = LM_ARENA_ARRAY(rows->arena, struct lm_row_shift, rec->nr_fields + 1);
		for (uint32_t f = 0; f < rec->nr_fields; f++) {
			uint64_t before = s->plan->before[v].bit_offset[f] / 8;
			uint64_t after = s->plan->after[v].bit_offset[f] / 8;
			uint64_t last = rec->fields[f].size ? rec->fields[f].size - 1 : 0;
			const char *key = rec->fields[f].key;

			/* The first line decides, and the last: a long field may start on its old line and end on another. */
			if (before / line == after / line && (before + last) / line == (after + last) / line)
				continue;
			shifts->items[shifts->nr++] = (struct lm_row_shift){
				.field = lm_safe(rows->arena, *key ? key : "(unnamed)"),
				.line_before = before / line,
				.line_after = after / line,
				.last_before = (before + last) / line,
				.last_after = (after + last) / line,
				.offset_before = before,
				.offset_after = after,
			};
		}
		for (uint32_t w = 0; w < v && shifts->nr && !shifts->same_as; w++)
			if (same_shifts(shifts, &rows->shifts[w]))
				shifts->same_as = rows->shifts[w].config;
	}
}

static void add_shared(struct lm_rows *rows)
{
	const struct lm_plan *plan = rows->story->plan;
	double rest = rows->nr_views ? plan->fig_after[0].transfers : 0;

	rows->nr_shared = plan->nr_shared;
	rows->shared = LM_ARENA_ARRAY(rows->arena, struct lm_row_shared, plan->nr_shared + 1);
	for (uint32_t i = 0; i < plan->nr_shared; i++) {
		lm_row_side_make(rows->story, 0, plan->shared[i].leaf, &plan->before[0], LM_ANY_LINE, rows->arena,
				 &rows->shared[i].side);
		rows->shared[i].transfers = plan->shared[i].transfers;
		rows->nr_main_shared += plan->shared[i].transfers >= SMALL_SHARE * plan->shared_total;
	}
	/* Leaves that one site touches together count once on a line, but once each here: never say more than all. */
	rows->shared_transfers = plan->shared_total < rest ? plan->shared_total : rest;
	rows->shared_percent = rest > 0 ? 100.0 * rows->shared_transfers / rest : 0;
}

static void add_rules(struct lm_rows *rows)
{
	static const char *const words[] = {
#define X(name, word, text) word,
		LM_RULES(X)
#undef X
	};
	static const char *const texts[] = {
#define X(name, word, text) text,
		LM_RULES(X)
#undef X
	};
	const struct lm_rules *r = rows->story->rules;

	rows->nr_rules = r->nr_rules;
	rows->rules = LM_ARENA_ARRAY(rows->arena, struct lm_row_rule, r->nr_rules + 1);
	for (uint32_t i = 0; i < r->nr_rules; i++)
		rows->rules[i] = (struct lm_row_rule){
			.unit = unit_name(rows, r->rules[i].unit),
			.other = unit_name(rows, r->rules[i].other),
			.word = words[r->rules[i].kind],
			.text = texts[r->rules[i].kind],
			.because = r->rules[i].because ? lm_safe(rows->arena, r->rules[i].because) : "",
		};
}

static const char *base_promise(const struct lm_rows *rows)
{
	const struct lm_story *s = rows->story;
	uint32_t align = s->subject->views[0].rec->align;

	if (s->plan->base_fixed && align >= s->opts->line)
		return lm_arena_printf(rows->arena, "every object starts on a line: its type is aligned to %u bytes",
				       align);
	if (s->plan->base_fixed)
		return lm_arena_printf(rows->arena, "every object starts on a line, as --base-align %u says",
				       s->opts->base_align);
	if (s->opts->base_align > align)
		align = s->opts->base_align;
	return lm_arena_printf(rows->arena,
			       "cannot promise where in a line an object starts: it may be any multiple of %u bytes. "
			       "Costs are means over all of them, and only fields that no such start puts on one line are called "
			       "apart",
			       align);
}

void lm_rows_make(const struct lm_story *story, struct lm_arena *arena, struct lm_rows *out)
{
	const struct lm_plan *plan = story->plan;
	const struct lm_stability *st = &plan->stability;

	memset(out, 0, sizeof(*out));
	out->arena = arena;
	out->story = story;
	out->nr_units = story->subject->body->nr_units;
	out->nr_views = story->subject->nr_views;
	out->moved = plan->verdict == LM_VERDICT_MOVED;
	out->sampled = story->usage->worst != LM_EVIDENCE_EXACT;
	out->percent = change(plan->transfers_before, plan->transfers_after);
	add_configs(out);
	out->nr_pairs = plan->nr_pairs;
	out->pairs = make_pairs(out, plan->pairs, plan->nr_pairs, plan->before);
	for (uint32_t i = 0; i < plan->nr_pairs; i++)
		out->nr_main_pairs += plan->pairs[i].excess >= SMALL_SHARE * plan->pairs[0].excess;
	out->nr_new_pairs = plan->nr_new_pairs;
	out->new_pairs = make_pairs(out, plan->new_pairs, plan->nr_new_pairs, plan->after);
	add_moves(out);
	add_curve(out);
	add_shifts(out);
	add_shared(out);
	add_rules(out);
	if (st->perturbations) {
		out->meet_before = 100.0 * (double)st->meet_before / (double)st->perturbations;
		out->meet_after = 100.0 * (double)st->meet_after / (double)st->perturbations;
	}
	out->base_promise = base_promise(out);
}
