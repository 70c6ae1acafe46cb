/* test_source.c - what libclang and the header's text say of a record. */
#include "header_fixture.h"

#include <ctype.h>
#include <stdio.h>
#include <unistd.h>

/* libclang never frees the texts it was given when it cannot use the flags at all (-std=c1 below). */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:getNewUninitMemBuffer\n";
}

/* The text of a field's extent. */
static void expect_text(const struct fixture *f, const char *key, const char *text)
{
	const struct lm_field *m = field(&f->sources[0].record, key);

	assert_true(m->in_header);
	assert_int_equal(m->end - m->begin, strlen(text));
	assert_memory_equal(f->text + m->begin, text, strlen(text));
}

static void members_are_described(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, "#include <stdint.h>\n"
		     "struct list { struct list *next, *prev; };\n"
		     "struct s {\n\tint a, *b;\n\tuint32_t c[3][2];\n\tstruct list d;\n"
		     "\tint (*e)(int);\n\tunsigned f:3, :2, :0, g:4;\n\tstruct list h[2];\n\tstruct list *i[2];\n"
		     "\tlong j[];\n};\n");

	const struct lm_record *rec = fixture_parse(&f, "s");

	assert_string_equal(rec->name, "s");
	assert_false(rec->is_typedef_name || rec->is_union || rec->packed || rec->randomized);
	assert_int_equal(rec->line, 3);
	assert_int_equal(rec->align, 8);
	assert_int_equal(rec->nr_fields, 12);
	assert_string_equal(field(rec, "a")->type, "int");
	assert_string_equal(field(rec, "c")->type, "uint32_t[3][2]");
	assert_int_equal(field(rec, "c")->size, 24);
	assert_int_equal(field(rec, "c")->elem_size, 4);
	assert_int_equal(field(rec, "c")->type_align, 4);
	assert_true(field(rec, "c")->is_array && !field(rec, "c")->is_record);
	assert_true(field(rec, "b")->is_pointer && field(rec, "e")->is_pointer && !field(rec, "i")->is_pointer);
	assert_true(field(rec, "d")->is_record && !field(rec, "d")->is_array && !field(rec, "d")->anonymous);
	assert_true(field(rec, "h")->is_record && field(rec, "h")->is_array);
	assert_int_equal(field(rec, "h")->elem_size, 16);
	assert_int_equal(field(rec, "f")->bits, 3);
	assert_int_equal(field(rec, "g")->bits, 4);
	assert_int_equal(field(rec, "a")->bits, LM_NOT_BITS);
	assert_int_equal(rec->fields[7].bits, 0);
	assert_string_equal(rec->fields[7].key, "");
	assert_int_equal(rec->fields[7].nr_leaves, 0);
	assert_true(field(rec, "j")->flexible && field(rec, "j")->size == 0 && field(rec, "j")->elem_size == 8);
	assert_false(field(rec, "i")->flexible);
	assert_int_equal(field(rec, "g")->bit_offset, field(rec, "f")->bit_offset + 32);
	fixture_close(&f);
}

static void extents_cover_declarations_and_macros(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, "#define ID(x) x\n#define TWO(n) int n##_a; long n##_b;\n#define AL __attribute__((aligned(8)))\n"
		     "#define BITS(n) n\n#define BOTH(...) union { struct { __VA_ARGS__ }; struct { __VA_ARGS__ } name; };\n"
		     "struct s {\n\tID(int a;)\n\tint ID(b);\n\tID(int) c;\n\tTWO (two)\n\tAL int d, e AL;\n\tunsigned g:BITS(3);\n"
		     "\tunion { int h; struct { int i; } j; } AL;\n\tstruct { int k; } l AL;\n\tBOTH(int m; int o;)\n"
		     "\tvoid (*fn)(int (*)(void));\n};\n");
	fixture_parse(&f, "s");
	expect_text(&f, "a", "ID(int a;)");
	expect_text(&f, "b", "int ID(b)");
	expect_text(&f, "c", "ID(int) c");
	expect_text(&f, "two_a", "TWO (two)");
	expect_text(&f, "two_b", "TWO (two)");
	expect_text(&f, "d", "AL int d");
	expect_text(&f, "e", "AL int d, e");
	expect_text(&f, "g", "unsigned g:BITS(3)");
	expect_text(&f, "h", "union { int h; struct { int i; } j; }");
	expect_text(&f, "l", "struct { int k; } l");
	expect_text(&f, "m", "BOTH(int m; int o;)");
	expect_text(&f, "fn", "void (*fn)(int (*)(void))");
	fixture_close(&f);
}

static void included_members_are_not_in_the_header(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, "struct s {\n\tint a;\n#include \"members.inc\"\n};\n");
	fixture_write(&f, "members.inc", "int b;\n");
	fixture_parse(&f, "s");
	assert_true(field(&f.sources[0].record, "a")->in_header);
	assert_false(field(&f.sources[0].record, "b")->in_header);
	fixture_close(&f);
}

/* Alignment attributes, however they are written; the last ones only clang itself can evaluate. */
static void alignment_attributes_have_their_value(void **state)
{
	static const struct {
		const char *declaration;
		uint32_t attr, type;
	} rows[] = {
		{ "int m", 0, 4 },
		{ "int m __attribute__((aligned(64)))", 64, 4 },
		{ "__attribute__((__aligned__(1 << (SHIFT)))) int m", 64, 4 },
		{ "int m __attribute__((aligned))", 16, 4 },
		{ "_Alignas(16) _Alignas(32) int m __attribute__((aligned(8)))", 32, 4 },
		{ "_Alignas(double) char m", 8, 1 },
		{ "_Alignas(0) char m", 0, 1 },
		{ "char m __attribute__((aligned(sizeof(long) * 2)))", 16, 1 },
		{ "char m __attribute__((aligned(4 > 3 ? (2 | 0x10) & ~2u : 1)))", 16, 1 },
		{ "char m __attribute__((aligned(__alignof__(long double))))", 16, 1 },
		{ "char m __attribute__((aligned(sizeof(struct other))))", 32, 1 },
		{ "_Alignas(struct other) char m", 8, 1 },
		{ "char m __attribute__((aligned(LAST)))", 128, 1 },
		{ "wide m", 0, 32 },
		{ "wide m:3", 0, 32 },
		{ "struct lined m", 0, 64 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;
		char text[1024];

		snprintf(text, sizeof(text), "#define SHIFT 6\nenum { LAST = 128 };\nstruct other { long a[4]; };\n"
			 "typedef int wide __attribute__((aligned(32)));\n"
			 "struct lined { int a; } __attribute__((aligned(64)));\nstruct s {\n\tchar c;\n\t%s;\n};\n",
			 rows[i].declaration);
		fixture_open(&f, text);

		const struct lm_field *m = field(fixture_parse(&f, "s"), "m");

		if (m->attr_align != rows[i].attr || m->type_align != rows[i].type)
			fail_msg("%s: attribute %u, type %u", rows[i].declaration, m->attr_align, m->type_align);
		fixture_close(&f);
	}
}

static void packed_and_aligned_records(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, "struct in { char a; long b; };\n"
		     "struct s { char a; struct in b __attribute__((packed)); struct in c; }\n"
		     "__attribute__((packed, aligned(sizeof(struct in)))) __attribute__((aligned(4)));\n"
		     "typedef struct { long a; } __attribute__((aligned(64))) lined, *lined_pointer;\n");

	const struct lm_record *rec = fixture_parse(&f, "s");

	assert_true(rec->packed && field(rec, "b")->packed && !field(rec, "c")->packed);
	assert_int_equal(rec->attr_align, 16);
	assert_int_equal(rec->align, 16);
	assert_int_equal(field(rec, "c")->bit_offset, 17 * 8);
	assert_int_equal(f.text[rec->end], ';');

	rec = fixture_parse(&f, "struct lined");	/* not C, but what is meant is plain */
	assert_string_equal(rec->name, "lined");
	assert_true(rec->is_typedef_name);
	assert_int_equal(rec->attr_align, 64);
	assert_int_equal(strncmp(f.text + rec->end, " lined, ", 8), 0);
	fixture_close(&f);
}

static void pragma_pack_is_found(void **state)
{
	static const struct {
		const char *before, *flags;
		uint32_t pack;
	} rows[] = {
		{ "", "", 0 },
		{ "#pragma pack(2)\n", "", 2 },
		{ "#pragma pack(push, 1)\n", "", 1 },
		{ "#pragma pack(push, 1)\n#pragma pack(pop)\n", "", 0 },
		{ "#pragma pack(push, here, 1)\n#pragma pack(push, 2)\n#pragma pack(pop, here)\n", "", 0 },
		{ "#pragma pack(4)\n#pragma pack()\n", "", 0 },
		{ "_Pragma(\"pack(push, 4)\")\n", "", 4 },
		{ "/* #pragma pack(1) */\n#define NEVER _Pragma(\"pack(1)\")\n", "", 0 },
		{ "#ifdef NEVER\n#pragma pack(1)\n#endif\n", "", 0 },
		{ "#define TIGHT _Pragma(\"pack(push, 2)\")\nTIGHT\n", "", 2 },
		{ "#include \"tight.h\"\n", "", 1 },
		{ "", "-fpack-struct=4", 4 },
		{ "#pragma pack(8)\n#pragma pack()\n", "-fpack-struct", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;
		char text[512];

		snprintf(text, sizeof(text), "%sstruct s { char a; long b; int c:7; };\n", rows[i].before);
		fixture_open(&f, text);
		fixture_write(&f, "tight.h", "#pragma pack(push, 1)\n");
		fixture_flags(&f, rows[i].flags);

		const struct lm_record *rec = fixture_parse(&f, "s");

		if (rec->pack != rows[i].pack)
			fail_msg("%s %s: pack %u", rows[i].before, rows[i].flags, rec->pack);
		fixture_close(&f);
	}
}

static void leaves_reach_every_scalar(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, "struct in { int x; struct { short y; char *z; }; unsigned p:3, q:9; };\n"
		     "struct s {\n\tint a;\n\tstruct in b;\n\tstruct in c[2];\n\tunion { long d; struct in e; };\n"
		     "\tunion { int f; char g[4]; } h;\n\tint i[2][3];\n\tstruct { struct in k[1][2]; } j[2];\n\tstruct { } l;\n"
		     "\tchar *m[3];\n\tunsigned n:3, o:30;\n};\n");

	const struct lm_record *rec = fixture_parse(&f, "s");

	assert_string_equal(rec->leaves[0].path, "a");
	assert_int_equal(leaf(rec, "b.x")->offset, 0);
	assert_int_equal(leaf(rec, "b.y")->offset, 8);
	assert_int_equal(leaf(rec, "b.z")->offset, 16);
	assert_true(leaf(rec, "b.z")->is_pointer);
	assert_int_equal(leaf(rec, "b.p")->offset, 24);
	assert_int_equal(leaf(rec, "b.p")->size, 1);
	assert_int_equal(leaf(rec, "b.q")->size, 2);
	assert_int_equal(leaf(rec, "c[1].z")->offset, 48);
	assert_int_equal(leaf(rec, "d")->offset, 0);
	assert_int_equal(leaf(rec, "e.y")->offset, 8);
	assert_int_equal(leaf(rec, "h.f")->offset, 0);
	assert_int_equal(leaf(rec, "h.g")->elem_size, 1);
	assert_int_equal(leaf(rec, "i")->size, 24);
	assert_int_equal(leaf(rec, "i")->elem_size, 4);
	assert_int_equal(leaf(rec, "j[1].k[0][1].x")->offset, 96);
	assert_int_equal(field(rec, "l")->nr_leaves, 0);
	assert_true(leaf(rec, "m")->is_pointer);
	assert_int_equal(leaf(rec, "o")->size, 4);
	assert_string_equal(field(rec, "d")->type, "union {...}");
	assert_true(field(rec, "d")->anonymous);
	assert_string_equal(field(rec, "d")->name, "");
	for (uint32_t i = 0; i < rec->nr_fields; i++)
		for (uint32_t k = 0; k < rec->fields[i].nr_leaves; k++)
			assert_int_equal(rec->leaves[rec->fields[i].first_leaf + k].field, i);
	fixture_close(&f);
}

static void large_arrays_of_records_are_one_leaf(void **state)
{
	struct fixture f;
	char text[4096], *at = text;

	(void)state;
	at += sprintf(at, "struct in { int x, y; };\nstruct none { };\n"
		      "struct s { struct in a[2048]; struct in b[1]; struct none c[100000000]; };\n"
		      "struct t { struct in a[2049]; struct in b[1]; };\nstruct e0 { int a, b; };\n");
	for (int i = 1; i <= 16; i++)
		at += sprintf(at, "struct e%d { struct e%d a, b; };\n", i, i - 1);
	fixture_open(&f, text);

	const struct lm_record *rec = fixture_parse(&f, "s");

	assert_int_equal(leaf(rec, "a[2047].y")->offset, 2047 * 8 + 4);
	assert_int_equal(leaf(rec, "b")->elem_size, 8);		/* the record has 4096 leaves by then */
	assert_int_equal(rec->nr_leaves, 4097);

	rec = fixture_parse(&f, "t");
	assert_int_equal(leaf(rec, "a")->elem_size, 8);
	assert_int_equal(leaf(rec, "a")->size, 2049 * 8);
	assert_int_equal(leaf(rec, "b[0].y")->offset, 4);

	rec = fixture_parse(&f, "e16");				/* 2^17 scalars */
	assert_true(rec->nr_leaves < 66000);
	assert_int_equal(rec->size, 4u << 17);
	fixture_close(&f);
}

static void flexible_tails_are_seen(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, "struct tail { int n; char data[]; };\nstruct a { int n; struct tail t; };\n"
		     "struct b { int n; char data[0]; };\nstruct c { int n; char __cacheline_group_end__x[0]; };\n"
		     "struct d { int n; union { char x[0]; int y; } u; };\nstruct e { char mark[0]; int n; };\n");
	assert_true(field(fixture_parse(&f, "a"), "t")->flexible);
	assert_true(field(fixture_parse(&f, "b"), "data")->flexible);
	assert_false(field(fixture_parse(&f, "c"), "__cacheline_group_end__x")->flexible);
	assert_true(field(fixture_parse(&f, "d"), "u")->flexible);
	assert_false(field(fixture_parse(&f, "e"), "mark")->flexible);
	fixture_close(&f);
}

static void braces_are_found_in_any_dress(void **state)
{
	static const struct {
		const char *text, *name;
		bool is_typedef;
		const char *behind;	/* what follows the record's end */
	} rows[] = {
		{ "struct s { int a; };", "s", false, ";" },
		{ "struct s\n{ int a; }\n;", "s", false, "\n;" },
		{ "struct /* { */ __attribute__((packed)) s // {\n{ int a; /* } */ };", "s", false, ";" },
		{ "struct s { int a; } ALIGNED;", "s", false, ";" },
		{ "struct s { int a; } NOTHING ALIGNED WITH(3) x, *y;", "s", false, " x, *y;" },
		{ "struct s { int a; } /* c */ __attribute__((packed)) /* d */;", "s", false, " /* d */;" },
		{ "struct s { int a; } (*fn)(void);", "s", false, " (*fn)(void);" },
		{ "typedef struct { int a; } s;", "s", true, " s;" },
		{ "typedef struct { int a; } ALIGNED s, *sp;", "s", true, " s, *sp;" },
		{ "typedef struct s_tag { int a; } s;", "s_tag", false, " s;" },
		{ "struct outer { struct s { int a; } in, more; };", "s", false, " in, more; };" },
		{ "union s { int a; };", "s", false, ";" },
		{ "typedef struct { long b; } s; struct s { int a; };", "s", false, ";" },
		{ "STRUCT s { int a; };", "s", false, ";" },
		{ "struct s\n#ifdef NEVER\n{ int b; };\nstruct t\n#endif\n{ int a; };", "s", false, ";" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;
		char text[512];

		snprintf(text, sizeof(text), "#define NOTHING\n#define ALIGNED __attribute__((aligned(8)))\n#define WITH(x)\n"
			 "#define STRUCT struct\n%s\n", rows[i].text);
		fixture_open(&f, text);

		const struct lm_record *rec = fixture_parse(&f, "s");

		assert_int_equal(text[rec->open], '{');
		assert_int_equal(text[rec->close], '}');
		assert_non_null(strstr(text + rec->open, "int a;"));
		if (strcmp(rec->name, rows[i].name) || rec->is_typedef_name != rows[i].is_typedef ||
		    strncmp(text + rec->end, rows[i].behind, strlen(rows[i].behind)))
			fail_msg("%s: %s, %d, end at \"%s\"", rows[i].text, rec->name, rec->is_typedef_name, text + rec->end);
		fixture_close(&f);
	}
}

static void a_record_made_by_a_macro_is_refused(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, "#define RECORD(n, ...) struct n { __VA_ARGS__ }\nRECORD(s, int a; long b;);\n");
	fixture_fails(fixture_try(&f, "s"), LM_ERR_REFUSED, "x.h:2: ", "made by a macro");
	fixture_close(&f);
}

static void randomized_records_are_known(void **state)
{
	static const char *const marks[] = { "__randomize_layout", "__attribute__((randomize_layout))" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fixture f;
		char text[256];

		snprintf(text, sizeof(text), "#define __randomize_layout\n#define __no_randomize_layout\n"
			 "struct s { int a; long b; } %s;\nstruct t { int a; } __no_randomize_layout;\n", marks[i]);
		fixture_open(&f, text);
		assert_true(fixture_parse(&f, "s")->randomized);
		assert_int_equal(f.sources[0].nr_hazards, 0);
		assert_false(fixture_parse(&f, "t")->randomized);
		fixture_flags(&f, "-DCONFIG_RANDSTRUCT=1");
		fixture_parse(&f, "s");
		assert_int_equal(f.sources[0].nr_hazards, 1);
		assert_int_equal(f.sources[0].hazards[0].kind, LM_HAZARD_RANDSTRUCT);
		assert_int_equal(f.sources[0].hazards[0].line, 3);
		fixture_close(&f);
	}
}

/* Kinds, lines and members of the hazards, one after the other: "init 4, assert 5 b". */
static void expect_hazards(const struct lm_source *s, const char *text)
{
	static const char *const words[] = { "init", "assert", "randstruct" };
	char got[512] = "", *at = got;

	for (size_t i = 0; i < s->nr_hazards; i++)
		at += sprintf(at, "%s%s %u%s%s", i ? ", " : "", words[s->hazards[i].kind], s->hazards[i].line,
			      s->hazards[i].member ? " " : "", s->hazards[i].member ? s->hazards[i].member : "");
	assert_string_equal(got, text);
}

static void positional_initialisers_are_hazards(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, "struct s { int a; void *b; struct { int c; }; };\n"		/* 1 */
		     "struct o { struct s s; int y; };\n"
		     "#define INIT { 1, 0 }\n#define NAMED { .a = 1, .b = 0 }\n#define NULL ((void *)0)\n"
		     "struct s harmless[] = { { 0 }, {}, { .a = 1, .b = NULL }, { a: 1 }, NAMED };\n"
		     "struct s positional = { 1, NULL };\n"				/* 7 */
		     "struct s lone_value = { 5 };\n"
		     "static struct s in_array[2] = { { .a = 1 },\n"
		     "\t[1] = { 1, 0 } };\n"						/* 10 */
		     "struct o nested = { { 1, 0 }, 2 }, by_name = { .s = { .a = 1 }, .y = 2 };\n"
		     "struct o harmless_outer = { { .a = 1 }, 2 };\n"
		     "struct s *literal = &(struct s){ 1, 0 };\n"			/* 13 */
		     "struct s macro = INIT;\n"
		     "struct s mixed = { .a = 1, NULL };\n"				/* 15 */
		     "static inline int f(void) { struct s hidden = { 1, 0 }; return hidden.a; }\n"
		     "extern struct s declared;\nconst struct s zeros = { (0) };\n"
		     "struct t { void *p; int q; } null = { NULL }, end = { 0, 0 };\n");
	fixture_parse(&f, "s");
	expect_hazards(&f.sources[0], "init 7, init 8, init 10, init 11, init 13, init 14, init 15");
	assert_string_equal(f.sources[0].hazards[0].file, f.header);
	fixture_parse(&f, "o");
	expect_hazards(&f.sources[0], "init 11, init 12");
	fixture_parse(&f, "t");
	expect_hazards(&f.sources[0], "init 19");
	fixture_close(&f);
}

static void offset_assertions_are_hazards(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, "#include <stddef.h>\nstruct in { int x, y; };\nstruct other { int a, b; };\n"
		     "struct s { int a; int b; struct in c; union { int d; long e; }; struct { int g; } h; };\n"
		     "_Static_assert(offsetof(struct s, b) == 4, \"b\");\n"			/* 5 */
		     "_Static_assert(sizeof(struct s) >= 8 && offsetof(struct s, c.y) > offsetof(struct s, a), \"c\");\n"
		     "_Static_assert(offsetof(struct other, b) == 4, \"other\");\n"
		     "_Static_assert(sizeof(struct s) > 4, \"size\");\n"
		     "_Static_assert(offsetof(struct s, e) % 8 == 0, \"e\");\n"		/* 9 */
		     "_Static_assert(offsetof(struct in, y) == 4, \"in\");\n"
		     "_Static_assert(offsetof(struct s, h.g) % 4 == 0, \"g\");\n"
		     "_Static_assert(sizeof(((struct s *)0)->b) == 4, \"a size is no offset\");\n");
	fixture_parse(&f, "s");
	expect_hazards(&f.sources[0], "assert 5 b, assert 6 c, assert 6 a, assert 9 d, assert 11 h");
	fixture_close(&f);
}

static void macros_of_projects_are_probed(void **state)
{
	static const struct {
		const char *text, *flags;
		uint64_t line;
		const char *barrier, *attribute;
	} rows[] = {
		{ "", "", 0, NULL, NULL },
		{ "#define L1_CACHE_SHIFT 6\n#define L1_CACHE_BYTES (1 << L1_CACHE_SHIFT)\n"
		  "#define CACHELINE_PADDING(name) struct pad name\n#define ____cacheline_aligned __attribute__((aligned(64)))\n",
		  "", 64, "CACHELINE_PADDING", "____cacheline_aligned" },
		{ "#define ____cacheline_aligned\n#define ____cacheline_aligned_in_smp\n", "-std=c89 -pedantic-errors", 0, NULL,
		  "____cacheline_aligned_in_smp" },
		{ "#define RTE_CACHE_LINE_SIZE 128\n#define __rte_cache_aligned __attribute__((aligned(128)))\n", "", 128, NULL,
		  "__rte_cache_aligned" },
		{ "#define L1_CACHE_BYTES sysconf(_SC_LEVEL1_DCACHE_LINESIZE)\n#define CACHELINE_PADDING int pad,\"a, b\"\n"
		  "#define __rte_cache_aligned(n) no\n", "", 0, NULL, NULL },
		{ "#define L1_CACHE_BYTES(cpu) 64\n#define MEMCG_PADDING(name) struct pad name;\n", "", 0, "MEMCG_PADDING", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;
		char text[512];

		snprintf(text, sizeof(text), "%sstruct s { int a; };\n", rows[i].text);
		fixture_open(&f, text);
		fixture_flags(&f, rows[i].flags);
		fixture_parse(&f, "s");

		const struct lm_source *s = &f.sources[0];

		assert_int_equal(s->line_size, rows[i].line);
		assert_string_equal(s->barrier ? s->barrier : "-", rows[i].barrier ? rows[i].barrier : "-");
		assert_string_equal(s->barrier_attr ? s->barrier_attr : "-", rows[i].attribute ? rows[i].attribute : "-");
		fixture_close(&f);
	}
}

static void the_given_text_is_parsed_not_the_file(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, "struct s { int a; };\n");
	fixture_write(&f, "u.c", "#include \"x.h\"\n#include \"../" "x.h\"\nint f(struct s *s) { return s->missing; }\n");
	fixture_write(&f, "sub/u.c", "#include \"../x.h\"\n");
	f.text = "struct s { long b; int a; };\n";
	assert_int_equal(fixture_parse(&f, "s")->nr_fields, 2);
	f.request.source = lm_arena_printf(&f.arena, "%s/sub/u.c", f.dir);	/* found by another path */
	assert_int_equal(fixture_parse(&f, "s")->nr_fields, 2);
	fixture_close(&f);
}

static void configurations_differ(void **state)
{
	static const char *const specs[] = { "more:+CONFIG_MORE", "none:-CONFIG_BASE", "broken:+CONFIG_BROKEN" };
	struct fixture f;

	(void)state;
	fixture_open(&f, "struct s {\n#ifdef CONFIG_BASE\n\tint base;\n#endif\n#ifdef CONFIG_MORE\n\tlong more[CONFIG_MORE];\n"
		     "#endif\n\tchar c;\n#ifdef CONFIG_BROKEN\n\tno such;\n#endif\n};\n");
	fixture_flags(&f, "-DCONFIG_BASE=1");
	f.request.specs = specs;
	f.request.nr_specs = 2;
	fixture_parse(&f, "s");
	assert_int_equal(f.sources[0].record.nr_fields, 2);
	assert_int_equal(f.sources[1].record.nr_fields, 3);
	assert_int_equal(f.sources[2].record.nr_fields, 1);
	assert_string_equal(f.sources[1].config->name, "more");
	assert_int_equal(f.sources[0].record.open, f.sources[1].record.open);
	f.request.nr_specs = 3;
	fixture_fails(fixture_try(&f, "s"), LM_ERR_INPUT, "x.h:10:2: clang says in configuration \"broken\": ",
		      "--config broken");
	fixture_close(&f);
}

static void wrong_input_gets_one_sentence(void **state)
{
	static const struct {
		const char *text, *record, *flags;
		enum lm_errc code;
		const char *words, *more;
	} rows[] = {
		{ "struct s {\n\tint a b;\n};\n", "s", "", LM_ERR_INPUT, "x.h:2:7: clang says in configuration \"base\": ",
		  "the flags after --." },
		{ "struct s { int a;", "s", "", LM_ERR_INPUT, "x.h", "expected" },
		{ "", "s", "", LM_ERR_INPUT, "no record \"s\" is defined here", "check --struct" },
		{ "struct counter { int a; };\nstruct count { int a; };\nstruct zebra { int a; };\n", "countr", "", LM_ERR_INPUT,
		  "no record \"countr\" is defined here", "it has count and counter." },
		{ "typedef int thing_t;\ntypedef struct thing *thing_p;\n", "thing_p", "", LM_ERR_INPUT, "no record \"thing_p\"",
		  "check --struct" },
		{ "struct s;\nvoid f(struct s *);\n", "s", "", LM_ERR_INPUT, "is declared but never defined", NULL },
		{ "#include \"other.h\"\n", "elsewhere", "", LM_ERR_INPUT, "is not defined here but at /", "other.h:2;" },
		{ "#include <other.h>\n", "elsewhere", "-I .", LM_ERR_INPUT, "is not defined here but at /", "other.h:2;" },
		{ "struct s { int a; };\n", "s", "-xc++", LM_ERR_REFUSED, "this is C++", NULL },
		{ "struct s { int a; };\n", "s", "-std=gnu++17", LM_ERR_REFUSED, "this is C++", NULL },
		{ "struct s { int a; };\n", "s", "-fno-such-flag", LM_ERR_INPUT, "'-fno-such-flag'", "x.h: " },
		{ "struct s { int a; };\n", "s", "-std=c1", LM_ERR_INPUT, "x.h: ", "configuration \"base\"" },
		{ "struct s { int a; };\n", "s", "-include nothing.h", LM_ERR_INPUT, "'nothing.h' file not found", "x.h: " },
		{ "#error told \33[31m you\n", "s", "", LM_ERR_INPUT, "x.h:1:2: ", "[31m you" },
	};

	char before[4096];

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;

		fixture_open(&f, rows[i].text);
		fixture_write(&f, "other.h", "\nstruct elsewhere { int a; };\n");
		fixture_flags(&f, rows[i].flags);
		assert_int_equal(chdir(f.dir), 0);
		fixture_fails(fixture_try(&f, rows[i].record), rows[i].code, rows[i].words, rows[i].more);
		assert_int_equal(chdir(before), 0);
		fixture_close(&f);
	}
}

static void a_source_must_include_the_header(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, "struct s { int a; };\n");
	fixture_write(&f, "u.c", "int x;\n");
	fixture_write(&f, "u.cc", "int x;\n");
	f.request.source = lm_arena_printf(&f.arena, "%s/u.c", f.dir);
	fixture_fails(fixture_try(&f, "s"), LM_ERR_INPUT, "does not include this header", "u.c");
	f.request.source = lm_arena_printf(&f.arena, "%s/u.cc", f.dir);
	fixture_fails(fixture_try(&f, "s"), LM_ERR_REFUSED, "C++", NULL);
	fixture_close(&f);
}

/* Direct members in pahole's print: "\tTYPE NAME...; / * OFFSET SIZE * /"; those inside braces are deeper. */
struct pahole_row {
	char name[64];
	unsigned offset, size;
};

static bool pahole_row(char *line, struct pahole_row *row)
{
	char *comment = strstr(line, ";"), *end;

	if (line[0] != '\t' || line[1] == '\t' || line[1] == '/' || line[1] == '}' || !comment)
		return false;
	end = strstr(line, " __attribute__");
	end = end && end < comment ? end : comment;
	while (end > line && (end[-1] == ']' || end[-1] == '[' || isdigit((unsigned char)end[-1])) && strchr(line, '['))
		end--;

	char *start = end;

	while (start > line && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
		start--;
	snprintf(row->name, sizeof(row->name), "%.*s", (int)(end - start), start);
	return sscanf(strstr(comment, "/*"), "/* %u %u */", &row->offset, &row->size) == 2;
}

static void debian_mem_cgroup_is_what_the_kernel_has(void **state)
{
	struct lm_arena arena = { 0 };
	struct lm_config_request request = { .header = "include/linux/memcontrol.h", .kernel_headers = "" };
	struct lm_configs configs;
	struct lm_source source = { 0 };
	char *text, *expected, *save;
	size_t len, expected_len, nr = 0;

	(void)state;
	assert_null(lm_file_read(LM_TEST_DATA "/mem_cgroup-6.1.layout", "layout", 1 << 20, &arena, &expected, &expected_len));

	struct lm_err *err = lm_configs_make(&request, &arena, &configs);

	if (err)
		fail_msg("%s", err->msg);
	assert_true(configs.kernel);
	assert_string_equal(configs.header_in_root, "include/linux/memcontrol.h");
	assert_null(lm_file_read(configs.header, "header", 1 << 20, &arena, &text, &len));

	struct lm_source_request req = {
		.configs = &configs, .record = "mem_cgroup", .text = text, .len = len, .want_hazards = true,
	};

	err = lm_source_parse(&req, 0, &source);
	if (err)
		fail_msg("%s", err->msg);
	for (char *line = strtok_r(expected, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct pahole_row row;

		if (!pahole_row(line, &row))
			continue;

		const struct lm_field *m = field(&source.record, row.name);

		if (m->bit_offset != row.offset * UINT64_C(8) || m->size != row.size)
			fail_msg("%s: %llu, %llu", row.name, (unsigned long long)m->bit_offset / 8, (unsigned long long)m->size);
		nr++;
	}
	assert_int_equal(nr, 46);		/* all but the anonymous union */
	assert_int_equal(source.record.nr_fields, 47);
	assert_int_equal(source.record.size, 2240);
	assert_int_equal(field(&source.record, "swap")->bit_offset, 448 * 8);
	assert_int_equal(source.line_size, 64);
	assert_string_equal(source.barrier, "CACHELINE_PADDING");
	assert_int_equal(source.nr_hazards, 0);
	lm_source_release(&source);
	lm_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_described),
		cmocka_unit_test(extents_cover_declarations_and_macros),
		cmocka_unit_test(included_members_are_not_in_the_header),
		cmocka_unit_test(alignment_attributes_have_their_value),
		cmocka_unit_test(packed_and_aligned_records),
		cmocka_unit_test(pragma_pack_is_found),
		cmocka_unit_test(leaves_reach_every_scalar),
		cmocka_unit_test(large_arrays_of_records_are_one_leaf),
		cmocka_unit_test(flexible_tails_are_seen),
		cmocka_unit_test(braces_are_found_in_any_dress),
		cmocka_unit_test(a_record_made_by_a_macro_is_refused),
		cmocka_unit_test(randomized_records_are_known),
		cmocka_unit_test(positional_initialisers_are_hazards),
		cmocka_unit_test(offset_assertions_are_hazards),
		cmocka_unit_test(macros_of_projects_are_probed),
		cmocka_unit_test(the_given_text_is_parsed_not_the_file),
		cmocka_unit_test(configurations_differ),
		cmocka_unit_test(wrong_input_gets_one_sentence),
		cmocka_unit_test(a_source_must_include_the_header),
		cmocka_unit_test(debian_mem_cgroup_is_what_the_kernel_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
