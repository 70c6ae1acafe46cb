/*
 * test_layout.c - every case is a row with its sentence; every result keeps
 * the invariants.  The expected numbers are gcc 12's and clang 14's and 19's,
 * which agree on each row; judge.layout asks them again about random records.
 */
#include "optimizer/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MAX_FIELDS = 6 };

#define FIELD(n, s, a, w, ...) { .name = (n), .key = (n), .size = (s), .type_align = (a), .bits = (w), __VA_ARGS__ }
#define CHAR(n, ...) FIELD(n, 1, 1, LM_NOT_BITS, __VA_ARGS__)
#define INT(n, ...) FIELD(n, 4, 4, LM_NOT_BITS, __VA_ARGS__)
#define LONG(n, ...) FIELD(n, 8, 8, LM_NOT_BITS, __VA_ARGS__)
#define TYPE(n, s, a, ...) FIELD(n, s, a, LM_NOT_BITS, __VA_ARGS__)
#define CHAR_BITS(n, w, ...) FIELD(n, 1, 1, w, __VA_ARGS__)
#define INT_BITS(n, w, ...) FIELD(n, 4, 4, w, __VA_ARGS__)
#define LONG_BITS(n, w, ...) FIELD(n, 8, 8, w, __VA_ARGS__)

static const struct row {
	const char *about;
	struct lm_field fields[MAX_FIELDS];
	struct { bool packed, is_union; uint32_t pack, attr_align; } rec;
	uint32_t order[MAX_FIELDS];	/* all zero: as declared */
	uint64_t size;
	uint32_t align;
	uint64_t bit_offset[MAX_FIELDS];
} rows[] = {
	{ "a record without members has no bytes",
	  { { 0 } }, { 0 }, { 0 }, 0, 1, { 0 } },
	{ "members start where their alignment divides, the tail is padded",
	  { CHAR("a"), LONG("b"), CHAR("c") }, { 0 }, { 0 }, 24, 8, { 0, 64, 128 } },
	{ "the same members in a better order are smaller",
	  { CHAR("a"), LONG("b"), CHAR("c") }, { 0 }, { 1, 0, 2 }, 16, 8, { 64, 0, 72 } },
	{ "packed drops holes and the tail",
	  { CHAR("a"), LONG("b"), CHAR("c") }, { .packed = true }, { 0 }, 10, 1, { 0, 8, 72 } },
	{ "packed on one member drops its alignment only",
	  { CHAR("a"), LONG("b", .packed = true), INT("c") }, { 0 }, { 0 }, 16, 4, { 0, 8, 96 } },
	{ "aligned() on a member raises it and the record",
	  { CHAR("a"), CHAR("b", .attr_align = 64) }, { 0 }, { 0 }, 128, 64, { 0, 512 } },
	{ "aligned() cannot lower a member",
	  { CHAR("a"), INT("b", .attr_align = 2) }, { 0 }, { 0 }, 8, 4, { 0, 32 } },
	{ "but in a packed record it is all the alignment there is",
	  { CHAR("a"), INT("b", .attr_align = 2) }, { .packed = true }, { 0 }, 6, 2, { 0, 16 } },
	{ "_Alignas in a packed record holds",
	  { CHAR("a"), CHAR("b", .attr_align = 16) }, { .packed = true }, { 0 }, 32, 16, { 0, 128 } },
	{ "an overaligned type in a packed record does not",
	  { CHAR("a"), TYPE("b", 16, 16) }, { .packed = true }, { 0 }, 17, 1, { 0, 8 } },
	{ "a typedef may be underaligned",
	  { CHAR("a"), TYPE("b", 4, 1) }, { 0 }, { 0 }, 5, 1, { 0, 8 } },
	{ "#pragma pack caps natural alignment",
	  { CHAR("a"), LONG("b") }, { .pack = 2 }, { 0 }, 10, 2, { 0, 16 } },
	{ "#pragma pack caps aligned() on members too",
	  { CHAR("a"), INT("b", .attr_align = 8) }, { .pack = 1 }, { 0 }, 5, 1, { 0, 8 } },
	{ "but not aligned() on the record",
	  { CHAR("a"), LONG("b") }, { .pack = 2, .attr_align = 8 }, { 0 }, 16, 8, { 0, 16 } },
	{ "packed goes below #pragma pack",
	  { CHAR("a"), LONG("b") }, { .pack = 2, .packed = true }, { 0 }, 9, 1, { 0, 8 } },
	{ "bit-fields share a unit while they fit",
	  { INT_BITS("a", 20), INT_BITS("b", 12), INT_BITS("c", 1) }, { 0 }, { 0 }, 8, 4, { 0, 20, 32 } },
	{ "a bit-field that would straddle its type's unit starts the next",
	  { INT_BITS("a", 20), INT_BITS("b", 20), INT_BITS("c", 3) }, { 0 }, { 0 }, 8, 4, { 0, 32, 52 } },
	{ "a bit-field goes into the bytes that a smaller member left free",
	  { CHAR("a"), INT_BITS("b", 24), CHAR("c") }, { 0 }, { 0 }, 8, 4, { 0, 8, 32 } },
	{ "units of 16 bytes are no different",
	  { CHAR("c"), FIELD("a", 16, 16, 70), FIELD("b", 16, 16, 60), CHAR("z") }, { 0 }, { 0 },
	  32, 16, { 0, 8, 128, 192 } },
	{ "a plain member behind bits starts at the next byte",
	  { INT_BITS("a", 3), CHAR("b") }, { 0 }, { 0 }, 4, 4, { 0, 8 } },
	{ "packed bit-fields straddle",
	  { INT_BITS("a", 20), INT_BITS("b", 20), INT_BITS("c", 3) }, { .packed = true }, { 0 },
	  6, 1, { 0, 20, 40 } },
	{ "one packed bit-field straddles among others that do not",
	  { CHAR("c"), INT_BITS("b", 3), INT_BITS("a", 30, .packed = true), INT_BITS("z", 9) }, { 0 }, { 0 },
	  8, 4, { 0, 8, 11, 41 } },
	{ "under #pragma pack bit-fields straddle, whatever the cap",
	  { LONG_BITS("a", 20), LONG_BITS("b", 50), INT_BITS("z", 3) }, { .pack = 4 }, { 0 },
	  12, 4, { 0, 20, 70 } },
	{ "under #pragma pack even a packed bit-field raises the record to the cap",
	  { CHAR("a"), LONG_BITS("z", 5) }, { .pack = 2, .packed = true }, { 0 }, 2, 2, { 0, 8 } },
	{ "an unnamed bit-field takes room and raises nothing",
	  { CHAR("c"), LONG_BITS("", 40), CHAR("z") }, { 0 }, { 0 }, 7, 1, { 0, 8, 48 } },
	{ ":0 ends the unit",
	  { INT_BITS("a", 3), INT_BITS("", 0), INT_BITS("b", 3) }, { 0 }, { 0 }, 8, 4, { 0, 32, 32 } },
	{ ":0 ends the unit in a packed record too",
	  { CHAR("c"), INT_BITS("a", 3), INT_BITS("", 0), CHAR_BITS("z", 3) }, { .packed = true }, { 0 },
	  5, 1, { 0, 8, 32, 32 } },
	{ ":0 ends the unit under #pragma pack too",
	  { INT_BITS("a", 20), INT_BITS("", 0), INT_BITS("z", 5) }, { .pack = 1 }, { 0 }, 5, 1, { 0, 32, 32 } },
	{ ":0 with aligned() goes further and raises nothing",
	  { CHAR("c"), INT_BITS("", 0, .attr_align = 16), CHAR("z") }, { 0 }, { 0 }, 17, 1, { 0, 128, 128 } },
	{ "aligned() on a bit-field starts it there",
	  { INT_BITS("a", 10), INT_BITS("z", 16, .attr_align = 2) }, { 0 }, { 0 }, 4, 4, { 0, 16 } },
	{ "aligned() on a bit-field raises the record",
	  { INT_BITS("a", 20), INT_BITS("z", 9, .attr_align = 16) }, { 0 }, { 0 }, 32, 16, { 0, 128 } },
	{ "packed and aligned() on a bit-field: aligned() is the alignment",
	  { INT_BITS("a", 20), INT_BITS("z", 12, .attr_align = 1, .packed = true) }, { 0 }, { 0 },
	  8, 4, { 0, 24 } },
	{ "members without bytes align and take nothing",
	  { CHAR("c"), TYPE("e", 0, 1), TYPE("f", 0, 32), CHAR("z") }, { 0 }, { 0 },
	  64, 32, { 0, 8, 256, 256 } },
	{ "a flexible array starts at its element's alignment, inside the tail if it fits",
	  { LONG("n"), CHAR("c"), TYPE("tail", 0, 2, .flexible = true) }, { 0 }, { 0 }, 16, 8, { 0, 64, 80 } },
	{ "a union's members all start at 0",
	  { CHAR("a"), LONG("b"), TYPE("c", 12, 4) }, { .is_union = true }, { 0 }, 16, 8, { 0, 0, 0 } },
};

static uint32_t count(const struct row *row)
{
	uint32_t nr = 0;

	while (nr < MAX_FIELDS && row->fields[nr].name)
		nr++;
	return nr;
}

static uint64_t field_bits(const struct lm_field *f)
{
	return f->bits == LM_NOT_BITS ? 8 * f->size : f->bits;
}

/* What layout.h promises of every result. */
static void assert_sane(const struct lm_record *rec, const struct lm_layout *lay)
{
	assert_true(lay->align && !(lay->align & (lay->align - 1)));
	assert_int_equal(lay->size % lay->align, 0);
	for (uint32_t i = 0; i < rec->nr_fields; i++) {
		uint64_t begin = lay->bit_offset[i], end = begin + field_bits(&rec->fields[i]);

		assert_true(end <= 8 * lay->size);
		if (rec->fields[i].bits == LM_NOT_BITS)
			assert_int_equal(begin % 8, 0);
		for (uint32_t k = 0; k < i && !rec->is_union; k++) {
			uint64_t other = lay->bit_offset[k];

			assert_true(end <= other || begin >= other + field_bits(&rec->fields[k]) ||
				    begin == end || !field_bits(&rec->fields[k]));
		}
	}
}

static struct lm_record record_of(struct row *row)
{
	return (struct lm_record){
		.name = "r", .fields = row->fields, .nr_fields = count(row), .packed = row->rec.packed,
		.pack = row->rec.pack, .attr_align = row->rec.attr_align, .is_union = row->rec.is_union,
	};
}

static void check_row(const struct row *from)
{
	struct row row = *from;
	struct lm_record rec = record_of(&row);
	uint64_t offsets[MAX_FIELDS];
	struct lm_layout lay = { .bit_offset = offsets };
	bool declared = true;

	for (uint32_t i = 0; i < rec.nr_fields; i++)
		declared &= !row.order[i];
	for (uint32_t i = 0; declared && i < rec.nr_fields; i++)
		row.order[i] = i;
	lm_layout_fields(&rec, row.order, NULL, 64, NULL, &lay);
	assert_sane(&rec, &lay);
	if (lay.size != row.size || lay.align != row.align)
		fail_msg("%s: size %lu align %u, not %lu and %u", row.about, (unsigned long)lay.size, lay.align,
			 (unsigned long)row.size, row.align);
	for (uint32_t i = 0; i < rec.nr_fields; i++)
		if (offsets[i] != row.bit_offset[i])
			fail_msg("%s: field %u at bit %lu, not %lu", row.about, i, (unsigned long)offsets[i],
				 (unsigned long)row.bit_offset[i]);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check_row(&rows[i]);
}

static void test_barrier_starts_a_line(void **state)
{
	struct lm_field fields[] = { LONG("a"), LONG("b"), CHAR("c") };
	struct lm_record rec = { .name = "r", .fields = fields, .nr_fields = 3 };
	uint64_t offsets[3];
	struct lm_layout lay = { .bit_offset = offsets };

	(void)state;
	lm_layout_fields(&rec, (uint32_t[]){ 0, 1, 2 }, (uint8_t[]){ 0, 1, 0 }, 64, NULL, &lay);
	assert_sane(&rec, &lay);
	assert_int_equal(offsets[1], 512);
	assert_int_equal(offsets[2], 576);
	assert_int_equal(lay.size, 128);
	assert_int_equal(lay.align, 64);
	lm_layout_fields(&rec, (uint32_t[]){ 0, 1, 2 }, (uint8_t[]){ 0, 1, 0 }, 32, NULL, &lay);
	assert_int_equal(offsets[1], 256);
	assert_int_equal(lay.size, 64);
}

static void test_resize_moves_what_follows(void **state)
{
	struct lm_field fields[] = { LONG("a"), TYPE("b", 24, 8), LONG("c") };
	struct lm_record rec = { .name = "r", .fields = fields, .nr_fields = 3 };
	uint64_t offsets[3];
	struct lm_layout lay = { .bit_offset = offsets };
	static const struct { int64_t by; uint64_t third, size; } cases[] = {
		{ 8, 320, 48 }, { -8, 192, 32 }, { -64, 64, 16 }, { INT64_MIN, 64, 16 }, { 0, 256, 40 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lm_resize resize = { .field = 1, .bytes = cases[i].by };

		lm_layout_fields(&rec, (uint32_t[]){ 0, 1, 2 }, NULL, 64, &resize, &lay);
		assert_int_equal(offsets[2], cases[i].third);
		assert_int_equal(lay.size, cases[i].size);
	}
	lm_layout_fields(&rec, (uint32_t[]){ 0, 1, 2 }, NULL, 64, &(struct lm_resize){ LM_NONE, 8 }, &lay);
	assert_int_equal(lay.size, 40);
}

static void test_claims_of_a_hostile_record_do_not_overflow(void **state)
{
	struct lm_field fields[] = { TYPE("a", UINT64_MAX, 8), TYPE("b", UINT64_MAX / 8, 8), INT("c") };
	struct lm_record rec = { .name = "r", .fields = fields, .nr_fields = 3 };
	struct lm_resize resize = { .field = 1, .bytes = INT64_MAX };
	uint64_t offsets[3];
	struct lm_layout lay = { .bit_offset = offsets };

	(void)state;
	lm_layout_fields(&rec, (uint32_t[]){ 0, 1, 2 }, NULL, 64, &resize, &lay);
	assert_true(offsets[0] < offsets[1] && offsets[1] < offsets[2]);
	assert_true(lay.size > offsets[2] / 8);
}

/* Three units: a bit-field run of two, one that this view lacks, a long. */
static void test_units_expand_to_their_fields(void **state)
{
	struct lm_field fields[] = { INT_BITS("a", 3), INT_BITS("b", 4), LONG("c") };
	struct lm_record rec = { .name = "r", .fields = fields, .nr_fields = 3 };
	struct lm_view view = {
		.config = "base", .rec = &rec,
		.field_unit = (uint32_t[]){ 0, 0, 2 },
		.first_field = (uint32_t[]){ 0, LM_NONE, 2 },
		.nr_fields = (uint32_t[]){ 2, 0, 1 },
	};
	struct lm_order order = { .units = (uint32_t[]){ 2, 1, 0 }, .barrier = (uint8_t[]){ 0, 1, 0 } };
	uint64_t offsets[3];
	struct lm_layout lay = { .bit_offset = offsets };

	(void)state;
	lm_layout_units(&view, 3, &order, 64, NULL, &lay);
	assert_sane(&rec, &lay);
	assert_int_equal(offsets[2], 0);
	assert_int_equal(offsets[0], 64);
	assert_int_equal(offsets[1], 67);
	assert_int_equal(lay.size, 16);
	order.barrier[2] = 1;
	lm_layout_units(&view, 3, &order, 64, NULL, &lay);
	assert_int_equal(offsets[0], 512);
	assert_int_equal(offsets[1], 515);
	assert_int_equal(lay.size, 128);
}

static void test_lines(void **state)
{
	(void)state;
	assert_int_equal(lm_layout_lines(0, 64), 0);
	assert_int_equal(lm_layout_lines(1, 64), 1);
	assert_int_equal(lm_layout_lines(64, 64), 1);
	assert_int_equal(lm_layout_lines(65, 64), 2);
	assert_int_equal(lm_layout_lines(UINT64_MAX, 1), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_barrier_starts_a_line),
		cmocka_unit_test(test_resize_moves_what_follows),
		cmocka_unit_test(test_claims_of_a_hostile_record_do_not_overflow),
		cmocka_unit_test(test_units_expand_to_their_fields),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
