/*
 * insn_arm64.c - AArch64: from capstone's operands to ours.
 *
 * Loads and stores are told apart by their names: ld* reads (its last operand
 * is the memory), st* writes.  What does both (ldadd, swp, cas) is in
 * insn_arm64_word.c.
 */
#include "profiles/insn_private.h"

#include <stdlib.h>
#include <string.h>

static uint8_t reg_of(unsigned r)
{
	if (r >= ARM64_REG_X0 && r <= ARM64_REG_X28)
		return (uint8_t)(r - ARM64_REG_X0);
	if (r >= ARM64_REG_W0 && r <= ARM64_REG_W30)
		return (uint8_t)(r - ARM64_REG_W0);
	switch (r) {
	case ARM64_REG_X29: return 29;
	case ARM64_REG_X30: return 30;
	case ARM64_REG_SP: case ARM64_REG_WSP: return 31;
	default: return LM_NO_REG;
	}
}

static bool is_zero(unsigned r)
{
	return r == ARM64_REG_XZR || r == ARM64_REG_WZR;
}

/* Bytes of a register; of a vector register by its letter. */
static uint8_t width_of(csh handle, unsigned r)
{
	const char *name = cs_reg_name(handle, r);

	switch (name ? name[0] : 0) {
	case 'x': case 'd': return 8;
	case 'w': case 's': return name[1] == 'p' ? 8 : 4;
	case 'q': case 'v': return 16;
	case 'h': return 2;
	case 'b': return 1;
	default: return 8;
	}
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* ldrb, ldaxrh, stlrb, ldaddalb, ldrsw ...: the letter at the end gives the size. */
static uint32_t size_of(csh handle, const cs_insn *in, unsigned reg)
{
	size_t len = strlen(in->mnemonic);
	const char *name = in->mnemonic;
	char last = len ? name[len - 1] : 0;

	if (last == 'b' && !starts(name, "sub"))
		return 1;
	if (last == 'h')
		return 2;
	if (last == 'w' && strstr(name, "sw"))
		return 4;
	return width_of(handle, reg);
}

static bool is_pair(const char *name)
{
	static const char *const pairs[] = { "ldp", "stp", "ldnp", "stnp", "ldxp", "ldaxp", "stxp", "stlxp" };

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (starts(name, pairs[i]))
			return true;
	return false;
}

/* stxr, stlxr, stxp, stlxp: the first operand is told whether it was stored. */
static bool has_status(const char *name)
{
	return starts(name, "stx") || starts(name, "stlx");
}

/* "{v0.16b, v1.16b}": bytes of the whole list; "{v0.s}[1]" and ld1r: of one element each.  0: it is no list. */
static uint32_t size_of_list(const cs_insn *in)
{
	static const char letters[] = "bhsd";
	const char *text = in->op_str, *end = strchr(text, '}');
	bool single = end && (end[1] == '[' || in->mnemonic[strlen(in->mnemonic) - 1] == 'r');
	uint32_t size = 0;

	if (*text != '{' || !end)
		return 0;
	for (const char *dot = strchr(text, '.'); dot && dot < end; dot = strchr(dot + 1, '.')) {
		char *letter;
		unsigned long count = strtoul(dot + 1, &letter, 10);
		const char *at = *letter ? strchr(letters, *letter) : NULL;

		if (!at || count > 16)
			return 0;
		size += (single || !count ? 1 : (uint32_t)count) << (at - letters);
	}
	return size;
}

static uint32_t bytes_touched(csh handle, const cs_insn *in)
{
	const cs_arm64_op *data = &in->detail->arm64.operands[has_status(in->mnemonic) ? 1 : 0];
	uint32_t list = size_of_list(in);

	if (list)
		return list;
	if (data->type != ARM64_OP_REG)
		return 0;
	return (is_pair(in->mnemonic) ? 2 : 1) * size_of(handle, in, data->reg);
}

/* Bytes of an index register that is extended; 8: it is whole. */
static uint8_t extended(const cs_arm64_op *op)
{
	switch (op->ext) {
	case ARM64_EXT_UXTB: case ARM64_EXT_SXTB: return 1;
	case ARM64_EXT_UXTH: case ARM64_EXT_SXTH: return 2;
	case ARM64_EXT_UXTW: case ARM64_EXT_SXTW: return 4;
	case ARM64_EXT_UXTX: case ARM64_EXT_SXTX: case ARM64_EXT_INVALID: break;
	}
	return 8;
}

static uint8_t shifted(const cs_arm64_op *op)
{
	return op->shift.type == ARM64_SFT_LSL && op->shift.value < 8 ? (uint8_t)(1u << op->shift.value) : 1;
}

/* [x1, #8]! and [x1], #8; behind st1 and ld1 a register may stand there. */
static void set_write_back(const cs_insn *in, unsigned i, struct lm_insn *out)
{
	const cs_arm64 *a = &in->detail->arm64;

	if (!a->writeback)
		return;
	out->wb_first = i + 1 == a->op_count;
	out->write_back = out->wb_first || a->operands[i + 1].type == ARM64_OP_IMM;
	if (out->write_back)
		out->wb_imm = out->wb_first ? a->operands[i].mem.disp : a->operands[i + 1].imm;
	else if (out->ea.base < LM_NR_REGS)
		out->clobbers |= UINT32_C(1) << out->ea.base;
}

static void memory(csh handle, const cs_insn *in, struct lm_insn *out)
{
	const cs_arm64 *a = &in->detail->arm64;
	bool store = starts(in->mnemonic, "st");
	struct lm_operand m = { .base = LM_NO_REG, .index = LM_NO_REG, .scale = 1, .extend = 8, .read = !store,
				.write = store };

	for (unsigned i = 0; i < a->op_count; i++) {
		const cs_arm64_op *op = &a->operands[i];

		/* ldr x0, label: the constant stands in the code. */
		if (op->type == ARM64_OP_IMM && i == 1 && a->op_count == 2 && starts(in->mnemonic, "ldr"))
			m.disp = op->imm;
		else if (op->type != ARM64_OP_MEM)
			continue;
		if (op->type == ARM64_OP_MEM) {
			m.base = reg_of(op->mem.base);
			m.index = reg_of(op->mem.index);
			m.disp = op->mem.disp;
			m.scale = m.index != LM_NO_REG ? shifted(op) : 1;
			m.extend = m.index != LM_NO_REG ? extended(op) : 8;
		}
		out->ea = m;
		if (starts(in->mnemonic, "prf"))
			return;
		m.size = bytes_touched(handle, in);
		out->ea = out->mem[0] = m;
		out->nr_mem = 1;
		set_write_back(in, i, out);
		return;
	}
}

/* A register that keeps its value in the flow, or the zero register. */
static bool is_general(unsigned r)
{
	return reg_of(r) != LM_NO_REG || is_zero(r);
}

static void loads(const cs_insn *in, struct lm_insn *out)
{
	const cs_arm64 *a = &in->detail->arm64;
	const char *name = in->mnemonic;

	if (!out->nr_mem || a->op_count < 2 || a->operands[0].type != ARM64_OP_REG || has_status(name))
		return;
	if (is_pair(name)) {
		/* Two vector registers leave something unknown in memory, two halves nothing that is followed. */
		if (out->mem[0].size != 16 || a->operands[1].type != ARM64_OP_REG || !is_general(a->operands[0].reg) ||
		    !is_general(a->operands[1].reg))
			return;
		out->effect = name[0] == 'l' ? LM_EFF_LOAD2 : LM_EFF_STORE2;
		*(name[0] == 'l' ? &out->dst : &out->src) = reg_of(a->operands[0].reg);
		out->src2 = reg_of(a->operands[1].reg);
		out->width = 8;
	} else if (starts(name, "ld") && reg_of(a->operands[0].reg) != LM_NO_REG) {
		out->effect = LM_EFF_LOAD;
		out->dst = reg_of(a->operands[0].reg);
		out->width = (uint8_t)out->mem[0].size;
	} else if (starts(name, "st") && is_general(a->operands[0].reg)) {
		out->src = reg_of(a->operands[0].reg);
		out->effect = LM_EFF_STORE;
	}
}

/* Three operands: add, sub, and. */
static void arithmetic(const cs_insn *in, struct lm_insn *out)
{
	const cs_arm64_op *x = &in->detail->arm64.operands[1], *y = &in->detail->arm64.operands[2];
	bool sub = in->id == ARM64_INS_SUB, shift = y->shift.type != ARM64_SFT_INVALID && y->shift.value;

	if (in->detail->arm64.op_count != 3 || x->type != ARM64_OP_REG || reg_of(x->reg) == LM_NO_REG)
		return;
	out->src = reg_of(x->reg);
	if (y->type == ARM64_OP_IMM) {
		int64_t imm = y->shift.type == ARM64_SFT_LSL ? y->imm << (y->shift.value & 31) : y->imm;

		out->imm = sub ? -imm : imm;
		out->effect = in->id == ARM64_INS_AND ? LM_EFF_ALIGN : LM_EFF_ADD_IMM;
	} else if (y->type == ARM64_OP_REG && in->id == ARM64_INS_ADD) {
		/* Shifted otherwise, or further, nothing is known of it. */
		if (shift && shifted(y) == 1)
			return;
		out->effect = LM_EFF_LEA;
		out->ea = (struct lm_operand){ .base = out->src, .index = reg_of(y->reg), .scale = shifted(y),
					       .extend = extended(y) };
	} else if (y->type == ARM64_OP_REG && sub && extended(y) >= 4) {
		if (shift && (y->shift.type != ARM64_SFT_LSL || y->shift.value > 30))
			return;
		out->src2 = reg_of(y->reg);
		out->imm = shift ? y->shift.value : 0;
		out->effect = LM_EFF_SUB;
	}
}

/* mov, movz, movn, adrp, adr, orr with the zero register, sxtw: a number, or another register. */
static void moves(const cs_insn *in, struct lm_insn *out)
{
	const cs_arm64 *a = &in->detail->arm64;
	const cs_arm64_op *from = &a->operands[a->op_count - 1];

	if (in->id == ARM64_INS_ORR && (a->op_count != 3 || a->operands[1].type != ARM64_OP_REG ||
					!is_zero(a->operands[1].reg) || (from->shift.type && from->shift.value)))
		return;
	if (from->type == ARM64_OP_IMM) {
		out->effect = LM_EFF_CONST;
		out->imm = from->imm;
		if (from->shift.type == ARM64_SFT_LSL)
			out->imm = (int64_t)((uint64_t)from->imm << (from->shift.value & 63));
		if (in->id == ARM64_INS_MOVN)
			out->imm = ~out->imm;
	} else if (from->type == ARM64_OP_REG && is_zero(from->reg)) {
		out->effect = LM_EFF_CONST;
	} else if (from->type == ARM64_OP_REG && reg_of(from->reg) != LM_NO_REG) {
		out->effect = LM_EFF_MOVE;
		out->src = reg_of(from->reg);
	}
	if (in->id == ARM64_INS_SXTW || in->id == ARM64_INS_UXTW)
		out->width = 4;
}

static void multiplies(const cs_insn *in, struct lm_insn *out)
{
	const cs_arm64 *a = &in->detail->arm64;

	out->src = reg_of(a->operands[1].reg);
	out->src2 = reg_of(a->operands[2].reg);
	out->src3 = a->op_count > 3 ? reg_of(a->operands[3].reg) : LM_NO_REG;
	out->effect = out->src != LM_NO_REG && out->src2 != LM_NO_REG ? LM_EFF_MUL_ADD : LM_EFF_NONE;
}

static void selects(const cs_insn *in, struct lm_insn *out)
{
	const cs_arm64 *a = &in->detail->arm64;

	out->src = reg_of(a->operands[1].reg);
	out->src2 = reg_of(a->operands[2].reg);
	out->effect = LM_EFF_SELECT;
}

/* lsl and ubfiz: a number times a power of two; ubfiz of a few bits only. */
static void shifts(const cs_insn *in, struct lm_insn *out)
{
	const cs_arm64_op *by = &in->detail->arm64.operands[2];
	unsigned bits = in->id == ARM64_INS_LSL ? 64 : (unsigned)in->detail->arm64.operands[3].imm;

	if (by->type != ARM64_OP_IMM || by->imm < 0 || by->imm >= 31 || (bits < 32 && in->id == ARM64_INS_SBFIZ))
		return;
	out->src = reg_of(in->detail->arm64.operands[1].reg);
	out->imm = INT64_C(1) << by->imm;
	out->bits = bits < 32 ? (uint8_t)bits : 0;
	out->effect = bits < 32 ? LM_EFF_BITS : LM_EFF_SCALE;
}

/* In kernels: the distance from a per-CPU variable to the CPU's own, which changes no type; the running task. */
static void system_register(const cs_insn *in, struct lm_insn *out)
{
	if (strstr(in->op_str, "tpidr_el1") || strstr(in->op_str, "tpidr_el2"))
		out->effect = LM_EFF_CONST;
	else if (strstr(in->op_str, "sp_el0"))
		out->effect = LM_EFF_TASK;
}

static void effects(csh handle, const cs_insn *in, struct lm_insn *out)
{
	const cs_arm64 *a = &in->detail->arm64;

	if (out->nr_mem) {
		loads(in, out);
		return;
	}
	if (!a->op_count || a->operands[0].type != ARM64_OP_REG || reg_of(a->operands[0].reg) == LM_NO_REG)
		return;
	out->width = width_of(handle, a->operands[0].reg);
	switch (in->id) {
	case ARM64_INS_ADD: case ARM64_INS_SUB: case ARM64_INS_AND:
		arithmetic(in, out);
		break;
	case ARM64_INS_MOV: case ARM64_INS_MOVZ: case ARM64_INS_MOVN: case ARM64_INS_ADRP: case ARM64_INS_ADR:
	case ARM64_INS_ORR: case ARM64_INS_SXTW: case ARM64_INS_UXTW:
		moves(in, out);
		break;
	case ARM64_INS_MOVK:
		out->src = reg_of(a->operands[0].reg);
		out->imm = a->operands[1].imm;
		out->bits = a->operands[1].shift.type == ARM64_SFT_LSL ? (uint8_t)(a->operands[1].shift.value & 63) : 0;
		out->effect = LM_EFF_INSERT;
		break;
	case ARM64_INS_MUL: case ARM64_INS_MADD: case ARM64_INS_UMULL: case ARM64_INS_UMADDL: case ARM64_INS_SMULL:
	case ARM64_INS_SMADDL:
		multiplies(in, out);
		break;
	case ARM64_INS_CSEL:
		selects(in, out);
		break;
	case ARM64_INS_LSL: case ARM64_INS_UBFIZ: case ARM64_INS_SBFIZ:
		shifts(in, out);
		break;
	case ARM64_INS_CMP:
		if (a->op_count == 2 && a->operands[1].type == ARM64_OP_IMM && a->operands[1].shift.value == 0) {
			out->src = reg_of(a->operands[0].reg);
			out->imm = a->operands[1].imm;
			out->effect = LM_EFF_COMPARE;
		}
		return;
	case ARM64_INS_MRS:
		system_register(in, out);
		break;
	default:
		break;
	}
	if (out->effect != LM_EFF_NONE)
		out->dst = reg_of(a->operands[0].reg);
}

/* Instructions whose registers are all read; capstone says that the first is written. */
static bool writes_nothing(const cs_insn *in)
{
	switch (in->id) {
	case ARM64_INS_CMP: case ARM64_INS_CMN: case ARM64_INS_TST: case ARM64_INS_CCMP: case ARM64_INS_CCMN:
	case ARM64_INS_MSR: case ARM64_INS_DC: case ARM64_INS_IC: case ARM64_INS_AT: case ARM64_INS_TLBI:
	case ARM64_INS_SYS: case ARM64_INS_SVC: case ARM64_INS_HVC: case ARM64_INS_SMC:
	case ARM64_INS_CBZ: case ARM64_INS_CBNZ: case ARM64_INS_TBZ: case ARM64_INS_TBNZ:
		return true;
	default:
		return starts(in->mnemonic, "st") && !has_status(in->mnemonic);
	}
}

/*
 * What is changed besides what is written there: the callee's part is the flow's
 * to find out, the linker's veneers use x16 and x17; the kernel and the firmware
 * give back what they like.
 */
static uint32_t changed_by_calls(const cs_insn *in)
{
	switch (in->id) {
	case ARM64_INS_BL: case ARM64_INS_BLR:
		return 0x40030000;
	case ARM64_INS_SVC:
		return 0x1;
	case ARM64_INS_HVC: case ARM64_INS_SMC:
		return 0x3ffff;
	default:
		return 0;
	}
}

static void branches(const cs_insn *in, struct lm_insn *out)
{
	const cs_arm64 *a = &in->detail->arm64;
	const cs_arm64_op *last = a->op_count ? &a->operands[a->op_count - 1] : NULL;

	switch (in->id) {
	case ARM64_INS_B:
		out->branch = a->cc == ARM64_CC_INVALID || a->cc == ARM64_CC_AL ? LM_BR_JUMP : LM_BR_COND;
		break;
	case ARM64_INS_CBZ: case ARM64_INS_CBNZ: case ARM64_INS_TBZ: case ARM64_INS_TBNZ:
		out->branch = LM_BR_COND;
		break;
	case ARM64_INS_BL: case ARM64_INS_BLR:
		out->branch = LM_BR_CALL;
		break;
	case ARM64_INS_BR:
		out->branch = LM_BR_INDIRECT;
		out->src = reg_of(a->operands[0].reg);
		break;
	case ARM64_INS_RET: case ARM64_INS_ERET:
		out->branch = LM_BR_RETURN;
		break;
	case ARM64_INS_BRK: case ARM64_INS_HLT:
		out->branch = LM_BR_STOP;
		break;
	default:
		return;
	}
	if (last && last->type == ARM64_OP_IMM && out->branch != LM_BR_STOP)
		out->target = (uint64_t)last->imm;
}

void lm_insn_arm64(csh handle, const cs_insn *in, struct lm_insn *out)
{
	memory(handle, in, out);
	effects(handle, in, out);
	branches(in, out);
	if (!writes_nothing(in))
		lm_insn_clobbers(handle, in, reg_of, out);
	/* Not in capstone's table: the status of an exclusive pair. */
	if (has_status(in->mnemonic) && reg_of(in->detail->arm64.operands[0].reg) < 31)
		out->clobbers |= UINT32_C(1) << reg_of(in->detail->arm64.operands[0].reg);
	out->clobbers |= changed_by_calls(in);
}
