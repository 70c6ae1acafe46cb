/*
 * attribution_objects.c - where the objects of the record lie.
 *
 * An instruction that surely touches byte N of the record, at data address A,
 * says that an object starts at A - N.  One voice may be wrong (a cast, a union);
 * so what decides is how many samples agree, and objects do not overlap.
 */
#include "profiles/attribution_private.h"

#include <stdlib.h>

/* Allocators align to this at least, and so do records with a pointer in them. */
enum { ALIGNMENT = 8, MIN_VOTES = 8, PAGE = 4096 };

static void push(struct lm_objects *o, struct lm_object item)
{
	if (o->nr == o->cap) {
		size_t cap = o->cap ? o->cap * 2 : 64;

		if (cap > SIZE_MAX / sizeof(*o->items))
			lm_oom();
		o->items = realloc(o->items, cap * sizeof(*o->items));
		if (!o->items)
			lm_oom();
		o->cap = cap;
	}
	o->items[o->nr++] = item;
}

void lm_objects_give(struct lm_objects *o, uint64_t base)
{
	if (base <= UINT64_MAX - o->size)
		push(o, (struct lm_object){ .base = base, .given = true });
}

void lm_objects_vote(struct lm_objects *o, uint64_t base, bool again, uint64_t count)
{
	/* A record smaller than that cannot be told to be aligned so. */
	uint64_t alignment = o->size % ALIGNMENT == 0 ? ALIGNMENT : o->size % 4 == 0 ? 4 : 1;

	if (base % alignment == 0 && base <= UINT64_MAX - o->size)
		push(o, (struct lm_object){ .base = base, .votes = count, .instructions = !again });
}

static int by_base(const void *a, const void *b)
{
	const struct lm_object *x = a, *y = b;

	return x->base < y->base ? -1 : x->base > y->base;
}

/* Given first, then by how many instructions and samples agree, then by address. */
static int by_weight(const void *a, const void *b)
{
	const struct lm_object *x = a, *y = b;

	if (x->given != y->given)
		return x->given ? -1 : 1;
	if (x->instructions != y->instructions)
		return x->instructions > y->instructions ? -1 : 1;
	if (x->votes != y->votes)
		return x->votes > y->votes ? -1 : 1;
	return by_base(a, b);
}

/* Adds up votes for the same base. */
static void add_up(struct lm_objects *o)
{
	size_t nr = 0;

	qsort(o->items, o->nr, sizeof(*o->items), by_base);
	for (size_t i = 0; i < o->nr; i++) {
		struct lm_object *last = nr ? &o->items[nr - 1] : NULL;

		if (!last || last->base != o->items[i].base) {
			o->items[nr++] = o->items[i];
			continue;
		}
		last->given |= o->items[i].given;
		last->instructions += o->items[i].instructions;
		if (__builtin_add_overflow(last->votes, o->items[i].votes, &last->votes))
			last->votes = UINT64_MAX;
	}
	o->nr = nr;
}

static bool overlaps(const struct lm_objects *kept, const struct lm_object *item)
{
	size_t lo = 0, hi = kept->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (kept->items[mid].base <= item->base)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (lo && item->base - kept->items[lo - 1].base < kept->size) ||
	       (lo < kept->nr && kept->items[lo].base - item->base < kept->size);
}

/* Inserts in order. */
static void insert(struct lm_objects *kept, struct lm_object item)
{
	size_t at;

	push(kept, item);
	for (at = kept->nr - 1; at && kept->items[at - 1].base > item.base; at--)
		kept->items[at] = kept->items[at - 1];
	kept->items[at] = item;
}

void lm_objects_settle(struct lm_objects *o)
{
	struct lm_objects kept = { .size = o->size };

	if (!o->nr)
		return;
	add_up(o);
	qsort(o->items, o->nr, sizeof(*o->items), by_weight);
	for (size_t i = 0; i < o->nr; i++) {
		const struct lm_object *item = &o->items[i];

		if ((item->given || item->instructions >= 2 || item->votes >= MIN_VOTES) && !overlaps(&kept, item))
			insert(&kept, *item);
	}
	free(o->items);
	*o = kept;
}

uint32_t lm_objects_alignment(const struct lm_objects *o)
{
	uint64_t bits = PAGE;

	for (size_t i = 0; i < o->nr; i++)
		bits |= o->items[i].base;
	return o->nr ? (uint32_t)(bits & -bits) : 0;
}

bool lm_objects_find(const struct lm_objects *o, uint64_t address, uint32_t *number)
{
	size_t lo = 0, hi = o->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (o->items[mid].base <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || address - o->items[lo - 1].base >= o->size)
		return false;
	*number = (uint32_t)(lo - 1);
	return true;
}
