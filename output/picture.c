/* picture.c - the record's cache lines to be drawn: stretches, heat, lines to see, folds. */
#include "output/picture.h"
#include "output/picture_parts.h"

#include <string.h>

/* Lines that a flexible array is drawn on, at most: its elements are no part of the record's size. */
#define FLEXIBLE_LINES 8
/* A line with this share of its side's transfers is one to look at. */
#define LOUD_SHARE 0.02
/* Fewer quiet lines in a row are drawn rather than folded. */
#define SHORTEST_FOLD 3
/* Of a record with more lines than a look takes in, cold ones are folded. */
#define LARGE_RECORD 64
/* Lines of a side that are looked at, at most: records of megabytes are one array and little else. */
#define MOST_LINES 65536u

/* ---- fields ---- */

/* Bits that a field takes; of a flexible array those that were touched. */
static uint64_t extent(const struct lm_pic_work *w, uint32_t f)
{
	const struct lm_field *field = &w->view->rec->fields[f];
	const struct lm_show_field *show = w->pic->fields[f].show;
	uint64_t most = FLEXIBLE_LINES * (uint64_t)w->pic->line, bytes = 0;

	if (field->bits != LM_NOT_BITS)
		return field->bits;
	if (field->size || !field->flexible)
		return field->size * 8;
	for (uint32_t i = 0; i < show->nr_parts; i++) {
		uint64_t end = show->parts[i].offset + show->parts[i].size - show->offset;

		bytes = end > bytes ? end : bytes;
	}
	return (bytes < most ? bytes : most) * 8;
}

static void find_hottest(struct lm_pic_field *row)
{
	const struct lm_show_part *parts = row->show->parts;

	for (uint32_t i = 0; i < row->show->nr_parts; i++) {
		uint32_t at = row->nr_hottest < 3 ? row->nr_hottest++ : 3;

		/* Insertion: the colder ones move back, the fourth falls off. */
		for (; at; at--) {
			const struct lm_show_part *before = &parts[row->hottest[at - 1]];

			if (before->reads + before->writes >= parts[i].reads + parts[i].writes)
				break;
			if (at < 3)
				row->hottest[at] = row->hottest[at - 1];
		}
		if (at < 3)
			row->hottest[at] = i;
	}
}

static void add_fields(struct lm_pic_work *w, const struct lm_show *show)
{
	const struct lm_plan *plan = w->rows->story->plan;
	struct lm_picture *pic = w->pic;

	pic->nr_fields = show->nr_fields;
	pic->fields = LM_ARENA_ARRAY(w->arena, struct lm_pic_field, show->nr_fields + 1);
	for (uint32_t f = 0; f < show->nr_fields; f++) {
		struct lm_pic_field *row = &pic->fields[f];
		uint64_t last;

		row->show = &show->fields[f];
		last = row->show->size ? row->show->size - 1 : 0;
		row->before = plan->before[w->v].bit_offset[f] / 8;
		row->after = plan->after[w->v].bit_offset[f] / 8;
		row->line_before = row->before / pic->line;
		row->line_after = row->after / pic->line;
		row->last_before = (row->before + last) / pic->line;
		row->last_after = (row->after + last) / pic->line;
		find_hottest(row);
		lm_row_field_side_make(w->rows->story, w->v, f, w->arena, &row->who);
	}
}

static void mark_moves(struct lm_pic_work *w)
{
	const struct lm_plan *plan = w->rows->story->plan;

	for (uint32_t i = 0; i < plan->nr_moves; i++) {
		uint32_t unit = plan->moves[i].unit;

		for (uint32_t k = 0; k < w->view->nr_fields[unit]; k++) {
			w->pic->fields[w->view->first_field[unit] + k].moves = true;
			w->pic->fields[w->view->first_field[unit] + k].link = !k;
		}
	}
}

static void add_orders(struct lm_pic_work *w)
{
	const struct lm_plan *plan = w->rows->story->plan;
	struct lm_picture *pic = w->pic;
	uint32_t nr = 0;

	pic->order_before = LM_ARENA_ARRAY(w->arena, uint32_t, pic->nr_fields + 1);
	pic->order_after = LM_ARENA_ARRAY(w->arena, uint32_t, pic->nr_fields + 1);
	for (uint32_t f = 0; f < pic->nr_fields; f++)
		pic->order_before[f] = f;
	for (uint32_t i = 0; i < w->rows->nr_units; i++) {
		uint32_t unit = plan->order.units[i];

		for (uint32_t k = 0; k < w->view->nr_fields[unit]; k++)
			pic->order_after[nr++] = w->view->first_field[unit] + k;
	}
}

/* ---- lines ---- */

/* Where the drawing of a field ends, in bits. */
static uint64_t drawn_end(const struct lm_pic_work *w, const struct lm_layout *l, uint32_t f,
			  const struct lm_pic_side *side)
{
	uint64_t end = l->bit_offset[f] + extent(w, f), most = (uint64_t)side->nr_lines * w->pic->line * 8;

	return end < most ? end : most;
}

static void add_stretches(struct lm_pic_work *w, const struct lm_layout *l, struct lm_pic_side *side)
{
	uint32_t line = w->pic->line * 8;

	for (uint32_t f = 0; f < w->pic->nr_fields; f++) {
		uint64_t begin = l->bit_offset[f], end = drawn_end(w, l, f, side);
		uint32_t longest = 0;
		struct lm_pic_stretch *label = NULL;

		for (uint64_t at = begin; at < end;) {
			struct lm_pic_line *row = &side->lines[at / line];
			uint64_t stop = (at / line + 1) * line < end ? (at / line + 1) * line : end;
			struct lm_pic_stretch *s = &row->items[row->nr_items++];

			*s = (struct lm_pic_stretch){
				.field = f, .begin = (uint32_t)(at % line), .end = (uint32_t)(at % line + (stop - at)),
				.first = at == begin, .last = stop == end,
			};
			if (s->end - s->begin > longest) {
				longest = s->end - s->begin;
				label = s;
			}
			at = stop;
		}
		if (label)
			label->label = true;
	}
}

static void count_lines(struct lm_pic_work *w, const struct lm_layout *l, struct lm_pic_side *side)
{
	uint64_t line = w->pic->line * 8, most = l->size * 8, nr;

	for (uint32_t f = 0; f < w->pic->nr_fields; f++)
		if (l->bit_offset[f] + extent(w, f) > most)
			most = l->bit_offset[f] + extent(w, f);
	nr = (most + line - 1) / line;
	side->nr_lines = nr < MOST_LINES ? (uint32_t)nr : MOST_LINES;
	side->lines = LM_ARENA_ARRAY(w->arena, struct lm_pic_line, side->nr_lines + 1u);
	for (uint32_t f = 0; f < w->pic->nr_fields; f++) {
		uint64_t end = drawn_end(w, l, f, side);

		for (uint64_t at = l->bit_offset[f] / line; at * line < end; at++)
			side->lines[at].nr_items++;
	}
	side->nr_hidden = nr - side->nr_lines;
}

/* Rows with room for their stretches. */
static void make_lines(struct lm_pic_work *w, const struct lm_layout *l, struct lm_pic_side *side)
{
	uint64_t line = w->pic->line * 8;

	count_lines(w, l, side);
	for (uint32_t i = 0; i < side->nr_lines; i++) {
		struct lm_pic_line *row = &side->lines[i];
		uint64_t begin = i * line, end = l->size * 8;

		row->number = i;
		row->nr = 1;
		row->used = (uint32_t)(end <= begin ? 0 : end - begin < line ? end - begin : line);
		row->items = LM_ARENA_ARRAY(w->arena, struct lm_pic_stretch, row->nr_items + 1u);
		row->nr_items = 0;
	}
	add_stretches(w, l, side);
}

static unsigned level(double accesses, double most)
{
	unsigned n = LM_HEAT_LEVELS;

	if (accesses <= 0)
		return 0;
	while (n > 1 && accesses * 10 < most) {
		accesses *= 10;
		n--;
	}
	return n;
}

static void add_heat(struct lm_pic_work *w, struct lm_pic_stretch *s, uint64_t line_begin, uint64_t field_begin)
{
	const struct lm_show_field *show = w->pic->fields[s->field].show;

	s->heat = LM_ARENA_ARRAY(w->arena, struct lm_pic_heat, show->nr_parts + 1);
	for (uint32_t i = 0; i < show->nr_parts; i++) {
		const struct lm_show_part *p = &show->parts[i];
		uint64_t begin = (field_begin + p->offset - show->offset) * 8, end = begin + p->size * 8;
		uint64_t from = line_begin + s->begin, to = line_begin + s->end;

		from = begin > from ? begin : from;
		to = end < to ? end : to;
		if (from < to)
			s->heat[s->nr_heat++] = (struct lm_pic_heat){
				.begin = (uint32_t)(from - line_begin), .end = (uint32_t)(to - line_begin),
				.reads = level(p->reads, w->most), .writes = level(p->writes, w->most),
			};
	}
}

static void warm_lines(struct lm_pic_work *w, const struct lm_layout *l, struct lm_pic_side *side)
{
	uint64_t nr = lm_layout_lines(l->size, w->pic->line);
	double *transfers = LM_ARENA_ARRAY(w->arena, double, nr + 1);

	side->transfers = lm_cost_lines(w->cost, l, transfers, nr);
	for (uint32_t i = 0; i < side->nr_lines; i++) {
		struct lm_pic_line *row = &side->lines[i];

		row->transfers = i < nr ? transfers[i] : 0;
		row->loud = row->transfers > 0 && row->transfers >= LOUD_SHARE * side->transfers;
		for (uint32_t k = 0; k < row->nr_items; k++)
			add_heat(w, &row->items[k], (uint64_t)i * w->pic->line * 8,
				 l->bit_offset[row->items[k].field] / 8);
	}
}

/* Where a pair lies or a move goes, there is something to see. */
static void mark_loud(const struct lm_pic_work *w, struct lm_pic_side *side)
{
	for (uint32_t i = 0; i < side->nr_pairs; i++) {
		side->lines[side->pairs[i].line_a].loud = true;
		side->lines[side->pairs[i].line_b].loud = true;
	}
	for (uint32_t i = 0; i < side->nr_lines; i++)
		for (uint32_t k = 0; k < side->lines[i].nr_items; k++)
			if (side->lines[i].items[k].first && w->pic->fields[side->lines[i].items[k].field].link)
				side->lines[i].loud = true;
}

/* ---- folding ---- */

static bool quiet(const struct lm_pic_line *row, bool even_if_warm)
{
	bool cold = !row->loud;

	for (uint32_t k = 0; cold && !even_if_warm && k < row->nr_items; k++)
		cold = !row->items[k].nr_heat;
	return cold;
}

/* Puts runs of quiet lines into one row each. */
static void fold(struct lm_pic_side *side, bool even_if_warm)
{
	uint32_t nr = 0;

	for (uint32_t i = 0, j; i < side->nr_lines; i = j) {
		struct lm_pic_line one = side->lines[i];

		for (j = i; j < side->nr_lines && quiet(&side->lines[j], even_if_warm);)
			j++;
		if (j < i + SHORTEST_FOLD) {
			side->lines[nr++] = one;
			j = i + 1;
			continue;
		}
		for (uint32_t k = i + 1; k < j; k++) {
			one.nr += side->lines[k].nr;
			one.transfers += side->lines[k].transfers;
		}
		one.nr_items = 0;
		side->lines[nr++] = one;
	}
	side->nr_lines = nr;
}

static void shorten(struct lm_pic_side *side, uint32_t most)
{
	if (side->nr_lines > LARGE_RECORD || side->nr_lines > most)
		fold(side, false);
	if (side->nr_lines > most)
		fold(side, true);
	for (; side->nr_lines > most; side->nr_lines--)
		side->nr_hidden += side->lines[side->nr_lines - 1].nr;
}

/* ---- the whole ---- */

static void draw(struct lm_pic_work *w, const struct lm_layout *l, bool is_after, uint32_t most_lines,
		 struct lm_pic_side *side)
{
	make_lines(w, l, side);
	warm_lines(w, l, side);
	lm_pic_add_pairs(w, l, is_after, side);
	mark_loud(w, side);
	shorten(side, most_lines);
}

void lm_picture_make(const struct lm_rows *rows, uint32_t v, uint32_t most_lines, struct lm_arena *arena,
		     struct lm_picture *out)
{
	const struct lm_story *s = rows->story;
	struct lm_cost_opts opts = { .line = s->opts->line, .base_align = s->opts->base_align };
	struct lm_show *show = LM_ARENA_NEW(arena, struct lm_show);
	struct lm_pic_work w = { .rows = rows, .v = v, .view = &s->subject->views[v], .arena = arena, .pic = out };

	memset(out, 0, sizeof(*out));
	out->config = rows->configs[v].name;
	out->line = s->opts->line;
	lm_show_make(s, v, arena, show);
	for (uint32_t f = 0; f < show->nr_fields; f++)
		for (uint32_t i = 0; i < show->fields[f].nr_parts; i++) {
			const struct lm_show_part *p = &show->fields[f].parts[i];

			w.most = p->reads > w.most ? p->reads : w.most;
			w.most = p->writes > w.most ? p->writes : w.most;
		}
	add_fields(&w, show);
	mark_moves(&w);
	add_orders(&w);
	lm_pic_mark_pairs(&w);
	w.cost = lm_cost_new(w.view, s->usage, v, &opts);
	draw(&w, &s->plan->before[v], false, most_lines, &out->before);
	draw(&w, &s->plan->after[v], true, most_lines, &out->after);
	lm_cost_free(w.cost);
}
