/*
 * test_handed.c - what callers hand over: a program whose calls are known,
 * compiled here, fixed and position-independent.
 */
#include "base/arena.h"
#include "base/file.h"
#include "base/str.h"
#include "profiles/handed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char source[] =
	"struct part { long hits, kind; };\n"
	"struct rec { long id; struct part one; long gap; struct part two; };\n"
	"struct other { long id[3]; struct part only; };\n"
	"#define apart __attribute__((noinline, noclone, noipa))\n"
	"static apart void always(struct part *p) { p->hits++; }\n"
	"static apart void deep(struct part *p) { p->hits += 2; }\n"
	"static apart void wrapper(struct part *p) { p->kind++; deep(p); p->kind++; }\n"
	"static apart void either(struct part *p) { p->hits += 3; }\n"
	"static apart void two_records(struct part *p) { p->hits += 4; }\n"
	"static apart void unknown(struct part *p) { p->hits += 5; }\n"
	"static apart void in_a_table(struct part *p) { p->hits += 6; }\n"
	"static apart void in_the_code(struct part *p) { p->hits += 7; }\n"
	"static apart long again(struct part *p, long n) { return n ? again(p, n - 1) + p->hits++ : 0; }\n"
	"static apart void second(long n, struct part *p) { p->hits += n; }\n"
	"static apart void tail(struct part *p) { p->hits += 8; }\n"
	"static apart void jumper(struct rec *r) { r->id++; tail(&r->two); }\n"
	"static apart void crowded(struct part *p) { p->hits += 9; }\n"
	"apart void exported(struct part *p) { p->hits += 10; }\n"
	"static apart void on_the_stack(struct part *p) { p->hits += 11; }\n"
	"static apart void silent(struct part *p) { p->hits += 12; }\n"
	"static apart void through(struct rec *r) { __asm__ volatile(\"\"); silent(&r->one); }\n"
	"apart long loader(struct other *o) { return o->id[1]; }\n"
	"struct rec global; struct part *volatile loaded; void (*volatile ptr)(struct part *);\n"
	"void (*const table[])(struct part *) = { in_a_table };\n"
	"#define CROWD(r) crowded(&r->one); crowded(&r->one); crowded(&r->one); crowded(&r->one);\n"
	"#define MANY(r) CROWD(r) CROWD(r) CROWD(r) CROWD(r)\n"
	"apart void crowd(struct rec *r) { MANY(r) MANY(r) MANY(r) MANY(r) CROWD(r) }\n"
	"apart void user(struct rec *r, struct other *o) {\n"
	"	struct part mine = { 0 };\n"
	"	always(&r->one); always(&global.one); wrapper(&r->two); either(&r->one); either(&r->two);\n"
	"	two_records(&r->one); two_records(&o->only); unknown(&r->one); unknown(loaded);\n"
	"	in_a_table(&r->one); in_the_code(&r->one); ptr = in_the_code; ptr(&o->only); again(&r->one, 3);\n"
	"	second(4, &r->two); jumper(r); exported(&r->one); on_the_stack(&mine); through(r); table[0](&mine);\n"
	"	r->id += loader(o);\n"
	"}\n"
	"int main(void) { static struct other o; user(&global, &o); crowd(&global); return 0; }\n";

struct place {
	struct lm_arena arena;
	char *dir, *path;
	struct lm_flow_source from;
	struct lm_image *image;
	struct lm_handing *handing;
	uint32_t record;
};

static void must(struct lm_err *err)
{
	if (err)
		fail_msg("%s", err->msg);
}

static void compile(struct place *p, bool pie)
{
	char *c = lm_arena_printf(&p->arena, "%s/program.c", p->dir);
	char cc[] = "gcc", g[] = "-g", o2[] = "-O2", fixed[] = "-fno-pie", moved[] = "-fpie", l1[] = "-no-pie",
	     l2[] = "-pie", o[] = "-o", dynamic[] = "-rdynamic";
	char *argv[] = { cc, g, o2, pie ? moved : fixed, pie ? l2 : l1, dynamic, o, p->path, c, NULL };
	struct lm_str errors = { 0 };
	int status;

	must(lm_file_write(c, source, strlen(source)));
	lm_run(argv, p->dir, 60, 4096, &errors, &status);
	if (status)
		fail_msg("%s", lm_str_text(&errors));
	lm_str_release(&errors);
}

static void open_place(struct place *p)
{
	const struct lm_dbg_record *rec;

	must(lm_debuginfo_open(p->path, &p->from.bin));
	must(lm_image_open(p->path, &p->image));
	p->from.image = p->image;
	p->from.disasm = lm_disasm_new(LM_X86_64);
	p->from.cache = lm_flow_cache_new();
	must(lm_debuginfo_record(p->from.bin, "rec", &rec));
	must(lm_debuginfo_type_of_record(p->from.bin, rec, &p->record));
	p->handing = lm_handing_new(&p->from, p->record);
}

static int setup_as(void **state, bool pie)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	must(lm_temp_dir(&p->arena, &p->dir));
	p->path = lm_arena_printf(&p->arena, "%s/program", p->dir);
	compile(p, pie);
	open_place(p);
	*state = p;
	return 0;
}

static int setup(void **state)
{
	return setup_as(state, false);
}

static int setup_moved(void **state)
{
	return setup_as(state, true);
}

static int teardown(void **state)
{
	struct place *p = *state;

	lm_handing_free(p->handing);
	lm_disasm_free(p->from.disasm);
	lm_flow_cache_free(p->from.cache);
	lm_image_close(p->image);
	lm_debuginfo_close(p->from.bin);
	lm_remove_tree(p->dir);
	lm_arena_release(&p->arena);
	free(p);
	return 0;
}

static const struct lm_function *function(struct place *p, const char *name)
{
	const struct lm_function *f = NULL;
	uint64_t at = 0;

	if (!lm_image_find(p->image, name, &at))
		fail_msg("no symbol %s", name);
	must(lm_debuginfo_function(p->from.bin, at, &f));
	assert_non_null(f);
	return f;
}

static struct lm_handed_list handed(struct place *p, const char *name, unsigned n, bool alike)
{
	struct lm_handed_list list;

	must(lm_handed_to(p->handing, function(p, name), n, alike, &list));
	return list;
}

/* How many things of a kind at an offset are in a list. */
static unsigned count(struct lm_handed_list list, enum lm_handed_kind kind, int64_t offset)
{
	unsigned nr = 0;

	for (size_t i = 0; i < list.nr; i++)
		nr += list.items[i].kind == kind && (kind == LM_HANDED_OPEN || list.items[i].reach.offset == offset);
	return nr;
}

static void is_only(struct lm_handed_list list, int64_t offset)
{
	assert_true(list.complete);
	assert_int_not_equal(list.nr, 0);
	assert_int_equal(count(list, LM_HANDED_RECORD, offset), list.nr);
}

static void all_callers_agree(void **state)
{
	struct place *p = *state;

	is_only(handed(p, "always", 0, false), 8);
	is_only(handed(p, "always", 0, true), 8);
	is_only(handed(p, "wrapper", 0, false), 32);
	is_only(handed(p, "deep", 0, false), 32);
	is_only(handed(p, "second", 1, false), 32);
	is_only(handed(p, "tail", 0, false), 32);
	is_only(handed(p, "silent", 0, false), 8);
}

static void callers_differ(void **state)
{
	struct place *p = *state;
	struct lm_handed_list list = handed(p, "either", 0, false);

	assert_true(list.complete);
	assert_int_equal(list.nr, 2);
	assert_int_equal(count(list, LM_HANDED_RECORD, 8), 1);
	assert_int_equal(count(list, LM_HANDED_RECORD, 32), 1);
	assert_false(handed(p, "either", 0, true).complete);

	list = handed(p, "two_records", 0, false);
	assert_true(list.complete);
	assert_int_equal(list.nr, 2);
	assert_int_equal(count(list, LM_HANDED_RECORD, 8), 1);
	assert_int_equal(count(list, LM_HANDED_OTHER, 24), 1);

	list = handed(p, "unknown", 0, false);
	assert_true(list.complete);
	assert_int_equal(count(list, LM_HANDED_RECORD, 8), 1);
	assert_int_equal(count(list, LM_HANDED_OPEN, 0), 1);

	/* What it hands to itself is open. */
	list = handed(p, "again", 0, false);
	assert_int_equal(count(list, LM_HANDED_RECORD, 8), 1);
	assert_int_equal(count(list, LM_HANDED_OPEN, 0), 1);

	list = handed(p, "on_the_stack", 0, false);
	assert_true(list.complete);
	assert_int_equal(count(list, LM_HANDED_OTHER, 0), list.nr);
	assert_true(list.items[0].by == function(p, "user"));
}

/* A pointer to the function in data or code, a name for others, too many calls: callers may be missing. */
static void callers_may_be_missing(void **state)
{
	struct place *p = *state;

	assert_false(handed(p, "in_a_table", 0, false).complete);
	assert_false(handed(p, "in_the_code", 0, false).complete);
	assert_false(handed(p, "exported", 0, false).complete);
	assert_false(handed(p, "crowded", 0, false).complete);
}

static void is_in_places(struct place *p, const char *name, unsigned n, size_t places)
{
	size_t nr;

	must(lm_handed_places(p->handing, function(p, name), n, &nr));
	assert_int_equal(nr, places);
}

static void parameters_that_are_parts(void **state)
{
	struct place *p = *state;

	is_in_places(p, "always", 0, 2);
	is_in_places(p, "always", 1, 0);
	is_in_places(p, "second", 0, 0);
	is_in_places(p, "second", 1, 2);
	is_in_places(p, "jumper", 0, 0);
}

/* Without a load or a store of its own no sample shows that a caller ran. */
static void some_callers_show(void **state)
{
	struct place *p = *state;
	struct lm_shown shown;

	must(lm_handed_shows(p->handing, function(p, "jumper"), true, true, &shown));
	assert_true(shown.any && shown.record);
	must(lm_handed_shows(p->handing, function(p, "through"), true, true, &shown));
	assert_false(shown.any || shown.record);
	must(lm_handed_shows(p->handing, function(p, "loader"), true, false, &shown));
	assert_true(shown.any && !shown.record);
	must(lm_handed_shows(p->handing, function(p, "loader"), false, true, &shown));
	assert_false(shown.any);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define MOVED(name) { "position-independent: " #name, name, setup_moved, teardown, NULL }

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_callers_agree),
		TEST(callers_differ),
		TEST(callers_may_be_missing),
		TEST(parameters_that_are_parts),
		TEST(some_callers_show),
		MOVED(all_callers_agree),
		MOVED(callers_differ),
		MOVED(callers_may_be_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
