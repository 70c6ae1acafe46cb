/* realise.c - lines chosen by the packing problem -> orders of all units. */
#include "optimizer/realise.h"

#include <stdlib.h>
#include <string.h>

struct block {			/* what moves as one */
	uint32_t first;		/* unit */
	uint32_t nr;
	uint32_t group;		/* chosen line it belongs to; LM_NONE: cold */
	uint64_t size, align;	/* bytes, alone */
};

struct realising {
	const struct lm_subject *s;
	const struct lm_rules *r;
	const struct lm_view *view;
	uint32_t line;
	struct block *blocks;	/* in the order of the text */
	uint32_t nr_blocks;
	uint8_t *placed;	/* [nr_blocks] */
	struct lm_order *out;
	uint32_t nr_out;
	uint64_t at;		/* bytes: where the next unit would begin, as far as we can tell */
};

static void measure(const struct realising *x, struct block *b)
{
	b->size = 0;
	b->align = 1;
	for (uint32_t u = b->first; u < b->first + b->nr; u++) {
		for (uint32_t k = 0; k < x->view->nr_fields[u]; k++) {
			const struct lm_field *f = &x->view->rec->fields[x->view->first_field[u] + k];
			uint64_t align = f->type_align > f->attr_align ? f->type_align : f->attr_align;
			uint64_t size = f->bits == LM_NOT_BITS ? f->size : (f->bits + 7) / 8;

			b->align = align > b->align ? align : b->align;
			b->size = (b->size + align - 1) / (align ? align : 1) * (align ? align : 1) + size;
		}
	}
}

static void collect_blocks(struct realising *x, const uint32_t *group_of_unit, struct lm_arena *arena)
{
	uint32_t n = x->s->body->nr_units;

	x->blocks = LM_ARENA_ARRAY(arena, struct block, n + 1);
	for (uint32_t u = 0; u < n; u++) {
		struct block *b;

		if (x->r->block[u] != u) {
			b = &x->blocks[x->nr_blocks - 1];
			b->nr++;
		} else {
			b = &x->blocks[x->nr_blocks++];
			*b = (struct block){ .first = u, .nr = 1, .group = LM_NONE };
		}
		if (b->group == LM_NONE)
			b->group = group_of_unit[u];
	}
	for (uint32_t i = 0; i < x->nr_blocks; i++)
		measure(x, &x->blocks[i]);
}

static void put(struct realising *x, uint32_t i)
{
	const struct block *b = &x->blocks[i];

	x->placed[i] = 1;
	x->at = (x->at + b->align - 1) / b->align * b->align + b->size;
	for (uint32_t k = 0; k < b->nr; k++)
		x->out->units[x->nr_out++] = b->first + k;
}

static bool free_in(const struct realising *x, uint32_t i, uint32_t segment)
{
	uint32_t u = x->blocks[i].first;

	return !x->placed[i] && !x->r->fixed[u] && x->r->segment[u] == segment;
}

/* Fills the line up to its end with the largest cold blocks that fit. */
static void fill_line(struct realising *x, uint32_t segment)
{
	for (;;) {
		uint64_t left = (x->line - x->at % x->line) % x->line;
		uint32_t best = LM_NONE;

		for (uint32_t i = 0; i < x->nr_blocks && left; i++) {
			const struct block *b = &x->blocks[i];
			uint64_t pad = (b->align - x->at % b->align) % b->align;

			if (!free_in(x, i, segment) || b->group != LM_NONE || !b->size || pad + b->size > left)
				continue;
			if (best == LM_NONE || b->size > x->blocks[best].size)
				best = i;
		}
		if (best == LM_NONE)
			return;
		put(x, best);
	}
}

/* The blocks of one chosen line, largest alignment first. */
static void put_group(struct realising *x, uint32_t group, uint32_t segment)
{
	for (uint64_t align = 4096; align; align /= 2)
		for (uint32_t i = 0; i < x->nr_blocks; i++)
			if (free_in(x, i, segment) && x->blocks[i].group == group && x->blocks[i].align == align)
				put(x, i);
}

enum manner { HOT_FIRST = 1, HOT_LAST = 2, FILL = 4 };

static void put_segment(struct realising *x, uint32_t segment, unsigned manner, uint32_t nr_groups)
{
	if (manner & HOT_LAST)
		for (uint32_t i = 0; i < x->nr_blocks; i++)
			if (free_in(x, i, segment) && x->blocks[i].group == LM_NONE && x->blocks[i].size >= x->line)
				put(x, i);
	for (uint32_t g = 0; g < nr_groups; g++) {
		uint32_t before = x->nr_out;

		put_group(x, g, segment);
		if (x->nr_out != before && (manner & FILL))
			fill_line(x, segment);
	}
	for (uint32_t i = 0; i < x->nr_blocks; i++)
		if (free_in(x, i, segment))
			put(x, i);
}

/* Fixed units at the start of a segment come first, the others at its end. */
static void make_order(struct realising *x, unsigned manner, uint32_t nr_groups)
{
	uint32_t n = x->s->body->nr_units, segments = n ? x->r->segment[n - 1] + 1 : 0;

	x->nr_out = 0;
	x->at = 0;
	memset(x->placed, 0, x->nr_blocks);
	for (uint32_t s = 0; s < segments; s++) {
		bool head = true;

		for (uint32_t i = 0; i < x->nr_blocks && head; i++) {
			uint32_t u = x->blocks[i].first;

			if (x->r->segment[u] != s)
				continue;
			head = x->r->fixed[u];
			if (head)
				put(x, i);
		}
		put_segment(x, s, manner, nr_groups);
		for (uint32_t i = 0; i < x->nr_blocks; i++)
			if (!x->placed[i] && x->r->segment[x->blocks[i].first] == s)
				put(x, i);
	}
}

void lm_realise(const struct lm_subject *s, const struct lm_rules *r, uint32_t v, const struct lm_pack *pack,
		const struct lm_packing *packing, uint32_t line, struct lm_arena *arena, struct lm_order *orders,
		size_t *nr)
{
	static const unsigned manners[LM_REALISED] = { HOT_FIRST | FILL, HOT_LAST | FILL, HOT_FIRST, HOT_LAST };
	uint32_t n = s->body->nr_units;
	uint32_t *group = LM_ARENA_ARRAY(arena, uint32_t, n + 1);
	struct realising x = { .s = s, .r = r, .view = &s->views[v], .line = line };

	for (uint32_t u = 0; u < n; u++)
		group[u] = LM_NONE;
	for (uint32_t g = packing->nr_lines; g-- > 0;)
		for (uint32_t i = 0; i < packing->lines[g].nr; i++)
			group[pack->units[pack->leaves[packing->lines[g].leaves[i]].unit].id] = g;
	collect_blocks(&x, group, arena);
	x.placed = lm_arena_alloc(arena, x.nr_blocks + 1);
	*nr = 0;
	for (size_t m = 0; m < LM_REALISED; m++) {
		orders[*nr] = lm_order_identity(s, arena);
		x.out = &orders[(*nr)++];
		make_order(&x, manners[m], packing->nr_lines);
	}
}
