/*
 * test_module.c - samples of a kernel module: which of a profile's files it is,
 * and where it lay.
 */
#include "base/arena.h"
#include "base/file.h"
#include "profiles/attribution_private.h"
#include "profiles/elf_link.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Two functions called same, as two files of one module may have; one of more than a page. */
static const char source[] =
	".pushsection .modinfo,\"a\"\n.asciz \"license=GPL\"\n.asciz \"name=net_thing\"\n.popsection\n"
	".text\n.globl first, large, last\n"
	".type first,@function\nfirst: .skip 0x40, 0x90\n.size first, .-first\n"
	".type same,@function\nsame: .skip 0x40, 0x90\n.size same, .-same\n"
	".type large,@function\nlarge: .skip 0x1800, 0x90\n.size large, .-large\n"
	".type last,@function\nlast: .skip 0x10, 0x90\n.size last, .-last\n"
	".section .text.unlikely,\"ax\"\n"
	".type same2,@function\nsame2: .skip 0x20, 0x90\n.size same2, .-same2\n"
	".section .init.text,\"ax\"\n"
	".type begin,@function\nbegin: .skip 0x20, 0x90\n.size begin, .-begin\n";

#define BASE UINT64_C(0xffffffffc0a34000)
#define SLIDE (BASE - LM_LINK_TEXT)

struct place {
	struct lm_arena arena;
	char *dir, *path;
	struct lm_debuginfo *bin;
	struct lm_samples samples;
	struct lm_locator l;
	struct lm_err *err;
};

static void must(struct lm_err *err)
{
	if (err)
		fail_msg("%s", err->msg);
}

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	char *s, *command;
	struct lm_str errors = { 0 };
	int status;

	assert_non_null(p);
	must(lm_temp_dir(&p->arena, &p->dir));
	s = lm_arena_printf(&p->arena, "%s/x.s", p->dir);
	p->path = lm_arena_printf(&p->arena, "%s/thing.ko", p->dir);
	must(lm_file_write(s, source, strlen(source)));
	command = lm_arena_strdup(&p->arena, "echo 'int used;' >y.c && gcc -g -c y.c && gcc -c x.s && "
				  "objcopy --redefine-sym same2=same x.o && "
				  "ld -r --build-id=0x00112233445566778899aabbccddeeff00112233 -o thing.ko x.o y.o");
	char sh[] = "sh", flag[] = "-c", *argv[] = { sh, flag, command, NULL };

	lm_run(argv, p->dir, 60, 4096, &errors, &status);
	if (status)
		fail_msg("%s", lm_str_text(&errors));
	lm_str_release(&errors);
	must(lm_debuginfo_open(p->path, &p->bin));
	lm_samples_init(&p->samples);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	lm_err_free(p->err);
	lm_locator_close(&p->l);
	lm_samples_release(&p->samples);
	lm_debuginfo_close(p->bin);
	lm_remove_tree(p->dir);
	lm_arena_release(&p->arena);
	free(p);
	return 0;
}

static uint32_t word(struct place *p, const char *text)
{
	return text ? lm_strings_add(p->samples.strings, text, strlen(text)) : LM_NO_STRING;
}

static void sample(struct place *p, const char *dso, const char *symbol, uint64_t ip, uint64_t count)
{
	lm_samples_add(&p->samples, (struct lm_sample){ .ip = ip, .dso = word(p, dso), .symbol = word(p, symbol),
							.cpu = LM_CPU_UNKNOWN, .count = count });
}

static void start(struct place *p, const char *dso, const char *symbol, uint64_t at)
{
	p->samples.starts = reallocarray(p->samples.starts, p->samples.nr_starts + 1, sizeof(*p->samples.starts));
	assert_non_null(p->samples.starts);
	p->samples.starts[p->samples.nr_starts++] = (struct lm_start){ word(p, symbol), word(p, dso), at };
}

static void mapping(struct place *p, const char *dso, uint64_t at)
{
	p->samples.mappings = reallocarray(p->samples.mappings, p->samples.nr_mappings + 1,
					   sizeof(*p->samples.mappings));
	assert_non_null(p->samples.mappings);
	p->samples.mappings[p->samples.nr_mappings++] = (struct lm_mapping){ word(p, dso), -1, at, 0x5000, 0 };
}

static void look(struct place *p)
{
	p->err = lm_locator_open(&p->l, p->bin, &p->samples, false);
}

static void lies_at(struct place *p, uint64_t base)
{
	uint64_t at = 0;

	look(p);
	must(p->err);
	assert_int_equal(p->l.slide, base - LM_LINK_TEXT);
	assert_true(lm_locator_address(&p->l, LM_NO_STRING, base + 0x47, &at));
	assert_int_equal(at, LM_LINK_TEXT + 0x47);
	assert_false(lm_locator_address(&p->l, LM_NO_STRING, base - 1, &at));
	assert_false(lm_locator_address(&p->l, LM_NO_STRING, UINT64_C(0xffff888100000000), &at));
}

static void is_known_by_its_names(void **state)
{
	static const struct { const char *name; bool ours; } names[] = {
		{ "[net_thing]", true }, { "[net-thing]", true }, { "/lib/modules/6.1.0/extra/net_thing.ko", true },
		{ "/lib/modules/6.1.0/extra/net-thing.ko.xz", true }, { "net_thing.ko.zst", true },
		{ "net-thing.ko.debug", true }, { "[net_thing", false }, { "[net_thin]", false }, { "[net_things]", false },
		{ "net_thing", false }, { "/usr/bin/net_thing.x", false }, { "[thing]", false }, { "thing.ko", false }, { "[kernel.kallsyms]", false },
		{ "[unknown]", false }, { "", false }, { "[]", false }, { ".ko", false }, { "/net_thing/vmlinux", false },
	};
	struct place *p = *state;

	look(p);
	must(p->err);
	assert_non_null(p->l.module);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (lm_module_is_named(p->l.module, names[i].name) != names[i].ours)
			fail_msg("%s: %s", names[i].name, names[i].ours ? "is ours" : "is not ours");
}

static void starts_of_functions_tell_first(void **state)
{
	struct place *p = *state;

	mapping(p, "[net_thing]", BASE - 0x40000);
	start(p, "[net_thing]", "last", BASE + 0x1880);
	lies_at(p, BASE);
}

/* The second function of the name is 0x1890 behind the base, in another section. */
static void functions_of_one_name_are_told_apart(void **state)
{
	struct place *p = *state;

	start(p, "[net_thing]", "same", BASE + 0x1890);
	start(p, "[other]", "first", BASE + 0x77000);
	lies_at(p, BASE);
}

static void a_mapping_tells(void **state)
{
	struct place *p = *state;

	mapping(p, "/lib/modules/6.1.0/kernel/net/other.ko", BASE - 0x10000);
	mapping(p, "/lib/modules/6.1.0/kernel/net/net-thing.ko.xz", BASE);
	sample(p, "/lib/modules/6.1.0/kernel/net/net-thing.ko.xz", NULL, BASE + 0x47, 5);
	lies_at(p, BASE);
}

static void names_tell(void **state)
{
	struct place *p = *state;

	sample(p, "[net_thing]", "large", BASE + 0x1700, 100);	/* may be in the first page of it, or in the second */
	sample(p, "[net_thing]", "last", BASE + 0x1884, 1);
	sample(p, "[other]", "first", BASE + 0x55000, 1000);
	sample(p, "[net_thing]", "elsewhere", BASE + 0x9000, 1000);
	lies_at(p, BASE);
}

static void names_of_no_file_tell(void **state)
{
	struct place *p = *state;

	sample(p, NULL, "first", BASE + 0x3f, 3);
	sample(p, NULL, "kfree", UINT64_C(0xffffffff81234567), 1000);
	lies_at(p, BASE);
}

static void names_that_leave_it_open_are_refused(void **state)
{
	struct place *p = *state;

	sample(p, "[net_thing]", "large", BASE + 0x1700, 100);
	look(p);
	assert_non_null(p->err);
	assert_non_null(strstr(p->err->msg, "leaves 2 places open where the module lay; have perf script print offsets"));
}

/* A program in whose functions those of the file may be: that is not how modules lie. */
static void a_program_is_no_module(void **state)
{
	struct place *p = *state;

	sample(p, NULL, "first", UINT64_C(0x401010), 3);
	mapping(p, "[net_thing]", UINT64_C(0x400000));
	lies_at(p, 0);
}

/* Addresses of the text, where nothing says more. */
static void nothing_tells(void **state)
{
	struct place *p = *state;

	sample(p, NULL, NULL, 0x47, 1);
	lies_at(p, 0);
}

static void another_build_is_refused(void **state)
{
	struct place *p = *state;
	struct lm_build_id id = { word(p, "[net_thing]"), "ff112233445566778899aabbccddeeff00112233" };

	p->samples.build_ids = malloc(sizeof(id));
	assert_non_null(p->samples.build_ids);
	p->samples.build_ids[0] = id;
	p->samples.nr_build_ids = 1;
	look(p);
	assert_non_null(p->err);
	assert_non_null(strstr(p->err->msg, "is not the file that was profiled"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(is_known_by_its_names),
		TEST(starts_of_functions_tell_first),
		TEST(functions_of_one_name_are_told_apart),
		TEST(a_mapping_tells),
		TEST(names_tell),
		TEST(names_of_no_file_tell),
		TEST(names_that_leave_it_open_are_refused),
		TEST(a_program_is_no_module),
		TEST(nothing_tells),
		TEST(another_build_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
