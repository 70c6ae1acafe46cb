/*
 * pack_build.c - from a record and its usage to the packing problem.
 *
 * Wherever the record is not simple, the problem is made easier than the
 * record, never harder: the bound must hold for every order.  So members whose
 * distance depends on where their unit starts become units of their own, an
 * alignment that is not sure counts as 1, and a bit-field takes its whole bytes.
 */
#include "optimizer/packing.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A touch of this many pieces is a memset of a large array: what lies behind is left out. */
enum { PIECE = 8, MOST_PIECES = 4096 };

/* Fields that keep their distances: a unit of the packing problem. */
struct part {
	uint32_t unit;		/* of the subject */
	uint32_t first, nr;	/* fields of the view */
};

/* Touch number t touches piece number `at` (of `granule` bytes) of a field. */
struct piece {
	uint64_t at;
	uint32_t touch;
};

struct building {
	const struct lm_subject *s;
	const struct lm_view *view;
	const struct lm_rules *rules;
	const struct lm_layout *before;
	const struct lm_touch *touches;
	size_t nr_touches;
	uint32_t nr_cpus;
	uint32_t *by_field;	/* indexes of touches; those of field f are first_touch[f] .. first_touch[f + 1] */
	size_t *first_touch;
	struct lm_arena *arena;
	struct lm_pack *out;
	size_t cap_units, cap_leaves;
};

/* ---- fields ---- */

/* A power of 2 that divides the field's offset under any order. */
static uint32_t sure_align(const struct lm_record *rec, const struct lm_field *f)
{
	if (f->packed || rec->packed || rec->pack || f->bits != LM_NOT_BITS)
		return 1;
	return f->attr_align > f->type_align ? f->attr_align : f->type_align ? f->type_align : 1;
}

/* Fields of one alignment, not packed, are always as far apart as they are now. */
static bool keeps_distances(const struct lm_view *view, uint32_t unit)
{
	const struct lm_field *f = &view->rec->fields[view->first_field[unit]];

	for (uint32_t i = 0; i < view->nr_fields[unit]; i++) {
		if (f[i].bits != LM_NOT_BITS || f[i].packed || f[i].flexible || view->rec->packed || view->rec->pack)
			return view->nr_fields[unit] == 1;
		if (f[i].type_align != f->type_align || f[i].attr_align != f->attr_align)
			return false;
	}
	return true;
}

static void sort_touches(struct building *b)
{
	uint32_t nr = b->view->rec->nr_fields;
	size_t *next = LM_ARENA_ARRAY(b->arena, size_t, nr + 1);

	b->first_touch = LM_ARENA_ARRAY(b->arena, size_t, nr + 1);
	b->by_field = LM_ARENA_ARRAY(b->arena, uint32_t, b->nr_touches + 1);
	for (size_t i = 0; i < b->nr_touches; i++)
		b->first_touch[b->touches[i].field + 1]++;
	for (uint32_t f = 0; f < nr; f++)
		b->first_touch[f + 1] += b->first_touch[f];
	memcpy(next, b->first_touch, (nr + 1) * sizeof(*next));
	for (size_t i = 0; i < b->nr_touches; i++)
		b->by_field[next[b->touches[i].field]++] = (uint32_t)i;
}

/* ---- leaves ---- */

static int by_piece(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->touch > y->touch) - (x->touch < y->touch);
}

/* Every piece of field f that is touched, with the touches; sorted. */
static struct piece *pieces_of(struct building *b, uint32_t f, uint32_t granule, size_t *nr)
{
	struct piece *pieces = NULL;
	size_t cap = 0;

	*nr = 0;
	for (size_t i = b->first_touch[f]; i < b->first_touch[f + 1]; i++) {
		const struct lm_touch *t = &b->touches[b->by_field[i]];
		uint64_t first = t->offset / granule, last = (t->offset + (t->size ? t->size : 1) - 1) / granule;

		if (last - first >= MOST_PIECES)
			last = first + MOST_PIECES - 1;
		for (uint64_t at = first; at <= last; at++)
			*LM_ARENA_PUSH(b->arena, pieces, *nr, cap) = (struct piece){ at, b->by_field[i] };
	}
	if (*nr)
		qsort(pieces, *nr, sizeof(*pieces), by_piece);
	return pieces;
}

/* May [next, end) of p, one piece, become part of the leaf of touches t, whose last piece is `last`? */
static bool extends(const struct lm_pack_leaf *leaf, uint64_t last, const struct piece *p, size_t nr, uint32_t granule)
{
	if (p->at != last + 1 || p->at * granule / PIECE != last * granule / PIECE || nr != leaf->nr_touches)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (p[i].touch != leaf->touches[i])
			return false;
	return true;
}

/*
 * The leaves of field f, which begins `base` bytes into its unit.  A piece is
 * as large as the field's alignment lets it be without ever lying on two lines;
 * smaller ones that the same code touches are one leaf while they are in eight
 * bytes: counted on the line of its first byte, it costs no more than it does.
 */
static void add_leaves(struct building *b, uint32_t unit, uint32_t f, uint32_t base)
{
	const struct lm_field *field = &b->view->rec->fields[f];
	uint32_t align = sure_align(b->view->rec, field), granule = align < PIECE ? align : PIECE;
	struct lm_pack *p = b->out;
	struct lm_pack_leaf *leaf = NULL;
	uint64_t last = 0;
	size_t nr;

	if (field->bits != LM_NOT_BITS)
		granule = 1u << 31;	/* one leaf */

	const struct piece *pieces = pieces_of(b, f, granule, &nr);

	for (size_t i = 0, end; i < nr; i = end) {
		uint64_t begin = field->bits == LM_NOT_BITS ? pieces[i].at * granule : 0;

		for (end = i + 1; end < nr && pieces[end].at == pieces[i].at; end++)
			;
		if (begin > INT32_MAX / 2)
			return;
		if (leaf && extends(leaf, last, &pieces[i], end - i, granule)) {
			leaf->end += granule;
			last = pieces[i].at;
			continue;
		}

		uint32_t *touches = LM_ARENA_ARRAY(b->arena, uint32_t, end - i);

		for (size_t k = i; k < end; k++)
			touches[k - i] = pieces[k].touch;
		leaf = LM_ARENA_PUSH(b->arena, p->leaves, p->nr_leaves, b->cap_leaves);
		*leaf = (struct lm_pack_leaf){ .unit = unit, .begin = base + (uint32_t)begin, .touches = touches,
					       .nr_touches = (uint32_t)(end - i) };
		leaf->end = leaf->begin + (field->bits == LM_NOT_BITS ? granule : 1);
		last = pieces[i].at;
	}
}

/* ---- units ---- */

static uint64_t offset_of(const struct building *b, uint32_t field)
{
	return b->before->bit_offset[field] / 8;
}

/* Bytes from the part's start to its end that nothing else can have. */
static uint64_t size_of(const struct building *b, const struct part *part)
{
	const struct lm_field *f = &b->view->rec->fields[part->first + part->nr - 1];
	uint64_t end = f->size;

	if (f->bits != LM_NOT_BITS)
		return f->bits / 8;
	/* What is touched of a flexible array is there, and is its own. */
	for (size_t i = b->first_touch[part->first]; f->flexible && i < b->first_touch[part->first + 1]; i++) {
		const struct lm_touch *t = &b->touches[b->by_field[i]];

		end = t->offset + t->size > end ? t->offset + t->size : end;
	}
	return offset_of(b, part->first + part->nr - 1) - offset_of(b, part->first) + end;
}

static void add_part(struct building *b, const struct part *part, uint32_t segment)
{
	struct lm_pack *p = b->out;
	const struct lm_record *rec = b->view->rec;
	uint32_t unit = p->nr_units, leaves = p->nr_leaves;
	uint64_t at = offset_of(b, part->first), size = size_of(b, part);
	struct lm_pack_unit u = { .id = part->unit, .phase = -1, .at = -1, .segment = segment };

	u.align = sure_align(rec, &rec->fields[part->first]);
	u.size = size < INT32_MAX ? (uint32_t)size : INT32_MAX;
	if (b->rules->fixed_offset[part->unit] && at <= INT32_MAX)
		u.at = (int32_t)at;
	else if (u.align >= p->line)
		u.phase = 0;
	for (uint32_t i = 0; i < part->nr; i++) {
		uint64_t base = offset_of(b, part->first + i) - at;

		if (base <= INT32_MAX / 2)
			add_leaves(b, unit, part->first + i, (uint32_t)base);
	}
	if (p->nr_leaves > leaves)
		*LM_ARENA_PUSH(b->arena, p->units, p->nr_units, b->cap_units) = u;
}

/*
 * Segments keep their order.  Where one begins with a member that is aligned to
 * a line, nothing before shares a line with anything behind: a new number.
 */
static uint32_t next_segment(const struct building *b, uint32_t unit, uint32_t segment)
{
	const struct lm_view *view = b->view;

	if (!unit || b->rules->segment[unit] == b->rules->segment[unit - 1] || !view->nr_fields[unit])
		return segment;
	return segment + (sure_align(view->rec, &view->rec->fields[view->first_field[unit]]) >= b->out->line);
}

static void add_units(struct building *b)
{
	uint32_t segment = 0;

	for (uint32_t u = 0; u < b->s->body->nr_units; u++) {
		struct part part = { u, b->view->first_field[u], b->view->nr_fields[u] };

		segment = next_segment(b, u, segment);
		if (!part.nr)
			continue;
		if (keeps_distances(b->view, u)) {
			add_part(b, &part, segment);
			continue;
		}
		for (uint32_t i = 0; i < b->view->nr_fields[u]; i++)
			add_part(b, &(struct part){ u, part.first + i, 1 }, segment);
	}
}

/* ---- what is hot ---- */

struct heat {
	double touches;
	uint32_t leaf;
};

static int by_heat(const void *a, const void *b)
{
	const struct heat *x = a, *y = b;

	if (x->touches != y->touches)
		return x->touches < y->touches ? -1 : 1;
	return (x->leaf > y->leaf) - (x->leaf < y->leaf);
}

/* A write counts as many as there are CPUs: each of them may have to fetch the line again. */
static double heat_of(const struct building *b, const struct lm_pack_leaf *leaf)
{
	double sum = 0;

	for (uint32_t i = 0; i < leaf->nr_touches; i++) {
		const struct lm_touch *t = &b->touches[leaf->touches[i]];

		sum += t->reads + t->writes * b->nr_cpus;
	}
	return sum;
}

/* Drops the coldest leaves that together have less than threshold of all, and units that have none left. */
static void drop_cold(struct building *b, double threshold)
{
	struct lm_pack *p = b->out;
	struct heat *heat = LM_ARENA_ARRAY(b->arena, struct heat, p->nr_leaves + 1);
	uint8_t *cold = LM_ARENA_ARRAY(b->arena, uint8_t, p->nr_leaves + 1);
	uint32_t *number = LM_ARENA_ARRAY(b->arena, uint32_t, p->nr_units + 1);
	double all = 0, sum = 0;
	uint32_t leaves = 0, units = 0;

	for (uint32_t i = 0; i < p->nr_leaves; i++) {
		heat[i] = (struct heat){ heat_of(b, &p->leaves[i]), i };
		all += heat[i].touches;
	}
	if (p->nr_leaves)
		qsort(heat, p->nr_leaves, sizeof(*heat), by_heat);
	for (uint32_t i = 0; i < p->nr_leaves; i++) {
		sum += heat[i].touches;
		cold[heat[i].leaf] = sum < threshold * all || sum <= 0;
	}
	for (uint32_t u = 0; u < p->nr_units; u++)
		number[u] = LM_NONE;
	for (uint32_t i = 0; i < p->nr_leaves; i++) {
		uint32_t u = p->leaves[i].unit;

		if (cold[i])
			continue;
		if (number[u] == LM_NONE) {
			p->units[units] = p->units[u];
			number[u] = units++;
		}
		p->leaves[leaves] = p->leaves[i];
		p->leaves[leaves++].unit = number[u];
	}
	p->nr_leaves = leaves;
	p->nr_units = units;
}

/* Lines of the record, and those that the touched part of a flexible array reaches behind it. */
static uint64_t most_lines(const struct building *b)
{
	uint64_t behind = 0;

	for (size_t i = 0; i < b->nr_touches; i++) {
		const struct lm_touch *t = &b->touches[i];

		if (b->view->rec->fields[t->field].flexible && t->offset + t->size > behind)
			behind = t->offset + t->size;
	}
	return lm_layout_lines(b->before->size + behind, b->out->line);
}

void lm_pack_build(const struct lm_subject *s, const struct lm_rules *r, const struct lm_usage *u, uint32_t v,
		   struct lm_cost *cost, const struct lm_layout *before, uint32_t line, double threshold,
		   struct lm_arena *arena, struct lm_pack *out)
{
	struct building b = { .s = s, .view = &s->views[v], .rules = r, .before = before, .touches = u->touches[v],
			      .nr_touches = u->nr_touches[v], .nr_cpus = u->nr_cpus, .arena = arena, .out = out };
	uint64_t lines;

	assert(lm_cost_base_fixed(cost));
	(void)cost;	/* asked only by the assertion */
	*out = (struct lm_pack){ .line = line, .touches = b.touches, .nr_touches = b.nr_touches };
	lines = most_lines(&b);
	out->lines = lines < UINT32_MAX ? (uint32_t)lines : UINT32_MAX;
	sort_touches(&b);
	add_units(&b);
	drop_cold(&b, threshold);
}
