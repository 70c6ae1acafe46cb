/* test_config.c - from the command line to the flags of every configuration. */
#include "header_fixture.h"

#include "optimizer/constant.h"
#include "optimizer/edits.h"
#include "optimizer/flags.h"
#include "optimizer/scan.h"

#include <stdio.h>
#include <unistd.h>

/* Words joined by blanks. */
static const char *joined(struct lm_arena *arena, const char *const *items, size_t nr)
{
	struct lm_str s = { 0 };
	const char *text;

	for (size_t i = 0; i < nr; i++)
		lm_str_addf(&s, "%s%s", i ? " " : "", items[i]);
	text = lm_arena_strdup(arena, lm_str_text(&s));
	lm_str_release(&s);
	return text;
}

static const char *clang_flags(struct fixture *f, size_t config)
{
	return joined(&f->arena, f->configs.items[config].clang_args, f->configs.items[config].nr_clang_args);
}

static const char *gcc_flags(struct fixture *f, size_t config)
{
	return joined(&f->arena, f->configs.items[config].gcc_args, f->configs.items[config].nr_gcc_args);
}

static void make(struct fixture *f)
{
	struct lm_err *err = lm_configs_make(&f->request, &f->arena, &f->configs);

	if (err)
		fail_msg("%s", err->msg);
}

static void make_fails(struct fixture *f, enum lm_errc code, const char *words, const char *more)
{
	fixture_fails(lm_configs_make(&f->request, &f->arena, &f->configs), code, words, more);
}

static void commands_are_split_like_a_shell_does(void **state)
{
	static const struct {
		const char *command, *words[6];
	} rows[] = {
		{ "gcc -c  x.c", { "gcc", "-c", "x.c" } },
		{ "gcc -DA='\"b c\"' -DD=\\\"e\\\" \"-I f\" g\\ h", { "gcc", "-DA=\"b c\"", "-DD=\"e\"", "-I f", "g h" } },
		{ "gcc a.c ; rm -rf /", { "gcc", "a.c" } },
		{ "gcc a.c && objtool a.o", { "gcc", "a.c" } },
		{ "gcc '-DX=;' a\n b", { "gcc", "-DX=;", "a" } },
		{ "gcc 'not closed", { "gcc", "not closed" } },
		{ "", { NULL } },
		{ "gcc ''", { "gcc", "" } },
	};
	struct lm_arena arena = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lm_flags f = { 0 };

		lm_flags_split(&f, &arena, rows[i].command);
		for (size_t k = 0; k < f.nr || rows[i].words[k]; k++)
			assert_string_equal(k < f.nr ? f.items[k] : "(end)", rows[i].words[k] ? rows[i].words[k] : "(end)");
	}
	lm_arena_release(&arena);
}

static void commands_are_stripped_to_what_matters(void **state)
{
	static const struct {
		const char *command, *flags;
	} rows[] = {
		{ "gcc -Wp,-MMD,.x.o.d -nostdinc -I./include -c -o x.o x.c", "-nostdinc -I./include" },
		{ "ccache gcc -MD -MF x.d -MT x.o -I inc -D A=1 x.c", "-I inc -D A=1" },
		{ "cc -Wall -Werror=implicit-int -Wno-error -Wno-pointer-sign -pedantic-errors -ansi x.c",
		  "-Wno-pointer-sign -ansi" },
		{ "gcc -g -ggdb3 -gsplit-dwarf -flto=auto -O2 -fpack-struct=2 -fshort-enums -m32 -malign-double x.c",
		  "-O2 -fpack-struct=2 -fshort-enums -m32 -malign-double" },
		{ "/usr/bin/gcc -include a.h -isystem b -x c -- x.c -DNOT", "-include a.h -isystem b -x c" },
		{ "LC_ALL=C gcc -O1 x.c -lm -Wl,-z,now -Lx -fPIC", "-O1 -fPIC" },
		{ "gcc -Wp,-DA -fms-extensions x.c", "-Wp,-DA -fms-extensions" },
	};
	struct lm_arena arena = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lm_flags words = { 0 }, flags = { 0 };

		lm_flags_split(&words, &arena, rows[i].command);
		lm_flags_strip_command(&flags, &arena, &words);
		assert_string_equal(joined(&arena, flags.items, flags.nr), rows[i].flags);
	}
	lm_arena_release(&arena);
}

static void each_compiler_gets_what_it_takes(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, "struct s { char a; long b; enum { E } c; };\n");
	fixture_flags(&f, "-fconserve-stack -O2 -mpreferred-stack-boundary=3 --param ssp-buffer-size=4 -fpack-struct=2 "
		      "-fshort-enums --target=x86_64-linux-gnu -Qunused-arguments -DX");
	make(&f);
	assert_string_equal(clang_flags(&f, 0), "-O2 -fpack-struct=2 -fshort-enums --target=x86_64-linux-gnu "
			    "-Qunused-arguments -DX -w");
	assert_string_equal(gcc_flags(&f, 0), "-fconserve-stack -O2 -mpreferred-stack-boundary=3 --param ssp-buffer-size=4 "
			    "-fpack-struct=2 -fshort-enums -DX -w");
	assert_string_equal(f.configs.items[0].dropped, "not for clang: -fconserve-stack -mpreferred-stack-boundary=3 "
			    "--param");
	assert_false(f.configs.kernel);
	assert_int_equal(fixture_parse(&f, "s")->size, 12);
	fixture_close(&f);
}

static void specifications_become_edits(void **state)
{
	static const struct {
		const char *spec, *name, *text;
	} rows[] = {
		{ "v1:+CONFIG_A", "v1", "#undef CONFIG_A\n#undef CONFIG_A_MODULE\n#define CONFIG_A 1\n" },
		{ "a-b.c_2:-CONFIG_B", "a-b.c_2", "#undef CONFIG_B\n#undef CONFIG_B_MODULE\n" },
		{ "x:+CONFIG_C=m", "x", "#undef CONFIG_C\n#undef CONFIG_C_MODULE\n#define CONFIG_C_MODULE 1\n" },
		{ "x:+CONFIG_D=y,+CONFIG_E=12", "x", "#undef CONFIG_D\n#undef CONFIG_D_MODULE\n#define CONFIG_D 1\n"
		  "#undef CONFIG_E\n#undef CONFIG_E_MODULE\n#define CONFIG_E 12\n" },
		{ "x:-DA,-DB=2=3,-UC,+D,-E", "x", "#undef A\n#define A 1\n#undef B\n#define B 2=3\n#undef C\n#undef D\n"
		  "#define D 1\n#undef E\n" },
	};
	static const char *const wrong[] = { "x", ":+A", "x:", "x y:+A", "x:A", "x:+", "x:+1", "x:-A=1", "x:+A,", "x:,+A",
					     "x:+A B", "-x:+A", "../x:+A", "x:+A=1\n#error" };
	struct lm_arena arena = { 0 };
	struct lm_edits e;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_null(lm_edits_parse(rows[i].spec, &arena, &e));
		assert_string_equal(e.name, rows[i].name);
		assert_string_equal(e.text, rows[i].text);
		assert_string_equal(e.items, strchr(rows[i].spec, ':') + 1);
		assert_int_equal(e.nr_flags, 0);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		fixture_fails(lm_edits_parse(wrong[i], &arena, &e), LM_ERR_USAGE, "--config ", NULL);
	lm_arena_release(&arena);
}

static void edits_come_behind_kconfig_or_last(void **state)
{
	static const char *const specs[] = { "v1:+CONFIG_A", "v2:-CONFIG_A" };
	struct fixture f;

	(void)state;
	fixture_open(&f, "struct s { int a; };\n");
	f.request.specs = specs;
	f.request.nr_specs = 2;
	fixture_flags(&f, "-include linux/kconfig.h -include linux/types.h -DZ");
	make(&f);
	assert_int_equal(f.configs.nr, 3);
	assert_string_equal(clang_flags(&f, 0), "-include linux/kconfig.h -include linux/types.h -DZ -w");
	assert_string_equal(clang_flags(&f, 1), "-include linux/kconfig.h -include /linemate-virtual/v1.h "
			    "-include linux/types.h -DZ -w");
	assert_string_equal(gcc_flags(&f, 2), "-include linux/kconfig.h -include /linemate-virtual/v2.h "
			    "-include linux/types.h -DZ -w");
	assert_string_equal(f.configs.items[1].edits_path, "/linemate-virtual/v1.h");
	fixture_flags(&f, "-DA -include x.h -UB");
	make(&f);
	assert_string_equal(clang_flags(&f, 1), "-DA -include x.h -UB -include /linemate-virtual/v1.h -w");
	fixture_close(&f);
}

static void wrong_use_gets_one_sentence(void **state)
{
	static const char *const twice[] = { "a:+X", "a:+Y" }, *const base[] = { "base:+X" };
	struct fixture f;

	(void)state;
	fixture_open(&f, "struct s { int a; };\n");
	f.request.specs = twice;
	f.request.nr_specs = 2;
	make_fails(&f, LM_ERR_USAGE, "the name \"a\" is already taken", NULL);
	f.request.specs = base;
	f.request.nr_specs = 1;
	make_fails(&f, LM_ERR_USAGE, "the name \"base\" is already taken by the flags as they are", NULL);
	f.request.nr_specs = 0;
	f.request.kbuild = f.request.compile_db = f.dir;
	make_fails(&f, LM_ERR_USAGE, "from one place only", NULL);
	f.request.kbuild = f.request.compile_db = NULL;
	fixture_flags(&f, "-O2 x.c");
	make_fails(&f, LM_ERR_USAGE, "\"x.c\" behind -- is not a flag", "--source");
	fixture_flags(&f, "-O2 -I");
	make_fails(&f, LM_ERR_USAGE, "\"-I\" behind -- lacks its value", NULL);
	fixture_flags(&f, "");
	f.request.header = "nothing/here.h";
	make_fails(&f, LM_ERR_INPUT, "nothing/here.h: cannot open this header: No such file or directory.", NULL);
	f.request.header = f.dir;
	make_fails(&f, LM_ERR_INPUT, "is not a regular file", "header");
	f.request.header = fixture_write(&f, "a\"b.h", "");
	make_fails(&f, LM_ERR_INPUT, "a path with quotes", NULL);
	f.request.header = "";
	make_fails(&f, LM_ERR_USAGE, "--header FILE", NULL);
	f.request.header = f.header;
	f.request.source = "nothing/here.c";
	make_fails(&f, LM_ERR_INPUT, "nothing/here.c: cannot open this source", NULL);
	fixture_close(&f);
}

static void the_root_is_where_a_patch_applies(void **state)
{
	struct fixture f;
	char *tree;

	(void)state;
	fixture_open(&f, "");
	f.request.header = fixture_write(&f, "tree/include/y.h", "struct s { int a; };\n");
	make(&f);
	assert_string_equal(f.configs.header_in_root, "y.h");
	fixture_write(&f, "tree/.git/HEAD", "");
	make(&f);
	tree = lm_arena_printf(&f.arena, "%s/tree", f.dir);
	assert_string_equal(f.configs.root, tree);
	assert_string_equal(f.configs.header_in_root, "include/y.h");
	assert_string_equal(f.configs.header, f.request.header);
	f.request.root = f.dir;
	make(&f);
	assert_string_equal(f.configs.header_in_root, "tree/include/y.h");
	f.request.root = "/";
	make(&f);
	assert_string_equal(f.configs.header_in_root, f.configs.header + 1);
	f.request.root = fixture_write(&f, "else/z.h", "");
	make_fails(&f, LM_ERR_INPUT, "this --root directory does not exist", NULL);
	f.request.root = lm_arena_printf(&f.arena, "%s/else", f.dir);
	make_fails(&f, LM_ERR_USAGE, "the header is not inside --root", NULL);
	fixture_close(&f);
}

static void the_current_folder_is_the_root_outside_git(void **state)
{
	char before[4096];
	struct fixture f;

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	fixture_open(&f, "struct s { int a; };\n");
	fixture_write(&f, "deep/y.h", "struct s { int a; };\n");
	assert_int_equal(chdir(f.dir), 0);
	f.request.header = "deep/y.h";
	make(&f);
	assert_int_equal(chdir(before), 0);
	assert_string_equal(f.configs.root, f.dir);
	assert_string_equal(f.configs.header_in_root, "deep/y.h");
	assert_string_equal(f.configs.items[0].dir, f.dir);
	fixture_close(&f);
}

static void a_compilation_database_gives_flags(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, "");
	f.request.header = fixture_write(&f, "lib/y.h", "#ifndef GOOD\n#error flags\n#endif\nstruct s { int a[GOOD]; };\n");
	fixture_write(&f, "app/a.c", "int a;\n");
	fixture_write(&f, "lib/b.c", "#include \"y.h\"\n");
	fixture_write(&f, "lib/c.cc", "#include \"y.h\"\n");
	fixture_write(&f, "compile_commands.json", lm_arena_printf(&f.arena, "[\n"
		"{ \"directory\": \"%s\", \"command\": \"cc -DGOOD=1 -c app/a.c -o a.o\", \"file\": \"app/a.c\" },\n"
		"{ \"directory\": \"%s/lib\", \"arguments\": [\"c++\", \"-DGOOD=2\", \"c.cc\"], \"file\": \"c.cc\" },\n"
		"{ \"directory\": \"%s/lib\", \"arguments\": [\"cc\", \"-DGOOD=3\", \"-c\", \"b.c\"], \"file\": \"b.c\" } ]\n",
		f.dir, f.dir, f.dir));
	f.request.compile_db = f.dir;
	make(&f);
	assert_string_equal(clang_flags(&f, 0), "-DGOOD=3 -w");
	assert_string_equal(f.configs.items[0].dir, lm_arena_printf(&f.arena, "%s/lib", f.dir));
	assert_non_null(strstr(f.configs.items[0].dropped, "lib/b.c"));
	f.request.source = lm_arena_printf(&f.arena, "%s/app/a.c", f.dir);
	fixture_flags(&f, "-DMORE");
	make(&f);
	assert_string_equal(clang_flags(&f, 0), "-DGOOD=1 -DMORE -w");
	f.request.source = fixture_write(&f, "app/none.c", "");
	make_fails(&f, LM_ERR_INPUT, "has no entry for", "app/none.c");
	f.request.source = NULL;
	f.request.compile_db = lm_arena_printf(&f.arena, "%s/compile_commands.json", f.dir);
	make(&f);
	fixture_close(&f);
}

static void a_broken_database_is_an_error(void **state)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "", "is not JSON" }, { "[", "compile_commands.json:1:1: this is not JSON" }, { "{}", "no list at the top" },
		{ "[]", "no entry for a C file" }, { "[1, null, {}]", "no entry for a C file" },
		{ "[{\"file\": \"/x.c\"}]", "has no command" },
		{ "[{\"file\": \"x.c\", \"directory\": \"/nowhere\", \"command\": \"cc x.c\"}]", "does not exist" },
		{ "[{\"file\": \"/x.c\", \"directory\": \"/\", \"arguments\": [1, 2]}]", "has no command" },
	};
	struct fixture f;

	(void)state;
	fixture_open(&f, "struct s { int a; };\n");
	f.request.compile_db = f.dir;
	make_fails(&f, LM_ERR_INPUT, "compile_commands.json: cannot open", NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fixture_write(&f, "compile_commands.json", rows[i].text);
		make_fails(&f, LM_ERR_INPUT, rows[i].words, "compile_commands.json");
	}
	fixture_close(&f);
}

/* What Kbuild writes beside an object. */
static void write_cmd(struct fixture *f, const char *folder, const char *name, const char *var, const char *flags,
		      const char *deps)
{
	fixture_write(f, lm_arena_printf(&f->arena, "k/%s/.%s.o.cmd", folder, name),
		      lm_arena_printf(&f->arena, "%s_%s/%s.o := gcc -Wp,-MMD,%s/.%s.o.d %s -c -o %s/%s.o %s/%s.c ; ./tools/objtool "
				      "%s/%s.o\n\nsource_%s/%s.o := %s/%s.c\n\ndeps_%s/%s.o := \\\n    $(wildcard "
				      "include/config/X) \\\n  %s \\\n\n%s/%s.o: $(deps_%s/%s.o)\n",
				      var, folder, name, folder, name, flags, folder, name, folder, name, folder, name, folder,
				      name, folder, name, folder, name, deps, folder, name, folder, name));
}

static void a_built_kernel_gives_flags(void **state)
{
	struct fixture f;
	const char *header;

	(void)state;
	fixture_open(&f, "");
	header = fixture_write(&f, "k/include/linux/y.h", "struct s { char a[N]; };\n");
	write_cmd(&f, "scripts", "y", "savedcmd", "-D__KERNEL__ -DN=1", "include/linux/y.h");
	write_cmd(&f, "lib", "host", "savedcmd", "-DN=2", "include/linux/y.h");
	write_cmd(&f, "lib", "other", "savedcmd", "-D__KERNEL__ -DN=3", "include/linux/z.h");
	write_cmd(&f, "kernel/deep", "user", "savedcmd", "-D__KERNEL__ -DN=5 -DNAME='\"a$(pound)b$$\"' -fconserve-stack",
		  "include/linux/y.h");
	f.request.kbuild = lm_arena_printf(&f.arena, "%s/k", f.dir);
	f.request.header = "include/linux/y.h";
	make(&f);
	assert_true(f.configs.kernel);
	assert_string_equal(f.configs.header, header);
	assert_string_equal(f.configs.root, f.request.kbuild);
	assert_string_equal(f.configs.items[0].dir, f.request.kbuild);
	assert_string_equal(clang_flags(&f, 0), "-D__KERNEL__ -DN=5 -DNAME=\"a#b$\" -w");
	assert_non_null(strstr(f.configs.items[0].dropped, "kernel/deep/.user.o.cmd"));
	write_cmd(&f, "kernel/deep", "y", "cmd", "-D__KERNEL__ -DN=6", "./include/linux/y.h");	/* older, and of its name */
	make(&f);
	assert_string_equal(clang_flags(&f, 0), "-D__KERNEL__ -DN=6 -w");
	fixture_write(&f, "k/lib/other.c", "#include \"../include/linux/y.h\"\n");
	f.request.source = "lib/other.c";
	f.text = "struct s { char a[N]; };\n";
	assert_int_equal(fixture_parse(&f, "s")->size, 3);
	fixture_write(&f, "k/lib/unbuilt.c", "");
	f.request.source = "lib/unbuilt.c";
	make_fails(&f, LM_ERR_INPUT, "no .cmd file for ", "build its object first");
	fixture_write(&f, "k/lib/host.c", "");
	f.request.source = "lib/host.c";
	make_fails(&f, LM_ERR_INPUT, ".host.o.cmd: ", NULL);
	f.request.source = NULL;
	f.request.header = fixture_write(&f, "elsewhere/y9.h", "");
	make_fails(&f, LM_ERR_INPUT, "no object of this kernel tree includes ", "y9.h");
	/* A copy of the header: the object that includes the original will do. */
	f.request.header = fixture_write(&f, "copy/include/linux/y.h", "struct s { char a[N]; };\n");
	make(&f);
	assert_string_equal(clang_flags(&f, 0), "-D__KERNEL__ -DN=6 -w");
	f.request.kbuild = "no/such/tree";
	make_fails(&f, LM_ERR_INPUT, "no/such/tree: this kernel tree does not exist", NULL);
	fixture_close(&f);
}

static void objects_beside_their_sources_tree_are_found(void **state)
{
	struct fixture f;
	char *link;

	(void)state;
	fixture_open(&f, "");
	fixture_write(&f, "src/include/linux/y.h", "struct s { int a; };\n");
	fixture_write(&f, "src/lib/a.c", "");
	write_cmd(&f, "lib", "a", "savedcmd", "-D__KERNEL__ -DN=1", "../src/include/linux/y.h");
	link = lm_arena_printf(&f.arena, "%s/k/source", f.dir);
	assert_int_equal(symlink("../src", link), 0);
	f.request.kbuild = lm_arena_printf(&f.arena, "%s/k", f.dir);
	f.request.header = "include/linux/y.h";
	make(&f);
	assert_string_equal(clang_flags(&f, 0), "-D__KERNEL__ -DN=1 -w");
	assert_string_equal(f.configs.root, lm_arena_printf(&f.arena, "%s/src", f.dir));
	f.request.source = "lib/a.c";
	make(&f);
	assert_string_equal(clang_flags(&f, 0), "-D__KERNEL__ -DN=1 -w");
	fixture_close(&f);
}

static void kernel_headers_are_found_in_both_parts(void **state)
{
	struct fixture f;
	const char *flags;

	(void)state;
	fixture_open(&f, "");
	fixture_write(&f, "linux-headers-6.9.1-common/include/linux/kconfig.h", "#include <generated/autoconf.h>\n");
	fixture_write(&f, "linux-headers-6.9.1-common/include/linux/compiler_types.h", "");
	fixture_write(&f, "linux-headers-6.9.1-common/include/linux/y.h", "struct s { long a; int b[CONFIG_N]; };\n");
	f.request.header = "include/linux/y.h";
	f.request.kernel_headers = lm_arena_printf(&f.arena, "%s/linux-headers-6.9.1-common", f.dir);
	make_fails(&f, LM_ERR_INPUT, "not a complete kernel headers package", NULL);
	fixture_write(&f, "linux-headers-6.9.1-rt/include/generated/autoconf.h", "#define CONFIG_N 3\n");
	fixture_write(&f, "linux-headers-6.9.1-amd64/include/generated/autoconf.h", "#define CONFIG_N 4\n");
	make_fails(&f, LM_ERR_INPUT, "arch/*/include/generated is missing", "6.9.1-amd64");
	fixture_write(&f, "linux-headers-6.9.1-amd64/arch/x86/include/generated/asm/z.h", "");
	make(&f);
	flags = clang_flags(&f, 0);
	assert_true(f.configs.kernel);
	assert_string_equal(f.configs.header_in_root, "include/linux/y.h");
	assert_non_null(strstr(flags, "-nostdinc "));
	assert_non_null(strstr(flags, "6.9.1-amd64/include/generated/uapi "));
	assert_non_null(strstr(flags, "-DKBUILD_MODNAME=\"t\""));
	assert_non_null(strstr(flags, "-mcmodel=kernel"));
	assert_null(strstr(flags, "compiler-version.h"));
	f.text = "struct s { long a; int b[CONFIG_N]; };\n";
	assert_int_equal(fixture_parse(&f, "s")->size, 24);
	f.request.kernel_headers = lm_arena_printf(&f.arena, "%s/linux-headers-6.9.1-amd64", f.dir);
	assert_int_equal(fixture_parse(&f, "s")->size, 24);
	f.request.kernel_headers = lm_arena_printf(&f.arena, "%s/nothing", f.dir);
	make_fails(&f, LM_ERR_INPUT, "does not exist", NULL);
	fixture_close(&f);
}

static void constants_are_computed_or_left(void **state)
{
	static const struct lm_constant_type types[] = { { "long", 8, 8 }, { "unsigned int", 4, 4 } };
	static const struct {
		const char *text;
		int64_t value;		/* -1: left to clang */
	} rows[] = {
		{ "1 << (6)", 64 }, { "2 + 3 * 4", 14 }, { "(2 + 3) * 4", 20 }, { "64 / 2 / 2 % 5", 1 }, { "0x10 | 010", 24 },
		{ "1 ? 2 : 3", 2 }, { "0 ? 1 : 0 ? 2 : 4", 4 }, { "sizeof(long) * 2", 16 }, { "_Alignof(unsigned int)", 4 },
		{ "1UL << 5ull", 32 }, { "~0 & 7", 7 }, { "!0 + -1 + 2", 2 }, { "3 > 2 && 2 >= 2 || 0", 1 }, { "5 ^ 1", 4 },
		{ "1 == 1 != 0", 1 }, { "1 << 2 < 5", 1 }, { "/* c */ 8", 8 },
		{ "", -1 }, { "x", -1 }, { "sizeof(struct s)", -1 }, { "__alignof(long)", -1 }, { "1 / 0", -1 }, { "1 << 63", -1 },
		{ "9223372036854775807 + 1", -1 }, { "18446744073709551616", -1 }, { "(1", -1 }, { "1)", -1 }, { "1 2", -1 },
		{ "1.5", -1 }, { "1 ?", -1 }, { "-1 >> 1", -1 }, { "08", -1 },
	};
	char deep[4096];
	int64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		value = -1;
		if (lm_constant_eval(rows[i].text, strlen(rows[i].text), types, 2, &value) != (rows[i].value >= 0) ||
		    value != rows[i].value)
			fail_msg("%s: %lld", rows[i].text, (long long)value);
	}
	for (size_t i = 0; i < 3; i++) {
		memset(deep, "(-!"[i], sizeof(deep));
		assert_false(lm_constant_eval(deep, sizeof(deep), types, 2, &value));
	}
}

/* The scanner stays inside whatever it is given: every cut of every row, from every byte. */
static void scanning_stays_inside_the_text(void **state)
{
	static const char *const rows[] = {
		"f ( \"a)\\\"\" , ')' /* ) */ ) {", "a // b \\\n c\n{ /* x", "#pragma pack(push, 1)\n_Pragma(\"pack(2", "'\\", "\"\\",
		"#pragma pack(", "/*", "//", "\\\r\n{", "__pragma(pack(push,1))", "#define x \\\n{\n{",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t len = 0; len <= strlen(rows[i]); len++) {
			char *text = malloc(len + (len == 0));	/* exact, so that a sanitizer sees a step too far */

			assert_non_null(text);
			memcpy(text, rows[i], len);
			for (size_t at = 0; at <= len; at++) {
				assert_true(lm_scan_blank(text, len, at) <= len && lm_scan_token(text, len, at) <= len);
				assert_true(lm_scan_parens(text, len, at) <= len && lm_scan_invocation(text, len, at) <= len);
				assert_true(lm_scan_open(text, len, at) <= len && lm_scan_pack(text, at, 0) <= 2);
			}
			free(text);
		}
	}
	assert_int_equal(lm_scan_invocation(rows[0], strlen(rows[0]), 0), strlen(rows[0]) - 2);
	assert_int_equal(lm_scan_open(rows[1], strlen(rows[1]), 0), strlen("a // b \\\n c\n"));
	assert_int_equal(lm_scan_open(rows[10], strlen(rows[10]), 0), strlen("#define x \\\n{\n"));
	assert_int_equal(lm_scan_pack(rows[9], strlen(rows[9]), 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_are_split_like_a_shell_does),
		cmocka_unit_test(commands_are_stripped_to_what_matters),
		cmocka_unit_test(each_compiler_gets_what_it_takes),
		cmocka_unit_test(specifications_become_edits),
		cmocka_unit_test(edits_come_behind_kconfig_or_last),
		cmocka_unit_test(wrong_use_gets_one_sentence),
		cmocka_unit_test(the_root_is_where_a_patch_applies),
		cmocka_unit_test(the_current_folder_is_the_root_outside_git),
		cmocka_unit_test(a_compilation_database_gives_flags),
		cmocka_unit_test(a_broken_database_is_an_error),
		cmocka_unit_test(a_built_kernel_gives_flags),
		cmocka_unit_test(objects_beside_their_sources_tree_are_found),
		cmocka_unit_test(kernel_headers_are_found_in_both_parts),
		cmocka_unit_test(constants_are_computed_or_left),
		cmocka_unit_test(scanning_stays_inside_the_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
