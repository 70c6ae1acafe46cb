/*
 * test_attribution_arm64.c - what arm64 does unlike x86-64, in a program that is
 * linked where a kernel is: the running task, a CPU's own data, code that is
 * patched, watchpoints.
 */
#include "program_fixture.h"

#ifdef __aarch64__
#define CC "gcc"
#else
#define CC "aarch64-linux-gnu-gcc"
#endif

enum { MOVED = 0x2400000 };	/* by KASLR */

/* As in arch/arm64/include/asm/current.h and percpu.h; a label stands at each access. */
static const char source[] =
	"__asm__(\".globl _text\\n_text:\\n\");\n"
	"#define apart __attribute__((noinline))\n"
	"struct thread_info { long flags; };\n"
	"struct list { struct list *next, *prev; };\n"
	"struct task_struct { struct thread_info thread_info; int state; struct list tasks; long utime; };\n"
	"struct queue { int lock; int nr; long clock; struct task_struct *curr; long events[8]; };\n"
	"struct task_struct init_task;\n"
	"struct queue queues __attribute__((section(\".data..percpu\")));\n"
	"unsigned long __per_cpu_offset[4];\n"
	"static inline struct task_struct *current(void)\n"
	"{ unsigned long t; __asm__(\"mrs %0, sp_el0\" : \"=r\"(t)); return (struct task_struct *)t; }\n"
	"static inline unsigned long mine(void)\n"
	"{ unsigned long t; __asm__(\"mrs %0, tpidr_el1\" : \"=r\"(t)); return t; }\n"
	"#define HIDE(p, by) ({ unsigned long at; __asm__(\"\" : \"=r\"(at) : \"0\"(p)); (__typeof__(p))(at + (by)); })\n"
	"#define READ(label, what) ({ long v; __asm__ volatile(label \": ldr %0, %1\" : \"=r\"(v) : \"m\"(what)); v; })\n"
	"apart long time_of_current(void) { return READ(\"at_utime\", current()->utime); }\n"
	"apart long clock_here(void) { struct queue *q = HIDE(&queues, mine()); return READ(\"at_clock\", q->clock); }\n"
	"apart long clock_there(int cpu) { struct queue *q = HIDE(&queues, __per_cpu_offset[cpu]);\n"
	"\treturn READ(\"at_there\", q->clock); }\n"
	"apart long event(struct queue *q, unsigned n) { return READ(\"at_event\", q->events[n]); }\n"
	"apart void add(struct queue *q)\n"
	"{ long v, bad; __asm__ volatile(\"1: ldxr %0, %2\\n add %0, %0, #1\\nat_stxr: stxr %w1, %0, %2\\n\"\n"
	"\t\"behind_stxr: cbnz %w1, 1b\" : \"=&r\"(v), \"=&r\"(bad), \"+Q\"(q->clock)); }\n"
	/* As in alternative-macros.h and jump_label.h; the place is worked out before, and no variable's type tells of it. */
	"__asm__(\".pushsection .altinstructions, \\\"a\\\"\\n.globl __alt_instructions, __alt_instructions_end\\n\"\n"
	"\t\"__alt_instructions:\\n.subsection 9\\n__alt_instructions_end:\\n.popsection\");\n"
	"extern char __start___jump_table[], __stop___jump_table[];\n"
	"char *keys[] = { __start___jump_table, __stop___jump_table };\n"
	"#define PLACE(what) ({ long at = (long)&(what); __asm__ volatile(\"\" : \"+r\"(at)); at; })\n"
	"apart void bump(struct queue *q)\n"
	"{ long at = PLACE(q->curr->utime);\n"
	"\t__asm__ goto(\"1: b %l[old]\\n.pushsection .altinstructions, \\\"a\\\"\\n.word 1b - ., bump - .\\n.hword 5\\n\"\n"
	"\t\t\".byte 4, 0\\n.popsection\" : : : : old);\n"
	"\t__asm__ volatile(\".arch_extension lse\\nat_stadd: stadd %0, [%1]\" : : \"r\"(1L), \"r\"(at) : \"memory\");\n"
	"\treturn;\n"
	"old: q->nr++; }\n"
	"apart void trace(struct queue *q)\n"
	"{ long at = PLACE(q->curr->utime);\n"
	"\t__asm__ goto(\"1: nop\\n.pushsection __jump_table, \\\"aw\\\"\\n.align 3\\n.word 1b - ., %l[on] - .\\n\"\n"
	"\t\t\".quad 0\\n.popsection\" : : : : on);\n"
	"\tq->nr++;\n"
	"\treturn;\n"
	"on: __asm__ volatile(\"at_traced: str xzr, [%0]\" : : \"r\"(at) : \"memory\"); }\n"
	"long start(int n) { add(&queues); bump(&queues); trace(&queues);\n"
	"\treturn time_of_current() + clock_here() + clock_there(n) + event(&queues, 3); }\n";

static int setup(void **state)
{
	place_setup(state, source, "vmlinux", CC " -g -O2 -fno-pie -mgeneral-regs-only -nostdlib -static "
		    "-Wl,-Ttext-segment=0xffff800080000000 -Wl,-estart");
	assert_int_equal(lm_image_machine(((struct place *)*state)->image), LM_ARM64);
	return 0;
}

/* A sample at a label, where KASLR moved it. */
static void add(struct place *p, const char *label, struct lm_sample s)
{
	static const char kernel[] = "[kernel.kallsyms]";
	uint64_t address = 0;

	if (!lm_image_find(p->image, label, &address))
		fail_msg("no symbol %s", label);
	s.ip = address + MOVED;
	s.dso = lm_strings_add(p->samples.strings, kernel, strlen(kernel));
	s.symbol = LM_NO_STRING;
	s.cpu = LM_CPU_UNKNOWN;
	s.count = 1;
	lm_samples_add(&p->samples, s);
	p->samples.samples++;
}

static void attribute(struct place *p, const char *record)
{
	static const char text[] = "[kernel.kallsyms]_text";
	struct lm_mapping map = { .len = 0x100000 };
	struct lm_attribution_opts opts = { .record = record };

	assert_true(lm_image_find(p->image, "_text", &map.start));
	assert_int_equal(map.start >> 32, 0xffff8000);
	map.start += MOVED;
	map.dso = lm_strings_add(p->samples.strings, text, strlen(text));
	p->samples.mappings = malloc(sizeof(map));
	assert_non_null(p->samples.mappings);
	p->samples.mappings[0] = map;
	p->samples.nr_mappings = p->samples.cap_mappings = 1;
	must(lm_attribute(p->bin, &p->samples, &opts, &p->out, &p->result));
	assert_int_equal(p->result.slide, MOVED);
}

static const struct lm_access *row(struct place *p, const char *member, const char *site)
{
	for (size_t i = 0; i < p->out.nr; i++)
		if (!strcmp(lm_strings_get(p->out.strings, p->out.rows[i].member), member) &&
		    !strcmp(lm_strings_get(p->out.strings, p->out.rows[i].site), site))
			return &p->out.rows[i];
	return NULL;
}

static void the_running_task_is_known(void **state)
{
	struct place *p = *state;

	add(p, "at_utime", (struct lm_sample){ .evidence = LM_EVIDENCE_PRECISE });
	attribute(p, "task_struct");
	assert_non_null(row(p, "utime", "time_of_current"));
}

static void data_of_a_cpu_is_its_variable(void **state)
{
	struct place *p = *state;

	add(p, "at_clock", (struct lm_sample){ .evidence = LM_EVIDENCE_PRECISE });
	add(p, "at_there", (struct lm_sample){ .evidence = LM_EVIDENCE_PRECISE });
	add(p, "at_event", (struct lm_sample){ .evidence = LM_EVIDENCE_PRECISE });
	attribute(p, "queue");
	assert_non_null(row(p, "clock", "clock_here"));
	assert_non_null(row(p, "clock", "clock_there"));
	assert_non_null(row(p, "events[0]", "event"));
	assert_int_equal(p->out.unknown_element, 1);
}

/* What stands behind a jump that becomes a nop, and where a nop leads that becomes a jump. */
static void code_that_is_patched_is_reached(void **state)
{
	struct place *p = *state;

	add(p, "at_stadd", (struct lm_sample){ .evidence = LM_EVIDENCE_PRECISE });
	add(p, "at_traced", (struct lm_sample){ .evidence = LM_EVIDENCE_PRECISE });
	attribute(p, "task_struct");
	assert_non_null(row(p, "utime", "bump"));
	assert_non_null(row(p, "utime", "trace"));
}

/* arm64 traps before the access: perf names the instruction itself; x86 the one behind. */
static void a_watchpoint_names_its_instruction(void **state)
{
	struct place *p = *state;
	const struct lm_access *r;

	add(p, "at_stxr", (struct lm_sample){ .after = true, .evidence = LM_EVIDENCE_EXACT, .op = LM_OP_UNKNOWN });
	add(p, "behind_stxr", (struct lm_sample){ .evidence = LM_EVIDENCE_SKIDDING, .op = LM_OP_UNKNOWN });
	attribute(p, "queue");
	assert_int_equal(p->result.count[LM_OUTCOME_FIELD], 2);
	r = row(p, "clock", "add");
	assert_non_null(r);
	for (size_t i = 0; i < p->out.nr; i++) {
		assert_int_equal(p->out.rows[i].reads, 0);
		assert_int_equal(p->out.rows[i].writes, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_running_task_is_known, setup, teardown),
		cmocka_unit_test_setup_teardown(data_of_a_cpu_is_its_variable, setup, teardown),
		cmocka_unit_test_setup_teardown(code_that_is_patched_is_reached, setup, teardown),
		cmocka_unit_test_setup_teardown(a_watchpoint_names_its_instruction, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
