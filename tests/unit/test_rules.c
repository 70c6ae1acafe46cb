/* test_rules.c - what must not move, by one header each; and what the rules let through. */
#include "fixture.h"

/* The rule of kind on the unit, or NULL. */
static const struct lm_rule *rule_on(const struct fixture *f, enum lm_rule_kind kind, const char *unit)
{
	uint32_t u = fixture_unit(f, unit);

	for (uint32_t i = 0; i < f->rules.nr_rules; i++)
		if (f->rules.rules[i].kind == kind && f->rules.rules[i].unit == u)
			return &f->rules.rules[i];
	return NULL;
}

static const struct {
	const char *about, *text;
	enum lm_rule_kind kind;
	const char *unit;
} bound[] = {
	{ "a record at offset 0 may be cast to", "struct n { int x; };\nstruct s {\n\tstruct n n;\n\tint a;\n\tint b;\n};\n",
	  LM_RULE_FIRST, "n" },
	{ "a comment says first", "struct s {\n\tint kind; /* must be first */\n\tint a;\n\tint b;\n};\n", LM_RULE_FIRST,
	  "kind" },
	{ "a flexible array of records is no padding",
	  "struct n { int x; };\nstruct s {\n\tint n;\n\tint a;\n\tstruct n tail[];\n};\n", LM_RULE_FLEXIBLE, "tail" },
	{ "a comment says last", "struct s {\n\tint a;\n\tint b;\n\t/* must be at the end */\n\tint c;\n\tint d;\n};\n",
	  LM_RULE_GROUP, "c" },
	{ "a flexible array stays last", "struct s {\n\tint n;\n\tint a;\n\tint tail[];\n};\n", LM_RULE_FLEXIBLE, "tail" },
	{ "an empty aligned member is a fence",
	  "struct pad { char x[0]; } __attribute__((aligned(64)));\nstruct s {\n\tint a;\n\tint b;\n\tstruct pad p;\n\tint c;\n};\n",
	  LM_RULE_FENCE, "p" },
	{ "a line-aligned member heads its group",
	  "struct s {\n\tint a;\n\tint b;\n\tint c __attribute__((aligned(64)));\n\tint d;\n};\n", LM_RULE_ALIGNED, "c" },
	{ "aligned below a line: a pair",
	  "struct s {\n\tint a;\n\tint b;\n\tlong c __attribute__((aligned(16)));\n\tlong d;\n};\n", LM_RULE_WORD_PAIR, "c" },
	{ "an assertion fixes an offset",
	  "struct s {\n\tint a;\n\tint b;\n\tint c;\n};\n_Static_assert(__builtin_offsetof(struct s, b) == 4, \"wire\");\n",
	  LM_RULE_OFFSET, "b" },
	{ "a comment pins", "struct s {\n\tint a;\n\tint b; /* linemate: pin */\n\tint c;\n};\n", LM_RULE_PINNED, "b" },
};

static void each_rule_binds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bound) / sizeof(bound[0]); i++) {
		struct fixture f;

		print_message("%s\n", bound[i].about);
		fixture_open(&f, bound[i].text, NULL);
		fixture_rules(&f, NULL);
		assert_false(f.rules.refused);

		const struct lm_rule *r = rule_on(&f, bound[i].kind, bound[i].unit);

		assert_non_null(r);
		assert_true(strlen(r->because) > 3);
		fixture_close(&f);
	}
}

static const struct {
	const char *about, *text;
	enum lm_refusal refusal;
} refused[] = {
	{ "a union has no order", "union s {\n\tint a;\n\tlong b;\n};\n", LM_REFUSAL_UNION },
	{ "packed is an interface", "struct s {\n\tchar a;\n\tint b;\n\tint c;\n} __attribute__((packed));\n",
	  LM_REFUSAL_PACKED },
	{ "so is #pragma pack", "#pragma pack(push, 2)\nstruct s {\n\tchar a;\n\tint b;\n\tint c;\n};\n#pragma pack(pop)\n",
	  LM_REFUSAL_PACKED },
	{ "values listed by position", "struct s {\n\tint a;\n\tint b;\n};\nstatic struct s s1 = { 1, 2 };\n",
	  LM_REFUSAL_POSITIONAL },
	{ "one member only", "struct s {\n\tint a;\n};\n", LM_REFUSAL_NO_UNITS },
	{ "a directive that depends on its place", "struct s {\n\tint a;\n#pragma GCC poison never\n\tint b;\n};\n", LM_REFUSAL_TEXT },
};

static void each_refusal_has_its_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct fixture f;

		print_message("%s\n", refused[i].about);
		fixture_open(&f, refused[i].text, NULL);
		fixture_rules(&f, NULL);
		assert_true(f.rules.refused);
		assert_int_equal(f.rules.refusal, refused[i].refusal);
		assert_non_null(strstr(f.rules.refusal_text, ":"));
		fixture_close(&f);
	}
}

/* Is the order, given as a list of unit numbers, allowed? */
static bool allowed(const struct fixture *f, const uint32_t *units)
{
	struct lm_arena arena = { 0 };
	struct lm_order o = lm_order_identity(&f->subject, &arena);
	bool ok;

	memcpy(o.units, units, f->body.nr_units * sizeof(*units));
	ok = lm_rules_order_ok(&f->subject, &f->rules, &o);
	lm_arena_release(&arena);
	return ok;
}

static void members_stay_on_their_side_of_a_fence(void **state)
{
	static const char text[] = "struct pad { char x[0]; } __attribute__((aligned(64)));\n"
				   "struct s {\n\tint a;\n\tint b;\n\tstruct pad p;\n\tint c;\n\tint d;\n};\n";
	struct fixture f;

	(void)state;
	fixture_open(&f, text, NULL);
	fixture_rules(&f, NULL);
	assert_true(allowed(&f, (const uint32_t[]){ 1, 0, 2, 4, 3 }));
	assert_false(allowed(&f, (const uint32_t[]){ 0, 2, 1, 3, 4 }));
	assert_false(allowed(&f, (const uint32_t[]){ 0, 1, 3, 2, 4 }));
	assert_false(allowed(&f, (const uint32_t[]){ 2, 0, 1, 3, 4 }));
	fixture_close(&f);
}

static void a_pair_read_as_one_word_moves_as_one(void **state)
{
	static const char text[] = "struct s {\n\tlong a;\n\tlong b __attribute__((aligned(16)));\n\tlong c;\n\tlong d;\n};\n";
	struct fixture f;

	(void)state;
	fixture_open(&f, text, NULL);
	fixture_rules(&f, NULL);
	assert_true(allowed(&f, (const uint32_t[]){ 1, 2, 0, 3 }));
	assert_false(allowed(&f, (const uint32_t[]){ 1, 0, 2, 3 }));
	fixture_close(&f);
}

static const struct {
	struct lm_rules_opts opts;
	const char *says;
} wrong[] = {
	{ { .pins = (const char *const[]){ "nobody" }, .nr_pins = 1 }, "nobody" },
	{ { .apart = (const char *const[]){ "a" }, .nr_apart = 1 }, "two members" },
	{ { .apart = (const char *const[]){ "a,b" }, .nr_apart = 1, .together = (const char *const[]){ "b,a" },
	    .nr_together = 1 }, "contradict" },
};

static void wrong_options_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct fixture f;
		struct lm_rules_opts opts = wrong[i].opts;

		opts.line = 64;
		opts.path = "s.h";
		fixture_open(&f, "struct s {\n\tint a;\n\tint b;\n\tint c;\n};\n", NULL);

		struct lm_err *err = lm_rules_collect(&f.subject, f.sources, &opts, &f.arena, &f.rules);

		assert_non_null(err);
		assert_int_equal(err->code, LM_ERR_USAGE);
		assert_non_null(strstr(err->msg, wrong[i].says));
		lm_err_free(err);
		fixture_close(&f);
	}
}

/* offsetof(struct s, mark) stands for the bit-fields behind it: nothing may come between. */
static void nothing_slips_behind_a_marker(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, "struct s {\n\tlong a;\n\tlong b;\n\tchar mark[0];\n\tchar x:1, y:1;\n\tlong c;\n\tlong d;\n};\n",
		     NULL);
	fixture_rules(&f, NULL);
	assert_false(f.rules.refused);
	assert_non_null(rule_on(&f, LM_RULE_FENCE, "mark"));
	assert_int_equal(f.rules.block[fixture_unit(&f, "x")], fixture_unit(&f, "mark"));
	assert_int_equal(f.rules.block[fixture_unit(&f, "c")], fixture_unit(&f, "c"));
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_binds),
		cmocka_unit_test(each_refusal_has_its_reason),
		cmocka_unit_test(members_stay_on_their_side_of_a_fence),
		cmocka_unit_test(nothing_slips_behind_a_marker),
		cmocka_unit_test(a_pair_read_as_one_word_moves_as_one),
		cmocka_unit_test(wrong_options_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
