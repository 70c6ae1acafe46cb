/*
 * test_insn.c - instructions, byte by byte.  What each is was told by objdump
 * and llvm-objdump; what it does to memory and registers by the manuals.
 *
 * An operand is written [base+index*scale+disp] with DWARF's register numbers,
 * behind r, w or rw and its bytes; "stack" marks the implied ones.
 */
#include "base/str.h"
#include "profiles/insn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct row {
	enum lm_machine machine;
	const char *bytes;
	const char *text;	/* what it is: for the reader */
	const char *says;
};

static const struct row rows[] = {
	{ LM_X86_64, "4889f8", "mov %rdi,%rax",
	  "move r0,r5 0/8" },
	{ LM_X86_64, "488b9560040000", "mov 0x460(%rbp),%rdx",
	  "r8[r6+1120] load r1,- 0/8" },
	{ LM_X86_64, "89748b08", "mov %esi,0x8(%rbx,%rcx,4)",
	  "w4[r3+r2*4+8] store -,r4 0/0" },
	{ LM_X86_64, "48c7471800000000", "movq $0x0,0x18(%rdi)",
	  "w8[r5+24] store -,- 0/0" },
	{ LM_X86_64, "f048ff042f", "lock incq (%rdi,%rbp,1)",
	  "rw8[r5+r6*1+0]" },
	{ LM_X86_64, "f0480fc137", "lock xadd %rsi,(%rdi)",
	  "rw8[r5+0] load r4,- 0/8" },
	{ LM_X86_64, "f0480fb15710", "lock cmpxchg %rdx,0x10(%rdi)",
	  "rw8[r5+16] load r0,- 0/8" },
	{ LM_X86_64, "48878330080000", "xchg %rax,0x830(%rbx)",
	  "rw8[r3+2096] load r0,- 0/8" },
	{ LM_X86_64, "4893", "xchg %rax,%rbx",
	  "xchg r0,r3 0/8" },
	{ LM_X86_64, "488d2cf500040000", "lea 0x400(,%rsi,8),%rbp",
	  "lea r6,- 0/8 [+r4*8+1024]" },
	{ LM_X86_64, "488d0500200000", "lea 0x2000(%rip),%rax",
	  "lea r0,- 0/8 [+12295]" },
	{ LM_X86_64, "80bf8000000000", "cmpb $0x0,0x80(%rdi)",
	  "r1[r5+128]" },
	{ LM_X86_64, "48394708", "cmp %rax,0x8(%rdi)",
	  "r8[r5+8]" },
	{ LM_X86_64, "f6454c01", "testb $0x1,0x4c(%rbp)",
	  "r1[r6+76]" },
	{ LM_X86_64, "83471401", "addl $0x1,0x14(%rdi)",
	  "rw4[r5+20]" },
	{ LM_X86_64, "48034708", "add 0x8(%rdi),%rax",
	  "r8[r5+8] add-mem r0,r0 0/8" },
	{ LM_X86_64, "4883c630", "add $0x30,%rsi",
	  "add-imm r4,r4 48/8" },
	{ LM_X86_64, "4883ec18", "sub $0x18,%rsp",
	  "add-imm r7,r7 -24/8" },
	{ LM_X86_64, "4829ce", "sub %rcx,%rsi",
	  "sub r4,r4,r2 0/8" },
	{ LM_X86_64, "ffc9", "dec %ecx",
	  "add-imm r2,r2 -1/4" },
	{ LM_X86_64, "66ff4702", "incw 0x2(%rdi)",
	  "rw2[r5+2]" },
	{ LM_X86_64, "f717", "notl (%rdi)",
	  "rw4[r5+0]" },
	{ LM_X86_64, "48f75f08", "negq 0x8(%rdi)",
	  "rw8[r5+8]" },
	{ LM_X86_64, "48c1e003", "shl $0x3,%rax",
	  "scale r0,r0 8/8" },
	{ LM_X86_64, "486bc138", "imul $0x38,%rcx,%rax",
	  "scale r0,r2 56/8" },
	{ LM_X86_64, "480faf4708", "imul 0x8(%rdi),%rax",
	  "r8[r5+8]" },
	{ LM_X86_64, "31c0", "xor %eax,%eax",
	  "const r0,- 0/8" },
	{ LM_X86_64, "4883e7fe", "and $0xfffffffffffffffe,%rdi",
	  "align r5,r5 -2/8" },
	{ LM_X86_64, "480f454708", "cmovne 0x8(%rdi),%rax",
	  "r8[r5+8] select-mem r0,- 0/8" },
	{ LM_X86_64, "480f44c2", "cmove %rdx,%rax",
	  "select r0,r1,r0 0/8" },
	{ LM_X86_64, "53", "push %rbx",
	  "w8[r7-8]stack push -,r3 0/0" },
	{ LM_X86_64, "5b", "pop %rbx",
	  "r8[r7+0]stack pop r3,- 0/8" },
	{ LM_X86_64, "ff7708", "push 0x8(%rdi)",
	  "r8[r5+8] w8[r7-8]stack push -,- 0/0" },
	{ LM_X86_64, "c9", "leave",
	  "r8[r6+0]stack leave -,- 0/0" },
	{ LM_X86_64, "0fb64702", "movzbl 0x2(%rdi),%eax",
	  "r1[r5+2] load r0,- 0/1" },
	{ LM_X86_64, "4863c7", "movslq %edi,%rax",
	  "move r0,r5 0/4" },
	{ LM_X86_64, "0f294710", "movaps %xmm0,0x10(%rdi)",
	  "w16[r5+16]" },
	{ LM_X86_64, "f30f6f8798010000", "movdqu 0x198(%rdi),%xmm0",
	  "r16[r5+408]" },
	{ LM_X86_64, "f348ab", "rep stos %rax,%es:(%rdi)",
	  "w8[r5+0]..." },
	{ LM_X86_64, "f348a5", "rep movsq %ds:(%rsi),%es:(%rdi)",
	  "w8[r5+0]... r8[r4+0]..." },
	{ LM_X86_64, "0fba6f0403", "btsl $0x3,0x4(%rdi)",
	  "rw4[r5+4]" },
	{ LM_X86_64, "480fa34708", "bt %rax,0x8(%rdi)",
	  "r8[r5+8]" },
	{ LM_X86_64, "0f944703", "sete 0x3(%rdi)",
	  "w1[r5+3]" },
	{ LM_X86_64, "48f7e1", "mul %rcx",
	  "" },
	{ LM_X86_64, "48f77708", "divq 0x8(%rdi)",
	  "r8[r5+8]" },
	{ LM_X86_64, "0fa2", "cpuid",
	  "" },
	{ LM_X86_64, "0f0d4f40", "prefetchw 0x40(%rdi)",
	  "" },
	{ LM_X86_64, "660f1f0400", "nopw (%rax,%rax,1)",
	  "" },
	{ LM_X86_64, "65488b0510000000", "mov %gs:0x10(%rip),%rax",
	  "r8gs:[+4120] load r0,- 0/8" },
	{ LM_X86_64, "64488b042528000000", "mov %fs:0x28,%rax",
	  "r8fs:[+40] load r0,- 0/8" },
	{ LM_X86_64, "6548ff04c2", "incq %gs:(%rdx,%rax,8)",
	  "rw8gs:[r1+r0*8+0]" },
	{ LM_X86_64, "ff24f500204000", "jmp *0x402000(,%rsi,8)",
	  "r8[+r4*8+4202496] indirect" },
	{ LM_X86_64, "ff5008", "call *0x8(%rax)",
	  "r8[r0+8] w8[r7-8]stack call" },
	{ LM_X86_64, "c3", "ret",
	  "r8[r7+0]stack return" },
	{ LM_X86_64, "0f0b", "ud2",
	  "stop" },
	{ LM_X86_64, "750e", "jne ...",
	  "cond 1010" },
	{ LM_X86_64, "0f2f4708", "comiss 0x8(%rdi),%xmm0",
	  "r4[r5+8]" },
	{ LM_X86_64, "0faef0", "mfence",
	  "" },
	{ LM_ARM64, "203042f9", "ldr x0, [x1, #1120]",
	  "r8[r1+1120] load r0,- 0/8" },
	{ LM_ARM64, "627864b8", "ldr w2, [x3, x4, lsl #2]",
	  "r4[r3+r4*4+0] load r2,- 0/4" },
	{ LM_ARM64, "c50c1ff8", "str x5, [x6, #-16]!",
	  "w8[r6-16] store -,r5 0/0 base-16" },
	{ LM_ARM64, "3f0400f9", "str xzr, [x1, #8]",
	  "w8[r1+8] store -,- 0/0" },
	{ LM_ARM64, "070542f8", "ldr x7, [x8], #32",
	  "r8[r8+0] load r7,- 0/8 base+32" },
	{ LM_ARM64, "f35341a9", "ldp x19, x20, [sp, #16]",
	  "r16[r31+16] load2 r19,-,r20 0/8" },
	{ LM_ARM64, "fd7bbea9", "stp x29, x30, [sp, #-32]!",
	  "w16[r31-32] store2 -,r29,r30 0/8 base-32" },
	{ LM_ARM64, "20304139", "ldrb w0, [x1, #76]",
	  "r1[r1+76] load r0,- 0/1" },
	{ LM_ARM64, "62040079", "strh w2, [x3, #2]",
	  "w2[r3+2] store -,r2 0/0" },
	{ LM_ARM64, "20fc5fc8", "ldaxr x0, [x1]",
	  "r8[r1+0] load r0,- 0/8" },
	{ LM_ARM64, "20fc02c8", "stlxr w2, x0, [x1]",
	  "w8[r1+0]" },
	{ LM_ARM64, "20fcdf88", "ldar w0, [x1]",
	  "r4[r1+0] load r0,- 0/4" },
	{ LM_ARM64, "22fc9fc8", "stlr x2, [x1]",
	  "w8[r1+0] store -,r2 0/0" },
	{ LM_ARM64, "410020f8", "ldadd x0, x1, [x2]",
	  "rw8[r2+0] load r1,- 0/8" },
	{ LM_ARM64, "a48023f8", "swp x3, x4, [x5]",
	  "rw8[r5+0] load r4,- 0/8" },
	{ LM_ARM64, "077da6c8", "cas x6, x7, [x8]",
	  "rw8[r8+0] load r6,- 0/8" },
	{ LM_ARM64, "20000491", "add x0, x1, #256",
	  "add-imm r0,r1 256/8" },
	{ LM_ARM64, "200c028b", "add x0, x1, x2, lsl #3",
	  "lea r0,r1 0/8 [r1+r2*8+0]" },
	{ LM_ARM64, "ff0301d1", "sub sp, sp, #64",
	  "add-imm r31,r31 -64/8" },
	{ LM_ARM64, "e00313aa", "mov x0, x19",
	  "move r0,r19 0/8" },
	{ LM_ARM64, "a00080d2", "mov x0, #5",
	  "const r0,- 5/8" },
	{ LM_ARM64, "20f07dd3", "lsl x0, x1, #3",
	  "scale r0,r1 8/8" },
	{ LM_ARM64, "200480b9", "ldrsw x0, [x1, #4]",
	  "r4[r1+4] load r0,- 0/4" },
	{ LM_ARM64, "2004c03d", "ldr q0, [x1, #16]",
	  "r16[r1+16]" },
	{ LM_ARM64, "000080f9", "prfm pldl1keep, [x0]",
	  "" },
	{ LM_ARM64, "08000094", "bl ...",
	  "call 1020" },
	{ LM_ARM64, "c0035fd6", "ret",
	  "return" },
	{ LM_ARM64, "400000b4", "cbz x0, ...",
	  "cond 1008" },
	{ LM_ARM64, "40000054", "b.eq ...",
	  "cond 1008" },
	{ LM_ARM64, "02000014", "b ...",
	  "jump 1008" },
	{ LM_ARM64, "415863f8", "ldr x1, [x2, w3, uxtw #3]",
	  "r8[r2+r3*8+0] load r1,- 0/8" },
	{ LM_ARM64, "070d42f8", "ldr x7, [x8, #32]!",
	  "r8[r8+32] load r7,- 0/8 base+32" },
	{ LM_ARM64, "2004016d", "stp d0, d1, [x1, #16]",
	  "w16[r1+16]" },
	{ LM_ARM64, "3f0881a8", "stp xzr, x2, [x1], #16",
	  "w16[r1+0] store2 -,-,r2 0/8 base+16" },
	{ LM_ARM64, "220c4029", "ldp w2, w3, [x1]",
	  "r8[r1+0]" },
	{ LM_ARM64, "200441ad", "ldp q0, q1, [x1, #32]",
	  "r32[r1+32]" },
	{ LM_ARM64, "61084069", "ldpsw x1, x2, [x3]",
	  "r8[r3+0]" },
	{ LM_ARM64, "610840a8", "ldnp x1, x2, [x3]",
	  "r16[r3+0] load2 r1,-,r2 0/8" },
	{ LM_ARM64, "61087fc8", "ldxp x1, x2, [x3]",
	  "r16[r3+0] load2 r1,-,r2 0/8" },
	{ LM_ARM64, "618825c8", "stlxp w5, x1, x2, [x3]",
	  "w16[r3+0]" },
	{ LM_ARM64, "44fc0348", "stlxrh w3, w4, [x2]",
	  "w2[r2+0]" },
	{ LM_ARM64, "41805ff8", "ldur x1, [x2, #-8]",
	  "r8[r2-8] load r1,- 0/8" },
	{ LM_ARM64, "41c0bff8", "ldapr x1, [x2]",
	  "r8[r2+0] load r1,- 0/8" },
	{ LM_ARM64, "41804099", "ldapur w1, [x2, #8]",
	  "r4[r2+8] load r1,- 0/4" },
	{ LM_ARM64, "5f801fd9", "stlur xzr, [x2, #-8]",
	  "w8[r2-8] store -,- 0/0" },
	{ LM_ARM64, "827c2048", "casp x0, x1, x2, x3, [x4]",
	  "rw16[r4+0]" },
	{ LM_ARM64, "9f0021b8", "stadd w1, [x4]",
	  "rw4[r4+0]" },
	{ LM_ARM64, "0020df4c", "ld1 {v0.16b-v3.16b}, [x0], #64",
	  "r64[r0+0]" },
	{ LM_ARM64, "0090000d", "st1 {v0.s}[1], [x0]",
	  "w4[r0+0]" },
	{ LM_ARM64, "00c8404d", "ld1r {v0.4s}, [x0]",
	  "r4[r0+0]" },
	{ LM_ARM64, "01020058", "ldr x1, ...",
	  "r8[+4160] load r1,- 0/8" },
	{ LM_ARM64, "01000090", "adrp x1, ...",
	  "const r1,- 4096/8" },
	{ LM_ARM64, "e1018092", "movn x1, #15",
	  "const r1,- -16/8" },
	{ LM_ARM64, "e13f10b2", "mov x1, #0xffff0000ffff0000",
	  "const r1,- -281470681808896/8" },
	{ LM_ARM64, "a100a0f2", "movk x1, #5, lsl #16",
	  "insert r1,r1 5/8 bits 16" },
	{ LM_ARM64, "41cc238b", "add x1, x2, w3, sxtw #3",
	  "lea r1,r2 0/8 [r2+r3*8+0]" },
	{ LM_ARM64, "410c438b", "add x1, x2, x3, lsr #3",
	  "" },
	{ LM_ARM64, "410c03cb", "sub x1, x2, x3, lsl #3",
	  "sub r1,r2,r3 3/8" },
	{ LM_ARM64, "410400f1", "subs x1, x2, #1",
	  "add-imm r1,r2 -1/8" },
	{ LM_ARM64, "3f2c00f1", "cmp x1, #11",
	  "compare -,r1 11/8" },
	{ LM_ARM64, "3f0002eb", "cmp x1, x2",
	  "" },
	{ LM_ARM64, "41084092", "and x1, x2, #7",
	  "align r1,r2 7/8" },
	{ LM_ARM64, "62087fd3", "ubfiz x2, x3, #1, #3",
	  "bits r2,r3 2/8 bits 3" },
	{ LM_ARM64, "627c7dd3", "ubfiz x2, x3, #3, #32",
	  "scale r2,r3 8/8" },
	{ LM_ARM64, "627c7d93", "sbfiz x2, x3, #3, #32",
	  "scale r2,r3 8/8" },
	{ LM_ARM64, "417c4093", "sxtw x1, w2",
	  "move r1,r2 0/4" },
	{ LM_ARM64, "417c039b", "mul x1, x2, x3",
	  "mul-add r1,r2,r3,- 0/8" },
	{ LM_ARM64, "4110039b", "madd x1, x2, x3, x4",
	  "mul-add r1,r2,r3,r4 0/8" },
	{ LM_ARM64, "4110a39b", "umaddl x1, w2, w3, x4",
	  "mul-add r1,r2,r3,r4 0/8" },
	{ LM_ARM64, "4190039b", "msub x1, x2, x3, x4",
	  "" },
	{ LM_ARM64, "20009f9a", "csel x0, x1, xzr, eq",
	  "select r0,r1 0/8" },
	{ LM_ARM64, "e0179f1a", "cset w0, eq",
	  "" },
	{ LM_ARM64, "81d038d5", "mrs x1, tpidr_el1",
	  "const r1,- 0/8" },
	{ LM_ARM64, "014138d5", "mrs x1, sp_el0",
	  "task r1,- 0/8" },
	{ LM_ARM64, "ff0b5fd6", "retaa",
	  "return" },
	{ LM_ARM64, "3f083fd6", "blraaz x1",
	  "call" },
	{ LM_ARM64, "010000d4", "svc #0",
	  "" },
	{ LM_ARM64, "00021fd6", "br x16",
	  "indirect" },
};

static void add_register(struct lm_str *s, uint8_t reg)
{
	if (reg == LM_NO_REG)
		lm_str_add(s, "-");
	else
		lm_str_addf(s, "r%u", reg);
}

static void add_place(struct lm_str *s, const struct lm_operand *m)
{
	lm_str_add(s, m->per_cpu ? "gs:[" : m->tls ? "fs:[" : "[");
	if (m->base != LM_NO_REG)
		lm_str_addf(s, "r%u", m->base);
	if (m->index != LM_NO_REG)
		lm_str_addf(s, "+r%u*%u", m->index, m->scale);
	lm_str_addf(s, "%+lld]", (long long)m->disp);
}

static void add_operands(struct lm_str *s, const struct lm_insn *in)
{
	for (unsigned i = 0; i < in->nr_mem; i++) {
		const struct lm_operand *m = &in->mem[i];

		lm_str_addf(s, "%s%s%u", m->read ? "r" : "", m->write ? "w" : "", m->size);
		add_place(s, m);
		lm_str_add(s, m->repeat ? "... " : m->stack ? "stack " : " ");
	}
}

static void add_effect(struct lm_str *s, const struct lm_insn *in)
{
	static const char *const names[] = {
		[LM_EFF_NONE] = "", [LM_EFF_MOVE] = "move", [LM_EFF_CONST] = "const", [LM_EFF_LEA] = "lea",
		[LM_EFF_LOAD] = "load", [LM_EFF_STORE] = "store", [LM_EFF_ADD_IMM] = "add-imm", [LM_EFF_ADD] = "add",
		[LM_EFF_SUB] = "sub", [LM_EFF_ADD_MEM] = "add-mem", [LM_EFF_SCALE] = "scale",
		[LM_EFF_SELECT] = "select", [LM_EFF_SELECT_MEM] = "select-mem", [LM_EFF_ALIGN] = "align",
		[LM_EFF_XCHG] = "xchg", [LM_EFF_BITS] = "bits", [LM_EFF_INSERT] = "insert",
		[LM_EFF_MUL_ADD] = "mul-add", [LM_EFF_COMPARE] = "compare", [LM_EFF_TASK] = "task", [LM_EFF_LOAD2] = "load2", [LM_EFF_STORE2] = "store2", [LM_EFF_PUSH] = "push",
		[LM_EFF_POP] = "pop", [LM_EFF_LEAVE] = "leave",
	};

	if (in->effect == LM_EFF_NONE)
		return;
	lm_str_addf(s, "%s ", names[in->effect]);
	add_register(s, in->dst);
	lm_str_add(s, ",");
	add_register(s, in->src);
	if (in->src2 != LM_NO_REG)
		lm_str_addf(s, ",r%u", in->src2);
	if (in->effect == LM_EFF_MUL_ADD) {
		lm_str_add(s, ",");
		add_register(s, in->src3);
	}
	lm_str_addf(s, " %lld/%u ", (long long)in->imm, in->width);
	if (in->bits)
		lm_str_addf(s, "bits %u ", in->bits);
	if (in->effect == LM_EFF_LEA)
		add_place(s, &in->ea);
	if (in->write_back)
		lm_str_addf(s, "base%+lld ", (long long)in->wb_imm);
}

static void describe(const struct lm_insn *in, struct lm_str *s)
{
	static const char *const branches[] = {
		[LM_BR_NONE] = "", [LM_BR_JUMP] = "jump", [LM_BR_COND] = "cond", [LM_BR_CALL] = "call",
		[LM_BR_INDIRECT] = "indirect", [LM_BR_RETURN] = "return", [LM_BR_STOP] = "stop",
	};

	add_operands(s, in);
	add_effect(s, in);
	lm_str_add(s, branches[in->branch]);
	if (in->target)
		lm_str_addf(s, " %llx", (unsigned long long)in->target);
	while (s->len && s->text[s->len - 1] == ' ')
		s->text[--s->len] = 0;
}

static size_t bytes_of(const char *hex, uint8_t *out)
{
	size_t n = 0;
	unsigned byte;

	for (; *hex && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		out[n++] = (uint8_t)byte;
	return n;
}

static void each_row_says_what_it_does(void **state)
{
	struct lm_disasm *d[2] = { lm_disasm_new(LM_X86_64), lm_disasm_new(LM_ARM64) };
	unsigned bad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint8_t code[16];
		size_t len = bytes_of(rows[i].bytes, code);
		struct lm_insn in;
		struct lm_str s = { 0 };

		assert_true(lm_disasm_one(d[rows[i].machine], code, len, 0x1000, &in));
		assert_int_equal(in.len, len);
		describe(&in, &s);
		if (strcmp(lm_str_text(&s), rows[i].says)) {
			print_message("%s: %s\n  wanted %s\n", rows[i].text, lm_str_text(&s), rows[i].says);
			bad++;
		}
		lm_str_release(&s);
	}
	lm_disasm_free(d[0]);
	lm_disasm_free(d[1]);
	assert_int_equal(bad, 0);
}

/* Every way an instruction can be cut off, and bytes that are none. */
static void cut_off_bytes_are_no_instruction(void **state)
{
	static const uint8_t whole[] = { 0x48, 0x8b, 0x95, 0x60, 0x04, 0x00, 0x00 };
	static const uint8_t nothing[] = { 0x06, 0x06 };
	struct lm_disasm *d = lm_disasm_new(LM_X86_64);
	struct lm_insn in;

	(void)state;
	for (size_t len = 0; len < sizeof(whole); len++)
		assert_false(lm_disasm_one(d, whole, len, 0x1000, &in));
	assert_true(lm_disasm_one(d, whole, sizeof(whole), 0x1000, &in));
	assert_false(lm_disasm_one(d, nothing, sizeof(nothing), 0x1000, &in));
	lm_disasm_free(d);
}

/* What is written besides the result: mul and div leave two registers, cpuid four, calls all that may change. */
static void clobbered_registers_are_told(void **state)
{
	static const struct { const char *bytes; uint32_t gone; } cases[] = {
		{ "48f7e1", 0x3 },		/* mul %rcx: rax, rdx */
		{ "0fa2", 0xf },		/* cpuid */
		{ "4831c0", 0x1 },		/* xor %rax,%rax */
		{ "f30fb8c1", 0x1 },		/* popcnt %ecx,%eax */
		{ "0fc8", 0x1 },		/* bswap %eax */
		{ "480fc7f1", 0x4 },		/* rdrand %rcx */
	};
	struct lm_disasm *d = lm_disasm_new(LM_X86_64);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t code[16];
		size_t len = bytes_of(cases[i].bytes, code);
		struct lm_insn in;

		assert_true(lm_disasm_one(d, code, len, 0x1000, &in));
		assert_int_equal(in.clobbers & cases[i].gone, cases[i].gone);
	}
	lm_disasm_free(d);
	assert_int_equal(lm_machine_clobbered(LM_X86_64) & 1u << 3, 0);	/* rbx survives a call */
	assert_int_equal(lm_machine_argument(LM_X86_64, 0), 5);
	assert_int_equal(lm_machine_argument(LM_X86_64, 6), LM_NO_REG);
	assert_int_equal(lm_machine_argument(LM_ARM64, 7), 7);
}

/* On arm64 exactly these: capstone calls the first register of a compare and of a store written. */
static void arm64_changes_no_more_than_it_says(void **state)
{
	static const struct { const char *bytes; uint32_t gone; } cases[] = {
		{ "3f0002eb", 0 },			/* cmp x1, x2 */
		{ "3f007ef2", 0 },			/* tst x1, #4 */
		{ "200042fa", 0 },			/* ccmp x1, x2, #0, eq */
		{ "220c01a9", 0 },			/* stp x2, x3, [x1, #16] */
		{ "41d01bd5", 0 },			/* msr tpidr_el0, x1 */
		{ "217a0bd5", 0 },			/* dc cvac, x1 */
		{ "010000b4", 0 },			/* cbz x1, . */
		{ "44fc03c8", 0x8 },			/* stlxr w3, x4, [x2] */
		{ "618825c8", 0x20 },			/* stlxp w5, x1, x2, [x3] */
		{ "827c2648", 0xc0 },			/* casp x6, x7, x2, x3, [x4] */
		{ "220c4029", 0xc },			/* ldp w2, w3, [x1] */
		{ "2078824c", 0x2 },			/* st1 {v0.4s}, [x1], x2 */
		{ "4190039b", 0x2 },			/* msub x1, x2, x3, x4 */
		{ "200c7db3", 0x1 },			/* bfi x0, x1, #3, #4 */
		{ "010000d4", 0x1 },			/* svc #0 */
		{ "00000094", 0x40030000 },		/* bl . */
		{ "ff573f04", 0x80000000 },		/* addvl sp, sp, #-1 */
		{ "e1018092", 0x2 },			/* movn x1, #15 */
	};
	struct lm_disasm *d = lm_disasm_new(LM_ARM64);
	uint32_t any = UINT32_C(0x80000000);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t code[16];
		size_t len = bytes_of(cases[i].bytes, code);
		struct lm_insn in;

		assert_true(lm_disasm_one(d, code, len, 0x1000, &in));
		/* Of what nobody decodes, more may be told. */
		if (cases[i].gone == any)
			assert_int_equal(in.clobbers & any, any);
		else
			assert_int_equal(in.clobbers, cases[i].gone);
	}
	lm_disasm_free(d);
}

/* Newer than the decoder: it may write what its fields name, and the code goes on; udf is no instruction. */
static void unknown_arm64_code_writes_what_it_names(void **state)
{
	static const uint8_t incd[] = { 0xe3, 0xe3, 0xf0, 0x04 }, udf[] = { 0x00, 0x00, 0x00, 0x00 };
	struct lm_disasm *d = lm_disasm_new(LM_ARM64);
	struct lm_insn in;

	(void)state;
	assert_true(lm_disasm_one(d, incd, sizeof(incd), 0x1000, &in));
	assert_int_equal(in.clobbers >> 3 & 1, 1);
	assert_int_equal(in.branch, LM_BR_NONE);
	assert_false(lm_disasm_one(d, udf, sizeof(udf), 0x1000, &in));
	assert_false(lm_disasm_one(d, incd, 3, 0x1000, &in));
	lm_disasm_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row_says_what_it_does),
		cmocka_unit_test(cut_off_bytes_are_no_instruction),
		cmocka_unit_test(clobbered_registers_are_told),
		cmocka_unit_test(arm64_changes_no_more_than_it_says),
		cmocka_unit_test(unknown_arm64_code_writes_what_it_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
