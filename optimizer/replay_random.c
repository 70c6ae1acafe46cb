/*
 * replay_random.c - accesses without an order, interleaved at random.
 *
 * Each line is played by itself: only what touches it changes it.  Accesses are
 * drawn with the probability of their rate, as many as there were, RUNS times;
 * the seed is the line's number and the run's.  Of a line with more than
 * MAX_DRAWN accesses a part is drawn and the counts are scaled: n accesses of a
 * line in a steady state miss in proportion to n, with a variance in proportion
 * to n, so that the spread is scaled by the root.
 */
#include "optimizer/replay.h"

#include "optimizer/cost_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 16, MAX_DRAWN = 1 << 16 };

/* Accesses of one CPU to one line. */
struct class {
	uint32_t cpu;
	bool write;
	double rate;
};

/* One line of one object, and the CPUs that touch it. */
struct drawing {
	struct class *classes;
	double *up_to;		/* [nr] sums of rates */
	uint32_t *owners;	/* [nr] CPU of the class as an index from 0 */
	size_t nr;
	uint32_t nr_cpus;
	uint64_t *holders;	/* [nr_cpus] set where the CPU holds the line */
	double total;
};

/* xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016). */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1du;
}

static uint64_t seed_of(uint64_t line, uint32_t object, unsigned run)
{
	uint64_t s = (line + 1) * 0x9e3779b97f4a7c15u ^ ((uint64_t)object << 32 | (run + 1)) * 0xbf58476d1ce4e5b9u;

	return s ? s : 1;
}

static size_t draw(const struct drawing *d, uint64_t *state)
{
	double x = (double)(next_random(state) >> 11) * 0x1p-53 * d->total;
	size_t low = 0, high = d->nr - 1;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (d->up_to[mid] > x)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* One run of n accesses: misses and upgrades. */
static void run_line(struct drawing *d, uint64_t state, uint64_t n, double *misses, double *upgrades)
{
	uint32_t held = 0;

	*misses = *upgrades = 0;
	memset(d->holders, 0, d->nr_cpus * sizeof(*d->holders));
	for (uint64_t i = 0; i < n; i++) {
		size_t c = draw(d, &state);
		uint32_t q = d->owners[c];
		bool mine = d->holders[q];

		if (held > (mine ? 1u : 0u) && (!mine || d->classes[c].write))
			*(mine ? upgrades : misses) += 1;
		if (d->classes[c].write && held > (mine ? 1u : 0u)) {
			memset(d->holders, 0, d->nr_cpus * sizeof(*d->holders));
			held = 0;
			mine = false;
		}
		held += !mine;
		d->holders[q] = 1;
	}
}

static void add_runs(struct drawing *d, struct lm_replay_line *line)
{
	double n = fmax(1, floor(d->total + 0.5)), drawn = fmin(n, MAX_DRAWN), scale = n / drawn;
	double sums[2] = { 0 }, squares[2] = { 0 };

	for (unsigned run = 0; run < RUNS; run++) {
		double counts[2];

		run_line(d, seed_of(line->line, line->object, run), (uint64_t)drawn, &counts[0], &counts[1]);
		for (int k = 0; k < 2; k++) {
			sums[k] += counts[k];
			squares[k] += counts[k] * counts[k];
		}
	}
	line->misses = sums[0] / RUNS * scale;
	line->upgrades = sums[1] / RUNS * scale;
	line->misses_spread = sqrt(fmax(0, (squares[0] - sums[0] * sums[0] / RUNS) / (RUNS - 1)) * scale);
	line->upgrades_spread = sqrt(fmax(0, (squares[1] - sums[1] * sums[1] / RUNS) / (RUNS - 1)) * scale);
}

/* ---- what touches a line ---- */

/* Touches of one object on one line. */
struct piece {
	uint32_t object, touch;
	uint64_t line;
};

static int compare_pieces(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;

	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->touch > b->touch) - (a->touch < b->touch);
}

/* A site's rates on a line become accesses of its CPU: stores, and loads for the rest of its touches. */
static void add_slots(struct drawing *d, const struct lm_touch *touches, const struct piece *pieces, size_t nr)
{
	struct lm_touch *on_line = calloc(nr, sizeof(*on_line));
	struct lm_cost_line *l;
	const struct lm_cost_slot *slots;
	uint32_t nr_slots, *cpu_of_cell = calloc(nr, sizeof(*cpu_of_cell));

	if (!on_line || !cpu_of_cell)
		lm_oom();
	for (size_t i = 0; i < nr; i++)
		on_line[i] = touches[pieces[i].touch];
	l = lm_cost_line_new(on_line, nr);
	for (size_t i = 0; i < nr; i++) {
		lm_cost_line_push(l, (uint32_t)i);
		cpu_of_cell[lm_cost_line_entry(l, (uint32_t)i).cell] = on_line[i].cpu;
	}
	slots = lm_cost_line_slots(l, &nr_slots);
	for (uint32_t s = 0; s < nr_slots; s++) {
		uint32_t cpu = cpu_of_cell[slots[s].cell];

		d->classes[d->nr++] = (struct class){ cpu, true, slots[s].writes };
		d->classes[d->nr++] = (struct class){ cpu, false, slots[s].touches - slots[s].writes };
	}
	lm_cost_line_free(l);
	free(on_line);
	free(cpu_of_cell);
}

static int compare_classes(const void *left, const void *right)
{
	const struct class *a = left, *b = right;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return (int)a->write - (int)b->write;
}

/* Classes added up by CPU and kind, those without accesses left out. */
static void add_up(struct drawing *d)
{
	size_t nr = 0;

	qsort(d->classes, d->nr, sizeof(*d->classes), compare_classes);
	for (size_t i = 0; i < d->nr; i++) {
		if (d->classes[i].rate <= 0)
			continue;
		if (nr && !compare_classes(&d->classes[nr - 1], &d->classes[i]))
			d->classes[nr - 1].rate += d->classes[i].rate;
		else
			d->classes[nr++] = d->classes[i];
	}
	d->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		d->nr_cpus += !i || d->classes[i].cpu != d->classes[i - 1].cpu;
		d->owners[i] = d->nr_cpus - 1;
		d->total += d->classes[i].rate;
		d->up_to[i] = d->total;
	}
}

static void *take(size_t nr, size_t size)
{
	void *p = calloc(nr, size);

	if (!p)
		lm_oom();
	return p;
}

static void play_line(const struct lm_touch *touches, const struct piece *pieces, size_t nr,
		      struct lm_replay_line *line)
{
	struct drawing d = {
		.classes = take(2 * nr, sizeof(*d.classes)),
		.up_to = take(2 * nr, sizeof(*d.up_to)),
		.owners = take(2 * nr, sizeof(*d.owners)),
		.holders = take(2 * nr, sizeof(*d.holders)),
	};
	bool written = false;

	add_slots(&d, touches, pieces, nr);
	add_up(&d);
	for (size_t i = 0; i < d.nr; i++)
		written |= d.classes[i].write;
	line->accesses = d.total;
	if (d.nr_cpus > 1 && written)
		add_runs(&d, line);
	else if (d.nr_cpus > 1)
		line->misses = d.nr_cpus - 1;	/* each reader but the first fetches it once */
	free(d.classes);
	free(d.up_to);
	free(d.owners);
	free(d.holders);
}

void lm_replay_random(const struct lm_usage *u, uint32_t v, const uint64_t *bit_offset, uint32_t line,
		      struct lm_arena *arena, struct lm_replay *out)
{
	struct piece *pieces = NULL;
	size_t nr = 0, cap = 0, cap_lines = 0, next;

	*out = (struct lm_replay){ 0 };
	for (size_t i = 0; i < u->nr_touches[v]; i++) {
		const struct lm_touch *t = &u->touches[v][i];
		uint64_t from = bit_offset[t->field] / 8 + t->offset, to = from + (t->size ? t->size - 1 : 0);

		for (uint64_t l = from / line; l <= to / line; l++)
			*LM_ARENA_PUSH(arena, pieces, nr, cap) = (struct piece){ t->object, (uint32_t)i, l };
	}
	if (nr)
		qsort(pieces, nr, sizeof(*pieces), compare_pieces);
	for (size_t i = 0; i < nr; i = next) {
		struct lm_replay_line *l = LM_ARENA_PUSH(arena, out->lines, out->nr_lines, cap_lines);

		for (next = i; next < nr && pieces[next].object == pieces[i].object && pieces[next].line == pieces[i].line;)
			next++;
		*l = (struct lm_replay_line){ .object = pieces[i].object, .line = pieces[i].line };
		play_line(u->touches[v], pieces + i, next - i, l);
		out->accesses += l->accesses;
		out->misses += l->misses;
		out->upgrades += l->upgrades;
		out->misses_spread += l->misses_spread * l->misses_spread;
		out->upgrades_spread += l->upgrades_spread * l->upgrades_spread;
	}
	out->misses_spread = sqrt(out->misses_spread);
	out->upgrades_spread = sqrt(out->upgrades_spread);
}
