/* bench_stat.c - do two layouts differ, or does the machine? */
#include "output/bench.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A difference by chance in one of so many comparisons is one too many. */
#define MAX_CHANCE 0.001
/* Below this, where code and data happen to lie decides. */
#define MIN_DIFFERENCE 0.02

static int compare_doubles(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Between two values where the place is between them. */
static double quantile(const double *sorted, size_t nr, double q)
{
	double at = q * (double)(nr - 1);
	size_t low = (size_t)at;

	if (low + 1 >= nr)
		return sorted[nr - 1];
	return sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]);
}

static struct lm_bench_spread spread_of(double *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), compare_doubles);
	return (struct lm_bench_spread){ quantile(values, nr, 0.5), quantile(values, nr, 0.25), quantile(values, nr, 0.75) };
}

static double *take(size_t nr)
{
	double *p = calloc(nr + 1, sizeof(*p));

	if (!p)
		lm_oom();
	return p;
}

/* Two-sided sign test: of n fair coins, at least as unequal as k of one side. */
static double sign_chance(size_t more, size_t less)
{
	size_t n = more + less, k = more < less ? more : less;
	double term = exp(-(double)n * log(2)), sum = 0;

	for (size_t i = 0; i <= k; i++) {
		sum += term;
		term *= (double)(n - i) / (double)(i + 1);
	}
	return fmin(1, 2 * sum);
}

static void compare(const double *first, const double *second, size_t rounds, double noise,
		    struct lm_bench_comparison *out)
{
	double *ratios = take(rounds), distance;
	size_t more = 0, less = 0;

	for (size_t i = 0; i < rounds; i++) {
		ratios[i] = second[i] / first[i];
		more += ratios[i] > 1;
		less += ratios[i] < 1;
	}
	out->ratio = spread_of(ratios, rounds);
	out->chance = sign_chance(more, less);
	out->verdict = LM_BENCH_NO_DIFFERENCE;
	distance = fabs(log(out->ratio.median));
	if (out->chance <= MAX_CHANCE && distance > log(1 + fmax(noise, MIN_DIFFERENCE)))
		out->verdict = out->ratio.median > 1 ? LM_BENCH_FASTER : LM_BENCH_SLOWER;
	free(ratios);
}

void lm_bench_judge(const double *const *speed, size_t rounds, struct lm_bench_result *out)
{
	double *values = take(rounds);

	assert(rounds);
	for (int k = 0; k < LM_NR_BENCH; k++) {
		memcpy(values, speed[k], rounds * sizeof(*values));
		out->speed[k] = spread_of(values, rounds);
	}
	for (size_t i = 0; i < rounds; i++)
		values[i] = fabs(log(speed[LM_BENCH_AGAIN][i] / speed[LM_BENCH_BEFORE][i]));
	out->noise = exp(spread_of(values, rounds).median) - 1;
	compare(speed[LM_BENCH_BEFORE], speed[LM_BENCH_AFTER], rounds, out->noise, &out->after);
	compare(speed[LM_BENCH_BEFORE], speed[LM_BENCH_IDEAL], rounds, out->noise, &out->ideal);
	free(values);
}

/* ---- the program's rows ---- */

static struct lm_bench_result *find_result(struct lm_bench_result *results, size_t nr, unsigned threads)
{
	for (size_t i = 0; i < nr; i++)
		if (results[i].threads == threads)
			return &results[i];
	return NULL;
}

struct lm_err *lm_bench_read(const char *text, uint32_t rounds, const struct lm_bench_schedule *s,
			     struct lm_arena *arena, struct lm_bench_result **out, size_t *nr)
{
	struct lm_bench_result *results = LM_ARENA_ARRAY(arena, struct lm_bench_result, s->nr);
	double **speeds;
	size_t results_nr = 0, rows = 0, read = 0;
	const char *p = text;

	for (size_t i = 0; i < s->nr; i += s->players[i].threads)
		results[results_nr++].threads = s->players[i].threads;
	speeds = LM_ARENA_ARRAY(arena, double *, results_nr * LM_NR_BENCH);
	for (size_t i = 0; i < results_nr * LM_NR_BENCH; i++)
		speeds[i] = LM_ARENA_ARRAY(arena, double, rounds);
	for (; *p; rows++) {
		unsigned threads, round, layout;
		double ops;
		int len = 0;
		struct lm_bench_result *r;

		if (sscanf(p, "%u %u %u %lf%n", &threads, &round, &layout, &ops, &len) != 4 || p[len] != '\n')
			break;
		r = find_result(results, results_nr, threads);
		if (!r || round >= rounds || layout >= LM_NR_BENCH || !(ops > 0))
			break;
		speeds[(size_t)(r - results) * LM_NR_BENCH + layout][round] = ops;
		read++;
		p += len + 1;
	}
	if (*p || read != results_nr * rounds * LM_NR_BENCH)
		return lm_err_new(LM_ERR_BUG, "The benchmark printed something else than its rows: row %zu of %zu.", rows + 1,
				  results_nr * rounds * LM_NR_BENCH);
	for (size_t i = 0; i < results_nr; i++)
		lm_bench_judge((const double *const *)speeds + i * LM_NR_BENCH, rounds, &results[i]);
	*out = results;
	*nr = results_nr;
	return NULL;
}
