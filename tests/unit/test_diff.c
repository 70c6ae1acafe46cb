/* The diffs: git apply and patch -p1 are the judges. */
#include "base/arena.h"
#include "base/file.h"
#include "output/diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
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

static void run(const char *dir, const char *const *argv)
{
	struct lm_str errors = { 0 };
	int status;

	lm_run((char *const *)argv, dir, 60, 4096, &errors, &status);
	if (status)
		fail_msg("%s ended with %d: %s", argv[0], status, lm_str_text(&errors));
	lm_str_release(&errors);
}

static void put(const char *dir, const char *path, const char *text)
{
	char *full = lm_arena_printf(&arena, "%s/%s", dir, path), *slash = strrchr(full, '/');

	*slash = 0;
	assert_null(lm_make_dirs(full));
	*slash = '/';
	assert_null(lm_file_write(full, text, strlen(text)));
}

static void check_applies(const char *path, const char *old_text, const char *new_text, const char *diff,
			  const char *const *argv)
{
	char *dir, *text;
	size_t len;

	assert_null(lm_temp_dir(&arena, &dir));
	put(dir, path, old_text);
	put(dir, "the.patch", diff);
	run(dir, argv);
	assert_null(lm_file_read(lm_arena_printf(&arena, "%s/%s", dir, path), "header", 1 << 20, &arena, &text, &len));
	assert_string_equal(text, new_text);
	lm_remove_tree(dir);
}

static void applies(const char *path, const char *old_text, const char *new_text)
{
	static const char *const git[] = { "git", "apply", "the.patch", NULL };
	static const char *const patch[] = { "patch", "-p1", "-s", "-i", "the.patch", NULL };
	struct lm_str diff = { 0 };

	assert_null(lm_diff(path, old_text, strlen(old_text), new_text, strlen(new_text), &diff));
	check_applies(path, old_text, new_text, lm_str_text(&diff), git);
	check_applies(path, old_text, new_text, lm_str_text(&diff), patch);
	lm_str_release(&diff);
}

#define BEFORE "/* of s */\n\nstruct s {\n\tint a;\n\tint b;\n\tint c;\n\tint d;\n\tint e;\n\tint f;\n};\n"
#define AFTER "/* of s */\n\nstruct s {\n\tint a;\n\tint b;\n\tint c;\n\tint d;\n\tint f;\n\tint e;\n};\n"

static void the_diff_has_three_lines_around_and_names_the_record(void **state)
{
	struct lm_str diff = { 0 };
	const char *hunk;

	(void)state;
	assert_null(lm_diff("include/a.h", BEFORE, strlen(BEFORE), AFTER, strlen(AFTER), &diff));
	assert_non_null(strstr(diff.text, "--- a/include/a.h\n+++ b/include/a.h\n"));
	hunk = strstr(diff.text, "@@");
	assert_non_null(hunk);
	assert_string_equal(hunk, "@@ -5,6 +5,6 @@ struct s {\n \tint b;\n \tint c;\n \tint d;\n-\tint e;\n \tint f;\n"
				  "+\tint e;\n };\n");
	lm_str_release(&diff);
}

static void equal_texts_have_no_diff(void **state)
{
	struct lm_str diff = { 0 };

	(void)state;
	assert_null(lm_diff("a.h", BEFORE, strlen(BEFORE), BEFORE, strlen(BEFORE), &diff));
	assert_int_equal(diff.len, 0);
}

static void git_and_patch_take_it(void **state)
{
	(void)state;
	applies("include/linux/a.h", BEFORE, AFTER);
}

static void a_file_without_last_newline_applies(void **state)
{
	(void)state;
	applies("a.h", "struct s {\n\tint a;\n\tint b;\n}; /* end */", "struct s {\n\tint b;\n\tint a;\n}; /* end */");
	applies("a.h", "struct s { int a; int b; };", "struct s { int b; int a; };");
}

static void crlf_applies(void **state)
{
	(void)state;
	applies("a.h", "struct s {\r\n\tint a;\r\n\tint b;\r\n};\r\n", "struct s {\r\n\tint b;\r\n\tint a;\r\n};\r\n");
}

static void odd_paths_apply(void **state)
{
	(void)state;
	applies("with blank/a b.h", BEFORE, AFTER);
	applies("with\ttab/a\"b.h", BEFORE, AFTER);
	applies("h\xc3\xa4nde/a.h", BEFORE, AFTER);
	applies("back\\slash/a.h", BEFORE, AFTER);
}

static void bytes_that_are_no_text_do_not_make_a_binary_diff(void **state)
{
	struct lm_str diff = { 0 };

	(void)state;
	assert_null(lm_diff("a.h", "a\0b\nx\n", 6, "x\na\0b\n", 6, &diff));
	assert_null(strstr(diff.text, "Binary"));
	assert_non_null(strstr(diff.text, "@@"));
	lm_str_release(&diff);
}

static void the_root_of_a_work_tree_is_found(void **state)
{
	static const char *const init[] = { "git", "init", "-q", ".", NULL };
	struct lm_str root = { 0 };
	char *dir;

	(void)state;
	assert_null(lm_temp_dir(&arena, &dir));
	dir = lm_real_path(dir, &arena);
	put(dir, "include/linux/a.h", "\n");
	lm_git_root(lm_arena_printf(&arena, "%s/include/linux/a.h", dir), &root);
	assert_string_not_equal(lm_str_text(&root), dir);
	lm_str_clear(&root);
	run(dir, init);
	lm_git_root(lm_arena_printf(&arena, "%s/include/linux/a.h", dir), &root);
	assert_string_equal(lm_str_text(&root), dir);
	lm_str_clear(&root);
	lm_git_root(lm_arena_printf(&arena, "%s/include", dir), &root);
	assert_string_equal(lm_str_text(&root), dir);
	lm_str_release(&root);
	lm_remove_tree(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_diff_has_three_lines_around_and_names_the_record, release),
		cmocka_unit_test_teardown(equal_texts_have_no_diff, release),
		cmocka_unit_test_teardown(git_and_patch_take_it, release),
		cmocka_unit_test_teardown(a_file_without_last_newline_applies, release),
		cmocka_unit_test_teardown(crlf_applies, release),
		cmocka_unit_test_teardown(odd_paths_apply, release),
		cmocka_unit_test_teardown(bytes_that_are_no_text_do_not_make_a_binary_diff, release),
		cmocka_unit_test_teardown(the_root_of_a_work_tree_is_found, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
