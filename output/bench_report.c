/* bench_report.c - the results, and what may be concluded from them. */
#include "output/bench_report.h"

#include "output/json.h"
#include "output/words.h"

#include <math.h>

static const char *millions(struct lm_arena *arena, double v)
{
	return lm_arena_printf(arena, "%.1f", v / 1e6);
}

static const char *verdict_word(enum lm_bench_verdict v)
{
	static const char *const words[] = {
		[LM_BENCH_NO_DIFFERENCE] = "no-difference", [LM_BENCH_FASTER] = "faster", [LM_BENCH_SLOWER] = "slower",
	};

	return words[v];
}

/* Where before and ideal do not differ either, a layout cannot matter here. */
static void conclude(const struct lm_bench_result *r, const struct lm_bench_comparison *c, const char *name,
		     struct lm_arena *arena, struct lm_str *out)
{
	const char *threads = lm_arena_printf(arena, "%u thread%s", r->threads, r->threads == 1 ? "" : "s");

	if (c->verdict == LM_BENCH_NO_DIFFERENCE)
		lm_wrapf(out, 2, 6, "%s: no difference that this machine can show between before and %s: ratio %.2f "
			 "(quartiles %.2f to %.2f); two runs of one layout differ by %.0f %%", threads, name,
			 c->ratio.median, c->ratio.low, c->ratio.high, 100 * r->noise);
	else
		lm_wrapf(out, 2, 6, "%s: %s is %.2f times as fast as before (quartiles %.2f to %.2f); two runs of one layout "
			 "differ by %.0f %%", threads, name, c->ratio.median, c->ratio.low, c->ratio.high, 100 * r->noise);
}

void lm_bench_report_text(const struct lm_bench_story *s, struct lm_str *out)
{
	struct lm_arena arena = { 0 };

	lm_wrapf(out, 0, 4, "Benchmark of the layout of %s on this machine: %s.  It is not the workload: the profile's "
		 "accesses only, repeated as fast as they go.", lm_safe(&arena, s->record), s->what);
	lm_str_addf(out, "  %7s %12s %12s %12s  million accesses a second, medians of %u rounds\n", "threads", "before",
		    "after", "ideal", s->rounds);
	for (size_t i = 0; i < s->nr_results; i++) {
		const struct lm_bench_result *r = &s->results[i];

		lm_str_addf(out, "  %7u %12s %12s %12s\n", r->threads, millions(&arena, r->speed[LM_BENCH_BEFORE].median),
			    millions(&arena, r->speed[LM_BENCH_AFTER].median),
			    millions(&arena, r->speed[LM_BENCH_IDEAL].median));
	}
	for (size_t i = 0; i < s->nr_results; i++) {
		conclude(&s->results[i], &s->results[i].after, "after", &arena, out);
		conclude(&s->results[i], &s->results[i].ideal, "ideal", &arena, out);
	}
	lm_wrapf(out, 2, 6, "ideal: each member that is accessed on lines of its own, which makes the record larger; %u CPUs "
		 "in the profile%s", s->cpus, s->cpus_assumed ? " (assumed)" : "");
	lm_arena_release(&arena);
}

static json_t *spread_json(struct lm_bench_spread v)
{
	json_t *o = lm_json_object();

	lm_json_set(o, "median", json_real(v.median));
	lm_json_set(o, "low", json_real(v.low));
	lm_json_set(o, "high", json_real(v.high));
	return o;
}

static json_t *comparison_json(const struct lm_bench_comparison *c)
{
	json_t *o = lm_json_object();

	lm_json_set(o, "ratio", spread_json(c->ratio));
	lm_json_set(o, "chance", json_real(c->chance));
	lm_json_set(o, "verdict", lm_json_text(verdict_word(c->verdict)));
	return o;
}

void lm_bench_report_json(const struct lm_bench_story *s, struct lm_str *out)
{
	json_t *root = lm_json_object(), *results = lm_json_array();

	lm_json_set(root, "linemate", lm_json_text(LM_VERSION));
	lm_json_set(root, "record", lm_json_text(s->record));
	lm_json_set(root, "after", lm_json_text(s->what));
	lm_json_set(root, "rounds", lm_json_whole(s->rounds));
	lm_json_set(root, "milliseconds", lm_json_whole(s->slice_ms));
	for (size_t i = 0; i < s->nr_results; i++) {
		const struct lm_bench_result *r = &s->results[i];
		json_t *o = lm_json_object();

		lm_json_set(o, "threads", lm_json_whole(r->threads));
		lm_json_set(o, "before", spread_json(r->speed[LM_BENCH_BEFORE]));
		lm_json_set(o, "after", spread_json(r->speed[LM_BENCH_AFTER]));
		lm_json_set(o, "ideal", spread_json(r->speed[LM_BENCH_IDEAL]));
		lm_json_set(o, "noise", json_real(r->noise));
		lm_json_set(o, "after_to_before", comparison_json(&r->after));
		lm_json_set(o, "ideal_to_before", comparison_json(&r->ideal));
		lm_json_push(results, o);
	}
	lm_json_set(root, "results", results);
	lm_json_dump(root, out);
}
