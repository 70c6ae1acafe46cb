/*
 * debuginfo_private.h - what the files behind the door to libdwarf share.
 *
 * debuginfo.c opens files and reads records by name; debuginfo_die.c reads one
 * entry (DIE); debuginfo_type.c gives types ids; debuginfo_code.c finds
 * functions and variables, debuginfo_range.c and debuginfo_place.c where they are;
 * debuginfo_function.c reads one function.
 */
#ifndef LM_PROFILES_DEBUGINFO_PRIVATE_H
#define LM_PROFILES_DEBUGINFO_PRIVATE_H

#include "base/arena.h"
#include "base/table.h"
#include "profiles/debuginfo.h"
#include "profiles/debuginfo_code.h"
#include "profiles/elf_facts.h"
#include "profiles/elf_image.h"

#include <dwarf.h>
#include <libdwarf.h>

#define LM_NO_BITS UINT32_MAX

enum { LM_MAX_CHAIN = 64 };	/* typedefs and qualifiers in a row, arrays of arrays */

/* A number in an attribute; present is false where there is no attribute. */
struct lm_value {
	bool present;
	int64_t number;
};

/* A compilation or type unit. */
struct lm_unit {
	Dwarf_Off die;		/* of its root entry */
	Dwarf_Bool is_info;	/* else .debug_types */
};

/* A function of a unit whose code was listed, before its variables are read. */
struct lm_code {
	Dwarf_Off die;
	uint32_t unit;
	struct lm_function *detail;	/* NULL until asked for */
	bool scoped;			/* its variables are read, too */
};

/* What an abstract origin says of all variables that refer to it. */
struct lm_origin {
	const char *name;
	uint32_t type;
};

struct lm_span {	/* [from, to) */
	uint64_t from, to;
	uint32_t what;	/* unit, or code */
};

/* What the top level of a unit holds: its names. */
struct lm_unit_names {
	bool has_names, has_spans;	/* what was read */
	uint64_t low;			/* base address of its ranges */
	uint64_t lists_base;		/* of its location lists that have numbers */
	struct lm_strings *names;	/* records "s.N", variables "v.N" */
	Dwarf_Off *offsets;		/* by string id */
	size_t nr, cap;
	struct lm_span *spans;		/* functions, sorted */
	size_t nr_spans, cap_spans;
	struct lm_global *globals;	/* variables with an address of their own */
	size_t nr_globals, cap_globals;
};

/* A section's bytes, of sections, found when first needed. */
struct lm_bytes {
	bool read;
	const uint8_t *data;
	size_t len;
};

struct lm_global {
	uint64_t addr;
	Dwarf_Off die;
};

struct lm_debuginfo {
	Dwarf_Debug dbg;
	struct lm_arena arena;
	const char *path;	/* for people */
	const char *file;	/* what to read: path, or an object file as it was linked */
	int linked;		/* descriptor of that; -1 */
	struct lm_elf_facts facts;
	struct lm_unit *units;
	size_t nr_units, cap_units;
	const char *dwo;	/* file that the first skeleton unit refers to, or NULL */
	/* code: made when first asked for */
	struct lm_unit_names *names;	/* one a unit */
	struct lm_span *unit_spans;	/* addresses of units, sorted */
	size_t nr_unit_spans, cap_unit_spans;
	struct lm_code *codes;
	size_t nr_codes, cap_codes;
	/* types: id = index; by_offset maps the 8 bytes of an entry's offset to a slot of type_of */
	struct lm_type *types;
	size_t nr_types, cap_types;
	struct lm_strings *by_offset;
	uint32_t *type_of;
	size_t nr_type_of, cap_type_of;
	/* by_origin maps the 8 bytes of an entry's offset to an index of origins */
	struct lm_strings *by_origin;
	struct lm_origin *origins;
	size_t nr_origins, cap_origins;
	bool indexed;
	struct lm_sections *sections;	/* NULL until needed */
	struct lm_bytes old_lists, new_lists;	/* .debug_loc, .debug_loclists */
};

/* ---- debuginfo_die.c ---- */

/* An error about the entry at an offset, with libdwarf's words if e is one; e is freed. */
struct lm_err *lm_die_bad(struct lm_debuginfo *bin, const char *what, Dwarf_Off at, Dwarf_Error e);
void lm_die_drop(Dwarf_Die die);	/* NULL is fine */
Dwarf_Off lm_die_offset(Dwarf_Die die);
Dwarf_Half lm_die_tag(Dwarf_Die die);
/* A string attribute, borrowed from dbg, NULL if absent; the same, copied into the arena, "" if absent. */
struct lm_err *lm_die_text(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr, const char **ret);
struct lm_err *lm_die_copy(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr, const char **ret);
bool lm_die_has(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr);
struct lm_err *lm_die_value(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr, struct lm_value *ret);
/* The entry that attr refers to; NULL if absent. */
struct lm_err *lm_die_follow(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr, Dwarf_Die *ret);
/* The offset of that entry, if it can be told without reading it: cheaper.  False: absent, or follow it. */
bool lm_die_refers(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr, Dwarf_Off *ret);
/* The entry at an offset of .debug_info. */
struct lm_err *lm_die_at(struct lm_debuginfo *bin, Dwarf_Off at, Dwarf_Die *ret);
struct lm_err *lm_die_child(struct lm_debuginfo *bin, Dwarf_Die of, Dwarf_Die *ret);
/* Frees *die and replaces it by its next sibling; NULL at the end and on failure. */
struct lm_err *lm_die_next(struct lm_debuginfo *bin, Dwarf_Die *die);
bool lm_tag_is_record(Dwarf_Half tag);
bool lm_tag_is_alias(Dwarf_Half tag);	/* typedefs and qualifiers */

/* ---- debuginfo.c ---- */

struct lm_err *lm_member_read(struct lm_debuginfo *bin, Dwarf_Die die, struct lm_dbg_member *m);
struct lm_err *lm_member_size(struct lm_debuginfo *bin, Dwarf_Die member, uint64_t *ret);
bool lm_member_counts(struct lm_debuginfo *bin, Dwarf_Die die);

/* ---- debuginfo_type.c ---- */

/* The id of the type that die's DW_AT_type refers to; LM_NO_TYPE: none (void). */
struct lm_err *lm_type_of(struct lm_debuginfo *bin, Dwarf_Die die, uint32_t *ret);
/* The id of the type that is the entry at an offset. */
struct lm_err *lm_type_of_entry(struct lm_debuginfo *bin, Dwarf_Off at, uint32_t *ret);

/* ---- debuginfo_range.c ---- */

/* Adds the address ranges of die to out; base: what DWARF 4 range lists start from. */
struct lm_err *lm_die_ranges(struct lm_debuginfo *bin, Dwarf_Die die, uint64_t base, struct lm_range **out,
			     size_t *nr, size_t *cap);
/* ---- debuginfo_place.c ---- */

/* Adds the places of a variable; a plain expression is valid in all of [from, to). */
struct lm_err *lm_die_places(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr,
			     const struct lm_unit_names *unit, struct lm_range scope, struct lm_location **out,
			     size_t *nr, size_t *cap);

/* ---- debuginfo_function.c ---- */

/* Fills in code->detail; then its variables. */
struct lm_err *lm_function_read(struct lm_debuginfo *bin, struct lm_code *code);
struct lm_err *lm_function_variables(struct lm_debuginfo *bin, struct lm_code *code);

/* ---- debuginfo_code.c ---- */

void lm_code_release(struct lm_debuginfo *bin);

#endif
