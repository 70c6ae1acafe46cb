/*
 * insn.h - one machine instruction: the memory it touches, and what it does to
 * registers, as far as types flow through it.  The only door to capstone.
 *
 * Registers have DWARF's numbers (System V ABI for x86-64, figure 3.36; DWARF
 * for the Arm 64-bit Architecture), so that they can be compared with where
 * the debug info says a variable lives.
 */
#ifndef LM_PROFILES_INSN_H
#define LM_PROFILES_INSN_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lm_machine { LM_X86_64, LM_ARM64 };

enum { LM_NR_REGS = 32, LM_NO_REG = 0xff, LM_MAX_MEM = 2 };

/* base + index * scale + disp; without a base disp is the address (rip-relative ones are worked out). */
struct lm_operand {
	uint8_t base, index;	/* LM_NO_REG: none */
	uint8_t scale;		/* 1 where there is no index */
	bool per_cpu;		/* x86: through %gs, which the kernel keeps per-CPU data behind */
	bool tls;		/* x86: through %fs */
	bool stack;		/* not written in the instruction: push, pop, call, ret */
	bool repeat;		/* x86: rep, from there on as often as a register says */
	bool read, write;
	uint8_t extend;		/* index is this many bytes wide before it is extended; 8: whole */
	int64_t disp;
	uint32_t size;		/* bytes; 0: not known (fxsave, rep) */
};

/* What flows.  Every register that is written otherwise is in clobbers. */
enum lm_effect {
	LM_EFF_NONE,
	LM_EFF_MOVE,	/* dst = src */
	LM_EFF_CONST,	/* dst = imm */
	LM_EFF_LEA,	/* dst = address of ea */
	LM_EFF_LOAD,	/* dst = mem[0] */
	LM_EFF_STORE,	/* mem[0] = src (LM_NO_REG: imm) */
	LM_EFF_ADD_IMM,	/* dst = src + imm */
	LM_EFF_ADD,	/* dst = src + src2 */
	LM_EFF_SUB,	/* dst = src - (src2 << imm) */
	LM_EFF_ADD_MEM,	/* dst += mem[0] */
	LM_EFF_SCALE,	/* dst = src * imm */
	LM_EFF_SELECT,	/* dst = src or src2 (cmov, csel) */
	LM_EFF_SELECT_MEM, /* dst = dst or mem[0] */
	LM_EFF_ALIGN,	/* dst = src & imm */
	LM_EFF_BITS,	/* dst = the low `bits` of src, * imm (ubfiz) */
	LM_EFF_INSERT,	/* dst = src, but 16 bits from bit `bits` on are imm (movk) */
	LM_EFF_MUL_ADD,	/* dst = src * src2 + src3 (LM_NO_REG: 0) */
	LM_EFF_COMPARE,	/* src with imm; nothing is written */
	LM_EFF_TASK,	/* dst = the kernel's current task (mrs sp_el0) */
	LM_EFF_XCHG,	/* dst and src change places */
	LM_EFF_LOAD2,	/* dst = mem[0], src2 = mem[0] + 8 (ldp) */
	LM_EFF_STORE2,	/* mem[0] = src, mem[0] + 8 = src2 (stp) */
	LM_EFF_PUSH,	/* sp -= 8; mem[sp] = src (LM_NO_REG: something) */
	LM_EFF_POP,	/* dst = mem[sp]; sp += 8 (LM_NO_REG: nowhere) */
	LM_EFF_LEAVE,	/* sp = fp; pop fp */
};

enum lm_branch {
	LM_BR_NONE,		/* goes on with the next instruction */
	LM_BR_JUMP,		/* only to target */
	LM_BR_COND,		/* to target or the next */
	LM_BR_CALL,		/* target 0: through a register or memory */
	LM_BR_INDIRECT,		/* a jump to where src or memory says */
	LM_BR_RETURN,
	LM_BR_STOP,		/* ud2, hlt, brk */
};

struct lm_insn {
	uint64_t addr;
	uint8_t len;
	uint8_t nr_mem;
	uint8_t width;		/* bytes of the result in dst */
	uint8_t dst, src, src2, src3;
	uint8_t bits;
	bool write_back;	/* arm64: the base of ea is changed afterwards, by wb_imm */
	bool wb_first;		/* pre-index: disp already contains it */
	enum lm_effect effect;
	enum lm_branch branch;
	int64_t imm, wb_imm;
	uint64_t target;	/* of a jump or call */
	uint32_t clobbers;	/* bit N: register N */
	struct lm_operand mem[LM_MAX_MEM];
	struct lm_operand ea;	/* LEA: the address that is worked out, not touched */
};

struct lm_disasm;

struct lm_disasm *lm_disasm_new(enum lm_machine machine);
void lm_disasm_free(struct lm_disasm *d);	/* NULL is fine */

/* Decodes the instruction at code[0 .. len) whose address is addr.  False: no instruction. */
bool lm_disasm_one(struct lm_disasm *d, const uint8_t *code, size_t len, uint64_t addr, struct lm_insn *out);

/* The stack pointer, the registers of the first arguments and of the result, and those that a call may change. */
uint8_t lm_machine_sp(enum lm_machine machine);
uint8_t lm_machine_fp(enum lm_machine machine);
uint8_t lm_machine_argument(enum lm_machine machine, unsigned n);	/* n from 0; LM_NO_REG behind the last */
uint8_t lm_machine_result(enum lm_machine machine);
uint32_t lm_machine_clobbered(enum lm_machine machine);

#endif
