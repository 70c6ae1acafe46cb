/* test_access.c - the access table, and its file: printed, read, added up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile_check.h"

static struct lm_access make_row(struct lm_accesses *t, const char *site, const char *member)
{
	return (struct lm_access){
		.site = lm_strings_add(t->strings, site, strlen(site)),
		.member = lm_strings_add(t->strings, member, strlen(member)),
		.size = 8,
	};
}

/* ---- the table ---- */

static void rows_of_one_key_are_added_up(void **state)
{
	struct lm_accesses t;
	struct lm_access a;

	(void)state;
	lm_accesses_init(&t);
	a = make_row(&t, "f", "m");
	a.reads = 3;
	lm_accesses_add(&t, a);
	a.reads = 0;
	a.writes = 4;
	lm_accesses_add(&t, a);
	assert_int_equal(t.nr, 1);
	assert_int_equal(t.rows[0].reads, 3);
	assert_int_equal(t.rows[0].writes, 4);
	lm_accesses_release(&t);
}

/* Each part of the key alone makes another row. */
static void every_part_of_the_key_counts(void **state)
{
	struct lm_accesses t;
	struct lm_access a, b;

	(void)state;
	lm_accesses_init(&t);
	a = make_row(&t, "f", "m");
	a.reads = 1;
	for (int round = 0; round < 2; round++) {
		lm_accesses_add(&t, a);
		b = a, b.site = make_row(&t, "g", "m").site, lm_accesses_add(&t, b);
		b = a, b.member = make_row(&t, "f", "n").member, lm_accesses_add(&t, b);
		b = a, b.offset = 1ull << 40, lm_accesses_add(&t, b);
		b = a, b.size = 4, lm_accesses_add(&t, b);
		b = a, b.cpu = LM_CPU_UNKNOWN, lm_accesses_add(&t, b);
		b = a, b.object = 1, lm_accesses_add(&t, b);
		b = a, b.evidence = LM_EVIDENCE_TYPED, lm_accesses_add(&t, b);
	}
	assert_int_equal(t.nr, 8);
	for (size_t i = 0; i < t.nr; i++)
		assert_int_equal(t.rows[i].reads, 2);
	lm_accesses_release(&t);
}

static void counts_saturate(void **state)
{
	struct lm_accesses t, u;
	struct lm_access a;

	(void)state;
	lm_accesses_init(&t);
	lm_accesses_init(&u);
	a = make_row(&t, "f", "m");
	a.reads = UINT64_MAX - 1;
	a.writes = 7;
	lm_accesses_add(&t, a);
	lm_accesses_add(&t, a);
	assert_int_equal(t.rows[0].reads, UINT64_MAX);
	assert_int_equal(t.rows[0].writes, 14);
	lm_accesses_merge(&u, &t, 1e300);
	assert_int_equal(u.rows[0].reads, UINT64_MAX);
	assert_int_equal(u.rows[0].writes, UINT64_MAX);
	lm_accesses_release(&t);
	lm_accesses_release(&u);
}

/* The index grows many times, and finds every row after that and after a sort. */
static void many_rows(void **state)
{
	enum { ROWS = 50000 };
	struct lm_accesses t;
	struct lm_access a;
	uint64_t sum = 0;

	(void)state;
	lm_accesses_init(&t);
	a = make_row(&t, "f", "m");
	for (int round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < ROWS; i++) {
			a.offset = (i * 7919) % ROWS * 8;
			a.cpu = (int32_t)(i % 5);
			a.reads = i;
			lm_accesses_add(&t, a);
		}
		if (round == 1)
			lm_accesses_sort(&t);
	}
	assert_int_equal(t.nr, ROWS);
	for (size_t i = 0; i < t.nr; i++)
		sum += t.rows[i].reads;
	assert_int_equal(sum, 3ull * ROWS * (ROWS - 1) / 2);
	lm_accesses_release(&t);
}

static void order_is_by_name_then_number(void **state)
{
	static const char text[] = "#linemate-access "
	"1\nb\tm\t0\t8\t0\t1\t0\nB\tm\t0\t8\t0\t1\t0\nb\tm\t0\t8\t-\t1\t0\n"
				   "b\tm\t10\t8\t0\t1\t0\nb\tm\t9\t8\t0\t1\t0\n"
				   "b\tl\t99\t8\t0\t1\t0\nb\tm\t0\t4\t0\t1\t0\n"
				   "b\tm\t0\t8\t0\t1\t0\t1\nb\tm\t0\t8\t0\t1\t0\t0\ttyped\n";
	struct lm_str rows = { 0 };
	struct lm_accesses t;

	(void)state;
	lm_accesses_init(&t);
	assert_null(lm_profile_read_memory("text", text, strlen(text), &test_opts, &t));
	tell_rows(&t, &rows);
	assert_string_equal(lm_str_text(&rows),
			    "B m+0/8 cpu0 #0 1r 0w exact\nb l+99/8 cpu0 #0 1r 0w exact\nb m+0/4 cpu0 #0 1r 0w exact\n"
			    "b m+0/8 cpu-1 #0 1r 0w exact\nb m+0/8 cpu0 #0 1r 0w exact\nb m+0/8 cpu0 #0 1r 0w typed\n"
			    "b m+0/8 cpu0 #1 1r 0w exact\nb m+9/8 cpu0 #0 1r 0w exact\nb m+10/8 cpu0 #0 1r 0w "
			    "exact\n");
	lm_str_release(&rows);
	lm_accesses_release(&t);
}

/* Counts are weighed, rounded to nearest, never to none; what was read and dropped is not. */
static void merge_weighs(void **state)
{
	static const struct { uint64_t count; double weight; uint64_t want; } cases[] = {
		{ 10, 1.0, 10 }, { 10, 0.5, 5 }, { 11, 0.5, 6 }, { 1, 0.001, 1 }, { 0, 5.0, 0 }, { 7, 3.0, 21 },
		{ 10, 0.14, 1 }, { 10, 0.16, 2 }, { (1ull << 60) + 1, 1.0, (1ull << 60) + 1 },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct lm_accesses t, u;
		struct lm_access a;

		lm_accesses_init(&t);
		lm_accesses_init(&u);
		make_row(&u, "other", "names");		/* ids of the two tables differ */
		a = make_row(&t, "f", "m");
		a.reads = cases[i].count;
		lm_accesses_add(&t, a);
		t.samples = 9;
		t.used = 7;
		t.drops[LM_DROP_TOO_LONG] = 2;
		t.record = make_row(&t, "rec", "m").site;
		lm_strings_add(t.events, "loads", 5);
		lm_accesses_merge(&u, &t, cases[i].weight);
		lm_accesses_merge(&u, &t, 1.0);
		assert_int_equal(u.nr, 1);
		assert_int_equal(u.rows[0].reads, cases[i].want + cases[i].count);
		assert_string_equal(lm_strings_get(u.strings, u.rows[0].site), "f");
		assert_string_equal(lm_strings_get(u.strings, u.record), "rec");
		assert_int_equal(lm_strings_nr(u.events), 1);
		assert_int_equal(u.samples, 18);
		check_adds_up(&u);
		lm_accesses_release(&t);
		lm_accesses_release(&u);
	}
}

static void words_are_distinct(void **state)
{
	(void)state;
	for (int i = 0; i < LM_NR_DROPS; i++) {
		assert_true(*lm_drop_text((enum lm_drop)i));
		for (int k = 0; k < i; k++)
			assert_string_not_equal(lm_drop_word((enum lm_drop)i), lm_drop_word((enum lm_drop)k));
	}
	for (int i = 0; i < LM_NR_EVIDENCE; i++) {
		assert_true(*lm_evidence_text((enum lm_evidence)i));
		for (int k = 0; k < i; k++)
			assert_string_not_equal(lm_evidence_word((enum lm_evidence)i), lm_evidence_word((enum
			lm_evidence)k));
	}
}

/* ---- the file ---- */

#define FIRST "#linemate-access 1\n"
#define ROW "f\tm.n\t4\t8\t3\t10\t20\n"

static const struct text_case good[] = {
	{ "by hand: first line and rows; object and evidence left out, cpu unknown", FIRST ROW
	  "g\tm\t0\t1\t-\t0\t1\t2\n",
	  "f m.n+4/8 cpu3 #0 10r 20w exact\ng m+0/1 cpu-1 #2 0r 1w exact\n", "samples 21 used 21", NULL },
	{ "comments, empty lines, carriage returns", "#linemate-access 1\r\n# a "
	  "comment\n\n#site\tmember\toffset\n#\n" ROW,
	  "f m.n+4/8 cpu3 #0 10r 20w exact\n", "samples 20 used 20", NULL },
	{ "the head: samples, drops, unknown "
	  "operations", FIRST "#record\trec\n#event\tloads\n#samples\t100\n#dropped\tno-address\t"
	  "12\n#dropped\ttruncated\t1\n#unknown-op\t3\n#unknown-element\t16\n" ROW,
	  "f m.n+4/8 cpu3 #0 10r 20w exact\n", "samples 100 used 87 unknown 3 unknown-element 16 truncated 1 no-address 12", NULL },
	{ "drops of a file written by hand come on top of its rows", FIRST "#dropped\toutside\t4\n" ROW,
	  "f m.n+4/8 cpu3 #0 10r 20w exact\n", "samples 24 used 20 outside 4", NULL },
	{ "equal rows are added up", FIRST ROW ROW, "f m.n+4/8 cpu3 #0 20r 40w exact\n", "samples 40 used 40", NULL },
	{ "escapes in names", FIRST "a\\tb\\nc\\\\d\\x1b[1m\t\\x23m\t0\t8\t0\t1\t0\t0\tskidding\n",
	  "a\tb\nc\\d\033[1m #m+0/8 cpu0 #0 1r 0w skidding\n", "samples 1 used 1", NULL },
	{ "a last line without newline is cut off: half a number looks like a number", FIRST ROW "f\tm\t0\t8\t0\t12",
	  "f m.n+4/8 cpu3 #0 10r 20w exact\n", "samples 21 used 20 truncated 1", NULL },
	{ "the greatest "
	  "numbers", FIRST
	  "f\tm\t18446744073709551615\t4294967295\t2147483647\t18446744073709551615\t0\t4294967295\n",
	  "f m+18446744073709551615/4294967295 cpu2147483647 #4294967295 18446744073709551615r 0w exact\n",
	  "samples 18446744073709551615 used 18446744073709551615",
	  NULL },
};

static const struct text_case bad[] = {
	{ "another version", "#linemate-access 2\n" ROW, "", "", "text:1: is of another version" },
	{ "too few fields", FIRST ROW "f\tm\t0\t8\t0\t1\n", "", "", "text:3: too few fields in \"f" },
	{ "too many fields", FIRST "f\tm\t0\t8\t0\t1\t0\t0\texact\tx\n", "", "", "text:2: too many fields" },
	{ "blanks instead of tabs", FIRST "f m 0 8 0 1 0\n", "", "", "text:2: too few fields" },
	{ "no site", FIRST "\tm\t0\t8\t0\t1\t0\n", "", "", "text:2: bad site" },
	{ "no member", FIRST "f\t\t0\t8\t0\t1\t0\n", "", "", "text:2: bad member" },
	{ "bad escape", FIRST "f\\q\tm\t0\t8\t0\t1\t0\n", "", "", "text:2: bad site" },
	{ "escape cut off", FIRST "f\\x1\tm\t0\t8\t0\t1\t0\n", "", "", "text:2: bad site" },
	{ "escaped NUL", FIRST "f\\x00\tm\t0\t8\t0\t1\t0\n", "", "", "text:2: bad site" },
	{ "offset is no number", FIRST "f\tm\t0x8\t8\t0\t1\t0\n", "", "", "text:2: bad offset \"0x8\"" },
	{ "offset too great", FIRST "f\tm\t18446744073709551616\t8\t0\t1\t0\n", "", "", "text:2: bad offset" },
	{ "size of nothing", FIRST "f\tm\t0\t0\t0\t1\t0\n", "", "", "text:2: bad size" },
	{ "size too great", FIRST "f\tm\t0\t4294967296\t0\t1\t0\n", "", "", "text:2: bad size" },
	{ "cpu too great", FIRST "f\tm\t0\t8\t2147483648\t1\t0\n", "", "", "text:2: bad cpu" },
	{ "cpu negative", FIRST "f\tm\t0\t8\t-1\t1\t0\n", "", "", "text:2: bad cpu" },
	{ "reads negative", FIRST "f\tm\t0\t8\t0\t-1\t0\n", "", "", "text:2: bad number of reads" },
	{ "writes missing", FIRST "f\tm\t0\t8\t0\t1\t\n", "", "", "text:2: bad number of writes" },
	{ "object", FIRST "f\tm\t0\t8\t0\t1\t0\tx\n", "", "", "text:2: bad number of an object" },
	{ "evidence", FIRST "f\tm\t0\t8\t0\t1\t0\t0\tsure\n", "", "", "text:2: unknown evidence \"sure\"" },
	{ "reason of a drop", FIRST "#dropped\tlazy\t3\n" ROW, "", "", "text:2: unknown reason" },
	{ "count of a drop", FIRST "#dropped\toutside\n" ROW, "", "", "text:2: bad count" },
	{ "samples", FIRST "#samples\tmany\n" ROW, "", "", "text:2: bad number of samples" },
	{ "more drops than samples", FIRST "#samples\t3\n#dropped\toutside\t4\n" ROW, "", "",
	  "more dropped samples (4) than samples" },
	{ "drops that cannot be counted", FIRST "#dropped\toutside\t18446744073709551615\n#dropped\toutside\t1\n"
	  ROW, "", "",
	  "text:3: too many dropped samples" },
	{ "drops that cannot be added", FIRST "#dropped\toutside\t18446744073709551615\n#dropped\ttruncated\t1\n"
	  ROW, "", "",
	  "more dropped samples than can be counted" },
	{ "of another record", FIRST "#record\tother\n" ROW, "", "", "text:2: is a profile of other, not of rec; "
	  "check --struct" },
	{ "without a row", FIRST "# nothing\n", "", "", "has no row" },
};

static void files_that_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR(good); i++)
		check_text(&good[i], &test_opts);
}

static void files_that_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR(bad); i++)
		check_text(&bad[i], &test_opts);
}

static void a_row_that_is_too_long(void **state)
{
	struct lm_str text = { 0 };
	struct lm_accesses t;
	struct lm_err *err;

	(void)state;
	lm_str_add(&text, FIRST);
	for (unsigned i = 0; i <= LM_LINE_MAX; i++)
		lm_str_add_char(&text, 'f');
	lm_str_add(&text, "\tm\t0\t8\t0\t1\t0\n" ROW);
	lm_accesses_init(&t);
	err = lm_profile_read_memory("text", text.text, text.len, &test_opts, &t);
	assert_non_null(err);
	assert_non_null(strstr(err->msg, "text:2: line longer than 64 KiB"));
	lm_err_free(err);
	lm_accesses_release(&t);
	lm_str_release(&text);
}

/* What is printed, read and printed again is the same, whatever the names hold. */
static void printed_and_read_again(void **state)
{
	static const char *const names[] = { "plain", "a b", "tab\there", "line\nbreak", "\\", "#comment",
	"\001\177\033[31m",
					     "\\x41", "f(int, char*) const", "\303\244", "\377" };
	struct lm_str once = { 0 }, twice = { 0 };
	struct lm_accesses t, u;

	(void)state;
	lm_accesses_init(&t);
	lm_accesses_init(&u);
	for (size_t i = 0; i < NR(names); i++) {
		struct lm_access a = make_row(&t, names[i], names[NR(names) - 1 - i]);

		a.reads = i;
		a.writes = 3 * i;
		a.cpu = (int32_t)i - 1;
		a.offset = i * 8;
		a.object = (uint32_t)i % 3;
		a.evidence = (enum lm_evidence)(i % LM_NR_EVIDENCE);
		lm_accesses_add(&t, a);
		lm_strings_add(t.events, names[i], strlen(names[i]));
	}
	t.record = make_row(&t, "rec\t\\", "m").site;
	t.samples = 100;
	t.used = 90;
	t.unknown_op = 5;
	t.unknown_element = 6;
	t.drops[LM_DROP_OUTSIDE] = 10;
	lm_accesses_sort(&t);
	lm_accesses_print(&t, &once);
	assert_null(lm_profile_read_memory("once", once.text, once.len, &(struct lm_reader_opts){ 0 }, &u));
	check_adds_up(&u);
	assert_int_equal(u.nr, t.nr);
	lm_accesses_sort(&u);
	lm_accesses_print(&u, &twice);
	assert_string_equal(once.text, twice.text);
	lm_str_release(&once);
	lm_str_release(&twice);
	lm_accesses_release(&t);
	lm_accesses_release(&u);
}

/* The example of access.h, byte by byte. */
static void the_form_of_the_file(void **state)
{
	static const char want[] = "#linemate-access "
	"1\n#record\tmem_cgroup\n#event\tcpu/mem-loads,ldlat=30/P\n#samples\t19587\n"
				   "#dropped\tno-address\t12\n#unknown-op\t3\n"
				   "#site\tmember\toffset\tsize\tcpu\treads\twrites\tobject\tevidence\n"
				   "page_counter_try_charge\tmemory.usage\t0\t8\t3\t0\t17\t0\texact\n";
	struct lm_reader_opts opts = { .record = "mem_cgroup" };
	struct lm_str text = { 0 };
	struct lm_accesses t;

	(void)state;
	lm_accesses_init(&t);
	assert_null(lm_profile_read_memory("text", want, strlen(want), &opts, &t));
	lm_accesses_print(&t, &text);
	assert_string_equal(lm_str_text(&text), want);
	lm_str_release(&text);
	lm_accesses_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_one_key_are_added_up),
		cmocka_unit_test(every_part_of_the_key_counts),
		cmocka_unit_test(counts_saturate),
		cmocka_unit_test(many_rows),
		cmocka_unit_test(order_is_by_name_then_number),
		cmocka_unit_test(merge_weighs),
		cmocka_unit_test(words_are_distinct),
		cmocka_unit_test(files_that_are_read),
		cmocka_unit_test(files_that_are_refused),
		cmocka_unit_test(a_row_that_is_too_long),
		cmocka_unit_test(printed_and_read_again),
		cmocka_unit_test(the_form_of_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
