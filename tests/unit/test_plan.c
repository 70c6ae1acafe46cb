/*
 * test_plan.c - plans of small records against brute force over all orders,
 * and what the verdict says in the plain cases.
 */
#include "fixture.h"

#include "optimizer/check.h"
#include "optimizer/objective.h"

#include <math.h>

static const struct lm_plan_opts opts64 = { .line = 64, .base_align = 64, .moves = -1, .allow_barriers = false };

/* xorshift: the same records in every run. */
static uint32_t next(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* Every permutation of all units, by Heap's algorithm; returns the least robust cost that the rules allow. */
struct brute {
	struct fixture *f;
	struct lm_objective *o;
	struct lm_order order;
	double best;
	uint64_t allowed;
};

static void visit(struct brute *b)
{
	double cost = lm_objective_robust(b->o, &b->order, INFINITY, NULL);

	b->allowed += isfinite(cost) != 0;
	b->best = fmin(b->best, cost);
}

static void heap(struct brute *b, uint32_t k)
{
	if (k <= 1) {
		visit(b);
		return;
	}
	for (uint32_t i = 0; i < k; i++) {
		uint32_t j = k % 2 ? 0 : i, t;

		heap(b, k - 1);
		t = b->order.units[j];
		b->order.units[j] = b->order.units[k - 1];
		b->order.units[k - 1] = t;
	}
}

static void random_record(struct lm_str *text, uint32_t *seed, uint32_t n)
{
	static const char *const types[] = { "char a%u", "short a%u", "int a%u", "long a%u", "long a%u[3]", "long a%u[7]",
					     "struct in a%u", "char a%u[20]", "unsigned a%u:3", "char a%u[64]" };
	bool aligned = next(seed) % 2;

	lm_str_add(text, "struct in { int x; long y[2]; };\nstruct s {\n");
	for (uint32_t i = 0; i < n; i++) {
		lm_str_add_char(text, '\t');
		lm_str_addf(text, types[next(seed) % 10], i);
		if (next(seed) % 12 == 0)
			lm_str_add(text, " __attribute__((aligned(64)))");
		lm_str_add(text, next(seed) % 10 ? ";\n" : "; /* linemate: pin */\n");
	}
	lm_str_addf(text, "}%s;\n", aligned ? " __attribute__((aligned(64)))" : "");
}

static void random_access(struct fixture *f, uint32_t *seed)
{
	static const char *const sites[] = { "alpha", "beta", "gamma", "delta" };
	const struct lm_record *rec = f->subject.views[0].rec;
	struct fixture_row rows[24];
	size_t nr = 4 + next(seed) % 20;

	for (size_t i = 0; i < nr; i++) {
		const struct lm_field *field = &rec->fields[next(seed) % rec->nr_fields];
		bool write = next(seed) % 2;
		uint64_t count = 1 + next(seed) % 1000;
		bool bits = field->bits != LM_NOT_BITS;

		rows[i] = (struct fixture_row){ sites[next(seed) % 4], field->key, bits ? 0 : next(seed) % field->size, 1,
						(int32_t)(next(seed) % 4), write ? 0 : count, write ? count : 0 };
	}
	fixture_access(f, rows, nr);
}

static void plans_equal_brute_force(void **state)
{
	uint32_t seed = 20260801, moved = 0, kept = 0, refused = 0;

	(void)state;
	for (uint32_t run = 0; run < 120; run++) {
		struct lm_str text = { 0 };
		struct fixture f;
		struct lm_plan plan;
		uint32_t n = 2 + run % (run % 20 ? 6 : 7);

		random_record(&text, &seed, n);
		fixture_open(&f, text.text, NULL);
		random_access(&f, &seed);
		fixture_rules(&f, NULL);
		must(lm_plan_make(&f.subject, &f.rules, &f.usage, &opts64, &f.arena, &plan));
		if (plan.verdict == LM_VERDICT_REFUSED) {
			refused++;
		} else {
			struct lm_objective_opts o = { .line = 64, .base_align = 64 };
			struct brute b = { .f = &f, .o = lm_objective_new(&f.subject, &f.rules, &f.usage, &o),
					   .order = lm_order_identity(&f.subject, &f.arena), .best = INFINITY };
			double best = plan.curve[plan.nr_curve - 1].cost;

			heap(&b, f.body.nr_units);
			if (fabs(best - b.best) > 1e-6 * fmax(1, b.best))
				fail_msg("run %u: the plan's best is %f, brute force has %f:\n%s", run, best, b.best,
					 text.text);
			assert_true(plan.exhaustive);
			assert_true(!plan.bound_proven || plan.bound <= plan.curve[plan.nr_curve - 1].transfers + 1e-6);
			moved += plan.verdict == LM_VERDICT_MOVED;
			kept += plan.verdict == LM_VERDICT_KEPT;
			lm_objective_free(b.o);
		}
		fixture_close(&f);
		lm_str_release(&text);
	}
	print_message("%u moved, %u kept, %u refused\n", moved, kept, refused);
	assert_true(moved > 10 && kept > 10);
}

/* A write-hot counter on the line of a read-mostly pointer, and cold members to part them with. */
static const char regression[] =
	"struct s {\n\tlong lock;\n\tlong counter;\n\tlong pointer;\n\tlong cold[6];\n\tlong colder[7];\n\tlong last[8];\n"
	"} __attribute__((aligned(64)));\n";
static const struct fixture_row fight[] = {
	{ "count", "counter", 0, 8, 0, 0, 5000 }, { "count", "counter", 0, 8, 1, 0, 5000 },
	{ "look", "pointer", 0, 8, 0, 90000, 0 }, { "look", "pointer", 0, 8, 1, 90000, 0 },
};

static void the_pair_is_found_and_parted(void **state)
{
	struct fixture f;
	struct lm_plan plan;
	struct lm_plan_opts opts = opts64;

	(void)state;
	opts.moves = 0;
	fixture_open(&f, regression, NULL);
	fixture_access(&f, fight, 4);
	fixture_rules(&f, NULL);
	must(lm_plan_make(&f.subject, &f.rules, &f.usage, &opts, &f.arena, &plan));
	assert_int_equal(plan.verdict, LM_VERDICT_MOVED);
	assert_int_equal(plan.nr_moves, 1);
	assert_true(plan.nr_pairs >= 1);
	assert_true(plan.pairs[0].apart_after);
	assert_string_equal(f.subject.views[0].rec->leaves[plan.pairs[0].leaf_a].path, "counter");
	assert_string_equal(f.subject.views[0].rec->leaves[plan.pairs[0].leaf_b].path, "pointer");
	assert_int_equal(plan.after[0].size, plan.before[0].size);
	/* What is left is the counter fighting with itself. */
	assert_string_equal(f.subject.views[0].rec->leaves[plan.shared[0].leaf].path, "counter");
	assert_true(plan.transfers_after < 1.1 * plan.shared_total);
	fixture_close(&f);
}

static void kept_says_why(void **state)
{
	static const struct fixture_row same_cpu[] = {
		{ "count", "counter", 0, 8, 0, 0, 5000 }, { "look", "pointer", 0, 8, 0, 90000, 0 },
	};
	static const struct fixture_row alone[] = {
		{ "count", "counter", 0, 8, 0, 0, 5000 }, { "count", "counter", 0, 8, 1, 0, 5000 },
	};
	static const struct {
		const struct fixture_row *rows;
		size_t nr;
		enum lm_kept why;
	} cases[] = {
		{ same_cpu, 2, LM_KEPT_NO_CONTENTION },
		{ alone, 2, LM_KEPT_TRUE_SHARING },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f;
		struct lm_plan plan;

		fixture_open(&f, regression, NULL);
		fixture_access(&f, cases[i].rows, cases[i].nr);
		fixture_rules(&f, NULL);
		must(lm_plan_make(&f.subject, &f.rules, &f.usage, &opts64, &f.arena, &plan));
		assert_int_equal(plan.verdict, LM_VERDICT_KEPT);
		assert_int_equal(plan.kept, cases[i].why);
		fixture_close(&f);
	}
}

static void few_samples_are_weak_evidence(void **state)
{
	struct fixture f;
	struct lm_plan plan;

	(void)state;
	fixture_open(&f, regression, NULL);
	for (int cpu = 0; cpu < 2; cpu++) {
		struct lm_access a = { .size = 8, .cpu = cpu, .writes = 3, .evidence = LM_EVIDENCE_PRECISE };
		struct lm_access b = { .size = 8, .cpu = cpu, .reads = 4, .evidence = LM_EVIDENCE_PRECISE };

		a.site = lm_strings_add(f.accesses.strings, "count", 5);
		a.member = lm_strings_add(f.accesses.strings, "counter", 7);
		b.site = lm_strings_add(f.accesses.strings, "look", 4);
		b.member = lm_strings_add(f.accesses.strings, "pointer", 7);
		lm_accesses_add(&f.accesses, a);
		lm_accesses_add(&f.accesses, b);
	}
	must(lm_join(&f.subject, &f.accesses, "s", 0, &f.arena, &f.usage));
	fixture_rules(&f, NULL);
	must(lm_plan_make(&f.subject, &f.rules, &f.usage, &opts64, &f.arena, &plan));
	assert_int_equal(plan.verdict, LM_VERDICT_KEPT);
	assert_int_equal(plan.kept, LM_KEPT_WEAK_EVIDENCE);
	fixture_close(&f);
}

/* Tampers with one part of a right plan; the check must say so. */
static void the_check_catches(void **state)
{
	struct fixture f;
	struct lm_plan plan;

	(void)state;
	fixture_open(&f, regression, NULL);
	fixture_access(&f, fight, 4);
	fixture_rules(&f, NULL);
	must(lm_plan_make(&f.subject, &f.rules, &f.usage, &opts64, &f.arena, &plan));
	for (int what = 0; what < 5; what++) {
		struct lm_plan bad = plan;
		struct lm_rules rules = f.rules;

		bad.order = lm_order_copy(&f.subject, &plan.order, &f.arena);
		if (what == 0)
			bad.order.units[0] = bad.order.units[1];
		if (what == 1)
			bad.transfers_after /= 2;
		if (what == 2)
			bad.after = bad.before;
		if (what == 3) {
			rules.fixed_offset = lm_arena_alloc(&f.arena, f.body.nr_units);
			memset(rules.fixed_offset, 1, f.body.nr_units);
		}
		if (what == 4)
			bad.bound = bad.transfers_after * 2 + 1, bad.bound_proven = true;

		struct lm_err *err = lm_check_plan(&f.subject, &rules, &f.usage, &opts64, &bad);

		assert_non_null(err);
		assert_int_equal(err->code, LM_ERR_BUG);
		lm_err_free(err);
	}
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pair_is_found_and_parted),
		cmocka_unit_test(kept_says_why),
		cmocka_unit_test(few_samples_are_weak_evidence),
		cmocka_unit_test(the_check_catches),
		cmocka_unit_test(plans_equal_brute_force),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
