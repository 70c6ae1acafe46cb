/*
 * debuginfo_die.c - one entry (DIE) of the debug info: its texts, numbers,
 * references, children.  Whatever cannot be read is an error with the entry's
 * offset; handles are freed by the one who got them.
 */
#include "profiles/debuginfo_private.h"

/* An error about the entry at an offset, with libdwarf's words if e is one; e is freed. */
struct lm_err *lm_die_bad(struct lm_debuginfo *bin, const char *what, Dwarf_Off at, Dwarf_Error e)
{
	struct lm_err *err = lm_err_new(LM_ERR_INPUT, "%s: its debug info contradicts itself at <0x%llx>: %s%s%s; "
					"build it again with -g", bin->path, (unsigned long long)at, what,
					e ? ": " : "", e ? dwarf_errmsg(e) : "");

	if (e)
		dwarf_dealloc_error(bin->dbg, e);
	return err;
}

/* NULL is fine. */
void lm_die_drop(Dwarf_Die die)
{
	if (die)
		dwarf_dealloc_die(die);
}

Dwarf_Off lm_die_offset(Dwarf_Die die)
{
	Dwarf_Off at = 0;
	Dwarf_Error e = NULL;

	return dwarf_dieoffset(die, &at, &e) == DW_DLV_OK ? at : 0;
}

Dwarf_Half lm_die_tag(Dwarf_Die die)
{
	Dwarf_Half tag = 0;
	Dwarf_Error e = NULL;

	return dwarf_tag(die, &tag, &e) == DW_DLV_OK ? tag : 0;
}

/* A string attribute, borrowed from dbg; NULL if absent. */
struct lm_err *lm_die_text(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr, const char **ret)
{
	Dwarf_Error e = NULL;
	char *text = NULL;
	int rc = dwarf_die_text(die, attr, &text, &e);

	if (rc == DW_DLV_ERROR)
		return lm_die_bad(bin, "a name cannot be read", lm_die_offset(die), e);
	*ret = rc == DW_DLV_OK ? text : NULL;
	return NULL;
}

/* The same, copied into the arena; "" if absent. */
struct lm_err *lm_die_copy(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr, const char **ret)
{
	const char *text = NULL;
	struct lm_err *err = lm_die_text(bin, die, attr, &text);

	if (!err)
		*ret = text ? lm_arena_strdup(&bin->arena, text) : "";
	return err;
}

/* False also where the entry cannot be read: whatever is asked of it next says so. */
bool lm_die_has(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr)
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

struct lm_err *lm_die_value(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr, struct lm_value *ret)
{
	Dwarf_Attribute a = NULL;
	Dwarf_Error e = NULL;
	Dwarf_Half form = 0;
	int rc = dwarf_attr(die, attr, &a, &e);
	bool ok = false;

	*ret = (struct lm_value){ 0 };
	if (rc == DW_DLV_NO_ENTRY)
		return NULL;
	if (rc == DW_DLV_ERROR)
		return lm_die_bad(bin, "an attribute cannot be read", lm_die_offset(die), e);
	if (dwarf_whatform(a, &form, &e) != DW_DLV_OK)
		form = 0;
	if (form == DW_FORM_exprloc || form == DW_FORM_block1 || form == DW_FORM_block2 ||
	    form == DW_FORM_block4 || form == DW_FORM_block)
		ok = number_of_expression(bin, a, form, &ret->number);
	else if (form)
		ok = number_of_constant(bin, a, form, &ret->number);
	dwarf_dealloc_attribute(a);
	if (!ok)
		return lm_die_bad(bin, "a number is none", lm_die_offset(die), e);
	ret->present = true;
	return NULL;
}

/*
 * The entry that attr refers to; *ret is NULL if there is no such attribute, or
 * if it names a type by signature (type units) that this file does not have.
 */
struct lm_err *lm_die_follow(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr, Dwarf_Die *ret)
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
	return rc == DW_DLV_OK ? NULL : lm_die_bad(bin, "a reference leads nowhere", lm_die_offset(die), e);
}

bool lm_die_refers(struct lm_debuginfo *bin, Dwarf_Die die, Dwarf_Half attr, Dwarf_Off *ret)
{
	Dwarf_Attribute a = NULL;
	Dwarf_Error e = NULL;
	Dwarf_Half form = 0;
	bool ok = dwarf_attr(die, attr, &a, &e) == DW_DLV_OK && dwarf_whatform(a, &form, &e) == DW_DLV_OK &&
		form != DW_FORM_ref_sig8 && dwarf_get_die_infotypes_flag(die) &&
		dwarf_global_formref(a, ret, &e) == DW_DLV_OK;

	if (a)
		dwarf_dealloc_attribute(a);
	if (e)
		dwarf_dealloc_error(bin->dbg, e);
	return ok;
}

struct lm_err *lm_die_at(struct lm_debuginfo *bin, Dwarf_Off at, Dwarf_Die *ret)
{
	Dwarf_Error e = NULL;

	return dwarf_offdie_b(bin->dbg, at, 1, ret, &e) == DW_DLV_OK ?
		NULL : lm_die_bad(bin, "an entry cannot be read", at, e);
}

/* *ret is NULL if there is none. */
struct lm_err *lm_die_child(struct lm_debuginfo *bin, Dwarf_Die of, Dwarf_Die *ret)
{
	Dwarf_Error e = NULL;

	*ret = NULL;
	if (dwarf_child(of, ret, &e) == DW_DLV_ERROR)
		return lm_die_bad(bin, "a child is none", lm_die_offset(of), e);
	return NULL;
}

/* Frees *die and replaces it by its next sibling; NULL at the end and on failure. */
struct lm_err *lm_die_next(struct lm_debuginfo *bin, Dwarf_Die *die)
{
	Dwarf_Off at = lm_die_offset(*die);
	Dwarf_Die next = NULL;
	Dwarf_Error e = NULL;
	int rc = dwarf_siblingof_b(bin->dbg, *die, dwarf_get_die_infotypes_flag(*die), &next, &e);

	dwarf_dealloc_die(*die);
	*die = NULL;
	if (rc == DW_DLV_ERROR)
		return lm_die_bad(bin, "a sibling is none", at, e);
	if (rc == DW_DLV_OK && lm_die_offset(next) <= at) {
		dwarf_dealloc_die(next);
		return lm_die_bad(bin, "a sibling lies before its elder", at, NULL);
	}
	*die = rc == DW_DLV_OK ? next : NULL;
	return NULL;
}

bool lm_tag_is_record(Dwarf_Half tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

/* Tags that only give another name or a qualifier to a type of the same size. */
bool lm_tag_is_alias(Dwarf_Half tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}
