/* What a rewritten record looks like, case by case; the real preprocessor judges one of them. */
#include "base/file.h"
#include "optimizer/body.h"
#include "output/rewrite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct lm_arena arena;

static int release(void **state)
{
	(void)state;
	lm_arena_release(&arena);
	return 0;
}

static struct lm_body body_of(const char *text)
{
	size_t close = strlen(text);
	struct lm_body b;

	while (text[close - 1] != '}')
		close--;
	assert_null(lm_body_read("t.h", text, strlen(text), (size_t)(strchr(text, '{') - text), close - 1, NULL, 0,
				 &arena, &b));
	assert_null(b.refusal);
	return b;
}

static uint32_t unit_named(const struct lm_body *b, const char *name, size_t len)
{
	for (uint32_t u = 0; u < b->nr_units; u++)
		if (strlen(b->units[u].name) == len && !strncmp(b->units[u].name, name, len))
			return u;
	fail_msg("no unit %.*s", (int)len, name);
	return 0;
}

/* "b !a c": the order; ! puts a barrier before it. */
static struct lm_order order_of(const struct lm_body *b, const char *names)
{
	struct lm_subject subject = { .body = b };
	struct lm_order o = lm_order_identity(&subject, &arena);
	uint32_t n = 0;

	while (*names) {
		size_t len;

		if (*names == '!')
			o.barrier[n] = (uint8_t)*names++ != 0;
		len = strcspn(names, " ");
		assert_true(n < b->nr_units);
		o.units[n++] = unit_named(b, names, len);
		names += len + (names[len] == ' ');
	}
	assert_int_equal(n, b->nr_units);
	return o;
}

static const struct lm_rewrite_opts padding = { .barrier = "CACHELINE_PADDING", .barrier_attr = "__aligned_line" };

static struct lm_rewrite rewritten(const char *text, const char *names, const struct lm_rewrite_opts *opts)
{
	struct lm_body b = body_of(text);
	struct lm_order o = order_of(&b, names);
	struct lm_rewrite r;
	struct lm_err *err = lm_rewrite(&b, &o, opts, &arena, &r);

	if (err)
		fail_msg("%s", err->msg);
	return r;
}

/* The text that the order gives, and the directives that it says it added and took. */
static void gives(const char *text, const char *names, const char *want, const char *added, const char *removed)
{
	struct lm_rewrite r = rewritten(text, names, &padding);
	char line[512] = "", gone[512] = "";

	assert_string_equal(r.text, want);
	assert_int_equal(r.len, strlen(want));
	for (uint32_t i = 0; i < r.nr_added_directives; i++)
		strcat(strcat(line, i ? "|" : ""), r.added_directives[i]);
	for (uint32_t i = 0; i < r.nr_removed_directives; i++)
		strcat(strcat(gone, i ? "|" : ""), r.removed_directives[i]);
	assert_string_equal(line, added);
	assert_string_equal(gone, removed);
}

static void comments_travel_and_blank_lines_close_up(void **state)
{
	(void)state;
	gives("struct s {\n\t/* of a */\n\tint a;\t/* too */\n\n\tint b;\n\n\t/* of c */\n\tint c;\n};\n", "b a c",
	      "struct s {\n\tint b;\n\n\t/* of a */\n\tint a;\t/* too */\n\n\t/* of c */\n\tint c;\n};\n", "", "");
	gives("struct s {\n\tint a;\n\n\t/* of b */\n\tint b;\n\n\tint c;\n\tint d;\n};\n", "a c d b",
	      "struct s {\n\tint a;\n\n\tint c;\n\tint d;\n\n\t/* of b */\n\tint b;\n};\n", "", "");
	gives("struct s {\n\tint a;\n\tint b;\n\tint c;\n};\n", "a c b",
	      "struct s {\n\tint a;\n\tint c;\n\tint b;\n};\n", "", "");
}

/* What the text has more than before is what the rewrite says it added. */
static void notes_are_accounted_for(const char *text, const struct lm_rewrite *r)
{
	struct lm_tokens old, now;
	size_t i = 0, added = 0;

	lm_body_tokens(text, 0, strlen(text), &arena, &old);
	lm_body_tokens(r->text, 0, r->len, &arena, &now);
	assert_int_equal(now.nr, old.nr + r->nr_added_tokens);
	for (size_t k = 0; k < now.nr; k++)
		if (i < old.nr && !strcmp(old.items[i], now.items[k]))
			i++;
		else
			assert_string_equal(now.items[k], r->added_tokens[added++]);
	assert_int_equal(i, old.nr);
}

/* `note` goes above the second unit. */
static void notes_give(const char *text, const char *names, const char *note, const char *want)
{
	const char *const notes[] = { NULL, note, NULL };
	const struct lm_rewrite_opts opts = { .notes = notes };
	struct lm_rewrite r = rewritten(text, names, &opts);

	assert_string_equal(r.text, want);
	assert_int_equal(r.nr_added_tokens, 1);
	notes_are_accounted_for(text, &r);
}

#define LONG_NOTE "Read and written often: keep away from first_of_them, second_of_them, which are written."

static void a_note_stands_above_its_member(void **state)
{
	(void)state;
	/* Moved, in its place, with a comment of its own, in a guard. */
	notes_give("struct s {\n\tint a;\n\tint b;\n\tint c;\n};\n", "a c b", "Why.",
		   "struct s {\n\tint a;\n\tint c;\n\t/* Why. */\n\tint b;\n};\n");
	notes_give("struct s {\n\tint a;\n\tint b;\n\tint c;\n};\n", "a b c", "Why.",
		   "struct s {\n\tint a;\n\t/* Why. */\n\tint b;\n\tint c;\n};\n");
	notes_give("struct s {\n\tint a;\n\t/* of b */\n\tint b;\n\tint c;\n};\n", "b a c", "Why.",
		   "struct s {\n\t/* Why. */\n\t/* of b */\n\tint b;\n\tint a;\n\tint c;\n};\n");
	notes_give("struct s {\n\tint a;\n#ifdef X\n\tint b;\n#endif\n\tint c;\n};\n", "a c b", "Why.",
		   "struct s {\n\tint a;\n\tint c;\n#ifdef X\n\t/* Why. */\n\tint b;\n#endif\n};\n");
	/* Behind a neighbour on its line, on one line, with other line ends. */
	notes_give("struct s {\n\tint a; int b;\n\tint c;\n};\n", "a b c", "Why.",
		   "struct s {\n\tint a;\n\t/* Why. */\n\tint b;\n\tint c;\n};\n");
	notes_give("struct s { int a; int b; int c; };\n", "a c b", LONG_NOTE,
		   "struct s { int a; int c; /* " LONG_NOTE " */ int b; };\n");
	notes_give("struct s {\r\n    int a;\r\n    int b;\r\n    int c;\r\n};\r\n", "b a c", LONG_NOTE,
		   "struct s {\r\n    /*\r\n     * Read and written often: keep away from first_of_them, second_of_them,\r\n"
		   "     * which are written.\r\n     */\r\n    int b;\r\n    int a;\r\n    int c;\r\n};\r\n");
}

static void headings_stay_where_they_are(void **state)
{
	(void)state;
	gives("struct s {\n\t/* hot */\n\n\tint a;\n\tint b;\n\n\t/* cold */\n\n\tlong c;\n\tint d;\n};\n", "a c b d",
	      "struct s {\n\t/* hot */\n\n\tint a;\n\n\t/* cold */\n\n\tlong c;\n\tint b;\n\tint d;\n};\n", "", "");
	gives("struct s {\n\tint a;\n\n\t/* cold */\n\n\tint c;\n\tlong b;\n};\n", "a b c",
	      "struct s {\n\tint a;\n\n\t/* cold */\n\n\tlong b;\n\tint c;\n};\n", "", "");
}

static void a_unit_takes_its_guard_along(void **state)
{
	const char *text = "struct s {\n\tint a;\n\n#ifdef X\n\tint x;\n\tint y;\n#endif\n\n\tint b;\n\tint c;\n};\n";

	(void)state;
	gives(text, "a y x b c",
	      "struct s {\n\tint a;\n\n#ifdef X\n\tint y;\n\tint x;\n#endif\n\n\tint b;\n\tint c;\n};\n", "", "");
	gives(text, "a x b y c",
	      "struct s {\n\tint a;\n\n#ifdef X\n\tint x;\n#endif\n\n\tint b;\n\n#ifdef X\n\tint y;\n#endif\n\n"
	      "\tint c;\n};\n", "#endif|#ifdef X", "");
	/* Both go: the old guard goes, too, and the two share the new one. */
	gives("struct s {\n\tint a;\n\n#ifdef X\n\tint x;\n\tint y;\n#endif\n\n\tint b;\n\tint c;\n\tint e;\n\tint d;\n};\n",
	      "a b c e x y d",
	      "struct s {\n\tint a;\n\n\tint b;\n\tint c;\n\tint e;\n\n#ifdef X\n\tint x;\n\tint y;\n#endif\n\n\tint d;\n};\n",
	      "", "");
}

static void a_guard_that_must_be_split_is_closed_and_opened_again(void **state)
{
	(void)state;
	gives("struct s {\n\tlong large_enough_to_stay;\n#ifdef X\t/* why */\n\tint x;\n\tint y;\n#endif /* X */\n\tint b;\n};\n",
	      "large_enough_to_stay x b y",
	      "struct s {\n\tlong large_enough_to_stay;\n#ifdef X\t/* why */\n\tint x;\n#endif /* X */\n\tint b;\n"
	      "#ifdef X\t/* why */\n\tint y;\n#endif /* X */\n};\n",
	      "#endif /* X */|#ifdef X /* why */", "");
}

static void a_unit_joins_a_guard_of_the_same_condition(void **state)
{
	(void)state;
	gives("struct s {\n#ifdef X\n\tint x;\n#endif\n\tint a;\n\tint b;\n#if defined(X)\n\tint y;\n\tint z;\n#endif\n};\n",
	      "a b y x z",
	      "struct s {\n\tint a;\n\tint b;\n#if defined(X)\n\tint y;\n\tint x;\n\tint z;\n#endif\n};\n",
	      "", "#endif|#ifdef X");
}

static void branches_get_the_condition_they_had(void **state)
{
	(void)state;
	gives("struct s {\n#ifdef X\n\tint x;\n#else\n\tint y;\n\tint z;\n#endif\n\tint a;\n\tint b;\n};\n", "x y a z b",
	      "struct s {\n#ifdef X\n\tint x;\n#else\n\tint y;\n#endif\n\tint a;\n#ifndef X\n\tint z;\n#endif\n\tint b;\n};\n",
	      "#endif|#ifndef X", "");
	gives("struct s {\n#if A > 2\n\tint x;\n#elif defined(B)\n\tint y;\n\tint y2;\n#else\n\tint z;\n\tint z2;\n"
	      "#endif /* A */\n\tint a;\n\tint b;\n};\n", "x y z a y2 b z2",
	      "struct s {\n#if A > 2\n\tint x;\n#elif defined(B)\n\tint y;\n#else\n\tint z;\n#endif /* A */\n\tint a;\n"
	      "#if !(A > 2) && defined(B)\n\tint y2;\n#endif /* !(A > 2) && defined(B) */\n\tint b;\n"
	      "#if !(A > 2) && !defined(B)\n\tint z2;\n#endif /* !(A > 2) && !defined(B) */\n};\n",
	      "#endif /* !(A > 2) && !defined(B) */|#endif /* !(A > 2) && defined(B) */|#if !(A > 2) && !defined(B)|"
	      "#if !(A > 2) && defined(B)", "");
}

static void a_chain_split_between_its_branches_loses_the_else(void **state)
{
	(void)state;
	gives("struct s {\n\tint a;\n#ifdef X\n\tlong large_x;\n#else\n\tlong large_y;\n#endif\n};\n", "large_x a large_y",
	      "struct s {\n#ifdef X\n\tlong large_x;\n#endif\n\tint a;\n#ifndef X\n\tlong large_y;\n#endif\n};\n",
	      "#endif|#ifndef X", "#else");
}

static void a_comment_on_an_emptied_guard_goes_along(void **state)
{
	(void)state;
	gives("struct s {\n\tint a;\n\n\t/* only with X */\n#ifdef X\n\tint x;\n#endif\n\n\tint b;\n\n\tint c;\n};\n",
	      "a b x c",
	      "struct s {\n\tint a;\n\n\tint b;\n\n\t/* only with X */\n#ifdef X\n\tint x;\n#endif\n\n\tint c;\n};\n",
	      "", "");
}

static void fences_stay_in_place(void **state)
{
	(void)state;
	gives("struct s {\n\tstruct large_enough_to_prefer a;\n\n\tCACHELINE_PADDING(_p_);\n\n\tint b;\n};\n",
	      "CACHELINE_PADDING(_p_) a b",
	      "struct s {\n\tCACHELINE_PADDING(_p_);\n\n\tstruct large_enough_to_prefer a;\n\tint b;\n};\n", "", "");
}

static void units_in_the_middle_of_a_line_get_their_own(void **state)
{
	(void)state;
	gives("struct s {\n\tint a; int b; // both\n\tint c;\n};\n", "b a c",
	      "struct s {\n\tint b; // both\n\tint a;\n\tint c;\n};\n", "", "");
	gives("struct s { int a;\n  int b; };\n", "b a", "struct s {\n  int b;\n  int a;\n};\n", "", "");
	gives("struct s { int a; int b; /* x */ };\n", "b a", "struct s { int b; /* x */ int a; };\n", "", "");
	gives("struct s {int a;/* x */int b;  };\n", "a b", "struct s {int a;/* x */int b;  };\n", "", "");
	gives("struct s {int a;int b;};\n", "b a", "struct s {int b; int a;};\n", "", "");
}

static void crlf_files_stay_crlf(void **state)
{
	(void)state;
	gives("struct s {\r\n\tint a;\r\n#ifdef X\r\n\tint x;\r\n\tint y;\r\n#endif\r\n\tint b;\r\n\tint c; }", "a x b y c",
	      "struct s {\r\n\tint a;\r\n#ifdef X\r\n\tint x;\r\n#endif\r\n\tint b;\r\n#ifdef X\r\n\tint y;\r\n#endif\r\n"
	      "\tint c; }", "#endif|#ifdef X", "");
}

static void barriers_are_added_in_the_projects_macro(void **state)
{
	struct lm_rewrite r;

	(void)state;
	gives("struct s {\n\tint _pad1_;\n#ifdef X\n\tint x;\n\tint y;\n#endif\n};\n", "_pad1_ x !y",
	      "struct s {\n\tint _pad1_;\n#ifdef X\n\tint x;\n\tCACHELINE_PADDING(_pad2_);\n\tint y;\n#endif\n};\n", "", "");
	r = rewritten("struct s { int a; int b; };", "a !b", &padding);
	assert_string_equal(r.text, "struct s { int a; CACHELINE_PADDING(_pad1_); int b; };");
	assert_int_equal(r.nr_added_tokens, 5);
	assert_int_equal(r.nr_moved, 0);

	const struct lm_rewrite_opts attr = { .barrier_attr = "__aligned(64)" };

	r = rewritten("struct s {\n\tint a;\n\tint b[2];\t/* x */\n};\n", "!b a", &attr);
	assert_string_equal(r.text, "struct s {\n\tint b[2] __aligned(64);\t/* x */\n\tint a;\n};\n");
	assert_int_equal(r.nr_added_tokens, 4);
}

static void fails(const char *text, const char *names, const struct lm_rewrite_opts *opts)
{
	struct lm_body b = body_of(text);
	struct lm_order o = order_of(&b, names);
	struct lm_rewrite r = { .len = 77 };
	struct lm_err *err = lm_rewrite(&b, &o, opts, &arena, &r);

	assert_non_null(err);
	assert_int_equal(err->code, LM_ERR_BUG);
	assert_int_equal(r.len, 77);
	lm_err_free(err);
}

static void a_barrier_without_a_way_to_write_it_is_a_bug(void **state)
{
	const struct lm_rewrite_opts none = { 0 }, attr = { .barrier_attr = "__aligned(64)" };

	(void)state;
	fails("struct s { int a; int b; };", "a !b", &none);
	fails("struct s { int a; int b, c; };", "a !b", &attr);
	fails("struct s { int a; int b:3; };", "a !b", &attr);
}

static void few_units_move_and_large_ones_stay(void **state)
{
	struct lm_rewrite r = rewritten("struct s {\n\tint a;\n\tint b;\n\tint c;\n\tint d;\n};\n", "b c d a", &padding);

	(void)state;
	assert_int_equal(r.nr_moved, 1);
	assert_int_equal(r.moved[0], 0);
	r = rewritten("struct s {\n\tint a;\n\tstruct some_large_thing b;\n};\n", "b a", &padding);
	assert_int_equal(r.nr_moved, 1);
	assert_int_equal(r.moved[0], 0);
}

/* ---- the real preprocessor ---- */

static const char chains[] =
	"struct s {\n\tint a;\n#if defined(X) && X > 1\n\tint b;\n\tint c;\n#elif defined(Y) /* y */\n\tint d;\n"
	"#ifndef X\n\tint e;\n\tint f;\n#else\n\tint g;\n#endif\n\tint h;\n#elif defined(Z)\n\tint i;\n\tint j;\n#else\n"
	"\tint k;\n\tint l;\n#endif\n\tint m;\n\tint n;\n};\n";

/* The members that gcc -E leaves, one letter each. */
static void members_by_gcc(const char *dir, const char *text, unsigned mask, char *out)
{
	char command[1024], line[256];
	char *path = lm_arena_printf(&arena, "%s/s.h", dir);
	FILE *pipe;

	assert_null(lm_file_write(path, text, strlen(text)));
	snprintf(command, sizeof(command), "gcc -E -P %s %s %s '%s'", mask & 3 ? mask & 2 ? "-DX=2" : "-DX=1" : "",
		 mask & 4 ? "-DY" : "", mask & 8 ? "-DZ" : "", path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		const char *at = strstr(line, "int ");

		if (at)
			*out++ = at[4];
	}
	*out = 0;
	assert_int_equal(pclose(pipe), 0);
}

static void the_real_preprocessor_sees_the_order(void **state)
{
	static const char *const orders[] = { "e b k d n i a c g h f l m j", "n m l k j i h g f e d c b a",
					      "a b m c d e n f g h i j k l", "a k b c d e f g h i j l m n" };
	char *dir;

	(void)state;
	assert_null(lm_temp_dir(&arena, &dir));
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		struct lm_rewrite r = rewritten(chains, orders[i], &padding);

		for (unsigned mask = 0; mask < 16; mask++) {
			char before[64], after[64], want[64] = "";

			members_by_gcc(dir, chains, mask, before);
			members_by_gcc(dir, r.text, mask, after);
			for (const char *p = orders[i]; *p; p++)
				if (*p != ' ' && strchr(before, *p))
					strncat(want, p, 1);
			assert_string_equal(after, want);
			assert_true(strlen(want) > 3);
		}
	}
	lm_remove_tree(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(comments_travel_and_blank_lines_close_up, release),
		cmocka_unit_test_teardown(a_note_stands_above_its_member, release),
		cmocka_unit_test_teardown(headings_stay_where_they_are, release),
		cmocka_unit_test_teardown(a_unit_takes_its_guard_along, release),
		cmocka_unit_test_teardown(a_guard_that_must_be_split_is_closed_and_opened_again, release),
		cmocka_unit_test_teardown(a_unit_joins_a_guard_of_the_same_condition, release),
		cmocka_unit_test_teardown(branches_get_the_condition_they_had, release),
		cmocka_unit_test_teardown(a_chain_split_between_its_branches_loses_the_else, release),
		cmocka_unit_test_teardown(a_comment_on_an_emptied_guard_goes_along, release),
		cmocka_unit_test_teardown(fences_stay_in_place, release),
		cmocka_unit_test_teardown(units_in_the_middle_of_a_line_get_their_own, release),
		cmocka_unit_test_teardown(crlf_files_stay_crlf, release),
		cmocka_unit_test_teardown(barriers_are_added_in_the_projects_macro, release),
		cmocka_unit_test_teardown(a_barrier_without_a_way_to_write_it_is_a_bug, release),
		cmocka_unit_test_teardown(few_units_move_and_large_ones_stay, release),
		cmocka_unit_test_teardown(the_real_preprocessor_sees_the_order, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
