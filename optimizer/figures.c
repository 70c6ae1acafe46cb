/* figures.c - a layout in numbers. */
#include "optimizer/figures.h"

#include <stdlib.h>

struct extent {
	uint64_t begin, end;	/* bits */
};

static int by_begin(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

void lm_figures_shape(const struct lm_record *rec, const struct lm_layout *l, uint32_t line,
		      struct lm_view_figures *out)
{
	struct lm_arena arena = { 0 };
	struct extent *e = LM_ARENA_ARRAY(&arena, struct extent, rec->nr_fields + 1);
	uint64_t end = 0;

	for (uint32_t f = 0; f < rec->nr_fields; f++) {
		const struct lm_field *field = &rec->fields[f];

		e[f].begin = l->bit_offset[f];
		e[f].end = e[f].begin + (field->bits == LM_NOT_BITS ? 8 * field->size : field->bits);
	}
	qsort(e, rec->nr_fields, sizeof(*e), by_begin);
	*out = (struct lm_view_figures){ .size = l->size, .lines = lm_layout_lines(l->size, line) };
	for (uint32_t f = 0; f < rec->nr_fields; f++) {
		if (e[f].begin / 8 > (end + 7) / 8) {
			out->holes++;
			out->hole_bytes += e[f].begin / 8 - (end + 7) / 8;
		}
		end = e[f].end > end ? e[f].end : end;
	}
	out->tail_bytes = l->size - (end + 7) / 8;
	lm_arena_release(&arena);
}

void lm_figures_make(const struct lm_subject *s, const struct lm_usage *u, const struct lm_layout *layouts,
		     uint32_t line, uint32_t base_align, struct lm_view_figures *out)
{
	for (uint32_t v = 0; v < s->nr_views; v++) {
		struct lm_cost_opts single = { line, base_align }, twice = { 2 * line, base_align };
		struct lm_cost *c = lm_cost_new(&s->views[v], u, v, &single);
		struct lm_cost *d = lm_cost_new(&s->views[v], u, v, &twice);

		lm_figures_shape(s->views[v].rec, &layouts[v], line, &out[v]);
		out[v].transfers = lm_cost_layout(c, &layouts[v]);
		out[v].transfers_double = lm_cost_layout(d, &layouts[v]);
		lm_cost_free(c);
		lm_cost_free(d);
	}
}
