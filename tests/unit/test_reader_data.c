/* test_reader_data.c - perf.data without perf: files made here, and files that perf printed, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data_writer.h"
#include "sample_check.h"

#include <unistd.h>

enum {
	IP = 1 << 0, TID = 1 << 1, TIME = 1 << 2, ADDR = 1 << 3, READ = 1 << 4, CALLCHAIN = 1 << 5, ID = 1 << 6,
	CPU = 1 << 7, PERIOD = 1 << 8, STREAM_ID = 1 << 9, RAW = 1 << 10, BRANCH_STACK = 1 << 11, REGS_USER = 1 << 12,
	STACK_USER = 1 << 13, WEIGHT = 1 << 14, DATA_SRC = 1 << 15, IDENTIFIER = 1 << 16,
};
enum { KERNEL = 1, USER = 2, GUEST = 4 };
enum { LOAD = 2, STORE = 4, LOCKED = 2 << 24 };
#define MEMORY (IP | TID | TIME | ADDR | ID | CPU | PERIOD | DATA_SRC)

static const struct attr_words memory[] = {
	{ .type = 4, .config = 0x1cd, .sample_type = MEMORY, .flags = 2 << 15 },
	{ .type = 4, .config = 0x2cd, .sample_type = MEMORY, .flags = 2 << 15 },
};
static const char *const memory_names[] = { "cpu/mem-loads,ldlat=30/P", "cpu/mem-stores/P" };
static const struct file_words memory_file = { .attrs = memory, .names = memory_names, .nr = 2, .version = "6.1" };

static void put_sample(struct lm_str *s, uint16_t misc, uint64_t id, uint64_t ip, uint64_t addr, uint32_t cpu,
		       uint64_t data_src)
{
	struct lm_str b = { 0 };

	put_u64(&b, ip);
	put(&b, 500, 4);
	put(&b, 501, 4);
	put_u64(&b, 1000);
	put_u64(&b, addr);
	put_u64(&b, id);
	put(&b, cpu, 8);
	put_u64(&b, 1);
	put_u64(&b, data_src);
	put_record(s, 9, misc, &b);
	lm_str_release(&b);
}

static void put_mmap(struct lm_str *s, uint16_t misc, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff,
		     const char *name)
{
	struct lm_str b = { 0 };

	put(&b, pid, 4);
	put(&b, pid, 4);
	put_u64(&b, start);
	put_u64(&b, len);
	put_u64(&b, pgoff);
	put_text(&b, name);
	put_record(s, 1, misc, &b);
	lm_str_release(&b);
}

/* With a build id of four bytes instead of the inode. */
static void put_mmap2(struct lm_str *s, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff, const char *name)
{
	struct lm_str b = { 0 };

	put(&b, pid, 4);
	put(&b, pid, 4);
	put_u64(&b, start);
	put_u64(&b, len);
	put_u64(&b, pgoff);
	put(&b, 4, 4);
	put(&b, 0xefbeadde, 4);
	for (int i = 0; i < 2; i++)
		put_u64(&b, 0);
	put_u64(&b, 5);
	put_text(&b, name);
	put_record(s, 10, USER | 1 << 14, &b);
	lm_str_release(&b);
}

/* What most tests read: a program and a kernel, loads, stores and a locked load. */
static void put_records(struct lm_str *s)
{
	put_mmap(s, KERNEL, UINT32_MAX, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text");
	put_mmap2(s, 500, 0x401000, 0x1000, 0x1000, "/usr/bin/fs");
	put_sample(s, USER, 100, 0x4012d0, 0xffff888100000010, 1, LOAD);
	put_sample(s, USER, 101, 0x4012d0, 0xffff888100000018, 1, STORE);
	put_sample(s, KERNEL, 100, 0xffffffff81000040, 0xffff888100000020, 0, LOAD | LOCKED);
	put_sample(s, KERNEL, 100, 0xffffffff81000040, 0xffff888100000020, 0, LOAD | LOCKED);
}

#define RECORDS_ROWS \
	"4012d0 ffff888100000010 [unknown] (/usr/bin/fs) cpu1 size0 read precise x1\n" \
	"4012d0 ffff888100000018 [unknown] (/usr/bin/fs) cpu1 size0 write precise x1\n" \
	"ffffffff81000040 ffff888100000020 [unknown] ([kernel.kallsyms]) cpu0 size0 both precise x2\n"
#define RECORDS_EVENTS "event cpu/mem-loads,ldlat=30/P\nevent cpu/mem-stores/P\n"
#define RECORDS_PLACES \
	"map -1 ffffffff81000000+1000000@ffffffff81000000 [kernel.kallsyms]_text\n" \
	"map 500 401000+1000@1000 /usr/bin/fs\nid deadbeef /usr/bin/fs\n"

static void file_mode(void **state)
{
	struct lm_str records = { 0 }, file = { 0 };

	(void)state;
	put_records(&records);
	put_file(&file, &memory_file, &records, 1);
	check_samples("file mode", file.text, file.len, RECORDS_ROWS,
		      "samples 4\n" RECORDS_EVENTS RECORDS_PLACES "perf 6.1\n", NULL);
	lm_str_release(&records);
	lm_str_release(&file);
}

/* Attrs grew from 64 to 144 bytes; what a file has of them is enough. */
static void attrs_of_every_age(void **state)
{
	static const uint32_t sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 200 };

	(void)state;
	for (size_t i = 0; i < NR(sizes); i++) {
		struct attr_words attrs[2] = { memory[0], memory[1] };
		struct file_words words = { .attrs = attrs, .names = memory_names, .nr = 2 };
		struct lm_str records = { 0 }, file = { 0 };

		attrs[0].size = attrs[1].size = sizes[i];
		put_records(&records);
		put_file(&file, &words, &records, 1);
		check_samples("attr size", file.text, file.len, RECORDS_ROWS,
			      "samples 4\n" RECORDS_EVENTS RECORDS_PLACES, NULL);
		lm_str_release(&records);
		lm_str_release(&file);
	}
}

/* What perf record -o - writes: attrs, names and features are records. */
static void put_pipe(struct lm_str *out)
{
	struct lm_str b = { 0 };

	lm_str_add_bytes(out, "PERFILE2", 8);
	put_u64(out, 16);
	for (size_t i = 0; i < 2; i++) {
		put_attr(&b, &memory[i]);
		put_u64(&b, 100 + i);
		put_record(out, 64, 0, &b);
		put_u64(&b, 2);
		put_u64(&b, 100 + i);
		put_text(&b, memory_names[i]);
		put_record(out, 78, 0, &b);
	}
	put_u64(&b, 5);
	put_string(&b, "7.3");
	put_record(out, 80, 0, &b);
	put_records(out);
	lm_str_release(&b);
}

static void pipe_mode(void **state)
{
	struct lm_str file = { 0 };

	(void)state;
	put_pipe(&file);
	check_samples("pipe mode", file.text, file.len, RECORDS_ROWS,
		      "samples 4\n" RECORDS_EVENTS RECORDS_PLACES "perf 7.3\n", NULL);
	lm_str_release(&file);
}

/* Through a real pipe neither mode can seek. */
static void standard_input(void **state)
{
	struct lm_str files[2] = { 0 }, records = { 0 };

	(void)state;
	put_records(&records);
	put_file(&files[0], &memory_file, &records, 1);
	put_pipe(&files[1]);
	for (int i = 0; i < 2; i++) {
		int old = dup(STDIN_FILENO), ends[2];
		struct lm_samples t;

		assert_int_equal(pipe(ends), 0);
		assert_int_equal(write(ends[1], files[i].text, files[i].len), files[i].len);
		close(ends[1]);
		assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
		close(ends[0]);
		lm_samples_init(&t);
		assert_null(lm_profile_read_samples("-", &test_opts, &t));
		assert_int_equal(t.samples, 4);
		assert_int_equal(lm_strings_nr(t.events), 2);
		lm_samples_release(&t);
		assert_int_equal(dup2(old, STDIN_FILENO), STDIN_FILENO);
		close(old);
		lm_str_release(&files[i]);
	}
	lm_str_release(&records);
}

/* Every field that stands before the data source is skipped by its own length. */
static void every_field_before_the_data_source(void **state)
{
	enum { GROUP = 8, WITH_ID = 4, TIMES = 3, WITH_LOST = 16, HW_INDEX = 1 << 17, COUNTERS = 1 << 19 };
	static const struct attr_words attr = {
		.type = 4, .read_format = GROUP | WITH_ID | TIMES | WITH_LOST, .branch_sample_type = HW_INDEX | COUNTERS,
		.regs_user = 0x7, .sample_type = IDENTIFIER | IP | TID | TIME | ADDR | READ | CALLCHAIN | ID | CPU |
		PERIOD | STREAM_ID | RAW | BRANCH_STACK | REGS_USER | STACK_USER | WEIGHT | DATA_SRC,
	};
	static const char *const name = "cpu/mem-loads/";
	static const struct file_words words = { .attrs = &attr, .names = &name, .nr = 1 };
	struct lm_str b = { 0 }, records = { 0 }, file = { 0 };

	(void)state;
	put_u64(&b, 100);			/* identifier */
	put_u64(&b, 0x401000);
	put_u64(&b, 500);
	put_u64(&b, 1);
	put_u64(&b, 0xffff888100000010);
	put_u64(&b, 100);			/* id */
	put_u64(&b, 9);				/* stream */
	put(&b, 3, 8);				/* cpu */
	put_u64(&b, 1);				/* period */
	put_u64(&b, 2);				/* read: a group of two, with times */
	for (int i = 0; i < 2 + 2 * 3; i++)
		put_u64(&b, 0x1111);
	put_u64(&b, 2);				/* call chain */
	put_u64(&b, 0x401000);
	put_u64(&b, 0x402000);
	put(&b, 4, 4);				/* raw */
	put(&b, 0x2222, 4);
	put_u64(&b, 1);				/* branches, with index and counters */
	for (int i = 0; i < 1 + 3 + 1; i++)
		put_u64(&b, 0x3333);
	put_u64(&b, 2);				/* registers */
	for (int i = 0; i < 3; i++)
		put_u64(&b, 0x4444);
	put_u64(&b, 8);				/* stack */
	put_u64(&b, 0x5555);
	put_u64(&b, 8);
	put_u64(&b, 77);			/* weight */
	put_u64(&b, STORE);
	put_record(&records, 9, USER, &b);
	put_file(&file, &words, &records, 1);
	check_samples("all fields", file.text, file.len,
		      "401000 ffff888100000010 [unknown] () cpu3 size0 write precise x1\n",
		      "samples 1\nevent cpu/mem-loads/\n", NULL);
	lm_str_release(&b);
	lm_str_release(&records);
	lm_str_release(&file);
}

/* A chain has marks of where it is; the stack of user space is another one. */
static void a_call_chain(void **state)
{
	static const struct { uint64_t nr, words[8]; const char *row; } cases[] = {
		{ 7, { (uint64_t)-128, 0xffffffff81000010, 0xffffffff81000100, 0xffffffff81000200, (uint64_t)-512,
		       0x401000, 0x402000 },
		  "ffffffff81000010 0 [unknown] () cpu3 size0 unknown precise from ffffffff81000100 ffffffff81000200 x1\n" },
		{ 6, { (uint64_t)-128, 0xffffffff81000010, 1, 2, 3, 4 },
		  "ffffffff81000010 0 [unknown] () cpu3 size0 unknown precise from 1 2 3 x1\n" },
		{ 1, { 0xffffffff81000010 }, "ffffffff81000010 0 [unknown] () cpu3 size0 unknown precise x1\n" },
		{ 0, { 0 }, "ffffffff81000010 0 [unknown] () cpu3 size0 unknown precise x1\n" },
	};
	static const struct attr_words attr = { .type = 4, .sample_type = IP | CPU | CALLCHAIN | DATA_SRC };
	static const char *const name = "cycles:pp";
	static const struct file_words words = { .attrs = &attr, .names = &name, .nr = 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lm_str b = { 0 }, records = { 0 }, file = { 0 };

		put_u64(&b, 0xffffffff81000010);
		put(&b, 3, 8);
		put_u64(&b, cases[i].nr);
		for (uint64_t k = 0; k < cases[i].nr; k++)
			put_u64(&b, cases[i].words[k]);
		put_u64(&b, 0);				/* data source: none */
		put_record(&records, 9, USER, &b);
		put_file(&file, &words, &records, 1);
		check_samples(cases[i].row, file.text, file.len, cases[i].row, "samples 1\nevent cycles:pp\n", NULL);
		lm_str_release(&b);
		lm_str_release(&records);
		lm_str_release(&file);
	}
}

/* One that says it is longer than its record is unreadable. */
static void a_call_chain_without_end(void **state)
{
	static const uint64_t sizes[] = { 2, 1000, (uint64_t)1 << 61, UINT64_MAX };
	static const struct attr_words attr = { .type = 4, .sample_type = IP | CPU | CALLCHAIN };
	static const char *const name = "cycles:pp";
	static const struct file_words words = { .attrs = &attr, .names = &name, .nr = 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct lm_str b = { 0 }, records = { 0 }, file = { 0 };

		put_u64(&b, 0x401000);
		put(&b, 3, 8);
		put_u64(&b, sizes[i]);
		put_u64(&b, 0x401000);
		put_record(&records, 9, USER, &b);
		put_file(&file, &words, &records, 1);
		check_samples("too long", file.text, file.len, NULL, NULL, "none of its 1 samples can be used");
		lm_str_release(&b);
		lm_str_release(&records);
		lm_str_release(&file);
	}
}

/* The stream is cut into records anywhere; so is a record. */
static void compressed_records(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		struct lm_str inner = { 0 }, zstd = { 0 }, b = { 0 }, records = { 0 }, file = { 0 };

		put_records(&inner);
		put_zstd_head(&zstd);
		put_zstd_block(&zstd, inner.text, 150, 0);
		put_zstd_block(&zstd, inner.text + 150, inner.len - 150, 1);
		for (size_t at = 0; at < zstd.len; at += 61) {
			size_t len = zstd.len - at < 61 ? zstd.len - at : 61;

			if (kind)
				put_u64(&b, len);
			lm_str_add_bytes(&b, zstd.text + at, len);
			while (kind && b.len % 8)
				put(&b, 0xee, 1);
			put_record(&records, kind ? 83 : 81, 0, &b);
		}
		put_file(&file, &memory_file, &records, 1);
		check_samples("compressed", file.text, file.len, RECORDS_ROWS,
			      "samples 4\n" RECORDS_EVENTS RECORDS_PLACES "perf 6.1\n", NULL);

		/* Without its last piece the stream ends inside a record. */
		lm_str_clear(&file);
		records.len -= 30;
		put_file(&file, &memory_file, &records, 1);
		check_samples("compressed, cut off", file.text, file.len,
			      "4012d0 ffff888100000010 [unknown] (/usr/bin/fs) cpu1 size0 read precise x1\n"
			      "4012d0 ffff888100000018 [unknown] (/usr/bin/fs) cpu1 size0 write precise x1\n"
			      "ffffffff81000040 ffff888100000020 [unknown] ([kernel.kallsyms]) cpu0 size0 both precise x1\n",
			      "samples 5 truncated 2\n" RECORDS_EVENTS RECORDS_PLACES "perf 6.1\n", NULL);
		lm_str_release(&inner);
		lm_str_release(&zstd);
		lm_str_release(&b);
		lm_str_release(&records);
		lm_str_release(&file);
	}
}

static void damaged_files(void **state)
{
	struct lm_str b = { 0 }, records = { 0 }, file = { 0 };

	(void)state;
	lm_str_add(&b, "this is no zstd stream");
	put_record(&records, 81, 0, &b);
	put_file(&file, &memory_file, &records, 1);
	check_samples("no zstd", file.text, file.len, NULL, NULL, "cannot be decompressed at byte 408");
	lm_str_clear(&file);
	lm_str_clear(&records);
	put_records(&records);
	put_u64(&records, 9);		/* a record of no size */
	put_file(&file, &memory_file, &records, 1);
	check_samples("no size", file.text, file.len, NULL, NULL, "a record has no size at byte");
	check_samples("other byte order", "2ELIFREP\0\0\0\0\0\0\0\x68", 16, NULL, NULL, "the other byte order");
	lm_str_release(&b);
	lm_str_release(&records);
	lm_str_release(&file);
}

static void guests_lost_and_unknown(void **state)
{
	struct lm_str b = { 0 }, records = { 0 }, file = { 0 };
	struct lm_accesses t;

	(void)state;
	put_records(&records);
	put_sample(&records, GUEST, 100, 0x401000, 0xffff888100000010, 1, LOAD);
	put_sample(&records, GUEST + 1, 100, 0x401000, 0xffff888100000010, 1, LOAD);
	put_sample(&records, USER, 999, 0x401000, 0xffff888100000010, 1, LOAD);	/* no such event */
	put_sample(&records, USER, 100, 0x401000, 0xffff888100000010, 1, 8);	/* prefetch */
	put_u64(&b, 100);
	put_u64(&b, 7);
	put_record(&records, 2, 0, &b);
	put_u64(&b, 5);
	put_record(&records, 13, 0, &b);
	put_file(&file, &memory_file, &records, 1);
	check_samples("drops", file.text, file.len, RECORDS_ROWS,
		      "samples 8 lost 12 unreadable 1 not-memory 1 guest 2\n" RECORDS_EVENTS RECORDS_PLACES
		      "perf 6.1\n", NULL);
	lm_accesses_init(&t);
	assert_null(lm_profile_read_memory("file", file.text, file.len, &test_opts, &t));
	check_adds_up(&t);
	assert_int_equal(t.used, 4);
	assert_int_equal(t.drops[LM_DROP_LOST], 12);
	assert_int_equal(t.drops[LM_DROP_GUEST], 2);
	lm_accesses_release(&t);
	lm_str_release(&b);
	lm_str_release(&records);
	lm_str_release(&file);
}

/*
 * The attr keeps the length and the kind of access that perf leaves out of the
 * name.  The write trapped twice, as a write and as an access.
 */
static void breakpoints(void **state)
{
	static const struct attr_words attrs[] = {
		{ .type = 5, .sample_type = IP | TID | ID, .bp_type = 3, .bp_addr = 0xffff888100000010, .bp_len = 8 },
		{ .type = 5, .sample_type = IP | TID | ID, .bp_type = 2, .bp_addr = 0xffff888100000010, .bp_len = 4 },
		{ .type = 5, .sample_type = IP | TID | ID, .bp_type = 4, .bp_addr = 0x401000, .bp_len = 8 },
	};
	static const struct file_words words = { .attrs = attrs, .nr = 3 };
	struct lm_str b = { 0 }, records = { 0 }, file = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t id = i < 3 ? 100 + i : 100;

		put_u64(&b, i < 3 ? 0x401234 : 0x401300);
		put_u64(&b, 500);
		put_u64(&b, id);
		put_record(&records, 9, USER, &b);
	}
	put_file(&file, &words, &records, 1);
	check_samples("breakpoints", file.text, file.len,
		      "401234 ffff888100000010 [unknown] () cpu-1 size4 write exact after x1\n"
		      "401300 ffff888100000010 [unknown] () cpu-1 size8 read exact after x1\n",
		      "samples 4 not-memory 1 duplicate 1\nevent mem:0xffff888100000010\nevent mem:0x401000\n", NULL);
	lm_str_release(&b);
	lm_str_release(&records);
	lm_str_release(&file);
}

/* Ips are enough; how good they are is told by the event, or by the attr's precise_ip. */
static void ips_only(void **state)
{
	static const struct attr_words attrs[] = {
		{ .type = 1, .config = 0, .sample_type = IP | TID | ID },
		{ .type = 0, .config = 0, .sample_type = IP | TID | ID },
		{ .type = 0, .config = 0, .sample_type = IP | TID | ID, .flags = 1 << 15 },
		{ .type = 2, .config = 77, .sample_type = IP | TID | ID },
		{ .type = 11, .config = 0, .sample_type = IP | TID | ID },
	};
	struct lm_str pmus = { 0 }, b = { 0 }, records = { 0 }, file = { 0 };
	struct file_words words = { .attrs = attrs, .nr = 5, .pmus = &pmus };

	(void)state;
	put(&pmus, 2, 4);
	put(&pmus, 4, 4);
	put_string(&pmus, "cpu");
	put(&pmus, 11, 4);
	put_string(&pmus, "ibs_op");
	for (uint64_t id = 100; id < 105; id++) {
		put_u64(&b, 0x401000 + id);
		put_u64(&b, 500);
		put_u64(&b, id);
		put_record(&records, 9, USER, &b);
	}
	put_file(&file, &words, &records, 1);
	check_samples("ips", file.text, file.len,
		      "401064 0 [unknown] () cpu-1 size0 unknown skidding x1\n"
		      "401065 0 [unknown] () cpu-1 size0 unknown skidding x1\n"
		      "401066 0 [unknown] () cpu-1 size0 unknown precise x1\n"
		      "401068 0 [unknown] () cpu-1 size0 unknown precise x1\n",
		      "samples 5 not-memory 1\nevent cpu-clock\nevent cycles\nevent type 2 config 0x4d\n"
		      "event ibs_op/config=0x0/\n", NULL);
	lm_str_release(&pmus);
	lm_str_release(&b);
	lm_str_release(&records);
	lm_str_release(&file);
}

/* A mapping may stand behind the samples of another processor's buffer; a child has its parent's. */
static void mappings_behind_and_inherited(void **state)
{
	struct lm_str b = { 0 }, records = { 0 }, file = { 0 };

	(void)state;
	put_sample(&records, USER, 100, 0x4012d0, 0xffff888100000010, 1, LOAD);
	put_mmap(&records, USER, 400, 0x401000, 0x1000, 0, "/bin/parent");
	put(&b, 500, 4);
	put(&b, 400, 4);
	put_u64(&b, 0);
	put_u64(&b, 1);
	put_record(&records, 7, 0, &b);
	put_sample(&records, USER, 100, 0x4012d4, 0xffff888100000010, 1, LOAD);
	put_mmap(&records, USER, 500, 0x401000, 0x1000, 0, "/bin/child");
	put_sample(&records, USER, 100, 0x4012d4, 0xffff888100000010, 1, LOAD);
	put_file(&file, &memory_file, &records, 1);
	check_samples("mappings", file.text, file.len,
		      "4012d0 ffff888100000010 [unknown] (/bin/child) cpu1 size0 read precise x1\n"
		      "4012d4 ffff888100000010 [unknown] (/bin/child) cpu1 size0 read precise x1\n"
		      "4012d4 ffff888100000010 [unknown] (/bin/parent) cpu1 size0 read precise x1\n",
		      "samples 3\nevent cpu/mem-loads,ldlat=30/P\nmap 400 401000+1000@0 /bin/parent\n"
		      "map 500 401000+1000@0 /bin/child\nperf 6.1\n", NULL);
	lm_str_release(&b);
	lm_str_release(&records);
	lm_str_release(&file);
}

static void build_ids_of_the_feature(void **state)
{
	struct lm_str ids = { 0 }, b = { 0 }, records = { 0 }, file = { 0 };
	struct file_words words = memory_file;

	(void)state;
	put(&b, UINT32_MAX, 4);
	for (int i = 0; i < 20; i++)
		put(&b, (uint64_t)i, 1);
	put(&b, 8, 4);				/* its length, since 5.11 */
	put_text(&b, "[kernel.kallsyms]");
	put_record(&ids, 0, KERNEL | 1 << 15, &b);
	words.build_ids = &ids;
	put_sample(&records, KERNEL, 100, 0xffffffff81000040, 0xffff888100000020, 0, LOAD);
	put_file(&file, &words, &records, 1);
	check_samples("build ids", file.text, file.len,
		      "ffffffff81000040 ffff888100000020 [unknown] () cpu0 size0 read precise x1\n",
		      "samples 1\nevent cpu/mem-loads,ldlat=30/P\nid 0001020304050607 [kernel.kallsyms]\nperf 6.1\n",
		      NULL);
	lm_str_release(&ids);
	lm_str_release(&b);
	lm_str_release(&records);
	lm_str_release(&file);
}

static void undecoded_trace(void **state)
{
	struct lm_str b = { 0 }, records = { 0 }, file = { 0 };

	(void)state;
	put_u64(&b, 16);
	for (int i = 0; i < 4; i++)
		put_u64(&b, 0);
	put_record(&records, 71, 0, &b);
	put_u64(&records, 0x1111);		/* the trace itself, which is no record */
	put_u64(&records, 0);
	put_file(&file, &memory_file, &records, 1);
	check_samples("trace", file.text, file.len, NULL, NULL, "perf inject --itrace");
	lm_str_release(&b);
	lm_str_release(&records);
	lm_str_release(&file);
}

/* perf was killed: the header was never finished, and names are gone. */
static void unfinished_header(void **state)
{
	struct lm_str records = { 0 }, file = { 0 };

	(void)state;
	put_records(&records);
	put_file(&file, &memory_file, &records, 0);
	check_samples("unfinished", file.text, file.len, RECORDS_ROWS,
		      "samples 4\nevent type 4 config 0x1cd\nevent type 4 config 0x2cd\n" RECORDS_PLACES, NULL);
	file.len -= 3;
	check_samples("unfinished and cut off", file.text, file.len,
		      "4012d0 ffff888100000010 [unknown] (/usr/bin/fs) cpu1 size0 read precise x1\n"
		      "4012d0 ffff888100000018 [unknown] (/usr/bin/fs) cpu1 size0 write precise x1\n"
		      "ffffffff81000040 ffff888100000020 [unknown] ([kernel.kallsyms]) cpu0 size0 both precise x1\n",
		      "samples 4 truncated 1\nevent type 4 config 0x1cd\nevent type 4 config 0x2cd\n" RECORDS_PLACES,
		      NULL);
	lm_str_release(&records);
	lm_str_release(&file);
}

/* Cut off anywhere: a sentence, or what there is, counted; never more than the whole file has. */
static void truncated_everywhere(void **state)
{
	struct lm_str files[3] = { 0 }, records = { 0 }, inner = { 0 }, zstd = { 0 }, b = { 0 };

	(void)state;
	put_records(&records);
	put_file(&files[0], &memory_file, &records, 1);
	put_pipe(&files[1]);
	put_records(&inner);
	put_zstd_head(&zstd);
	put_zstd_block(&zstd, inner.text, inner.len, 1);
	lm_str_add_bytes(&b, zstd.text, zstd.len);
	lm_str_clear(&records);
	put_record(&records, 81, 0, &b);
	put_file(&files[2], &memory_file, &records, 1);
	for (size_t i = 0; i < NR(files); i++) {
		uint64_t before = 0;

		for (size_t len = 0; len <= files[i].len; len++) {
			char *copy = malloc(len + 1);
			struct lm_samples t;
			struct lm_err *err;

			memcpy(copy, files[i].text, len);
			lm_samples_init(&t);
			err = lm_profile_read_samples_memory("cut", copy, len, &test_opts, &t);
			check_samples_add_up(&t);
			assert_true(err ? !t.samples && err->msg[0] : t.samples - t.drops[LM_DROP_TRUNCATED] >= before);
			assert_true(t.samples <= 5);
			before = err ? before : t.samples - t.drops[LM_DROP_TRUNCATED];
			lm_err_free(err);
			lm_samples_release(&t);
			free(copy);
		}
		assert_int_equal(before, 4);
		lm_str_release(&files[i]);
	}
	lm_str_release(&records);
	lm_str_release(&inner);
	lm_str_release(&zstd);
	lm_str_release(&b);
}

/* ---- files that perf printed, too ---- */

static uint64_t count_op(const struct lm_samples *t, enum lm_op op)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < t->nr; i++)
		if (t->rows[i].op == op)
			nr += t->rows[i].count;
	return nr;
}

/* perf c2c report of these files: "Load Operations 655, Store Operations 645, Locked 120". */
static void counts_are_those_of_perf(void **state)
{
	static const char *const names[] = { "c2c.perf.data", "c2c-oldweight.perf.data" };

	(void)state;
	for (size_t i = 0; i < NR(names); i++) {
		struct lm_samples t;

		lm_samples_init(&t);
		assert_null(read_data_samples(names[i], &t));
		check_samples_add_up(&t);
		assert_int_equal(t.samples, 1300);
		assert_int_equal(count_op(&t, LM_OP_READ) + count_op(&t, LM_OP_READ_WRITE), 655);
		assert_int_equal(count_op(&t, LM_OP_READ_WRITE), 120);
		assert_int_equal(count_op(&t, LM_OP_WRITE), 645);
		lm_samples_release(&t);
	}
}

/* Without processors, symbols and files, which not every text has. */
static void read_bare(const char *name, struct lm_samples *ret, uint64_t samples)
{
	struct lm_samples t;
	uint32_t none;

	lm_samples_init(&t);
	lm_samples_init(ret);
	none = lm_strings_add(ret->strings, "", 0);
	assert_null(read_data_samples(name, &t));
	check_samples_add_up(&t);
	assert_int_equal(t.samples - t.drops[LM_DROP_NOT_A_SAMPLE], samples);
	for (size_t i = 0; i < t.nr; i++) {
		struct lm_sample row = t.rows[i];

		row.symbol = row.dso = none;
		row.cpu = LM_CPU_UNKNOWN;
		lm_samples_add(ret, row);
	}
	lm_samples_release(&t);
}

/* The same table from perf.data and from what perf printed of it. */
static void same_as_the_printed_text(void **state)
{
	static const struct {
		const char *data, *text;
		uint64_t samples;
	} files[] = {
		{ "c2c.perf.data", "mem-report.perf6.1.csv", 1300 },
		{ "c2c.perf.data", "mem-report.perf6.1.txt", 1300 },
		{ "ibs.perf.data", "ibs.perf6.1.txt", 12 },
		{ "peer.perf.data", "spe-peer.perf6.1.txt", 99 },
	};

	(void)state;
	for (size_t i = 0; i < NR(files); i++) {
		struct lm_samples data, text;
		struct lm_str a = { 0 }, b = { 0 };

		read_bare(files[i].data, &data, files[i].samples);
		read_bare(files[i].text, &text, files[i].samples);
		tell_samples(&data, &a);
		tell_samples(&text, &b);
		assert_string_equal(lm_str_text(&a), lm_str_text(&b));
		lm_samples_release(&data);
		lm_samples_release(&text);
		lm_str_release(&a);
		lm_str_release(&b);
	}
}

static void objects_give_accesses(void **state)
{
	static const uint64_t object = 0xa9ef040;
	static const struct lm_reader_opts opts = {
		.record = "shared", .objects = &object, .nr_objects = 1, .record_size = 88,
	};
	struct lm_accesses t;
	uint64_t reads, writes;

	(void)state;
	lm_accesses_init(&t);
	assert_null(read_data("c2c.perf.data", &opts, &t));
	check_adds_up(&t);
	assert_int_equal(t.used, 995);
	assert_int_equal(t.drops[LM_DROP_OTHER_OBJECT], 305);
	sum_rows(&t, "fs+0x12e7", LM_WHOLE_RECORD, 24, &reads, &writes);
	assert_int_equal(reads, 70);
	assert_int_equal(writes, 420);
	sum_rows(&t, NULL, LM_WHOLE_RECORD, 16, &reads, &writes);
	assert_int_equal(reads, 120);
	assert_int_equal(writes, 0);
	lm_accesses_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_mode),
		cmocka_unit_test(attrs_of_every_age),
		cmocka_unit_test(pipe_mode),
		cmocka_unit_test(standard_input),
		cmocka_unit_test(every_field_before_the_data_source),
		cmocka_unit_test(a_call_chain),
		cmocka_unit_test(a_call_chain_without_end),
		cmocka_unit_test(compressed_records),
		cmocka_unit_test(damaged_files),
		cmocka_unit_test(guests_lost_and_unknown),
		cmocka_unit_test(breakpoints),
		cmocka_unit_test(ips_only),
		cmocka_unit_test(mappings_behind_and_inherited),
		cmocka_unit_test(build_ids_of_the_feature),
		cmocka_unit_test(undecoded_trace),
		cmocka_unit_test(unfinished_header),
		cmocka_unit_test(truncated_everywhere),
		cmocka_unit_test(counts_are_those_of_perf),
		cmocka_unit_test(same_as_the_printed_text),
		cmocka_unit_test(objects_give_accesses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
