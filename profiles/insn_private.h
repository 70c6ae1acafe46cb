/* insn_private.h - what the two machines' halves of the door to capstone share. */
#ifndef LM_PROFILES_INSN_PRIVATE_H
#define LM_PROFILES_INSN_PRIVATE_H

#include "profiles/insn.h"

#include <capstone/capstone.h>

void lm_insn_x86(csh handle, const cs_insn *in, struct lm_insn *out);
void lm_insn_arm64(csh handle, const cs_insn *in, struct lm_insn *out);

/* Decodes what capstone 4 does not know or tells wrongly, see insn_arm64_word.c.  False: none of these. */
bool lm_insn_arm64_word(uint32_t word, struct lm_insn *out);

/* An instruction that nobody knows: what it may write.  False: no instruction at all. */
bool lm_insn_arm64_unknown(uint32_t word, struct lm_insn *out);

/* Sets out->clobbers to all registers that capstone knows to be written. */
void lm_insn_clobbers(csh handle, const cs_insn *in, uint8_t (*reg_of)(unsigned), struct lm_insn *out);

#endif
