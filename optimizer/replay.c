/* replay.c - accesses in order through caches that hold every line they ever saw. */
#include "optimizer/replay.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Lines that one access touches, as indexes into the table of lines. */
struct reach {
	size_t first, nr;
};

struct replay {
	const struct lm_trace *t;
	struct lm_replay *out;
	struct reach *reaches;	/* [nr_kinds] */
	size_t words;		/* of a set of CPUs */
	uint64_t *holders;	/* [nr_lines][words] */
};

/* ---- lines ---- */

static int compare_lines(const void *left, const void *right)
{
	const struct lm_replay_line *a = left, *b = right;

	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

static uint64_t last_line(const struct lm_kind *kind, const struct lm_replay_place *place, uint32_t line)
{
	return (place->offset + (kind->size ? kind->size - 1 : 0)) / line;
}

/* Every line that a kind touches, once, by object and number. */
static void collect_lines(struct replay *r, const struct lm_replay_place *places, uint32_t line,
			  struct lm_arena *arena)
{
	struct lm_replay *out = r->out;
	size_t cap = 0, nr = 0;

	for (size_t k = 0; k < r->t->nr_kinds; k++) {
		const struct lm_kind *kind = &r->t->kinds[k];

		if (!places[k].there)
			continue;
		for (uint64_t l = places[k].offset / line; l <= last_line(kind, &places[k], line); l++)
			*LM_ARENA_PUSH(arena, out->lines, out->nr_lines, cap) =
				(struct lm_replay_line){ .object = kind->object, .line = l };
	}
	if (out->nr_lines)
		qsort(out->lines, out->nr_lines, sizeof(*out->lines), compare_lines);
	for (size_t i = 0; i < out->nr_lines; i++)
		if (!nr || compare_lines(&out->lines[nr - 1], &out->lines[i]))
			out->lines[nr++] = out->lines[i];
	out->nr_lines = nr;
}

static void find_reaches(struct replay *r, const struct lm_replay_place *places, uint32_t line,
			 struct lm_arena *arena)
{
	struct lm_replay *out = r->out;

	r->reaches = LM_ARENA_ARRAY(arena, struct reach, r->t->nr_kinds + 1);
	for (size_t k = 0; k < r->t->nr_kinds; k++) {
		const struct lm_kind *kind = &r->t->kinds[k];
		struct lm_replay_line key = { .object = kind->object, .line = places[k].offset / line };
		const struct lm_replay_line *found;

		if (!places[k].there)
			continue;
		found = bsearch(&key, out->lines, out->nr_lines, sizeof(key), compare_lines);
		assert(found);
		r->reaches[k] = (struct reach){ (size_t)(found - out->lines),
						(size_t)(last_line(kind, &places[k], line) - key.line + 1) };
	}
}

/* ---- one access ---- */

/* Who holds what: a set of CPUs for each line. */
static bool held_by_others(const uint64_t *set, size_t words, uint32_t cpu)
{
	uint64_t others = 0;

	for (size_t w = 0; w < words; w++)
		others |= w == cpu / 64 ? set[w] & ~(UINT64_C(1) << cpu % 64) : set[w];
	return others != 0;
}

static void touch(struct lm_replay_line *line, uint64_t *set, size_t words, uint32_t cpu, bool write)
{
	uint64_t me = UINT64_C(1) << cpu % 64;
	bool mine = (set[cpu / 64] & me) != 0;

	line->accesses++;
	if (mine && !write)
		return;
	if (held_by_others(set, words, cpu)) {
		line->misses += !mine;
		line->upgrades += mine;
		if (write)
			memset(set, 0, words * sizeof(*set));
	}
	set[cpu / 64] |= me;
}

static void play(struct replay *r, uint32_t kind, uint32_t cpu)
{
	const struct reach *reach = &r->reaches[kind];

	if (!reach->nr)
		r->out->absent++;
	for (size_t l = reach->first; l < reach->first + reach->nr; l++)
		touch(&r->out->lines[l], r->holders + l * r->words, r->words, cpu, r->t->kinds[kind].write);
}

void lm_replay_trace(const struct lm_trace *t, const struct lm_replay_place *places, uint32_t line,
		     struct lm_arena *arena, struct lm_replay *out)
{
	struct replay r = { .t = t, .out = out, .words = (t->nr_cpus + 63) / 64 };

	*out = (struct lm_replay){ .accesses = (double)t->nr };
	collect_lines(&r, places, line, arena);
	find_reaches(&r, places, line, arena);
	r.holders = LM_ARENA_ARRAY(arena, uint64_t, (out->nr_lines + 1) * (r.words + 1));
	for (size_t i = 0; i < t->nr; i++)
		play(&r, t->steps[i].kind, t->steps[i].cpu);
	for (size_t i = 0; i < out->nr_lines; i++) {
		out->misses += out->lines[i].misses;
		out->upgrades += out->lines[i].upgrades;
	}
}
