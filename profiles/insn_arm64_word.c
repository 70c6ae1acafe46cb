/*
 * insn_arm64_word.c - AArch64 instructions that capstone 4 does not know: the
 * atomics of ARMv8.1, loads and stores of ARMv8.3 and 8.4 that order others,
 * branches that check pointers; and what can be said of one that is newer still.
 *
 * Encodings: Arm Architecture Reference Manual, C4.1, "Loads and Stores" and
 * "Branches, Exception Generating and System instructions".
 */
#include "profiles/insn_private.h"

static void touch(struct lm_insn *out, uint8_t base, int64_t disp, uint32_t size, bool read, bool write)
{
	out->nr_mem = 1;
	out->mem[0] = out->ea = (struct lm_operand){
		.base = base, .index = LM_NO_REG, .scale = 1, .extend = 8, .disp = disp, .size = size, .read = read,
		.write = write,
	};
}

/* Register 31 is the zero register here: st* forms throw the old value away. */
static void load(struct lm_insn *out, uint8_t to)
{
	if (to == 31)
		return;
	out->effect = LM_EFF_LOAD;
	out->dst = to;
	out->width = (uint8_t)out->mem[0].size;
	out->clobbers = UINT32_C(1) << to;
}

/* ldadd, ldset, swp ... and ldapr; cas; casp. */
static bool atomic(uint32_t word, struct lm_insn *out)
{
	uint8_t rt = word & 31, rn = word >> 5 & 31, rs = word >> 16 & 31;

	if ((word & 0x3f200c00) == 0x38200000) {
		touch(out, rn, 0, 1u << (word >> 30), true, (word & 0x3ffffc00) != 0x38bfc000);
		load(out, rt);
		return true;
	}
	if ((word & 0x3fa07c00) == 0x08a07c00) {
		touch(out, rn, 0, 1u << (word >> 30), true, true);
		load(out, rs);
		return true;
	}
	if ((word & 0xbfa07c00) == 0x08207c00) {
		touch(out, rn, 0, word >> 30 ? 16 : 8, true, true);
		out->clobbers = (UINT32_C(3) << rs) & 0x7fffffff;
		return true;
	}
	return false;
}

/* ldapur and stlur: like ldur and stur, in order. */
static bool ordered(uint32_t word, struct lm_insn *out)
{
	uint32_t size = 1u << (word >> 30);
	int64_t disp = word >> 12 & 0x1ff;

	if ((word & 0x3f200c00) != 0x19000000)
		return false;
	disp -= disp & 0x100 ? 0x200 : 0;
	if (word >> 22 & 3) {
		touch(out, word >> 5 & 31, disp, size, true, false);
		load(out, word & 31);
	} else {
		touch(out, word >> 5 & 31, disp, size, false, true);
		out->effect = LM_EFF_STORE;
		out->src = (word & 31) == 31 ? LM_NO_REG : word & 31;
	}
	return true;
}

/* retaa, braa, blraa and their likes. */
static bool checked_branch(uint32_t word, struct lm_insn *out)
{
	/* Bit 24 says whether the modifier is in a register; opc in bits 21 to 23, key in bit 10. */
	switch (word & 0xfefff800) {
	case 0xd61f0800:
		out->branch = LM_BR_INDIRECT;
		out->src = word >> 5 & 31;
		return true;
	case 0xd63f0800:
		out->branch = LM_BR_CALL;
		out->clobbers = 0x40030000;	/* as for bl */
		return true;
	case 0xd65f0800:
	case 0xd69f0800:
		out->branch = LM_BR_RETURN;
		return true;
	default:
		return false;
	}
}

bool lm_insn_arm64_word(uint32_t word, struct lm_insn *out)
{
	return atomic(word, out) || ordered(word, out) || checked_branch(word, out);
}

/* The register fields of nearly all encodings, and what follows each: some write pairs. */
bool lm_insn_arm64_unknown(uint32_t word, struct lm_insn *out)
{
	static const unsigned fields[] = { 0, 5, 10, 16 };

	/* "Reserved": udf, and data between functions. */
	if (!(word >> 31) && !(word >> 25 & 15))
		return false;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		unsigned reg = word >> fields[i] & 31;

		if (reg < 31)
			out->clobbers |= UINT32_C(3) << reg;
	}
	/* 31 is the zero register, but where addvl and addpl make a frame for vectors of any length. */
	out->clobbers &= 0x7fffffff;
	if ((word & 0xffa0f81f) == 0x0420501f)
		out->clobbers |= UINT32_C(1) << lm_machine_sp(LM_ARM64);
	return true;
}
