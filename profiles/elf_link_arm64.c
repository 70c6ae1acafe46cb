/*
 * elf_link_arm64.c - relocations of 64-bit Arm (ELF for the Arm 64-bit
 * Architecture, 2023Q3, 5.7).  Cut to their width without a check, as in
 * elf_link_x86.c.
 */
#include "profiles/elf_link_private.h"

#include <elf.h>

#ifndef R_AARCH64_PLT32
#define R_AARCH64_PLT32 314
#endif

enum { LAST_THREAD_LOCAL = 573 };	/* R_AARCH64_TLSLD_LDST128_DTPREL_LO12_NC; older <elf.h> stop before */

/* Bits [from, from + bits) of the instruction become v. */
static enum lm_reloc_result field(const struct lm_reloc *r, unsigned from, unsigned bits, uint64_t v)
{
	uint64_t mask = ((UINT64_C(1) << bits) - 1) << from;

	if (r->size - r->offset < 4)
		return LM_RELOC_OUTSIDE;
	return lm_reloc_put(r, 4, (lm_le_get(r->bytes + r->offset, 4) & ~mask) | (v << from & mask));
}

/* adr and adrp: the two low bits of the distance stand apart. */
static enum lm_reloc_result adr(const struct lm_reloc *r, uint64_t distance)
{
	enum lm_reloc_result low = field(r, 29, 2, distance);

	return low == LM_RELOC_DONE ? field(r, 5, 19, distance >> 2) : low;
}

static enum lm_reloc_result adrp(const struct lm_reloc *r)
{
	return adr(r, (r->value >> 12) - (r->place >> 12));
}

/* Offset in a page, in units of the access. */
static enum lm_reloc_result low12(const struct lm_reloc *r, unsigned shift)
{
	return field(r, 10, 12, (r->value & 0xfff) >> shift);
}

/* Sixteen bits of a number for movz and movk; for a signed one, movn takes the place of movz. */
static enum lm_reloc_result mov(const struct lm_reloc *r, unsigned part, uint64_t v, bool is_signed)
{
	if (is_signed && (int64_t)v < 0) {
		enum lm_reloc_result opcode = field(r, 30, 1, 0);

		return opcode == LM_RELOC_DONE ? field(r, 5, 16, ~v >> (16 * part)) : opcode;
	}
	return field(r, 5, 16, v >> (16 * part));
}

/* ldr x, [x, #offset in a page of the table]: there is no table, so add x, x, #offset, as linkers do. */
static enum lm_reloc_result relax(const struct lm_reloc *r)
{
	uint64_t code;

	if (r->size - r->offset < 4)
		return LM_RELOC_OUTSIDE;
	code = lm_le_get(r->bytes + r->offset, 4);
	if ((code & 0xffc00000) != 0xf9400000)
		return LM_RELOC_LEFT;
	return lm_reloc_put(r, 4, 0x91000000 | (code & 0x3ff) | (r->value & 0xfff) << 10);
}

static enum lm_reloc_result data(const struct lm_reloc *r)
{
	switch (r->kind) {
	case R_AARCH64_ABS64:
		return lm_reloc_put(r, 8, r->value);
	case R_AARCH64_ABS32:
		return lm_reloc_put(r, 4, r->value);
	case R_AARCH64_ABS16:
		return lm_reloc_put(r, 2, r->value);
	case R_AARCH64_PREL64:
		return lm_reloc_put(r, 8, r->value - r->place);
	case R_AARCH64_PREL32:
	case R_AARCH64_PLT32:
		return lm_reloc_put(r, 4, r->value - r->place);
	case R_AARCH64_PREL16:
		return lm_reloc_put(r, 2, r->value - r->place);
	case R_AARCH64_NONE:
	case 256:	/* the other number of NONE */
	case R_AARCH64_MOVW_GOTOFF_G0 ... R_AARCH64_GOT_LD_PREL19:
	case R_AARCH64_LD64_GOTOFF_LO15:
	case R_AARCH64_LD64_GOTPAGE_LO15:
	case R_AARCH64_TLSGD_ADR_PREL21 ... LAST_THREAD_LOCAL:
		return LM_RELOC_LEFT;
	default:
		return LM_RELOC_UNKNOWN;
	}
}

static enum lm_reloc_result number(const struct lm_reloc *r)
{
	switch (r->kind) {
	case R_AARCH64_MOVW_UABS_G0:
	case R_AARCH64_MOVW_UABS_G0_NC:
		return mov(r, 0, r->value, false);
	case R_AARCH64_MOVW_UABS_G1:
	case R_AARCH64_MOVW_UABS_G1_NC:
		return mov(r, 1, r->value, false);
	case R_AARCH64_MOVW_UABS_G2:
	case R_AARCH64_MOVW_UABS_G2_NC:
		return mov(r, 2, r->value, false);
	case R_AARCH64_MOVW_UABS_G3:
		return mov(r, 3, r->value, false);
	case R_AARCH64_MOVW_SABS_G0 ... R_AARCH64_MOVW_SABS_G2:
		return mov(r, r->kind - R_AARCH64_MOVW_SABS_G0, r->value, true);
	case R_AARCH64_MOVW_PREL_G0 ... R_AARCH64_MOVW_PREL_G3:
		/* Each but the last has a second kind for movk. */
		return mov(r, (r->kind - R_AARCH64_MOVW_PREL_G0) / 2, r->value - r->place,
			   (r->kind - R_AARCH64_MOVW_PREL_G0) % 2 == 0 && r->kind != R_AARCH64_MOVW_PREL_G3);
	default:
		return data(r);
	}
}

enum lm_reloc_result lm_reloc_arm64(const struct lm_reloc *r)
{
	uint64_t distance = r->value - r->place;

	switch (r->kind) {
	case R_AARCH64_JUMP26:
	case R_AARCH64_CALL26:
		return field(r, 0, 26, distance >> 2);
	case R_AARCH64_CONDBR19:
	case R_AARCH64_LD_PREL_LO19:
		return field(r, 5, 19, distance >> 2);
	case R_AARCH64_TSTBR14:
		return field(r, 5, 14, distance >> 2);
	case R_AARCH64_ADR_PREL_LO21:
		return adr(r, distance);
	case R_AARCH64_ADR_PREL_PG_HI21:
	case R_AARCH64_ADR_PREL_PG_HI21_NC:
	case R_AARCH64_ADR_GOT_PAGE:
		return adrp(r);
	case R_AARCH64_ADD_ABS_LO12_NC:
	case R_AARCH64_LDST8_ABS_LO12_NC:
		return low12(r, 0);
	case R_AARCH64_LDST16_ABS_LO12_NC:
		return low12(r, 1);
	case R_AARCH64_LDST32_ABS_LO12_NC:
		return low12(r, 2);
	case R_AARCH64_LDST64_ABS_LO12_NC:
		return low12(r, 3);
	case R_AARCH64_LDST128_ABS_LO12_NC:
		return low12(r, 4);
	case R_AARCH64_LD64_GOT_LO12_NC:
		return relax(r);
	default:
		return number(r);
	}
}
