/*
 * bench_packing.c - how long does the packing problem take, and how good is
 * what comes out?
 *
 *   bench_packing                          the flagship, and random records of 15, 30 and 60 hot units
 *   bench_packing flagship                 the flagship alone
 *   bench_packing UNITS [SEED [SECONDS]]   one random record
 *
 * One random record a seed: hot units of 1 to 96 bytes whose start is known
 * only modulo their alignment, functions that read and write a few of them
 * together, on four CPUs, with rates over three orders of magnitude.
 */
#include "base/file.h"
#include "optimizer/packing.h"
#include "optimizer/subject.h"
#include "profiles/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void must(struct lm_err *err)
{
	if (!err)
		return;
	fprintf(stderr, "%s\n", err->msg);
	exit(1);
}

static void solve(const char *name, const struct lm_pack *p, double seconds, struct lm_arena *arena)
{
	struct lm_packing out;

	must(lm_packing_solve(p, seconds, arena, &out));
	printf("%-16s %3u hot units, %3u leaves: %6.3f s, %4u columns, value %.6g, bound %.6g, gap %.3f %%, %s\n", name,
	       p->nr_units, p->nr_leaves, out.seconds, out.nr_columns, out.value, out.bound,
	       out.value > 0 ? 100 * (out.value - out.bound) / out.value : 0, out.proven ? "proven" : "out of time");
	fflush(stdout);
}

static void random_record(uint32_t units, uint64_t seed, double seconds)
{
	struct lm_arena arena = { 0 };
	struct lm_pack p = { .line = LINE, .nr_units = units };
	struct dice d = { seed * 1000003 + units };
	char name[64];

	random_units(&p, &d, &arena);
	random_touches(&p, &d, &arena);
	snprintf(name, sizeof(name), "random, seed %llu", (unsigned long long)seed);
	solve(name, &p, seconds, &arena);
	lm_arena_release(&arena);
}

/* struct mem_cgroup of tests/data/flagship in its base configuration, from the header on. */
static void flagship(void)
{
	static const char *const header = LM_TEST_DATA "/flagship/include/linux/memcontrol.h";
	static const char *const flags[] = { "-I" LM_TEST_DATA "/flagship/include", "-include",
					     LM_TEST_DATA "/flagship/include/linux/kconfig.h", "-D__KERNEL__", "-std=gnu11" };
	struct lm_config_request request = { .header = header, .flags = flags, .nr_flags = 5 };
	struct lm_arena arena = { 0 };
	struct lm_configs configs;
	struct lm_source source = { 0 };
	struct lm_body body;
	struct lm_subject subject;
	struct lm_rules rules;
	struct lm_rules_opts opts = { .line = LINE, .path = header };
	struct lm_cost_opts cost_opts = { .line = LINE, .base_align = LINE };
	struct lm_accesses accesses;
	struct lm_usage usage;
	struct lm_pack pack;
	char *text;
	size_t len;

	must(lm_file_read(header, "header", 1 << 24, &arena, &text, &len));
	must(lm_configs_make(&request, &arena, &configs));

	struct lm_source_request what = { .configs = &configs, .record = "mem_cgroup", .text = text, .len = len };

	must(lm_source_parse(&what, 0, &source));
	must(lm_subject_make(header, text, len, &source, 1, &arena, &body, &subject));
	must(lm_rules_collect(&subject, &source, &opts, &arena, &rules));
	lm_accesses_init(&accesses);
	must(lm_profile_read(LM_TEST_DATA "/flagship/sites.access", &(struct lm_reader_opts){ .record = "mem_cgroup" },
			     &accesses));
	must(lm_join(&subject, &accesses, "mem_cgroup", 0, &arena, &usage));

	struct lm_order order = lm_order_identity(&subject, &arena);
	struct lm_layout before = { .bit_offset = LM_ARENA_ARRAY(&arena, uint64_t, source.record.nr_fields + 1) };
	struct lm_cost *cost = lm_cost_new(&subject.views[0], &usage, 0, &cost_opts);

	lm_layout_units(&subject.views[0], body.nr_units, &order, LINE, NULL, &before);
	lm_pack_build(&subject, &rules, &usage, 0, cost, &before, LINE, 0.001, &arena, &pack);
	printf("%-16s costs %.6g as it is\n", "mem_cgroup", lm_cost_layout(cost, &before));
	solve("mem_cgroup", &pack, 10, &arena);
	lm_cost_free(cost);
	lm_accesses_release(&accesses);
	lm_source_release(&source);
	lm_arena_release(&arena);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = { 15, 30, 60 };

	if (argc > 1 && !strcmp(argv[1], "flagship")) {
		flagship();
		return 0;
	}
	if (argc > 1) {
		random_record((uint32_t)strtoul(argv[1], NULL, 10), argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
			      argc > 3 ? atof(argv[3]) : 10);
		return 0;
	}
	flagship();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (uint64_t seed = 1; seed <= 5; seed++)
			random_record(sizes[i], seed, 10);
	return 0;
}
