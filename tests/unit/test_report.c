/* test_report.c - the report of a small story made by hand: rows, words, JSON, the layout of show, the picture and the page. */
#include "output/picture.h"
#include "output/report.h"
#include "output/report_rows.h"
#include "output/words.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/*
 * struct box { long hits[2]; void *map; char cold[112]; int (*op)(int); }, one
 * configuration, 64-byte lines: hits[1] is written by two CPUs, map is read by
 * two others, and moves behind cold.
 */
enum { HITS, MAP, COLD, OP, NR };

struct box {
	struct lm_field fields[NR];
	struct lm_leaf leaves[NR];
	struct lm_record rec;
	struct lm_unit units[NR];
	struct lm_body body;
	uint32_t field_unit[NR], first_field[NR], nr_fields[NR];
	struct lm_view view;
	struct lm_subject subject;
	struct lm_touch touches[6];
	const char *sites[3];
	struct lm_touch *views_touches[1];
	size_t nr_touches[1];
	struct lm_accesses accesses;
	struct lm_usage usage;
	struct lm_rule rule;
	const char *note;
	struct lm_rules rules;
	uint64_t before[NR], after[NR];
	struct lm_layout layout_before, layout_after;
	struct lm_view_figures fig_before, fig_after;
	struct lm_move move;
	struct lm_curve_point curve[3];
	uint32_t old_units[NR], new_units[NR], other_units[NR];
	uint8_t barriers[NR];
	struct lm_pair pair;
	struct lm_true_sharing shared;
	struct lm_plan plan;
	struct lm_plan_opts opts;
	struct lm_verified verified;
	const char *profile;
	struct lm_story story;
};

static void make_record(struct box *b)
{
	static const struct {
		const char *name, *type;
		uint64_t size, elem, at, after;
	} rows[NR] = {
		{ "hits", "long[2]", 16, 8, 0, 0 },
		{ "map", "void *", 8, 0, 16, 128 },
		{ "cold", "char[112]", 112, 1, 24, 16 },
		{ "op", "int (*)(int)", 8, 0, 136, 136 },
	};

	for (uint32_t i = 0; i < NR; i++) {
		b->fields[i] = (struct lm_field){ .name = rows[i].name, .key = rows[i].name, .type = rows[i].type,
						  .size = rows[i].size, .elem_size = rows[i].elem, .type_align = 8,
						  .bits = LM_NOT_BITS, .bit_offset = rows[i].at * 8,
						  .first_leaf = i, .nr_leaves = 1 };
		b->leaves[i] = (struct lm_leaf){ .path = rows[i].name, .type = rows[i].type, .size = rows[i].size,
						 .elem_size = rows[i].elem, .field = i };
		b->units[i] = (struct lm_unit){ .name = rows[i].name };
		b->field_unit[i] = b->first_field[i] = i;
		b->nr_fields[i] = 1;
		b->before[i] = rows[i].at * 8;
		b->after[i] = rows[i].after * 8;
	}
	b->rec = (struct lm_record){ .name = "box", .size = 192, .align = 64, .attr_align = 64, .fields = b->fields,
				     .nr_fields = NR, .leaves = b->leaves, .nr_leaves = NR };
	b->body = (struct lm_body){ .units = b->units, .nr_units = NR };
	b->view = (struct lm_view){ "base", &b->rec, b->field_unit, b->first_field, b->nr_fields };
	b->subject = (struct lm_subject){ &b->body, &b->view, 1 };
	b->layout_before = (struct lm_layout){ 192, 64, b->before };
	b->layout_after = (struct lm_layout){ 192, 64, b->after };
}

static void make_usage(struct box *b)
{
	const struct lm_touch touches[6] = {
		{ 0, 0, 0, HITS, HITS, 8, 8, 100, 100 }, { 0, 1, 0, HITS, HITS, 8, 8, 100, 100 },
		{ 1, 2, 0, MAP, MAP, 0, 8, 5000, 0 }, { 1, 3, 0, MAP, MAP, 0, 8, 5000, 0 },
		{ 2, 2, 0, MAP, MAP, 0, 8, 200, 0 }, { 2, 0, 0, COLD, COLD, 40, 1, 1, 0 },
	};
	struct lm_access row = { .size = 8, .evidence = LM_EVIDENCE_PRECISE, .reads = 1 };

	memcpy(b->touches, touches, sizeof(touches));
	b->sites[0] = "count_hit";
	b->sites[1] = "look_up";
	b->sites[2] = "evil\033[31m";
	b->views_touches[0] = b->touches;
	b->nr_touches[0] = 6;
	lm_accesses_init(&b->accesses);
	row.site = lm_strings_add(b->accesses.strings, "look_up", 7);
	row.member = lm_strings_add(b->accesses.strings, "map", 3);
	lm_accesses_add(&b->accesses, row);
	b->accesses.samples = 12345;
	b->accesses.used = 12000;
	b->accesses.drops[LM_DROP_NO_ADDRESS] = 345;
	b->accesses.unknown_op = 7;
	b->usage = (struct lm_usage){ .sites = b->sites, .nr_sites = 3, .nr_cpus = 4, .nr_objects = 1,
				      .touches = b->views_touches, .nr_touches = b->nr_touches, .total = 10601,
				      .accesses = &b->accesses, .worst = LM_EVIDENCE_PRECISE };
}

static void make_plan(struct box *b)
{
	b->fig_before = (struct lm_view_figures){ 192, 3, 0, 0, 48, 1234567, 1234570 };
	b->fig_after = (struct lm_view_figures){ 192, 3, 0, 0, 48, 100000, 1234000 };
	b->move = (struct lm_move){ MAP, COLD, false, false };
	memcpy(b->old_units, (uint32_t[]){ HITS, MAP, COLD, OP }, sizeof(b->old_units));
	memcpy(b->new_units, (uint32_t[]){ HITS, COLD, MAP, OP }, sizeof(b->new_units));
	memcpy(b->other_units, (uint32_t[]){ COLD, HITS, OP, MAP }, sizeof(b->other_units));
	b->curve[0] = (struct lm_curve_point){ 0, 1234567, 1234567, 1234567, { b->old_units, b->barriers } };
	b->curve[1] = (struct lm_curve_point){ 1, 100000, 100000, 100000, { b->new_units, b->barriers } };
	b->curve[2] = (struct lm_curve_point){ 2, 99000, 99000, 99000, { b->other_units, b->barriers } };
	b->pair = (struct lm_pair){ 0, 0, HITS, MAP, 1134567, false, true, 48 };
	b->shared = (struct lm_true_sharing){ HITS, 90000 };
	b->plan = (struct lm_plan){ .verdict = LM_VERDICT_MOVED, .order = b->curve[1].order, .before = &b->layout_before,
				    .after = &b->layout_after, .fig_before = &b->fig_before,
				    .fig_after = &b->fig_after, .transfers_before = 1234567,
				    .transfers_after = 100000, .bound = 98000, .bound_proven = true, .moves = &b->move,
				    .nr_moves = 1, .curve = b->curve, .nr_curve = 3, .pairs = &b->pair, .nr_pairs = 1,
				    .shared = &b->shared, .nr_shared = 1, .shared_total = 90000,
				    .stability = { 200, 120, 2 }, .base_fixed = true };
	b->rule = (struct lm_rule){ LM_RULE_FIRST, HITS, LM_NONE, "box.h:3: a comment says so" };
	b->note = "RANDSTRUCT may shuffle it.";
	b->rules = (struct lm_rules){ .rules = &b->rule, .nr_rules = 1, .notes = &b->note, .nr_notes = 1 };
	b->opts = (struct lm_plan_opts){ .line = 64 };
	b->verified = (struct lm_verified){ .compilers = "gcc 12.2.0", .nr_compilations = 1, .missing = "clang" };
	b->profile = "box.access";
}

static int setup(void **state)
{
	struct box *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	make_record(b);
	make_usage(b);
	make_plan(b);
	b->story = (struct lm_story){ .record = "struct box", .header = "box.h", .subject = &b->subject,
				      .rules = &b->rules, .usage = &b->usage, .plan = &b->plan, .opts = &b->opts,
				      .verified = &b->verified, .profiles = &b->profile, .nr_profiles = 1,
				      .kernel = true, .diff = "--- a\n", .diff_len = 6 };
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct box *b = *state;

	lm_accesses_release(&b->accesses);
	free(b);
	return 0;
}

static void assert_has(const struct lm_str *s, const char *part)
{
	if (!strstr(lm_str_text(s), part))
		fail_msg("\"%s\" is missing in:\n%s", part, lm_str_text(s));
}

static void assert_has_not(const struct lm_str *s, const char *part)
{
	if (strstr(lm_str_text(s), part))
		fail_msg("\"%s\" should not be in:\n%s", part, lm_str_text(s));
}

static void counts_have_commas(void **state)
{
	struct lm_arena arena = { 0 };

	(void)state;
	assert_string_equal(lm_count(&arena, 0), "0");
	assert_string_equal(lm_count(&arena, 999.4), "999");
	assert_string_equal(lm_count(&arena, 999.6), "1,000");
	assert_string_equal(lm_count(&arena, 1234567), "1,234,567");
	assert_string_equal(lm_count(&arena, -1000), "-1,000");
	assert_string_equal(lm_count(&arena, -0.2), "0");
	assert_string_equal(lm_percent(&arena, -66.4), "-66 %");
	assert_string_equal(lm_percent(&arena, 1.25), "+1.2 %");
	assert_string_equal(lm_percent(&arena, 0.01), "0 %");
	lm_arena_release(&arena);
}

static void rows_know_both_sides_of_a_pair(void **state)
{
	struct box *b = *state;
	struct lm_arena arena = { 0 };
	struct lm_rows rows;

	lm_rows_make(&b->story, &arena, &rows);
	assert_string_equal(rows.pairs[0].a.leaf, "hits[1]");
	assert_int_equal(rows.pairs[0].a.writes, 200);
	assert_int_equal(rows.pairs[0].a.nr_sites, 1);
	assert_string_equal(rows.pairs[0].a.sites[0].cpus, "0-1");
	assert_string_equal(rows.pairs[0].b.leaf, "map");
	assert_int_equal(rows.pairs[0].b.reads, 10200);
	assert_string_equal(rows.pairs[0].b.sites[0].name, "look_up");
	assert_string_equal(rows.pairs[0].b.sites[0].cpus, "2-3");
	assert_string_equal(rows.pairs[0].b.sites[1].name, "evil\\x1b[31m");
	assert_int_equal(rows.moves[0].nr_pairs, 1);
	assert_string_equal(rows.moves[0].from, "hits");
	assert_string_equal(rows.moves[0].to, "cold");
	assert_true(rows.curve[1].chosen);
	assert_false(rows.curve[2].chosen);
	assert_int_equal(rows.shifts[0].nr, 2);
	assert_string_equal(rows.shifts[0].items[0].field, "map");
	assert_int_equal(rows.shifts[0].items[0].line_after, 2);
	assert_int_equal((int)rows.shared_percent, 90);
	assert_int_equal((int)rows.meet_before, 60);
	lm_arena_release(&arena);
}

static void accesses_of_another_line_do_not_count(void **state)
{
	struct box *b = *state;
	struct lm_arena arena = { 0 };
	struct lm_row_side side;

	lm_row_side_make(&b->story, 0, COLD, &b->layout_before, 0, &arena, &side);
	assert_int_equal(side.nr_sites, 0);
	lm_row_side_make(&b->story, 0, COLD, &b->layout_before, 1, &arena, &side);
	assert_int_equal(side.reads, 1);
	lm_arena_release(&arena);
}

static void words_tell_the_story(void **state)
{
	static const char *const parts[] = {
		"struct box: move 1 of 4 members; expected transfers 1,234,567 -> 100,000 (-92 %)\n",
		"1,234,567 -> 100,000   -92 %",
		"1. hits[1] and map line 0 (base): 1,134,567 transfers",
		"hits[1]: 200 reads, 200 writes by count_hit, CPU 0-1",
		"after: apart, 48 bytes of slack",
		"map: from behind hits to behind cold",
		"parts hits[1] and map",
		"99.8 %        100,000   <- this patch",
		"any: 2 moves",
		"costs less than 98,000 (proven); gap: 2.0 %",
		"base, 2 fields: map 0->2, cold 0-2->0-1",
		"Most of the rest is true sharing: 90 % of what remains (90,000 of 100,000 transfers)",
		"in 60.0 % with the old order, in 1.0 % with the new one",
		"kmalloc-192",
		"345 not used: sample has no data address",
		"7 did not say whether they read or wrote",
		"evidence: precise",
		"every object starts on a line: its type is aligned to 64 bytes",
		"not verified with clang",
		"box.h:3: a comment says so",
		"note: RANDSTRUCT may shuffle it.",
	};
	struct box *b = *state;
	struct lm_print_opts opts = { 0 };
	struct lm_str out = { 0 };

	lm_report_text(&b->story, &opts, &out);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		/* Sentences may be broken at any blank: compare with the breaks taken out. */
		struct lm_str flat = { 0 };

		for (const char *p = lm_str_text(&out); *p; p++) {
			lm_str_add_char(&flat, *p);
			if (*p == '\n' && !strchr(parts[i], '\n')) {
				flat.text[flat.len - 1] = ' ';
				p += strspn(p + 1, " ");
			}
		}
		assert_has(&flat, parts[i]);
		lm_str_release(&flat);
	}
	assert_has_not(&out, "\033");
	for (const char *p = lm_str_text(&out); *p; p += strcspn(p, "\n") + 1)
		assert_true(strcspn(p, "\n") <= LM_TEXT_WIDTH);
	lm_str_release(&out);
}

static void colours_come_only_when_asked(void **state)
{
	struct box *b = *state;
	struct lm_print_opts opts = { .color = true };
	struct lm_str plain = { 0 }, dressed = { 0 };
	size_t n = 0;

	lm_report_text(&b->story, &opts, &dressed);
	opts.color = false;
	lm_report_text(&b->story, &opts, &plain);
	assert_has(&dressed, "\033[31m  1. hits[1] and map");
	for (size_t i = 0; i < dressed.len; i++) {
		if (dressed.text[i] == '\033')
			i += strcspn(dressed.text + i, "m");
		else
			assert_int_equal(dressed.text[i], plain.text[n++]);
	}
	assert_int_equal(n, plain.len);
	lm_str_release(&plain);
	lm_str_release(&dressed);
}

static void kept_says_why_and_shows_no_moves(void **state)
{
	struct box *b = *state;
	struct lm_print_opts opts = { 0 };
	struct lm_str out = { 0 };

	b->plan.verdict = LM_VERDICT_KEPT;
	b->plan.kept = LM_KEPT_TRUE_SHARING;
	b->plan.nr_moves = 0;
	b->plan.after = b->plan.before;
	b->plan.transfers_after = b->plan.transfers_before;
	b->plan.fig_after = b->plan.fig_before;
	lm_report_text(&b->story, &opts, &out);
	assert_has(&out, "struct box: no change worth making");
	assert_has(&out, "contended inside single fields");
	assert_has_not(&out, "->");
	assert_has_not(&out, "What moves");
	lm_str_release(&out);
}

static void nothing_is_promised_for_a_base_off_the_line(void **state)
{
	struct box *b = *state;
	struct lm_print_opts opts = { 0 };
	struct lm_str out = { 0 };

	b->plan.base_fixed = false;
	b->rec.align = 8;
	lm_report_text(&b->story, &opts, &out);
	assert_has(&out, "cannot promise where in a line an object starts: it may be any multiple of 8 bytes");
	lm_str_release(&out);
}

static void json_says_the_same(void **state)
{
	struct box *b = *state;
	struct lm_str out = { 0 }, again = { 0 };
	json_t *root, *pair;
	const char *diff;

	lm_report_json(&b->story, &out);
	lm_report_json(&b->story, &again);
	assert_string_equal(out.text, again.text);
	root = json_loads(out.text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "verdict")), "moved");
	pair = json_array_get(json_object_get(root, "pairs"), 0);
	assert_string_equal(json_string_value(json_object_get(json_object_get(pair, "a"), "leaf")), "hits[1]");
	assert_int_equal(json_integer_value(json_object_get(pair, "slack_bytes")), 48);
	diff = json_string_value(json_object_get(root, "diff"));
	assert_string_equal(diff, "--- a\n");
	json_decref(root);
	lm_str_release(&out);
	lm_str_release(&again);
}

static void json_takes_a_diff_that_is_not_utf8(void **state)
{
	struct box *b = *state;
	struct lm_str out = { 0 };
	json_t *root;

	b->story.diff = "-\xe9\n";
	b->story.diff_len = 3;
	lm_report_json(&b->story, &out);
	root = json_loads(out.text, 0, NULL);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "diff")), "-\xc3\xa9\n");
	assert_string_equal(json_string_value(json_object_get(root, "diff_encoding")), "latin-1");
	json_decref(root);
	lm_str_release(&out);
}

static void show_wears_paholes_dress(void **state)
{
	struct box *b = *state;
	struct lm_print_opts opts = { 0 };
	struct lm_str out = { 0 };

	b->story.usage = NULL;
	lm_show_text(&b->story, 0, &opts, &out);
	assert_has(&out, "struct box {\n"
			 "\tlong hits[2];                                    /*     0    16 */\n"
			 "\tvoid *map;                                       /*    16     8 */\n"
			 "\tchar cold[112];                                  /*    24   112 */\n"
			 "\t/* --- cacheline 2 boundary (128 bytes) was 8 bytes ago --- */\n"
			 "\tint (*op)(int);                                  /*   136     8 */\n"
			 "\n"
			 "\t/* size: 192, cachelines: 3, members: 4 */\n"
			 "\t/* sum members: 144 */\n"
			 "\t/* padding: 48 */\n"
			 "} __attribute__((__aligned__(64)));\n");
	lm_str_release(&out);
}

static void show_has_the_heat_beside_it(void **state)
{
	struct box *b = *state;
	struct lm_print_opts opts = { 0 };
	struct lm_str out = { 0 };

	b->fields[OP].bit_offset = 144 * 8;
	lm_show_text(&b->story, 0, &opts, &out);
	assert_has(&out, "/*    16     8       10,200           0 */");
	assert_has(&out, "/*   hits[1]");
	assert_has(&out, "/* --- cacheline 0 boundary (0 bytes): ");
	assert_has(&out, "/* 8 bytes hole */");
	assert_has(&out, "expected transfers:");
	lm_str_release(&out);
}

/* ---- the picture ---- */

static void draw(const struct box *b, uint32_t most, struct lm_arena *arena, struct lm_picture *pic)
{
	struct lm_rows *rows = LM_ARENA_NEW(arena, struct lm_rows);

	lm_rows_make(&b->story, arena, rows);
	lm_picture_make(rows, 0, most, arena, pic);
}

static void stretches_lie_where_the_fields_do(void **state)
{
	struct lm_arena arena = { 0 };
	const struct lm_pic_line *line;
	struct lm_picture pic;

	draw(*state, 100, &arena, &pic);
	assert_int_equal(pic.before.nr_lines, 3);
	line = &pic.before.lines[0];
	assert_int_equal(line->nr_items, 3);
	assert_int_equal(line->items[1].field, MAP);
	assert_int_equal(line->items[1].begin, 128);
	assert_int_equal(line->items[1].end, 192);
	assert_true(line->items[2].first && !line->items[2].last && !line->items[2].label);
	line = &pic.before.lines[1];
	assert_int_equal(line->nr_items, 1);
	assert_true(!line->items[0].first && !line->items[0].last && line->items[0].label);
	assert_int_equal(pic.before.lines[2].used, 512);
	assert_int_equal(pic.after.lines[2].items[0].field, MAP);
	assert_int_equal(pic.order_after[1], COLD);
	assert_int_equal(pic.order_after[2], MAP);
	lm_arena_release(&arena);
}

static void heat_is_at_the_touched_element(void **state)
{
	struct lm_arena arena = { 0 };
	const struct lm_pic_stretch *hits, *map, *cold;
	struct lm_picture pic;

	draw(*state, 100, &arena, &pic);
	hits = &pic.before.lines[0].items[0];
	map = &pic.before.lines[0].items[1];
	cold = &pic.before.lines[1].items[0];
	assert_int_equal(hits->nr_heat, 1);
	assert_int_equal(hits->heat[0].begin, 64);
	assert_int_equal(hits->heat[0].end, 128);
	/* 200 is between a hundredth and a tenth of map's 10,200; one access of cold is less than a thousandth. */
	assert_int_equal(hits->heat[0].writes, LM_HEAT_LEVELS - 1);
	assert_int_equal(map->heat[0].reads, LM_HEAT_LEVELS);
	assert_int_equal(map->heat[0].writes, 0);
	assert_int_equal(cold->nr_heat, 1);
	assert_int_equal(cold->heat[0].reads, 1);
	lm_arena_release(&arena);
}

static void a_pair_is_joined_until_it_is_parted(void **state)
{
	struct lm_arena arena = { 0 };
	const struct lm_pic_pair *pair;
	struct lm_picture pic;

	draw(*state, 100, &arena, &pic);
	assert_int_equal(pic.before.nr_pairs, 1);
	pair = &pic.before.pairs[0];
	assert_true(pair->joined && !pair->line_a && !pair->line_b);
	assert_int_equal(pair->begin_a, 64);
	assert_int_equal(pair->begin_b, 128);
	assert_true(pic.before.lines[0].loud);
	assert_int_equal(pic.after.nr_pairs, 1);
	pair = &pic.after.pairs[0];
	assert_false(pair->joined);
	assert_int_equal(pair->line_b, 2);
	assert_int_equal(pair->begin_b, 0);
	assert_true(pic.fields[MAP].moves && pic.fields[MAP].link);
	assert_false(pic.fields[COLD].moves || pic.fields[COLD].link);
	lm_arena_release(&arena);
}

/* 100,000 bytes nobody touches: one row says so, or they are cut off. */
static void quiet_lines_are_folded(void **state)
{
	struct lm_arena arena = { 0 };
	struct box *b = *state;
	struct lm_picture pic;
	uint64_t lines;

	b->fields[COLD].size = b->leaves[COLD].size = 100000;
	b->nr_touches[0] = 5;
	b->fields[OP].bit_offset = b->before[OP] = b->after[OP] = 100056 * 8;
	b->after[MAP] = 100024 * 8;
	b->rec.size = b->layout_before.size = b->layout_after.size = 100096;
	lines = 100096 / 64;
	draw(b, 20, &arena, &pic);
	assert_int_equal(pic.before.nr_lines, 2);
	assert_int_equal(pic.before.lines[1].nr, lines - 1);
	assert_int_equal(pic.before.lines[1].nr_items, 0);
	assert_int_equal(pic.before.nr_hidden, 0);
	draw(b, 1, &arena, &pic);
	assert_int_equal(pic.before.nr_lines, 1);
	assert_int_equal(pic.before.nr_hidden, lines - 1);
	lm_arena_release(&arena);
}

static void the_page_says_the_same(void **state)
{
	struct box *b = *state;
	struct lm_str out = { 0 };

	b->note = "</script><script>alert(1)</script>";
	lm_report_html(&b->story, &out);
	assert_has(&out, "<title>struct box: -92 % expected transfers - linemate</title>");
	assert_has(&out, "1,234,567 \u2192 100,000");
	assert_has(&out, "class=\"bracket\" data-pair=\"1\"");
	assert_has(&out, "<code>map</code> goes to line 2");
	assert_has(&out, "dropped: sample has no data address");
	assert_has(&out, "evil\\x1b[31m");
	assert_has(&out, "&lt;/script&gt;&lt;script&gt;alert(1)");
	assert_has_not(&out, "<script>alert");
	assert_has_not(&out, "\033");
	lm_str_release(&out);
}

static void the_page_of_a_record_that_is_kept_has_one_side(void **state)
{
	struct box *b = *state;
	struct lm_str out = { 0 };

	b->plan.verdict = LM_VERDICT_KEPT;
	b->plan.kept = LM_KEPT_SMALL_GAIN;
	b->plan.after = &b->layout_before;
	b->plan.fig_after = &b->fig_before;
	b->plan.nr_moves = 0;
	b->plan.order = b->curve[0].order;
	b->story.diff = NULL;
	b->story.verified = NULL;
	lm_report_html(&b->story, &out);
	assert_has(&out, "No change worth making: the best order that keeps all rules saves too little");
	assert_has(&out, "data-side=\"b\"");
	assert_has_not(&out, "data-side=\"a\"");
	assert_has_not(&out, "id=\"patch\"");
	lm_str_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_have_commas),
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		CASE(rows_know_both_sides_of_a_pair),
		CASE(accesses_of_another_line_do_not_count),
		CASE(words_tell_the_story),
		CASE(colours_come_only_when_asked),
		CASE(kept_says_why_and_shows_no_moves),
		CASE(nothing_is_promised_for_a_base_off_the_line),
		CASE(json_says_the_same),
		CASE(json_takes_a_diff_that_is_not_utf8),
		CASE(show_wears_paholes_dress),
		CASE(show_has_the_heat_beside_it),
		CASE(stretches_lie_where_the_fields_do),
		CASE(heat_is_at_the_touched_element),
		CASE(a_pair_is_joined_until_it_is_parted),
		CASE(quiet_lines_are_folded),
		CASE(the_page_says_the_same),
		CASE(the_page_of_a_record_that_is_kept_has_one_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
