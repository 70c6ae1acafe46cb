/* test_promise.c - promise files read, printed and judged. */
#include "header_fixture.h"

#include "optimizer/path.h"
#include "optimizer/promise_check.h"
#include "optimizer/subject.h"

#define HEAD "#linemate-promise 1\n"

static struct lm_err *read_text(struct lm_arena *arena, const char *text, struct lm_promises *p)
{
	return lm_promises_read("x.promise", text, strlen(text), arena, p);
}

static void refuses(const char *text, const char *words, const char *more)
{
	struct lm_arena arena = { 0 };
	struct lm_promises p = { .nr = 77 };

	fixture_fails(read_text(&arena, text, &p), LM_ERR_INPUT, words, more);
	assert_int_equal(p.nr, 77);
	lm_arena_release(&arena);
}

static void what_is_printed_is_read_again(void **state)
{
	static const char text[] = HEAD
		"record r\ndirectory ../..\nheader include/r.h\nsource r.c\nroot .\n"
		"flags -Iinclude \"-DX=a b\" \"# \\\"\\\\\"\n"
		"config v1:+CONFIG_A,-CONFIG_B\nconfig x:-DX\nline 128\nbase-align 16\n"
		"\napart a b[3] @v1,x\n\ntogether c d e\n\nmax-size 1600 @base\n\nwrite-hot a\n\nread-mostly c d\n"
		"\nline-start c\n\nfirst z\n";
	struct lm_arena arena = { 0 };
	struct lm_promises p;
	struct lm_str out = { 0 };

	(void)state;
	assert_null(read_text(&arena, text, &p));
	assert_string_equal(p.record, "r");
	assert_int_equal(p.nr_flags, 3);
	assert_string_equal(p.flags[1], "-DX=a b");
	assert_string_equal(p.flags[2], "# \"\\");
	assert_int_equal(p.line, 128);
	assert_int_equal(p.nr, 7);
	assert_int_equal(p.items[0].line, 13);
	assert_true(lm_promise_in(&p.items[0], "x"));
	assert_false(lm_promise_in(&p.items[0], "base"));
	assert_true(lm_promise_in(&p.items[1], "base"));
	lm_promises_print(&p, &out);
	assert_string_equal(lm_str_text(&out), text);
	lm_str_release(&out);
	lm_arena_release(&arena);
}

static void comments_blanks_and_line_ends(void **state)
{
	struct lm_arena arena = { 0 };
	struct lm_promises p;

	(void)state;
	assert_null(read_text(&arena, "#linemate-promise 1\r\n# all of it\r\n\r\n\tfirst\ta # because\r\nflags -DN=#3\r\n"
			      "kernel-headers\r\nrecord struct r", &p));
	assert_int_equal(p.nr, 1);
	assert_string_equal(p.items[0].members[0], "a");
	assert_int_equal(p.items[0].line, 4);
	assert_string_equal(p.flags[0], "-DN=#3");
	assert_string_equal(p.kernel_headers, "");
	assert_string_equal(p.record, "r");
	lm_arena_release(&arena);
}

static void what_is_wrong_has_its_line(void **state)
{
	(void)state;
	refuses("", "x.promise:1:", "#linemate-promise 1");
	refuses("record r\n", "x.promise:1:", "first line");
	refuses("#linemate-promise 2\n", "x.promise:1:", NULL);
	refuses(HEAD "\napart a\n", "x.promise:3:", "2 members");
	refuses(HEAD "apart a b c\n", "x.promise:2:", "2 members");
	refuses(HEAD "apart a a\n", "x.promise:2:", "twice");
	refuses(HEAD "apart a ,\n", "x.promise:2:", "no member");
	refuses(HEAD "appart a b\n", "x.promise:2:", "appart");
	refuses(HEAD "max-size\n", "x.promise:2:", "one number");
	refuses(HEAD "max-size 0\n", "x.promise:2:", "one number");
	refuses(HEAD "max-size 99999999999999999999\n", "x.promise:2:", "one number");
	refuses(HEAD "first a @\n", "x.promise:2:", "configuration");
	refuses(HEAD "first a @v1,\n", "x.promise:2:", "configuration");
	refuses(HEAD "first a \"@v 1\"\n", "x.promise:2:", "no configuration");
	refuses(HEAD "line 48\n", "x.promise:2:", "power of two");
	refuses(HEAD "line 4294967360\n", "x.promise:2:", "power of two");
	refuses(HEAD "record r\nrecord r\n", "x.promise:3:", "second time");
	refuses(HEAD "header\n", "x.promise:2:", "one word");
	refuses(HEAD "flags \"-DX\n", "x.promise:2:", "does not end");
}

static void contradictions_name_both_lines(void **state)
{
	(void)state;
	refuses(HEAD "apart a b\ntogether c b a\n", "x.promise:2: contradicts x.promise:3:", "both together and apart");
	refuses(HEAD "first a\nfirst b\n", "x.promise:3: contradicts x.promise:2:", "first member");
	refuses(HEAD "write-hot a b\nread-mostly c b\n", "x.promise:3: contradicts x.promise:2:", "b cannot be both");
	refuses(HEAD "together a b\nwrite-hot a\nread-mostly b\n", "contradicts x.promise:2:", "on one line");
}

static void in_different_configurations_nothing_contradicts(void **state)
{
	struct lm_arena arena = { 0 };
	struct lm_promises p;

	(void)state;
	assert_null(read_text(&arena, HEAD "apart a b @v1\ntogether a b @base\nfirst a @v1\nfirst b @base\n", &p));
	assert_int_equal(p.nr, 4);
	lm_arena_release(&arena);
}

/* ---- against a record ---- */

static const char header[] =
	"struct in { int x, y; };\n"
	"struct __attribute__((aligned(64))) r {\n"
	"	long state;	/* linemate: first */\n"
	"#ifdef A\n"
	"	long events[12];\n"
	"#endif\n"
	"	struct in in[4];\n"
	"	unsigned f : 3, g : 9;	/* linemate: apart table; max-size 512 */\n"
	"	long pad[12];\n"
	"	long table;\n"
	"};\n";

struct judged {
	struct fixture f;
	struct lm_body body;
	struct lm_subject subject;
	struct lm_promises p;
	struct lm_promise_verdict verdict;
};

static void open_record(struct judged *j, const char *text)
{
	static const char *const specs[] = { "a:-DA" };

	memset(j, 0, sizeof(*j));
	fixture_open(&j->f, text);
	j->f.request.specs = specs;
	j->f.request.nr_specs = 1;
	fixture_parse(&j->f, "r");
	assert_null(lm_subject_make(j->f.header, text, strlen(text), j->f.sources, 2, &j->f.arena, &j->body, &j->subject));
}

static struct lm_err *judge(struct judged *j, const char *text, uint32_t base_align)
{
	const struct lm_promise_opts opts = { 64, base_align };

	assert_null(read_text(&j->f.arena, lm_arena_printf(&j->f.arena, HEAD "%s\n", text), &j->p));
	return lm_promises_judge(&j->p, &j->subject, NULL, &opts, &j->f.arena, &j->verdict);
}

static void broken_in(struct judged *j, const char *text, size_t nr, uint32_t views, uint64_t bytes)
{
	struct lm_err *err = judge(j, text, 0);

	if (err)
		fail_msg("%s", err->msg);
	assert_int_equal(j->verdict.nr, nr);
	if (!nr)
		return;
	assert_int_equal(j->verdict.broken[0].nr_breaches, views);
	assert_int_equal(j->verdict.broken[0].breaches[0].bytes, bytes);
}

/*
 * base: state 0, in 8-39, bits 40, pad 48-143, table 144; 192 bytes.
 * a: state 0, events 8-103, in 104-135, bits 136, pad 144-239, table 240; 256 bytes.
 */
static void judges_each_kind(void **state)
{
	struct judged j;

	(void)state;
	open_record(&j, header);
	broken_in(&j, "apart state in", 1, 1, 56);
	assert_string_equal(j.verdict.broken[0].breaches[0].b.leaf, "in[0].x");
	broken_in(&j, "apart state in[3]", 1, 1, 32);
	broken_in(&j, "apart state table", 0, 0, 0);
	broken_in(&j, "apart pad table", 1, 2, 16);
	broken_in(&j, "apart events[10] in[0].x @a", 1, 1, 24);
	assert_int_equal(j.verdict.broken[0].breaches[0].view, 1);
	broken_in(&j, "apart events[1] in", 0, 0, 0);
	broken_in(&j, "together state in f", 1, 1, 73);
	broken_in(&j, "together state in[0]", 1, 1, 48);
	broken_in(&j, "max-size 250", 1, 1, 6);
	broken_in(&j, "max-size 140", 1, 2, 52);
	assert_int_equal(j.verdict.broken[0].breaches[0].least, 146);
	broken_in(&j, "max-size 256", 0, 0, 0);
	broken_in(&j, "line-start table", 1, 2, 16);
	broken_in(&j, "line-start state", 0, 0, 0);
	broken_in(&j, "first table", 1, 2, 144);
	broken_in(&j, "write-hot pad\nread-mostly state table", 2, 1, 16);
	assert_int_equal(j.verdict.nr_promises, 2);
	assert_int_equal(j.verdict.nr_kept, 0);
	broken_in(&j, "write-hot pad[11]\nread-mostly state table\nfirst state", 1, 2, 16);
	assert_int_equal(j.verdict.nr_kept, 1);
	fixture_close(&j.f);
}

static void what_cannot_be_judged_is_an_error(void **state)
{
	struct judged j;

	(void)state;
	open_record(&j, header);
	fixture_fails(judge(&j, "apart state tabel", 0), LM_ERR_INPUT, "x.promise:2:", "it has table");
	fixture_fails(judge(&j, "apart state zzzz", 0), LM_ERR_INPUT, "x.promise:2:", "take the promise out");
	fixture_fails(judge(&j, "first events @base", 0), LM_ERR_INPUT, "x.promise:2:", "these configurations");
	fixture_fails(judge(&j, "first state @b", 0), LM_ERR_INPUT, "x.promise:2:", "\"b\"");
	fixture_fails(judge(&j, "apart in in[2].y", 0), LM_ERR_INPUT, "x.promise:2:", "bytes in common");
	fixture_fails(judge(&j, "apart f in[9]", 0), LM_ERR_INPUT, "x.promise:2:", "in[9]");
	fixture_fails(judge(&j, "together state pad", 0), LM_ERR_INPUT, "104 bytes", "one line of 64");
	fixture_close(&j.f);
}

/* Without a promise of the allocator an object of 8-byte alignment may start anywhere in a line. */
static void an_unknown_base_parts_only_what_is_a_line_apart(void **state)
{
	struct judged j;

	(void)state;
	open_record(&j, "struct r { long a, b[6], c, d[7], e; };\n");
	broken_in(&j, "apart a c", 1, 2, 8);
	broken_in(&j, "apart a d[6]", 0, 0, 0);
	broken_in(&j, "apart c d[6]", 1, 2, 8);
	broken_in(&j, "apart c e", 0, 0, 0);
	broken_in(&j, "line-start a", 1, 2, 0);
	assert_null(judge(&j, "apart a d[0]", 64));
	assert_int_equal(j.verdict.nr, 0);
	assert_null(judge(&j, "line-start a\nline-start d", 64));
	assert_int_equal(j.verdict.nr, 0);
	fixture_close(&j.f);
}

static void comments_are_promises(void **state)
{
	const struct lm_promise_opts opts = { 64, 0 };
	struct judged j;

	(void)state;
	open_record(&j, header);
	assert_null(lm_promises_read_comments("x.h", &j.body, &j.f.arena, &j.p));
	assert_int_equal(j.p.nr, 2);
	assert_int_equal(j.p.items[0].kind, LM_PROMISE_FIRST);
	assert_string_equal(j.p.items[0].members[0], "state");
	assert_int_equal(j.p.items[0].line, 3);
	assert_int_equal(j.p.items[1].kind, LM_PROMISE_APART);
	assert_string_equal(j.p.items[1].members[0], "f");
	assert_string_equal(j.p.items[1].members[1], "table");
	assert_null(lm_promises_judge(&j.p, &j.subject, NULL, &opts, &j.f.arena, &j.verdict));
	assert_int_equal(j.verdict.nr, 0);
	fixture_close(&j.f);
}

static void comments_that_are_wrong_have_their_line(void **state)
{
	struct judged j;

	(void)state;
	open_record(&j, "struct r {\n	long a;\n	/*\n	 * Hot.\n	 * linemate: aparte b\n	 */\n	long b;\n};\n");
	fixture_fails(lm_promises_read_comments("x.h", &j.body, &j.f.arena, &j.p), LM_ERR_INPUT, "x.h:5:", "aparte");
	fixture_close(&j.f);
	open_record(&j, "struct r {\n	long a;	/* linemate: pin for good */\n\n	/* linemate: max-size 16 */\n\n	long b;\n};\n");
	assert_null(lm_promises_read_comments("x.h", &j.body, &j.f.arena, &j.p));
	assert_int_equal(j.p.nr, 1);
	fixture_close(&j.f);
}

static void extents_of_paths(void **state)
{
	const struct lm_record *rec;
	struct judged j;
	uint64_t begin, end;
	uint32_t f;

	(void)state;
	open_record(&j, "struct in { char c; struct { int x, y; } p[2]; };\n"
		    "struct r { long a; union { struct in u; long v; }; struct in w[3]; char tail[]; };\n");
	rec = j.subject.views[0].rec;
	assert_true(lm_path_extent(rec, "u.p", &f, &begin, &end));
	assert_int_equal(f, 1);
	assert_int_equal(begin, 4);
	assert_int_equal(end, 20);
	assert_true(lm_path_extent(rec, "v", &f, &begin, &end));
	assert_int_equal(end, 8);
	assert_true(lm_path_extent(rec, "w[1].p[0].y", &f, &begin, &end));
	assert_int_equal(begin, 20 + 8);
	assert_int_equal(end, 20 + 12);
	assert_true(lm_path_extent(rec, "w[2]", &f, &begin, &end));
	assert_int_equal(begin, 40);
	assert_int_equal(end, 60);
	assert_false(lm_path_extent(rec, "w[3]", &f, &begin, &end));
	assert_false(lm_path_extent(rec, "", &f, &begin, &end));
	assert_false(lm_path_extent(rec, "u.q", &f, &begin, &end));
	assert_false(lm_path_extent(rec, "a[0]", &f, &begin, &end));
	fixture_close(&j.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_printed_is_read_again),
		cmocka_unit_test(comments_blanks_and_line_ends),
		cmocka_unit_test(what_is_wrong_has_its_line),
		cmocka_unit_test(contradictions_name_both_lines),
		cmocka_unit_test(in_different_configurations_nothing_contradicts),
		cmocka_unit_test(judges_each_kind),
		cmocka_unit_test(what_cannot_be_judged_is_an_error),
		cmocka_unit_test(an_unknown_base_parts_only_what_is_a_line_apart),
		cmocka_unit_test(comments_are_promises),
		cmocka_unit_test(comments_that_are_wrong_have_their_line),
		cmocka_unit_test(extents_of_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
