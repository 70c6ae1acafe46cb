/* rank.c - records from debug info, priced and sorted. */
#include "output/rank.h"

#include "base/parallel.h"
#include "optimizer/packing.h"
#include "optimizer/pairs.h"
#include "profiles/typing.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 8 };	/* what allocators align to, where no object was found; and no scalar is aligned to more */

/* For the packing problem: seconds a record, and the share of touches that is filler. */
#define SECONDS 1.0
#define COLD 1e-3
/* Fewer transfers are none. */
#define SOME 0.5

/* One record as the optimizer knows records, each member a unit. */
struct candidate {
	struct lm_typing typing;
	const struct lm_attributed *item;
	struct lm_arena arena;
	struct lm_record rec;
	struct lm_body body;
	struct lm_view view;
	struct lm_subject subject;
	struct lm_layout layout;
	struct lm_usage usage;
};

/* Sizes and offsets are multiples of the alignment, which debug info does not tell. */
static uint32_t likely_align(const struct lm_type_member *m)
{
	uint64_t bits = m->offset | m->size | WORD;

	return (uint32_t)(bits & -bits);
}

static void add_field(struct candidate *c, const struct lm_type_member *m)
{
	uint32_t i = c->rec.nr_fields++;

	c->rec.fields[i] = (struct lm_field){
		.name = m->name, .key = m->name, .type = "", .size = m->size, .bits = m->bits,
		.type_align = likely_align(m), .bit_offset = m->offset * 8, .anonymous = !*m->name,
		.flexible = !m->size && m->bits == UINT32_MAX,
	};
	c->layout.bit_offset[i] = m->offset * 8;
	c->view.field_unit[i] = c->view.first_field[i] = i;
	c->view.nr_fields[i] = 1;
}

static struct lm_err *add_fields(struct candidate *c)
{
	struct lm_type type;
	struct lm_err *err = lm_debuginfo_type(c->typing.bin, c->item->type, &type);
	uint32_t nr;

	if (err)
		return err;
	nr = type.nr_members;
	c->rec.fields = LM_ARENA_ARRAY(&c->arena, struct lm_field, nr);
	c->layout.bit_offset = LM_ARENA_ARRAY(&c->arena, uint64_t, nr);
	c->view.field_unit = LM_ARENA_ARRAY(&c->arena, uint32_t, nr);
	c->view.first_field = LM_ARENA_ARRAY(&c->arena, uint32_t, nr);
	c->view.nr_fields = LM_ARENA_ARRAY(&c->arena, uint32_t, nr);
	for (uint32_t i = 0; i < nr; i++)
		add_field(c, &type.members[i]);
	return NULL;
}

/* ---- leaves: those that are touched ---- */

static int compare_leaves(const void *left, const void *right)
{
	const struct lm_leaf *a = left, *b = right;

	if (a->field != b->field)
		return a->field < b->field ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return strcmp(a->path, b->path);
}

/* The leaf that a row touches, by its path from the debug info. */
static struct lm_err *name_leaf(struct candidate *c, const struct lm_access *row, uint32_t field, struct lm_leaf *ret)
{
	struct lm_reach at = { c->item->type, (int64_t)row->offset, 0, true };
	uint64_t start = c->rec.fields[field].bit_offset / 8, rest = 0;
	struct lm_str path = { 0 };
	struct lm_type_leaf leaf;
	struct lm_type type;
	bool found = false;
	struct lm_err *err = lm_typing_leaf(&c->typing, at, row->size, &path, &rest, &leaf, &found);

	*ret = (struct lm_leaf){ .field = field, .offset = row->offset - start, .size = row->size, .type = "" };
	ret->path = c->rec.fields[field].key;
	if (!err && found && path.len && rest <= ret->offset) {
		err = lm_debuginfo_type(c->typing.bin, leaf.type, &type);
		ret->path = lm_arena_strdup(&c->arena, lm_str_text(&path));
		ret->offset -= rest;
		if (!err && type.size)
			ret->size = type.size;
	}
	lm_str_release(&path);
	return err;
}

static uint32_t field_of(const struct lm_record *rec, uint64_t offset)
{
	struct lm_place p;

	return lm_path_find(rec, LM_WHOLE_RECORD, offset, &p) == LM_PATH_OK ? p.field : LM_NONE;
}

static struct lm_err *add_leaves(struct candidate *c)
{
	const struct lm_accesses *t = &c->item->accesses;
	struct lm_leaf *leaves = LM_ARENA_ARRAY(&c->arena, struct lm_leaf, t->nr);
	struct lm_err *err = NULL;
	uint32_t nr = 0, kept = 0;

	for (size_t i = 0; i < t->nr && !err; i++) {
		uint32_t field = field_of(&c->rec, t->rows[i].offset);

		if (field != LM_NONE)
			err = name_leaf(c, &t->rows[i], field, &leaves[nr++]);
	}
	if (err)
		return err;
	qsort(leaves, nr, sizeof(*leaves), compare_leaves);
	for (uint32_t i = 0; i < nr; i++)
		if (!kept || compare_leaves(&leaves[kept - 1], &leaves[i]))
			leaves[kept++] = leaves[i];
	for (uint32_t i = kept; i-- > 0;) {
		struct lm_field *f = &c->rec.fields[leaves[i].field];

		f->first_leaf = i;
		f->nr_leaves++;
	}
	c->rec.leaves = leaves;
	c->rec.nr_leaves = kept;
	return NULL;
}

/* ---- one record ---- */

/* What no layout of the same members costs less than, with every object on a line and no larger than it is. */
static struct lm_err *find_bound(struct candidate *c, uint32_t line, double *ret)
{
	struct lm_cost_opts opts = { line, line };
	uint32_t nr = c->body.nr_units;
	struct lm_rules none = {
		.fixed = lm_arena_alloc(&c->arena, nr + 1),
		.fixed_offset = lm_arena_alloc(&c->arena, nr + 1),
		.segment = LM_ARENA_ARRAY(&c->arena, uint32_t, nr + 1),
		.block = LM_ARENA_ARRAY(&c->arena, uint32_t, nr + 1),
	};
	struct lm_cost *cost = lm_cost_new(&c->view, &c->usage, 0, &opts);
	struct lm_packing packing = { 0 };
	struct lm_pack pack;
	struct lm_err *err;

	lm_pack_build(&c->subject, &none, &c->usage, 0, cost, &c->layout, line, COLD, &c->arena, &pack);
	lm_cost_free(cost);
	err = lm_packing_solve(&pack, SECONDS, &c->arena, &packing);
	*ret = packing.bound;
	return err;
}

static void find_worst(struct candidate *c, struct lm_cost *cost, uint32_t line, struct lm_arena *arena,
		       struct lm_rank_row *row)
{
	struct lm_pair *pairs;
	uint32_t nr;

	lm_pairs_priced(&c->subject, &c->usage, &cost, &c->layout, line, SOME, &c->arena, &pairs, &nr);
	for (uint32_t i = 0; i < nr; i++) {
		if (pairs[i].inside)
			continue;
		row->worst = pairs[i].excess;
		row->line = pairs[i].line;
		row->a = lm_arena_strdup(arena, c->rec.leaves[pairs[i].leaf_a].path);
		row->b = lm_arena_strdup(arena, c->rec.leaves[pairs[i].leaf_b].path);
		break;
	}
}

static struct lm_err *price(struct candidate *c, uint32_t line, struct lm_arena *arena, struct lm_rank_row *row)
{
	/* Bases that were seen say what alignment there is. */
	struct lm_cost_opts opts = { line, c->item->alignment ? c->item->alignment : WORD };
	struct lm_cost *cost = lm_cost_new(&c->view, &c->usage, 0, &opts);
	struct lm_err *err = NULL;
	double bound = 0;

	row->transfers = lm_cost_layout(cost, &c->layout);
	find_worst(c, cost, line, arena, row);
	lm_cost_free(cost);
	if (row->transfers >= SOME)
		err = find_bound(c, line, &bound);
	if (!err && row->transfers >= SOME && row->transfers > bound)
		row->removable = row->transfers - bound;
	return err;
}

static struct lm_err *rank_one(struct candidate *c, struct lm_attributed *item, uint32_t line, uint32_t cpus,
			       struct lm_arena *arena, struct lm_rank_row *row)
{
	struct lm_err *err;

	c->item = item;
	c->rec = (struct lm_record){ .name = item->name, .size = item->size, .align = 1 };
	err = add_fields(c);
	if (!err)
		err = add_leaves(c);
	*row = (struct lm_rank_row){ .name = item->name, .size = item->size, .accesses = item->accesses.used,
				     .objects = item->objects };
	if (err || !c->rec.nr_leaves)
		return err;
	c->body.nr_units = c->rec.nr_fields;
	c->view.config = "base";
	c->view.rec = &c->rec;
	c->subject = (struct lm_subject){ &c->body, &c->view, 1 };
	c->layout.size = c->rec.size;
	c->layout.align = 1;
	err = lm_join(&c->subject, &item->accesses, item->name, cpus, &c->arena, &c->usage);
	return err ? err : price(c, line, arena, row);
}

static int compare_rows(const void *left, const void *right)
{
	const struct lm_rank_row *a = left, *b = right;

	if (a->removable != b->removable)
		return a->removable > b->removable ? -1 : 1;
	if (a->transfers != b->transfers)
		return a->transfers > b->transfers ? -1 : 1;
	if (a->accesses != b->accesses)
		return a->accesses > b->accesses ? -1 : 1;
	if (strcmp(a->name, b->name))
		return strcmp(a->name, b->name);
	return (a->size > b->size) - (a->size < b->size);
}

struct lm_err *lm_rank_make(struct lm_debuginfo *bin, struct lm_attributed_all *all, uint32_t line, uint32_t cpus,
			    struct lm_arena *arena, struct lm_rank *out)
{
	struct lm_rank rank = { .line = line, .outcomes = all->outcomes, .nr = all->nr };
	struct lm_err *err = NULL;

	rank.rows = LM_ARENA_ARRAY(arena, struct lm_rank_row, all->nr);
	for (size_t i = 0; i < all->nr && !err; i++) {
		struct candidate c = { .typing = { bin, LM_NO_UNIT } };

		lm_progress("pricing records", i, all->nr);
		err = rank_one(&c, &all->items[i], line, cpus, arena, &rank.rows[i]);
		lm_arena_release(&c.arena);
	}
	lm_progress("pricing records", 1, 1);
	if (err)
		return err;
	if (rank.nr)
		qsort(rank.rows, rank.nr, sizeof(*rank.rows), compare_rows);
	*out = rank;
	return NULL;
}
