/* The incremental price of a line equals the formula worked out afresh. */
#include "optimizer/cost.h"
#include "optimizer/cost_line.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SITES = 5, CPUS = 3, OBJECTS = 2, TOUCHES = 40 };

static uint32_t roll(uint64_t *state, uint32_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33) % below;
}

static void random_touches(uint64_t seed, struct lm_touch *t, uint32_t nr)
{
	memset(t, 0, nr * sizeof(*t));
	for (uint32_t i = 0; i < nr; i++) {
		t[i].site = roll(&seed, SITES);
		t[i].cpu = roll(&seed, CPUS);
		t[i].object = roll(&seed, OBJECTS);
		t[i].reads = roll(&seed, 1000);
		t[i].writes = roll(&seed, 3) ? 0 : roll(&seed, 500);
	}
}

/* The formula of cost.h, written down again without any cleverness. */
static double afresh(const struct lm_touch *t, const uint32_t *set, uint32_t nr)
{
	double sum = 0;

	for (uint32_t o = 0; o < OBJECTS; o++) {
		double touches[CPUS] = { 0 }, writes[CPUS] = { 0 }, all = 0;

		for (uint32_t q = 0; q < CPUS; q++) {
			for (uint32_t e = 0; e < SITES; e++) {
				double r = 0, w = 0;

				for (uint32_t i = 0; i < nr; i++) {
					const struct lm_touch *x = &t[set[i]];

					if (x->site != e || x->cpu != q || x->object != o)
						continue;
					r = fmax(r, fmax(x->reads, x->writes));
					w = fmax(w, x->writes);
				}
				touches[q] += r;
				writes[q] += w;
			}
			all += writes[q];
		}
		for (uint32_t q = 0; q < CPUS; q++) {
			double v = all - writes[q];

			if (touches[q] + v > 0)
				sum += touches[q] * v / (touches[q] + v);
			sum += LM_COST_EPS * touches[q];
		}
	}
	return sum;
}

static void assert_near(double a, double b)
{
	if (fabs(a - b) > 1e-9 * fmax(1, fmax(fabs(a), fabs(b))))
		fail_msg("%.17g is not %.17g", a, b);
}

static void value_equals_the_formula_in_any_state(void **state)
{
	struct lm_touch t[TOUCHES];
	uint32_t set[TOUCHES], nr = 0;
	size_t marks[TOUCHES];

	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		uint64_t dice = seed * 77;

		random_touches(seed, t, TOUCHES);

		struct lm_cost_line *l = lm_cost_line_new(t, TOUCHES);

		nr = 0;
		for (int step = 0; step < 200; step++) {
			if (nr && (nr == TOUCHES || roll(&dice, 5) < 2)) {
				nr = roll(&dice, nr);
				lm_cost_line_pop_to(l, marks[nr]);
			} else {
				marks[nr] = lm_cost_line_mark(l);
				set[nr] = roll(&dice, TOUCHES);
				lm_cost_line_push(l, set[nr++]);
			}
			assert_near(lm_cost_line_value(l), afresh(t, set, nr));
		}
		lm_cost_line_clear(l);
		assert_true(lm_cost_line_value(l) == 0);
		lm_cost_line_free(l);
	}
}

static void value_never_falls_when_a_touch_is_added(void **state)
{
	struct lm_touch t[TOUCHES];

	(void)state;
	for (uint64_t seed = 100; seed < 150; seed++) {
		double last = 0;

		random_touches(seed, t, TOUCHES);

		struct lm_cost_line *l = lm_cost_line_new(t, TOUCHES);

		for (uint32_t i = 0; i < TOUCHES; i++) {
			lm_cost_line_push(l, i);
			assert_true(lm_cost_line_value(l) >= last * (1 - 1e-12));
			last = lm_cost_line_value(l);
		}
		lm_cost_line_free(l);
	}
}

static void line_of_one_cpu_or_without_writes_costs_only_its_footprint(void **state)
{
	struct lm_touch mine[2] = { { .site = 1, .reads = 100, .writes = 100 }, { .site = 2, .reads = 50 } };
	struct lm_touch read[2] = { { .cpu = 0, .reads = 100 }, { .cpu = 1, .reads = 50 } };
	struct lm_touch apart[2] = { { .object = 1, .cpu = 0, .writes = 100 }, { .object = 2, .cpu = 1, .reads = 50 } };
	const struct lm_touch *all[] = { mine, read, apart };

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct lm_cost_line *l = lm_cost_line_new(all[k], 2);

		lm_cost_line_push(l, 0);
		lm_cost_line_push(l, 1);
		assert_near(lm_cost_line_value(l), LM_COST_EPS * 150);
		lm_cost_line_free(l);
	}
}

static void pop_restores_bit_for_bit(void **state)
{
	struct lm_touch t[TOUCHES];

	(void)state;
	random_touches(7, t, TOUCHES);

	struct lm_cost_line *l = lm_cost_line_new(t, TOUCHES);

	for (uint32_t i = 0; i < 10; i++)
		lm_cost_line_push(l, i);

	double before = lm_cost_line_value(l);
	size_t mark = lm_cost_line_mark(l);

	for (uint32_t i = 10; i < TOUCHES; i++)
		lm_cost_line_push(l, i);
	assert_true(lm_cost_line_value(l) > before);
	lm_cost_line_pop_to(l, mark);
	assert_true(lm_cost_line_value(l) == before);
	lm_cost_line_free(l);
}

static void empty_table_is_a_line_that_costs_nothing(void **state)
{
	struct lm_cost_line *l = lm_cost_line_new(NULL, 0);

	(void)state;
	assert_true(lm_cost_line_value(l) == 0);
	lm_cost_line_free(l);
	lm_cost_line_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(value_equals_the_formula_in_any_state),
		cmocka_unit_test(value_never_falls_when_a_touch_is_added),
		cmocka_unit_test(line_of_one_cpu_or_without_writes_costs_only_its_footprint),
		cmocka_unit_test(pop_restores_bit_for_bit),
		cmocka_unit_test(empty_table_is_a_line_that_costs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
