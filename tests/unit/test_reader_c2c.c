/* test_reader_c2c.c - perf c2c report --stdio text of all ages, whole and trimmed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample_check.h"

#define DASHES "  -------------------------------------------------------------\n"

struct c2c_case {
	const char *sentence;
	const char *text, *rows, *rest, *error;
};

static const struct c2c_case cases[] = {
	{ "before 6.0 a row has four shares",
	  DASHES
	  "     14       36       70      191        0  0xffff888100000040\n"
	  DASHES
	  "          16.67%   15.71%   95.81%    0.00%                0x10     0       1  0xffffffff81000100      2155      "
	  "1851      1855      378       156  [k] charge_one    [kernel.kallsyms]  atomic.h:160    0  1  2  3\n",
	  "ffffffff81000100 ffff888100000050 charge_one ([kernel.kallsyms]) cpu-1 size0 read contention x195\n"
	  "ffffffff81000100 ffff888100000050 charge_one ([kernel.kallsyms]) cpu-1 size0 write contention x183\n",
	  "samples 381 not-a-sample 3\n", NULL },
	{ "since 6.0 it has five: stores without a level count, too",
	  "      0        0        0        0        0       10  0xffff888100000000\n"
	  "   0.00%    0.00%    0.00%    0.00%  100.00%  0x8  N/A  0  0x401300  0  0  0  12  1  [.] f  fs  fs.c:27  0\n",
	  "401300 ffff888100000008 f (fs) cpu-1 size0 read contention x2\n"
	  "401300 ffff888100000008 f (fs) cpu-1 size0 write contention x10\n",
	  "samples 13 not-a-sample 1\n", NULL },
	{ "the draft of 2022 has six, the third of loads, and four cycles",
	  "      0        0        0       99       10        0        0      0xaaaac17d6000\n"
	  "   0.00%  0.00%  6.06%  50.00%  0.00%  0.00%  0x20  N/A  0  0xaaaac17c25ac  0  0  43  375  18469  2  "
	  "[.] 0x00000000000025ac  memstress  x  0\n",
	  "aaaac17c25ac aaaac17d6020 [unknown] (memstress) cpu-1 size0 read contention x18464\n"
	  "aaaac17c25ac aaaac17d6020 [unknown] (memstress) cpu-1 size0 write contention x5\n",
	  "samples 18470 not-a-sample 1\n", NULL },
	{ "a mail quotes, trims, and leaves the banners out",
	  "> " DASHES
	  ">       0    13642    19392     9012       63  0xff1ddd3f0c8a3b00\n"
	  "> " DASHES
	  ">    0.56%    0.47%   26.39%    6.35%    0x8     0       1  0xffffffffabb9a5ec      1327      1037       587     "
	  "8537       160  [k] down_write                  [kernel.kallsyms]  down_write+28                    0  1\n"
	  ">            |\n>            ---down_write\n",
	  "ffffffffabb9a5ec ff1ddd3f0c8a3b08 down_write ([kernel.kallsyms]) cpu-1 size0 read contention x6155\n"
	  "ffffffffabb9a5ec ff1ddd3f0c8a3b08 down_write ([kernel.kallsyms]) cpu-1 size0 write contention x2382\n",
	  "samples 8542 not-a-sample 5\n", NULL },
	{ "grouped by thread: the name may hold blanks and numbers",
	  "  0  100  150  290  150  10  0xffff888100000000\n"
	  "  60.00%  0.00%  0.00%  0.00%  0.00%  0x0  1  1  500  502:Web 7 Content  0x4012d0  417  0  0  120  2  "
	  "[.] operator new(unsigned long)  fs  fs.c:26  1\n"
	  "  40.00%  0.00%  0.00%  0.00%  0.00%  0x10  0-3  1  500  502:fs  417  0  0  7  2  fs  1\n",
	  "0 ffff888100000010 [unknown] (fs) cpu-1 size0 read contention x7\n"
	  "4012d0 ffff888100000000 operator new(unsigned long) (fs) cpu-1 size0 read contention x120\n",
	  "samples 128 not-a-sample 1\n", NULL },
	{ "rows without a cache line, damaged rows, and a line that is cut off",
	  "  60.00%  0.00%  0.00%  0.00%  0.00%  0x0  1  1  0x4012d0  417  0  0  120  2  [.] f  fs  fs.c:26  1\n"
	  "  0  100  150  290  150  10  0xffff888100000000\n"
	  "  60.00%  0.00%  0.00%  0.00%  0.00%  0x0  1  1  0x4012d0  417  0  [.] f  fs  fs.c:26  1\n"
	  "  60.00%  0.00%  0.00%  0.00%  0.00%  0x0  1  1  0x4012d0  417  0  0  120  2  [.] f  fs  fs.c:26  1\n"
	  "  60.00%  0.00%  0.00%  0.00%  0.00%  0x0  1  1  0x401",
	  "4012d0 ffff888100000000 f (fs) cpu-1 size0 read contention x120\n",
	  "samples 124 not-a-sample 1 unreadable 2 truncated 1\n", NULL },
	{ "only the counts of the first sections",
	  "            Trace Event Information\n  Total records                     :       1300\n",
	  NULL, NULL, "line is no sample" },
};

static void texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR(cases); i++)
		check_samples(cases[i].sentence, cases[i].text, strlen(cases[i].text), cases[i].rows, cases[i].rest,
			      cases[i].error);
}

/*
 * What the file was made of (290 loads and 450 stores of the first line that
 * are contended, and so on): the report gives every count back.
 */
static void counts_come_back(void **state)
{
	static const uint64_t objects[] = { 0xa9ef040, 0xffff88811b71d880 };
	static const struct lm_reader_opts opts = { .record = "shared", .objects = objects, .nr_objects = 2,
						    .record_size = 64 };
	static const struct {
		const char *site;
		uint64_t offset, reads, writes;
	} want[] = {
		{ "account", 0, 240, 0 }, { "account", 16, 160, 0 }, { "account", 24, 70, 350 }, { "account", 32, 0, 10 },
		{ "account", 40, 0, 90 }, { "page_counter_try_charge", 0, 50, 90 }, { "page_counter_uncharge", 0, 0, 45 },
		{ "try_charge_memcg", 8, 60, 0 },
	};
	struct lm_accesses t;

	(void)state;
	lm_accesses_init(&t);
	assert_null(read_data("c2c-whole.perf6.1.txt", &opts, &t));
	check_adds_up(&t);
	assert_int_equal(t.used, 1165);
	assert_int_equal(t.drops[LM_DROP_OTHER_OBJECT], 120);
	assert_int_equal(lm_strings_nr(t.events), 2);
	for (size_t i = 0; i < NR(want); i++) {
		uint64_t reads, writes;

		sum_rows(&t, want[i].site, LM_WHOLE_RECORD, want[i].offset, &reads, &writes);
		if (reads != want[i].reads || writes != want[i].writes)
			fail_msg("%s +%" PRIu64 ": %" PRIu64 " reads %" PRIu64 " writes", want[i].site, want[i].offset,
				 reads, writes);
	}
	for (size_t i = 0; i < t.nr; i++)
		assert_int_equal(t.rows[i].evidence, LM_EVIDENCE_CONTENTION);
	lm_accesses_release(&t);
}

/* Ten groupings and options of perf 7.3: every detail row is read, and none is unreadable. */
static void variants_of_one_report(void **state)
{
	struct lm_samples t;

	(void)state;
	lm_samples_init(&t);
	assert_null(read_data_samples("c2c-variants.perf7.3.txt", &t));
	check_samples_add_up(&t);
	assert_int_equal(t.drops[LM_DROP_UNREADABLE], 0);
	assert_int_equal(t.samples - t.drops[LM_DROP_NOT_A_SAMPLE], 10620);
	lm_samples_release(&t);
}

static void peer_snoops(void **state)
{
	struct lm_samples t;
	uint64_t sum = 0;

	(void)state;
	lm_samples_init(&t);
	assert_null(read_data_samples("c2c-peer.perf6.1.txt", &t));
	check_samples_add_up(&t);
	for (size_t i = 0; i < t.nr; i++)
		sum += t.rows[i].count;
	assert_int_equal(sum, 88);
	lm_samples_release(&t);
}

static void needs_an_object(void **state)
{
	struct lm_accesses t;
	struct lm_err *err;

	(void)state;
	lm_accesses_init(&t);
	err = read_data("c2c-whole.perf6.1.txt", &(struct lm_reader_opts){ .record = "x" }, &t);
	assert_non_null(err);
	assert_non_null(strstr(err->msg, "--object ADDR"));
	lm_err_free(err);
	lm_accesses_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(counts_come_back),
		cmocka_unit_test(variants_of_one_report),
		cmocka_unit_test(peer_snoops),
		cmocka_unit_test(needs_an_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
