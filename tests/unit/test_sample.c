/* test_sample.c - the sample table: rows added up by key, sorted by what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample_check.h"

static struct lm_sample row(struct lm_samples *t, const char *symbol, uint64_t ip, uint64_t addr)
{
	return (struct lm_sample){
		.ip = ip, .addr = addr, .symbol = lm_strings_add(t->strings, symbol, strlen(symbol)),
		.dso = LM_NO_STRING, .cpu = LM_CPU_UNKNOWN, .evidence = LM_EVIDENCE_PRECISE, .count = 1,
	};
}

static void equal_keys_are_one_row(void **state)
{
	struct lm_samples t;

	(void)state;
	lm_samples_init(&t);
	for (int i = 0; i < 3; i++)
		lm_samples_add(&t, row(&t, "f", 1, 2));
	assert_int_equal(t.nr, 1);
	assert_int_equal(t.rows[0].count, 3);
	lm_samples_release(&t);
	assert_null(t.rows);
}

/* Each part of the key makes a row of its own. */
static void every_part_of_the_key_counts(void **state)
{
	struct lm_samples t;
	struct lm_sample a, b;

	(void)state;
	lm_samples_init(&t);
	a = row(&t, "f", 1, 2);
	lm_samples_add(&t, a);
	lm_samples_add(&t, row(&t, "g", 1, 2));
	lm_samples_add(&t, row(&t, "f", 3, 2));
	lm_samples_add(&t, row(&t, "f", 1, 3));
	b = a;
	b.dso = a.symbol;
	lm_samples_add(&t, b);
	b = a;
	b.cpu = 0;
	lm_samples_add(&t, b);
	b = a;
	b.size = 8;
	lm_samples_add(&t, b);
	b = a;
	b.op = LM_OP_WRITE;
	lm_samples_add(&t, b);
	b = a;
	b.evidence = LM_EVIDENCE_EXACT;
	lm_samples_add(&t, b);
	b = a;
	b.after = true;
	lm_samples_add(&t, b);
	assert_int_equal(t.nr, 10);
	lm_samples_release(&t);
}

static void counts_saturate(void **state)
{
	struct lm_samples t;
	struct lm_sample a;

	(void)state;
	lm_samples_init(&t);
	a = row(&t, "f", 1, 2);
	a.count = UINT64_MAX - 1;
	lm_samples_add(&t, a);
	lm_samples_add(&t, a);
	assert_int_equal(t.rows[0].count, UINT64_MAX);
	lm_samples_release(&t);
}

static void order_is_part_of_no_input(void **state)
{
	struct lm_str forward = { 0 }, backward = { 0 };
	struct lm_samples t[2];

	(void)state;
	for (int way = 0; way < 2; way++) {
		lm_samples_init(&t[way]);
		for (int k = 0; k < 5000; k++) {
			int i = way ? 4999 - k : k;
			char name[16];

			snprintf(name, sizeof(name), "f%d", i % 7);
			lm_samples_add(&t[way], row(&t[way], name, (uint64_t)(i % 50), (uint64_t)(i % 101)));
		}
		tell_samples(&t[way], way ? &backward : &forward);
	}
	assert_string_equal(lm_str_text(&forward), lm_str_text(&backward));
	/* The index is right behind sorting, too. */
	for (size_t i = 0, nr = t[0].nr; i < nr; i++)
		lm_samples_add(&t[0], t[0].rows[i]);
	assert_int_equal(t[0].nr, t[1].nr);
	lm_str_release(&forward);
	lm_str_release(&backward);
	lm_samples_release(&t[0]);
	lm_samples_release(&t[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_keys_are_one_row),
		cmocka_unit_test(every_part_of_the_key_counts),
		cmocka_unit_test(counts_saturate),
		cmocka_unit_test(order_is_part_of_no_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
