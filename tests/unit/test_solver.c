/* The solver behind solver.h: values, duals, warm starts, and failing as a value. */
#include "optimizer/solver.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void must(struct lm_err *err)
{
	if (err)
		fail_msg("%s", err->msg);
}

static void must_fail(struct lm_err *err, const char *with)
{
	assert_non_null(err);
	assert_int_equal(err->code, LM_ERR_BUG);
	if (!strstr(err->msg, with))
		fail_msg("'%s' does not say '%s'", err->msg, with);
	lm_err_free(err);
}

static void assert_near(double a, double b)
{
	if (fabs(a - b) > 1e-7)
		fail_msg("%g is not %g", a, b);
}

/* Three rows to cover once each, columns of all pairs: the LP takes halves, an integer solution needs a single. */
static struct lm_lp *triangle(void)
{
	static const double rhs[3] = { 1, 1, 1 }, ones[2] = { 1, 1 };
	static const enum lm_row_sense sense[3] = { LM_ROW_EQ, LM_ROW_EQ, LM_ROW_EQ };
	struct lm_lp *lp;

	must(lm_lp_new(rhs, sense, 3, &lp));
	for (uint32_t i = 0; i < 3; i++)
		must(lm_lp_add(lp, 2, (uint32_t[]){ i, (i + 1) % 3 }, ones, 2, false));
	return lp;
}

static void linear_program_takes_halves(void **state)
{
	struct lm_lp *lp = triangle();
	double x[3], duals[3];
	struct lm_lp_result r = { .x = x, .duals = duals };

	(void)state;
	must(lm_lp_solve(lp, &r));
	assert_true(r.optimal);
	assert_near(r.value, 3);
	for (int i = 0; i < 3; i++) {
		assert_near(x[i], 0.5);
		assert_near(duals[i], 1);
	}
	lm_lp_free(lp);
}

static void integer_program_needs_a_single_and_the_linear_one_comes_back(void **state)
{
	static const double one = 1;
	struct lm_lp *lp = triangle();
	double x[6];
	struct lm_lp_result r = { .x = x };

	(void)state;
	must(lm_lp_solve_integer(lp, 10, &r));
	assert_false(r.optimal);
	for (uint32_t i = 0; i < 3; i++)
		must(lm_lp_add(lp, 1.5 + i, &i, &one, 1, false));
	must(lm_lp_solve_integer(lp, 10, &r));
	assert_true(r.optimal);
	assert_near(r.value, 3.5);
	assert_near(x[3], 1);
	assert_near(x[1], 1);
	must(lm_lp_solve(lp, &r));
	assert_near(r.value, 3);
	lm_lp_free(lp);
}

static void columns_added_later_lower_the_value_and_senses_count(void **state)
{
	static const double rhs[3] = { 4, 6, 1 }, v[2] = { 1, 2 };
	static const enum lm_row_sense sense[3] = { LM_ROW_GE, LM_ROW_LE, LM_ROW_LE };
	struct lm_lp_result r = { 0 };
	struct lm_lp *lp;
	double duals[3];

	(void)state;
	must(lm_lp_new(rhs, sense, 3, &lp));
	must(lm_lp_add(lp, 3, (uint32_t[]){ 0, 1 }, (double[]){ 1, 1 }, 2, false));
	must(lm_lp_solve(lp, &r));
	assert_near(r.value, 12);
	must(lm_lp_add(lp, 1, (uint32_t[]){ 2, 0 }, v, 2, true));
	r.duals = duals;
	must(lm_lp_solve(lp, &r));
	assert_near(r.value, 1 + 2 * 3);
	assert_near(duals[0], 3);
	lm_lp_free(lp);
}

static void no_solution_is_not_an_error(void **state)
{
	static const double rhs[2] = { 2, 1 }, one[2] = { 1, 1 };
	static const enum lm_row_sense sense[2] = { LM_ROW_GE, LM_ROW_LE };
	struct lm_lp_result r = { .optimal = true, .value = 17 };
	struct lm_lp *lp;

	(void)state;
	must(lm_lp_new(rhs, sense, 2, &lp));
	must(lm_lp_add(lp, 1, (uint32_t[]){ 0, 1 }, one, 2, false));
	must(lm_lp_solve(lp, &r));
	assert_false(r.optimal);
	assert_near(r.value, 17);
	lm_lp_free(lp);
}

static void abort_of_the_library_becomes_an_error_and_the_next_problem_works(void **state)
{
	static const double ones[2] = { 1, 1 };
	struct lm_lp_result r = { 0 };
	struct lm_lp *lp = triangle();

	(void)state;
	must_fail(lm_lp_add(lp, 1, (uint32_t[]){ 1, 1 }, ones, 2, false), "duplicate row");
	must_fail(lm_lp_solve(lp, &r), "asked again");
	must_fail(lm_lp_add(lp, 1, (uint32_t[]){ 1 }, ones, 1, false), "asked again");
	lm_lp_free(lp);

	lp = triangle();
	must_fail(lm_lp_add(lp, 1, (uint32_t[]){ 7 }, ones, 1, false), "out of range");
	lm_lp_free(lp);
	linear_program_takes_halves(NULL);
}

static void thread_has_one_problem_at_a_time(void **state)
{
	static const double rhs = 1;
	static const enum lm_row_sense sense = LM_ROW_EQ;
	struct lm_lp *lp = triangle(), *second = NULL;

	(void)state;
	must_fail(lm_lp_new(&rhs, &sense, 1, &second), "second problem");
	assert_null(second);
	lm_lp_free(lp);
	lm_lp_free(NULL);
	must(lm_lp_new(&rhs, &sense, 1, &second));
	lm_lp_free(second);
}

static void *solve_many(void *arg)
{
	static const double ones[2] = { 1, 1 };
	double *value = arg;
	struct lm_lp_result r = { 0 };

	for (int i = 0; i < 50; i++) {
		struct lm_lp *lp = triangle();

		if (i % 3 == 0)
			lm_err_free(lm_lp_add(lp, 1, (uint32_t[]){ 2, 2 }, ones, 2, false));
		else
			must(lm_lp_solve(lp, &r));
		lm_lp_free(lp);
	}
	*value = r.value;
	return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
	pthread_t threads[4];
	double values[4] = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, solve_many, &values[i]), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_near(values[i], 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linear_program_takes_halves),
		cmocka_unit_test(integer_program_needs_a_single_and_the_linear_one_comes_back),
		cmocka_unit_test(columns_added_later_lower_the_value_and_senses_count),
		cmocka_unit_test(no_solution_is_not_an_error),
		cmocka_unit_test(abort_of_the_library_becomes_an_error_and_the_next_problem_works),
		cmocka_unit_test(thread_has_one_problem_at_a_time),
		cmocka_unit_test(threads_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
