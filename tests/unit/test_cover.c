/* test_cover.c - every two switches in all four ways, in few rows. */
#include "optimizer/cover.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 40 };

/* Takes rows until none is left; the base counts as seen.  How many. */
static size_t take_rows(struct lm_cover *c, uint8_t rows[][MOST], size_t most, struct lm_arena *arena)
{
	uint8_t base[MOST] = { 0 };
	size_t nr = 0;

	lm_cover_saw(c, base);
	lm_cover_begin(c);
	while (nr < most && lm_cover_next(c, rows[nr], arena))
		lm_cover_saw(c, rows[nr++]);
	return nr;
}

static bool is_seen(uint8_t rows[][MOST], size_t nr, size_t a, uint8_t x, size_t b, uint8_t y)
{
	if (!x && !y)
		return true;
	for (size_t i = 0; i < nr; i++)
		if (rows[i][a] == x && rows[i][b] == y)
			return true;
	return false;
}

static void all_pairs_in_few_rows(void **state)
{
	/* The base besides. */
	static const struct {
		size_t switches, most_rows;
	} rows[] = { { 0, 0 }, { 1, 1 }, { 2, 3 }, { 3, 4 }, { 4, 6 }, { 8, 9 }, { 12, 10 }, { 40, 29 } };
	static uint8_t found[64][MOST];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lm_arena arena = { 0 };
		struct lm_cover c = lm_cover_make(rows[i].switches, &arena);
		size_t nr = take_rows(&c, found, 64, &arena), lost;

		assert_in_range(nr, 0, rows[i].most_rows);
		for (size_t a = 0; a < rows[i].switches; a++)
			for (size_t b = 0; b < rows[i].switches; b++)
				for (uint8_t v = 0; v < 4; v++)
					if (a != b || v >> 1 == (v & 1))
						assert_true(is_seen(found, nr, a, v >> 1, b, v & 1));
		lm_cover_lost(&c, &arena, &lost);
		assert_int_equal(lost, 0);
		lm_arena_release(&arena);
	}
}

static void the_least_array_covers(void **state)
{
	static uint8_t rows[16][1000];

	(void)state;
	assert_int_equal(lm_cover_least(0), 0);
	assert_int_equal(lm_cover_least(4), 4);
	assert_int_equal(lm_cover_least(10), 5);
	assert_int_equal(lm_cover_least(15), 6);
	assert_int_equal(lm_cover_least(35), 7);
	for (size_t nr = 1; nr < 60; nr += nr < 16 ? 1 : 11) {
		size_t nr_rows = lm_cover_least(nr);

		for (size_t r = 0; r < nr_rows; r++)
			lm_cover_least_row(nr, r, rows[r]);
		for (size_t a = 0; a < nr; a++) {
			for (size_t b = a + 1; b < nr; b++) {
				unsigned seen = 1;

				for (size_t r = 0; r < nr_rows; r++)
					seen |= 1u << (2 * rows[r][a] + rows[r][b]);
				assert_int_equal(seen, 15);
			}
		}
	}
	assert_in_range(lm_cover_least(1000), 10, 13);
	lm_cover_least_row(1000, 11, rows[0]);
}

static void what_is_forbidden_is_not_proposed(void **state)
{
	struct lm_arena arena = { 0 };
	struct lm_cover c = lm_cover_make(5, &arena);
	static uint8_t rows[64][MOST];
	struct lm_cover_pair *pairs;
	size_t nr, lost;

	(void)state;
	lm_cover_forbid(&c, (struct lm_cover_pair){ .a = 3, .b = 1, .x = 1, .y = 1 });
	lm_cover_forbid(&c, (struct lm_cover_pair){ .a = 4, .b = 4, .x = 1, .y = 1 });
	nr = take_rows(&c, rows, 64, &arena);
	assert_in_range(nr, 3, 8);
	for (size_t i = 0; i < nr; i++) {
		assert_false(rows[i][1] && rows[i][3]);
		assert_false(rows[i][4]);
	}
	/* Switch 4 turned: alone, and with each value of four others; and the pair. */
	pairs = lm_cover_lost(&c, &arena, &lost);
	assert_int_equal(lost, 1 + 4 * 2 + 1);
	for (size_t i = 0; i < lost; i++)
		assert_true((pairs[i].b == 4 && pairs[i].y) || (pairs[i].a == 1 && pairs[i].b == 3));
	lm_arena_release(&arena);
}

static void promises_are_forgotten_and_losses_kept(void **state)
{
	struct lm_arena arena = { 0 };
	struct lm_cover c = lm_cover_make(2, &arena);
	const uint8_t base[2] = { 0, 0 };
	uint8_t row[2], again[2];
	size_t lost;

	(void)state;
	lm_cover_saw(&c, base);
	assert_true(lm_cover_next(&c, row, &arena));
	lm_cover_begin(&c);
	assert_true(lm_cover_next(&c, again, &arena));
	assert_memory_equal(row, again, 2);
	lm_cover_begin(&c);
	lm_cover_lose(&c, row);
	while (lm_cover_next(&c, again, &arena)) {
		assert_memory_not_equal(row, again, 2);
		lm_cover_saw(&c, again);
	}
	lm_cover_lost(&c, &arena, &lost);
	assert_in_range(lost, 1, 3);
	lm_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_pairs_in_few_rows),
		cmocka_unit_test(the_least_array_covers),
		cmocka_unit_test(what_is_forbidden_is_not_proposed),
		cmocka_unit_test(promises_are_forgotten_and_losses_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
