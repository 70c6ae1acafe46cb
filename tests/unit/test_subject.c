/* Fields of several configurations bound to the units of one text. */
#include "optimizer/subject.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TEXT \
	"struct s {\n\tint a, b;\n#ifdef X\n\tMAKE(c)\n#endif\n\tunion {\n\t\tint d;\n\t\tlong e;\n\t};\n\tunsigned f:1;\n};\n"

static struct lm_arena arena;

static int release(void **state)
{
	(void)state;
	lm_arena_release(&arena);
	return 0;
}

/* A field as clang tells it: the first place of `extent` in TEXT. */
static struct lm_field field_of(const char *key, const char *extent)
{
	const char *at = strstr(TEXT, extent);

	assert_non_null(at);
	return (struct lm_field){ .name = key, .key = key, .in_header = true, .begin = (size_t)(at - TEXT),
				  .end = (size_t)(at - TEXT) + strlen(extent),
				  .bits = *key == 'f' ? 1 : LM_NOT_BITS };
}

static const struct lm_config configs[2] = { { .name = "base" }, { .name = "x" } };

/* [0] without X, [1] with it. */
static void make_sources(struct lm_source out[2])
{
	for (int i = 0; i < 2; i++) {
		struct lm_field *f = LM_ARENA_ARRAY(&arena, struct lm_field, 5);
		uint32_t n = 0;

		f[n++] = field_of("a", "int a");
		f[n++] = field_of("b", "int a, b");
		if (i)
			f[n++] = field_of("c", "MAKE(c)");
		f[n++] = field_of("d", "union {\n\t\tint d;\n\t\tlong e;\n\t}");
		f[n++] = field_of("f", "unsigned f:1");
		out[i] = (struct lm_source){ .config = &configs[i] };
		out[i].record = (struct lm_record){ .name = "s", .open = 9, .close = strlen(TEXT) - 3, .line = 1,
						    .fields = f, .nr_fields = n };
	}
}

static struct lm_err *make(const struct lm_source *sources, struct lm_body *body, struct lm_subject *out)
{
	return lm_subject_make("s.h", TEXT, strlen(TEXT), sources, 2, &arena, body, out);
}

static void fields_find_their_units(void **state)
{
	struct lm_source sources[2];
	struct lm_subject s;
	struct lm_body body;

	(void)state;
	make_sources(sources);
	assert_null(make(sources, &body, &s));
	assert_ptr_equal(s.body, &body);
	assert_int_equal(body.nr_units, 4);
	assert_int_equal(s.nr_views, 2);
	/* Two declarators are one unit; the macro is absent in base; its name is that of its member. */
	assert_int_equal(s.views[0].nr_fields[0], 2);
	assert_int_equal(s.views[0].nr_fields[1], 0);
	assert_int_equal(s.views[0].first_field[1], LM_NONE);
	assert_int_equal(s.views[1].first_field[1], 2);
	assert_int_equal(s.views[0].first_field[2], 2);
	assert_int_equal(s.views[1].field_unit[4], 3);
	assert_string_equal(body.units[1].name, "c");
	assert_string_equal(body.units[2].name, "d");
	assert_true(body.units[3].bit_run);
}

static void expect(const struct lm_source *sources, enum lm_errc code, const char *message)
{
	struct lm_body body = { .nr_units = 77 };
	struct lm_subject s = { .nr_views = 77 };
	struct lm_err *err = make(sources, &body, &s);

	assert_non_null(err);
	assert_int_equal(err->code, code);
	if (!strstr(err->msg, message))
		fail_msg("'%s' does not say '%s'", err->msg, message);
	assert_int_equal(body.nr_units, 77);
	assert_int_equal(s.nr_views, 77);
	lm_err_free(err);
}

static void what_cannot_be_bound_is_said(void **state)
{
	struct lm_source sources[2];

	(void)state;
	make_sources(sources);
	sources[1].record.fields[2].in_header = false;
	expect(sources, LM_ERR_REFUSED, "c of s comes from outside the braces");
	make_sources(sources);
	sources[1].record.open++;
	expect(sources, LM_ERR_REFUSED, "configuration x takes another definition of s");
	make_sources(sources);
	sources[0].record.fields[0].begin = sources[0].record.fields[2].begin;
	expect(sources, LM_ERR_BUG, "is not where the text has it");
}

static void orders_start_as_the_text_has_them(void **state)
{
	struct lm_source sources[2];
	struct lm_subject s;
	struct lm_body body;
	struct lm_order o, copy;

	(void)state;
	make_sources(sources);
	assert_null(make(sources, &body, &s));
	o = lm_order_identity(&s, &arena);
	for (uint32_t i = 0; i < body.nr_units; i++)
		assert_true(o.units[i] == i && !o.barrier[i]);
	o.units[0] = 1;
	o.units[1] = 0;
	o.barrier[2] = 1;
	copy = lm_order_copy(&s, &o, &arena);
	assert_memory_equal(copy.units, o.units, body.nr_units * sizeof(*o.units));
	assert_memory_equal(copy.barrier, o.barrier, body.nr_units);
	copy.units[0] = 3;
	assert_int_equal(o.units[0], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(fields_find_their_units, release),
		cmocka_unit_test_teardown(what_cannot_be_bound_is_said, release),
		cmocka_unit_test_teardown(orders_start_as_the_text_has_them, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
