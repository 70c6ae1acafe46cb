/*
 * test_debuginfo.c - one record, compiled by gcc and clang with every version
 * of DWARF, read back and compared with what the compiler says of itself.
 */
#include "profiles/debuginfo.h"

#include "base/arena.h"
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define NOT_BITS UINT32_MAX

/* The record under test: once as C for the compilers, once as C for this file. */
#define RECORD \
	struct deep { int x; union { short y; long z; }; }; \
	typedef struct { char c; double d; } pair; \
	typedef const volatile int *const cvp; \
	enum color { RED, GREEN }; \
	struct record { \
		const volatile char a; \
		int b : 3; \
		unsigned long c : 40; \
		int : 7; \
		struct { int first; long second; }; \
		union { struct { union { char inner; }; }; int other; }; \
		int none[0]; \
		struct deep deep; \
		pair pairs[2][3]; \
		_Atomic(int) counter; \
		enum color color; \
		void (*callback)(int, char); \
		cvp pointer; \
		_Bool flag : 1; \
		long double ld __attribute__((aligned(32))); \
		__int128 wide; \
		pair tail[]; \
	};
#define TEXT2(...) #__VA_ARGS__
#define TEXT(...) TEXT2(__VA_ARGS__)
RECORD

static const struct expected { const char *name, *key; uint64_t bit_offset, size; uint32_t bits; } expected[] = {
#define WHOLE(m) { #m, #m, 8 * offsetof(struct record, m), sizeof(((struct record *)0)->m), NOT_BITS }
	WHOLE(a),
	{ "b", "b", 8, 4, 3 },
	{ "c", "c", 11, 8, 40 },
	{ "", "first", 8 * offsetof(struct record, first), 16, NOT_BITS },
	{ "", "inner", 8 * offsetof(struct record, inner), 4, NOT_BITS },
	{ "none", "none", 8 * offsetof(struct record, none), 0, NOT_BITS },
	WHOLE(deep),
	WHOLE(pairs),
	WHOLE(counter),
	WHOLE(color),
	WHOLE(callback),
	WHOLE(pointer),
	{ "flag", "flag", 8 * (offsetof(struct record, pointer) + sizeof(void *)), 1, 1 },
	WHOLE(ld),
	WHOLE(wide),
	{ "tail", "tail", 8 * offsetof(struct record, tail), 0, NOT_BITS },
};

enum { NR_EXPECTED = sizeof(expected) / sizeof(*expected) };

struct place {
	struct lm_arena arena;
	char *dir;
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

	lm_remove_tree(p->dir);
	lm_arena_release(&p->arena);
	free(p);
	return 0;
}

static char *in_dir(struct place *p, const char *name)
{
	return lm_arena_printf(&p->arena, "%s/%s", p->dir, name);
}

/* Runs a command line in the place's directory; it must succeed. */
static void run(struct place *p, const char *command)
{
	char sh[] = "sh", flag[] = "-c", *argv[] = { sh, flag, lm_arena_strdup(&p->arena, command), NULL };
	struct lm_str errors = { 0 };
	int status;

	lm_run(argv, p->dir, 60, 4096, &errors, &status);
	if (status)
		fail_msg("%s: %s", command, lm_str_text(&errors));
	lm_str_release(&errors);
}

static void write_source(struct place *p, const char *name, const char *text)
{
	assert_null(lm_file_write(in_dir(p, name), text, strlen(text)));
}

static struct lm_debuginfo *must_open(struct place *p, const char *name)
{
	struct lm_debuginfo *bin = NULL;
	struct lm_err *err = lm_debuginfo_open(in_dir(p, name), &bin);

	if (err)
		fail_msg("%s", err->msg);
	return bin;
}

static const struct lm_dbg_record *must_find(struct lm_debuginfo *bin, const char *name)
{
	const struct lm_dbg_record *rec = NULL;
	struct lm_err *err = lm_debuginfo_record(bin, name, &rec);

	if (err)
		fail_msg("%s", err->msg);
	return rec;
}

/* Opening must fail with this code and a sentence that holds `part`. */
static void must_not_open(struct place *p, const char *name, const char *part)
{
	struct lm_debuginfo *bin = NULL;
	struct lm_err *err = lm_debuginfo_open(in_dir(p, name), &bin);

	assert_non_null(err);
	assert_null(bin);
	assert_int_equal(err->code, LM_ERR_INPUT);
	if (!strstr(err->msg, part))
		fail_msg("\"%s\" does not say \"%s\"", err->msg, part);
	lm_err_free(err);
}

static void check_record(const struct lm_dbg_record *rec, const char *how)
{
	if (!rec)
		fail_msg("%s: not found", how);
	assert_int_equal(rec->size, sizeof(struct record));
	assert_string_equal(rec->name, "record");
	if (rec->nr_members != NR_EXPECTED)
		fail_msg("%s: %u members", how, rec->nr_members);
	for (uint32_t i = 0; i < NR_EXPECTED; i++) {
		const struct lm_dbg_member *m = &rec->members[i];
		const struct expected *e = &expected[i];

		if (strcmp(m->name, e->name) || strcmp(m->key, e->key) || m->bit_offset != e->bit_offset ||
		    m->size != e->size || m->bits != e->bits)
			fail_msg("%s: member %u: \"%s\" (%s) at bit %lu, %lu bytes, %u bits, not \"%s\" (%s) at %lu, %lu, %u",
				 how, i, m->name, m->key, (unsigned long)m->bit_offset, (unsigned long)m->size, m->bits,
				 e->name, e->key, (unsigned long)e->bit_offset, (unsigned long)e->size, e->bits);
	}
}

static void test_both_compilers_all_versions(void **state)
{
	static const char *const flags[] = {
		"-gdwarf-2 -gno-strict-dwarf", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5", "-gdwarf-5 -O2", "-gdwarf-4 -gz",
	};
	static const char *const compilers[] = { "gcc", "clang" };
	struct place *p = *state;

	write_source(p, "record.c", TEXT(RECORD) " struct record *use; pair *use2;\n");
	for (size_t c = 0; c < 2; c++) {
		for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
			char *how = lm_arena_printf(&p->arena, "%s -w %s -c record.c -o record.o", compilers[c], flags[i]);
			struct lm_debuginfo *bin;

			run(p, how);
			bin = must_open(p, "record.o");
			check_record(must_find(bin, "record"), how);
			assert_non_null(strstr(must_find(bin, "record")->unit, "record.c"));
			assert_non_null(strstr(must_find(bin, "record")->producer, c ? "clang" : "GNU C"));
			/* A typedef of a record without a tag, and names that are no complete record. */
			assert_int_equal(must_find(bin, "pair")->size, 16);
			assert_int_equal(must_find(bin, "pair")->nr_members, 2);
			assert_null(must_find(bin, "color"));
			assert_null(must_find(bin, "cvp"));
			assert_null(must_find(bin, "nothing"));
			lm_debuginfo_close(bin);
		}
	}
}

static void test_declarations_are_passed_over(void **state)
{
	struct place *p = *state;
	struct lm_debuginfo *bin;

	write_source(p, "a.c", "struct late; typedef struct late late_t; struct late *one; late_t *two;\n");
	write_source(p, "b.c", "struct late { int i, j; }; struct late three; int main(void) { return 0; }\n");
	run(p, "gcc -g -Wl,--build-id=0x0123456789abcdef a.c b.c -o late");
	bin = must_open(p, "late");
	assert_non_null(must_find(bin, "late"));
	assert_string_equal(must_find(bin, "late")->unit, "b.c");
	assert_int_equal(must_find(bin, "late")->size, 8);
	assert_null(must_find(bin, "late_t"));
	assert_string_equal(lm_debuginfo_build_id(bin), "0123456789abcdef");
	lm_debuginfo_close(bin);
}

static void test_type_units(void **state)
{
	static const char *const flags[] = { "-gdwarf-4", "-gdwarf-5" };
	static const char *const compilers[] = { "gcc", "clang" };
	struct place *p = *state;

	write_source(p, "record.c", TEXT(RECORD) " struct record *use; pair *use2; int main(void) { return 0; }\n");
	for (size_t i = 0; i < 4; i++) {
		char *how = lm_arena_printf(&p->arena, "%s -w %s -fdebug-types-section record.c -o record",
					    compilers[i / 2], flags[i % 2]);
		struct lm_debuginfo *bin;

		run(p, how);
		bin = must_open(p, "record");
		check_record(must_find(bin, "record"), how);
		lm_debuginfo_close(bin);
	}
}

static void test_32_bit_objects(void **state)
{
	struct place *p = *state;
	struct lm_debuginfo *bin;
	const struct lm_dbg_record *rec;

	write_source(p, "m.c", "struct m { char c; long long l; void *p[2]; int bits : 5; } m;\n");
	run(p, "clang -g -m32 -c m.c -o m.o");
	bin = must_open(p, "m.o");
	rec = must_find(bin, "m");
	assert_int_equal(rec->size, 24);
	assert_int_equal(rec->members[1].bit_offset, 32);
	assert_int_equal(rec->members[2].size, 8);
	assert_int_equal(rec->members[3].bit_offset, 160);
	lm_debuginfo_close(bin);
}

static void test_what_cannot_be_opened_says_why(void **state)
{
	struct place *p = *state;

	write_source(p, "m.c", "struct m { int i; } m; int main(void) { return 0; }\n");
	write_source(p, "empty", "");
	run(p, "gcc m.c -o plain && gcc -g -gsplit-dwarf m.c -o split && gcc -g m.c -o full");
	run(p, "objcopy --only-keep-debug full full.debug && cp full linked && strip -g linked && "
	       "objcopy --add-gnu-debuglink=full.debug linked");
	run(p, "printf 'common.debug\\0aaaaaaaaaaaaaaaaaaaa' >alt && "
	       "objcopy --add-section .gnu_debugaltlink=alt full moved");
	run(p, "head -c 3000 full >cut && head -c 40 full >head && mkfifo pipe");
	must_not_open(p, "nothing", "No such file");
	must_not_open(p, "m.c", "not an ELF file");
	must_not_open(p, "empty", "not an ELF file");
	must_not_open(p, "pipe", "not a regular file");
	must_not_open(p, ".", "not a regular file");
	must_not_open(p, "plain", "has no debug info: build it with -g");
	must_not_open(p, "split", ".dwo");
	must_not_open(p, "linked", "full.debug");
	must_not_open(p, "moved", "common.debug");
	must_not_open(p, "cut", "outside the file");
	must_not_open(p, "head", "header is cut off");
	lm_debuginfo_close(must_open(p, "full.debug"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_both_compilers_all_versions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_declarations_are_passed_over, setup, teardown),
		cmocka_unit_test_setup_teardown(test_type_units, setup, teardown),
		cmocka_unit_test_setup_teardown(test_32_bit_objects, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_cannot_be_opened_says_why, setup, teardown),
	};

	return cmocka_run_group_tests_name("debuginfo", tests, NULL, NULL);
}
