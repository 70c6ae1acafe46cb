/*
 * test_elf_link.c - object files as they lie in memory: where sections go, what
 * refers to what, and files that lie about themselves.
 */
#include "base/arena.h"
#include "base/file.h"
#include "profiles/elf_link.h"
#include "profiles/flow.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define T LM_LINK_TEXT

struct place {
	struct lm_arena arena;
	char *dir;
	struct lm_image *image;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	assert_null(lm_temp_dir(&p->arena, &p->dir));
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	lm_image_close(p->image);
	lm_remove_tree(p->dir);
	lm_arena_release(&p->arena);
	free(p);
	return 0;
}

static void must(struct lm_err *err)
{
	if (err)
		fail_msg("%s", err->msg);
}

static char *in_dir(struct place *p, const char *name)
{
	return lm_arena_printf(&p->arena, "%s/%s", p->dir, name);
}

static void run(struct place *p, const char *command)
{
	char sh[] = "sh", flag[] = "-c", *argv[] = { sh, flag, lm_arena_strdup(&p->arena, command), NULL };
	struct lm_str errors = { 0 };
	int status;

	lm_run(argv, p->dir, 120, 4096, &errors, &status);
	if (status)
		fail_msg("%s: %s", command, lm_str_text(&errors));
	lm_str_release(&errors);
}

/* Compiles or assembles text to x.o. */
static void build(struct place *p, const char *name, const char *text, const char *command)
{
	must(lm_file_write(in_dir(p, name), text, strlen(text)));
	run(p, command);
}

static uint64_t find(struct place *p, const char *symbol)
{
	uint64_t address = 0;

	if (!lm_image_find(p->image, symbol, &address))
		fail_msg("no symbol %s", symbol);
	return address;
}

static uint64_t word_at(struct place *p, uint64_t address)
{
	size_t len = 0;
	const uint8_t *bytes = lm_image_bytes(p->image, address, &len);
	uint64_t v;

	assert_non_null(bytes);
	assert_true(len >= 8);
	memcpy(&v, bytes, 8);
	return v;
}

/* ---- where things lie ---- */

static const char sections[] =
	".text\n.balign 16\nf_text: .skip 0x31\n"
	".section .init.text,\"ax\"\nf_init: .skip 8\n"
	".section .exit.text,\"ax\"\n.balign 32\nf_exit: .skip 7\n"
	".section .rodata\nread_only: .skip 5\n"
	".section .data..ro_after_init,\"aw\"\nafter_init: .skip 3\n"
	".section .data..percpu,\"aw\"\nper_cpu: .skip 8\n"
	".section .init.data,\"aw\"\ninit_data: .skip 8\n"
	".section .modinfo,\"a\"\ninfo: .asciz \"name=it\"\n"
	".data\n.balign 8\nwords: .quad f_exit + 3, outside, other + 8, per_cpu\n"
	".bss\n.balign 64\nzeros: .skip 256\n"
	".comm shared, 100000, 32\n";

/* kernel/module/main.c, layout_sections(): executable, read-only, read-only after init, data; then .init of the same. */
static void lies_as_the_kernel_lays_it_out(void **state)
{
	struct place *p = *state;

	build(p, "x.s", sections, "gcc -c x.s");
	must(lm_image_open(in_dir(p, "x.o"), &p->image));
	assert_true(lm_image_relocatable(p->image));
	assert_true(lm_image_has_code(p->image));
	assert_int_equal(find(p, "f_text"), T);
	assert_int_equal(find(p, "f_exit"), T + 0x40);
	assert_int_equal(find(p, "read_only"), T + 0x1000);
	assert_int_equal(find(p, "after_init"), T + 0x2000);
	assert_int_equal(find(p, "words"), T + 0x3000);
	assert_int_equal(find(p, "zeros"), T + 0x3040);
	assert_int_equal(find(p, "f_init"), T + 0x4000);
	assert_int_equal(find(p, "init_data"), T + 0x5000);
	assert_int_equal(find(p, "per_cpu"), T + 0x6000);
}

static void refers_to_what_it_should(void **state)
{
	struct place *p = *state;
	uint64_t words, start, outside, other;

	build(p, "x.s", sections, "gcc -c x.s");
	must(lm_image_open(in_dir(p, "x.o"), &p->image));
	words = find(p, "words");
	assert_int_equal(word_at(p, words), find(p, "f_exit") + 3);
	assert_int_equal(word_at(p, words + 24), find(p, "per_cpu"));
	outside = word_at(p, words + 8);
	other = word_at(p, words + 16);
	/* What other files define keeps its name, has no bytes, and room behind it. */
	assert_string_equal(lm_image_symbol(p->image, outside + 1000, &start), "outside");
	assert_int_equal(start, outside);
	assert_string_equal(lm_image_symbol(p->image, other, &start), "other");
	assert_int_equal(start, other - 8);
	assert_null(lm_image_bytes(p->image, outside, &(size_t){ 0 }));
	assert_string_equal(lm_image_symbol(p->image, find(p, "shared") + 99999, &start), "shared");
}

/* Other files may call what is global in an object file; not in a module, which says what it exports. */
static void a_module_is_a_finished_program(void **state)
{
	static const char text[] = ".text\n.globl open\nopen: nop\ninner: nop\n"
				   ".section __mcount_loc,\"a\"\nhooks: .quad open\n";
	struct place *p = *state;

	build(p, "x.s", text, "gcc -c x.s");
	must(lm_image_open(in_dir(p, "x.o"), &p->image));
	assert_true(lm_image_exports(p->image, find(p, "open")));
	assert_false(lm_image_exports(p->image, find(p, "inner")));
	/* The tracer's table is no use of a function. */
	assert_int_equal(word_at(p, find(p, "hooks")), 0);
	lm_image_close(p->image);
	p->image = NULL;
	run(p, "(cat x.s; echo '.section .gnu.linkonce.this_module,\"aw\"'; echo '.skip 8') >y.s && gcc -c y.s -o x.ko");
	must(lm_image_open(in_dir(p, "x.ko"), &p->image));
	assert_false(lm_image_exports(p->image, find(p, "open")));
}

/* 70,000 sections: numbers beyond 16 bits are in a table of their own. */
static void takes_more_sections_than_16_bits_count(void **state)
{
	struct place *p = *state;

	build(p, "x.s",
	      ".altmacro\n.macro one n\n.section .text.\\n,\"ax\"\nf\\n: .quad f\\n\n.endm\n"
	      ".set i, 0\n.rept 70000\none %i\n.set i, i + 1\n.endr\n.data\nlast: .quad f69999, f65000, away\n", "gcc -c x.s");
	must(lm_image_open(in_dir(p, "x.o"), &p->image));
	assert_int_equal(find(p, "f69999"), T + 8 * 69999);
	assert_int_equal(word_at(p, find(p, "f69999")), find(p, "f69999"));
	assert_int_equal(word_at(p, find(p, "last") + 8), find(p, "f65000"));
}

/* ---- debug info ---- */

static const char code[] =
	"struct rec { long id; struct rec *next; int flags[3]; };\n"
	"#define in(s) __attribute__((noinline, section(s)))\n"
	"extern struct rec outer; extern void elsewhere(void);\n"
	"in(\".text\") void f_text(struct rec *r) { r->next->id++; }\n"
	"in(\".init.text\") void f_init(struct rec *r) { f_text(r); elsewhere(); r->flags[1] = 1; }\n"
	"in(\".exit.text\") int f_exit(struct rec *r) { return r->flags[2] + outer.flags[1]; }\n";

static void check_functions(struct place *p, const char *file)
{
	static const char *const names[] = { "f_text", "f_init", "f_exit" };
	struct lm_debuginfo *bin;

	must(lm_debuginfo_open(in_dir(p, file), &bin));
	must(lm_image_open(in_dir(p, file), &p->image));
	for (size_t i = 0; i < 3; i++) {
		const struct lm_function *f;

		must(lm_debuginfo_function(bin, find(p, names[i]), &f));
		assert_non_null(f);
		assert_string_equal(f->name, names[i]);
		assert_int_equal(f->ranges[0].from, find(p, names[i]));
		assert_int_equal(f->nr_variables, 1);
		assert_true(f->variables[0].nr_places > 0);
		assert_int_equal(f->variables[0].places[0].from, find(p, names[i]));
	}
	lm_debuginfo_close(bin);
	lm_image_close(p->image);
	p->image = NULL;
}

static void functions_of_all_sections_are_told_apart(void **state)
{
	static const char *const ways[] = {
		"gcc -g -O2 -c x.c", "gcc -g -O2 -gdwarf-4 -c x.c", "gcc -g -O2 -gz -c x.c", "clang -g -O2 -c x.c",
		"clang -g -O2 -gdwarf-4 -gz -c x.c", "gcc -g -O2 -c x.c -o y.o && ld -r -o x.o y.o",
		"gcc -g -O2 -mcmodel=kernel -fno-pie -c x.c",
	};
	struct place *p = *state;

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		build(p, "x.c", code, ways[i]);
		check_functions(p, "x.o");
	}
}

/* A file that debug info was split off to: records and names, no code. */
static void split_off_debug_info_has_no_code(void **state)
{
	struct place *p = *state;
	struct lm_debuginfo *bin;
	const struct lm_dbg_record *rec;

	build(p, "x.c", code, "gcc -g -O2 -c x.c && objcopy --only-keep-debug x.o x.debug");
	check_functions(p, "x.debug");
	must(lm_debuginfo_open(in_dir(p, "x.debug"), &bin));
	must(lm_debuginfo_record(bin, "rec", &rec));
	assert_non_null(rec);
	assert_int_equal(rec->size, 32);
	lm_debuginfo_close(bin);
	must(lm_image_open(in_dir(p, "x.debug"), &p->image));
	assert_false(lm_image_has_code(p->image));
}

/* ---- files that lie ---- */

struct file {
	uint8_t *bytes;
	size_t len;
};

static struct file load(struct place *p, const char *name)
{
	char *text;
	struct file f;

	must(lm_file_read(in_dir(p, name), "object", 1 << 24, &p->arena, &text, &f.len));
	f.bytes = (uint8_t *)text;
	return f;
}

static Elf64_Shdr *section(struct file f, uint32_t type, unsigned n)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)f.bytes;
	Elf64_Shdr *s = (Elf64_Shdr *)(f.bytes + h->e_shoff);

	for (unsigned i = 1; i < h->e_shnum; i++)
		if (s[i].sh_type == type && n-- == 0)
			return &s[i];
	fail_msg("no section of type %u", type);
	return NULL;
}

/* The words of the refusal, from both doors; "" if it is taken. */
static char *refusal(struct place *p, struct file f)
{
	struct lm_image *image = NULL;
	struct lm_err *err;
	char *words = lm_arena_strdup(&p->arena, "");

	must(lm_file_write(in_dir(p, "bad.o"), (const char *)f.bytes, f.len));
	err = lm_image_open(in_dir(p, "bad.o"), &image);
	lm_image_close(image);
	if (err) {
		assert_int_equal(err->code, LM_ERR_INPUT);
		words = lm_arena_strdup(&p->arena, err->msg);
	}
	lm_err_free(err);
	return words;
}

static void says(struct place *p, struct file f, const char *part)
{
	char *words = refusal(p, f);

	if (!strstr(words, part))
		fail_msg("\"%s\" does not say \"%s\"", words, part);
}

static void refuses_relocations_that_lie(void **state)
{
	struct place *p = *state;
	struct file f;
	Elf64_Rela *r;
	Elf64_Rela was;

	build(p, "x.s", sections, "gcc -c x.s");
	f = load(p, "x.o");
	assert_string_equal(refusal(p, f), "");
	r = (Elf64_Rela *)(f.bytes + section(f, SHT_RELA, 0)->sh_offset);
	was = *r;
	r->r_offset = section(f, SHT_PROGBITS, 0)->sh_size + (UINT64_C(1) << 40);
	says(p, f, "a relocation lies outside its section (section .rela.data)");
	r->r_offset = 25;
	says(p, f, "a relocation lies outside its section");
	r->r_offset = UINT64_MAX;
	says(p, f, "a relocation lies outside its section");
	*r = was;
	r->r_info = ELF64_R_INFO(ELF64_R_SYM(r->r_info), 200);
	says(p, f, "relocation of kind 200 in section .rela.data is not known here");
	r->r_info = ELF64_R_INFO(UINT32_MAX, R_X86_64_64);
	says(p, f, "a relocation names no symbol");
	*r = was;
	section(f, SHT_RELA, 0)->sh_link = 1;
	says(p, f, "its relocations have no symbols");
}

static void refuses_sections_that_lie(void **state)
{
	struct place *p = *state;
	struct file f;
	Elf64_Shdr *s, was;
	Elf64_Ehdr *h;

	build(p, "x.s", sections, "gcc -c x.s");
	f = load(p, "x.o");
	s = section(f, SHT_PROGBITS, 0);
	was = *s;
	s->sh_addralign = 3;
	says(p, f, "a section has an alignment that no memory has (section .text)");
	s->sh_addralign = UINT64_C(1) << 63;
	says(p, f, "a section has an alignment that no memory has (section .text)");
	*s = was;
	s->sh_size = UINT64_MAX;
	says(p, f, "a section lies outside the file");
	*s = was;
	section(f, SHT_NOBITS, 0)->sh_size = UINT64_C(1) << 62;
	says(p, f, "its sections are larger than memory (section .bss)");
	section(f, SHT_NOBITS, 0)->sh_size = 256;
	h = (Elf64_Ehdr *)f.bytes;
	h->e_shoff = f.len - 10;
	says(p, f, "its section table lies outside the file");
	h->e_shoff = UINT64_MAX;
	says(p, f, "its section table lies outside the file");
}

/* Tables that are listed again and again cost no more than their bytes. */
static void list_often(struct place *p, uint32_t type, const char *words)
{
	struct file f, big;
	Elf64_Ehdr *h;
	Elf64_Shdr *s;
	enum { MORE = 60000 };

	build(p, "x.s", sections, "gcc -c x.s");
	f = load(p, "x.o");
	h = (Elf64_Ehdr *)f.bytes;
	big.len = f.len + (h->e_shnum + MORE) * sizeof(*s);
	big.bytes = lm_arena_alloc(&p->arena, big.len);
	memcpy(big.bytes, f.bytes, f.len);
	memcpy(big.bytes + f.len, f.bytes + h->e_shoff, h->e_shnum * sizeof(*s));
	s = (Elf64_Shdr *)(big.bytes + f.len);
	for (int i = h->e_shnum; i < h->e_shnum + MORE; i++)
		s[i] = *section(f, type, 0);
	/* A section may be any part of the file. */
	for (int i = h->e_shnum; i < h->e_shnum + MORE && type == SHT_PROGBITS; i++)
		s[i].sh_size = f.len - s[i].sh_offset;
	h = (Elf64_Ehdr *)big.bytes;
	h->e_shoff = f.len;
	h->e_shnum = (Elf64_Half)(h->e_shnum + MORE);
	says(p, big, words);
}

static void refuses_a_table_listed_often(void **state)
{
	list_often(*state, SHT_RELA, "its relocations are longer than the file");
	list_often(*state, SHT_PROGBITS, "its sections are longer than the file (section .text)");
}

static void says_how_to_unpack(void **state)
{
	static const struct { const char *command, *words; } ways[] = {
		{ "xz -kf x.o && mv x.o.xz packed", "is packed by xz; unpack it with xz -dk" },
		{ "zstd -qf x.o -o packed", "is packed by zstd; unpack it with zstd -dk" },
		{ "gzip -c x.o >packed", "is packed by gzip; unpack it with gzip -dk" },
	};
	struct place *p = *state;

	build(p, "x.c", code, "gcc -g -c x.c");
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct lm_debuginfo *bin = NULL;
		struct lm_err *err;

		run(p, ways[i].command);
		err = lm_debuginfo_open(in_dir(p, "packed"), &bin);
		assert_non_null(err);
		if (!strstr(err->msg, ways[i].words))
			fail_msg("\"%s\" does not say \"%s\"", err->msg, ways[i].words);
		lm_err_free(err);
	}
}

/* Everything that a damaged file lets one ask; it must end, without a crash. */
static void ask_all(const char *path)
{
	struct lm_flow_source from = { 0 };
	struct lm_image *image = NULL;
	struct lm_err *err = lm_debuginfo_open(path, &from.bin);
	bool found = true;

	if (!err)
		err = lm_image_open(path, &image);
	if (!err) {
		from.image = image;
		from.disasm = lm_disasm_new(lm_image_machine(image));
	}
	for (size_t n = 0; !err && n < 8 && found; n++) {
		const struct lm_function *f = NULL;
		struct lm_arena arena = { 0 };
		struct lm_flow flow;
		uint64_t at;

		err = lm_debuginfo_unit_code(from.bin, 0, n, &at, &found);
		if (!err && found)
			err = lm_debuginfo_function(from.bin, at, &f);
		if (!err && f)
			err = lm_flow_run(&from, f, &arena, &flow);
		lm_arena_release(&arena);
	}
	lm_err_free(err);
	lm_disasm_free(from.disasm);
	lm_image_close(image);
	lm_debuginfo_close(from.bin);
}

static void ask_bytes(const uint8_t *bytes, size_t len)
{
	char path[64];
	int fd = memfd_create("damaged", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ask_all(path);
	close(fd);
}

/* A small file, cut behind and changed at every byte. */
static void survives_every_cut_and_change(void **state)
{
	struct place *p = *state;
	struct file f;

	build(p, "x.c", code, "gcc -g -O2 -gno-record-gcc-switches -fno-asynchronous-unwind-tables -c x.c");
	f = load(p, "x.o");
	for (size_t len = 0; len < f.len; len++)
		ask_bytes(f.bytes, len);
	for (size_t i = 0; i < f.len; i++) {
		uint8_t was = f.bytes[i];

		f.bytes[i] = (uint8_t)(i % 3 == 0 ? ~was : i % 3 == 1 ? was + 1 : was ^ 0x80);
		ask_bytes(f.bytes, f.len);
		f.bytes[i] = was;
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lies_as_the_kernel_lays_it_out),
		TEST(refers_to_what_it_should),
		TEST(a_module_is_a_finished_program),
		TEST(takes_more_sections_than_16_bits_count),
		TEST(functions_of_all_sections_are_told_apart),
		TEST(split_off_debug_info_has_no_code),
		TEST(refuses_relocations_that_lie),
		TEST(refuses_sections_that_lie),
		TEST(refuses_a_table_listed_often),
		TEST(says_how_to_unpack),
		TEST(survives_every_cut_and_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
