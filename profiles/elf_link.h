/*
 * elf_link.h - a kernel module or another object file (ET_REL) as it lies in
 * memory: sections at addresses of their own, symbols and relocations worked out.
 *
 * No library does it: elfutils' libdwfl lays sections out and knows absolute
 * relocations, which is all that debug info needs; the calls of a module to its
 * own functions and its references to its own data stay open there.
 *
 * Core text starts at LM_LINK_TEXT, in the order and with the alignments of the
 * kernel's module loader (kernel/module/main.c, layout_sections()), so that the
 * address in the linked file minus LM_LINK_TEXT is the distance from where
 * /proc/modules says that the module lies.  Read-only data, data, what only the
 * start needs (.init*), per-CPU data and what is not defined here follow, each
 * on pages of its own.  Since Linux 6.4 text and data of a module are allocated
 * apart: where the data lies at run time is known for older kernels only.
 */
#ifndef LM_PROFILES_ELF_LINK_H
#define LM_PROFILES_ELF_LINK_H

#include "base/err.h"

#include <stdint.h>

/* Not 0: 0 and 1 are where linkers leave what they threw away.  Within reach of 32 bits. */
#define LM_LINK_TEXT UINT64_C(0x1000000)

/* CODE leaves debug sections as they are, for who reads none. */
enum lm_link_part { LM_LINK_CODE, LM_LINK_ALL };

/*
 * *ret is the descriptor of a linked copy in memory, for the caller to close;
 * -1: path needs no linking, or is for no machine whose relocations are known
 * here (x86-64, little-endian arm64).  The copy is an executable (ET_EXEC)
 * without relocations; its debug sections are unpacked.  What other files must
 * define has a place in a section without bytes and keeps its name.
 *
 * LM_ERR_INPUT: cannot be read; a table, section or relocation that lies
 * outside of what it belongs to; a relocation of an unknown kind.
 */
struct lm_err *lm_elf_link(const char *path, enum lm_link_part part, int *ret) LM_MUST_CHECK;

#endif
