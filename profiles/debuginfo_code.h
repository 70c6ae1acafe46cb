/*
 * debuginfo_code.h - functions, their variables, and types by id.
 *
 * Nothing of this is read before it is asked for: first the address ranges of
 * all units, then the names of a unit that is asked about, then one function.
 * All that is handed out lives until lm_debuginfo_close().
 */
#ifndef LM_PROFILES_DEBUGINFO_CODE_H
#define LM_PROFILES_DEBUGINFO_CODE_H

#include "profiles/debuginfo.h"

#define LM_NO_TYPE UINT32_MAX
#define LM_NO_UNIT UINT32_MAX

enum lm_type_kind { LM_TYPE_SCALAR, LM_TYPE_POINTER, LM_TYPE_RECORD, LM_TYPE_UNION, LM_TYPE_ARRAY, LM_TYPE_FUNCTION };

struct lm_type_member {
	const char *name;	/* "" anonymous */
	uint32_t type;		/* LM_NO_TYPE: not known */
	uint32_t bits;		/* width of a bit-field, or UINT32_MAX */
	uint64_t offset;	/* bytes; of a bit-field the byte its first bit lies in */
	uint64_t size;		/* bytes that it may touch; 0: flexible array */
};

/* Typedefs and qualifiers are looked through; a record without a tag has its typedef's name. */
struct lm_type {
	enum lm_type_kind kind;
	const char *name;	/* "" none */
	uint64_t size;
	uint32_t target;	/* pointer: what it points to; array: its element; else LM_NO_TYPE */
	uint64_t count;		/* array: elements; 0: open */
	bool declared;		/* a record of which this unit saw no definition */
	bool read;		/* members are there (private) */
	uint64_t entry;		/* offset of its entry (private) */
	const struct lm_type_member *members;
	uint32_t nr_members;
};

struct lm_range { uint64_t from, to; };	/* [from, to) */

enum lm_location_kind {
	LM_AT_REGISTER,	/* the value is in reg */
	LM_AT_VALUE,		/* the value is reg + offset (what is optimised away but can be told) */
	LM_AT_MEMORY,	/* it lives in memory at reg + offset */
	LM_AT_FRAME,		/* in memory at frame base + offset */
	LM_AT_ADDRESS,	/* in memory at offset */
};

struct lm_location {
	enum lm_location_kind kind;
	uint8_t reg;		/* DWARF's number */
	int64_t offset;
	uint64_t from, to;	/* addresses of code where this holds */
};

struct lm_variable {
	const char *name;
	uint32_t type;
	bool parameter;		/* of the function itself: in order */
	uint8_t depth;		/* of scopes: 0 the function's own */
	struct lm_location *places;
	size_t nr_places;
};

struct lm_function {
	const char *name;
	uint32_t unit;
	struct lm_range *ranges;	/* first: with its entry */
	size_t nr_ranges;
	uint32_t result;		/* type; LM_NO_TYPE: none */
	bool no_return;
	struct lm_location frame;		/* REGISTER or VALUE; reg 0xff: the canonical frame address */
	struct lm_variable *variables;	/* with those of all inlined calls */
	size_t nr_variables;
};

/* Lists what code the units hold; called by the others when needed.  Shows progress. */
struct lm_err *lm_debuginfo_index(struct lm_debuginfo *bin) LM_MUST_CHECK;

/* The function whose code holds address; *ret NULL: none. */
struct lm_err *lm_debuginfo_function(struct lm_debuginfo *bin, uint64_t address, const struct lm_function **ret)
	LM_MUST_CHECK;

/*
 * The same without its variables, which are most of the work: who it is, where
 * its code is, what it returns.  They are there if somebody asked for them.
 */
struct lm_err *lm_debuginfo_callee(struct lm_debuginfo *bin, uint64_t address, const struct lm_function **ret)
	LM_MUST_CHECK;

/* A type, its members read.  Valid until the next call that may add types: copy what you need. */
struct lm_err *lm_debuginfo_type(struct lm_debuginfo *bin, uint32_t id, struct lm_type *ret) LM_MUST_CHECK;

/* Its kind, name and size alone: nothing is read.  Members, target and count are not to be looked at. */
struct lm_type lm_debuginfo_type_head(const struct lm_debuginfo *bin, uint32_t id);

/* The type that a record is; LM_NO_TYPE: it lies in a type unit. */
struct lm_err *lm_debuginfo_type_of_record(struct lm_debuginfo *bin, const struct lm_dbg_record *rec, uint32_t *ret)
	LM_MUST_CHECK;

/* The definition, seen in unit, of a record or typedef by name; LM_NO_TYPE: none. */
struct lm_err *lm_debuginfo_type_by_name(struct lm_debuginfo *bin, uint32_t unit, const char *name, uint32_t *ret)
	LM_MUST_CHECK;

/*
 * The type of the variable that unit sees at an address, and where it starts;
 * symbol: what the linker calls the place ("" not known) and where it starts.
 * LM_NO_TYPE: none.
 */
struct lm_err *lm_debuginfo_global(struct lm_debuginfo *bin, uint32_t unit, uint64_t address, const char *symbol,
				   uint64_t symbol_at, uint32_t *type, uint64_t *start) LM_MUST_CHECK;

/* The unit whose name ends with name ("mm/memcontrol.c"); LM_NO_UNIT: none. */
struct lm_err *lm_debuginfo_unit(struct lm_debuginfo *bin, const char *name, uint32_t *ret) LM_MUST_CHECK;

/* The address of the n-th piece of code of a unit, n from 0, by address; false behind the last. */
struct lm_err *lm_debuginfo_unit_code(struct lm_debuginfo *bin, uint32_t unit, size_t n, uint64_t *ret, bool *found)
	LM_MUST_CHECK;

const char *lm_debuginfo_path(const struct lm_debuginfo *bin);

#endif
