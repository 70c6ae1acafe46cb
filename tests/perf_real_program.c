/*
 * perf_real_program.c - what perf_real.sh records: a record whose members are
 * touched a known number of times.  "spin" runs for a while instead.
 */
#include <stdio.h>
#include <string.h>

enum { WRITES = 1000, READS = 250, CHANGES = 300 };

struct watched {
	long cold;
	long written;	/* WRITES stores, READS loads */
	long changed;	/* CHANGES read-modify-writes */
	char rest[40];
};

struct watched watched __attribute__((aligned(64)));

static void __attribute__((noinline)) store(struct watched *w, long i)
{
	w->written = i;
	__asm__ volatile("" ::: "memory");
}

static long __attribute__((noinline)) load(struct watched *w)
{
	long v = w->written;

	__asm__ volatile("" ::: "memory");
	return v;
}

static void __attribute__((noinline)) change(struct watched *w)
{
	__atomic_fetch_add(&w->changed, 1, __ATOMIC_SEQ_CST);
}

int main(int argc, char **argv)
{
	long sum = 0;

	if (argc > 1 && !strcmp(argv[1], "spin")) {
		for (long i = 0; i < 200000000; i++)
			store(&watched, i);
		return 0;
	}
	for (int i = 0; i < WRITES; i++)
		store(&watched, i);
	for (int i = 0; i < READS; i++)
		sum += load(&watched);
	for (int i = 0; i < CHANGES; i++)
		change(&watched);
	return sum == READS * (WRITES - 1L) ? 0 : 1;
}
