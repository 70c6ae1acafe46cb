/*
 * insn_arm64.c - AArch64: from capstone's operands to ours.
 *
 * Loads and stores are told apart by their names: ld* reads (its last operand
 * is the memory), st* writes; the exclusive pairs and the atomics of ARMv8.1
 * (ldadd, swp, cas) do both.
 */
#include "profiles/insn_private.h"

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

static bool is_atomic(const char *name)
{
	static const char *const both[] = { "ldadd", "ldclr", "ldeor", "ldset", "ldsmax", "ldsmin", "ldumax", "ldumin",
					    "swp", "cas", "stadd", "stclr", "steor", "stset", "stsmax", "stsmin",
					    "stumax", "stumin" };

	for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++)
		if (starts(name, both[i]))
			return true;
	return false;
}

static void memory(csh handle, const cs_insn *in, struct lm_insn *out)
{
	const cs_arm64 *a = &in->detail->arm64;
	const char *name = in->mnemonic;
	bool atomic = is_atomic(name), store = starts(name, "st"), pair = strstr(name, "p") == name + 2 ||
		starts(name, "ldnp") || starts(name, "stnp") || starts(name, "ldxp") || starts(name, "stxp");
	/* stxr and stlxr give the status first, then the register that is stored. */
	unsigned data = starts(name, "stxr") || starts(name, "stlxr") || starts(name, "stxp") ? 1 : 0;

	for (unsigned i = 0; i < a->op_count; i++) {
		const cs_arm64_op *op = &a->operands[i];
		struct lm_operand m;

		if (op->type != ARM64_OP_MEM)
			continue;
		m = (struct lm_operand){
			.base = reg_of(op->mem.base), .index = reg_of(op->mem.index), .scale = 1, .extend = 8,
			.disp = op->mem.disp, .read = atomic || !store, .write = atomic || store,
		};
		if (m.index != LM_NO_REG && op->shift.type == ARM64_SFT_LSL && op->shift.value < 8)
			m.scale = (uint8_t)(1u << op->shift.value);
		if (m.index != LM_NO_REG && op->ext != ARM64_EXT_INVALID && op->ext != ARM64_EXT_UXTX &&
		    op->ext != ARM64_EXT_SXTX)
			m.extend = 4;
		m.size = a->operands[data].type == ARM64_OP_REG ? size_of(handle, in, a->operands[data].reg) : 0;
		if (pair)
			m.size *= 2;
		if (starts(name, "prf")) {
			out->ea = m;
			continue;
		}
		out->write_back = a->writeback;
		out->wb_first = i + 1 == a->op_count;
		out->wb_imm = out->wb_first ? op->mem.disp : i + 1 < a->op_count ? a->operands[i + 1].imm : 0;
		out->ea = m;
		if (out->nr_mem < LM_MAX_MEM)
			out->mem[out->nr_mem++] = m;
	}
}

static void loads(csh handle, const cs_insn *in, struct lm_insn *out)
{
	const cs_arm64 *a = &in->detail->arm64;
	const char *name = in->mnemonic;

	if (!out->nr_mem || a->op_count < 2 || a->operands[0].type != ARM64_OP_REG)
		return;
	if (!strcmp(name, "ldp") || !strcmp(name, "stp")) {
		if (width_of(handle, a->operands[0].reg) != 8 || a->operands[1].type != ARM64_OP_REG)
			return;
		out->effect = name[0] == 'l' ? LM_EFF_LOAD2 : LM_EFF_STORE2;
		*(name[0] == 'l' ? &out->dst : &out->src) = reg_of(a->operands[0].reg);
		out->src2 = reg_of(a->operands[1].reg);
		out->width = 8;
	} else if (starts(name, "ldr") || starts(name, "ldur") || starts(name, "ldar") || starts(name, "ldapr") ||
		   starts(name, "ldxr") || starts(name, "ldaxr") || starts(name, "ldtr")) {
		out->effect = LM_EFF_LOAD;
		out->dst = reg_of(a->operands[0].reg);
		out->width = (uint8_t)out->mem[0].size;
	} else if (starts(name, "str") || starts(name, "stur") || starts(name, "stlr") || starts(name, "sttr")) {
		out->src = reg_of(a->operands[0].reg);
		out->effect = out->src != LM_NO_REG || is_zero(a->operands[0].reg) ? LM_EFF_STORE : LM_EFF_NONE;
	}
}

/* Three operands, or two where capstone folds the destination: add, sub, and. */
static void arithmetic(csh handle, const cs_insn *in, struct lm_insn *out)
{
	const cs_arm64 *a = &in->detail->arm64;
	const cs_arm64_op *x = &a->operands[1], *y = &a->operands[2];
	bool sub = in->id == ARM64_INS_SUB;

	if (a->op_count != 3 || a->operands[0].type != ARM64_OP_REG || x->type != ARM64_OP_REG)
		return;
	out->dst = reg_of(a->operands[0].reg);
	out->src = reg_of(x->reg);
	out->width = width_of(handle, a->operands[0].reg);
	if (out->dst == LM_NO_REG || out->src == LM_NO_REG)
		return;
	if (y->type == ARM64_OP_IMM) {
		int64_t imm = y->shift.type == ARM64_SFT_LSL ? y->imm << (y->shift.value & 31) : y->imm;

		out->imm = sub ? -imm : imm;
		out->effect = in->id == ARM64_INS_AND ? LM_EFF_ALIGN : LM_EFF_ADD_IMM;
	} else if (y->type == ARM64_OP_REG && in->id == ARM64_INS_ADD) {
		out->effect = LM_EFF_LEA;
		out->ea = (struct lm_operand){ .base = out->src, .index = reg_of(y->reg), .scale = 1, .extend = 8 };
		if (y->shift.type == ARM64_SFT_LSL && y->shift.value < 8)
			out->ea.scale = (uint8_t)(1u << y->shift.value);
		if (y->ext != ARM64_EXT_INVALID && y->ext != ARM64_EXT_UXTX && y->ext != ARM64_EXT_SXTX)
			out->ea.extend = 4;
	} else if (y->type == ARM64_OP_REG && sub) {
		out->src2 = reg_of(y->reg);
		out->effect = y->shift.type == ARM64_SFT_INVALID ? LM_EFF_SUB : LM_EFF_NONE;
	}
}

static void effects(csh handle, const cs_insn *in, struct lm_insn *out)
{
	const cs_arm64 *a = &in->detail->arm64;

	switch (in->id) {
	case ARM64_INS_ADD: case ARM64_INS_SUB: case ARM64_INS_AND:
		arithmetic(handle, in, out);
		break;
	case ARM64_INS_MOV: case ARM64_INS_MOVZ: case ARM64_INS_ADRP: case ARM64_INS_ADR: case ARM64_INS_ORR:
		if (in->id == ARM64_INS_ORR && a->op_count != 2)
			break;
		out->dst = reg_of(a->operands[0].reg);
		out->width = width_of(handle, a->operands[0].reg);
		if (a->operands[1].type == ARM64_OP_IMM) {
			out->effect = LM_EFF_CONST;
			out->imm = a->operands[1].imm;
			if (a->operands[1].shift.type == ARM64_SFT_LSL)
				out->imm <<= a->operands[1].shift.value & 63;
		} else if (is_zero(a->operands[1].reg)) {
			out->effect = LM_EFF_CONST;
		} else if (reg_of(a->operands[1].reg) != LM_NO_REG) {
			out->effect = LM_EFF_MOVE;
			out->src = reg_of(a->operands[1].reg);
		}
		break;
	case ARM64_INS_LSL:
		if (a->op_count == 3 && a->operands[2].type == ARM64_OP_IMM && a->operands[2].imm < 32) {
			out->dst = reg_of(a->operands[0].reg);
			out->src = reg_of(a->operands[1].reg);
			out->width = width_of(handle, a->operands[0].reg);
			out->imm = INT64_C(1) << a->operands[2].imm;
			out->effect = LM_EFF_SCALE;
		}
		break;
	default:
		loads(handle, in, out);
		break;
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
	lm_insn_clobbers(handle, in, reg_of, out);
	/* capstone lists a store's data register as written. */
	if (starts(in->mnemonic, "st") && !starts(in->mnemonic, "stxr") && !starts(in->mnemonic, "stlxr"))
		out->clobbers = 0;
	if (out->branch == LM_BR_CALL)
		out->clobbers |= lm_machine_clobbered(LM_ARM64);
}

/*
 * Encodings: Arm Architecture Reference Manual, C4.1.66, "Atomic memory
 * operations" and "Load/store exclusive" (cas).
 */
bool lm_insn_arm64_atomic(uint32_t word, struct lm_insn *out)
{
	bool memory = (word & 0x3f200c00) == 0x38200000, swap = (word & 0x3fa07c00) == 0x08a07c00;
	bool acquire = (word & 0x3ffffc00) == 0x38bfc000;
	uint8_t rt = word & 31, rn = word >> 5 & 31, rs = word >> 16 & 31, to = swap ? rs : rt;

	if (!memory && !swap)
		return false;
	out->nr_mem = 1;
	out->mem[0] = (struct lm_operand){
		.base = rn, .index = LM_NO_REG, .scale = 1, .extend = 8, .read = true, .write = !acquire,
		.size = 1u << (word >> 30),
	};
	/* Register 31 is the zero register here: st* forms throw the old value away. */
	if (to == 31)
		return true;
	out->effect = LM_EFF_LOAD;
	out->dst = to;
	out->width = (uint8_t)out->mem[0].size;
	out->clobbers = UINT32_C(1) << to;
	return true;
}
