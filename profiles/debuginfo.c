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

#include "base/parallel.h"
#include "profiles/debuginfo_private.h"
#include "profiles/elf_link.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Debian 12 has 20210528; releases since 0.1 dropped what was reserved. */
#ifdef LM_DWARF_NEW_INIT
#define INIT(path, dbg, e) dwarf_init_path(path, NULL, 0, DW_GROUPNUMBER_ANY, NULL, NULL, dbg, e)
#define FINISH(dbg, e) ((void)(e), dwarf_finish(dbg))
#else
#define INIT(path, dbg, e) \
	dwarf_init_path(path, NULL, 0, DW_DLC_READ, DW_GROUPNUMBER_ANY, NULL, NULL, dbg, NULL, 0, NULL, e)
#define FINISH(dbg, e) dwarf_finish(dbg, e)
#endif

#define NO_BITS LM_NO_BITS

enum {
	MAX_CHAIN = LM_MAX_CHAIN,
	MAX_NESTED = 32,	/* anonymous records inside each other */
	MAX_MEMBERS = 1 << 16,
};

/* Elements of an array: the product of its dimensions, 0 where one is open. */
static struct lm_err *array_count(struct lm_debuginfo *bin, Dwarf_Die array, uint64_t *ret)
{
	Dwarf_Die dim;
	struct lm_err *err = lm_die_child(bin, array, &dim);
	uint64_t product = 1;
	bool any = false;

	while (!err && dim) {
		if (lm_die_tag(dim) == DW_TAG_subrange_type) {
			struct lm_value count, upper = { 0 };
			uint64_t n;

			err = lm_die_value(bin, dim, DW_AT_count, &count);
			if (!err && !count.present)
				err = lm_die_value(bin, dim, DW_AT_upper_bound, &upper);
			/* Old gcc writes T name[0] as upper bound -1. */
			n = count.present ? (uint64_t)count.number : upper.present ? (uint64_t)upper.number + 1 : 0;
			if (!err && __builtin_mul_overflow(product, n, &product))
				err = lm_die_bad(bin, "an array is larger than memory", lm_die_offset(dim), NULL);
			any = true;
		}
		if (!err)
			err = lm_die_next(bin, &dim);
	}
	lm_die_drop(dim);
	*ret = any ? product : 0;
	return err;
}

/* Steps from *die to its type, multiplying *times by array counts; *die NULL: no type (void). */
static struct lm_err *step(struct lm_debuginfo *bin, Dwarf_Die *die, uint64_t *times)
{
	Dwarf_Die to = NULL;
	uint64_t count = 1;
	struct lm_err *err = NULL;

	if (lm_die_tag(*die) == DW_TAG_array_type)
		err = array_count(bin, *die, &count);
	if (!err && __builtin_mul_overflow(*times, count, times))
		err = lm_die_bad(bin, "an array is larger than memory", lm_die_offset(*die), NULL);
	if (!err)
		err = lm_die_follow(bin, *die, DW_AT_type, &to);
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
		Dwarf_Half tag = lm_die_tag(die), address = 0;
		struct lm_value bytes;
		Dwarf_Error e = NULL;

		err = depth < MAX_CHAIN ? lm_die_value(bin, die, DW_AT_byte_size, &bytes) :
					  lm_die_bad(bin, "a type leads back to itself", lm_die_offset(die), NULL);
		if (err)
			break;
		if (bytes.present || (tag != DW_TAG_array_type && !lm_tag_is_alias(tag))) {
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
		err = lm_die_bad(bin, "a type is larger than memory", die ? lm_die_offset(die) : 0, NULL);
	lm_die_drop(die);
	return err;
}

/* Steps over typedefs and qualifiers to the record behind *die; *die NULL if it is none or only declared. */
static struct lm_err *to_record(struct lm_debuginfo *bin, Dwarf_Die *die)
{
	uint64_t times = 1;
	struct lm_err *err = NULL;

	for (int depth = 0; !err && *die && lm_tag_is_alias(lm_die_tag(*die)); depth++)
		err = depth < MAX_CHAIN ? step(bin, die, &times) :
					  lm_die_bad(bin, "a type leads back to itself", lm_die_offset(*die), NULL);
	if (*die && (err || !lm_tag_is_record(lm_die_tag(*die)) || lm_die_has(bin, *die, DW_AT_declaration))) {
		dwarf_dealloc_die(*die);
		*die = NULL;
	}
	return err;
}

/* ---- members ---- */

struct lm_err *lm_member_size(struct lm_debuginfo *bin, Dwarf_Die member, uint64_t *ret)
{
	Dwarf_Die type = NULL;
	struct lm_err *err = lm_die_follow(bin, member, DW_AT_type, &type);

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
	struct lm_value at, bits, data_bit, bit, storage;
	const struct { Dwarf_Half attr; struct lm_value *value; } parts[] = {
		{ DW_AT_data_member_location, &at }, { DW_AT_bit_size, &bits }, { DW_AT_byte_size, &storage },
		{ DW_AT_data_bit_offset, &data_bit }, { DW_AT_bit_offset, &bit },
	};
	int64_t from;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct lm_err *err = lm_die_value(bin, die, parts[i].attr, parts[i].value);

		if (err)
			return err;
	}
	if (at.number < 0 || at.number > INT64_MAX / 16 || bits.number < 0 || bits.number > UINT16_MAX ||
	    bit.number > UINT16_MAX || bit.number < -UINT16_MAX || storage.number < 0 ||
	    storage.number > UINT16_MAX || m->size > INT64_MAX / 16)
		return lm_die_bad(bin, "a member lies outside any memory", lm_die_offset(die), NULL);
	from = 8 * at.number;
	if (data_bit.present)
		from = data_bit.number;
	else if (bit.present && bin->facts.big_endian)
		from += bit.number;
	else if (bit.present)
		from += 8 * (storage.present ? storage.number : (int64_t)m->size) - bit.number - bits.number;
	if (from < 0)
		return lm_die_bad(bin, "a member lies before its record", lm_die_offset(die), NULL);
	m->bit_offset = (uint64_t)from;
	m->bits = bits.present ? (uint32_t)bits.number : NO_BITS;
	return NULL;
}

/* The name of the first named member of the anonymous record that member is; "" if none. */
static struct lm_err *first_name(struct lm_debuginfo *bin, Dwarf_Die member, int depth, const char **ret)
{
	Dwarf_Die type = NULL, child = NULL;
	struct lm_err *err = lm_die_follow(bin, member, DW_AT_type, &type);

	if (!err && type)
		err = to_record(bin, &type);
	if (!err && type)
		err = lm_die_child(bin, type, &child);
	if (!err && depth >= MAX_NESTED)
		err = lm_die_bad(bin, "records are nested without end", lm_die_offset(member), NULL);
	while (!err && child && !**ret) {
		if (lm_die_tag(child) == DW_TAG_member) {
			err = lm_die_copy(bin, child, DW_AT_name, ret);
			if (!err && !**ret)
				err = first_name(bin, child, depth + 1, ret);
		}
		if (!err)
			err = lm_die_next(bin, &child);
	}
	lm_die_drop(child);
	lm_die_drop(type);
	return err;
}

struct lm_err *lm_member_read(struct lm_debuginfo *bin, Dwarf_Die die, struct lm_dbg_member *m)
{
	struct lm_err *err = lm_die_copy(bin, die, DW_AT_name, &m->name);

	if (err)
		return err;
	m->key = m->name;
	err = lm_member_size(bin, die, &m->size);
	if (!err)
		err = place_member(bin, die, m);
	if (!err && !*m->name && m->bits == NO_BITS)
		err = first_name(bin, die, 0, &m->key);
	return err;
}

/* Unnamed bit-fields are left out (gcc does not write them, clang does not always), and so are C++'s static members. */
bool lm_member_counts(struct lm_debuginfo *bin, Dwarf_Die die)
{
	return lm_die_tag(die) == DW_TAG_member && !lm_die_has(bin, die, DW_AT_external);
}

static struct lm_err *read_members(struct lm_debuginfo *bin, Dwarf_Die die, struct lm_dbg_record *rec)
{
	Dwarf_Die child;
	size_t nr = 0, cap = 0;
	struct lm_err *err = lm_die_child(bin, die, &child);

	while (!err && child) {
		struct lm_dbg_member m = { .name = "" };

		if (lm_member_counts(bin, child)) {
			err = nr < MAX_MEMBERS ?
				lm_member_read(bin, child, &m) :
				lm_die_bad(bin, "a record has too many members", lm_die_offset(die), NULL);
			if (!err && (*m.name || m.bits == NO_BITS))
				*LM_ARENA_PUSH(&bin->arena, rec->members, nr, cap) = m;
		}
		if (!err)
			err = lm_die_next(bin, &child);
	}
	lm_die_drop(child);
	rec->nr_members = (uint32_t)nr;
	return err;
}

static struct lm_err *read_record(struct lm_debuginfo *bin, Dwarf_Die root, Dwarf_Die die, const char *name,
				  const struct lm_dbg_record **ret)
{
	struct lm_dbg_record *rec = LM_ARENA_NEW(&bin->arena, struct lm_dbg_record);
	struct lm_value size = { 0 };
	struct lm_err *err = lm_die_copy(bin, root, DW_AT_producer, &rec->producer);

	if (!err)
		err = lm_die_copy(bin, root, DW_AT_name, &rec->unit);
	if (!err)
		err = lm_die_value(bin, die, DW_AT_byte_size, &size);
	if (!err)
		err = read_members(bin, die, rec);
	rec->name = lm_arena_strdup(&bin->arena, name);
	rec->size = (uint64_t)size.number;
	rec->entry = lm_die_offset(die);
	*ret = err ? NULL : rec;
	return err;
}

/* ---- the search ---- */

/* If die defines name, *found becomes the record (die itself or what the typedef stands for). */
static struct lm_err *match(struct lm_debuginfo *bin, Dwarf_Die die, const char *name, Dwarf_Die *found)
{
	Dwarf_Half tag = lm_die_tag(die);
	const char *this = NULL;
	Dwarf_Error e = NULL;
	struct lm_err *err;

	if (!lm_tag_is_record(tag) && tag != DW_TAG_typedef)
		return NULL;
	err = lm_die_text(bin, die, DW_AT_name, &this);
	if (err || !this || strcmp(this, name))
		return err;
	if (tag == DW_TAG_typedef) {
		err = lm_die_follow(bin, die, DW_AT_type, found);
		return err || !*found ? err : to_record(bin, found);
	}
	if (lm_die_has(bin, die, DW_AT_declaration))
		return NULL;
	/* A second handle, so that the walk and the record can each free theirs. */
	if (dwarf_offdie_b(bin->dbg, lm_die_offset(die), dwarf_get_die_infotypes_flag(die), found, &e) != DW_DLV_OK)
		return lm_die_bad(bin, "an entry cannot be read", lm_die_offset(die), e);
	return NULL;
}

static struct lm_err *search_unit(struct lm_debuginfo *bin, const struct lm_unit *unit, const char *name,
				  const struct lm_dbg_record **ret)
{
	Dwarf_Die root = NULL, die = NULL, found = NULL;
	Dwarf_Error e = NULL;
	struct lm_err *err;

	if (dwarf_offdie_b(bin->dbg, unit->die, unit->is_info, &root, &e) != DW_DLV_OK)
		return lm_die_bad(bin, "a unit cannot be read", unit->die, e);
	err = lm_die_child(bin, root, &die);
	while (!err && die && !found) {
		err = match(bin, die, name, &found);
		if (!err && !found)
			err = lm_die_next(bin, &die);
	}
	if (!err && found)
		err = read_record(bin, root, found, name, ret);
	lm_die_drop(found);
	lm_die_drop(die);
	lm_die_drop(root);
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
	struct lm_err *err = lm_die_text(bin, root, DW_AT_dwo_name, &dwo);

	if (!err && !dwo)
		err = lm_die_text(bin, root, DW_AT_GNU_dwo_name, &dwo);
	if (err)
		return err;
	if (dwo) {
		bin->dwo = bin->dwo ? bin->dwo : lm_arena_strdup(&bin->arena, dwo);
		return NULL;
	}
	*LM_ARENA_PUSH(&bin->arena, bin->units, bin->nr_units, bin->cap_units) =
		(struct lm_unit){ lm_die_offset(root), is_info };
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
			return lm_die_bad(bin, "a unit's header cannot be read", last, e);
		if (next <= last)
			return lm_die_bad(bin, "a unit has no length", last, NULL);
		rc = dwarf_siblingof_b(bin->dbg, NULL, is_info, &root, &e);
		if (rc == DW_DLV_ERROR)
			return lm_die_bad(bin, "a unit cannot be read", last, e);
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
	int rc = INIT(bin->file, &bin->dbg, &e);
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

/* What a damaged file's relocations made of it is looked at as closely as the file. */
static struct lm_err *link_object(struct lm_debuginfo *bin)
{
	struct lm_elf_facts facts;
	struct lm_err *err = lm_elf_link(bin->path, LM_LINK_ALL, &bin->linked);

	if (err || bin->linked < 0)
		return err;
	bin->file = lm_arena_printf(&bin->arena, "/proc/self/fd/%d", bin->linked);
	return lm_elf_facts_read(bin->path, bin->file, &bin->arena, &facts);
}

struct lm_err *lm_debuginfo_open(const char *path, struct lm_debuginfo **ret)
{
	struct lm_debuginfo *bin = calloc(1, sizeof(*bin));
	struct lm_err *err;

	if (!bin)
		lm_oom();
	bin->path = bin->file = lm_arena_strdup(&bin->arena, path);
	bin->linked = -1;
	err = lm_elf_facts_read(path, path, &bin->arena, &bin->facts);
	if (!err)
		err = lm_elf_facts_check(path, &bin->facts);
	if (!err)
		err = link_object(bin);
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
	lm_code_release(bin);
	if (bin->dbg)
		FINISH(bin->dbg, &e);
	lm_sections_close(bin->sections);
	if (bin->linked >= 0)
		close(bin->linked);
	lm_arena_release(&bin->arena);
	free(bin);
}

const char *lm_debuginfo_build_id(const struct lm_debuginfo *bin)
{
	return bin->facts.build_id;
}
