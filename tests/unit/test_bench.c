/* test_bench.c - what threads play, and what is concluded from their times. */
#include "fixture.h"

#include "output/bench.h"

#include <math.h>

static const char three_longs[] = "struct s {\n\tlong counter;\n\tlong pointer;\n\tlong both;\n};\n";

static void open_with_rows(struct fixture *f, const struct fixture_row *rows, size_t nr)
{
	fixture_open(f, three_longs, NULL);
	fixture_access(f, rows, nr);
}

static size_t count(const struct lm_bench_player *p, enum lm_bench_op op)
{
	size_t nr = 0;

	for (size_t i = 0; i < LM_BENCH_SLOTS; i++)
		nr += p->slots[i].op == op;
	return nr;
}

static void slots_follow_the_rates(void **state)
{
	static const struct fixture_row rows[] = {
		{ "writer", "counter", 0, 8, 0, 0, 1000 }, { "reader", "pointer", 0, 8, 0, 3000, 0 },
		{ "adder", "both", 0, 8, 1, 2000, 2000 },
	};
	struct lm_bench_schedule s;
	struct fixture f;

	(void)state;
	open_with_rows(&f, rows, 3);
	lm_bench_schedule(&f.subject.views[0], &f.usage, 0, 2, &f.arena, &s);
	assert_int_equal(s.nr, 3);	/* alone; and each of two */
	assert_int_equal(s.players[0].threads, 1);
	assert_int_equal(s.players[1].threads, 2);
	assert_int_equal(s.players[2].thread, 1);
	/* Alone it plays both CPUs: 1000 stores, 3000 loads, 2000 additions. */
	assert_int_equal(s.players[0].ops, LM_BENCH_SLOTS);
	assert_in_range(count(&s.players[0], LM_BENCH_STORE), LM_BENCH_SLOTS / 6 - 2, LM_BENCH_SLOTS / 6 + 2);
	assert_in_range(count(&s.players[0], LM_BENCH_LOAD), LM_BENCH_SLOTS / 2 - 2, LM_BENCH_SLOTS / 2 + 2);
	assert_in_range(count(&s.players[0], LM_BENCH_ADD), LM_BENCH_SLOTS / 3 - 2, LM_BENCH_SLOTS / 3 + 2);
	/* Of two, the second has half as much to do: the rest of its time it is idle. */
	assert_int_equal(count(&s.players[1], LM_BENCH_IDLE), 0);
	assert_int_equal(count(&s.players[1], LM_BENCH_ADD), 0);
	assert_int_equal(count(&s.players[2], LM_BENCH_ADD), LM_BENCH_SLOTS / 2);
	assert_int_equal(s.players[2].ops, LM_BENCH_SLOTS / 2);
	fixture_close(&f);
}

static void more_threads_than_cpus_repeat_them(void **state)
{
	static const struct fixture_row rows[] = {
		{ "writer", "counter", 0, 8, 0, 0, 10 }, { "reader", "pointer", 0, 8, 1, 10, 0 },
	};
	struct lm_bench_schedule s;
	struct fixture f;

	(void)state;
	open_with_rows(&f, rows, 2);
	lm_bench_schedule(&f.subject.views[0], &f.usage, 0, 3, &f.arena, &s);
	assert_int_equal(s.nr, 1 + 2 + 3);
	assert_int_equal(count(&s.players[3], LM_BENCH_STORE), LM_BENCH_SLOTS);
	assert_int_equal(count(&s.players[4], LM_BENCH_LOAD), LM_BENCH_SLOTS);
	assert_int_equal(count(&s.players[5], LM_BENCH_STORE), LM_BENCH_SLOTS);
	fixture_close(&f);
}

enum { ROUNDS = 21 };

struct speeds {
	double values[LM_NR_BENCH][ROUNDS];
	const double *rows[LM_NR_BENCH];
};

static uint32_t next_random(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 16;
}

/* AFTER is `factor` times BEFORE; each time is off by up to noise of its half. */
static struct lm_bench_result judged(double factor, double noise, uint32_t seed)
{
	static struct speeds s;
	struct lm_bench_result r = { 0 };

	for (int k = 0; k < LM_NR_BENCH; k++) {
		s.rows[k] = s.values[k];
		for (int i = 0; i < ROUNDS; i++)
			s.values[k][i] = 1e6 * (k == LM_BENCH_AFTER ? factor : 1) *
					 (1 + noise * ((double)next_random(&seed) / 65536 - 0.5));
	}
	lm_bench_judge(s.rows, ROUNDS, &r);
	return r;
}

static void a_clear_difference_is_told(void **state)
{
	struct lm_bench_result r = judged(1.5, 0.1, 1);

	(void)state;
	assert_int_equal(r.after.verdict, LM_BENCH_FASTER);
	assert_true(fabs(r.after.ratio.median - 1.5) < 0.1);
	assert_true(r.after.chance < 1e-5);
	assert_true(r.noise > 0.005 && r.noise < 0.1);
	assert_int_equal(judged(1 / 1.5, 0.1, 2).after.verdict, LM_BENCH_SLOWER);
}

/* Twice in a thousand would be too often. */
static void equal_layouts_show_no_difference(void **state)
{
	unsigned wrong = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 1000; seed++)
		wrong += judged(1, 0.3, seed * 7919).after.verdict != LM_BENCH_NO_DIFFERENCE;
	assert_in_range(wrong, 0, 1);
}

static void noise_larger_than_the_difference_hides_it(void **state)
{
	unsigned told = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 100; seed++)
		told += judged(1.05, 1.0, seed * 7919).after.verdict != LM_BENCH_NO_DIFFERENCE;
	assert_in_range(told, 0, 2);	/* where 21 rounds happen to agree; it is there, after all */
	assert_int_equal(judged(1.01, 0, 1).after.verdict, LM_BENCH_NO_DIFFERENCE);
}

static void signs_are_counted(void **state)
{
	static struct speeds s;
	struct lm_bench_result r = { 0 };

	(void)state;
	for (int k = 0; k < LM_NR_BENCH; k++) {
		s.rows[k] = s.values[k];
		for (int i = 0; i < 10; i++)
			s.values[k][i] = k == LM_BENCH_AFTER ? i == 0 ? 0.5 : 2 : 1;
	}
	lm_bench_judge(s.rows, 10, &r);
	/* One of ten the other way: 2 (1 + 10) / 1024. */
	assert_float_equal(r.after.chance, 22.0 / 1024, 1e-12);
	assert_int_equal(r.after.verdict, LM_BENCH_NO_DIFFERENCE);
	assert_float_equal(r.ideal.chance, 1, 1e-12);
	assert_float_equal(r.noise, 0, 0);
}

/* Rows of one thread alone, as the program prints them. */
static void rows_are_read_or_refused(void **state)
{
	struct lm_bench_player player = { .threads = 1 };
	struct lm_bench_schedule s = { &player, 1 };
	struct lm_arena arena = { 0 };
	struct lm_bench_result *r = NULL;
	struct lm_str text = { 0 };
	struct lm_err *err;
	size_t nr = 0;

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int k = 0; k < LM_NR_BENCH; k++)
			lm_str_addf(&text, "1\t%d\t%d\t%d\n", round, k, 1000 * (k + 1));
	must(lm_bench_read(text.text, 2, &s, &arena, &r, &nr));
	assert_int_equal(nr, 1);
	assert_int_equal(r[0].threads, 1);
	assert_float_equal(r[0].speed[LM_BENCH_AFTER].median, 2000, 1e-9);
	for (size_t cut = 0; cut < text.len; cut++) {
		char *part = lm_arena_strndup(&arena, text.text, cut);

		err = lm_bench_read(part, 2, &s, &arena, &r, &nr);
		assert_non_null(err);
		assert_int_equal(err->code, LM_ERR_BUG);
		lm_err_free(err);
	}
	lm_str_add(&text, "2\t0\t0\t1\n");
	err = lm_bench_read(text.text, 2, &s, &arena, &r, &nr);
	assert_non_null(err);
	lm_err_free(err);
	lm_str_release(&text);
	lm_arena_release(&arena);
}

/* The program must compile without a warning, and print its rows. */
static void the_program_builds_and_runs(void **state)
{
	static const struct fixture_row rows[] = {
		{ "writer", "counter", 0, 8, 0, 0, 10 }, { "reader", "pointer", 0, 8, 1, 10, 0 },
		{ "adder", "both", 0, 8, 1, 5, 5 },
	};
	const uint64_t before[] = { 0, 8, 16 }, apart[] = { 0, 64, 128 };
	struct lm_bench_program p = { .record = "struct s", .size = 136, .rounds = 1, .slice_ms = 1 };
	char gcc[] = "gcc", o2[] = "-O2", wall[] = "-Wall", wextra[] = "-Wextra", werror[] = "-Werror", pthread[] = "-pthread",
	     o[] = "-o", bench[] = "bench", c[] = "bench.c", run[] = "./bench", out[] = "rows";
	char *build_argv[] = { gcc, o2, wall, wextra, werror, pthread, o, bench, c, NULL }, *run_argv[] = { run, out, NULL };
	struct lm_bench_result *results;
	struct lm_bench_schedule s;
	struct lm_str text = { 0 };
	struct fixture f;
	size_t nr, len;
	int status;
	char *got;

	(void)state;
	open_with_rows(&f, rows, 3);
	lm_bench_schedule(&f.subject.views[0], &f.usage, 0, 1, &f.arena, &s);
	p.usage = &f.usage;
	for (int k = 0; k < LM_NR_BENCH; k++)
		p.places[k] = k == LM_BENCH_IDEAL ? apart : before;
	lm_bench_text(&p, &s, &text);
	must(lm_file_write(lm_arena_printf(&f.arena, "%s/bench.c", f.dir), text.text, text.len));
	lm_str_clear(&text);
	lm_run(build_argv, f.dir, 60, 4096, &text, &status);
	if (status)
		fail_msg("%s", lm_str_text(&text));
	lm_run(run_argv, f.dir, 60, 4096, &text, &status);
	assert_int_equal(status, 0);
	must(lm_file_read(lm_arena_printf(&f.arena, "%s/rows", f.dir), "rows", 1 << 20, &f.arena, &got, &len));
	must(lm_bench_read(got, 1, &s, &f.arena, &results, &nr));
	assert_int_equal(nr, 1);
	assert_true(results[0].speed[LM_BENCH_BEFORE].median > 1e5);
	lm_str_release(&text);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_follow_the_rates),
		cmocka_unit_test(more_threads_than_cpus_repeat_them),
		cmocka_unit_test(a_clear_difference_is_told),
		cmocka_unit_test(equal_layouts_show_no_difference),
		cmocka_unit_test(noise_larger_than_the_difference_hides_it),
		cmocka_unit_test(signs_are_counted),
		cmocka_unit_test(rows_are_read_or_refused),
		cmocka_unit_test(the_program_builds_and_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
