/*
 * debuginfo_type.c - types as ids.
 *
 * An id is given to an entry when it is first met; what lies below is read
 * when the type is asked for.  A pointer's target is an id as well, so a list
 * of records that point to each other never loops.
 */
#include "profiles/debuginfo_private.h"

#include <string.h>

/* Pointers to functions, members and the like have no record behind them. */
static enum lm_type_kind kind_of(Dwarf_Half tag)
{
	switch (tag) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return LM_TYPE_POINTER;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return LM_TYPE_RECORD;
	case DW_TAG_union_type:
		return LM_TYPE_UNION;
	case DW_TAG_array_type:
		return LM_TYPE_ARRAY;
	case DW_TAG_subroutine_type:
		return LM_TYPE_FUNCTION;
	default:
		return LM_TYPE_SCALAR;
	}
}

static uint32_t new_type(struct lm_debuginfo *bin, struct lm_type type)
{
	uint32_t id = (uint32_t)bin->nr_types;

	*LM_ARENA_PUSH(&bin->arena, bin->types, bin->nr_types, bin->cap_types) = type;
	return id;
}

/* Steps over typedefs and qualifiers; *name becomes the last typedef's. */
static struct lm_err *underlying(struct lm_debuginfo *bin, Dwarf_Die *die, const char **name)
{
	struct lm_err *err = NULL;

	for (int depth = 0; !err && *die && lm_tag_is_alias(lm_die_tag(*die)); depth++) {
		Dwarf_Die to = NULL;
		const char *this = NULL;

		if (depth >= LM_MAX_CHAIN)
			return lm_die_bad(bin, "a type leads back to itself", lm_die_offset(*die), NULL);
		if (lm_die_tag(*die) == DW_TAG_typedef)
			err = lm_die_text(bin, *die, DW_AT_name, &this);
		if (!err)
			err = lm_die_follow(bin, *die, DW_AT_type, &to);
		if (err)
			return err;
		*name = this ? this : *name;
		dwarf_dealloc_die(*die);
		*die = to;
	}
	return err;
}

/* Dimensions of an array as arrays of arrays: the last one's id is made first. */
static struct lm_err *read_array(struct lm_debuginfo *bin, Dwarf_Die die, struct lm_type *t)
{
	uint64_t counts[LM_MAX_CHAIN], size = 0;
	size_t nr = 0;
	Dwarf_Die dim;
	struct lm_err *err = lm_die_child(bin, die, &dim);

	while (!err && dim) {
		struct lm_value count = { 0 }, upper = { 0 };

		if (lm_die_tag(dim) == DW_TAG_subrange_type && nr < LM_MAX_CHAIN) {
			bool plain = !lm_die_has(bin, dim, DW_AT_count);

			/* Of a variable length array the bound is an expression: as good as open. */
			struct lm_err *odd = lm_die_value(bin, dim, plain ? DW_AT_upper_bound : DW_AT_count,
							  plain ? &upper : &count);

			lm_err_free(odd);
			counts[nr++] = odd ? 0 : count.present ? (uint64_t)count.number :
						 upper.present ? (uint64_t)upper.number + 1 : 0;
		}
		err = lm_die_next(bin, &dim);
	}
	lm_die_drop(dim);
	if (!err)
		err = lm_type_of(bin, die, &t->target);
	if (!err)
		err = lm_member_size(bin, die, &size);
	for (size_t i = nr; !err && i-- > 1;) {
		struct lm_type inner = { .kind = LM_TYPE_ARRAY, .name = "", .target = t->target, .read = true };

		inner.count = counts[i];
		if (__builtin_mul_overflow(size, counts[i], &size))
			size = 0;
		inner.size = size;
		t->target = new_type(bin, inner);
	}
	t->count = nr ? counts[0] : 0;
	if (__builtin_mul_overflow(size, t->count, &t->size))
		t->size = 0;
	return err;
}

static struct lm_err *read_type(struct lm_debuginfo *bin, Dwarf_Die die, const char *alias, struct lm_type *t)
{
	Dwarf_Half tag = lm_die_tag(die);
	struct lm_value size = { 0 };
	const char *name = NULL;
	struct lm_err *err = lm_die_text(bin, die, DW_AT_name, &name);

	*t = (struct lm_type){ .kind = kind_of(tag), .target = LM_NO_TYPE, .entry = lm_die_offset(die) };
	if (!err)
		err = lm_die_value(bin, die, DW_AT_byte_size, &size);
	if (err)
		return err;
	t->name = lm_arena_strdup(&bin->arena, name ? name : alias ? alias : "");
	t->size = size.number > 0 ? (uint64_t)size.number : t->kind == LM_TYPE_POINTER ? 8 : 0;
	t->declared = lm_die_has(bin, die, DW_AT_declaration);
	if (t->kind == LM_TYPE_POINTER)
		return NULL;	/* its target is read when it is asked for */
	t->read = t->kind == LM_TYPE_SCALAR || t->kind == LM_TYPE_FUNCTION;
	return NULL;
}

struct lm_err *lm_type_of_entry(struct lm_debuginfo *bin, Dwarf_Off at, uint32_t *ret)
{
	Dwarf_Die die = NULL;
	Dwarf_Error e = NULL;
	const char *alias = NULL;
	struct lm_type t;
	struct lm_err *err;
	uint32_t slot, inner;

	if (!bin->by_offset)
		bin->by_offset = lm_strings_new();
	slot = lm_strings_add(bin->by_offset, (const char *)&at, sizeof(at));
	if (slot < bin->nr_type_of) {
		*ret = bin->type_of[slot];
		return NULL;
	}
	*LM_ARENA_PUSH(&bin->arena, bin->type_of, bin->nr_type_of, bin->cap_type_of) = LM_NO_TYPE;
	*ret = LM_NO_TYPE;
	if (dwarf_offdie_b(bin->dbg, at, 1, &die, &e) != DW_DLV_OK)
		return lm_die_bad(bin, "an entry cannot be read", at, e);
	err = underlying(bin, &die, &alias);
	if (!err && die && lm_die_offset(die) != at) {
		Dwarf_Off there = lm_die_offset(die);

		err = lm_type_of_entry(bin, there, &inner);
		/* struct { } that only typedefs name takes the first one's name. */
		if (!err && inner != LM_NO_TYPE && !*bin->types[inner].name && alias)
			bin->types[inner].name = lm_arena_strdup(&bin->arena, alias);
	} else if (!err && die) {
		err = read_type(bin, die, alias, &t);
		inner = err ? LM_NO_TYPE : new_type(bin, t);
	} else {
		inner = LM_NO_TYPE;
	}
	lm_die_drop(die);
	if (!err)
		*ret = bin->type_of[slot] = inner;
	return err;
}

struct lm_err *lm_type_of(struct lm_debuginfo *bin, Dwarf_Die die, uint32_t *ret)
{
	Dwarf_Die to = NULL;
	Dwarf_Off at;
	struct lm_err *err;

	*ret = LM_NO_TYPE;
	if (lm_die_refers(bin, die, DW_AT_type, &at))
		return lm_type_of_entry(bin, at, ret);
	err = lm_die_follow(bin, die, DW_AT_type, &to);
	if (!err && to)
		err = lm_type_of_entry(bin, lm_die_offset(to), ret);
	lm_die_drop(to);
	return err;
}

static struct lm_err *read_members(struct lm_debuginfo *bin, Dwarf_Die die, struct lm_type *t)
{
	struct lm_type_member *members = NULL;
	size_t nr = 0, cap = 0;
	Dwarf_Die child;
	struct lm_err *err = lm_die_child(bin, die, &child);

	while (!err && child) {
		struct lm_dbg_member m = { .name = "" };
		uint32_t type = LM_NO_TYPE;

		if (lm_member_counts(bin, child)) {
			err = lm_member_read(bin, child, &m);
			if (!err)
				err = lm_type_of(bin, child, &type);
			if (!err)
				*LM_ARENA_PUSH(&bin->arena, members, nr, cap) = (struct lm_type_member){
					.name = m.name, .type = type, .bits = m.bits, .offset = m.bit_offset / 8,
					.size = m.bits == LM_NO_BITS ? m.size : (m.bit_offset % 8 + m.bits + 7) / 8,
				};
		}
		if (!err)
			err = lm_die_next(bin, &child);
	}
	lm_die_drop(child);
	t->members = members;
	t->nr_members = (uint32_t)nr;
	return err;
}

struct lm_type lm_debuginfo_type_head(const struct lm_debuginfo *bin, uint32_t id)
{
	return bin->types[id];
}

struct lm_err *lm_debuginfo_type(struct lm_debuginfo *bin, uint32_t id, struct lm_type *ret)
{
	struct lm_type t = bin->types[id];
	Dwarf_Die die = NULL;
	Dwarf_Error e = NULL;
	struct lm_err *err = NULL;

	if (!t.read) {
		if (dwarf_offdie_b(bin->dbg, t.entry, 1, &die, &e) != DW_DLV_OK)
			return lm_die_bad(bin, "an entry cannot be read", t.entry, e);
		if (t.kind == LM_TYPE_POINTER)
			err = lm_type_of(bin, die, &t.target);
		else if (t.kind == LM_TYPE_ARRAY)
			err = read_array(bin, die, &t);
		else
			err = read_members(bin, die, &t);
		t.read = true;
		lm_die_drop(die);
		if (!err) {
			/* An alias may have given it a name in between. */
			t.name = bin->types[id].name;
			bin->types[id] = t;
		}
	}
	*ret = t;
	return err;
}

struct lm_err *lm_debuginfo_type_of_record(struct lm_debuginfo *bin, const struct lm_dbg_record *rec, uint32_t *ret)
{
	return lm_type_of_entry(bin, rec->entry, ret);
}
