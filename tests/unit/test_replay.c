/* test_replay.c - accesses in order: their trace, and what caches do with it. */
#include "data_writer.h"
#include "fixture.h"

#include "optimizer/cost.h"
#include "optimizer/replay.h"
#include "profiles/reader_private.h"

#include <math.h>

enum { LINE = 64 };

static void add(struct lm_trace *t, uint64_t offset, uint32_t size, bool write, uint32_t cpu)
{
	lm_trace_add(t, (struct lm_kind){ offset, size, 0, write }, cpu, NULL);
}

/* Each kind at its own offset. */
static struct lm_replay played(const struct lm_trace *t, struct lm_arena *arena)
{
	struct lm_replay_place *places = LM_ARENA_ARRAY(arena, struct lm_replay_place, t->nr_kinds + 1);
	struct lm_replay r;

	for (size_t k = 0; k < t->nr_kinds; k++)
		places[k] = (struct lm_replay_place){ true, t->kinds[k].offset };
	lm_replay_trace(t, places, LINE, arena, &r);
	return r;
}

static void misses_and_upgrades_by_hand(void **state)
{
	struct lm_arena arena = { 0 };
	struct lm_trace t = { 0 };
	struct lm_replay r;

	(void)state;
	add(&t, 0, 8, true, 3);		/* first touch: nobody else has it */
	add(&t, 0, 8, true, 3);		/* owned */
	add(&t, 8, 8, false, 5);	/* miss */
	add(&t, 8, 8, false, 5);	/* shared, and held */
	add(&t, 0, 8, true, 3);		/* upgrade: 5 loses it */
	add(&t, 8, 8, true, 5);		/* miss: 3 loses it */
	add(&t, 64, 8, true, 3);	/* another line: first touch */
	add(&t, 60, 8, false, 3);	/* both lines: miss on the first one */
	lm_trace_settle(&t, false);
	r = played(&t, &arena);
	assert_int_equal(r.nr_lines, 2);
	assert_float_equal(r.lines[0].misses, 3, 0);
	assert_float_equal(r.lines[0].upgrades, 1, 0);
	assert_float_equal(r.lines[0].accesses, 7, 0);
	assert_float_equal(r.lines[1].misses + r.lines[1].upgrades, 0, 0);
	assert_float_equal(r.lines[1].accesses, 2, 0);
	assert_float_equal(r.misses, 3, 0);
	assert_float_equal(r.accesses, 8, 0);
	lm_trace_release(&t);
	lm_arena_release(&arena);
}

static void objects_share_no_line(void **state)
{
	struct lm_arena arena = { 0 };
	struct lm_trace t = { 0 };

	(void)state;
	for (int i = 0; i < 10; i++)
		lm_trace_add(&t, (struct lm_kind){ 0, 8, i % 2, true }, i % 2, NULL);
	lm_trace_settle(&t, false);
	assert_int_equal(t.nr_kinds, 2);
	assert_float_equal(played(&t, &arena).misses, 0, 0);
	lm_trace_release(&t);
	lm_arena_release(&arena);
}

static void what_is_not_there_is_counted(void **state)
{
	struct lm_replay_place places[2] = { { .there = true }, { .there = false } };
	struct lm_arena arena = { 0 };
	struct lm_trace t = { 0 };
	struct lm_replay r;

	(void)state;
	add(&t, 0, 8, true, 0);
	add(&t, 8, 8, true, 1);
	add(&t, 8, 8, true, 1);
	lm_trace_settle(&t, false);
	lm_replay_trace(&t, places, LINE, &arena, &r);
	assert_float_equal(r.absent, 2, 0);
	assert_float_equal(r.misses, 0, 0);
	lm_trace_release(&t);
	lm_arena_release(&arena);
}

/* Written once more, in the plainest way: who holds the line, one byte a CPU. */
static void count_plainly(const struct lm_trace *t, double *misses, double *upgrades)
{
	static unsigned char holds[64][128];

	memset(holds, 0, sizeof(holds));
	for (size_t i = 0; i < t->nr; i++) {
		const struct lm_kind *k = &t->kinds[t->steps[i].kind];
		unsigned char *line = holds[k->offset / LINE];
		uint32_t cpu = t->steps[i].cpu, others = 0;

		for (uint32_t q = 0; q < 128; q++)
			others += q != cpu && line[q];
		*misses += !line[cpu] && others;
		*upgrades += line[cpu] && others && k->write;
		if (k->write)
			memset(line, 0, 128);
		line[cpu] = 1;
	}
}

static void many_cpus_as_counted_plainly(void **state)
{
	struct lm_arena arena = { 0 };
	struct lm_trace t = { 0 };
	double misses = 0, upgrades = 0;
	uint32_t random = 1;
	struct lm_replay r;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		random = random * 1664525 + 1013904223;
		add(&t, random >> 24 & 0xf8, 8, (random >> 8 & 15) == 0, 1000 - (random >> 16 & 255) % 100);
	}
	lm_trace_settle(&t, false);
	assert_int_equal(t.nr_cpus, 100);
	r = played(&t, &arena);
	count_plainly(&t, &misses, &upgrades);
	assert_true(misses > 1000 && upgrades > 100);
	assert_float_equal(r.misses, misses, 0);
	assert_float_equal(r.upgrades, upgrades, 0);
	lm_trace_release(&t);
	lm_arena_release(&arena);
}

static void steps_settle_by_time(void **state)
{
	static const uint64_t times[] = { 5, 3, 5, 1 };
	struct lm_trace t = { 0 };

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		lm_trace_add(&t, (struct lm_kind){ i, 1, 0, false }, 10 - i, &times[i]);
	lm_trace_settle(&t, false);
	assert_int_equal(t.kinds[t.steps[0].kind].offset, 3);
	assert_int_equal(t.kinds[t.steps[1].kind].offset, 1);
	assert_int_equal(t.kinds[t.steps[2].kind].offset, 0);	/* came first of those at 5 */
	assert_int_equal(t.kinds[t.steps[3].kind].offset, 2);
	assert_int_equal(t.cpus[0], 7);
	assert_int_equal(t.cpus[t.steps[0].cpu], 7);
	assert_int_equal(t.cpus[t.steps[2].cpu], 10);
	lm_trace_release(&t);
}

static void cpus_take_turns(void **state)
{
	static const uint64_t wanted[] = { 3, 0, 4, 1, 2 };	/* CPU 1 has two accesses, CPU 9 three */
	struct lm_trace t = { 0 };

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		add(&t, i, 1, false, 9);
	for (unsigned i = 3; i < 5; i++)
		add(&t, i, 1, false, 1);
	lm_trace_settle(&t, true);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(t.kinds[t.steps[i].kind].offset, wanted[i]);
	lm_trace_release(&t);
}

static const char two_longs[] = "struct s {\n\tlong counter;\n\tlong pointer;\n};\n";

/* The formula is for accesses interleaved at random: random interleavings must come out at it. */
static void random_order_comes_out_at_the_formula(void **state)
{
	static const struct fixture_row rows[] = {
		{ "writer", "counter", 0, 8, 0, 0, 20000 }, { "reader", "pointer", 0, 8, 1, 60000, 0 },
		{ "reader", "pointer", 0, 8, 2, 5000, 0 },
	};
	double misses = 60000.0 * 20000 / 80000 + 5000.0 * 20000 / 25000;
	const uint64_t offsets[] = { 0, 64 }, apart[] = { 0, 512 };
	struct lm_replay r, again;
	struct fixture f;

	(void)state;
	fixture_open(&f, two_longs, NULL);
	fixture_access(&f, rows, 3);
	lm_replay_random(&f.usage, 0, offsets, LINE, &f.arena, &r);
	assert_int_equal(r.nr_lines, 1);
	assert_true(fabs(r.misses - misses) < 3 * r.misses_spread + 1);
	assert_true(r.misses_spread > 10 && r.misses_spread < 300);
	assert_true(r.upgrades > 1000);	/* the writer finds readers beside it */
	lm_replay_random(&f.usage, 0, offsets, LINE, &f.arena, &again);
	assert_float_equal(r.misses, again.misses, 0);
	assert_float_equal(r.misses_spread, again.misses_spread, 0);
	lm_replay_random(&f.usage, 0, apart, LINE, &f.arena, &r);
	assert_int_equal(r.nr_lines, 2);
	assert_float_equal(r.misses, 1, 0);	/* the second reader's first touch */
	fixture_close(&f);
}

/* Four bytes an access, and what else there may be. */
static void records_are_read_or_counted(void **state)
{
	static const unsigned char bytes[] = {
		0, 1, 3, 0x88,  8, 0, 0, 4,  0, 1, 3, 0x88,  0xff, 0xff, 1, 1,  7, 7,
	};
	struct lm_trace trace = { 0 };
	struct lm_reader_opts opts = { .record = "s", .record_size = 1024, .trace = &trace };
	struct lm_accesses t;

	(void)state;
	assert_true(lm_trace_looks_like((const char *)bytes, sizeof(bytes)));
	lm_accesses_init(&t);
	must(lm_profile_read_memory("m", (const char *)bytes, sizeof(bytes), &opts, &t));
	assert_int_equal(t.samples, 5);
	assert_int_equal(t.used, 3);
	assert_int_equal(t.drops[LM_DROP_OUTSIDE], 1);
	assert_int_equal(t.drops[LM_DROP_TRUNCATED], 1);
	assert_int_equal(t.nr, 2);
	assert_int_equal(trace.nr, 3);
	assert_int_equal(trace.nr_kinds, 2);
	assert_true(trace.by_cpu);
	assert_int_equal(trace.kinds[0].offset, 256);
	assert_true(trace.kinds[0].write);
	lm_trace_release(&trace);
	lm_accesses_release(&t);
}

static void text_is_no_trace(void **state)
{
	(void)state;
	assert_false(lm_trace_looks_like("    \n\n\t@", 8));
	assert_false(lm_trace_looks_like("\0\0\0\3", 4));
	assert_false(lm_trace_looks_like("\0\0\0", 3));
}

/* perf script text with times and one object's address. */
static void samples_with_times_have_an_order(void **state)
{
	static const char text[] =
		"p 1 [001] 2.000500: 1 cpu/mem-stores/P: ffff888100000008 5080144 |OP STORE|LVL L1 hit| 0 ffffffff81000000 f+0x1 (k)\n"
		"p 1 [000] 2.000400: 1 cpu/mem-loads/P: ffff888100000010 10268100142 |OP LOAD|LVL L1 hit| 0 ffffffff81000000 g+0x1 (k)\n"
		"p 1 [000] 2.000450: 1 cpu/mem-loads/P: ffff888200000010 10268100142 |OP LOAD|LVL L1 hit| 0 ffffffff81000000 g+0x1 (k)\n";
	const uint64_t object = 0xffff888100000000;
	struct lm_trace trace = { 0 };
	struct lm_reader_opts opts = { .record = "s", .objects = &object, .nr_objects = 1, .record_size = 64,
				       .trace = &trace };
	struct lm_accesses t;

	(void)state;
	lm_accesses_init(&t);
	must(lm_profile_read_memory("m", text, sizeof(text) - 1, &opts, &t));
	lm_trace_settle(&trace, false);
	assert_int_equal(trace.nr, 2);
	assert_int_equal(trace.times[0], 2000400000);
	assert_int_equal(trace.times[1], 2000500000);
	assert_int_equal(trace.kinds[trace.steps[0].kind].offset, 16);
	assert_true(trace.kinds[trace.steps[1].kind].write);
	assert_int_equal(trace.unordered, 0);
	lm_trace_release(&trace);
	lm_accesses_release(&t);
}

/* perf.data is not sorted by time: each CPU's buffer is written as it fills. */
static void perf_data_has_an_order(void **state)
{
	enum { IP = 1, TID = 2, TIME = 4, ADDR = 8, ID = 64, CPU = 128, DATA_SRC = 1 << 15 };
	static const struct attr_words attr = { .type = 4, .config = 0x1cd, .flags = 2 << 15,
						.sample_type = IP | TID | TIME | ADDR | ID | CPU | DATA_SRC };
	static const char *const names[] = { "cpu/mem-loads,ldlat=30/P" };
	static const struct file_words words = { .attrs = &attr, .names = names, .nr = 1, .version = "6.1" };
	static const struct { uint64_t time, addr, cpu, data_src; } samples[] = {
		{ 70, 0xffff888100000018, 3, 2 }, { 20, 0xffff888100000010, 1, 4 }, { 50, 0xffff888100000020, 1, 2 },
	};
	const uint64_t object = 0xffff888100000000;
	struct lm_trace trace = { 0 };
	struct lm_reader_opts opts = { .record = "s", .objects = &object, .nr_objects = 1, .record_size = 64,
				       .trace = &trace };
	struct lm_str records = { 0 }, file = { 0 }, b = { 0 };
	struct lm_accesses t;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		put_u64(&b, 0x401000);
		put_u64(&b, 0);
		put_u64(&b, samples[i].time);
		put_u64(&b, samples[i].addr);
		put_u64(&b, 100);
		put_u64(&b, samples[i].cpu);
		put_u64(&b, samples[i].data_src);
		put_record(&records, 9, 2, &b);
	}
	put_file(&file, &words, &records, 1);
	lm_accesses_init(&t);
	must(lm_profile_read_memory("m", file.text, file.len, &opts, &t));
	lm_trace_settle(&trace, false);
	assert_int_equal(trace.nr, 3);	/* although the file says nowhere what is mapped at their ips */
	assert_int_equal(trace.unordered, 0);
	assert_int_equal(trace.times[0], 20);
	assert_int_equal(trace.kinds[trace.steps[0].kind].offset, 16);
	assert_true(trace.kinds[trace.steps[0].kind].write);
	assert_int_equal(trace.kinds[trace.steps[2].kind].offset, 24);
	assert_int_equal(trace.cpus[trace.steps[2].cpu], 3);
	assert_int_equal(t.used, 3);
	lm_str_release(&records);
	lm_str_release(&file);
	lm_str_release(&b);
	lm_trace_release(&trace);
	lm_accesses_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(misses_and_upgrades_by_hand),
		cmocka_unit_test(objects_share_no_line),
		cmocka_unit_test(what_is_not_there_is_counted),
		cmocka_unit_test(many_cpus_as_counted_plainly),
		cmocka_unit_test(steps_settle_by_time),
		cmocka_unit_test(cpus_take_turns),
		cmocka_unit_test(random_order_comes_out_at_the_formula),
		cmocka_unit_test(records_are_read_or_counted),
		cmocka_unit_test(text_is_no_trace),
		cmocka_unit_test(samples_with_times_have_an_order),
		cmocka_unit_test(perf_data_has_an_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
