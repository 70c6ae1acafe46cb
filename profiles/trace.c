/*
 * trace.c - accesses in order: millions of steps, few kinds.
 *
 * Kinds are found by open addressing over their numbers, which never decides an
 * order: they are numbered as they appear.
 */
#include "profiles/access.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_kind(const struct lm_kind *k)
{
	uint64_t h = (k->offset ^ (uint64_t)k->object << 32) * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32 ^ (uint64_t)k->size << 1 ^ k->write) * 0xff51afd7ed558ccdu;
	return h ^ h >> 32;
}

static bool same_kind(const struct lm_kind *a, const struct lm_kind *b)
{
	return a->offset == b->offset && a->size == b->size && a->object == b->object && a->write == b->write;
}

/* Its slot: free, or with its number + 1. */
static uint64_t *find_slot(const struct lm_trace *t, const struct lm_kind *kind)
{
	size_t mask = t->nr_index - 1, at = hash_kind(kind) & mask;

	while (t->index[at] && !same_kind(&t->kinds[t->index[at] - 1], kind))
		at = (at + 1) & mask;
	return &t->index[at];
}

static void *grow(void *items, size_t *cap, size_t size)
{
	size_t more = *cap ? *cap * 2 : 1024;

	items = reallocarray(items, more, size);
	if (!items)
		lm_oom();
	*cap = more;
	return items;
}

static void grow_index(struct lm_trace *t)
{
	t->nr_index = t->nr_index ? t->nr_index * 2 : 1024;
	free(t->index);
	t->index = calloc(t->nr_index, sizeof(*t->index));
	if (!t->index)
		lm_oom();
	for (size_t i = 0; i < t->nr_kinds; i++)
		*find_slot(t, &t->kinds[i]) = i + 1;
}

static uint32_t kind_number(struct lm_trace *t, const struct lm_kind *kind)
{
	uint64_t *slot;

	if (2 * (t->nr_kinds + 1) > t->nr_index)
		grow_index(t);
	slot = find_slot(t, kind);
	if (*slot)
		return (uint32_t)(*slot - 1);
	if (t->nr_kinds == UINT32_MAX)
		lm_oom();
	if (t->nr_kinds == t->cap_kinds)
		t->kinds = grow(t->kinds, &t->cap_kinds, sizeof(*t->kinds));
	t->kinds[t->nr_kinds] = *kind;
	*slot = ++t->nr_kinds;
	return (uint32_t)(t->nr_kinds - 1);
}

/* Accesses of one CPU come in runs. */
static uint32_t cpu_number(struct lm_trace *t, uint32_t cpu)
{
	if (t->nr && t->cpus[t->steps[t->nr - 1].cpu] == cpu)
		return t->steps[t->nr - 1].cpu;
	for (size_t i = 0; i < t->nr_cpus; i++)
		if (t->cpus[i] == cpu)
			return (uint32_t)i;
	if (t->nr_cpus == t->cap_cpus)
		t->cpus = grow(t->cpus, &t->cap_cpus, sizeof(*t->cpus));
	t->cpus[t->nr_cpus] = cpu;
	return (uint32_t)t->nr_cpus++;
}

void lm_trace_add(struct lm_trace *t, struct lm_kind kind, uint32_t cpu, const uint64_t *time)
{
	if (t->nr == t->cap) {
		size_t cap = t->cap;

		t->steps = grow(t->steps, &cap, sizeof(*t->steps));
		if (time)
			t->times = grow(t->times, &t->cap, sizeof(*t->times));
		t->cap = cap;
	}
	if (time)
		t->times[t->nr] = *time;
	t->steps[t->nr] = (struct lm_step){ kind_number(t, &kind), cpu_number(t, cpu) };
	t->nr++;
}

/* ---- the order ---- */

struct ranked {
	uint64_t key;
	size_t at;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static struct ranked *take(size_t nr)
{
	struct ranked *p = calloc(nr + 1, sizeof(*p));

	if (!p)
		lm_oom();
	return p;
}

/* CPUs get the places of their numbers. */
static void number_cpus(struct lm_trace *t)
{
	struct ranked *order = take(t->nr_cpus);
	uint32_t *place = calloc(t->nr_cpus + 1, sizeof(*place));

	if (!place)
		lm_oom();
	for (size_t i = 0; i < t->nr_cpus; i++)
		order[i] = (struct ranked){ t->cpus[i], i };
	qsort(order, t->nr_cpus, sizeof(*order), compare_ranked);
	for (size_t i = 0; i < t->nr_cpus; i++) {
		t->cpus[i] = (uint32_t)order[i].key;
		place[order[i].at] = (uint32_t)i;
	}
	for (size_t i = 0; i < t->nr; i++)
		t->steps[i].cpu = place[t->steps[i].cpu];
	free(order);
	free(place);
}

static void sort_by_time(struct lm_trace *t)
{
	struct ranked *order = take(t->nr);
	struct lm_step *steps = reallocarray(NULL, t->cap, sizeof(*steps));

	if (!steps)
		lm_oom();
	for (size_t i = 0; i < t->nr; i++)
		order[i] = (struct ranked){ t->times[i], i };
	qsort(order, t->nr, sizeof(*order), compare_ranked);
	for (size_t i = 0; i < t->nr; i++) {
		steps[i] = t->steps[order[i].at];
		t->times[i] = order[i].key;
	}
	free(order);
	free(t->steps);
	t->steps = steps;
}

/* CPU q's steps are those from starts[q] to starts[q + 1] of the steps by CPU. */
static struct lm_step *group_by_cpu(const struct lm_trace *t, size_t *starts)
{
	struct lm_step *steps = reallocarray(NULL, t->cap, sizeof(*steps));

	if (!steps)
		lm_oom();
	for (size_t i = 0; i < t->nr; i++)
		starts[t->steps[i].cpu + 2]++;
	for (size_t q = 0; q < t->nr_cpus; q++)
		starts[q + 2] += starts[q + 1];
	for (size_t i = 0; i < t->nr; i++)
		steps[starts[t->steps[i].cpu + 1]++] = t->steps[i];
	return steps;
}

static void take_turns(struct lm_trace *t)
{
	size_t *starts = calloc(t->nr_cpus + 2, sizeof(*starts));
	struct lm_step *grouped;
	size_t done = 0;

	if (!starts)
		lm_oom();
	grouped = group_by_cpu(t, starts);
	for (size_t turn = 0; done < t->nr; turn++)
		for (size_t q = 0; q < t->nr_cpus; q++)
			if (turn < starts[q + 1] - starts[q])
				t->steps[done++] = grouped[starts[q] + turn];
	free(grouped);
	free(starts);
}

void lm_trace_settle(struct lm_trace *t, bool turns)
{
	if (!t->nr)
		return;
	number_cpus(t);
	if (t->times)
		sort_by_time(t);
	if (turns)
		take_turns(t);
}

void lm_trace_release(struct lm_trace *t)
{
	free(t->kinds);
	free(t->steps);
	free(t->times);
	free(t->cpus);
	free(t->index);
	*t = (struct lm_trace){ 0 };
}
