/* members.c - the members of a record as several judges see them, compared. */
#include "output/members.h"

#include <string.h>

static struct lm_member planned(const struct lm_field *f, uint64_t bit_offset)
{
	return (struct lm_member){ f->name, f->key, f->type, bit_offset, f->size, f->bits };
}

/* View v's members in the planned order at the planned places. */
struct lm_members lm_members_planned(const struct lm_verify_request *req, uint32_t v, struct lm_arena *arena)
{
	const struct lm_view *view = &req->subject->views[v];
	const struct lm_layout *lay = &req->after[v];
	struct lm_members all = { .size = lay->size, .align = lay->align };

	all.items = LM_ARENA_ARRAY(arena, struct lm_member, view->rec->nr_fields + 1u);
	for (uint32_t i = 0; i < req->subject->body->nr_units; i++) {
		uint32_t unit = req->order->units[i];

		for (uint32_t k = 0; k < view->nr_fields[unit]; k++) {
			uint32_t f = view->first_field[unit] + k;

			all.items[all.nr++] = planned(&view->rec->fields[f], lay->bit_offset[f]);
		}
	}
	return all;
}

struct lm_members lm_members_of_record(const struct lm_record *rec, struct lm_arena *arena)
{
	struct lm_members all = { .size = rec->size, .align = rec->align };

	all.items = LM_ARENA_ARRAY(arena, struct lm_member, rec->nr_fields + 1u);
	for (uint32_t f = 0; f < rec->nr_fields; f++)
		all.items[all.nr++] = planned(&rec->fields[f], rec->fields[f].bit_offset);
	return all;
}

struct lm_members lm_members_of_debuginfo(const struct lm_dbg_record *rec, struct lm_arena *arena)
{
	struct lm_members all = { .size = rec->size };

	all.items = LM_ARENA_ARRAY(arena, struct lm_member, rec->nr_members + 1u);
	for (uint32_t i = 0; i < rec->nr_members; i++) {
		const struct lm_dbg_member *m = &rec->members[i];

		all.items[all.nr++] = (struct lm_member){ m->name, m->key, NULL, m->bit_offset, m->size, m->bits };
	}
	return all;
}

/* Debug info does not mention unnamed bit-fields: take them out. */
struct lm_members lm_members_named(struct lm_members all, struct lm_arena *arena)
{
	struct lm_members rest = all;

	rest.items = LM_ARENA_ARRAY(arena, struct lm_member, all.nr + 1);
	rest.nr = 0;
	for (size_t i = 0; i < all.nr; i++)
		if (all.items[i].bits == LM_NOT_BITS || *all.items[i].name)
			rest.items[rest.nr++] = all.items[i];
	return rest;
}

/* Padding macros that were added make members without bytes: how many are there in view v? */
size_t lm_members_barriers(const struct lm_verify_request *req, uint32_t v)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < req->subject->body->nr_units; i++)
		nr += req->order->barrier[i] && req->subject->views[v].nr_fields[req->order->units[i]];
	return nr;
}

/* ---- comparing ---- */

static const char *called(const struct lm_member *m)
{
	return *m->name ? m->name : *m->key ? m->key : "an unnamed member";
}

static char *place(uint64_t bit_offset, struct lm_arena *arena)
{
	if (bit_offset % 8)
		return lm_arena_printf(arena, "byte %llu, bit %u", (unsigned long long)(bit_offset / 8),
				       (unsigned)(bit_offset % 8));
	return lm_arena_printf(arena, "byte %llu", (unsigned long long)(bit_offset / 8));
}

static char *whole(const struct lm_members *m, struct lm_arena *arena)
{
	if (!m->align)
		return lm_arena_printf(arena, "%llu bytes", (unsigned long long)m->size);
	return lm_arena_printf(arena, "%llu bytes aligned to %u", (unsigned long long)m->size, m->align);
}

static bool same_member(const struct lm_member *a, const struct lm_member *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->key, b->key) && a->size == b->size && a->bits == b->bits &&
	       (!a->type || !b->type || !strcmp(a->type, b->type));
}

/* The first difference in words, NULL if there is none.  `spare` members without bytes may be extra in got. */
const char *lm_members_difference(const struct lm_members *want, const struct lm_members *got, size_t spare,
				  struct lm_arena *arena)
{
	size_t g = 0;

	for (size_t w = 0; w < want->nr; w++) {
		const struct lm_member *a = &want->items[w];

		while (spare && g < got->nr && !got->items[g].size && !same_member(a, &got->items[g]))
			g++, spare--;
		if (g >= got->nr)
			return lm_arena_printf(arena, "%s is missing", called(a));

		const struct lm_member *b = &got->items[g++];

		if (!same_member(a, b))
			return lm_arena_printf(arena, "%s stands where %s should", called(b), called(a));
		if (a->bit_offset != b->bit_offset)
			return lm_arena_printf(arena, "%s is at %s and should be at %s", called(a),
					       place(b->bit_offset, arena), place(a->bit_offset, arena));
	}
	while (spare && g < got->nr && !got->items[g].size)
		g++, spare--;
	if (g < got->nr)
		return lm_arena_printf(arena, "%s is unexpected", called(&got->items[g]));
	if (want->size != got->size || (want->align && got->align && want->align != got->align))
		return lm_arena_printf(arena, "it has %s and should have %s", whole(got, arena), whole(want, arena));
	return NULL;
}

