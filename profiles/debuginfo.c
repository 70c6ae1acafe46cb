/*
 * debuginfo.c - records out of DWARF 2 to 5, by libdwarf.
 *
 * Only the top level of each unit is walked, unit by unit, up to the first
 * complete definition: the records of C live there, and a kernel has millions
 * of entries (DIEs) below.  Nothing in a file is believed: siblings must lie
 * behind each other, chains of types and nesting have a limit, and what
 * contradicts itself is an error with the entry's offset.
 */
#include "profiles/debuginfo.h"

#include "base/arena.h"
#include "base/parallel.h"
#include "profiles/elf_facts.h"

#include <dwarf.h>
#include <libdwarf.h>
#include <stdlib.h>
#include <string.h>

/* Debian 12 has 20210528; releases since 0.1 dropped what was reserved. */
#ifdef LM_DWARF_NEW_INIT
#define INIT(path, dbg, e) dwarf_init_path(path, NULL, 0, DW_GROUPNUMBER_ANY, NULL, NULL, dbg, e)
#define FINISH(dbg, e) ((void)(e), dwarf_finish(dbg))
#else
#define INIT(path, dbg, e) \
	dwarf_init_path(path, NULL, 0, DW_DLC_READ, DW_GROUPNUMBER_ANY, NULL, NULL, dbg, NULL, 0, NULL, e)
#define FINISH(dbg, e) dwarf_finish(dbg, e)
#endif

#define NO_BITS UINT32_MAX

enum {
	MAX_CHAIN = 64,		/* typedefs and qualifiers in a row, arrays of arrays */
	MAX_NESTED = 32,	/* anonymous records inside each other */
	MAX_MEMBERS = 1 << 16,
};

/* A compilation or type unit. */
struct unit {
	Dwarf_Off die;		/* of its root entry */
	Dwarf_Bool is_info;	/* else .debug_types */
};

struct lm_debuginfo {
	Dwarf_Debug dbg;
	struct lm_arena arena;
	const char *path;
	struct lm_elf_facts facts;
	struct unit *units;
	size_t nr_units, cap_units;
	const char *dwo;	/* file that the first skeleton unit refers to, or NULL */
};

/* A number in an attribute; present is false where there is no attribute. */
struct value {
	bool present;
	int64_t number;
};

/* An error about the entry at an offset, with libdwarf's words if e is one; e is freed. */
static struct lm_err *bad(struct lm_debuginfo *bin, const char *what, Dwarf_Off at, Dwarf_Error e)
{
	struct lm_err *err = lm_err_new(LM_ERR_INPUT, "%s: its debug info contradicts itself at <0x%llx>: %s%s%s; "
					"build it again with -g", bin->path, (unsigned long long)at, what,
					e ? ": " : "", e ? dwarf_errmsg(e) : "");

	if (e)
		dwarf_dealloc_error(bin->dbg, e);
	return err;
}

/* NULL is fine. */
static void drop(Dwarf_Die die)
{
	if (die)
		dwarf_dealloc_die(die);
}

static Dwarf_Off offset_of(Dwarf_Die die)
{
	Dwarf_Off at = 0;
	Dwarf_Error e = NULL;

	return dwarf_dieoffset(die, &at, &e) == DW_DLV_OK ? at : 0;
}

static Dwarf_Half tag_of(Dwarf_Die die)
{
	Dwarf_Half tag = 0;
	Dwarf_Error e = NULL;

	return dwarf_tag(die, &tag, &e) == DW_DLV_OK ? tag : 0;
}

/* A string attribute, borrowed from dbg; NULL if absent. */
static struct lm_err *text_of(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr, const char **ret)
{
	Dwarf_Error e = NULL;
	char *text = NULL;
	int rc = dwarf_die_text(die, attr, &text, &e);

	if (rc == DW_DLV_ERROR)
		return bad(bin, "a name cannot be read", offset_of(die), e);
	*ret = rc == DW_DLV_OK ? text : NULL;
	return NULL;
}

/* The same, copied into the arena; "" if absent. */
static struct lm_err *copy_of(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr, const char **ret)
{
	const char *text = NULL;
	struct lm_err *err = text_of(bin, die, attr, &text);

	if (!err)
		*ret = text ? lm_arena_strdup(&bin->arena, text) : "";
	return err;
}

/* False also where the entry cannot be read: whatever is asked of it next says so. */
static bool has(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr)
{
	Dwarf_Bool answer = 0;
	Dwarf_Error e = NULL;
	int rc = dwarf_hasattr(die, attr, &answer, &e);

	if (e)
		dwarf_dealloc_error(bin->dbg, e);
	return rc == DW_DLV_OK && answer;
}

/* The one expression that DWARF 2 uses for member offsets: DW_OP_plus_uconst N. */
static bool plus_uconst(const uint8_t *op, Dwarf_Unsigned len, int64_t *ret)
{
	uint64_t value = 0;

	if (len < 2 || (op[0] != DW_OP_plus_uconst && op[0] != DW_OP_constu))
		return false;
	for (Dwarf_Unsigned i = 1; i < len && i < 10; i++) {
		value |= (uint64_t)(op[i] & 0x7f) << (7 * (i - 1));
		if (op[i] & 0x80)
			continue;
		*ret = (int64_t)value;
		return i + 1 == len && *ret >= 0;
	}
	return false;
}

static bool number_of_expression(struct lm_debuginfo *bin, Dwarf_Attribute a, Dwarf_Half form, int64_t *ret)
{
	Dwarf_Unsigned len = 0;
	Dwarf_Ptr op = NULL;
	Dwarf_Block *block = NULL;
	Dwarf_Error e = NULL;
	bool ok = false;

	if (form == DW_FORM_exprloc) {
		ok = dwarf_formexprloc(a, &len, &op, &e) == DW_DLV_OK && plus_uconst(op, len, ret);
	} else if (dwarf_formblock(a, &block, &e) == DW_DLV_OK) {
		ok = plus_uconst(block->bl_data, block->bl_len, ret);
		dwarf_dealloc(bin->dbg, block, DW_DLA_BLOCK);
	}
	if (e)
		dwarf_dealloc_error(bin->dbg, e);
	return ok;
}

static bool number_of_constant(struct lm_debuginfo *bin, Dwarf_Attribute a, Dwarf_Half form, int64_t *ret)
{
	Dwarf_Signed s = 0;
	Dwarf_Unsigned u = 0;
	Dwarf_Error e = NULL;
	/* data1 .. data8 have no sign of their own: formsdata would invent one. */
	bool is_signed = form == DW_FORM_sdata || form == DW_FORM_implicit_const;
	int rc = is_signed ? dwarf_formsdata(a, &s, &e) : dwarf_formudata(a, &u, &e);

	if (e)
		dwarf_dealloc_error(bin->dbg, e);
	*ret = is_signed ? s : (int64_t)u;
	return rc == DW_DLV_OK;
}

static struct lm_err *value_of(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr, struct value *ret)
{
	Dwarf_Attribute a = NULL;
	Dwarf_Error e = NULL;
	Dwarf_Half form = 0;
	int rc = dwarf_attr(die, attr, &a, &e);
	bool ok = false;

	*ret = (struct value){ 0 };
	if (rc == DW_DLV_NO_ENTRY)
		return NULL;
	if (rc == DW_DLV_ERROR)
		return bad(bin, "an attribute cannot be read", offset_of(die), e);
	if (dwarf_whatform(a, &form, &e) != DW_DLV_OK)
		form = 0;
	if (form == DW_FORM_exprloc || form == DW_FORM_block1 || form == DW_FORM_block2 ||
	    form == DW_FORM_block4 || form == DW_FORM_block)
		ok = number_of_expression(bin, a, form, &ret->number);
	else if (form)
		ok = number_of_constant(bin, a, form, &ret->number);
	dwarf_dealloc_attribute(a);
	if (!ok)
		return bad(bin, "a number is none", offset_of(die), e);
	ret->present = true;
	return NULL;
}

/*
 * The entry that attr refers to; *ret is NULL if there is no such attribute, or
 * if it names a type by signature (type units) that this file does not have.
 */
static struct lm_err *follow(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr, Dwarf_Die *ret)
{
	Dwarf_Bool is_info = dwarf_get_die_infotypes_flag(die);
	Dwarf_Attribute a = NULL;
	Dwarf_Error e = NULL;
	Dwarf_Half form = 0;
	Dwarf_Sig8 sig;
	Dwarf_Off to = 0;
	int rc = dwarf_attr(die, attr, &a, &e);

	*ret = NULL;
	if (rc == DW_DLV_NO_ENTRY)
		return NULL;
	if (rc == DW_DLV_OK)
		rc = dwarf_whatform(a, &form, &e);
	if (rc == DW_DLV_OK && form == DW_FORM_ref_sig8) {
		rc = dwarf_formsig8(a, &sig, &e);
		if (rc == DW_DLV_OK)
			rc = dwarf_find_die_given_sig8(bin->dbg, &sig, ret, &is_info, &e);
		if (rc == DW_DLV_NO_ENTRY)
			rc = DW_DLV_OK;
	} else if (rc == DW_DLV_OK) {
		rc = dwarf_global_formref(a, &to, &e);
		if (rc == DW_DLV_OK)
			rc = dwarf_offdie_b(bin->dbg, to, is_info, ret, &e);
	}
	if (a)
		dwarf_dealloc_attribute(a);
	return rc == DW_DLV_OK ? NULL : bad(bin, "a reference leads nowhere", offset_of(die), e);
}

/* *ret is NULL if there is none. */
static struct lm_err *first_child(struct lm_debuginfo *bin, Dwarf_Die of, Dwarf_Die *ret)
{
	Dwarf_Error e = NULL;

	*ret = NULL;
	return dwarf_child(of, ret, &e) == DW_DLV_ERROR ? bad(bin, "a child is none", offset_of(of), e) : NULL;
}

/* Frees *die and replaces it by its next sibling; NULL at the end and on failure. */
static struct lm_err *next_sibling(struct lm_debuginfo *bin, Dwarf_Die *die)
{
	Dwarf_Off at = offset_of(*die);
	Dwarf_Die next = NULL;
	Dwarf_Error e = NULL;
	int rc = dwarf_siblingof_b(bin->dbg, *die, dwarf_get_die_infotypes_flag(*die), &next, &e);

	dwarf_dealloc_die(*die);
	*die = NULL;
	if (rc == DW_DLV_ERROR)
		return bad(bin, "a sibling is none", at, e);
	if (rc == DW_DLV_OK && offset_of(next) <= at) {
		dwarf_dealloc_die(next);
		return bad(bin, "a sibling lies before its elder", at, NULL);
	}
	*die = rc == DW_DLV_OK ? next : NULL;
	return NULL;
}

static bool is_record(Dwarf_Half tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

/* Tags that only give another name or a qualifier to a type of the same size. */
static bool is_alias(Dwarf_Half tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

/* Elements of an array: the product of its dimensions, 0 where one is open. */
static struct lm_err *array_count(struct lm_debuginfo *bin, Dwarf_Die array, uint64_t *ret)
{
	Dwarf_Die dim;
	struct lm_err *err = first_child(bin, array, &dim);
	uint64_t product = 1;
	bool any = false;

	while (!err && dim) {
		if (tag_of(dim) == DW_TAG_subrange_type) {
			struct value count, upper = { 0 };
			uint64_t n;

			err = value_of(bin, dim, DW_AT_count, &count);
			if (!err && !count.present)
				err = value_of(bin, dim, DW_AT_upper_bound, &upper);
			/* Old gcc writes T name[0] as upper bound -1. */
			n = count.present ? (uint64_t)count.number : upper.present ? (uint64_t)upper.number + 1 : 0;
			if (!err && __builtin_mul_overflow(product, n, &product))
				err = bad(bin, "an array is larger than memory", offset_of(dim), NULL);
			any = true;
		}
		if (!err)
			err = next_sibling(bin, &dim);
	}
	drop(dim);
	*ret = any ? product : 0;
	return err;
}

/* Steps from *die to its type, multiplying *times by array counts; *die NULL: no type (void). */
static struct lm_err *step(struct lm_debuginfo *bin, Dwarf_Die *die, uint64_t *times)
{
	Dwarf_Die to = NULL;
	uint64_t count = 1;
	struct lm_err *err = NULL;

	if (tag_of(*die) == DW_TAG_array_type)
		err = array_count(bin, *die, &count);
	if (!err && __builtin_mul_overflow(*times, count, times))
		err = bad(bin, "an array is larger than memory", offset_of(*die), NULL);
	if (!err)
		err = follow(bin, *die, DW_AT_type, &to);
	dwarf_dealloc_die(*die);
	*die = to;
	return err;
}

/* Bytes of the type *die, which is freed. */
static struct lm_err *size_of(struct lm_debuginfo *bin, Dwarf_Die die, uint64_t *ret)
{
	uint64_t times = 1, size = 0;
	struct lm_err *err = NULL;

	for (int depth = 0; !err && die; depth++) {
		Dwarf_Half tag = tag_of(die), address = 0;
		struct value bytes;
		Dwarf_Error e = NULL;

		err = depth < MAX_CHAIN ? value_of(bin, die, DW_AT_byte_size, &bytes) :
					  bad(bin, "a type leads back to itself", offset_of(die), NULL);
		if (err)
			break;
		if (bytes.present || (tag != DW_TAG_array_type && !is_alias(tag))) {
			size = bytes.present ? (uint64_t)bytes.number : 0;
			/* clang leaves the size of pointers to the unit. */
			if (!bytes.present && tag == DW_TAG_pointer_type &&
			    dwarf_get_die_address_size(die, &address, &e) == DW_DLV_OK)
				size = address;
			break;
		}
		err = step(bin, &die, &times);
	}
	if (!err && __builtin_mul_overflow(size, times, ret))
		err = bad(bin, "a type is larger than memory", die ? offset_of(die) : 0, NULL);
	drop(die);
	return err;
}

/* Steps over typedefs and qualifiers to the record behind *die; *die NULL if it is none or only declared. */
static struct lm_err *to_record(struct lm_debuginfo *bin, Dwarf_Die *die)
{
	uint64_t times = 1;
	struct lm_err *err = NULL;

	for (int depth = 0; !err && *die && is_alias(tag_of(*die)); depth++)
		err = depth < MAX_CHAIN ? step(bin, die, &times) :
					  bad(bin, "a type leads back to itself", offset_of(*die), NULL);
	if (*die && (err || !is_record(tag_of(*die)) || has(bin, *die, DW_AT_declaration))) {
		dwarf_dealloc_die(*die);
		*die = NULL;
	}
	return err;
}

/* ---- members ---- */

static struct lm_err *type_size(struct lm_debuginfo *bin, Dwarf_Die member, uint64_t *ret)
{
	Dwarf_Die type = NULL;
	struct lm_err *err = follow(bin, member, DW_AT_type, &type);

	*ret = 0;
	return err || !type ? err : size_of(bin, type, ret);
}

/*
 * Where a member starts, in bits.  Three ways: bytes alone; bits from the
 * record's start (DWARF 4); or, of old, bytes of a storage unit and in it the
 * bits between the unit's most significant bit and the member's.
 */
static struct lm_err *place_member(struct lm_debuginfo *bin, Dwarf_Die die, struct lm_dbg_member *m)
{
	struct value at, bits, data_bit, bit, storage;
	const struct { Dwarf_Half attr; struct value *value; } parts[] = {
		{ DW_AT_data_member_location, &at }, { DW_AT_bit_size, &bits }, { DW_AT_byte_size, &storage },
		{ DW_AT_data_bit_offset, &data_bit }, { DW_AT_bit_offset, &bit },
	};
	int64_t from;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct lm_err *err = value_of(bin, die, parts[i].attr, parts[i].value);

		if (err)
			return err;
	}
	if (at.number < 0 || at.number > INT64_MAX / 16 || bits.number < 0 || bits.number > UINT16_MAX ||
	    bit.number > UINT16_MAX || bit.number < -UINT16_MAX || storage.number < 0 ||
	    storage.number > UINT16_MAX || m->size > INT64_MAX / 16)
		return bad(bin, "a member lies outside any memory", offset_of(die), NULL);
	from = 8 * at.number;
	if (data_bit.present)
		from = data_bit.number;
	else if (bit.present && bin->facts.big_endian)
		from += bit.number;
	else if (bit.present)
		from += 8 * (storage.present ? storage.number : (int64_t)m->size) - bit.number - bits.number;
	if (from < 0)
		return bad(bin, "a member lies before its record", offset_of(die), NULL);
	m->bit_offset = (uint64_t)from;
	m->bits = bits.present ? (uint32_t)bits.number : NO_BITS;
	return NULL;
}

/* The name of the first named member of the anonymous record that member is; "" if none. */
static struct lm_err *first_name(struct lm_debuginfo *bin, Dwarf_Die member, int depth, const char **ret)
{
	Dwarf_Die type = NULL, child = NULL;
	struct lm_err *err = follow(bin, member, DW_AT_type, &type);

	if (!err && type)
		err = to_record(bin, &type);
	if (!err && type)
		err = first_child(bin, type, &child);
	if (!err && depth >= MAX_NESTED)
		err = bad(bin, "records are nested without end", offset_of(member), NULL);
	while (!err && child && !**ret) {
		if (tag_of(child) == DW_TAG_member) {
			err = copy_of(bin, child, DW_AT_name, ret);
			if (!err && !**ret)
				err = first_name(bin, child, depth + 1, ret);
		}
		if (!err)
			err = next_sibling(bin, &child);
	}
	drop(child);
	drop(type);
	return err;
}

static struct lm_err *read_member(struct lm_debuginfo *bin, Dwarf_Die die, struct lm_dbg_member *m)
{
	struct lm_err *err = copy_of(bin, die, DW_AT_name, &m->name);

	if (err)
		return err;
	m->key = m->name;
	err = type_size(bin, die, &m->size);
	if (!err)
		err = place_member(bin, die, m);
	if (!err && !*m->name && m->bits == NO_BITS)
		err = first_name(bin, die, 0, &m->key);
	return err;
}

/* Unnamed bit-fields are left out (gcc does not write them, clang does not always), and so are C++'s static members. */
static bool counts(struct lm_debuginfo *bin, Dwarf_Die die)
{
	return tag_of(die) == DW_TAG_member && !has(bin, die, DW_AT_external);
}

static struct lm_err *read_members(struct lm_debuginfo *bin, Dwarf_Die die, struct lm_dbg_record *rec)
{
	Dwarf_Die child;
	size_t nr = 0, cap = 0;
	struct lm_err *err = first_child(bin, die, &child);

	while (!err && child) {
		struct lm_dbg_member m = { .name = "" };

		if (counts(bin, child)) {
			err = nr < MAX_MEMBERS ? read_member(bin, child, &m) :
						 bad(bin, "a record has too many members", offset_of(die), NULL);
			if (!err && (*m.name || m.bits == NO_BITS))
				*LM_ARENA_PUSH(&bin->arena, rec->members, nr, cap) = m;
		}
		if (!err)
			err = next_sibling(bin, &child);
	}
	drop(child);
	rec->nr_members = (uint32_t)nr;
	return err;
}

static struct lm_err *read_record(struct lm_debuginfo *bin, Dwarf_Die root, Dwarf_Die die, const char *name,
				  const struct lm_dbg_record **ret)
{
	struct lm_dbg_record *rec = LM_ARENA_NEW(&bin->arena, struct lm_dbg_record);
	struct value size = { 0 };
	struct lm_err *err = copy_of(bin, root, DW_AT_producer, &rec->producer);

	if (!err)
		err = copy_of(bin, root, DW_AT_name, &rec->unit);
	if (!err)
		err = value_of(bin, die, DW_AT_byte_size, &size);
	if (!err)
		err = read_members(bin, die, rec);
	rec->name = lm_arena_strdup(&bin->arena, name);
	rec->size = (uint64_t)size.number;
	*ret = err ? NULL : rec;
	return err;
}

/* ---- the search ---- */

/* If die defines name, *found becomes the record (die itself or what the typedef stands for). */
static struct lm_err *match(struct lm_debuginfo *bin, Dwarf_Die die, const char *name, Dwarf_Die *found)
{
	Dwarf_Half tag = tag_of(die);
	const char *this = NULL;
	Dwarf_Error e = NULL;
	struct lm_err *err;

	if (!is_record(tag) && tag != DW_TAG_typedef)
		return NULL;
	err = text_of(bin, die, DW_AT_name, &this);
	if (err || !this || strcmp(this, name))
		return err;
	if (tag == DW_TAG_typedef) {
		err = follow(bin, die, DW_AT_type, found);
		return err || !*found ? err : to_record(bin, found);
	}
	if (has(bin, die, DW_AT_declaration))
		return NULL;
	/* A second handle, so that the walk and the record can each free theirs. */
	if (dwarf_offdie_b(bin->dbg, offset_of(die), dwarf_get_die_infotypes_flag(die), found, &e) != DW_DLV_OK)
		return bad(bin, "an entry cannot be read", offset_of(die), e);
	return NULL;
}

static struct lm_err *search_unit(struct lm_debuginfo *bin, const struct unit *unit, const char *name,
				  const struct lm_dbg_record **ret)
{
	Dwarf_Die root = NULL, die = NULL, found = NULL;
	Dwarf_Error e = NULL;
	struct lm_err *err;

	if (dwarf_offdie_b(bin->dbg, unit->die, unit->is_info, &root, &e) != DW_DLV_OK)
		return bad(bin, "a unit cannot be read", unit->die, e);
	err = first_child(bin, root, &die);
	while (!err && die && !found) {
		err = match(bin, die, name, &found);
		if (!err && !found)
			err = next_sibling(bin, &die);
	}
	if (!err && found)
		err = read_record(bin, root, found, name, ret);
	drop(found);
	drop(die);
	drop(root);
	return err;
}

struct lm_err *lm_debuginfo_record(struct lm_debuginfo *bin, const char *name, const struct lm_dbg_record **ret)
{
	const struct lm_dbg_record *rec = NULL;
	struct lm_err *err = NULL;

	for (size_t i = 0; i < bin->nr_units && !rec && !err; i++) {
		if (i % 64 == 0)
			lm_progress("reading debug info", i, bin->nr_units);
		err = search_unit(bin, &bin->units[i], name, &rec);
	}
	lm_progress("reading debug info", bin->nr_units, bin->nr_units);
	if (!err && !rec && bin->dwo)
		err = lm_err_new(LM_ERR_INPUT, "%s: has no %s, but split debug info (%s) may have it; link it with dwp, or "
				 "build without -gsplit-dwarf", bin->path, name, bin->dwo);
	if (!err)
		*ret = rec;
	return err;
}

/* ---- opening ---- */

/* A skeleton unit only says in which file the real one is. */
static struct lm_err *note_unit(struct lm_debuginfo *bin, Dwarf_Die root, Dwarf_Bool is_info)
{
	const char *dwo = NULL;
	struct lm_err *err = text_of(bin, root, DW_AT_dwo_name, &dwo);

	if (!err && !dwo)
		err = text_of(bin, root, DW_AT_GNU_dwo_name, &dwo);
	if (err)
		return err;
	if (dwo) {
		bin->dwo = bin->dwo ? bin->dwo : lm_arena_strdup(&bin->arena, dwo);
		return NULL;
	}
	*LM_ARENA_PUSH(&bin->arena, bin->units, bin->nr_units, bin->cap_units) =
		(struct unit){ offset_of(root), is_info };
	return NULL;
}

/* libdwarf hands out unit headers in one pass that cannot be left half-way: list them all, once. */
static struct lm_err *list_units(struct lm_debuginfo *bin, Dwarf_Bool is_info)
{
	Dwarf_Unsigned next = 0, last = 0, len, type_at;
	Dwarf_Half version, address, length, extension, kind;
	Dwarf_Off abbrev;
	Dwarf_Sig8 sig;
	Dwarf_Error e = NULL;

	for (;;) {
		Dwarf_Die root = NULL;
		struct lm_err *err;
		int rc = dwarf_next_cu_header_d(bin->dbg, is_info, &len, &version, &abbrev, &address, &length,
						&extension, &sig, &type_at, &next, &kind, &e);
		if (rc == DW_DLV_NO_ENTRY)
			return NULL;
		if (rc != DW_DLV_OK)
			return bad(bin, "a unit's header cannot be read", last, e);
		if (next <= last)
			return bad(bin, "a unit has no length", last, NULL);
		rc = dwarf_siblingof_b(bin->dbg, NULL, is_info, &root, &e);
		if (rc == DW_DLV_ERROR)
			return bad(bin, "a unit cannot be read", last, e);
		last = next;
		if (rc == DW_DLV_NO_ENTRY)
			continue;
		err = note_unit(bin, root, is_info);
		dwarf_dealloc_die(root);
		if (err)
			return err;
	}
}

static struct lm_err *open_dwarf(struct lm_debuginfo *bin)
{
	Dwarf_Error e = NULL;
	int rc = INIT(bin->path, &bin->dbg, &e);
	struct lm_err *err;

	if (rc != DW_DLV_OK) {
		err = lm_err_new(LM_ERR_INPUT, "%s: its debug info cannot be read: %s", bin->path,
				 e ? dwarf_errmsg(e) : "libdwarf finds none");
		if (e)
			dwarf_dealloc_error(bin->dbg, e);
		return err;
	}
	err = list_units(bin, 1);
	if (!err)
		err = list_units(bin, 0);
	if (err || bin->nr_units || !bin->dwo)
		return err;
	return lm_err_new(LM_ERR_INPUT, "%s: its debug info is split off (%s); build without -gsplit-dwarf", bin->path,
			  bin->dwo);
}

struct lm_err *lm_debuginfo_open(const char *path, struct lm_debuginfo **ret)
{
	struct lm_debuginfo *bin = calloc(1, sizeof(*bin));
	struct lm_err *err;

	if (!bin)
		lm_oom();
	bin->path = lm_arena_strdup(&bin->arena, path);
	err = lm_elf_facts_read(path, &bin->arena, &bin->facts);
	if (!err)
		err = lm_elf_facts_check(path, &bin->facts);
	if (!err)
		err = open_dwarf(bin);
	if (!err)
		*ret = bin;
	else
		lm_debuginfo_close(bin);
	return err;
}

void lm_debuginfo_close(struct lm_debuginfo *bin)
{
	Dwarf_Error e = NULL;

	if (!bin)
		return;
	if (bin->dbg)
		FINISH(bin->dbg, &e);
	lm_arena_release(&bin->arena);
	free(bin);
}

const char *lm_debuginfo_build_id(const struct lm_debuginfo *bin)
{
	return bin->facts.build_id;
}
