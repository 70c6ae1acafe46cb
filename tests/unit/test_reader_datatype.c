/*
 * test_reader_datatype.c - perf annotate --data-type --stdio text.  What each
 * block must count as is worked out beside it, from its own numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile_check.h"

#define TITLE(n) "Annotate type: 'struct rec' in [kernel.kallsyms] (" n " samples):\n"
#define LINE "============================================================================\n"
#define PERCENT " Percent     offset       size  field\n"
#define END "                                };\n"
#define ROOT "  100.00          0       0x40  struct rec\t {\n"

static const struct text_case one_event[] = {
	{ "hexadecimal offsets: 25 % and 75 % of 200 samples",
	  TITLE("200") LINE PERCENT ROOT
	  "   25.00          0        0x8      long int\ta;\n"
	  "   75.00        0x8        0x4      int\tb;\n" END,
	  "[unknown] a+0/8 cpu-1 #0 50r 0w typed\n[unknown] b+0/4 cpu-1 #0 150r 0w typed\n",
	  "samples 200 used 200 unknown 200", NULL },
	{ "decimal offsets, before perf 6.12",
	  TITLE("10") LINE PERCENT "  100.00          0         16  struct rec\t {\n"
	  "   30.00          0          8      long int\ta;\n"
	  "   70.00          8          8      long int\tb;\n" END,
	  "[unknown] a+0/8 cpu-1 #0 3r 0w typed\n[unknown] b+0/8 cpu-1 #0 7r 0w typed\n",
	  "samples 10 used 10 unknown 10", NULL },
	{ "a parent is not counted again, members get dotted paths, anonymous ones have no part in it",
	  TITLE("100") LINE PERCENT ROOT
	  "   60.00          0       0x18      struct list_head\tlist {\n"
	  "   20.00          0        0x8          struct list_head*\tnext;\n"
	  "   40.00        0x8        0x8          struct list_head*\tprev;\n"
	  "                                        };\n"
	  "   40.00       0x18        0x8      struct \t {\n"
	  "   40.00       0x18        0x8          atomic_long_t\tn {\n"
	  "   40.00       0x18        0x8              s64\tcounter;\n"
	  "                                            };\n"
	  "                                        };\n" END,
	  "[unknown] list.next+0/8 cpu-1 #0 20r 0w typed\n[unknown] list.prev+0/8 cpu-1 #0 40r 0w typed\n"
	  "[unknown] n.counter+0/8 cpu-1 #0 40r 0w typed\n", "samples 100 used 100 unknown 100", NULL },
	{ "a union's bytes count once, by the alternative that explains most of them",
	  TITLE("100") LINE PERCENT ROOT
	  "  100.00          0        0x8      union \t {\n"
	  "   30.00          0        0x2          struct \t {\n"
	  "   10.00          0        0x1              u8\tlocked;\n"
	  "   20.00        0x1        0x1              u8\tpending;\n"
	  "                                            };\n"
	  "  100.00          0        0x8          u64\tval;\n"
	  "   70.00        0x4        0x4          u32\thigh;\n"
	  "                                        };\n" END,
	  "[unknown] val+0/8 cpu-1 #0 100r 0w typed\n", "samples 100 used 100 unknown 100", NULL },
	{ "of equal alternatives the first counts",
	  TITLE("4") LINE PERCENT ROOT
	  "  100.00          0        0x8      union u\tu {\n"
	  "  100.00          0        0x8          struct \t {\n"
	  "   25.00          0        0x4              int\tlow;\n"
	  "   75.00        0x4        0x4              int\thigh;\n"
	  "                                            };\n"
	  "  100.00          0        0x8          u64\tval;\n"
	  "                                        };\n" END,
	  "[unknown] u.high+0/4 cpu-1 #0 3r 0w typed\n[unknown] u.low+0/4 cpu-1 #0 1r 0w typed\n",
	  "samples 4 used 4 unknown 4",
	  NULL },
	{ "bit-fields of one word repeat its number: the first counts",
	  TITLE("10") LINE PERCENT ROOT
	  "   50.00          0        0x4      unsigned int\tused;\n"
	  "   50.00          0        0x4      unsigned int\tdirty;\n"
	  "   50.00        0x4        0x4      unsigned int\tc;\n" END,
	  "[unknown] c+0/4 cpu-1 #0 5r 0w typed\n[unknown] used+0/4 cpu-1 #0 5r 0w typed\n",
	  "samples 10 used 10 unknown 10", NULL },
	{ "of an array, and of anything large, the touched bytes are not known; zero-size members have none",
	  TITLE("10") LINE PERCENT ROOT
	  "   50.00          0       0x20      long int[]\tv;\n"
	  "    0.00       0x20          0      struct cacheline_padding\t_pad_;\n"
	  "   50.00       0x20       0x20      some_t\tbig;\n" END,
	  "[unknown] big+0/1 cpu-1 #0 5r 0w typed\n[unknown] v+0/1 cpu-1 #0 5r 0w typed\n",
	  "samples 10 used 10 unknown 10", NULL },
	{ "samples in padding belong to no member",
	  TITLE("10") LINE PERCENT ROOT "   80.00          0        0x4      int\ta;\n" END,
	  "[unknown] a+0/4 cpu-1 #0 8r 0w typed\n", "samples 10 used 8 unknown 8 no-member 2", NULL },
	{ "what no member explains is the flexible array's, where the record reaches into it",
	  TITLE("10") LINE PERCENT ROOT
	  "   80.00          0        0x4      int\ta;\n"
	  "    0.00       0x38          0      struct node*[]\tnodes;\n" END,
	  "[unknown] a+0/4 cpu-1 #0 8r 0w typed\n[unknown] nodes+0/1 cpu-1 #0 2r 0w typed\n",
	  "samples 10 used 10 unknown 10", NULL },
	{ "a flexible array at the very end gets nothing",
	  TITLE("10") LINE PERCENT ROOT
	  "   80.00          0        0x4      int\ta;\n"
	  "    0.00       0x40          0      struct node*[]\tnodes;\n" END,
	  "[unknown] a+0/4 cpu-1 #0 8r 0w typed\n", "samples 10 used 8 unknown 8 no-member 2", NULL },
	{ "-n prints samples",
	  TITLE("10") LINE " Samples     offset       size  field\n"
	  "      10          0       0x40  struct rec\t {\n"
	  "       3          0        0x4      int\ta;\n"
	  "       7        0x4        0x4      int\tb;\n" END,
	  "[unknown] a+0/4 cpu-1 #0 3r 0w typed\n[unknown] b+0/4 cpu-1 #0 7r 0w typed\n",
	  "samples 10 used 10 unknown 10", NULL },
	{ "--show-total-period: a third and two thirds of 9 samples",
	  TITLE("9") LINE "     Period     offset       size  field\n"
	  "      30000          0       0x40  struct rec\t {\n"
	  "      10000          0        0x4      int\ta;\n"
	  "      20000        0x4        0x4      int\tb;\n" END,
	  "[unknown] a+0/4 cpu-1 #0 3r 0w typed\n[unknown] b+0/4 cpu-1 #0 6r 0w typed\n",
	  "samples 9 used 9 unknown 9", NULL },
	{ "two blocks of one record, of two programs, are added up",
	  TITLE("10") LINE PERCENT ROOT "  100.00          0        0x4      int\ta;\n" END "\n"
	  "Annotate type: 'struct rec' in [nf tables] (5 samples):\n" LINE PERCENT ROOT
	  "  100.00          0        0x4      int\ta;\n" END,
	  "[unknown] a+0/4 cpu-1 #0 15r 0w typed\n", "samples 15 used 15 unknown 15", NULL },
	{ "a mail turned the tabs into blanks",
	  TITLE("10") LINE PERCENT "  100.00          0       0x40  struct rec      {\n"
	  "  100.00          0        0x8      union    {\n"
	  "   20.00          0        0x4          unsigned int    a;\n"
	  "   80.00        0x4        0x4          int*[2]    b;\n"
	  "                                        };\n" END,
	  /* The two do not overlap, so the union is as good as a struct. */
	  "[unknown] a+0/4 cpu-1 #0 2r 0w typed\n[unknown] b+0/1 cpu-1 #0 8r 0w typed\n",
	  "samples 10 used 10 unknown 10", NULL },
};

#define EVENTS " event[0] = cpu/mem-loads,ldlat=30/P\n event[1] = cpu/mem-stores/P\n"

static const struct text_case several_events[] = {
	{ "loads read and stores write; percentages of two events are shares of half the samples each",
	  TITLE("200") EVENTS LINE "         Percent     offset       size  field\n"
	  "  100.00  100.00          0       0x40  struct rec\t {\n"
	  "   40.00   10.00          0        0x4      int\ta;\n"
	  "   60.00   90.00        0x4        0x4      int\tb;\n" END,
	  "[unknown] a+0/4 cpu-1 #0 40r 10w typed\n[unknown] b+0/4 cpu-1 #0 60r 90w typed\n",
	  "samples 200 used 200", NULL },
	{ "an event without a sample of the record has no share",
	  TITLE("200") EVENTS LINE "         Percent     offset       size  field\n"
	  "    0.00  100.00          0       0x40  struct rec\t {\n"
	  "    0.00   10.00          0        0x4      int\ta;\n"
	  "    0.00   90.00        0x4        0x4      int\tb;\n" END,
	  "[unknown] a+0/4 cpu-1 #0 0r 20w typed\n[unknown] b+0/4 cpu-1 #0 0r 180w typed\n", "samples 200 used 200",
	  NULL },
	{ "-n needs no guess",
	  TITLE("200") EVENTS LINE "         Samples     offset       size  field\n"
	  "     150      50          0       0x40  struct rec\t {\n"
	  "     149      20          0        0x4      int\ta;\n"
	  "       1      30        0x4        0x4      int\tb;\n" END,
	  "[unknown] a+0/4 cpu-1 #0 149r 20w typed\n[unknown] b+0/4 cpu-1 #0 1r 30w typed\n",
	  "samples 200 used 200", NULL },
	{ "samples follow the periods: 3 to 1",
	  TITLE("200") EVENTS LINE "                 Period     offset       size  field\n"
	  "       3000       1000          0       0x40  struct rec\t {\n"
	  "       1000       1000          0        0x4      int\ta;\n"
	  "       2000          0        0x4        0x4      int\tb;\n" END,
	  "[unknown] a+0/4 cpu-1 #0 50r 50w typed\n[unknown] b+0/4 cpu-1 #0 100r 0w typed\n",
	  "samples 200 used 200", NULL },
	{ "an event that is neither is unknown and a read",
	  TITLE("4") " event[0] = cpu/mem-stores/P\n event[1] = ibs_op//\n" LINE
	  "         Samples     offset       size  field\n"
	  "       1       3          0       0x40  struct rec\t {\n"
	  "       1       3          0        0x4      int\ta;\n" END,
	  "[unknown] a+0/4 cpu-1 #0 3r 1w typed\n", "samples 4 used 4 unknown 3", NULL },
};

static const struct text_case whole_files[] = {
	{ "statistics and messages are no samples; other records are counted as such",
	  "Annotate data type stats:\ntotal 574, ok 542 (94.4%), bad 32 (5.6%)\n-----------\n         4 : no_var\n\n"
	  "Annotate type: 'struct other' in [kernel.kallsyms] (31 samples):\n" LINE PERCENT
	  "  100.00          0       0x10  struct other\t {\n  100.00          0        0x8      long int\tz;\n" END
	  "\n"
	  TITLE("2") LINE PERCENT ROOT "  100.00          0        0x4      int\ta;\n" END "\n"
	  "Annotate type: 'long int' in [kernel.kallsyms] (7 samples):\n" LINE PERCENT
	  "  100.00          0        0x8  long int\t;\n\n",
	  "[unknown] a+0/4 cpu-1 #0 2r 0w typed\n", "samples 44 used 2 unknown 2 not-a-sample 4 other-record 38",
	  NULL },
	{ "rows that cannot be read are counted, the others used",
	  TITLE("10") LINE PERCENT ROOT "   50.00          0        0x4      int\ta;\n"
	  "   50.00   50.00        0x4        0x4      int\tb;\n   50.00        0x4      int\tb;\n   nothing\n" END,
	  "[unknown] a+0/4 cpu-1 #0 5r 0w typed\n", "samples 13 used 5 unknown 5 unreadable 3 no-member 5", NULL },
	{ "cut off in a row: what is missing was cut off",
	  TITLE("10") LINE PERCENT ROOT "   50.00          0        0x4      int\ta;\n   30.00        0x4        0x4 "
	  "     in",
	  "[unknown] a+0/4 cpu-1 #0 5r 0w typed\n", "samples 11 used 5 unknown 5 truncated 6", NULL },
	{ "a block that ends in the middle because the next begins",
	  TITLE("10") LINE PERCENT ROOT "   50.00          0        0x4      int\ta;\n"
	  TITLE("2") LINE PERCENT ROOT "  100.00          0        0x4      int\ta;\n" END,
	  "[unknown] a+0/4 cpu-1 #0 7r 0w typed\n", "samples 12 used 7 unknown 7 unreadable 5", NULL },
	{ "a record that is not in it",
	  "Annotate type: 'struct other' in [kernel.kallsyms] (31 samples):\n" LINE PERCENT
	  "  100.00          0       0x10  struct other\t {\n  100.00          0        0x8      long int\tz;\n" END,
	  "", "", "none of its 31 samples can be used; reason of 31: row is about another record; check --struct" },
	{ "a record of no size and no member",
	  TITLE("3") LINE PERCENT "  100.00          0          0  struct rec\t;\n",
	  "[unknown] .+0/1 cpu-1 #0 3r 0w typed\n", "samples 3 used 3 unknown 3", NULL },
	{ "a title without a number", "Annotate type: 'struct rec' in x:\n" LINE PERCENT ROOT, "", "", "none of its"
	  },
	{ "statistics alone", "Annotate data type stats:\ntotal 574, ok 542 (94.4%), bad 32 (5.6%)\n", "", "",
	  "none of its 2" },
};

static void check_all(const struct text_case *cases, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		check_text(&cases[i], &test_opts);
}

static void one_event_a_block(void **state)
{
	(void)state;
	check_all(one_event, NR(one_event));
}

static void events_in_a_group(void **state)
{
	(void)state;
	check_all(several_events, NR(several_events));
}

static void files_of_many_blocks(void **state)
{
	(void)state;
	check_all(whole_files, NR(whole_files));
}

static void without_a_name_the_first_record_counts(void **state)
{
	static const struct text_case c = { "no record asked for",
		TITLE("10") LINE PERCENT ROOT "  100.00          0        0x4      int\ta;\n" END
		"Annotate type: 'struct other' in x (3 samples):\n",
		"[unknown] a+0/4 cpu-1 #0 10r 0w typed\n", "samples 13 used 10 unknown 10 other-record 3", NULL };
	static const struct lm_reader_opts none = { 0 }, tagged = { .record = "struct rec" };

	(void)state;
	check_text(&c, &none);
	check_text(&c, &tagged);
}

/* A second profile of the same table is of the record that the first one named. */
static void the_second_profile_follows_the_first(void **state)
{
	static const char first[] = TITLE("10") LINE PERCENT ROOT "  100.00          0        0x4      int\ta;\n" END;
	static const char second[] = "Annotate type: 'struct other' in x (3 samples):\n" LINE PERCENT
				     "  100.00          0       0x10  struct other\t {\n"
				     "  100.00          0        0x8      long int\tz;\n" END;
	static const struct lm_reader_opts none = { 0 };
	struct lm_accesses t;
	struct lm_err *err;

	(void)state;
	lm_accesses_init(&t);
	assert_null(lm_profile_read_memory("first", first, strlen(first), &none, &t));
	err = lm_profile_read_memory("second", second, strlen(second), &none, &t);
	assert_non_null(err);
	assert_int_equal(t.nr, 1);
	assert_int_equal(t.samples, 10);
	lm_err_free(err);
	lm_accesses_release(&t);
}

/*
 * Real output of two versions of perf.  Every sample of the record is used:
 * the title says 152 and 151.  Single values by hand: 7.89 % of 152 is 12
 * (css.refcnt.data), 2.65 % of 151 is 4 (css.cgroup).  The 3 of nodeinfo are
 * those of the record's last 16 bytes, which no other row covers: the members
 * of the record itself add up to 149 and 148.
 */
static void what_perf_printed(void **state)
{
	static const struct {
		const char *name;
		uint64_t used, cgroup, data;
	} cases[] = {
		{ "datatype-mem_cgroup.perf6.12.txt", 152, 5, 12 },
		{ "datatype-mem_cgroup.perf7.3.txt", 151, 4, 12 },
	};
	static const struct lm_reader_opts opts = { .record = "mem_cgroup" };

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct lm_accesses t;
		uint64_t reads, writes, sum = 0;

		lm_accesses_init(&t);
		assert_null(read_data(cases[i].name, &opts, &t));
		check_adds_up(&t);
		assert_int_equal(t.used, cases[i].used);
		assert_int_equal(t.unknown_op, cases[i].used);
		assert_int_equal(t.drops[LM_DROP_NOT_A_SAMPLE], 7);
		for (size_t k = 0; k < t.nr; k++)
			sum += t.rows[k].reads + t.rows[k].writes;
		assert_int_equal(sum, cases[i].used);
		sum_rows(&t, "[unknown]", "css.cgroup", 0, &reads, &writes);
		assert_int_equal(reads, cases[i].cgroup);
		sum_rows(&t, "[unknown]", "css.refcnt.data", 0, &reads, &writes);
		assert_int_equal(reads, cases[i].data);
		sum_rows(&t, "[unknown]", "nodeinfo", 0, &reads, &writes);
		assert_int_equal(reads, 3);
		lm_accesses_release(&t);
	}
}

/* Nesting without end is refused row by row, not by recursion. */
static void nested_without_end(void **state)
{
	struct lm_str text = { 0 };
	struct lm_accesses t;

	(void)state;
	lm_str_add(&text, TITLE("10") LINE PERCENT);
	for (int i = 0; i < 100000; i++)
		lm_str_add(&text, "  100.00          0        0x4  struct rec\ta {\n");
	lm_str_add(&text, "  100.00          0        0x4      int\tb;\n");
	lm_accesses_init(&t);
	assert_null(lm_profile_read_memory("text", text.text, text.len, &test_opts, &t));
	check_adds_up(&t);
	assert_int_equal(t.used, 10);
	lm_accesses_release(&t);
	lm_str_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_event_a_block),
		cmocka_unit_test(events_in_a_group),
		cmocka_unit_test(files_of_many_blocks),
		cmocka_unit_test(without_a_name_the_first_record_counts),
		cmocka_unit_test(the_second_profile_follows_the_first),
		cmocka_unit_test(what_perf_printed),
		cmocka_unit_test(nested_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
