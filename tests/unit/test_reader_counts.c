/*
 * test_reader_counts.c - the smaller formats: perf mem report -D, valgrind
 * lackey, counts of hardware breakpoints, perf report -s type,typeoff; and what
 * perf script text gives to attribution.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample_check.h"

struct sample_case {
	const char *sentence;
	const char *text, *rows, *rest, *error;
};

#define CSV_HEAD "# PID, TID, IP, ADDR, LOCAL WEIGHT, DSRC, SYMBOL\n"

static const struct sample_case sample_cases[] = {
	{ "perf mem report -D -x,",
	  CSV_HEAD
	  "20132,20144,0xffffffffa4470d46,0x55ffba5cda08,225,0x11868100242,[kernel.kallsyms]:???\n"
	  "1,-1,0x401000,0xffff888100000010,0,0x268100184,/usr/bin/fs:ns::f(int, long)\n"
	  "1,1,0x401000,0xffff888100000010,0,0x1026a100142,/usr/bin/fs:g\n",
	  "401000 ffff888100000010 ns::f(int, long) (/usr/bin/fs) cpu-1 size0 write precise x1\n"
	  "401000 ffff888100000010 g (/usr/bin/fs) cpu-1 size0 both precise x1\n"
	  "ffffffffa4470d46 55ffba5cda08 [unknown] ([kernel.kallsyms]) cpu-1 size0 read precise x1\n",
	  "samples 4 not-a-sample 1\n", NULL },
	{ "without -x the first row's address stands behind a literal 0x016, and only there",
	  CSV_HEAD
	  "  500   501 0x00000000004012d0 0x016a9ef040    35 0x268100142 /usr/local/bin/fs:???\n"
	  "500 502 0x4012e7 0x16a9ef058 5 0x268100184 fs:w\n",
	  "4012d0 a9ef040 [unknown] (/usr/local/bin/fs) cpu-1 size0 read precise x1\n"
	  "4012e7 16a9ef058 w (fs) cpu-1 size0 write precise x1\n",
	  "samples 3 not-a-sample 1\n", NULL },
	{ "with physical address and page size, separated by a semicolon",
	  "500;501;0x4012d0;0xa9ef040;0x00000002029ef040;4K;35;0x268100142;fs:f\n"
	  "500;501;0x4012d0;0xa9ef040;0x00000002029ef040;N/A;35;0x5080021;fs:f\n"
	  "500;501;0x4012d0;0xa9ef040;35;fs:f\n"
	  "500;501;0x4012d0;0xa9ef040;0x1;4K;35;0x2681",
	  "4012d0 a9ef040 f (fs) cpu-1 size0 read precise x1\n",
	  "samples 4 unreadable 1 truncated 1 not-memory 1\n", NULL },
	{ "lackey: the last instruction is the ip; modify is both",
	  "==9382== Lackey, an example Valgrind tool\n"
	  " L 1fff0006f8,8\n"
	  "I  0401ab70,3\nI  0401ab73,5\n S 1fff0006f8,8\n M 1fff000700,4\n S 1fff0006f8,8\n"
	  "the program's own words\n S 1fff0006f8,9999\n L 10,",
	  "0 1fff0006f8 [unknown] () cpu-1 size8 read exact x1\n"
	  "401ab73 1fff0006f8 [unknown] () cpu-1 size8 write exact x2\n"
	  "401ab73 1fff000700 [unknown] () cpu-1 size4 both exact x1\n",
	  "samples 8 not-a-sample 3 truncated 1\n", NULL },
	{ "perf stat -x,: of two counts of one address the smaller one is the writes",
	  "336,,mem:0xffff888100000010,412070,100.00,,\n453,,mem:0xffff888100000010,412070,100.00,,\n"
	  "7,,mem:0xffff888100000018,412070,100.00,,\n"
	  "CPU3,5,,mem:0xffff888100000020/8:rw:u,1,100.00,,\nCPU3,5,,mem:0xffff888100000020/8:w:u,1,100.00,,\n"
	  "CPU2,4,,mem:0xffff888100000020/8:w:u,1,100.00,,\n9,,cycles,1,100.00,,\n"
	  "<not counted>,,mem:0xffff888100000010,0,100.00,,\n",
	  "0 ffff888100000010 [unknown] () cpu-1 size0 read exact x117\n"
	  "0 ffff888100000010 [unknown] () cpu-1 size0 write exact x336\n"
	  "0 ffff888100000018 [unknown] () cpu-1 size0 unknown exact x7\n"
	  "0 ffff888100000020 [unknown] () cpu2 size8 write exact x4\n"
	  "0 ffff888100000020 [unknown] () cpu3 size8 write exact x5\n",
	  "samples 471 not-a-sample 1 unreadable 1\nevent mem:0xffff888100000010\nevent mem:0xffff888100000018\n"
	  "event mem:0xffff888100000020/8:rw:u\nevent mem:0xffff888100000020/8:w:u\n", NULL },
	{ "perf stat as a person reads it",
	  " Performance counter stats for './x':\n\n"
	  "             1,250      mem:0xffff888100000010/8:rw:u\n"
	  "             1,000      mem:0xffff888100000010/8:w:u\n",
	  "0 ffff888100000010 [unknown] () cpu-1 size8 read exact x250\n"
	  "0 ffff888100000010 [unknown] () cpu-1 size8 write exact x1000\n",
	  "samples 1251 not-a-sample 1\nevent mem:0xffff888100000010/8:rw:u\nevent mem:0xffff888100000010/8:w:u\n",
	  NULL },
	{ "script text: ips only, with and without call chain; how good the ip is comes from the event",
	  "  fs 14321 537.997850:     200000 cpu-clock:      4012d0 f+0x10 (/bin/fs)\n"
	  "  fs 14321 [002] 537.997850:     200000 cycles:      4012d0 f+0x10 (/bin/fs)\n"
	  "  fs 14321 [002] 537.997851:     200000 cycles:ppp:      4012d0 f+0x10 (/bin/fs+0x12d0)\n"
	  "  fs 14321 [002] 537.997852:     200000 cycles: \n"
	  "\tffffffff81000000 g+0x1 ([kernel.kallsyms])\n\t    4012d4 main+0x2 (/bin/fs)\n\n"
	  "  fs 14321 [002] 537.997853:          1 page-faults:      4012d0 f+0x10 (/bin/fs)\n",
	  "4012d0 0 f (/bin/fs) cpu-1 size0 unknown skidding x1\n"
	  "4012d0 0 f (/bin/fs) cpu2 size0 unknown precise x1\n"
	  "4012d0 0 f (/bin/fs) cpu2 size0 unknown skidding x1\n"
	  "ffffffff81000000 0 g ([kernel.kallsyms]) cpu2 size0 unknown skidding from 4012d4 x1\n",
	  "samples 5 not-memory 1\nevent cpu-clock\nevent cycles\nevent cycles:ppp\nevent page-faults\n", NULL },
	{ "lines of ips, and call chains without a head",
	  "     7f6a1e04a4a2 init_cpu+0xe12 (/usr/lib/ld.so)\n     7f6a1e04a4a2 init_cpu+0xe12 (/usr/lib/ld.so)\n"
	  "\n\t          401000 f+0x0 (/bin/fs)\n\t          401100 main+0x2 (/bin/fs)\n\n"
	  "\t          401004 f+0x4 (/bin/fs)\n",
	  "401000 0 f (/bin/fs) cpu-1 size0 unknown skidding from 401100 x1\n"
	  "401004 0 f (/bin/fs) cpu-1 size0 unknown skidding x1\n"
	  "7f6a1e04a4a2 0 init_cpu (/usr/lib/ld.so) cpu-1 size0 unknown skidding x2\n",
	  "samples 4\n", NULL },
	{ "callers: three of them, inlined frames are their function's, and a data address says more",
	  "  fs 14321 [002] 537.997852:     200000 cycles:pp: \n"
	  "\t          401004 inner (inlined)\n\t          401004 f+0x4 (/bin/fs)\n\t          401100 deep (inlined)\n"
	  "\t          401100 g+0x2 (/bin/fs)\n\t          401200 h+0x2 (/bin/fs)\n\t          401300 i+0x2 (/bin/fs)\n"
	  "\t          401400 main+0x2 (/bin/fs)\n\n"
	  "  fs 14321 [002] 537.997853:     200000 cycles:pp:      7f0000001000 \n"
	  "\t          401004 f+0x4 (/bin/fs)\n\t          401100 g+0x2 (/bin/fs)\n\n",
	  "401004 0 f (/bin/fs) cpu2 size0 unknown precise from 401100 401200 401300 x1\n"
	  "401004 7f0000001000 f (/bin/fs) cpu2 size0 unknown precise x1\n",
	  "samples 2\nevent cycles:pp\n", NULL },
	{ "breakpoints are exact, and their ip is behind the access",
	  "  perf 480 [001] 686.163282: mem:0xffff88811b71dc48: ffff88811b71dc48 ffffffff8168ebbb f+0x3b\n"
	  "  perf 480 [001] 686.163282: mem:0xffff88811b71dc40/4:w: ffffffff8168ebbb f+0x3b (x)\n",
	  "ffffffff8168ebbb ffff88811b71dc40 f (x) cpu1 size4 write exact after x1\n"
	  "ffffffff8168ebbb ffff88811b71dc48 f () cpu1 size0 unknown exact after x1\n",
	  "samples 2\nevent mem:0xffff88811b71dc48\nevent mem:0xffff88811b71dc40/4:w\n", NULL },
	{ "traps of writes and of all accesses: the other ones are reads, but not in the kernel, where no write was trapped",
	  "  a 1 [001] 1.000001: mem:0xffff88811b71dc40/8:w:u:      401008 f+0x8 (x)\n"
	  "  a 1 [001] 1.000002: mem:0xffff88811b71dc40/8:rw:      401008 f+0x8 (x)\n"
	  "  a 1 [001] 1.000003: mem:0xffff88811b71dc40/8:rw:      401010 f+0x10 (x)\n"
	  "  a 1 [001] 1.000003: mem:0xffff88811b71dc40/8:rw:      ffffffff81000000 g+0x10 (k)\n",
	  "401008 ffff88811b71dc40 f (x) cpu1 size8 write exact after x1\n"
	  "401010 ffff88811b71dc40 f (x) cpu1 size8 read exact after x1\n"
	  "ffffffff81000000 ffff88811b71dc40 g (k) cpu1 size8 unknown exact after x1\n",
	  "samples 4 duplicate 1\nevent mem:0xffff88811b71dc40/8:w:u\nevent mem:0xffff88811b71dc40/8:rw\n", NULL },
	{ "mappings of --show-mmap-events, with and without build id",
	  "  swapper 0 [000] 0.000000: PERF_RECORD_MMAP -1/0: [0xffffffffa4200000(0xe013fa) @ 0xffffffffa4200000]: x "
	  "[kernel.kallsyms]_text\n"
	  "  fs 500 [000] 0.000000: PERF_RECORD_MMAP2 500/500: [0x401000(0x1000) @ 0x1000 <deadbeef>]: r-xp /bin/a b\n"
	  "  fs 500 [000] 0.000000: PERF_RECORD_MMAP2 500/500: [0xa9ef000(0x21000) @ 0 00:00 0 0]: rw-p //anon\n"
	  "  fs 501 [000] 5.001607: 4000 cpu/mem-loads,ldlat=30/P: a9ef040 268100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 "
	  "or L2 hit|LCK No|BLK  N/A  35  38  4012d0 [unknown] (/bin/a b) 2029ef040 4K\n",
	  "4012d0 a9ef040 [unknown] (/bin/a b) cpu0 size0 read precise x1\n",
	  "samples 4 not-a-sample 3\nevent cpu/mem-loads,ldlat=30/P\n"
	  "map -1 ffffffffa4200000+e013fa@ffffffffa4200000 [kernel.kallsyms]_text\n"
	  "map 500 401000+1000@1000 /bin/a b\nid deadbeef /bin/a b\n", NULL },
	{ "a format that names members has no samples", "#linemate-access 1\nf\tm\t0\t8\t0\t1\t2\n", NULL, NULL,
	  "names members already" },
};

static void samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR(sample_cases); i++) {
		const struct sample_case *c = &sample_cases[i];

		check_samples(c->sentence, c->text, strlen(c->text), c->rows, c->rest, c->error);
	}
}

static const struct text_case access_cases[] = {
	{ "perf report -s type,typeoff -n counts samples",
	  "# Samples: 626  of event 'cpu-clock'\n"
	  "# Overhead       Samples  Data Type  Data Type Offset\n"
	  "    37.98%           207  struct rec  struct rec +0x10 (limit)\n"
	  "    12.00%            20  struct rec  struct rec +16 (css.refcnt)\n"
	  "     2.00%             5  struct rec  struct rec +0x7 (no field)\n"
	  "    12.85%            70  (unknown)  (unknown) +0 (no field)\n"
	  "     9.00%             9  struct other  struct other +0 (a)\n"
	  "    12.85%            70  (unknown)\n",
	  "[unknown] .+7/1 cpu-1 #0 5r 0w typed\n[unknown] css.refcnt+0/1 cpu-1 #0 20r 0w typed\n"
	  "[unknown] limit+0/1 cpu-1 #0 207r 0w typed\n",
	  "samples 314 used 232 unknown 232 not-a-sample 2 other-record 79 no-member 1", NULL },
	{ "without -n the share of the samples in the head, of stores here",
	  "# Samples: 2K of event 'cpu/mem-stores/P'\n"
	  "    25.00%  struct rec  struct rec +0x10 (limit)\n",
	  "[unknown] limit+0/1 cpu-1 #0 0r 500w typed\n", "samples 501 used 500 not-a-sample 1", NULL },
	{ "a sweep needs no object: offset, writes, all",
	  "# offset writes all\n0 0 52595\n8 3 2\n16 0 0\n24 112 112\nnonsense\n32 1",
	  "[unknown] .+0/8 cpu-1 #0 52595r 0w exact\n[unknown] .+8/8 cpu-1 #0 0r 3w exact\n"
	  "[unknown] .+24/8 cpu-1 #0 0r 112w exact\n",
	  "samples 52713 used 52710 not-a-sample 1 unreadable 1 truncated 1", NULL },
	{ "lackey binds to objects",
	  "I  0401ab70,3\n S ffff888100000010,8\n L 1fff0006f8,8\n",
	  "[unknown] .+16/8 cpu-1 #0 0r 1w exact\n", "samples 2 used 1 other-object 1", NULL },
	{ "perf stat binds to objects, and cannot say what one count alone is",
	  "7,,mem:0xffff888100000018,412070,100.00,,\n",
	  "[unknown] .+24/1 cpu-1 #0 7r 0w exact\n", "samples 7 used 7 unknown 7", NULL },
	{ "ips only cannot be accesses",
	  "  fs 14321 537.997850:     200000 cycles:      4012d0 f+0x10 (/bin/fs)\n", NULL, NULL, "-F +addr" },
};

static void accesses(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR(access_cases); i++)
		check_text(&access_cases[i], &test_opts);
}

/* Recorded on a machine without counters: the written slots of a live struct mem_cgroup. */
static void sweep_of_a_kernel(void **state)
{
	static const struct {
		uint64_t offset, reads, writes;
	} want[] = { { 0, 52595, 0 }, { 256, 117, 336 }, { 448, 105, 339 }, { 1224, 97478, 0 }, { 1600, 0, 112 } };
	struct lm_accesses t;

	(void)state;
	lm_accesses_init(&t);
	assert_null(read_data("hwbp-mem_cgroup.sweep.txt", &(struct lm_reader_opts){ .record = "mem_cgroup" }, &t));
	check_adds_up(&t);
	assert_int_equal(t.used, 323817);
	for (size_t i = 0; i < NR(want); i++) {
		uint64_t reads, writes;

		sum_rows(&t, NULL, LM_WHOLE_RECORD, want[i].offset, &reads, &writes);
		assert_int_equal(reads, want[i].reads);
		assert_int_equal(writes, want[i].writes);
	}
	lm_accesses_release(&t);
}

/* Every line of the recorded text is an access, an instruction, or valgrind's own. */
static void lackey_of_a_program(void **state)
{
	struct lm_samples t;

	(void)state;
	lm_samples_init(&t);
	assert_null(read_data_samples("lackey.txt", &t));
	check_samples_add_up(&t);
	assert_int_equal(t.samples, 96);
	assert_int_equal(t.drops[LM_DROP_NOT_A_SAMPLE], 6);
	lm_samples_release(&t);
}

/* Two files into one table: rows with the same key are one, names are not mixed up. */
static void two_files_into_one_table(void **state)
{
	static const char one[] = "1,1,0x401000,0xffff888100000010,0,0x268100142,/bin/a:f\n";
	static const char two[] = "1,1,0x401000,0xffff888100000010,0,0x268100142,/bin/b:g\n"
				  "1,1,0x401000,0xffff888100000010,0,0x268100142,/bin/a:f\n";
	struct lm_str rows = { 0 };
	struct lm_samples t;

	(void)state;
	lm_samples_init(&t);
	assert_null(lm_profile_read_samples_memory("one", one, strlen(one), &test_opts, &t));
	assert_null(lm_profile_read_samples_memory("two", two, strlen(two), &test_opts, &t));
	check_samples_add_up(&t);
	tell_samples(&t, &rows);
	assert_string_equal(lm_str_text(&rows),
			    "401000 ffff888100000010 f (/bin/a) cpu-1 size0 read precise x2\n"
			    "401000 ffff888100000010 g (/bin/b) cpu-1 size0 read precise x1\n");
	lm_str_release(&rows);
	lm_samples_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples),
		cmocka_unit_test(accesses),
		cmocka_unit_test(sweep_of_a_kernel),
		cmocka_unit_test(lackey_of_a_program),
		cmocka_unit_test(two_files_into_one_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
