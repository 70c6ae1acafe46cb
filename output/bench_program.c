/*
 * bench_program.c - the benchmark's C text.
 *
 * One function a thread, a line of code for each access, in straight order: no
 * branch to predict wrongly.  Where an access goes is in a table, one a layout,
 * so that all layouts run the same instructions.
 */
#include "output/bench.h"

#include <inttypes.h>

/* Objects behind each other, each on a page of its own; more than fit share places. */
enum { MAX_OBJECTS = 64, PAGE = 4096, MAX_MEMORY = 64 << 20 };

static const char head[] =
	" *\n"
	" * cc -O2 -pthread -o bench bench.c && ./bench [FILE]\n"
	" *\n"
	" * Each thread, pinned to a CPU, repeats the accesses of the profile's CPUs at their rates: loads, stores and\n"
	" * atomic adds at the offsets of one layout after the other, in turns.  It measures the layouts on this machine;\n"
	" * it is not the workload.  Rows: threads, round, layout, operations a second.\n"
	" */\n"
	"#define _GNU_SOURCE\n"
	"#include <pthread.h>\n"
	"#include <sched.h>\n"
	"#include <stdint.h>\n"
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <time.h>\n"
	"\n"
	"#define LOAD(n, i) v += *(volatile uint##n##_t *)(at + t[i]);\n"
	"#define STORE(n, i) *(volatile uint##n##_t *)(at + t[i]) = (uint##n##_t)v;\n"
	"#define ADD(n, i) __atomic_fetch_add((uint##n##_t *)(at + t[i]), 1, __ATOMIC_RELAXED);\n"
	"#define IDLE v += *(volatile uint64_t *)mine;\n"
	"#define PLAY(name) static uint64_t name(char *at, const uint32_t *t, const char *mine, uint64_t v)\n"
	"\n";

static const char tail[] =
	"static struct run {\n"
	"\tconst struct player *player;\n"
	"\tint cpu;\n"
	"\tunsigned layout;\n"
	"\tdouble ops, ns, used;	/* elapsed; of these, on a CPU */\n"
	"\tuint64_t sink;\n"
	"\t__attribute__((aligned(256))) char mine[256];\n"
	"} runs[NR_CPUS];\n"
	"static __attribute__((aligned(4096))) char objects[NR_OBJECTS * STRIDE];\n"
	"static pthread_barrier_t gate;\n"
	"static __attribute__((aligned(256))) volatile int stop, end;\n"
	"\n"
	"static double now(clockid_t clock)\n"
	"{\n"
	"\tstruct timespec t;\n"
	"\n"
	"\tclock_gettime(clock, &t);\n"
	"\treturn (double)t.tv_sec * 1e9 + (double)t.tv_nsec;\n"
	"}\n"
	"\n"
	"static void *work(void *arg)\n"
	"{\n"
	"\tstruct run *r = arg;\n"
	"\tcpu_set_t set;\n"
	"\n"
	"\tCPU_ZERO(&set);\n"
	"\tCPU_SET(r->cpu, &set);\n"
	"\tpthread_setaffinity_np(pthread_self(), sizeof(set), &set);\n"
	"\tfor (;;) {\n"
	"\t\tdouble start, used;\n"
	"\n"
	"\t\tpthread_barrier_wait(&gate);\n"
	"\t\tif (end)\n"
	"\t\t\treturn NULL;\n"
	"\t\tstart = now(CLOCK_MONOTONIC);\n"
	"\t\tused = now(CLOCK_THREAD_CPUTIME_ID);\n"
	"\t\tr->ops = 0;\n"
	"\t\tdo {\n"
	"\t\t\tr->sink = r->player->play(objects, r->player->offsets[r->layout], r->mine, r->sink);\n"
	"\t\t\tr->ops += r->player->ops;\n"
	"\t\t} while (!stop);\n"
	"\t\tr->used = now(CLOCK_THREAD_CPUTIME_ID) - used;\n"
	"\t\tr->ns = now(CLOCK_MONOTONIC) - start;\n"
	"\t\tpthread_barrier_wait(&gate);\n"
	"\t}\n"
	"}\n"
	"\n"
	"/* One run: operations a second of CPU time, and the share of it that the worst thread was on its CPU. */\n"
	"static double run_once(unsigned threads, double *share)\n"
	"{\n"
	"\tconst struct timespec slice = { SLICE_MS / 1000, SLICE_MS % 1000 * 1000000L };\n"
	"\tdouble speed = 0;\n"
	"\n"
	"\tstop = 0;\n"
	"\tpthread_barrier_wait(&gate);\n"
	"\tnanosleep(&slice, NULL);\n"
	"\tstop = 1;\n"
	"\tpthread_barrier_wait(&gate);\n"
	"\t*share = 1;\n"
	"\tfor (unsigned i = 0; i < threads; i++) {\n"
	"\t\tspeed += runs[i].ops / runs[i].used;\n"
	"\t\tif (runs[i].used / runs[i].ns < *share)\n"
	"\t\t\t*share = runs[i].used / runs[i].ns;\n"
	"\t}\n"
	"\treturn speed * 1e9;\n"
	"}\n"
	"\n"
	"static int compare(const void *left, const void *right)\n"
	"{\n"
	"\tconst double *a = left, *b = right;\n"
	"\n"
	"\treturn (*a > *b) - (*a < *b);\n"
	"}\n"
	"\n"
	"/* Threads that do not run at the same time share nothing: runs in which others had the CPUs do not count. */\n"
	"static void measure(FILE *out, unsigned threads, unsigned round, unsigned layout)\n"
	"{\n"
	"\tdouble best = -1, fallback = 0, good[GOOD_RUNS];\n"
	"\tunsigned nr = 0;\n"
	"\n"
	"\tfor (unsigned i = 0; i < threads; i++)\n"
	"\t\truns[i].layout = layout;\n"
	"\tfor (unsigned i = 0; i < TRIES && nr < GOOD_RUNS; i++) {\n"
	"\t\tdouble share, speed = run_once(threads, &share);\n"
	"\n"
	"\t\tif (share > best) {\n"
	"\t\t\tbest = share;\n"
	"\t\t\tfallback = speed;\n"
	"\t\t}\n"
	"\t\tif (share >= 0.95)\n"
	"\t\t\tgood[nr++] = speed;\n"
	"\t}\n"
	"\tqsort(good, nr, sizeof(*good), compare);\n"
	"\tfprintf(out, \"%u\\t%u\\t%u\\t%.0f\\n\", threads, round, layout, nr ? good[nr / 2] : fallback);\n"
	"}\n"
	"\n"
	"/* before, after, before, ideal; then the other way round: what drifts hits all of them. */\n"
	"static const unsigned orders[2][NR_LAYOUTS] = { { 0, 1, 2, 3 }, { 1, 0, 3, 2 } };\n"
	"\n"
	"static void bench(FILE *out, const struct player *first, unsigned threads, const int *cpus)\n"
	"{\n"
	"\tpthread_t ids[NR_CPUS];\n"
	"\n"
	"\tif (pthread_barrier_init(&gate, NULL, threads + 1))\n"
	"\t\texit(1);\n"
	"\tend = 0;\n"
	"\tfor (unsigned i = 0; i < threads; i++) {\n"
	"\t\truns[i].player = first + i;\n"
	"\t\truns[i].cpu = cpus[i];\n"
	"\t\tif (pthread_create(&ids[i], NULL, work, &runs[i]))\n"
	"\t\t\texit(1);\n"
	"\t}\n"
	"\tfor (unsigned round = 0; round < ROUNDS; round++)\n"
	"\t\tfor (unsigned k = 0; k < NR_LAYOUTS; k++)\n"
	"\t\t\tmeasure(out, threads, round, orders[round % 2][k]);\n"
	"\tend = 1;\n"
	"\tpthread_barrier_wait(&gate);\n"
	"\tfor (unsigned i = 0; i < threads; i++)\n"
	"\t\tpthread_join(ids[i], NULL);\n"
	"\tpthread_barrier_destroy(&gate);\n"
	"}\n"
	"\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"\tFILE *out = argc > 1 ? fopen(argv[1], \"w\") : stdout;\n"
	"\tint cpus[NR_CPUS], nr = 0;\n"
	"\tcpu_set_t set;\n"
	"\n"
	"\tif (!out || sched_getaffinity(0, sizeof(set), &set))\n"
	"\t\treturn 1;\n"
	"\tfor (int i = 0; i < CPU_SETSIZE && nr < NR_CPUS; i++)\n"
	"\t\tif (CPU_ISSET(i, &set))\n"
	"\t\t\tcpus[nr++] = i;\n"
	"\tfor (unsigned i = 0; i < sizeof(players) / sizeof(*players); i += players[i].threads)\n"
	"\t\tif (players[i].threads <= (unsigned)nr)\n"
	"\t\t\tbench(out, players + i, players[i].threads, cpus);\n"
	"\treturn fclose(out) != 0;\n"
	"}\n";

static uint64_t stride_of(const struct lm_bench_program *p)
{
	return (p->size + PAGE - 1) / PAGE * PAGE + PAGE;
}

static uint64_t objects_of(const struct lm_bench_program *p)
{
	uint64_t fit = MAX_MEMORY / stride_of(p), nr = p->usage->nr_objects;

	nr = nr < MAX_OBJECTS ? nr : MAX_OBJECTS;
	nr = nr < fit ? nr : fit;
	return nr ? nr : 1;
}

/* Where a slot goes in a layout; atomic adds must not reach over a line. */
static uint64_t place_of(const struct lm_bench_program *p, const struct lm_bench_slot *slot, int layout)
{
	const struct lm_touch *t = &p->usage->touches[p->view][slot->touch];

	if (slot->op == LM_BENCH_IDLE)
		return 0;
	return t->object % objects_of(p) * stride_of(p) + p->places[layout][slot->touch] / slot->size * slot->size;
}

static void player_code(const struct lm_bench_player *player, struct lm_str *out)
{
	static const char *const words[] = {
		[LM_BENCH_LOAD] = "LOAD", [LM_BENCH_STORE] = "STORE", [LM_BENCH_ADD] = "ADD",
	};

	lm_str_addf(out, "PLAY(play_%u_%u)\n{\n\t(void)mine;\n", player->threads, player->thread);
	for (uint32_t i = 0; i < LM_BENCH_SLOTS; i++) {
		const struct lm_bench_slot *s = &player->slots[i];

		if (s->op == LM_BENCH_IDLE)
			lm_str_add(out, "\tIDLE\n");
		else
			lm_str_addf(out, "\t%s(%u, %u)\n", words[s->op], 8 * s->size, i);
	}
	lm_str_add(out, "\treturn v;\n}\n\n");
}

static void player_tables(const struct lm_bench_program *p, const struct lm_bench_player *player, struct lm_str *out)
{
	lm_str_addf(out, "static const uint32_t offsets_%u_%u[NR_LAYOUTS][NR_SLOTS] = {\n", player->threads,
		    player->thread);
	for (int layout = 0; layout < LM_NR_BENCH; layout++) {
		lm_str_add(out, "\t{");
		for (uint32_t i = 0; i < LM_BENCH_SLOTS; i++)
			lm_str_addf(out, "%s%" PRIu64 ",", i % 16 ? " " : "\n\t\t", place_of(p, &player->slots[i], layout));
		lm_str_add(out, "\n\t},\n");
	}
	lm_str_add(out, "};\n\n");
}

void lm_bench_text(const struct lm_bench_program *p, const struct lm_bench_schedule *s, struct lm_str *out)
{
	lm_str_addf(out, "/*\n * Accesses to %s, written by linemate bench.\n", p->record);
	lm_str_add(out, head);
	lm_str_addf(out, "enum { NR_LAYOUTS = %d, NR_SLOTS = %d, NR_CPUS = %u, NR_OBJECTS = %" PRIu64 ",\n"
		    "       STRIDE = %" PRIu64 ", ROUNDS = %u, SLICE_MS = %u, GOOD_RUNS = 3, TRIES = 9 };\n\n", LM_NR_BENCH,
		    LM_BENCH_SLOTS, s->players[s->nr - 1].threads, objects_of(p), stride_of(p), p->rounds, p->slice_ms);
	for (size_t i = 0; i < s->nr; i++) {
		player_code(&s->players[i], out);
		player_tables(p, &s->players[i], out);
	}
	lm_str_add(out, "static const struct player {\n\tunsigned threads, ops;\n"
		   "\tuint64_t (*play)(char *, const uint32_t *, const char *, uint64_t);\n"
		   "\tconst uint32_t (*offsets)[NR_SLOTS];\n} players[] = {\n");
	for (size_t i = 0; i < s->nr; i++) {
		const struct lm_bench_player *player = &s->players[i];

		lm_str_addf(out, "\t{ %u, %u, play_%u_%u, offsets_%u_%u },\n", player->threads, player->ops,
			    player->threads, player->thread, player->threads, player->thread);
	}
	lm_str_add(out, "};\n\n");
	lm_str_add(out, tail);
}
