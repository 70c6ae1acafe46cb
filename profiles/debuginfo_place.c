/*
 * debuginfo_place.c - where variables live: location expressions and lists of
 * DWARF 2 to 5.
 *
 * Only expressions of a few operations are told apart: a register, a register
 * and an offset, the frame, an address.  What is put together from pieces or
 * computed is left out: nothing is claimed of it.
 *
 * The lists are read here and not by libdwarf: 20210528 follows a list's offset
 * without a look at the section's end.
 */
#include "profiles/debuginfo_private.h"

#include <string.h>

/* gcc's own kind of list entry, which not every dwarf.h names. */
enum { MAX_ENTRIES = 1 << 16, MAX_OPS = 3, LLE_VIEW_PAIR = 9 };

/* Bytes to be read; bad is set where they end too early. */
struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static uint64_t fixed(struct cursor *c, unsigned bytes)
{
	uint64_t value = 0;

	if ((size_t)(c->end - c->at) < bytes) {
		c->bad = true;
		return 0;
	}
	for (unsigned i = bytes; i-- > 0;)
		value = value << 8 | c->at[i];
	c->at += bytes;
	return value;
}

static uint64_t leb(struct cursor *c, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)fixed(c, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && !c->bad);
	if (is_signed && shift < 64 && (byte & 0x40))
		value |= ~UINT64_C(0) << shift;
	return value;
}

/* ---- expressions ---- */

struct op {
	uint8_t code;
	uint64_t a;	/* offset, constant or address */
	uint64_t reg;	/* of regx, bregx */
};

/* The address in .debug_addr that clang's DWARF 5 refers to. */
static bool indexed(Dwarf_Die die, uint64_t index, uint64_t *ret)
{
	Dwarf_Addr addr = 0;
	Dwarf_Error e = NULL;
	bool ok = index < UINT32_MAX && dwarf_debug_addr_index_to_addr(die, index, &addr, &e) == DW_DLV_OK;

	*ret = addr;
	return ok;
}

/* One operation; false: one that is not told apart here. */
static bool next_op(Dwarf_Die die, struct cursor *c, struct op *op)
{
	uint8_t code = (uint8_t)fixed(c, 1);

	*op = (struct op){ .code = code };
	if (code >= DW_OP_reg0 && code <= DW_OP_reg31) {
		op->code = DW_OP_regx;
		op->reg = code - DW_OP_reg0;
	} else if (code >= DW_OP_breg0 && code <= DW_OP_breg31) {
		op->code = DW_OP_bregx;
		op->reg = code - DW_OP_breg0;
		op->a = leb(c, true);
	} else if (code == DW_OP_regx) {
		op->reg = leb(c, false);
	} else if (code == DW_OP_bregx) {
		op->reg = leb(c, false);
		op->a = leb(c, true);
	} else if (code == DW_OP_fbreg) {
		op->a = leb(c, true);
	} else if (code == DW_OP_plus_uconst) {
		op->a = leb(c, false);
	} else if (code == DW_OP_addr) {
		op->a = fixed(c, 8);
	} else if (code == DW_OP_addrx || code == DW_OP_GNU_addr_index) {
		op->code = DW_OP_addr;
		return indexed(die, leb(c, false), &op->a) && !c->bad;
	} else if (code != DW_OP_call_frame_cfa && code != DW_OP_stack_value) {
		return false;
	}
	return !c->bad;
}

/* What a few operations say; false: nothing that is told apart here. */
static bool place_of(const struct op *ops, unsigned nr, struct lm_location *p)
{
	bool value = nr >= 2 && ops[nr - 1].code == DW_OP_stack_value;
	struct op first = ops[0];

	if ((nr == 2 && !value) || (nr == 3 && (!value || ops[1].code != DW_OP_plus_uconst)))
		return false;
	p->offset = (int64_t)(first.a + (nr == 3 ? ops[1].a : 0));
	p->reg = first.reg < 0xff ? (uint8_t)first.reg : 0xfe;
	if (first.code == DW_OP_regx && nr == 1) {
		p->kind = LM_AT_REGISTER;
	} else if (first.code == DW_OP_bregx) {
		p->kind = value ? LM_AT_VALUE : LM_AT_MEMORY;
	} else if (first.code == DW_OP_fbreg && nr == 1) {
		p->kind = LM_AT_FRAME;
	} else if (first.code == DW_OP_addr && nr == 1) {
		p->kind = LM_AT_ADDRESS;
	} else if (first.code == DW_OP_call_frame_cfa && nr == 1) {
		p->kind = LM_AT_VALUE;
		p->reg = 0xff;
	} else {
		return false;
	}
	return true;
}

static bool expression(Dwarf_Die die, struct cursor c, struct lm_location *p)
{
	struct op ops[MAX_OPS];
	unsigned nr = 0;

	while (c.at < c.end) {
		if (nr == MAX_OPS || !next_op(die, &c, &ops[nr++]))
			return false;
	}
	return nr && place_of(ops, nr, p);
}

/* ---- lists ---- */

struct list {
	struct lm_debuginfo *bin;
	Dwarf_Die die;
	uint64_t base;		/* what offsets are counted from */
	struct lm_location **out;
	size_t *nr, *cap;
};

static void add(struct list *l, uint64_t from, uint64_t to, struct cursor expr)
{
	struct lm_location p = { 0 };

	if (from >= to || !expression(l->die, expr, &p))
		return;
	p.from = from;
	p.to = to;
	*LM_ARENA_PUSH(&l->bin->arena, *l->out, *l->nr, *l->cap) = p;
}

/* The next len bytes as a cursor of their own. */
static struct cursor part(struct cursor *c, uint64_t len)
{
	struct cursor inner = { c->at, c->at, false };

	if (len > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		return inner;
	}
	c->at += len;
	inner.end = c->at;
	return inner;
}

/* .debug_loc: pairs of offsets from base; an entry whose first is all ones sets base. */
static void old_list(struct list *l, struct cursor c)
{
	for (unsigned i = 0; i < MAX_ENTRIES && !c.bad; i++) {
		uint64_t from = fixed(&c, 8), to = fixed(&c, 8);

		if (c.bad || (!from && !to))
			return;
		if (from == UINT64_MAX) {
			l->base = to;
			continue;
		}
		add(l, l->base + from, l->base + to, part(&c, fixed(&c, 2)));
	}
}

/* One entry of .debug_loclists (DWARF 5, 7.7.3); false: the end. */
static bool new_entry(struct list *l, struct cursor *c)
{
	uint8_t kind = (uint8_t)fixed(c, 1);
	uint64_t from = 0, to = 0;
	bool known = true;

	switch (kind) {
	case DW_LLE_base_addressx:
		return indexed(l->die, leb(c, false), &l->base) && !c->bad;
	case DW_LLE_base_address:
		l->base = fixed(c, 8);
		return !c->bad;
	case LLE_VIEW_PAIR:
		leb(c, false);
		leb(c, false);
		return !c->bad;
	case DW_LLE_startx_endx:
		known = indexed(l->die, leb(c, false), &from);
		known = indexed(l->die, leb(c, false), &to) && known;
		break;
	case DW_LLE_startx_length:
		known = indexed(l->die, leb(c, false), &from);
		to = from + leb(c, false);
		break;
	case DW_LLE_offset_pair:
		from = l->base + leb(c, false);
		to = l->base + leb(c, false);
		break;
	case DW_LLE_default_location:
		known = false;
		break;
	case DW_LLE_start_end:
		from = fixed(c, 8);
		to = fixed(c, 8);
		break;
	case DW_LLE_start_length:
		from = fixed(c, 8);
		to = from + leb(c, false);
		break;
	default:
		return false;
	}

	struct cursor expr = part(c, leb(c, false));

	if (known && !c->bad)
		add(l, from, to, expr);
	return !c->bad;
}

static struct lm_err *section(struct lm_debuginfo *bin, struct lm_bytes *s, const char *name)
{
	struct lm_err *err = NULL;

	if (s->read)
		return NULL;
	s->read = true;
	if (!bin->sections)
		err = lm_sections_open(bin->file, &bin->sections);
	if (!err)
		s->data = lm_sections_get(bin->sections, name, &s->len);
	return err;
}

/* Where a list starts, from its number: a table of offsets from DW_AT_loclists_base on. */
static bool numbered(const struct lm_bytes *s, uint64_t base, uint64_t number, uint64_t *at)
{
	struct cursor c;

	if (base > s->len || number >= (s->len - base) / 4)
		return false;
	c = (struct cursor){ s->data + base + 4 * number, s->data + s->len, false };
	*at = base + fixed(&c, 4);
	return !c.bad;
}

static struct lm_err *read_list(struct list *l, Dwarf_Half form, uint64_t value, uint64_t lists_base)
{
	Dwarf_Half version = 4, length = 4;
	bool is_new;
	struct lm_bytes *s;
	struct lm_err *err;
	struct cursor c;

	dwarf_get_version_of_die(l->die, &version, &length);
	is_new = version >= 5;
	s = is_new ? &l->bin->new_lists : &l->bin->old_lists;
	err = section(l->bin, s, is_new ? ".debug_loclists" : ".debug_loc");
	if (err)
		return err;
	/* 64-bit DWARF has wider tables; no compiler writes it unless asked. */
	if (form == DW_FORM_loclistx && (length != 4 || !numbered(s, lists_base, value, &value)))
		return NULL;
	if (value >= s->len)
		return NULL;
	c = (struct cursor){ s->data + value, s->data + s->len, false };
	if (!is_new)
		old_list(l, c);
	for (unsigned i = 0; is_new && i < MAX_ENTRIES; i++)
		if (!new_entry(l, &c))
			break;
	return NULL;
}

/* The expression or the list that an attribute holds. */
static struct lm_err *read_places(struct list *l, Dwarf_Attribute a, const struct lm_unit_names *unit,
				  struct lm_range scope)
{
	Dwarf_Half form = 0;
	Dwarf_Error e = NULL;
	Dwarf_Unsigned len = 0, value = 0;
	Dwarf_Off at = 0;
	Dwarf_Ptr bytes = NULL;
	Dwarf_Block *block = NULL;
	int rc = dwarf_whatform(a, &form, &e);

	if (rc == DW_DLV_OK && form == DW_FORM_exprloc) {
		rc = dwarf_formexprloc(a, &len, &bytes, &e);
		if (rc == DW_DLV_OK && bytes)
			add(l, scope.from, scope.to, (struct cursor){ bytes, (const uint8_t *)bytes + len, false });
	} else if (rc == DW_DLV_OK && form == DW_FORM_sec_offset) {
		rc = dwarf_global_formref(a, &at, &e);
		value = at;
	} else if (rc == DW_DLV_OK && (form == DW_FORM_loclistx || form == DW_FORM_data4 || form == DW_FORM_data8)) {
		rc = dwarf_formudata(a, &value, &e);
	} else if (rc == DW_DLV_OK && dwarf_formblock(a, &block, &e) == DW_DLV_OK) {
		add(l, scope.from, scope.to,
		    (struct cursor){ block->bl_data, (const uint8_t *)block->bl_data + block->bl_len, false });
		dwarf_dealloc(l->bin->dbg, block, DW_DLA_BLOCK);
		return NULL;
	}
	if (e)
		dwarf_dealloc_error(l->bin->dbg, e);
	if (rc != DW_DLV_OK || form == DW_FORM_exprloc || (form != DW_FORM_sec_offset && form != DW_FORM_loclistx &&
							   form != DW_FORM_data4 && form != DW_FORM_data8))
		return NULL;
	return read_list(l, form, value, unit->lists_base);
}

struct lm_err *lm_die_places(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr,
			     const struct lm_unit_names *unit, struct lm_range scope, struct lm_location **out,
			     size_t *nr, size_t *cap)
{
	struct list l = { bin, die, unit->low, out, nr, cap };
	Dwarf_Attribute a = NULL;
	Dwarf_Error e = NULL;
	struct lm_err *err = NULL;

	if (dwarf_attr(die, attr, &a, &e) == DW_DLV_OK) {
		err = read_places(&l, a, unit, scope);
		dwarf_dealloc_attribute(a);
	} else if (e) {
		dwarf_dealloc_error(bin->dbg, e);
	}
	return err;
}
