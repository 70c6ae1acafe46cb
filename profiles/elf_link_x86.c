/*
 * elf_link_x86.c - relocations of x86-64 (psABI 1.0, table 4.9).
 *
 * Results are cut to their width without a check: code is read here, not run,
 * and only a file beyond two gigabytes would notice.
 */
#include "profiles/elf_link_private.h"

#include <elf.h>

#ifndef R_X86_64_GOTPCRELX
#define R_X86_64_GOTPCRELX	41
#define R_X86_64_REX_GOTPCRELX	42
#endif

/*
 * Address by way of a table (GOT).  There is none here: as linkers do, the load
 * becomes a lea and the indirect call or jump a direct one (psABI, B.2).
 */
static enum lm_reloc_result relax(const struct lm_reloc *r)
{
	uint8_t *at = r->bytes + r->offset;

	if (r->size - r->offset < 4)
		return LM_RELOC_OUTSIDE;
	if (r->offset < 2)
		return LM_RELOC_LEFT;
	if (at[-2] == 0x8b) {				/* mov table(%rip), %reg */
		at[-2] = 0x8d;
	} else if (at[-2] == 0xff && at[-1] == 0x15) {	/* call *table(%rip) */
		at[-2] = 0x67;
		at[-1] = 0xe8;
	} else if (at[-2] == 0xff && at[-1] == 0x25) {	/* jmp *table(%rip), one byte longer */
		at[-2] = 0xe9;
		lm_le_put(at - 1, 4, r->value - r->place + 1);
		at[3] = 0x90;
		return LM_RELOC_DONE;
	} else {
		return LM_RELOC_LEFT;
	}
	return lm_reloc_put(r, 4, r->value - r->place);
}

enum lm_reloc_result lm_reloc_x86(const struct lm_reloc *r)
{
	switch (r->kind) {
	case R_X86_64_64:
		return lm_reloc_put(r, 8, r->value);
	case R_X86_64_32:
	case R_X86_64_32S:
		return lm_reloc_put(r, 4, r->value);
	case R_X86_64_16:
		return lm_reloc_put(r, 2, r->value);
	case R_X86_64_8:
		return lm_reloc_put(r, 1, r->value);
	case R_X86_64_PC64:
		return lm_reloc_put(r, 8, r->value - r->place);
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
		return lm_reloc_put(r, 4, r->value - r->place);
	case R_X86_64_PC16:
		return lm_reloc_put(r, 2, r->value - r->place);
	case R_X86_64_PC8:
		return lm_reloc_put(r, 1, r->value - r->place);
	case R_X86_64_SIZE32:
		return lm_reloc_put(r, 4, r->symbol_size + (uint64_t)r->addend);
	case R_X86_64_SIZE64:
		return lm_reloc_put(r, 8, r->symbol_size + (uint64_t)r->addend);
	case R_X86_64_GOTPCREL:
	case R_X86_64_GOTPCRELX:
	case R_X86_64_REX_GOTPCRELX:
		return relax(r);
	case R_X86_64_NONE:
	case R_X86_64_GOT32:
	case R_X86_64_DTPMOD64 ... R_X86_64_TPOFF32:
	case R_X86_64_GOTOFF64 ... R_X86_64_PLTOFF64:
	case R_X86_64_GOTPC32_TLSDESC ... R_X86_64_TLSDESC:
		return LM_RELOC_LEFT;
	default:
		return LM_RELOC_UNKNOWN;
	}
}
