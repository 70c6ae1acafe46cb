/*
 * test_attribution_callers.c - samples in functions that were handed a part:
 * what callers and their samples say of them.
 */
#include "program_fixture.h"

/* Labels stand at the accesses. */
static const char source[] =
	"struct inner { long hits; long kind; };\n"
	"struct rec { long id; struct inner in, out; };\n"
	"struct other { long a[4]; struct inner in; };\n"
	"#define apart __attribute__((noinline, noclone, noipa))\n"
	"#define TOUCH(label, place) __asm__ volatile(#label \": addq $1, %0\" : \"+m\"(place))\n"
	"static apart void only(struct inner *i) { TOUCH(at_only, i->hits); }\n"
	"static apart void mixed(struct inner *i) { TOUCH(at_mixed, i->kind); }\n"
	"static apart void members(struct inner *i) { TOUCH(at_members, i->hits); }\n"
	"apart void use_rec(struct rec *r) { TOUCH(at_rec, r->id); only(&r->in); mixed(&r->out); members(&r->in); }\n"
	"apart void use_out(struct rec *r) { TOUCH(at_out, r->id); members(&r->out); }\n"
	"apart void use_other(struct other *o) { TOUCH(at_other, o->a[0]); mixed(&o->in); }\n"
	"apart void peek(struct other *o) { TOUCH(at_peek, o->a[1]); }\n"
	"apart void peek_out(struct rec *r) { TOUCH(at_peek_out, r->out.hits); }\n"
	"static apart void deep(struct inner *i) { TOUCH(at_deep, i->hits); }\n"
	"static apart void wrap(struct inner *i) { TOUCH(at_wrap, i->kind); deep(i); i->kind++; }\n"
	"apart void wrap_rec(struct rec *r) { wrap(&r->out); r->id++; }\n"
	"apart void wrap_other(struct other *o) { wrap(&o->in); o->a[3]++; }\n"
	"struct rec a; struct other o;\n"
	"int main(void) { use_rec(&a); use_out(&a); use_other(&o); peek(&o); peek_out(&a); wrap_rec(&a); wrap_other(&o); return 0; }\n";

static int setup(void **state)
{
	return place_setup(state, source, "program", "gcc -g -O2 -fno-pie -no-pie");
}

static void add_at(struct place *p, const char *label, uint64_t count, uint64_t address)
{
	struct lm_sample s = { .dso = LM_NO_STRING, .symbol = LM_NO_STRING, .cpu = LM_CPU_UNKNOWN, .addr = address,
			       .evidence = LM_EVIDENCE_PRECISE, .count = count };

	if (!lm_image_find(p->image, label, &s.ip))
		fail_msg("no symbol %s", label);
	lm_samples_add(&p->samples, s);
	p->samples.samples += count;
}

static void add(struct place *p, const char *label, uint64_t count)
{
	add_at(p, label, count, 0);
}

/* Where the call of one function in another returns to. */
static uint64_t back_in(struct place *p, const char *caller, const char *callee)
{
	struct lm_flow_source from = { p->bin, p->image, lm_disasm_new(LM_X86_64), lm_flow_cache_new() };
	const struct lm_function *f = NULL;
	uint64_t at = 0, entry = 0, back = 0;
	struct lm_flow flow;

	assert_true(lm_image_find(p->image, caller, &at) && lm_image_find(p->image, callee, &entry));
	must(lm_debuginfo_function(p->bin, at, &f));
	must(lm_flow_run(&from, f, &p->arena, &flow));
	for (size_t i = 0; i < flow.nr; i++)
		if (flow.rows[i].insn.branch == LM_BR_CALL && flow.rows[i].insn.target == entry)
			back = flow.rows[i].insn.addr + flow.rows[i].insn.len;
	lm_disasm_free(from.disasm);
	lm_flow_cache_free(from.cache);
	assert_int_not_equal(back, 0);
	return back;
}

static void add_chain(struct place *p, const char *label, uint64_t count, uint64_t first, uint64_t second)
{
	struct lm_sample s = { .dso = LM_NO_STRING, .symbol = LM_NO_STRING, .cpu = LM_CPU_UNKNOWN, .count = count,
			       .evidence = LM_EVIDENCE_SKIDDING, .chain = { { first, second } } };

	assert_true(lm_image_find(p->image, label, &s.ip));
	lm_samples_add(&p->samples, s);
	p->samples.samples += count;
}

/* Attributes; the outcomes and the drops add up. */
static void attribute(struct place *p)
{
	struct lm_attribution_opts opts = { .record = "rec" };
	must(lm_attribute(p->bin, &p->samples, &opts, &p->out, &p->result));
	adds_up(p);
}

/* Accesses that one function made to one member. */
static uint64_t writes(struct place *p, const char *site, const char *member)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->out.nr; i++)
		if (!strcmp(lm_strings_get(p->out.strings, p->out.rows[i].member), member) &&
		    !strcmp(lm_strings_get(p->out.strings, p->out.rows[i].site), site))
			sum += p->out.rows[i].writes;
	return sum;
}

/* One sample is enough where every caller hands over the same. */
static void what_all_callers_hand_over_is_sure(void **state)
{
	struct place *p = *state;

	add(p, "at_only", 1);
	attribute(p);
	assert_int_equal(p->result.count[LM_OUTCOME_CALLERS], 1);
	assert_int_equal(writes(p, "only", "in.hits"), 1);
	assert_int_equal(p->out.rows[0].evidence, LM_EVIDENCE_TYPED);
}

static void one_of_several_is_open(void **state)
{
	struct place *p = *state;

	add(p, "at_mixed", 100000);
	attribute(p);
	assert_int_equal(p->result.count[LM_OUTCOME_PART], 100000);
	assert_int_equal(p->out.drops[LM_DROP_PART], 100000);
	assert_int_equal(p->out.nr, 0);
}

/* A profile of everything: samples elsewhere show that it sees other records, too. */
static void a_caller_that_was_seen_is_likely(void **state)
{
	struct place *p = *state;

	add(p, "at_peek", 300);
	add(p, "at_mixed", 300);
	add(p, "at_rec", 5);
	attribute(p);
	assert_int_equal(p->result.count[LM_OUTCOME_LIKELY], 300);
	assert_int_equal(writes(p, "mixed", "out.kind"), 300);
}

static void few_samples_prove_nothing(void **state)
{
	struct place *p = *state;

	add(p, "at_peek", 300);
	add(p, "at_mixed", 299);
	add(p, "at_rec", 5);
	attribute(p);
	assert_int_equal(p->result.count[LM_OUTCOME_LIKELY], 0);
	assert_int_equal(p->result.count[LM_OUTCOME_PART], 299);
}

/* (k + 3) / n is 1 % at most: 97 of 10,000, not 98. */
static void seldom_is_how_seldom(void **state)
{
	struct place *p = *state;

	add(p, "at_mixed", 10000);
	add(p, "at_rec", 5000);
	add(p, "at_other", 97);
	attribute(p);
	assert_int_equal(p->result.count[LM_OUTCOME_LIKELY], 10000);
}

static void more_than_seldom_is_open(void **state)
{
	struct place *p = *state;

	add(p, "at_mixed", 10000);
	add(p, "at_rec", 5000);
	add(p, "at_other", 98);
	attribute(p);
	assert_int_equal(p->result.count[LM_OUTCOME_PART], 10000);
}

/* A profile of this record alone: nothing in it is another one's. */
static void a_filter_leaves_this_record(void **state)
{
	struct place *p = *state;

	add(p, "at_mixed", 10000);
	add(p, "at_rec", 5000);
	attribute(p);
	assert_int_equal(p->result.count[LM_OUTCOME_LIKELY], 10000);
}

/* A sample elsewhere: no filter.  So few: it may show only some of what happened. */
static void little_elsewhere_is_no_filter(void **state)
{
	struct place *p = *state;

	add(p, "at_mixed", 10000);
	add(p, "at_rec", 5000);
	add(p, "at_peek", 1);
	attribute(p);
	assert_int_equal(p->result.count[LM_OUTCOME_PART], 10000);
}

/* Two members of this record: who touches it shows. */
static void a_filter_shows_the_records_own_callers(void **state)
{
	struct place *p = *state;

	add(p, "at_members", 10000);
	add(p, "at_rec", 5000);
	attribute(p);
	assert_int_equal(p->result.count[LM_OUTCOME_LIKELY], 10000);
	assert_int_equal(writes(p, "members", "in.hits"), 10000);
}

static void named(struct place *p, const char *event)
{
	lm_strings_add(p->samples.events, event, strlen(event));
	add(p, "at_peek", 300);
	add(p, "at_mixed", 10000);
	add(p, "at_rec", 5000);
	attribute(p);
}

static void an_event_that_counts(void **state)
{
	struct place *p = *state;

	named(p, "mem_inst_retired.all_loads:pp");
	assert_int_equal(p->result.count[LM_OUTCOME_LIKELY], 10000);
}

/* Cycles are spent where the processor waits: they do not count calls. */
static void an_event_that_takes_time(void **state)
{
	struct place *p = *state;

	named(p, "cycles:pp");
	assert_int_equal(p->result.count[LM_OUTCOME_PART], 10000);
}

static void loads_above_a_latency(void **state)
{
	struct place *p = *state;

	named(p, "cpu/mem-loads,ldlat=30/P");
	assert_int_equal(p->result.count[LM_OUTCOME_PART], 10000);
}

/* Late samples count for the neighbours, but what all callers hand over stays sure. */
static void samples_that_skid(void **state)
{
	struct place *p = *state;
	struct lm_sample s = { .dso = LM_NO_STRING, .symbol = LM_NO_STRING, .cpu = LM_CPU_UNKNOWN, .count = 1,
			       .evidence = LM_EVIDENCE_SKIDDING };

	assert_true(lm_image_find(p->image, "at_only", &s.ip));
	lm_samples_add(&p->samples, s);
	p->samples.samples++;
	named(p, "instructions");
	assert_int_equal(p->result.count[LM_OUTCOME_CALLERS], 1);
	assert_int_equal(p->result.count[LM_OUTCOME_PART], 10000);
}

/* The call on the stack says what came in, whatever else is called how often. */
static void a_call_chain_is_a_witness(void **state)
{
	struct place *p = *state;

	add_chain(p, "at_deep", 5, back_in(p, "wrap", "deep"), back_in(p, "wrap_rec", "wrap"));
	add_chain(p, "at_deep", 7, back_in(p, "wrap", "deep"), back_in(p, "wrap_other", "wrap"));
	add_chain(p, "at_wrap", 11, back_in(p, "wrap_rec", "wrap"), 0);
	add_chain(p, "at_wrap", 13, back_in(p, "wrap_other", "wrap"), 0);
	attribute(p);
	assert_int_equal(p->result.count[LM_OUTCOME_CHAIN], 16);
	assert_int_equal(p->result.count[LM_OUTCOME_ELSEWHERE], 20);
	assert_int_equal(writes(p, "deep", "out.hits"), 5);
	assert_int_equal(writes(p, "wrap", "out.kind"), 11);
}

/* An unwinder may step back by a byte, or miss a frame; a chain that does not fit the code is no witness. */
static void a_call_chain_with_gaps(void **state)
{
	struct place *p = *state;

	add_chain(p, "at_wrap", 1, back_in(p, "wrap_rec", "wrap") - 1, 0);
	add_chain(p, "at_deep", 2, back_in(p, "wrap_rec", "wrap"), 0);
	add_chain(p, "at_deep", 4, back_in(p, "wrap", "deep"), 0);
	add_chain(p, "at_deep", 8, 0x10, 0x20);
	attribute(p);
	assert_int_equal(p->result.count[LM_OUTCOME_CHAIN], 3);
	assert_int_equal(writes(p, "deep", "out.hits"), 2);
	assert_int_equal(p->result.count[LM_OUTCOME_PART], 12);
}

/* A data address knows better than callers do. */
static void an_address_is_not_asked_for(void **state)
{
	struct place *p = *state;

	add_at(p, "at_only", 7, 0x7f0000001000);
	attribute(p);
	assert_int_equal(p->result.count[LM_OUTCOME_CALLERS], 0);
	assert_int_equal(p->out.drops[LM_DROP_OTHER_OBJECT], 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_all_callers_hand_over_is_sure),
		TEST(one_of_several_is_open),
		TEST(a_caller_that_was_seen_is_likely),
		TEST(few_samples_prove_nothing),
		TEST(seldom_is_how_seldom),
		TEST(more_than_seldom_is_open),
		TEST(a_filter_leaves_this_record),
		TEST(little_elsewhere_is_no_filter),
		TEST(a_filter_shows_the_records_own_callers),
		TEST(an_event_that_counts),
		TEST(an_event_that_takes_time),
		TEST(loads_above_a_latency),
		TEST(samples_that_skid),
		TEST(a_call_chain_is_a_witness),
		TEST(a_call_chain_with_gaps),
		TEST(an_address_is_not_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
