/* test_base.c - the toolbox: text, arenas, files, programs, ids, threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "base/parallel.h"
#include "base/str.h"
#include "base/table.h"

#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* ---- err ---- */

static void error_has_code_and_sentence(void **state)
{
	struct lm_err *err = lm_err_new(LM_ERR_REFUSED, "%s:%d: is packed.", "a.h", 7);

	(void)state;
	assert_int_equal(err->code, 4);
	assert_string_equal(err->msg, "a.h:7: is packed.");
	lm_err_free(err);
	lm_err_free(NULL);
}

static void error_text_cannot_drive_the_terminal(void **state)
{
	struct lm_err *err = lm_err_new(LM_ERR_INPUT, "no member %s.", "\033[31mred\033[0m\a");

	(void)state;
	assert_string_equal(err->msg, "no member \\x1b[31mred\\x1b[0m\\x07.");
	lm_err_free(err);
}

/* ---- str ---- */

static void escaping_shows_and_does_not_obey(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "" },
		{ "plain text_1", "plain text_1" },
		{ "\033]0;title\007", "\\x1b]0;title\\x07" },
		{ "a\rb\x7f", "a\\x0db\\x7f" },
		{ "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "\xc3", "\\xc3" },				/* cut off */
		{ "\xc0\xaf", "\\xc0\\xaf" },			/* overlong '/' */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },		/* surrogate */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },	/* above U+10FFFF */
		{ "\xc2\x9b" "31m", "\\xc2\\x9b31m" },		/* C1: CSI in one character */
		{ "\xe2\x80\xae", "\\xe2\\x80\\xae" },		/* right-to-left override */
		{ "\xff\xfe", "\\xff\\xfe" },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct lm_str s = { 0 };

		lm_str_escape(&s, cases[i].in, strlen(cases[i].in));
		assert_string_equal(lm_str_text(&s), cases[i].out);
		assert_int_equal(s.len, strlen(cases[i].out));
		lm_str_release(&s);
	}
}

static void escaping_handles_a_nul_inside(void **state)
{
	struct lm_str s = { 0 };

	(void)state;
	lm_str_escape(&s, "a\0b", 3);
	assert_string_equal(lm_str_text(&s), "a\\x00b");
	lm_str_release(&s);
}

static void text_grows_and_stays_terminated(void **state)
{
	struct lm_str s = { 0 };

	(void)state;
	assert_string_equal(lm_str_text(&s), "");
	for (int i = 0; i < 5000; i++) {
		lm_str_add(&s, "ab");
		lm_str_add_char(&s, 'c');
		lm_str_addf(&s, "%04d", i);
		assert_int_equal(s.text[s.len], 0);
	}
	assert_int_equal(s.len, 5000 * 7);
	assert_memory_equal(s.text + 4999 * 7, "abc4999", 7);
	lm_str_add_bytes(&s, "x\0y", 3);
	assert_memory_equal(s.text + 5000 * 7, "x\0y", 4);
	lm_str_clear(&s);
	assert_int_equal(s.len, 0);
	assert_string_equal(lm_str_text(&s), "");
	lm_str_release(&s);
	assert_null(s.text);
	lm_str_add_bytes(&s, "", 0);
	assert_string_equal(lm_str_text(&s), "");
	lm_str_release(&s);
}

static void long_formats_are_not_cut(void **state)
{
	struct lm_str s = { 0 };
	char *big = malloc(100001);

	(void)state;
	assert_non_null(big);
	memset(big, 'q', 100000);
	big[100000] = 0;
	lm_str_addf(&s, "<%s>", big);
	assert_int_equal(s.len, 100002);
	assert_int_equal(s.text[100001], '>');
	lm_str_release(&s);
	free(big);
}

/* ---- arena ---- */

static void arena_memory_is_zeroed_and_aligned(void **state)
{
	struct lm_arena arena = { 0 };

	(void)state;
	for (size_t size = 0; size < 3000; size += 7) {
		unsigned char *p = lm_arena_alloc(&arena, size);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xa5, size);
	}
	lm_arena_release(&arena);
	assert_null(arena.chunks);
	lm_arena_release(&arena);
}

static void arena_blocks_never_overlap(void **state)
{
	struct lm_arena arena = { 0 };
	unsigned char *p[600];
	size_t size[600];

	(void)state;
	for (size_t i = 0; i < NR(p); i++) {
		/* Small ones, and now and then one larger than a chunk. */
		size[i] = i % 97 == 96 ? 200000 + i : 1 + i * 37 % 2000;
		p[i] = lm_arena_alloc(&arena, size[i]);
		memset(p[i], (int)(i % 251), size[i]);
	}
	for (size_t i = 0; i < NR(p); i++)
		for (size_t k = 0; k < size[i]; k++)
			assert_int_equal(p[i][k], i % 251);
	lm_arena_release(&arena);
}

static void arena_copies_text(void **state)
{
	struct lm_arena arena = { 0 };

	(void)state;
	assert_string_equal(lm_arena_strdup(&arena, "hello"), "hello");
	assert_string_equal(lm_arena_strndup(&arena, "hello", 3), "hel");
	assert_string_equal(lm_arena_strndup(&arena, "", 0), "");
	assert_string_equal(lm_arena_printf(&arena, "%d-%s", 42, "x"), "42-x");
	lm_arena_release(&arena);
}

static void arena_arrays_grow_and_keep_their_items(void **state)
{
	struct lm_arena arena = { 0 };
	uint32_t *items = NULL;
	size_t nr = 0, cap = 0;

	(void)state;
	for (uint32_t i = 0; i < 10000; i++)
		*LM_ARENA_PUSH(&arena, items, nr, cap) = i * 3;
	assert_int_equal(nr, 10000);
	assert_true(cap >= nr);
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(items[i], i * 3);
	lm_arena_release(&arena);
}

/* Runs work in a child; its exit code. */
static int exit_of(void (*work)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		/* The message is expected; keep the test's own output clean. */
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		work();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void ask_for_too_many(void)
{
	struct lm_arena arena = { 0 };

	lm_arena_array(&arena, SIZE_MAX / 4, 8);
}

static void ask_for_almost_all(void)
{
	struct lm_arena arena = { 0 };

	lm_arena_alloc(&arena, SIZE_MAX - 3);
}

static void out_of_memory_ends_with_code_5(void **state)
{
	(void)state;
	assert_int_equal(exit_of(lm_oom), 5);
	assert_int_equal(exit_of(ask_for_too_many), 5);
	assert_int_equal(exit_of(ask_for_almost_all), 5);
}

/* ---- files ---- */

struct place {
	struct lm_arena arena;
	char *dir;
};

static int make_place(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	struct lm_err *err;

	assert_non_null(p);
	err = lm_temp_dir(&p->arena, &p->dir);
	assert_null(err);
	*state = p;
	return 0;
}

static int drop_place(void **state)
{
	struct place *p = *state;

	lm_remove_tree(p->dir);
	assert_false(lm_is_dir(p->dir));
	lm_arena_release(&p->arena);
	free(p);
	return 0;
}

static size_t entries(const char *dir)
{
	DIR *d = opendir(dir);
	size_t nr = 0;

	assert_non_null(d);
	while (readdir(d))
		nr++;
	closedir(d);
	return nr - 2;
}

static void written_files_read_back(void **state)
{
	struct place *p = *state;
	char *path = lm_arena_printf(&p->arena, "%s/f", p->dir), *text = NULL;
	size_t len = 0;
	struct stat st;

	assert_null(lm_file_write(path, "a\0b\n", 4));
	assert_null(lm_file_read(path, "header", 100, &p->arena, &text, &len));
	assert_int_equal(len, 4);
	assert_memory_equal(text, "a\0b\n", 5);
	assert_null(lm_file_write(path, "", 0));
	assert_null(lm_file_read(path, "header", 100, &p->arena, &text, &len));
	assert_int_equal(len, 0);
	assert_string_equal(text, "");
	assert_int_equal(entries(p->dir), 1);

	/* Not private as mkstemp leaves it: as open() would have made it. */
	mode_t mask = umask(0);

	umask(mask);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
}

static void expect_input_error(struct lm_err *err, const char *path, const char *word)
{
	assert_non_null(err);
	assert_int_equal(err->code, LM_ERR_INPUT);
	assert_non_null(strstr(err->msg, path));
	assert_non_null(strstr(err->msg, word));
	lm_err_free(err);
}

static void unreadable_files_are_named(void **state)
{
	struct place *p = *state;
	char *path = lm_arena_printf(&p->arena, "%s/f", p->dir), *text = (char *)1;
	size_t len = 99;

	expect_input_error(lm_file_read(path, "header", 100, &p->arena, &text, &len), path, "header");
	expect_input_error(lm_file_read(p->dir, "header", 100, &p->arena, &text, &len), p->dir, "regular file");
	assert_null(lm_file_write(path, "12345", 5));
	expect_input_error(lm_file_read(path, "header", 4, &p->arena, &text, &len), path, "5 bytes");
	/* Outputs are untouched on failure. */
	assert_ptr_equal(text, (char *)1);
	assert_int_equal(len, 99);
	assert_null(lm_file_read(path, "header", 5, &p->arena, &text, &len));
}

static void a_pipe_does_not_hang_the_reader(void **state)
{
	struct place *p = *state;
	char *path = lm_arena_printf(&p->arena, "%s/pipe", p->dir), *text;
	size_t len;

	assert_int_equal(mkfifo(path, 0600), 0);
	expect_input_error(lm_file_read(path, "profile", 100, &p->arena, &text, &len), path, "regular file");
}

static void a_failed_write_leaves_the_old_file(void **state)
{
	struct place *p = *state;
	char *path = lm_arena_printf(&p->arena, "%s/f", p->dir), *text = NULL;
	char *nowhere = lm_arena_printf(&p->arena, "%s/no/such/dir/f", p->dir);
	size_t len, big = 1 << 20;
	char *much = calloc(1, big);
	struct rlimit old, small;

	assert_non_null(much);
	assert_null(lm_file_write(path, "old", 3));
	expect_input_error(lm_file_write(nowhere, "x", 1), nowhere, "cannot be written");

	/* A full disk, imitated by a limit on file sizes. */
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	struct lm_err *err = lm_file_write(path, much, big);

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	expect_input_error(err, path, "cannot be written");
	assert_null(lm_file_read(path, "header", 100, &p->arena, &text, &len));
	assert_string_equal(text, "old");
	assert_int_equal(entries(p->dir), 1);
	free(much);
}

static void devices_are_written_in_place(void **state)
{
	struct stat st;

	(void)state;
	assert_null(lm_file_write("/dev/null", "x", 1));
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

static void directories_are_made_and_removed_whole(void **state)
{
	struct place *p = *state;
	char *deep = lm_arena_printf(&p->arena, "%s/a/b//c", p->dir);
	char *file = lm_arena_printf(&p->arena, "%s/a/b/c/f", p->dir);
	char *link = lm_arena_printf(&p->arena, "%s/a/outside", p->dir);
	char *kept = lm_arena_printf(&p->arena, "%s/kept", p->dir);
	char *a = lm_arena_printf(&p->arena, "%s/a", p->dir);

	assert_null(lm_make_dirs(deep));
	assert_null(lm_make_dirs(deep));
	assert_true(lm_is_dir(deep));
	assert_null(lm_file_write(file, "x", 1));
	assert_true(lm_is_file(file));
	assert_false(lm_is_file(deep));
	assert_false(lm_is_dir(file));
	assert_null(lm_make_dirs(kept));
	assert_int_equal(symlink(kept, link), 0);
	assert_string_equal(lm_real_path(link, &p->arena), lm_real_path(kept, &p->arena));
	lm_remove_tree(a);
	assert_false(lm_is_dir(a));
	assert_true(lm_is_dir(kept));
	assert_null(lm_real_path(a, &p->arena));

	struct lm_err *err = lm_make_dirs("/dev/null/x");

	expect_input_error(err, "/dev/null", "directory");
}

static void temporary_directories_honour_tmpdir(void **state)
{
	struct place *p = *state;
	const char *given = getenv("TMPDIR");
	char *old = given ? lm_arena_strdup(&p->arena, given) : NULL, *dir = NULL;
	struct stat st;

	assert_int_equal(setenv("TMPDIR", p->dir, 1), 0);
	assert_null(lm_temp_dir(&p->arena, &dir));
	assert_memory_equal(dir, p->dir, strlen(p->dir));
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(setenv("TMPDIR", "/nonexistent", 1), 0);
	expect_input_error(lm_temp_dir(&p->arena, &dir), "/nonexistent", "TMPDIR");
	if (old)
		setenv("TMPDIR", old, 1);
	else
		unsetenv("TMPDIR");
}

/* ---- programs ---- */

static int shell(const char *script, const char *cwd, unsigned seconds, size_t limit, struct lm_str *errors)
{
	char sh[] = "sh", c[] = "-c", *text = strdup(script);
	char *argv[] = { sh, c, text, NULL };
	int status = -1;

	assert_non_null(text);
	lm_run(argv, cwd, seconds, limit, errors, &status);
	free(text);
	return status;
}

static void programs_give_status_and_errors(void **state)
{
	struct place *p = *state;
	struct lm_str errors = { 0 };
	char none[] = "linemate-no-such-program";
	char *argv[] = { none, NULL };
	int status = 0;

	assert_int_equal(shell("echo dropped; echo kept >&2; exit 3", NULL, 20, 100, &errors), 3);
	assert_string_equal(lm_str_text(&errors), "kept\n");
	lm_str_clear(&errors);
	assert_int_equal(shell("cat; pwd >&2", p->dir, 20, 1000, &errors), 0);
	assert_non_null(strstr(lm_str_text(&errors), strrchr(p->dir, '/')));
	lm_str_clear(&errors);
	assert_int_equal(shell("kill -TERM $$", NULL, 20, 100, &errors), 128 + SIGTERM);
	lm_run(argv, NULL, 20, 100, &errors, &status);
	assert_int_equal(status, 127);
	lm_str_release(&errors);
}

static void errors_of_a_program_are_kept_up_to_a_limit(void **state)
{
	struct lm_str errors = { 0 };

	(void)state;
	assert_int_equal(shell("head -c 300000 /dev/zero | tr '\\0' e >&2; exit 1", NULL, 20, 1000, &errors), 1);
	assert_int_equal(errors.len, 1000);
	lm_str_release(&errors);
}

static void programs_that_hang_are_killed_with_their_children(void **state)
{
	struct lm_str errors = { 0 };
	struct timespec a, b;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &a);
	assert_int_equal(shell("sleep 60 & sleep 60; echo late >&2", NULL, 1, 100, &errors), 124);
	clock_gettime(CLOCK_MONOTONIC, &b);
	assert_true(b.tv_sec - a.tv_sec < 15);
	lm_str_release(&errors);
}

static void programs_are_found_in_path(void **state)
{
	(void)state;
	assert_true(lm_in_path("sh"));
	assert_true(lm_in_path("/bin/sh"));
	assert_false(lm_in_path("linemate-no-such-program"));
	assert_false(lm_in_path("/bin/linemate-no-such-program"));
}

/* ---- ids ---- */

static void equal_strings_get_equal_ids_in_order(void **state)
{
	struct lm_strings *t = lm_strings_new();
	char name[32];

	(void)state;
	assert_int_equal(lm_strings_nr(t), 0);
	assert_int_equal(lm_strings_find(t, "a", 1), LM_NO_STRING);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 20000; i++) {
			int n = snprintf(name, sizeof(name), "name%u", i * 7919 % 20000);

			assert_int_equal(lm_strings_add(t, name, (size_t)n), i);
		}
	}
	assert_int_equal(lm_strings_nr(t), 20000);
	assert_string_equal(lm_strings_get(t, 1), "name7919");
	assert_int_equal(lm_strings_find(t, "name7919", 8), 1);
	/* Only len bytes count, and "" is a string like any other. */
	assert_int_equal(lm_strings_find(t, "name7919xyz", 8), 1);
	assert_int_equal(lm_strings_add(t, "", 0), 20000);
	assert_string_equal(lm_strings_get(t, 20000), "");
	lm_strings_free(t);
	lm_strings_free(NULL);
}

/* ---- threads ---- */

struct counts {
	atomic_int calls;
	unsigned char done[10007];
};

static void count_one(void *arg, size_t i)
{
	struct counts *c = arg;

	atomic_fetch_add(&c->calls, 1);
	c->done[i]++;
}

static void every_item_is_worked_on_once(void **state)
{
	struct counts *c = calloc(1, sizeof(*c));

	(void)state;
	assert_non_null(c);
	lm_parallel(0, count_one, c);
	assert_int_equal(c->calls, 0);
	lm_parallel(1, count_one, c);
	assert_int_equal(c->calls, 1);
	c->done[0] = 0;
	lm_parallel(NR(c->done), count_one, c);
	for (size_t i = 0; i < NR(c->done); i++)
		assert_int_equal(c->done[i], 1);
	assert_int_equal(c->calls, 1 + NR(c->done));
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(error_has_code_and_sentence),
		cmocka_unit_test(error_text_cannot_drive_the_terminal),
		cmocka_unit_test(escaping_shows_and_does_not_obey),
		cmocka_unit_test(escaping_handles_a_nul_inside),
		cmocka_unit_test(text_grows_and_stays_terminated),
		cmocka_unit_test(long_formats_are_not_cut),
		cmocka_unit_test(arena_memory_is_zeroed_and_aligned),
		cmocka_unit_test(arena_blocks_never_overlap),
		cmocka_unit_test(arena_copies_text),
		cmocka_unit_test(arena_arrays_grow_and_keep_their_items),
		cmocka_unit_test(out_of_memory_ends_with_code_5),
		cmocka_unit_test_setup_teardown(written_files_read_back, make_place, drop_place),
		cmocka_unit_test_setup_teardown(unreadable_files_are_named, make_place, drop_place),
		cmocka_unit_test_setup_teardown(a_pipe_does_not_hang_the_reader, make_place, drop_place),
		cmocka_unit_test_setup_teardown(a_failed_write_leaves_the_old_file, make_place, drop_place),
		cmocka_unit_test(devices_are_written_in_place),
		cmocka_unit_test_setup_teardown(directories_are_made_and_removed_whole, make_place, drop_place),
		cmocka_unit_test_setup_teardown(temporary_directories_honour_tmpdir, make_place, drop_place),
		cmocka_unit_test_setup_teardown(programs_give_status_and_errors, make_place, drop_place),
		cmocka_unit_test(errors_of_a_program_are_kept_up_to_a_limit),
		cmocka_unit_test(programs_that_hang_are_killed_with_their_children),
		cmocka_unit_test(programs_are_found_in_path),
		cmocka_unit_test(equal_strings_get_equal_ids_in_order),
		cmocka_unit_test(every_item_is_worked_on_once),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
