/*
 * debuginfo_place.c - where code lies (ranges) and where variables live
 * (location expressions and lists), DWARF 4 and 5.
 *
 * Only expressions of one or two operations are told apart: a register, a
 * register and an offset, the frame, an address.  What is put together from
 * pieces or computed is left out: nothing is claimed of it.
 */
#include "profiles/debuginfo_private.h"

#include <string.h>

/* Debian 12 has 20210528; later releases gave the functions that free a systematic name. */
#ifdef LM_DWARF_NEW_INIT
#define RANGES(bin, at, die, out, nr, e) dwarf_get_ranges_b((bin)->dbg, at, die, NULL, out, nr, NULL, e)
#define FREE_RANGES(bin, r, nr) dwarf_dealloc_ranges((bin)->dbg, r, nr)
#define FREE_HEAD(h) dwarf_dealloc_loc_head_c(h)
#else
#define RANGES(bin, at, die, out, nr, e) dwarf_get_ranges_b((bin)->dbg, at, die, NULL, out, nr, NULL, e)
#define FREE_RANGES(bin, r, nr) dwarf_ranges_dealloc((bin)->dbg, r, nr)
#define FREE_HEAD(h) dwarf_loc_head_c_dealloc(h)
#endif

struct ranges {
	struct lm_debuginfo *bin;
	struct lm_range **out;
	size_t *nr, *cap;
};

static void add_range(struct ranges *r, uint64_t from, uint64_t to)
{
	/* The linker leaves 0 or 1 where it threw the code away. */
	if (from > 1 && from < to)
		*LM_ARENA_PUSH(&r->bin->arena, *r->out, *r->nr, *r->cap) = (struct lm_range){ from, to };
}

/* DWARF 5: .debug_rnglists, the entries already worked out by libdwarf. */
static struct lm_err *new_ranges(struct ranges *r, Dwarf_Die die, Dwarf_Attribute a, Dwarf_Half form, uint64_t at)
{
	Dwarf_Rnglists_Head head = NULL;
	Dwarf_Unsigned nr = 0, where = 0;
	Dwarf_Error e = NULL;

	if (dwarf_rnglists_get_rle_head(a, form, at, &head, &nr, &where, &e) != DW_DLV_OK)
		return lm_die_bad(r->bin, "a range list cannot be read", lm_die_offset(die), e);
	for (Dwarf_Unsigned i = 0; i < nr; i++) {
		unsigned len, kind;
		Dwarf_Unsigned raw1, raw2, from, to;
		Dwarf_Bool lost;

		if (dwarf_get_rnglists_entry_fields_a(head, i, &len, &kind, &raw1, &raw2, &lost, &from, &to, &e) !=
		    DW_DLV_OK) {
			dwarf_dealloc_rnglists_head(head);
			return lm_die_bad(r->bin, "a range cannot be read", lm_die_offset(die), e);
		}
		if (kind != DW_RLE_end_of_list && kind != DW_RLE_base_address && kind != DW_RLE_base_addressx && !lost)
			add_range(r, from, to);
	}
	dwarf_dealloc_rnglists_head(head);
	return NULL;
}

/* DWARF 3 and 4: .debug_ranges, relative to base until an entry changes it. */
static struct lm_err *old_ranges(struct ranges *r, Dwarf_Die die, uint64_t at, uint64_t base)
{
	Dwarf_Ranges *list = NULL;
	Dwarf_Signed nr = 0;
	Dwarf_Error e = NULL;
	int rc = RANGES(r->bin, at, die, &list, &nr, &e);

	if (rc == DW_DLV_ERROR)
		return lm_die_bad(r->bin, "a range list cannot be read", lm_die_offset(die), e);
	for (Dwarf_Signed i = 0; rc == DW_DLV_OK && i < nr; i++) {
		if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
			base = list[i].dwr_addr2;
		else if (list[i].dwr_type == DW_RANGES_ENTRY)
			add_range(r, base + list[i].dwr_addr1, base + list[i].dwr_addr2);
	}
	if (rc == DW_DLV_OK)
		FREE_RANGES(r->bin, list, nr);
	return NULL;
}

static struct lm_err *low_and_high(struct ranges *r, Dwarf_Die die)
{
	Dwarf_Addr low = 0, high = 0;
	Dwarf_Half form = 0;
	enum Dwarf_Form_Class class = DW_FORM_CLASS_UNKNOWN;
	Dwarf_Error e = NULL;

	if (dwarf_lowpc(die, &low, &e) == DW_DLV_OK && dwarf_highpc_b(die, &high, &form, &class, &e) == DW_DLV_OK)
		add_range(r, low, class == DW_FORM_CLASS_CONSTANT ? low + high : high);
	if (e)
		return lm_die_bad(r->bin, "an address cannot be read", lm_die_offset(die), e);
	return NULL;
}

struct lm_err *lm_die_ranges(struct lm_debuginfo *bin, Dwarf_Die die, uint64_t base, struct lm_range **out,
			     size_t *nr, size_t *cap)
{
	struct ranges r = { bin, out, nr, cap };
	Dwarf_Attribute a = NULL;
	Dwarf_Half form = 0, version = 4, length = 0;
	Dwarf_Error e = NULL;
	Dwarf_Off at = 0;
	Dwarf_Unsigned number = 0;
	struct lm_err *err;
	int rc = dwarf_attr(die, DW_AT_ranges, &a, &e);

	if (rc == DW_DLV_NO_ENTRY)
		return low_and_high(&r, die);
	if (rc == DW_DLV_OK)
		rc = dwarf_whatform(a, &form, &e);
	if (rc == DW_DLV_OK && form == DW_FORM_rnglistx)
		rc = dwarf_formudata(a, &number, &e);
	else if (rc == DW_DLV_OK)
		rc = form == DW_FORM_sec_offset ? dwarf_global_formref(a, &at, &e) : dwarf_formudata(a, &number, &e);
	dwarf_get_version_of_die(die, &version, &length);
	if (rc != DW_DLV_OK)
		err = lm_die_bad(bin, "a range list cannot be read", lm_die_offset(die), e);
	else if (version >= 5)
		err = new_ranges(&r, die, a, form, form == DW_FORM_rnglistx ? number : at);
	else
		err = old_ranges(&r, die, form == DW_FORM_sec_offset ? at : number, base);
	if (a)
		dwarf_dealloc_attribute(a);
	return err;
}

/* ---- places ---- */

struct op {
	Dwarf_Small code;
	Dwarf_Unsigned a, b;
};

static bool get_op(Dwarf_Locdesc_c at, Dwarf_Unsigned i, struct op *op)
{
	Dwarf_Unsigned c, branch;
	Dwarf_Error e = NULL;

	return dwarf_get_location_op_value_c(at, i, &op->code, &op->a, &op->b, &c, &branch, &e) == DW_DLV_OK;
}

/* What an expression says; false: nothing that is told apart here. */
static bool place_of(const struct op *ops, Dwarf_Unsigned nr, struct lm_location *p)
{
	bool value = nr >= 2 && ops[nr - 1].code == DW_OP_stack_value;
	struct op first = ops[0];

	if (nr > 3 || (nr == 2 && !value) || (nr == 3 && (!value || ops[1].code != DW_OP_plus_uconst)))
		return false;
	p->offset = nr == 3 ? (int64_t)ops[1].a : 0;
	if (first.code >= DW_OP_reg0 && first.code <= DW_OP_reg31 && nr == 1) {
		p->kind = LM_AT_REGISTER;
		p->reg = (uint8_t)(first.code - DW_OP_reg0);
	} else if (first.code == DW_OP_regx && nr == 1 && first.a < 0xff) {
		p->kind = LM_AT_REGISTER;
		p->reg = (uint8_t)first.a;
	} else if (first.code >= DW_OP_breg0 && first.code <= DW_OP_breg31) {
		p->kind = value ? LM_AT_VALUE : LM_AT_MEMORY;
		p->reg = (uint8_t)(first.code - DW_OP_breg0);
		p->offset += (int64_t)first.a;
	} else if (first.code == DW_OP_fbreg && nr == 1) {
		p->kind = LM_AT_FRAME;
		p->offset = (int64_t)first.a;
	} else if (first.code == DW_OP_addr && nr == 1) {
		p->kind = LM_AT_ADDRESS;
		p->offset = (int64_t)first.a;
	} else if (first.code == DW_OP_call_frame_cfa && nr == 1) {
		p->kind = LM_AT_VALUE;
		p->reg = 0xff;
	} else {
		return false;
	}
	return true;
}

/* clang's DWARF 5 keeps addresses in a table of their own. */
static bool look_up(Dwarf_Die die, struct op *op)
{
	Dwarf_Addr addr = 0;
	Dwarf_Error e = NULL;

	if (op->code != DW_OP_addrx && op->code != DW_OP_GNU_addr_index)
		return true;
	if (dwarf_debug_addr_index_to_addr(die, op->a, &addr, &e) != DW_DLV_OK)
		return false;
	*op = (struct op){ .code = DW_OP_addr, .a = addr };
	return true;
}

static bool one_place(Dwarf_Die die, Dwarf_Locdesc_c entry, Dwarf_Unsigned nr, struct lm_location *p)
{
	struct op ops[3];

	if (!nr || nr > 3)
		return false;
	for (Dwarf_Unsigned i = 0; i < nr; i++)
		if (!get_op(entry, i, &ops[i]) || !look_up(die, &ops[i]))
			return false;
	return place_of(ops, nr, p);
}

struct lm_err *lm_die_places(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr, struct lm_range scope,
			     struct lm_location **out, size_t *nr, size_t *cap)
{
	Dwarf_Attribute a = NULL;
	Dwarf_Error e = NULL;
	Dwarf_Loc_Head_c head = NULL;
	Dwarf_Unsigned count = 0;
	int rc = dwarf_attr(die, attr, &a, &e);

	if (rc == DW_DLV_OK)
		rc = dwarf_get_loclist_c(a, &head, &count, &e);
	for (Dwarf_Unsigned i = 0; rc == DW_DLV_OK && i < count; i++) {
		Dwarf_Small kind, source;
		Dwarf_Unsigned raw1, raw2, ops, at1, at2;
		Dwarf_Addr from, to;
		Dwarf_Bool lost;
		Dwarf_Locdesc_c entry;
		struct lm_location p = { 0 };

		rc = dwarf_get_locdesc_entry_d(head, i, &kind, &raw1, &raw2, &lost, &from, &to, &ops, &entry, &source,
					       &at1, &at2, &e);
		if (rc != DW_DLV_OK || !one_place(die, entry, ops, &p))
			continue;
		p.from = source == 0 ? scope.from : from;
		p.to = source == 0 ? scope.to : to;
		if (p.from < p.to && !lost)
			*LM_ARENA_PUSH(&bin->arena, *out, *nr, *cap) = p;
	}
	if (head)
		FREE_HEAD(head);
	if (a)
		dwarf_dealloc_attribute(a);
	if (rc == DW_DLV_ERROR && e)
		dwarf_dealloc_error(bin->dbg, e);
	return NULL;
}
