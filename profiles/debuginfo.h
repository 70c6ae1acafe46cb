/*
 * debuginfo.h - what the compiler recorded about a program's records.
 * The only door to libdwarf.
 *
 * Everything handed out belongs to the binary and lives until it is closed.
 * Sizes and offsets are bytes unless the name says bits.
 */
#ifndef LM_PROFILES_DEBUGINFO_H
#define LM_PROFILES_DEBUGINFO_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lm_debuginfo;

/* A direct member, in declared order; anonymous members have name "". */
struct lm_dbg_member {
	const char *name;
	const char *key;	/* name; of an anonymous member the name of its first named member; else "" */
	uint64_t bit_offset;	/* from the record's start */
	uint64_t size;		/* bytes of its type; 0 flexible array */
	uint32_t bits;		/* bit-field width, or UINT32_MAX */
};

struct lm_dbg_record {
	const char *name;
	uint64_t size;
	struct lm_dbg_member *members;
	uint32_t nr_members;
	const char *producer;	/* DW_AT_producer of its unit; "" if none */
	const char *unit;	/* name of the compilation unit */
	uint64_t entry;		/* where the debug info describes it; for debuginfo_code.h */
};

/*
 * Opens an ELF file with DWARF.  LM_ERR_INPUT: no such file, not ELF, no
 * .debug_info (stripped: says so), split DWARF or .gnu_debugaltlink (named),
 * or DWARF that contradicts itself (the DIE by offset).
 */
struct lm_err *lm_debuginfo_open(const char *path, struct lm_debuginfo **ret) LM_MUST_CHECK;
void lm_debuginfo_close(struct lm_debuginfo *bin);	/* NULL is fine */

/*
 * Finds the first complete definition of the struct (or typedef'd struct) by
 * name.  *ret is NULL if there is none.  Owned by bin.
 */
struct lm_err *lm_debuginfo_record(struct lm_debuginfo *bin, const char *name,
				   const struct lm_dbg_record **ret) LM_MUST_CHECK;

/* The build id as lower-case hex, or "" if the file has none. */
const char *lm_debuginfo_build_id(const struct lm_debuginfo *bin);

#endif
