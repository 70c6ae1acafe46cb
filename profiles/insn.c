/*
 * insn.c - instructions, by capstone.
 *
 * capstone 4 says which operands an instruction reads and writes, but is wrong
 * for some opcodes (it calls the memory operand of cmp and test with an
 * immediate written, that of several atomics only read); what matters here is
 * in tables of our own, and its flags only count for what no table names.
 */
#include "profiles/insn.h"

#include "profiles/insn_private.h"

#include <stdlib.h>
#include <string.h>

struct lm_disasm {
	csh handle;
	cs_insn *insn;
	enum lm_machine machine;
};

struct lm_disasm *lm_disasm_new(enum lm_machine machine)
{
	struct lm_disasm *d = calloc(1, sizeof(*d));

	if (!d)
		lm_oom();
	d->machine = machine;
	if (cs_open(machine == LM_X86_64 ? CS_ARCH_X86 : CS_ARCH_ARM64,
		    machine == LM_X86_64 ? CS_MODE_64 : CS_MODE_LITTLE_ENDIAN, &d->handle) != CS_ERR_OK ||
	    cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK)
		lm_oom();
	d->insn = cs_malloc(d->handle);
	if (!d->insn)
		lm_oom();
	return d;
}

void lm_disasm_free(struct lm_disasm *d)
{
	if (!d)
		return;
	cs_free(d->insn, 1);
	cs_close(&d->handle);
	free(d);
}

bool lm_disasm_one(struct lm_disasm *d, const uint8_t *code, size_t len, uint64_t addr, struct lm_insn *out)
{
	uint64_t at = addr;

	*out = (struct lm_insn){ .addr = addr, .dst = LM_NO_REG, .src = LM_NO_REG, .src2 = LM_NO_REG,
				 .src3 = LM_NO_REG };
	if (d->machine == LM_ARM64 && len >= 4) {
		uint32_t word = code[0] | code[1] << 8 | code[2] << 16 | (uint32_t)code[3] << 24;

		out->len = 4;
		if (lm_insn_arm64_word(word, out))
			return true;
		if (!cs_disasm_iter(d->handle, &code, &len, &at, d->insn))
			return lm_insn_arm64_unknown(word, out);
	} else if (!cs_disasm_iter(d->handle, &code, &len, &at, d->insn)) {
		return false;
	}
	out->len = (uint8_t)d->insn->size;
	if (d->machine == LM_X86_64)
		lm_insn_x86(d->handle, d->insn, out);
	else
		lm_insn_arm64(d->handle, d->insn, out);
	return true;
}

/* Adds what capstone says is written, but the flags and what the effect already tells. */
void lm_insn_clobbers(csh handle, const cs_insn *in, uint8_t (*reg_of)(unsigned), struct lm_insn *out)
{
	cs_regs reads, writes;
	uint8_t nr_reads = 0, nr_writes = 0;

	if (cs_regs_access(handle, in, reads, &nr_reads, writes, &nr_writes) != CS_ERR_OK)
		return;
	for (unsigned i = 0; i < nr_writes; i++) {
		uint8_t reg = reg_of(writes[i]);

		if (reg < LM_NR_REGS)
			out->clobbers |= UINT32_C(1) << reg;
	}
}

uint8_t lm_machine_sp(enum lm_machine machine)
{
	return machine == LM_X86_64 ? 7 : 31;
}

uint8_t lm_machine_fp(enum lm_machine machine)
{
	return machine == LM_X86_64 ? 6 : 29;
}

uint8_t lm_machine_argument(enum lm_machine machine, unsigned n)
{
	static const uint8_t x86[] = { 5, 4, 1, 2, 8, 9 };

	if (machine == LM_ARM64)
		return n < 8 ? (uint8_t)n : LM_NO_REG;
	return n < sizeof(x86) ? x86[n] : LM_NO_REG;
}

uint8_t lm_machine_result(enum lm_machine machine)
{
	(void)machine;
	return 0;
}

uint32_t lm_machine_clobbered(enum lm_machine machine)
{
	/* rax rdx rcx rsi rdi r8-r11; x0-x18 and the link register */
	return machine == LM_X86_64 ? 0xf37 : 0x4007ffff;
}
