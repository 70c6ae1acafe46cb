/*
 * sample.c - the sample table: rows kept added up.
 *
 * The same index as the access table's: open addressing over row numbers, which
 * never decides an order.
 */
#include "profiles/sample.h"

#include <stdlib.h>
#include <string.h>

/* The tag is the other half of the hash: a million rows are not in the cache, so do not look at the wrong ones. */
struct slot {
	uint32_t row;		/* + 1; 0 is free */
	uint32_t tag;
};

struct index {
	size_t mask;		/* slots - 1; slots are a power of two */
	struct slot slots[];
};

void lm_samples_init(struct lm_samples *t)
{
	*t = (struct lm_samples){
		.strings = lm_strings_new(),
		.events = lm_strings_new(),
		.perf_version = "",
	};
}

void lm_samples_release(struct lm_samples *t)
{
	lm_strings_free(t->strings);
	lm_strings_free(t->events);
	free(t->rows);
	free(t->mappings);
	free(t->build_ids);
	free(t->starts);
	free(t->index);
	*t = (struct lm_samples){ .perf_version = "" };
}

/* ---- the index ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 32);
}

static uint64_t hash_key(const struct lm_sample *a)
{
	uint64_t h = mix(mix(0, a->ip), a->addr);

	h = mix(h, ((uint64_t)a->symbol << 32) | a->dso);
	h = mix(h, ((uint64_t)a->size << 32) | (uint32_t)a->cpu);
	for (unsigned i = 0; i < LM_CHAIN && a->chain.returns[i]; i++)
		h = mix(h, a->chain.returns[i]);
	return mix(h, ((uint64_t)a->op << 16) | ((uint64_t)a->evidence << 8) | a->after);
}

static bool same_key(const struct lm_sample *a, const struct lm_sample *b)
{
	return a->ip == b->ip && a->addr == b->addr && a->symbol == b->symbol && a->dso == b->dso &&
	       a->cpu == b->cpu && a->size == b->size && a->op == b->op && a->evidence == b->evidence &&
	       a->after == b->after && !memcmp(&a->chain, &b->chain, sizeof(a->chain));
}

/* The slot of key, whose hash is h: free, or holding its row. */
static struct slot *find_slot(const struct lm_samples *t, const struct lm_sample *key, uint64_t h)
{
	struct index *ix = t->index;
	uint32_t tag = (uint32_t)(h >> 32);
	size_t at = h & ix->mask;

	while (ix->slots[at].row && !(ix->slots[at].tag == tag && same_key(&t->rows[ix->slots[at].row - 1], key)))
		at = (at + 1) & ix->mask;
	return &ix->slots[at];
}

/* Makes an index with room for twice the rows there are, and one more. */
static void rebuild_index(struct lm_samples *t)
{
	size_t slots = 64, bytes;
	struct index *ix;

	while (slots / 2 < t->nr + 1)
		slots *= 2;
	if (__builtin_mul_overflow(slots, sizeof(ix->slots[0]), &bytes))
		lm_oom();
	free(t->index);
	ix = calloc(1, sizeof(*ix) + bytes);
	if (!ix)
		lm_oom();
	ix->mask = slots - 1;
	t->index = ix;
	for (size_t i = 0; i < t->nr; i++) {
		uint64_t h = hash_key(&t->rows[i]);
		size_t at = h & ix->mask;

		while (ix->slots[at].row)	/* no two rows are equal */
			at = (at + 1) & ix->mask;
		ix->slots[at] = (struct slot){ (uint32_t)i + 1, (uint32_t)(h >> 32) };
	}
}

static void push_row(struct lm_samples *t, struct lm_sample row)
{
	if (t->nr == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 64;

		if (cap >= UINT32_MAX || cap > SIZE_MAX / sizeof(*t->rows))
			lm_oom();
		t->rows = realloc(t->rows, cap * sizeof(*t->rows));
		if (!t->rows)
			lm_oom();
		t->cap = cap;
	}
	t->rows[t->nr++] = row;
}

void lm_samples_add(struct lm_samples *t, struct lm_sample row)
{
	const struct index *ix = t->index;
	uint64_t h = hash_key(&row);
	struct slot *slot;

	if (!ix || t->nr + 1 > (ix->mask + 1) / 4 * 3)
		rebuild_index(t);
	slot = find_slot(t, &row, h);
	if (slot->row) {
		uint64_t *count = &t->rows[slot->row - 1].count;

		if (__builtin_add_overflow(*count, row.count, count))
			*count = UINT64_MAX;
		return;
	}
	push_row(t, row);
	*slot = (struct slot){ (uint32_t)t->nr, (uint32_t)(h >> 32) };
}

/* ---- order ---- */

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* No name stands before every name. */
static int compare_names(const struct lm_strings *s, uint32_t a, uint32_t b)
{
	if (a == b)
		return 0;
	if (a == LM_NO_STRING || b == LM_NO_STRING)
		return a == LM_NO_STRING ? -1 : 1;
	return strcmp(lm_strings_get(s, a), lm_strings_get(s, b));
}

static int compare_rows(const void *left, const void *right, void *arg)
{
	const struct lm_sample *a = left, *b = right;
	int d = compare_u64(a->ip, b->ip);

	if (!d)
		d = compare_u64(a->addr, b->addr);
	if (!d)
		d = (a->cpu > b->cpu) - (a->cpu < b->cpu);
	if (!d)
		d = compare_u64(a->op, b->op);
	if (!d)
		d = compare_names(arg, a->symbol, b->symbol);
	if (!d)
		d = compare_names(arg, a->dso, b->dso);
	/* The rest of the key, so that no two rows are equal. */
	if (!d)
		d = compare_u64(a->size, b->size);
	if (!d)
		d = compare_u64(a->evidence, b->evidence);
	if (!d)
		d = compare_u64(a->after, b->after);
	for (unsigned i = 0; i < LM_CHAIN && !d; i++)
		d = compare_u64(a->chain.returns[i], b->chain.returns[i]);
	return d;
}

void lm_samples_sort(struct lm_samples *t)
{
	if (!t->nr)
		return;
	qsort_r(t->rows, t->nr, sizeof(*t->rows), compare_rows, t->strings);
	rebuild_index(t);
}
