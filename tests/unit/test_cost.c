/* test_cost.c - the price of a layout, against the formula worked out by hand and against real accesses. */
#include "fixture.h"

#include "optimizer/cost.h"
#include "optimizer/objective.h"

#include <math.h>

/* T V / (T + V) of one CPU. */
static double share(double t, double v)
{
	return t + v > 0 ? t * v / (t + v) : 0;
}

static double cost_of(struct fixture *f, uint32_t line, uint32_t base_align)
{
	struct lm_objective_opts opts = { .line = line, .base_align = base_align };
	struct lm_objective *o = lm_objective_new(&f->subject, NULL, &f->usage, &opts);
	double cost = lm_cost_layout(lm_objective_pricing(o, 0), lm_objective_before(o, 0));

	lm_objective_free(o);
	return cost;
}

static const char two_longs[] = "struct s {\n\tlong counter;\n\tlong pointer;\n};\n";

static void a_writer_and_a_reader_fight(void **state)
{
	static const struct fixture_row rows[] = {
		{ "writer", "counter", 0, 8, 0, 0, 100 }, { "reader", "pointer", 0, 8, 1, 300, 0 },
	};
	struct fixture f;

	(void)state;
	fixture_open(&f, two_longs, NULL);
	fixture_access(&f, rows, 2);
	/* CPU 1 reads 300 times what CPU 0 writes 100 times; CPU 0 never misses. */
	assert_float_equal(cost_of(&f, 64, 64), share(300, 100) + LM_COST_EPS * 400, 1e-6);
	fixture_close(&f);
}

static void one_cpu_owns_its_line(void **state)
{
	static const struct fixture_row rows[] = {
		{ "writer", "counter", 0, 8, 2, 0, 100 }, { "reader", "pointer", 0, 8, 2, 300, 0 },
	};
	struct fixture f;

	(void)state;
	fixture_open(&f, two_longs, NULL);
	fixture_access(&f, rows, 2);
	assert_float_equal(cost_of(&f, 64, 64), LM_COST_EPS * 400, 1e-6);
	fixture_close(&f);
}

static void a_site_touches_a_line_once(void **state)
{
	static const struct fixture_row rows[] = {
		{ "reader", "counter", 0, 8, 0, 100, 0 }, { "reader", "pointer", 0, 8, 0, 80, 0 },
		{ "writer", "counter", 0, 8, 1, 0, 50 },
	};
	struct fixture f;

	(void)state;
	fixture_open(&f, two_longs, NULL);
	fixture_access(&f, rows, 3);
	assert_float_equal(cost_of(&f, 64, 64), share(100, 50) + LM_COST_EPS * 150, 1e-6);
	fixture_close(&f);
}

static void an_unknown_base_is_averaged(void **state)
{
	static const struct fixture_row rows[] = {
		{ "writer", "counter", 0, 8, 0, 0, 100 }, { "reader", "pointer", 0, 8, 1, 300, 0 },
	};
	struct fixture f;
	double together, apart = LM_COST_EPS * 400;

	(void)state;
	fixture_open(&f, two_longs, NULL);
	fixture_access(&f, rows, 2);
	together = share(300, 100) + apart;
	/* Of the 8 bases that 8-byte alignment allows, one puts the two on different lines. */
	assert_float_equal(cost_of(&f, 64, 0), (7 * together + apart) / 8, 1e-6);
	fixture_close(&f);
}

static void objects_do_not_share_lines(void **state)
{
	struct fixture f;
	struct lm_access a = { .size = 8, .cpu = 0, .writes = 100 }, b = { .size = 8, .cpu = 1, .reads = 300, .object = 7 };

	(void)state;
	fixture_open(&f, two_longs, NULL);
	a.site = lm_strings_add(f.accesses.strings, "writer", 6);
	a.member = lm_strings_add(f.accesses.strings, "counter", 7);
	b.site = lm_strings_add(f.accesses.strings, "reader", 6);
	b.member = lm_strings_add(f.accesses.strings, "pointer", 7);
	lm_accesses_add(&f.accesses, a);
	lm_accesses_add(&f.accesses, b);
	must(lm_join(&f.subject, &f.accesses, "s", 0, &f.arena, &f.usage));
	assert_int_equal(f.usage.nr_objects, 2);
	assert_float_equal(cost_of(&f, 64, 64), LM_COST_EPS * 400, 1e-6);
	fixture_close(&f);
}

static void unknown_cpus_are_split_evenly(void **state)
{
	static const struct fixture_row rows[] = { { "both", "counter", 0, 8, LM_CPU_UNKNOWN, 0, 100 } };
	struct fixture f;

	(void)state;
	fixture_open(&f, two_longs, NULL);
	fixture_access(&f, rows, 1);
	assert_true(f.usage.cpus_assumed);
	assert_int_equal(f.usage.nr_cpus, 4);
	assert_float_equal(cost_of(&f, 64, 64), 4 * share(25, 75) + LM_COST_EPS * 100, 1e-6);
	fixture_close(&f);
}

static void a_path_names_a_level_an_element_or_a_leaf(void **state)
{
	static const char text[] = "struct in { int x; long y; };\n"
				   "struct s {\n\tint a;\n\tstruct in in;\n\tlong events[10];\n\tunion { long u; struct in v; };\n};\n";
	static const struct fixture_row rows[] = {
		{ "f", "in", 8, 8, 0, 1, 0 }, { "f", "in.y", 0, 8, 1, 1, 0 }, { "f", "events", 64, 8, 2, 1, 0 },
		{ "f", "events[8]", 0, 8, 3, 1, 0 }, { "f", "v.y", 0, 8, 4, 1, 0 }, { "f", ".", 8, 4, 5, 1, 0 },
		{ "f", "events[8].counter", 0, 8, 6, 1, 0 },
	};
	struct fixture f;
	const struct lm_touch *t;

	(void)state;
	fixture_open(&f, text, NULL);
	fixture_access(&f, rows, sizeof(rows) / sizeof(rows[0]));
	t = f.usage.touches[0];
	assert_int_equal(f.usage.nr_touches[0], sizeof(rows) / sizeof(rows[0]));
	for (size_t i = 0; i < f.usage.nr_touches[0]; i++) {
		static const uint64_t offset_of[] = { 8, 8, 64, 64, 8, 0, 64 };
		static const uint32_t field_of[] = { 1, 1, 2, 2, 3, 1, 2 };
		uint32_t cpu = t[i].cpu;

		assert_int_equal(t[i].field, field_of[cpu]);
		assert_int_equal(t[i].offset, offset_of[cpu]);
	}
	fixture_close(&f);
}

static void an_empty_pad_holds_nothing(void **state)
{
	static const char text[] = "struct pad { char x[0]; } __attribute__((aligned(64)));\n"
				   "struct in { long usage; struct pad pad; long max; long parent; };\n"
				   "struct s {\n\tlong a;\n\tstruct in in;\n\tlong tail[];\n};\n";
	static const struct fixture_row rows[] = {
		{ "f", "in", 64, 8, 0, 1, 0 }, { "f", "in", 72, 8, 1, 1, 0 }, { "f", "tail", 8, 8, 2, 1, 0 },
	};
	static const char *const leaves[] = { "in.max", "in.parent", "tail" };
	struct fixture f;

	(void)state;
	fixture_open(&f, text, NULL);
	fixture_access(&f, rows, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct lm_touch *t = &f.usage.touches[0][i];

		assert_string_equal(f.subject.views[0].rec->leaves[t->leaf].path, leaves[t->cpu]);
	}
	fixture_close(&f);
}

static void rows_that_fit_nowhere_are_counted(void **state)
{
	static const struct fixture_row rows[] = {
		{ "f", "counter", 0, 8, 0, 5, 0 }, { "f", "gone", 0, 8, 0, 3, 0 }, { "f", "counter", 8, 8, 0, 2, 0 },
	};
	struct fixture f;

	(void)state;
	fixture_open(&f, two_longs, NULL);
	fixture_access(&f, rows, 3);
	assert_int_equal(f.accesses.drops[LM_DROP_NO_MEMBER], 3);
	assert_int_equal(f.accesses.drops[LM_DROP_OUTSIDE], 2);
	assert_int_equal(f.accesses.used, 5);
	assert_int_equal(f.usage.total, 5);
	fixture_close(&f);
}

static void a_profile_serves_another_configuration(void **state)
{
	static const char text[] = "struct s {\n#ifdef WIDE\n\tlong more[4];\n#endif\n\tlong counter;\n\tlong pointer;\n};\n";
	static const char *const specs[] = { "wide:-DWIDE", NULL };
	static const struct fixture_row rows[] = {
		{ "w", ".", 8, 8, 0, 7, 0 }, { "w", "more", 8, 8, 0, 2, 0 },
	};
	struct fixture f;

	(void)state;
	fixture_open(&f, text, specs);
	fixture_access(&f, rows, 2);
	/* Offset 8 of the base record is pointer; in the wide one it is found by name. */
	assert_int_equal(f.usage.nr_touches[0], 1);
	assert_int_equal(f.usage.nr_touches[1], 2);
	assert_int_equal(f.usage.absent, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct lm_touch *t = &f.usage.touches[1][i];
		const char *key = f.subject.views[1].rec->fields[t->field].key;

		assert_string_equal(key, t->reads > 5 ? "pointer" : "more");
	}
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_writer_and_a_reader_fight),
		cmocka_unit_test(one_cpu_owns_its_line),
		cmocka_unit_test(a_site_touches_a_line_once),
		cmocka_unit_test(an_unknown_base_is_averaged),
		cmocka_unit_test(objects_do_not_share_lines),
		cmocka_unit_test(unknown_cpus_are_split_evenly),
		cmocka_unit_test(a_path_names_a_level_an_element_or_a_leaf),
		cmocka_unit_test(an_empty_pad_holds_nothing),
		cmocka_unit_test(rows_that_fit_nowhere_are_counted),
		cmocka_unit_test(a_profile_serves_another_configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
