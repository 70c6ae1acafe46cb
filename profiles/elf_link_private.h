/*
 * elf_link_private.h - what the files of one link share: elf_link.c has sections
 * and symbols, elf_link_x86.c and elf_link_arm64.c the kinds of relocations.
 */
#ifndef LM_PROFILES_ELF_LINK_PRIVATE_H
#define LM_PROFILES_ELF_LINK_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One relocation: bytes at an offset of a section, and what they are to refer to. */
struct lm_reloc {
	uint8_t *bytes;		/* the section's */
	uint64_t size, offset;	/* of the section; offset < size */
	uint64_t place;		/* address of the byte at offset */
	uint64_t value;		/* the symbol's address + the addend */
	uint64_t symbol_size;
	int64_t addend;
	uint32_t kind;
};

enum lm_reloc_result {
	LM_RELOC_DONE,
	LM_RELOC_LEFT,		/* thread-local data, tables of a dynamic linker: the bytes stay as they are */
	LM_RELOC_OUTSIDE,	/* its bytes do not lie in the section */
	LM_RELOC_UNKNOWN,
};

/* ELF x86-64 psABI 1.0, 4.4; ELF for the Arm 64-bit Architecture, 5.7. */
enum lm_reloc_result lm_reloc_x86(const struct lm_reloc *r);
enum lm_reloc_result lm_reloc_arm64(const struct lm_reloc *r);

/* Little-endian numbers of 1 to 8 bytes. */
static inline uint64_t lm_le_get(const uint8_t *at, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = bytes; i-- > 0;)
		v = v << 8 | at[i];
	return v;
}

static inline void lm_le_put(uint8_t *at, unsigned bytes, uint64_t v)
{
	for (unsigned i = 0; i < bytes; i++, v >>= 8)
		at[i] = (uint8_t)v;
}

/* Writes v over the bytes of a relocation. */
static inline enum lm_reloc_result lm_reloc_put(const struct lm_reloc *r, unsigned bytes, uint64_t v)
{
	if (r->size - r->offset < bytes)
		return LM_RELOC_OUTSIDE;
	lm_le_put(r->bytes + r->offset, bytes, v);
	return LM_RELOC_DONE;
}

#endif
