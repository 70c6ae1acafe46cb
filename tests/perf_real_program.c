/*
 * perf_real_program.c - what perf_real.sh records: a record whose members are
 * touched a known number of times.  "spin" runs for a while instead; so does
 * "part", in a function that is handed a part of two records in turn.
 */
#include <stdio.h>
#include <string.h>

enum { WRITES = 1000, READS = 250, CHANGES = 300 };

struct part { long hits; };

struct watched {
	long cold;
	long written;	/* WRITES stores, READS loads */
	long changed;	/* CHANGES read-modify-writes */
	char rest[32];
	struct part part;
};

struct other {
	long some[3];
	struct part part;
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

static void __attribute__((noinline)) bump(struct part *p)
{
	for (long i = 0; i < 1000; i++) {
		p->hits += i;
		__asm__ volatile("" ::: "memory");
	}
}

static void __attribute__((noinline)) bump_watched(struct watched *w)
{
	bump(&w->part);
	w->cold++;
}

static void __attribute__((noinline)) bump_other(struct other *o)
{
	bump(&o->part);
	o->some[1]++;
}

int main(int argc, char **argv)
{
	static struct other other;
	long sum = 0;

	if (argc > 1 && !strcmp(argv[1], "part")) {
		for (long i = 0; i < 100000; i++) {
			bump_watched(&watched);
			bump_other(&other);
		}
		return 0;
	}
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
