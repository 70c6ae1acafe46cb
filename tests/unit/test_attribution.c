/*
 * test_attribution.c - samples to fields: a program of known layout, compiled
 * here, and samples at addresses that its symbols name.
 */
#include "program_fixture.h"

/* Each function is one access and a return; the labels stand at the accesses. */
static const char source[] =
	"struct inner { long hits; int kind; };\n"
	"struct rec { long id; struct inner in; int flags[4]; struct rec *next; };\n"
	"struct other { long a, b; };\n"
	"#define apart __attribute__((noinline))\n"
	"apart long read_id(struct rec *r) { long v; __asm__(\"at_id: mov %1, %0\" : \"=r\"(v) : \"m\"(r->id)); "
	"return v; }\n"
	"apart void add_hit(struct inner *i) { __asm__(\"at_hit: addq $1, %0\" : \"+m\"(i->hits)); }\n"
	"apart void hit(struct rec *r) { __asm__(\"at_rec_hit: addq $1, %0\" : \"+m\"(r->in.hits)); }\n"
	"apart long far(struct rec *r) { long v; __asm__(\"at_next: mov %1, %0\\nbehind_next: nop\" : \"=r\"(v) : "
	"\"m\"(r->next)); return v; }\n"
	"apart int flag(struct rec *r, long n) { return r->flags[n]; }\n"
	"apart long foreign(struct other *o) { long v; __asm__(\"at_other: mov %1, %0\" : \"=r\"(v) : \"m\"(o->b)); "
	"return v; }\n"
	"apart void none(void) { __asm__ volatile(\"at_none: nop\"); }\n"
	"struct rec a, b, many[4]; struct other o;\n"
	"apart long nth(long n) { long v; __asm__(\"at_nth: mov %1, %0\" : \"=r\"(v) : \"m\"(many[n].in.hits)); "
	"return v; }\n"
	"int main(void) { hit(&a); add_hit(&a.in); none(); return (int)(read_id(&a) + far(&b) + flag(&a, 1) + "
	"foreign(&o) + nth(2)); }\n";

static int setup(void **state)
{
	return place_setup(state, source, "program", "gcc -g -O2 -fno-pie -no-pie "
			   "-Wl,--build-id=0x00112233445566778899aabbccddeeff00112233");
}

static uint64_t at(struct place *p, const char *symbol)
{
	uint64_t address = 0;

	if (!lm_image_find(p->image, symbol, &address))
		fail_msg("no symbol %s", symbol);
	return address;
}

static uint32_t word(struct place *p, const char *text)
{
	return lm_strings_add(p->samples.strings, text, strlen(text));
}

static void add(struct place *p, struct lm_sample s)
{
	s.dso = s.dso ? s.dso : LM_NO_STRING;
	s.symbol = LM_NO_STRING;
	s.cpu = LM_CPU_UNKNOWN;
	s.count = s.count ? s.count : 1;
	lm_samples_add(&p->samples, s);
	p->samples.samples += s.count;
}

static struct lm_err *attribute(struct place *p, bool force)
{
	struct lm_attribution_opts opts = { .record = "rec", .force = force };

	return lm_attribute(p->bin, &p->samples, &opts, &p->out, &p->result);
}

/* The row of a member, or NULL. */
static const struct lm_access *row(struct place *p, const char *member, const char *site)
{
	for (size_t i = 0; i < p->out.nr; i++)
		if (!strcmp(lm_strings_get(p->out.strings, p->out.rows[i].member), member) &&
		    !strcmp(lm_strings_get(p->out.strings, p->out.rows[i].site), site))
			return &p->out.rows[i];
	return NULL;
}

static void an_address_of_code_is_enough(void **state)
{
	struct place *p = *state;
	const struct lm_access *r;

	add(p, (struct lm_sample){ .ip = at(p, "at_id"), .evidence = LM_EVIDENCE_PRECISE, .count = 3 });
	add(p, (struct lm_sample){ .ip = at(p, "at_rec_hit"), .evidence = LM_EVIDENCE_PRECISE });
	add(p, (struct lm_sample){ .ip = at(p, "at_other"), .evidence = LM_EVIDENCE_PRECISE });
	add(p, (struct lm_sample){ .ip = at(p, "at_none"), .evidence = LM_EVIDENCE_PRECISE });
	add(p, (struct lm_sample){ .ip = 0x10, .evidence = LM_EVIDENCE_PRECISE });
	must(attribute(p, false));
	adds_up(p);
	r = row(p, "id", "read_id");
	assert_non_null(r);
	assert_int_equal(r->reads, 3);
	assert_int_equal(r->writes, 0);
	assert_int_equal(r->size, 8);
	assert_int_equal(r->evidence, LM_EVIDENCE_TYPED);
	r = row(p, "in.hits", "hit");
	assert_non_null(r);
	assert_int_equal(r->reads, 1);
	assert_int_equal(r->writes, 1);
	assert_int_equal(p->result.count[LM_OUTCOME_FIELD], 4);
	assert_int_equal(p->result.count[LM_OUTCOME_ELSEWHERE], 1);
	assert_int_equal(p->result.count[LM_OUTCOME_NO_MEMORY], 1);
	assert_int_equal(p->result.count[LM_OUTCOME_NO_FUNCTION], 1);
}

/* Two instructions agree on where the object is; then a pointer to its part is the record's, too. */
static void objects_are_found_from_data_addresses(void **state)
{
	struct place *p = *state;
	const uint64_t base = 0x7f0000001000;
	const struct lm_access *r;

	add(p, (struct lm_sample){ .ip = at(p, "at_id"), .addr = base, .op = LM_OP_READ,
				   .evidence = LM_EVIDENCE_PRECISE });
	add(p, (struct lm_sample){ .ip = at(p, "at_rec_hit"), .addr = base + 8, .op = LM_OP_WRITE,
				   .evidence = LM_EVIDENCE_PRECISE });
	add(p, (struct lm_sample){ .ip = at(p, "at_hit"), .addr = base + 8, .op = LM_OP_WRITE,
				   .evidence = LM_EVIDENCE_PRECISE, .count = 5 });
	add(p, (struct lm_sample){ .ip = at(p, "at_hit"), .addr = base + 0x10000, .op = LM_OP_WRITE,
				   .evidence = LM_EVIDENCE_PRECISE, .count = 2 });
	must(attribute(p, false));
	adds_up(p);
	assert_int_equal(p->result.objects, 1);
	assert_int_equal(p->result.count[LM_OUTCOME_FIELD], 2);
	assert_int_equal(p->result.count[LM_OUTCOME_OBJECT], 5);
	r = row(p, "in.hits", "add_hit");
	assert_non_null(r);
	assert_int_equal(r->writes, 5);
	assert_int_equal(r->evidence, LM_EVIDENCE_PRECISE);
}

/* The element of an array is told by the address, and left open without one. */
static void an_index_is_a_range(void **state)
{
	struct place *p = *state;
	const uint64_t base = 0x7f0000001000;
	struct lm_flow_source from = { p->bin, p->image, lm_disasm_new(LM_X86_64), lm_flow_cache_new() };
	const struct lm_function *f;
	struct lm_flow flow;
	uint64_t ip = 0;

	must(lm_debuginfo_function(p->bin, at(p, "flag"), &f));
	must(lm_flow_run(&from, f, &p->arena, &flow));
	for (size_t i = 0; i < flow.nr; i++)
		if (flow.rows[i].insn.nr_mem && flow.rows[i].reach[0].stride == 4)
			ip = flow.rows[i].insn.addr;
	lm_disasm_free(from.disasm);
	lm_flow_cache_free(from.cache);
	assert_int_not_equal(ip, 0);
	add(p, (struct lm_sample){ .ip = at(p, "at_id"), .addr = base, .evidence = LM_EVIDENCE_EXACT, .count = 9 });
	add(p, (struct lm_sample){ .ip = ip, .addr = base + 24 + 8, .evidence = LM_EVIDENCE_EXACT });
	add(p, (struct lm_sample){ .ip = ip, .evidence = LM_EVIDENCE_EXACT, .count = 6 });
	must(attribute(p, false));
	adds_up(p);
	assert_int_equal(p->out.unknown_element, 6);
	assert_int_equal(row(p, "flags[0]", "flag")->reads, 2);
	assert_int_equal(row(p, "flags[1]", "flag")->reads, 2);
	assert_int_equal(row(p, "flags[3]", "flag")->reads, 1);
	for (size_t i = 0; i < p->out.nr; i++)
		if (!strcmp(lm_strings_get(p->out.strings, p->out.rows[i].member), "flags[2]"))
			assert_int_equal(p->out.rows[i].reads, 1);
}

/* A breakpoint traps behind its access, a timer's sample comes behind it. */
static void late_samples_step_back(void **state)
{
	struct place *p = *state;
	const struct lm_access *r;

	add(p, (struct lm_sample){ .ip = at(p, "behind_next"), .after = true, .evidence = LM_EVIDENCE_EXACT });
	add(p, (struct lm_sample){ .ip = at(p, "behind_next"), .evidence = LM_EVIDENCE_SKIDDING, .count = 4 });
	must(attribute(p, false));
	adds_up(p);
	assert_int_equal(p->result.count[LM_OUTCOME_FIELD], 5);
	r = row(p, "next", "far");
	assert_non_null(r);
	assert_int_equal(p->out.nr, 2);
	for (size_t i = 0; i < p->out.nr; i++)
		assert_int_equal(p->out.rows[i].evidence, p->out.rows[i].reads == 4 ? LM_EVIDENCE_SKIDDING :
										     LM_EVIDENCE_TYPED);
}

/* A program that was mapped elsewhere, by its mmap record. */
static void mappings_move_addresses(void **state)
{
	struct place *p = *state;
	uint32_t dso = word(p, "/somewhere/program");
	uint64_t text = at(p, "at_id") & ~UINT64_C(0xfff), moved = 0x7f1234560000;
	struct lm_mapping map = { .dso = dso, .pid = 7, .start = moved, .len = 0x1000, .pgoff = text - 0x400000 };

	p->samples.mappings = malloc(sizeof(map));
	assert_non_null(p->samples.mappings);
	p->samples.mappings[0] = map;
	p->samples.nr_mappings = p->samples.cap_mappings = 1;
	add(p, (struct lm_sample){ .ip = at(p, "at_id") - text + moved, .evidence = LM_EVIDENCE_PRECISE });
	must(attribute(p, false));
	adds_up(p);
	assert_non_null(row(p, "id", "read_id"));
}

static void another_build_is_refused(void **state)
{
	struct place *p = *state;
	struct lm_build_id id = { .dso = word(p, "/usr/bin/program"),
				  .hex = "ffff2233445566778899aabbccddeeff00112233" };
	struct lm_err *err;

	p->samples.build_ids = malloc(sizeof(id));
	assert_non_null(p->samples.build_ids);
	p->samples.build_ids[0] = id;
	p->samples.nr_build_ids = p->samples.cap_build_ids = 1;
	add(p, (struct lm_sample){ .ip = at(p, "at_id"), .addr = 0x1000, .evidence = LM_EVIDENCE_PRECISE, .count = 9 });
	err = attribute(p, false);
	assert_non_null(err);
	assert_int_equal(err->code, LM_ERR_INPUT);
	assert_non_null(strstr(err->msg, id.hex));
	assert_non_null(strstr(err->msg, "00112233445566778899aabbccddeeff00112233"));
	lm_err_free(err);
	assert_int_equal(p->out.nr, 0);
	must(attribute(p, true));
	assert_int_equal(p->out.nr, 1);
	assert_int_equal(p->out.rows[0].evidence, LM_EVIDENCE_SKIDDING);
}

static void an_element_of_an_array_is_the_record(void **state)
{
	struct place *p = *state;
	const struct lm_access *r;

	add(p, (struct lm_sample){ .ip = at(p, "at_nth"), .evidence = LM_EVIDENCE_PRECISE, .count = 4 });
	must(attribute(p, false));
	adds_up(p);
	r = row(p, "in.hits", "nth");
	assert_non_null(r);
	assert_int_equal(r->reads, 4);
}

static const struct lm_attributed *of_name(const struct lm_attributed_all *all, const char *name)
{
	for (size_t i = 0; i < all->nr; i++)
		if (!strcmp(all->items[i].name, name))
			return &all->items[i];
	fail_msg("no record %s", name);
	return NULL;
}

static uint64_t sum_of_rows(const struct lm_accesses *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->nr; i++)
		sum += t->rows[i].reads > t->rows[i].writes ? t->rows[i].reads : t->rows[i].writes;
	return sum;
}

/* One pass; a record inside another's object is an access to both; what each one got adds up. */
static void every_record_at_once(void **state)
{
	struct place *p = *state;
	const uint64_t base = 0x7f0000001000;
	struct lm_attributed_all all;
	uint64_t outcomes = 0;

	add(p, (struct lm_sample){ .ip = at(p, "at_id"), .addr = base, .evidence = LM_EVIDENCE_PRECISE, .count = 9 });
	add(p, (struct lm_sample){ .ip = at(p, "at_rec_hit"), .addr = base + 8, .evidence = LM_EVIDENCE_PRECISE });
	add(p, (struct lm_sample){ .ip = at(p, "at_hit"), .addr = base + 8, .evidence = LM_EVIDENCE_PRECISE, .count = 10 });
	add(p, (struct lm_sample){ .ip = at(p, "at_other"), .evidence = LM_EVIDENCE_PRECISE, .count = 2 });
	add(p, (struct lm_sample){ .ip = at(p, "at_none"), .evidence = LM_EVIDENCE_PRECISE });
	must(lm_attribute_all(p->bin, &p->samples, false, &all));
	assert_int_equal(all.nr, 3);
	assert_string_equal(all.items[0].name, "inner");
	assert_string_equal(all.items[1].name, "other");
	assert_int_equal(of_name(&all, "rec")->accesses.used, 20);
	assert_int_equal(of_name(&all, "rec")->objects, 1);
	assert_int_equal(of_name(&all, "rec")->alignment, 4096);
	/* at_hit reaches an inner; at_rec_hit is at the address of that object. */
	assert_int_equal(of_name(&all, "inner")->accesses.used, 11);
	assert_int_equal(of_name(&all, "other")->accesses.used, 2);
	assert_int_equal(of_name(&all, "other")->objects, 0);
	for (size_t i = 0; i < all.nr; i++) {
		const struct lm_accesses *t = &all.items[i].accesses;
		uint64_t known = t->used;

		for (unsigned d = 0; d < LM_NR_DROPS; d++)
			known += t->drops[d];
		assert_int_equal(known, t->samples);
		assert_int_equal(sum_of_rows(t), t->used);
	}
	for (unsigned i = 0; i < LM_NR_OUTCOMES; i++)
		outcomes += all.outcomes.count[i];
	assert_int_equal(outcomes, 23);
	assert_int_equal(all.outcomes.count[LM_OUTCOME_NO_MEMORY], 1);
	lm_attributed_release(&all);
}

static void the_bases_of_objects_are_told(void **state)
{
	struct place *p = *state;
	uint64_t *bases = NULL;
	struct lm_attribution_opts opts = { .record = "rec", .bases = &bases };

	add(p, (struct lm_sample){ .ip = at(p, "at_id"), .addr = 0x9000, .evidence = LM_EVIDENCE_PRECISE, .count = 9 });
	add(p, (struct lm_sample){ .ip = at(p, "at_id"), .addr = 0x5000, .evidence = LM_EVIDENCE_PRECISE, .count = 9 });
	must(lm_attribute(p->bin, &p->samples, &opts, &p->out, &p->result));
	assert_int_equal(p->result.objects, 2);
	assert_int_equal(bases[0], 0x5000);
	assert_int_equal(bases[1], 0x9000);
	free(bases);
}

static void an_unknown_record_is_an_error(void **state)
{
	struct place *p = *state;
	struct lm_attribution_opts opts = { .record = "nothing" };
	struct lm_err *err = lm_attribute(p->bin, &p->samples, &opts, &p->out, &p->result);

	assert_non_null(err);
	assert_non_null(strstr(err->msg, "nothing"));
	lm_err_free(err);
}

static void every_outcome_has_a_sentence(void **state)
{
	(void)state;
	for (unsigned i = 0; i < LM_NR_OUTCOMES; i++)
		assert_true(strlen(lm_outcome_text((enum lm_outcome)i)) > 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_address_of_code_is_enough),
		TEST(objects_are_found_from_data_addresses),
		TEST(an_index_is_a_range),
		TEST(late_samples_step_back),
		TEST(mappings_move_addresses),
		TEST(another_build_is_refused),
		TEST(an_element_of_an_array_is_the_record),
		TEST(every_record_at_once),
		TEST(the_bases_of_objects_are_told),
		TEST(an_unknown_record_is_an_error),
		cmocka_unit_test(every_outcome_has_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
