/*
 * bench_packing.c - how long does the packing problem take, and how good is
 * what comes out?
 *
 *   bench_packing [UNITS [SEED [SECONDS]]]
 *
 * One random record a seed: hot units of 1 to 96 bytes whose start is known
 * only modulo their alignment, functions that read and write a few of them
 * together, on four CPUs, with rates over three orders of magnitude.
 */
#include "optimizer/packing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE = 64, CPUS = 4 };

struct dice {
	uint64_t state;
};

static uint32_t roll(struct dice *d, uint32_t below)
{
	d->state = d->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(d->state >> 33) % below;
}

/* Every unit's leaves are its first, and for the larger ones a middle and the last eight bytes. */
static void random_units(struct lm_pack *p, struct dice *d, struct lm_arena *arena)
{
	static const uint32_t sizes[] = { 1, 4, 4, 8, 8, 8, 8, 8, 16, 16, 24, 40, 72, 96 };
	uint64_t bytes = 0;

	p->units = LM_ARENA_ARRAY(arena, struct lm_pack_unit, p->nr_units);
	p->leaves = LM_ARENA_ARRAY(arena, struct lm_pack_leaf, (size_t)p->nr_units * 3);
	for (uint32_t u = 0; u < p->nr_units; u++) {
		uint32_t size = sizes[roll(d, sizeof(sizes) / sizeof(sizes[0]))], leaf = size < 8 ? size : 8;

		p->units[u] = (struct lm_pack_unit){ .size = size, .align = leaf, .phase = -1, .at = -1 };
		bytes += size;
		p->leaves[p->nr_leaves++] = (struct lm_pack_leaf){ .unit = u, .begin = 0, .end = leaf };
		if (size >= 40)
			p->leaves[p->nr_leaves++] = (struct lm_pack_leaf){ .unit = u, .begin = 16, .end = 24 };
		if (size >= 16)
			p->leaves[p->nr_leaves++] = (struct lm_pack_leaf){ .unit = u, .begin = size - 8, .end = size };
	}
	/* Cold fields make room: the record is about three times its hot units. */
	p->lines = (uint32_t)(3 * bytes / LINE + 1);
}

static double rate(struct dice *d)
{
	return floor(exp(roll(d, 1000) * 0.001 * log(1000.0)) * 100);
}

static void random_touches(struct lm_pack *p, struct dice *d, struct lm_arena *arena)
{
	struct lm_touch *t = NULL;
	size_t cap = 0, nr = 0;
	uint32_t sites = p->nr_leaves * 3 / 2;
	uint32_t **lists = LM_ARENA_ARRAY(arena, uint32_t *, p->nr_leaves);
	size_t *caps = LM_ARENA_ARRAY(arena, size_t, p->nr_leaves);

	for (uint32_t s = 0; s < sites; s++) {
		uint32_t near = roll(d, p->nr_leaves), uses = 1 + roll(d, 4);
		double r = rate(d);

		for (uint32_t k = 0; k < uses; k++) {
			uint32_t leaf = roll(d, 3) ? (near + roll(d, 4)) % p->nr_leaves : roll(d, p->nr_leaves);
			bool writes = !roll(d, 4);
			double skew = 1 + roll(d, 3);

			for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
				double mine = r * (cpu == s % CPUS ? skew : 1);

				*LM_ARENA_PUSH(arena, t, nr, cap) =
					(struct lm_touch){ .site = s, .cpu = cpu, .reads = writes ? 0 : mine,
							   .writes = writes ? mine : 0 };
				*LM_ARENA_PUSH(arena, lists[leaf], p->leaves[leaf].nr_touches, caps[leaf]) =
					(uint32_t)nr - 1;
			}
		}
	}
	for (uint32_t i = 0; i < p->nr_leaves; i++)
		p->leaves[i].touches = lists[i];
	p->touches = t;
	p->nr_touches = nr;
}

static int run(uint32_t units, uint64_t seed, double seconds)
{
	struct lm_arena arena = { 0 };
	struct lm_pack p = { .line = LINE, .nr_units = units };
	struct dice d = { seed * 1000003 + units };
	struct lm_packing out;

	random_units(&p, &d, &arena);
	random_touches(&p, &d, &arena);

	struct lm_err *err = lm_packing_solve(&p, seconds, &arena, &out);

	if (err) {
		fprintf(stderr, "%s\n", err->msg);
		lm_err_free(err);
		lm_arena_release(&arena);
		return 1;
	}
	printf("units %u leaves %u seed %llu: %.3f s, %u columns, value %.6g, bound %.6g, gap %.3f %%, %s\n", units,
	       p.nr_leaves, (unsigned long long)seed, out.seconds, out.nr_columns, out.value, out.bound,
	       out.value > 0 ? 100 * (out.value - out.bound) / out.value : 0, out.proven ? "proven" : "out of time");
	fflush(stdout);
	lm_arena_release(&arena);
	return 0;
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = { 15, 30, 60 };
	double seconds = argc > 3 ? atof(argv[3]) : 10;
	int bad = 0;

	if (argc > 1) {
		uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

		return run((uint32_t)strtoul(argv[1], NULL, 10), seed, seconds);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (uint64_t seed = 1; seed <= 5; seed++)
			bad |= run(sizes[i], seed, seconds);
	return bad;
}
