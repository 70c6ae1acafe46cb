/* test_reader.c - which format a profile has, what is said of other files, and the line source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile_check.h"

#include <sys/mman.h>
#include <unistd.h>

struct refused {
	const char *bytes;
	size_t len;
	const char *says;
};

#define BYTES(text) text, sizeof(text) - 1

static const struct refused refused[] = {
	{ BYTES(""), "is empty" },
	{ BYTES("\n\n\n"), "is of no known format" },
	{ BYTES("PERFILE2\x68\0\0\0\0\0\0\0"), "is cut off in its header" },
	{ BYTES("PERFFILE\x68\0\0\0\0\0\0\0"), "perf script -i FILE" },
	{ BYTES("2ELIFREP\0\0\0\0\0\0\0\x68"), "perf script -i FILE -F +addr,+data_src" },
	{ BYTES("\177ELF\2\1\1"), "is an ELF binary" },
	{ BYTES("\037\213\010\0"), "gunzip" },
	{ BYTES("\050\265\057\375\0"), "unzstd" },
	{ BYTES("\3757zXZ\0"), "unxz" },
	{ BYTES("BZh91AY"), "bunzip2" },
	{ BYTES("\0\1\2\3\xff\xfe\n\0\0"), "is of no known format" },
	{ BYTES("# Samples: 12\n# Overhead  Command\n    10.72%  [k] exc_page_fault\n"), "is perf report text" },
	{ BYTES(" Percent |\tSource code & Disassembly of x for cycles\n"),
	"is perf annotate text without --data-type" },
	{ BYTES("==9382== Lackey, an example Valgrind tool\n"), "line is no sample" },
	{ BYTES("{\"dhatFileVersion\":2\n}\n"), "is valgrind DHAT output" },
	{ BYTES(" Performance counter stats for 'system wide':\n"), "line is no sample" },
	{ BYTES("#function\tmember\toffset\treads\nf\tm\t0\t1\n"), "access files (first line #linemate-access 1)" },
	{ BYTES("{ \"a\": [ 1, 2, 3 ] }\n"), "is of no known format" },
	{ BYTES("struct page {\n\tint a; /* 1.000000: x */\n};\n"), "is of no known format" },
};

static void check_refused(struct lm_err *err, const struct lm_accesses *t, const char *says)
{
	assert_non_null(err);
	assert_int_equal(err->code, LM_ERR_INPUT);
	if (!strstr(err->msg, says)) {
		print_error("%s\nlacks: %s\n", err->msg, says);
		fail();
	}
	assert_int_equal(err->msg[strlen(err->msg) - 1], '.');
	assert_int_equal(t->nr, 0);
	assert_int_equal(t->samples, 0);
	lm_err_free(err);
}

static void other_formats_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR(refused); i++) {
		struct lm_accesses t;

		lm_accesses_init(&t);
		check_refused(lm_profile_read_memory("file", refused[i].bytes, refused[i].len, &test_opts, &t), &t,
			      refused[i].says);
		lm_accesses_release(&t);
	}
}

static void files_that_cannot_be_read(void **state)
{
	struct lm_accesses t;

	(void)state;
	lm_accesses_init(&t);
	check_refused(lm_profile_read(LM_TEST_DATA "/profiles", &test_opts, &t), &t, "is a directory");
	check_refused(lm_profile_read(LM_TEST_DATA "/profiles/no-such-file", &test_opts, &t), &t,
		      "cannot be opened: No such file or directory");
	check_refused(lm_profile_read("/dev/null", &test_opts, &t), &t, "is empty");
	/* Opens, but reading fails: the first page of a process is not mapped. */
	check_refused(lm_profile_read("/proc/self/mem", &test_opts, &t), &t, "cannot be read: Input/output error");
	lm_accesses_release(&t);
}

/* What a hostile name holds does not reach the terminal. */
static void messages_are_escaped(void **state)
{
	static const char text[] = "#linemate-access 1\n#record\t\\x1b[31mx\n";
	struct lm_accesses t;
	struct lm_err *err;

	(void)state;
	lm_accesses_init(&t);
	err = lm_profile_read_memory("file", text, sizeof(text) - 1, &test_opts, &t);
	assert_non_null(err);
	assert_null(strchr(err->msg, 033));
	lm_err_free(err);
	lm_accesses_release(&t);
}

static void standard_input(void **state)
{
	static const char text[] = "#linemate-access 1\nf\tm\t0\t8\t0\t1\t2\n";
	int old = dup(STDIN_FILENO), ends[2];
	struct lm_accesses t;
	struct lm_err *err;

	(void)state;
	assert_true(old >= 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text, sizeof(text) - 1), sizeof(text) - 1);
	close(ends[1]);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	lm_accesses_init(&t);
	assert_null(lm_profile_read("-", &test_opts, &t));
	assert_int_equal(t.used, 2);
	err = lm_profile_read("-", &test_opts, &t);
	assert_non_null(err);
	assert_non_null(strstr(err->msg, "standard input: is empty"));
	lm_err_free(err);
	assert_int_equal(dup2(old, STDIN_FILENO), STDIN_FILENO);
	close(old);
	lm_accesses_release(&t);
}

/* A failure leaves a table that has something in it as it was. */
static void failure_touches_nothing(void **state)
{
	static const char good[] = "#linemate-access 1\n#record\trec\n#event\te\nf\tm\t0\t8\t0\t1\t2\n";
	static const char broken[] = "#linemate-access 1\n#event\tx\nf\tm\t0\t8\t0\t5\t5\ng\tm\t0\t8\t0\t5\n";
	struct lm_str before = { 0 }, after = { 0 };
	struct lm_accesses t;
	struct lm_err *err;

	(void)state;
	lm_accesses_init(&t);
	assert_null(lm_profile_read_memory("good", good, sizeof(good) - 1, &test_opts, &t));
	lm_accesses_print(&t, &before);
	err = lm_profile_read_memory("broken", broken, sizeof(broken) - 1, &test_opts, &t);
	assert_non_null(err);
	lm_accesses_print(&t, &after);
	assert_string_equal(lm_str_text(&before), lm_str_text(&after));
	lm_err_free(err);
	lm_str_release(&before);
	lm_str_release(&after);
	lm_accesses_release(&t);
}

/* ---- the line source ---- */

/* Lines of every length around the block's size come out whole, numbered from 1. */
static void lines_of_a_file(void **state)
{
	char *block = malloc(256 << 10);
	struct lm_lines src = { .name = "lines", .fd = memfd_create("lines", 0) };
	static const size_t lengths[] = { 0, 1, 65535, 65536, 65537, 0, 65535, 65535, 65535, 65535, 65535, 3,
	300000, 600000,
					  65536, 1, 262144, 262143, 0, 17 };
	struct lm_line line;
	FILE *f;

	(void)state;
	assert_true(src.fd >= 0 && block);
	f = fdopen(dup(src.fd), "w");
	assert_non_null(f);
	for (size_t i = 0; i < NR(lengths); i++) {
		for (size_t k = 0; k < lengths[i]; k++)
			putc('a' + (int)i, f);
		if (i + 1 < NR(lengths))
			putc('\n', f);
	}
	fclose(f);
	assert_int_equal(lseek(src.fd, 0, SEEK_SET), 0);
	src.data = src.block = block;
	for (size_t i = 0; i < NR(lengths); i++) {
		assert_true(lm_lines_next(&src, &line));
		assert_int_equal(line.nr, i + 1);
		assert_int_equal(line.too_long, lengths[i] > LM_LINE_MAX);
		assert_int_equal(line.len, line.too_long ? LM_LINE_MAX : lengths[i]);
		for (size_t k = 0; k < line.len; k++)
			assert_true(line.text[k] == 'a' + (int)i);
		assert_int_equal(line.cut, i + 1 == NR(lengths));
	}
	assert_false(lm_lines_next(&src, &line));
	assert_int_equal(src.error, 0);
	close(src.fd);
	free(block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_formats_are_named),
		cmocka_unit_test(files_that_cannot_be_read),
		cmocka_unit_test(messages_are_escaped),
		cmocka_unit_test(standard_input),
		cmocka_unit_test(failure_touches_nothing),
		cmocka_unit_test(lines_of_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
