/*
 * debuginfo_range.c - where code lies: low and high address, and range lists of
 * DWARF 3 to 5.
 */
#include "profiles/debuginfo_private.h"

#include <string.h>

/* Debian 12 has 20210528; later releases gave the functions that free a systematic name. */
#ifdef LM_DWARF_NEW_INIT
#define RANGES(bin, at, die, out, nr, e) dwarf_get_ranges_b((bin)->dbg, at, die, NULL, out, nr, NULL, e)
#define FREE_RANGES(bin, r, nr) dwarf_dealloc_ranges((bin)->dbg, r, nr)
#else
#define RANGES(bin, at, die, out, nr, e) dwarf_get_ranges_b((bin)->dbg, at, die, NULL, out, nr, NULL, e)
#define FREE_RANGES(bin, r, nr) dwarf_ranges_dealloc((bin)->dbg, r, nr)
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
