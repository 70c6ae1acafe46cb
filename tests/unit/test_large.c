/* test_large.c - records of thousands of members or gigabytes: a plan in time, and a right word where there is none. */
#include "fixture.h"

#include "base/str.h"
#include "optimizer/cost.h"
#include "optimizer/moves.h"
#include "optimizer/objective.h"

enum { CPUS = 8 };

/* struct s of nr longs m0, m1, ...; aligned, so that the base is known, if said so. */
static void longs(struct lm_str *text, int nr, bool aligned)
{
	lm_str_add(text, "struct s {\n");
	for (int i = 0; i < nr; i++)
		lm_str_addf(text, "\tlong m%d;\n", i);
	lm_str_addf(text, "}%s;\n", aligned ? " __attribute__((aligned(64)))" : "");
}

/* Member i is touched by CPU i % CPUS alone; every third is written: the CPUs fight on every line. */
static void scattered_owners(struct fixture *f, int nr)
{
	struct fixture_row *rows = LM_ARENA_ARRAY(&f->arena, struct fixture_row, (size_t)nr);

	for (int i = 0; i < nr; i++) {
		bool written = i % 3 == 0;

		rows[i] = (struct fixture_row){ .site = lm_arena_printf(&f->arena, "f%d", i % CPUS),
						.member = lm_arena_printf(&f->arena, "m%d", i), .size = 8,
						.cpu = i % CPUS, .reads = written ? 0 : 1000,
						.writes = written ? 1000 : 0 };
	}
	fixture_access(f, rows, (size_t)nr);
}

static void thousand_hot_members_are_sorted_by_owner(void **state)
{
	static const struct lm_plan_opts opts = { .line = 64, .seconds = 3, .allow_barriers = true };
	struct lm_str text = { 0 };
	struct fixture f;
	struct lm_plan plan;
	double begin;

	(void)state;
	longs(&text, 1000, true);
	fixture_open(&f, lm_str_text(&text), NULL);
	scattered_owners(&f, 1000);
	fixture_rules(&f, NULL);
	begin = lm_now();
	must(lm_plan_make(&f.subject, &f.rules, &f.usage, &opts, &f.arena, &plan));
	assert_true(lm_now() - begin < 30);	/* ten times the limit: sanitizers and busy machines */
	assert_int_equal(plan.verdict, LM_VERDICT_MOVED);
	assert_true(plan.transfers_after < plan.transfers_before / 50);
	fixture_close(&f);
	lm_str_release(&text);
}

/* A thousand pairs, none of which is worth a row of the report: but together they are what the record costs. */
static void many_small_fights_are_no_true_sharing(void **state)
{
	static const struct lm_plan_opts opts = { .line = 64, .seconds = 0.01, .allow_barriers = true };
	struct lm_str text = { 0 };
	struct fixture f;
	struct lm_plan plan;

	(void)state;
	longs(&text, 2000, false);
	fixture_open(&f, lm_str_text(&text), NULL);
	scattered_owners(&f, 2000);
	fixture_rules(&f, NULL);
	must(lm_plan_make(&f.subject, &f.rules, &f.usage, &opts, &f.arena, &plan));
	assert_int_equal(plan.verdict, LM_VERDICT_KEPT);
	assert_int_equal(plan.kept, LM_KEPT_TIME);
	fixture_close(&f);
	lm_str_release(&text);
}

static double price(struct fixture *f, double *lines, size_t nr)
{
	struct lm_objective_opts opts = { .line = 64 };
	struct lm_objective *o = lm_objective_new(&f->subject, NULL, &f->usage, &opts);
	struct lm_cost *c = lm_objective_pricing(o, 0);
	const struct lm_layout *before = lm_objective_before(o, 0);
	double cost = lm_cost_layout(c, before), again;

	assert_float_equal(lm_cost_lines(c, before, lines, nr), cost, 1e-6);
	(void)lm_cost_between(c, before);
	again = lm_cost_layout(c, before);
	assert_true(cost >= again && cost <= again);	/* nothing is left over from one pricing in the next */
	lm_objective_free(o);
	return cost;
}

/* What is not touched costs nothing, be it 64 bytes or 64 MB. */
static void a_huge_cold_buffer_changes_no_price(void **state)
{
	static const char *const texts[] = {
		"struct s {\n\tlong a;\n\tlong b;\n\tchar cold[112];\n\tlong c;\n\tlong d;\n} __attribute__((aligned(64)));\n",
		"struct s {\n\tlong a;\n\tlong b;\n\tchar cold[0x3fffff0];\n\tlong c;\n\tlong d;\n} "
		"__attribute__((aligned(64)));\n",
	};
	static const struct fixture_row rows[] = {
		{ "w", "a", 0, 8, 0, 0, 500 }, { "r", "b", 0, 8, 1, 900, 0 },
		{ "w", "c", 0, 8, 2, 0, 700 }, { "r", "d", 0, 8, 3, 800, 0 },
	};
	double cost[2], lines[2][3];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct fixture f;

		fixture_open(&f, texts[i], NULL);
		fixture_access(&f, rows, 4);
		cost[i] = price(&f, lines[i], 3);
		fixture_close(&f);
	}
	assert_float_equal(cost[0], cost[1], 1e-6);
	assert_float_equal(lines[0][0], lines[1][0], 1e-6);
	assert_true(lines[0][2] > 0 && lines[1][2] <= 0);
}

/* Eight members have 40,320 orders; each is priced at 64 bases and under change. */
static void every_order_of_a_few_large_members_ends_in_time(void **state)
{
	static const struct lm_plan_opts opts = { .line = 64, .seconds = 0.001, .allow_barriers = true };
	static const char text[] = "struct s {\n\tchar a[3];\n\tchar b[30];\n\tchar c[300];\n\tchar d[9000];\n"
				   "\tchar e[5];\n\tchar f[50];\n\tchar g[500];\n\tchar h[9000];\n};\n";
	static const struct fixture_row rows[] = {
		{ "w", "a", 0, 1, 0, 0, 500 }, { "r", "b", 0, 8, 1, 900, 0 }, { "w", "c", 9, 8, 2, 0, 700 },
		{ "r", "d", 0, 8, 3, 800, 0 }, { "r", "f", 0, 8, 4, 800, 0 }, { "r", "g", 0, 8, 5, 800, 0 },
		{ "w", "h", 0, 8, 6, 0, 800 },
	};
	struct fixture f;
	struct lm_plan plan;
	double begin;

	(void)state;
	fixture_open(&f, text, NULL);
	fixture_access(&f, rows, 7);
	fixture_rules(&f, NULL);
	begin = lm_now();
	must(lm_plan_make(&f.subject, &f.rules, &f.usage, &opts, &f.arena, &plan));
	assert_true(lm_now() - begin < 10);
	assert_false(plan.exhaustive);
	assert_true(plan.verdict == LM_VERDICT_MOVED || plan.kept == LM_KEPT_TIME || plan.kept == LM_KEPT_SMALL_GAIN);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thousand_hot_members_are_sorted_by_owner),
		cmocka_unit_test(many_small_fights_are_no_true_sharing),
		cmocka_unit_test(every_order_of_a_few_large_members_ends_in_time),
		cmocka_unit_test(a_huge_cold_buffer_changes_no_price),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
