/*
 * elf_facts.h - what an ELF file's section table says, before libdwarf opens
 * it: whether there is debug info to read, and if not, where it went.
 */
#ifndef LM_PROFILES_ELF_FACTS_H
#define LM_PROFILES_ELF_FACTS_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

struct lm_elf_facts {
	const char *build_id;	/* lower-case hex; "" if there is none */
	const char *debug_link;	/* .gnu_debuglink: name of the file with the debug info; "" */
	const char *alt_link;	/* .gnu_debugaltlink: file that dwz moved common types to; "" */
	bool has_info;		/* .debug_info or .zdebug_info with bytes in it */
	bool has_dwo;		/* .debug_info.dwo: the file is the split part itself */
	bool big_endian;
};

/*
 * Reads the section table of file, which messages call path.  All in arena.
 *
 * LM_ERR_INPUT: no such file, no regular file, not ELF, a table that lies
 * outside the file, a debug section compressed in a way libdwarf does not
 * read, or one that claims to unpack to more than its bytes can hold.
 */
struct lm_err *lm_elf_facts_read(const char *path, const char *file, struct lm_arena *arena,
				 struct lm_elf_facts *out) LM_MUST_CHECK;

/* NULL if there is debug info to open here; else LM_ERR_INPUT, which says where it went or how to get it. */
struct lm_err *lm_elf_facts_check(const char *path, const struct lm_elf_facts *facts) LM_MUST_CHECK;

#endif
