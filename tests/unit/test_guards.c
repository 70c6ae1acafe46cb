/* test_guards.c - which macros guards test, and when two configurations see the same text. */
#include "optimizer/guards.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct lm_guarded text_of(const char *text)
{
	return (struct lm_guarded){ .record = "struct s", .path = "s.h", .text = text, .len = strlen(text), .line = 10 };
}

/* "A B# C": what is tested, '#' behind what is tested by value. */
static const char *tested(const char *text, struct lm_arena *arena)
{
	struct lm_guarded g = text_of(text);
	struct lm_tested_list list = { 0 };
	struct lm_str s = { 0 };
	const char *copy;

	lm_guards_tested(&g, arena, &list);
	for (size_t i = 0; i < list.nr; i++)
		lm_str_addf(&s, "%s%s%s", i ? " " : "", list.items[i].name, list.items[i].by_value ? "#" : "");
	copy = lm_arena_strdup(arena, lm_str_text(&s));
	lm_str_release(&s);
	return copy;
}

static void every_way_to_ask_is_known(void **state)
{
	static const struct {
		const char *text, *tested;
	} rows[] = {
		{ "int a;", "" },
		{ "#ifdef A\nint a;\n#endif\n", "A" },
		{ "#ifndef A\nint a;\n#else\nint b;\n#endif\n", "A" },
		{ "#if defined A && !defined(B) || C\nint a;\n#endif\n", "A B C" },
		{ "#if IS_ENABLED(CONFIG_A) || IS_MODULE(CONFIG_B)\nint a;\n#endif\n", "CONFIG_A CONFIG_B" },
		{ "#if defined(CONFIG_A) || defined(CONFIG_A_MODULE)\nint a;\n#endif\n", "CONFIG_A" },
		{ "#if BITS < 64\nint a;\n#endif\n", "BITS#" },
		{ "#if (A || (B && defined(C))) && D == 3\nint a;\n#endif\n", "A B C D#" },
		{ "#if A ? B : C\nint a;\n#endif\n", "A# B# C#" },
		{ "#if VERSION(5, X) > CODE\nint a;\n#endif\n", "VERSION# X# CODE#" },
		{ "#if A\nint a;\n#elif B\nint b;\n#endif\n", "A B" },
		{ "#ifdef A\n#ifdef B\nint a;\n#endif\n#endif\n", "A B" },
		{ "struct {\n#ifdef A\nint a;\n#endif\n} b;\n", "A" },
		{ "#ifdef A\n/* int a; */\n#define X 1\n#endif\n", "" },
		{ "#ifdef A\nint a;\n", "" },
		{ "int a;\n#endif\n#ifdef B\nint b;\n#endif\n", "" },
		{ "#if !(!A)\nint a;\n#endif\n", "A" },
		{ "#if defined(A) && A > 2\nint a;\n#endif\n", "A#" },
		{ "#if\nint a;\n#endif\n", "" },
		{ "#if ) A (\nint a;\n#endif\n", "A#" },
	};
	struct lm_arena arena = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(tested(rows[i].text, &arena), rows[i].tested);
	lm_arena_release(&arena);
}

static void places_are_those_of_the_first_guard(void **state)
{
	struct lm_guarded g = text_of("int x;\n#ifdef A\nint a;\n#endif\n#if A > 1\nint b;\n#endif\n");
	struct lm_tested_list list = { 0 };
	struct lm_arena arena = { 0 };

	(void)state;
	lm_guards_tested(&g, &arena, &list);
	assert_int_equal(list.nr, 1);
	assert_int_equal(list.items[0].line, 14);	/* the one by value says more */
	assert_string_equal(list.items[0].path, "s.h");
	lm_arena_release(&arena);
}

static bool same_key(const char *text, const char *a, const char *b)
{
	struct lm_guarded g = text_of(text);
	struct lm_option_value va = { "A", a }, vb = { "A", b };
	struct lm_str ka = { 0 }, kb = { 0 };
	bool same;

	lm_guards_key(&g, &va, 1, &ka);
	lm_guards_key(&g, &vb, 1, &kb);
	same = !strcmp(lm_str_text(&ka), lm_str_text(&kb));
	lm_str_release(&ka);
	lm_str_release(&kb);
	return same;
}

static void keys_are_equal_only_where_the_text_is(void **state)
{
	(void)state;
	assert_true(same_key("int a;", NULL, "1"));
	assert_false(same_key("#ifdef A\nint a;\n#endif\n", NULL, "1"));
	assert_true(same_key("#if 0\n#ifdef A\nint a;\n#endif\n#endif\n", NULL, "1"));
	assert_true(same_key("#if defined(A) || 1\nint a;\n#endif\n", NULL, "1"));
	assert_true(same_key("#if defined(A) && 0\nint a;\n#else\nint b;\n#endif\n", NULL, "1"));
	assert_true(same_key("#if 1\nint a;\n#elif defined(A)\nint b;\n#endif\n", NULL, "1"));
	/* What is not known may be either: the value itself tells them apart. */
	assert_false(same_key("#if defined(A) && B\nint a;\n#endif\n", NULL, "1"));
	assert_false(same_key("#if A > 3\nint a;\n#endif\n", "2", "4"));
	assert_false(same_key("#ifdef A_MODULE\nint a;\n#endif\n#if IS_MODULE(A)\nint b;\n#endif\n", NULL, "m"));
	/* Inside what is not known, a guard counts. */
	assert_false(same_key("#if B\n#ifdef A\nint a;\n#endif\n#endif\n", NULL, "1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way_to_ask_is_known),
		cmocka_unit_test(places_are_those_of_the_first_guard),
		cmocka_unit_test(keys_are_equal_only_where_the_text_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
