/* How the text between the braces is cut into units. */
#include "optimizer/body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct lm_arena arena;

static int release(void **state)
{
	(void)state;
	lm_arena_release(&arena);
	return 0;
}

/* An extent of the first `what` in text, from its start to its end. */
static struct lm_extent extent_of(const char *text, const char *what, bool bit_field)
{
	const char *at = strstr(text, what);

	assert_non_null(at);
	return (struct lm_extent){ .begin = (size_t)(at - text), .end = (size_t)(at - text) + strlen(what),
				   .bit_field = bit_field };
}

static struct lm_err *try_read(const char *text, const struct lm_extent *extents, size_t nr, struct lm_body *out)
{
	size_t close = strlen(text);

	while (text[close - 1] != '}')
		close--;
	return lm_body_read("t.h", text, strlen(text), (size_t)(strchr(text, '{') - text), close - 1, extents, nr,
			    &arena, out);
}

static struct lm_body read_with(const char *text, const struct lm_extent *extents, size_t nr)
{
	struct lm_body b;
	struct lm_err *err = try_read(text, extents, nr, &b);
	size_t at;

	if (err)
		fail_msg("%s", err->msg);
	at = b.begin;
	for (uint32_t p = 0; p < b.nr_pieces; p++) {
		assert_int_equal(b.pieces[p].begin, at);
		assert_true(b.pieces[p].end > at);
		at = b.pieces[p].end;
	}
	assert_int_equal(at, b.end);
	for (uint32_t u = 0; u < b.nr_units; u++)
		assert_int_equal(lm_body_unit_at(&b, b.units[u].decl_begin), u);
	return b;
}

static struct lm_body read_text(const char *text)
{
	return read_with(text, NULL, 0);
}

/* The units' names, and their text, in a row. */
static void check_units(const struct lm_body *b, const char *names)
{
	char got[1024] = "";

	for (uint32_t u = 0; u < b->nr_units; u++) {
		strcat(got, u ? "|" : "");
		strcat(got, b->units[u].name);
	}
	assert_string_equal(got, names);
	assert_null(b->refusal);
}

static void check_text(const struct lm_body *b, uint32_t unit, const char *text)
{
	assert_true(unit < b->nr_units);
	assert_string_equal(lm_arena_strndup(&arena, b->text + b->units[unit].begin,
					     b->units[unit].end - b->units[unit].begin), text);
}

static void refuses(const char *text, const char *reason)
{
	struct lm_body b = read_text(text);

	assert_non_null(b.refusal);
	assert_non_null(strstr(b.refusal, reason));
}

static void fails(const char *text, const char *message)
{
	struct lm_body b = { .nr_units = 77 };
	struct lm_err *err = try_read(text, NULL, 0, &b);

	assert_non_null(err);
	assert_int_equal(err->code, LM_ERR_INPUT);
	assert_int_equal(b.nr_units, 77);
	if (!strstr(err->msg, message))
		fail_msg("'%s' does not say '%s'", err->msg, message);
	lm_err_free(err);
}

static void comments_above_and_behind_belong_to_the_unit(void **state)
{
	struct lm_body b = read_text("struct s {\n"
				     "\t/* one */\n\t/* two */\n\tint a;\t/* three\n\t\t * four */\n\t\t// five\n"
				     "\t// six\n\tint b;\n};\n");

	(void)state;
	check_units(&b, "a|b");
	check_text(&b, 0, "\t/* one */\n\t/* two */\n\tint a;\t/* three\n\t\t * four */\n\t\t// five\n");
	check_text(&b, 1, "\t// six\n\tint b;\n");
	assert_int_equal(b.units[1].line, 8);
}

static void a_comment_with_a_blank_line_below_is_a_heading(void **state)
{
	struct lm_body b = read_text("struct s {\n\t/* all */\n\n\t/* a's */\n\tint a;\n\t/* end */\n};\n");

	(void)state;
	check_units(&b, "a");
	check_text(&b, 0, "\t/* a's */\n\tint a;\n");
	assert_int_equal(b.pieces[1].kind, LM_PIECE_COMMENT);
	assert_int_equal(b.pieces[b.nr_pieces - 1].kind, LM_PIECE_COMMENT);
}

static void kernel_doc_marks_and_comments_behind_the_brace_stay(void **state)
{
	struct lm_body b = read_text("struct s { /* of s */\n\tint a;\n\t/* private: */\n\tint b;\n};\n");

	(void)state;
	check_units(&b, "a|b");
	check_text(&b, 0, "\tint a;\n");
	check_text(&b, 1, "\tint b;\n");
}

static void declarators_name_the_unit(void **state)
{
	struct lm_body b = read_text("struct s {\n"
		"int *a, b[2];\n" "void (*c)(int x, int y);\n" "int (*(*d)(void))[3];\n" "struct { int x; } e;\n"
		"union { struct { long f; }; int y; };\n" "char g[sizeof(struct { int q; })];\n"
		"__attribute__((aligned(8))) int h;\n" "struct t i ____cacheline_aligned_in_smp;\n"
		"struct t __rcu *j __guarded_by(&lock);\n" "enum { A, B } k;\n" "__extension__ long long l;\n"
		"_Alignas(64) int m;\n" "unsigned : 0;\n" "typeof(int) n;\n" "};\n");

	(void)state;
	check_units(&b, "a|c|d|e|f|g|h|i|j|k|l|m|unsigned : 0|n");
	assert_int_equal(b.units[0].nr_declarators, 2);
	assert_int_equal(b.units[1].nr_declarators, 1);
	assert_int_equal(b.units[4].nr_declarators, 1);
}

static void equal_names_get_numbers(void **state)
{
	struct lm_body b = read_text("struct s {\n#ifdef A\nint x;\n#else\nlong x;\n#endif\nint x;\n};\n");

	(void)state;
	check_units(&b, "x|x#2|x#3");
}

static void neighbouring_bit_fields_are_one_unit(void **state)
{
	struct lm_body b = read_text("struct s {\n\tint a;\n\t/* flags */\n\tunsigned x:1;\n\n\t/* more */\n"
				     "\tunsigned y:1, z:2;\n\tunsigned :0;\n\tint b;\n\tint c:3;\n};\n");

	(void)state;
	check_units(&b, "a|x|b|c");
	assert_true(b.units[1].bit_run && b.units[3].bit_run && !b.units[0].bit_run);
	assert_int_equal(b.units[1].nr_declarators, 4);
}

static void bit_fields_that_a_guard_joins_are_one_unit(void **state)
{
	struct lm_body b = read_text("struct s {\n\tunsigned x:1;\n#ifdef A\n\tunsigned y:1;\n#endif\n\tint b;\n};\n");

	(void)state;
	check_units(&b, "x|b");
	assert_int_equal(b.nr_guards, 0);
	/* Without A, x and z are neighbours. */
	b = read_text("struct s {\n\tunsigned x:1;\n#ifdef A\n\tint y;\n#endif\n\tunsigned z:1;\n\tint b;\n};\n");
	check_units(&b, "x|b");
	/* Here something always stands between them. */
	b = read_text("struct s {\n\tunsigned x:1;\n#ifdef A\n\tint y;\n#else\n\tlong w;\n#endif\n\tunsigned z:1;\n};\n");
	check_units(&b, "x|y|w|z");
	assert_int_equal(b.nr_guards, 1);
}

static void a_bit_field_made_by_a_macro_is_known_from_its_extent(void **state)
{
	const char *text = "struct s {\n\tFLAG(x);\n\tint y:1;\n\tint z;\n};\n";
	struct lm_extent e = extent_of(text, "FLAG(x)", true);
	struct lm_body b = read_with(text, &e, 1);

	(void)state;
	check_units(&b, "FLAG(x)|z");
	b = read_text(text);
	check_units(&b, "FLAG(x)|y|z");
}

static void macros_without_semicolon_end_where_clang_or_the_line_says(void **state)
{
	const char *text = "struct s {\n\tRES(1) RES(2)\n\tint a;\n\tLONE\n\tint b;\n};\n";
	struct lm_extent e[] = { extent_of(text, "RES(1)", false), extent_of(text, "RES(2)", false),
				 extent_of(text, "LONE", false), extent_of(text, "int a", false) };
	struct lm_body b = read_with(text, e, 4);

	(void)state;
	check_units(&b, "RES(1)|RES(2)|a|LONE|b");
	/* No configuration sees these. */
	b = read_text("struct s {\n\tRES(1)\n\t/* of a */\n\tint a;\n\tDECLARE_BITMAP(m, 4);\n\tRES(2)\n};\n");
	check_units(&b, "RES(1)|a|DECLARE_BITMAP(m, 4)|RES(2)");
	/* An attribute on a line of its own is no member. */
	b = read_text("struct s {\n\t__printf(1, 2)\n\tint (*p)(const char *, ...);\n\tRTE_ALIGNAS(8)\n\tint q;\n};\n");
	check_units(&b, "p|q");
	/* A macro that made nothing where the next member is seen may be an attribute, too. */
	text = "struct s {\n\tGUARDED(lock)\n\tint a;\n};\n";
	e[0] = extent_of(text, "int a", false);
	b = read_with(text, e, 1);
	assert_int_equal(b.nr_units, 1);
}

static void a_field_that_reaches_over_several_lines_is_one_unit(void **state)
{
	const char *text = "struct s {\n\tint a;\n\tOPEN\n\tint b;\n\tint c;\n\tCLOSE;\n\tint d;\n};\n";
	struct lm_extent e = extent_of(text, "OPEN\n\tint b;\n\tint c;\n\tCLOSE", false);
	struct lm_body b = read_with(text, &e, 1);

	(void)state;
	assert_int_equal(b.nr_units, 3);
	check_text(&b, 1, "\tOPEN\n\tint b;\n\tint c;\n\tCLOSE;\n");
}

static void fences_and_groups_are_known_by_name(void **state)
{
	struct lm_body b = read_text("struct s {\n\tint a;\n\tCACHELINE_PADDING(_pad1_);\n"
		"\t__cacheline_group_begin(g);\n\tint b;\n\t__cacheline_group_end(g);\n\tchar mark[0];\n"
		"\trandomized_struct_fields_start\n\tint c;\n\trandomized_struct_fields_end\n};\n");

	(void)state;
	assert_int_equal(b.nr_units, 9);
	for (uint32_t u = 0; u < b.nr_units; u++)
		assert_int_equal(b.units[u].fence, u != 0 && u != 3 && u != 7);
	assert_true(b.units[2].group_begin && !b.units[2].group_end);
	assert_true(b.units[4].group_end && !b.units[4].group_begin);
	assert_string_equal(b.units[5].name, "mark");
	assert_string_equal(b.units[6].name, "randomized_struct_fields_start");
}

static void asserts_defines_and_stray_semicolons_go_with_a_member(void **state)
{
	struct lm_body b = read_text("struct s {\n#define F 1\n\tint a;;\n\t_Static_assert(1, \"x\");\n"
				     "\tint b;\n\t/* of b */\n#define B_MASK \\\n\t7\n\tint c;\n};\n");

	(void)state;
	check_units(&b, "a|b|c");
	check_text(&b, 0, "#define F 1\n\tint a;;\n\t_Static_assert(1, \"x\");\n");
	check_text(&b, 1, "\tint b;\n\t/* of b */\n#define B_MASK \\\n\t7\n");
	assert_int_equal(b.text[b.units[0].decl_end - 1], ';');
}

static void a_macro_is_one_unit_with_the_members_behind_it_that_use_it(void **state)
{
	struct lm_body b = read_text("struct s {\n\tint a;\n#define N 2\n\tint b;\n\tint c[N];\n#undef N\n\tint d;\n};\n");

	(void)state;
	check_units(&b, "a|b|d");
	/* Definitions that exclude each other do not count as uses. */
	assert_null(read_text("struct s {\n#ifdef A\n\tint a;\n#define F 1\n#else\n#define F 2\n#endif\n\tint b;\n};\n").refusal);
	check_text(&b, 1, "#define N 2\n\tint b;\n\tint c[N];\n#undef N\n");
}

static void what_cannot_be_moved_is_refused(void **state)
{
	(void)state;
	refuses("struct s {\n\tint a;\n#define N 2\n#ifdef A\n\tint b[N];\n#endif\n};\n", "macro defined at line 3");
	refuses("struct s {\n\tint a;\n#include \"b.h\"\n\tint c;\n};\n", "#include inside the record at line 3");
	refuses("struct s {\n#pragma pack(1)\n\tint a;\n};\n", "#pragma inside the record at line 2");
	refuses("struct s {\n\tunion {\n#pragma pack(1)\n\tint a; };\n};\n", "#pragma inside the record at line 3");
	refuses("struct s {\n\tint a; \\\n\tint b;\n};\n", "backslash");
	refuses("struct s {\n#ifdef A\n\tunion {\n#else\n\tint c; int d\n#endif\n\t; };\n};\n", "bracket");
}

static void guards_form_a_tree(void **state)
{
	struct lm_body b = read_text("struct s {\n#ifdef A /* a */\n\tint a;\n# if defined B \\\n\t&& (C>2) // x\n"
		"\tint b;\n# endif\n#elif !defined(D)\n\tint d;\n#elifndef E\n\tint e;\n#else\n\tint f;\n#endif /* A */\n"
		"\tint g;\n};\n");
	const struct lm_guard *g = b.guards;

	(void)state;
	check_units(&b, "a|b|d|e|f|g");
	assert_int_equal(b.nr_guards, 2);
	assert_int_equal(g[0].parent, LM_NONE);
	assert_int_equal(g[0].nr_branches, 4);
	assert_int_equal(g[1].parent, 0);
	assert_int_equal(g[1].line, 4);
	assert_string_equal(g[0].branches[0].condition, "defined(A)");
	assert_string_equal(g[0].branches[0].simple, "A");
	assert_string_equal(g[1].branches[0].condition, "defined(B) && (C>2)");
	assert_null(g[1].branches[0].simple);
	assert_string_equal(g[0].branches[1].condition, "!defined(D)");
	assert_true(g[0].branches[1].negated);
	assert_string_equal(g[0].branches[2].condition, "!defined(E)");
	assert_string_equal(g[0].branches[3].condition, "");
	assert_int_equal(b.units[1].guard, 1);
	assert_int_equal(b.units[4].guard, 0);
	assert_int_equal(b.units[4].branch, 3);
	assert_int_equal(b.units[5].guard, LM_NONE);
}

static void guards_in_braces_and_torn_declarations_stay_in_their_unit(void **state)
{
	struct lm_body b = read_text("struct s {\n\tunion {\n#ifdef A\n\t\tint a;\n#endif\n\t\tint b;\n\t};\n"
				     "\tint c\n#ifdef A\n\t, d\n#endif\n\t;\n\t/* of e */\n#ifdef A\n\tint\n#else\n\tlong\n"
				     "#endif\n\te;\n\tint f;\n};\n");

	(void)state;
	check_units(&b, "a|c|e|f");
	assert_int_equal(b.nr_guards, 0);
	check_text(&b, 2, "\t/* of e */\n#ifdef A\n\tint\n#else\n\tlong\n#endif\n\te;\n");
}

static void several_units_on_a_line_split_it(void **state)
{
	struct lm_body b = read_text("struct s { int a; /* a */ int b; };");

	(void)state;
	check_units(&b, "a|b");
	check_text(&b, 0, " int a; /* a */");
	check_text(&b, 1, " int b;");
	assert_false(b.crlf);
}

static void crlf_is_seen(void **state)
{
	struct lm_body b = read_text("struct s {\r\n\tint a; // x\r\n#ifdef A\r\n\tint b;\r\n#endif\r\n};\r\n");

	(void)state;
	check_units(&b, "a|b");
	assert_true(b.crlf);
	check_text(&b, 0, "\tint a; // x\r\n");
}

static void comments_ask_for_things(void **state)
{
	struct lm_body b = read_text("struct s {\n\tint a; /* must be\n\t\t * First */\n\tint b; /* same Cache Line as a */\n"
				     "\tint c; /* linemate: pin */\n\tint d; /* first of all */\n};\n");

	(void)state;
	assert_true(b.units[0].comment_first && !b.units[0].comment_layout);
	assert_true(b.units[1].comment_layout && !b.units[1].comment_first);
	assert_true(b.units[2].pin_comment && !b.units[0].pin_comment);
	assert_false(b.units[3].comment_first);
}

static void what_is_no_body_is_an_error_with_its_line(void **state)
{
	(void)state;
	fails("struct s {\n\tint a;\n#endif\n};\n", "t.h:3: #endif without an #if");
	fails("struct s {\n\tint a;\n#ifdef A\n};\n", "t.h:3: this guard has no #endif");
	fails("struct s {\n#ifdef A\n#else\n#elif B\n#endif\n};\n", "t.h:4: #elif behind the #else");
	fails("struct s {\n#if\n#endif\n};\n", "t.h:2: #if without a condition");
	fails("struct s {\n\tint a\n};\n", "t.h:2: this declaration has no end");
	fails("struct s {\n\tint a; /* b \n}", "t.h:2: this comment has no end");
	fails("struct s {\n\tint a);\n};\n", "t.h:2: ')' closes nothing");
}

static void tokens_are_a_sorted_multiset(void **state)
{
	const char *text = "b  a /* x  y */ \"s t\"\n# if  A \\\n B /* c */\n0x1e+2 b;\n#endif";
	struct lm_tokens t;

	(void)state;
	lm_body_tokens(text, 0, strlen(text), &arena, &t);
	assert_int_equal(t.nr, 7);
	assert_string_equal(t.items[0], "\"s t\"");
	assert_string_equal(t.items[1], "/* x  y */");
	assert_string_equal(t.items[2], "0x1e+2");
	assert_string_equal(t.items[5], "b");
	assert_string_equal(t.items[6], "b");
	assert_int_equal(t.nr_directives, 2);
	assert_string_equal(t.directives[0], "# if A B /* c */");
	assert_string_equal(t.directives[1], "#endif");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(comments_above_and_behind_belong_to_the_unit, release),
		cmocka_unit_test_teardown(a_comment_with_a_blank_line_below_is_a_heading, release),
		cmocka_unit_test_teardown(kernel_doc_marks_and_comments_behind_the_brace_stay, release),
		cmocka_unit_test_teardown(declarators_name_the_unit, release),
		cmocka_unit_test_teardown(equal_names_get_numbers, release),
		cmocka_unit_test_teardown(neighbouring_bit_fields_are_one_unit, release),
		cmocka_unit_test_teardown(bit_fields_that_a_guard_joins_are_one_unit, release),
		cmocka_unit_test_teardown(a_bit_field_made_by_a_macro_is_known_from_its_extent, release),
		cmocka_unit_test_teardown(macros_without_semicolon_end_where_clang_or_the_line_says, release),
		cmocka_unit_test_teardown(a_field_that_reaches_over_several_lines_is_one_unit, release),
		cmocka_unit_test_teardown(fences_and_groups_are_known_by_name, release),
		cmocka_unit_test_teardown(asserts_defines_and_stray_semicolons_go_with_a_member, release),
		cmocka_unit_test_teardown(a_macro_is_one_unit_with_the_members_behind_it_that_use_it, release),
		cmocka_unit_test_teardown(what_cannot_be_moved_is_refused, release),
		cmocka_unit_test_teardown(guards_form_a_tree, release),
		cmocka_unit_test_teardown(guards_in_braces_and_torn_declarations_stay_in_their_unit, release),
		cmocka_unit_test_teardown(several_units_on_a_line_split_it, release),
		cmocka_unit_test_teardown(crlf_is_seen, release),
		cmocka_unit_test_teardown(comments_ask_for_things, release),
		cmocka_unit_test_teardown(what_is_no_body_is_an_error_with_its_line, release),
		cmocka_unit_test_teardown(tokens_are_a_sorted_multiset, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
