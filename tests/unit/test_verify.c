/*
 * test_verify.c - a true plan passes; a plan or a text that was tampered with
 * does not; what is not our fault is called by its name.
 */
#include "output/verify.h"

#include "base/file.h"
#include "optimizer/layout.h"
#include "output/mirror.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

enum { MAX_VIEWS = 4 };

/* A tree in a temporary directory, and a job on its header. */
struct place {
	struct lm_arena arena;
	char *dir, *tree, *tmp;
	struct lm_configs configs;
	struct lm_source sources[MAX_VIEWS];
	struct lm_body body;
	struct lm_subject subject;
	struct lm_order order;
	struct lm_layout after[MAX_VIEWS];
	struct lm_rewrite rewrite;
	struct lm_verify_request req;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	char *dir;

	assert_non_null(p);
	assert_null(lm_temp_dir(&p->arena, &dir));
	p->dir = lm_real_path(dir, &p->arena);
	p->tree = lm_arena_printf(&p->arena, "%s/tree", p->dir);
	p->tmp = lm_arena_printf(&p->arena, "%s/tmp", p->dir);
	assert_null(lm_make_dirs(p->tree));
	assert_null(lm_make_dirs(p->tmp));
	setenv("TMPDIR", p->tmp, 1);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	unsetenv("TMPDIR");
	for (size_t i = 0; i < MAX_VIEWS; i++)
		lm_source_release(&p->sources[i]);
	lm_remove_tree(p->dir);
	lm_arena_release(&p->arena);
	free(p);
	return 0;
}

static char *in_tree(struct place *p, const char *name)
{
	return lm_arena_printf(&p->arena, "%s/%s", p->tree, name);
}

static void put(struct place *p, const char *name, const char *text)
{
	char *path = in_tree(p, name), *dir = lm_arena_strdup(&p->arena, path);

	*strrchr(dir, '/') = 0;
	assert_null(lm_make_dirs(dir));
	assert_null(lm_file_write(path, text, strlen(text)));
}

static void must(struct lm_err *err)
{
	if (err)
		fail_msg("%s", err->msg);
}

/* The error must have this code and a sentence that holds `part`. */
static void must_fail(struct lm_err *err, enum lm_errc code, const char *part)
{
	if (!err)
		fail_msg("no error, but \"%s\" expected", part);
	if (err->code != code || !strstr(err->msg, part))
		fail_msg("error %d \"%s\", but %d \"%s\" expected", err->code, err->msg, code, part);
	lm_err_free(err);
}

/* Reads the header and prepares to move unit `from` behind all others. */
static void prepare(struct place *p, struct lm_config_request want, const char *record, uint32_t from)
{
	struct lm_source_request parse;
	char *text;
	size_t len, nr;

	want.root = p->tree;
	must(lm_configs_make(&want, &p->arena, &p->configs));
	nr = p->configs.nr;
	assert_true(nr <= MAX_VIEWS);
	must(lm_file_read(want.header, "header", 1 << 20, &p->arena, &text, &len));
	parse = (struct lm_source_request){ .configs = &p->configs, .record = record, .text = text, .len = len };
	must(lm_source_parse_all(&parse, p->sources));
	must(lm_subject_make(want.header, text, len, p->sources, nr, &p->arena, &p->body, &p->subject));
	p->order = lm_order_identity(&p->subject, &p->arena);
	memmove(p->order.units + from, p->order.units + from + 1, (p->body.nr_units - from - 1) * sizeof(uint32_t));
	p->order.units[p->body.nr_units - 1] = from;
	for (size_t v = 0; v < nr; v++) {
		p->after[v].bit_offset = LM_ARENA_ARRAY(&p->arena, uint64_t, p->subject.views[v].rec->nr_fields + 1u);
		lm_layout_units(&p->subject.views[v], p->body.nr_units, &p->order, 64, NULL, &p->after[v]);
	}
	must(lm_rewrite(&p->body, &p->order, &(struct lm_rewrite_opts){ 0 }, &p->arena, &p->rewrite));
	p->req = (struct lm_verify_request){
		.configs = &p->configs, .record = record, .subject = &p->subject, .order = &p->order,
		.after = p->after, .rewrite = &p->rewrite,
	};
}

static struct lm_err *verify(struct place *p, struct lm_verified *out)
{
	return lm_verify(&p->req, &p->arena, out);
}

static size_t nr_entries(const char *dir)
{
	DIR *d = opendir(dir);
	size_t nr = 0;

	assert_non_null(d);
	while (readdir(d))
		nr++;
	closedir(d);
	return nr;
}

#define PLAIN \
	"#ifndef PLAIN_H\n#define PLAIN_H\n" \
	"struct plain {\n" \
	"\tchar first;\t/* stays */\n" \
	"\tlong second;\n" \
	"\tunsigned int one : 3;\n\tunsigned int : 4;\n\tunsigned int two : 9;\n" \
	"\tstruct { int x; long y; };\n" \
	"#ifdef WITH_EXTRA\n\tlong extra[3];\n#endif\n" \
	"\tint last;\n" \
	"};\n#endif\n"

static void prepare_plain(struct place *p)
{
	static const char *const specs[] = { "more:+WITH_EXTRA" };

	put(p, "inc/plain.h", PLAIN);
	prepare(p, (struct lm_config_request){ .header = in_tree(p, "inc/plain.h"), .specs = specs, .nr_specs = 1 },
		"plain", 0);
}

static void test_a_true_plan_passes_and_leaves_no_trace(void **state)
{
	struct place *p = *state;
	struct lm_verified out = { 0 };

	prepare_plain(p);
	must(verify(p, &out));
	assert_int_equal(out.nr_compilations, 4);
	assert_null(out.missing);
	assert_non_null(strstr(out.compilers, "gcc 1"));
	assert_non_null(strstr(out.compilers, " and clang 1"));
	assert_int_equal(nr_entries(p->tmp), 2);
	assert_int_equal(nr_entries(in_tree(p, "inc")), 3);
}

static void test_a_wrong_offset_is_our_bug(void **state)
{
	struct place *p = *state;
	struct lm_verified out;

	prepare_plain(p);
	p->after[1].bit_offset[1] += 64;
	must_fail(verify(p, &out), LM_ERR_BUG, "configuration \"more\": second is at byte 0 and should be at byte 8");
	p->after[1].bit_offset[1] -= 64;
	p->after[0].size += 8;
	must_fail(verify(p, &out), LM_ERR_BUG, "bytes aligned to 8 and should have");
	assert_int_equal(nr_entries(p->tmp), 2);
}

static void test_a_wrong_order_is_our_bug(void **state)
{
	struct place *p = *state;
	struct lm_verified out;
	uint32_t first;

	prepare_plain(p);
	first = p->order.units[0];
	p->order.units[0] = p->order.units[1];
	p->order.units[1] = first;
	must_fail(verify(p, &out), LM_ERR_BUG, "stands where");
}

/* Replaces the first `what` in the new text by as many bytes of `by`. */
static void tamper(struct place *p, const char *what, const char *by)
{
	char *at = strstr(p->rewrite.text, what);

	assert_non_null(at);
	assert_int_equal(strlen(what), strlen(by));
	memcpy(at, by, strlen(by));
}

static void test_text_that_was_tampered_with_is_our_bug(void **state)
{
	static const struct { const char *what, *by, *part; } rows[] = {
		{ "stays", "woods", "lost the token \"/* stays */\"" },
		{ "long second", "long secand", "an unexpected token \"secand\"" },
		{ "#ifdef WITH_EXTRA", "#ifdef WITH_OTHER", "lost the directive \"#ifdef WITH_EXTRA\"" },
		{ "PLAIN_H", "PLANE_H", "differs outside the braces" },
	};
	struct place *p = *state;
	struct lm_verified out;

	prepare_plain(p);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		tamper(p, rows[i].what, rows[i].by);
		must_fail(verify(p, &out), LM_ERR_BUG, rows[i].part);
		tamper(p, rows[i].by, rows[i].what);
	}
	must(verify(p, &out));
}

static void test_what_only_one_compiler_takes_is_not_our_bug(void **state)
{
	struct place *p = *state;
	struct lm_verified out;

	put(p, "c.h", "struct c { char a; int *_Nonnull p; char b; };\n");
	prepare(p, (struct lm_config_request){ .header = in_tree(p, "c.h") }, "c", 0);
	must_fail(verify(p, &out), LM_ERR_INPUT, "gcc does not compile the header as it is");
}

static void test_a_record_that_the_compilers_lay_out_differently_is_refused(void **state)
{
	struct place *p = *state;
	struct lm_verified out;

	put(p, "d.h", "struct d { long m; int a : 10; int z : 18 __attribute__((aligned(2))); };\n");
	prepare(p, (struct lm_config_request){ .header = in_tree(p, "d.h") }, "d", 0);
	must_fail(verify(p, &out), LM_ERR_REFUSED, "gcc and libclang do not agree on d even before any change");
}

/* The flags bring the header in by another path, which the mirror cannot catch. */
static void test_a_header_read_around_the_mirror_is_noticed(void **state)
{
	struct place *p = *state;
	const char *flags[] = { "-include", lm_arena_printf(&p->arena, "%s/other/e.h", p->dir) };
	struct lm_verified out;

	put(p, "e.h", "#ifndef E\n#define E\nstruct e { char a; long b; char c; };\n#endif\n");
	assert_int_equal(symlink(p->tree, lm_arena_printf(&p->arena, "%s/other", p->dir)), 0);
	prepare(p, (struct lm_config_request){ .header = in_tree(p, "e.h"), .flags = flags, .nr_flags = 2 }, "e", 0);
	must_fail(verify(p, &out), LM_ERR_INPUT, "by a path that does not lead through");
}

/* Relative flags, an absolute one, "../" out of a folder that nobody named, and a source file. */
static void test_every_way_into_the_tree_leads_to_the_new_text(void **state)
{
	struct place *p = *state;
	const char *flags[] = { "-Ilib", lm_arena_printf(&p->arena, "-I%s", in_tree(p, "sys")), "-DNEEDED" };
	struct lm_verified out;

	put(p, "inc/f.h", "#ifndef F\n#define F\n#include <width.h>\nstruct f { char a; width_t b; char c; };\n#endif\n");
	put(p, "sys/width.h", "typedef long width_t;\n");
	put(p, "lib/deep/user.h", "#include \"../../inc/f.h\"\n");
	put(p, "src/main.c", "#ifndef NEEDED\n#error flags\n#endif\n#include <deep/user.h>\nstruct f f;\n");
	assert_int_equal(chdir(p->tree), 0);
	prepare(p, (struct lm_config_request){ .header = in_tree(p, "inc/f.h"), .source = in_tree(p, "src/main.c"),
					       .flags = flags, .nr_flags = 3 }, "f", 0);
	must(verify(p, &out));
	assert_int_equal(out.nr_compilations, 2);
	assert_int_equal(chdir("/"), 0);
}

static void test_a_typedef_without_tag_and_a_flexible_tail(void **state)
{
	struct place *p = *state;
	struct lm_verified out;

	put(p, "t.h", "typedef struct { char a; union { int i; double d; }; char b[3]; int tail[]; } t_t;\n");
	prepare(p, (struct lm_config_request){ .header = in_tree(p, "t.h") }, "t_t", 0);
	/* The tail must stay last: put the moved unit before it. */
	p->order.units[p->body.nr_units - 1] = p->order.units[p->body.nr_units - 2];
	p->order.units[p->body.nr_units - 2] = 0;
	lm_layout_units(&p->subject.views[0], p->body.nr_units, &p->order, 64, NULL, &p->after[0]);
	must(lm_rewrite(&p->body, &p->order, &(struct lm_rewrite_opts){ 0 }, &p->arena, &p->rewrite));
	must(verify(p, &out));
}

/* A padding macro of the project makes a member without bytes, where a line starts. */
static void test_a_barrier_by_the_projects_own_macro(void **state)
{
	static const struct lm_rewrite_opts opts = { .barrier = "PADDING" };
	struct place *p = *state;
	struct lm_verified out;

	put(p, "b.h", "struct padding { char x[0]; } __attribute__((aligned(64)));\n"
	    "#define PADDING(name) struct padding name\n"
	    "struct b { char a; long b; int c : 3; char d; } __attribute__((aligned(64)));\n");
	prepare(p, (struct lm_config_request){ .header = in_tree(p, "b.h") }, "b", 0);
	p->order.barrier[p->body.nr_units - 1] = 1;
	lm_layout_units(&p->subject.views[0], p->body.nr_units, &p->order, 64, NULL, &p->after[0]);
	assert_int_equal(p->after[0].size, 128);
	must(lm_rewrite(&p->body, &p->order, &opts, &p->arena, &p->rewrite));
	assert_non_null(strstr(p->rewrite.text, "PADDING(_pad1_);"));
	must(verify(p, &out));
	/* Without the barrier in the plan the same text is wrong. */
	p->order.barrier[p->body.nr_units - 1] = 0;
	must_fail(verify(p, &out), LM_ERR_BUG, "_pad1_ stands where a should");
}

/* A comment that was announced passes; any other byte in it does not. */
static void test_a_note_is_known_to_the_letter(void **state)
{
	static const char *const notes[] = { NULL, "Read often: keep away from last, which is written.", NULL, NULL, NULL, NULL };
	static const struct lm_rewrite_opts opts = { .notes = notes };
	struct place *p = *state;
	struct lm_verified out;
	char *note;

	prepare_plain(p);
	must(lm_rewrite(&p->body, &p->order, &opts, &p->arena, &p->rewrite));
	note = strstr(p->rewrite.text, "\t/* Read often: keep away from last, which is written. */\n\tlong second;\n");
	assert_non_null(note);
	must(verify(p, &out));
	note[4] = 'r';
	must_fail(verify(p, &out), LM_ERR_BUG, "Read often");
}

static void test_one_compiler_is_enough_and_none_is_not(void **state)
{
	struct place *p = *state;
	char *path = lm_arena_strdup(&p->arena, getenv("PATH")), *bin = lm_arena_printf(&p->arena, "%s/bin", p->dir);
	static const char *const programs[] = { "gcc", "as" };
	struct lm_verified out = { 0 };

	prepare_plain(p);
	assert_null(lm_make_dirs(bin));
	setenv("PATH", bin, 1);
	must_fail(verify(p, &out), LM_ERR_INPUT, "neither gcc nor clang");
	for (size_t i = 0; i < 2; i++) {
		const char *dir = path;
		char *from;

		do {
			from = lm_arena_printf(&p->arena, "%.*s/%s", (int)strcspn(dir, ":"), dir, programs[i]);
			dir += strcspn(dir, ":") + 1;
		} while (access(from, X_OK));
		assert_int_equal(symlink(from, lm_arena_printf(&p->arena, "%s/%s", bin, programs[i])), 0);
	}
	must(verify(p, &out));
	assert_string_equal(out.missing, "clang");
	assert_int_equal(out.nr_compilations, 2);
	setenv("PATH", path, 1);
}

static void test_paths_of_the_tree_become_paths_of_the_mirror(void **state)
{
	static const struct lm_mirror m = { .root = "/src", .dir = "/mirror" };
	static const struct { const char *from, *to; } rows[] = {
		{ "/src", "/mirror" },
		{ "/src/a.h", "/mirror/a.h" },
		{ "-I/src/include", "-I/mirror/include" },
		{ "-I/usr/src/include", "-I/usr/src/include" },
		{ "/usr/src/a.h", "/usr/src/a.h" },
		{ "/srcs/a.h", "/srcs/a.h" },
		{ "-isystem/src", "-isystem/mirror" },
		{ "--sysroot=/src/x", "--sysroot=/mirror/x" },
		{ "-Wp,-include,/src/x", "-Wp,-include,/mirror/x" },
		{ "-DPATH=\"/src/x\"", "-DPATH=\"/mirror/x\"" },
		{ "#include \"/src/a.h\"\n#include \"/src/b.h\"\n", "#include \"/mirror/a.h\"\n#include \"/mirror/b.h\"\n" },
		{ "-Dx=src/y", "-Dx=src/y" },
		{ "", "" },
	};
	struct place *p = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(lm_mirror_path(&m, rows[i].from, &p->arena), rows[i].to);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_a_true_plan_passes_and_leaves_no_trace),
		TEST(test_a_wrong_offset_is_our_bug),
		TEST(test_a_wrong_order_is_our_bug),
		TEST(test_text_that_was_tampered_with_is_our_bug),
		TEST(test_what_only_one_compiler_takes_is_not_our_bug),
		TEST(test_a_record_that_the_compilers_lay_out_differently_is_refused),
		TEST(test_a_header_read_around_the_mirror_is_noticed),
		TEST(test_every_way_into_the_tree_leads_to_the_new_text),
		TEST(test_a_typedef_without_tag_and_a_flexible_tail),
		TEST(test_a_barrier_by_the_projects_own_macro),
		TEST(test_a_note_is_known_to_the_letter),
		TEST(test_one_compiler_is_enough_and_none_is_not),
		TEST(test_paths_of_the_tree_become_paths_of_the_mirror),
	};

	return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
