/*
 * debuginfo_code.c - functions and variables by address, unit by unit.
 *
 * A kernel has thousands of units and a profile touches a few dozen.  So the
 * index is only: which addresses belong to which unit.  The functions of a unit
 * are listed when one of them is asked for, its names when one is, a function's
 * variables when somebody looks into it.
 */
#include "profiles/debuginfo_private.h"

#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

static int by_from(const void *a, const void *b)
{
	const struct lm_span *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* The span that holds at, or NULL; spans may overlap a little (asm units): the one that starts last wins. */
static const struct lm_span *find_span(const struct lm_span *spans, size_t nr, uint64_t at)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (spans[mid].from <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t back = 0; lo-- > 0 && back < 16; back++)
		if (at < spans[lo].to)
			return &spans[lo];
	return NULL;
}

static void read_base(struct lm_debuginfo *bin, Dwarf_Die root, uint64_t *ret)
{
	Dwarf_Attribute a = NULL;
	Dwarf_Error e = NULL;
	Dwarf_Off at = 0;

	if (dwarf_attr(root, DW_AT_loclists_base, &a, &e) == DW_DLV_OK && dwarf_global_formref(a, &at, &e) == DW_DLV_OK)
		*ret = at;
	if (a)
		dwarf_dealloc_attribute(a);
	if (e)
		dwarf_dealloc_error(bin->dbg, e);
}

static struct lm_err *index_unit(struct lm_debuginfo *bin, uint32_t i)
{
	struct lm_range *ranges = NULL;
	size_t nr = 0, cap = 0;
	Dwarf_Die root = NULL;
	Dwarf_Addr low = 0;
	Dwarf_Error e = NULL;
	struct lm_err *err;

	if (!bin->units[i].is_info)
		return NULL;
	err = lm_die_at(bin, bin->units[i].die, &root);
	if (err)
		return err;
	if (dwarf_lowpc(root, &low, &e) == DW_DLV_OK)
		bin->names[i].low = low;
	/* Where there is none, the lists of the only table stand behind its header. */
	bin->names[i].lists_base = 12;
	if (lm_die_has(bin, root, DW_AT_loclists_base))
		read_base(bin, root, &bin->names[i].lists_base);
	if (e)
		dwarf_dealloc_error(bin->dbg, e);
	err = lm_die_ranges(bin, root, low, &ranges, &nr, &cap);
	for (size_t k = 0; !err && k < nr; k++)
		*LM_ARENA_PUSH(&bin->arena, bin->unit_spans, bin->nr_unit_spans, bin->cap_unit_spans) =
			(struct lm_span){ ranges[k].from, ranges[k].to, i };
	lm_die_drop(root);
	return err;
}

struct lm_err *lm_debuginfo_index(struct lm_debuginfo *bin)
{
	struct lm_err *err = NULL;

	if (bin->indexed)
		return NULL;
	bin->names = LM_ARENA_ARRAY(&bin->arena, struct lm_unit_names, bin->nr_units + 1);
	bin->nr_unit_spans = 0;
	for (size_t i = 0; i < bin->nr_units && !err; i++) {
		if (i % 64 == 0)
			lm_progress("indexing debug info", i, bin->nr_units);
		err = index_unit(bin, (uint32_t)i);
	}
	lm_progress("indexing debug info", bin->nr_units, bin->nr_units);
	if (err)
		return err;
	if (bin->nr_unit_spans)
		qsort(bin->unit_spans, bin->nr_unit_spans, sizeof(*bin->unit_spans), by_from);
	bin->indexed = true;
	return NULL;
}

void lm_code_release(struct lm_debuginfo *bin)
{
	for (size_t i = 0; bin->names && i < bin->nr_units; i++)
		lm_strings_free(bin->names[i].names);
	lm_strings_free(bin->by_offset);
	lm_strings_free(bin->by_origin);
}

/* ---- the names of a unit ---- */

/* Definitions win over declarations, else the first counts. */
static void note_name(struct lm_debuginfo *bin, struct lm_unit_names *n, char kind, const char *name, Dwarf_Off at)
{
	char key[256];
	size_t len = strlen(name);
	uint32_t id;

	if (len > sizeof(key) - 2)
		return;
	key[0] = kind;
	memcpy(key + 1, name, len);
	id = lm_strings_add(n->names, key, len + 1);
	if (id == n->nr)
		*LM_ARENA_PUSH(&bin->arena, n->offsets, n->nr, n->cap) = at;
}

static struct lm_err *note_function(struct lm_debuginfo *bin, uint32_t unit, Dwarf_Die die)
{
	struct lm_unit_names *n = &bin->names[unit];
	struct lm_range *ranges = NULL;
	size_t nr = 0, cap = 0;
	struct lm_err *err;

	if (!lm_die_has(bin, die, DW_AT_low_pc) && !lm_die_has(bin, die, DW_AT_ranges))
		return NULL;
	err = lm_die_ranges(bin, die, n->low, &ranges, &nr, &cap);
	if (err || !nr)
		return err;
	*LM_ARENA_PUSH(&bin->arena, bin->codes, bin->nr_codes, bin->cap_codes) =
		(struct lm_code){ lm_die_offset(die), unit, NULL, false };
	for (size_t i = 0; i < nr; i++)
		*LM_ARENA_PUSH(&bin->arena, n->spans, n->nr_spans, n->cap_spans) =
			(struct lm_span){ ranges[i].from, ranges[i].to, (uint32_t)(bin->nr_codes - 1) };
	return NULL;
}

static struct lm_err *note_variable(struct lm_debuginfo *bin, struct lm_unit_names *n, Dwarf_Die die, bool local)
{
	struct lm_location *places = NULL;
	size_t nr = 0, cap = 0;
	const char *name = NULL;
	Dwarf_Die of = NULL;
	Dwarf_Off at = lm_die_offset(die);
	struct lm_err *err = lm_die_text(bin, die, DW_AT_name, &name);

	if (!err && !name) {
		err = lm_die_follow(bin, die, DW_AT_specification, &of);
		if (!err && of) {
			at = lm_die_offset(of);
			err = lm_die_text(bin, of, DW_AT_name, &name);
		}
	}
	if (!err && name && !local)
		note_name(bin, n, 'v', name, at);
	if (!err)
		err = lm_die_places(bin, die, DW_AT_location, n, (struct lm_range){ 0, UINT64_MAX }, &places, &nr,
				    &cap);
	if (!err && nr == 1 && places[0].kind == LM_AT_ADDRESS)
		*LM_ARENA_PUSH(&bin->arena, n->globals, n->nr_globals, n->cap_globals) =
			(struct lm_global){ (uint64_t)places[0].offset, at };
	lm_die_drop(of);
	return err;
}

static struct lm_err *note_entry(struct lm_debuginfo *bin, uint32_t unit, Dwarf_Die die)
{
	struct lm_unit_names *n = &bin->names[unit];
	Dwarf_Half tag = lm_die_tag(die);
	const char *name = NULL;
	struct lm_err *err;

	if (tag == DW_TAG_variable)
		return note_variable(bin, n, die, false);
	if (!lm_tag_is_record(tag) && tag != DW_TAG_typedef)
		return NULL;
	err = lm_die_text(bin, die, DW_AT_name, &name);
	if (!err && name && (tag == DW_TAG_typedef || !lm_die_has(bin, die, DW_AT_declaration)))
		note_name(bin, n, tag == DW_TAG_typedef ? 't' : 's', name, lm_die_offset(die));
	return err;
}

/* Walks over the top level of a unit: over its functions, or over what has a name there. */
static struct lm_err *walk_unit(struct lm_debuginfo *bin, uint32_t unit, bool functions)
{
	Dwarf_Die root = NULL, die = NULL;
	struct lm_err *err = lm_die_at(bin, bin->units[unit].die, &root);

	if (!err)
		err = lm_die_child(bin, root, &die);
	while (!err && die) {
		if (lm_die_tag(die) != DW_TAG_subprogram)
			err = functions ? NULL : note_entry(bin, unit, die);
		else if (functions)
			err = note_function(bin, unit, die);
		if (!err)
			err = lm_die_next(bin, &die);
	}
	lm_die_drop(die);
	lm_die_drop(root);
	return err;
}

static struct lm_err *load_names(struct lm_debuginfo *bin, uint32_t unit)
{
	struct lm_unit_names *n = &bin->names[unit];

	if (n->has_names)
		return NULL;
	n->has_names = true;
	n->names = lm_strings_new();
	return walk_unit(bin, unit, false);
}

/* Of most units only who is called there is asked. */
static struct lm_err *load_spans(struct lm_debuginfo *bin, uint32_t unit)
{
	struct lm_unit_names *n = &bin->names[unit];
	struct lm_err *err;

	if (n->has_spans)
		return NULL;
	n->has_spans = true;
	err = walk_unit(bin, unit, true);
	if (!err && n->nr_spans)
		qsort(n->spans, n->nr_spans, sizeof(*n->spans), by_from);
	return err;
}

static bool lookup(const struct lm_unit_names *n, char kind, const char *name, size_t len, Dwarf_Off *ret)
{
	char key[256];
	uint32_t id;

	if (len > sizeof(key) - 2)
		return false;
	key[0] = kind;
	memcpy(key + 1, name, len);
	id = lm_strings_find(n->names, key, len + 1);
	if (id == LM_NO_STRING)
		return false;
	*ret = n->offsets[id];
	return true;
}

struct lm_err *lm_debuginfo_type_by_name(struct lm_debuginfo *bin, uint32_t unit, const char *name, uint32_t *ret)
{
	Dwarf_Off at;
	struct lm_err *err = lm_debuginfo_index(bin);

	*ret = LM_NO_TYPE;
	if (err || unit >= bin->nr_units)
		return err;
	err = load_names(bin, unit);
	if (err || (!lookup(&bin->names[unit], 's', name, strlen(name), &at) &&
		    !lookup(&bin->names[unit], 't', name, strlen(name), &at)))
		return err;
	return lm_type_of_entry(bin, at, ret);
}

/* ---- functions by address ---- */

/* The code at an address; NULL: none. */
static struct lm_err *code_at(struct lm_debuginfo *bin, uint64_t address, struct lm_code **ret)
{
	const struct lm_span *unit, *span;
	struct lm_err *err = lm_debuginfo_index(bin);

	*ret = NULL;
	if (err)
		return err;
	unit = find_span(bin->unit_spans, bin->nr_unit_spans, address);
	if (!unit)
		return NULL;
	err = load_spans(bin, unit->what);
	if (err)
		return err;
	span = find_span(bin->names[unit->what].spans, bin->names[unit->what].nr_spans, address);
	if (!span)
		return NULL;
	*ret = &bin->codes[span->what];
	return (*ret)->detail ? NULL : lm_function_read(bin, *ret);
}

struct lm_err *lm_debuginfo_callee(struct lm_debuginfo *bin, uint64_t address, const struct lm_function **ret)
{
	struct lm_code *code;
	struct lm_err *err = code_at(bin, address, &code);

	*ret = err || !code ? NULL : code->detail;
	return err;
}

struct lm_err *lm_debuginfo_function(struct lm_debuginfo *bin, uint64_t address, const struct lm_function **ret)
{
	struct lm_code *code;
	struct lm_err *err = code_at(bin, address, &code);

	*ret = NULL;
	if (!err && code && !code->scoped)
		err = lm_function_variables(bin, code);
	if (!err && code)
		*ret = code->detail;
	return err;
}

/* ---- units by name ---- */

static bool ends_with(const char *text, const char *end)
{
	size_t a = strlen(text), b = strlen(end);

	return a >= b && !strcmp(text + a - b, end) && (a == b || text[a - b - 1] == '/');
}

struct lm_err *lm_debuginfo_unit(struct lm_debuginfo *bin, const char *name, uint32_t *ret)
{
	struct lm_err *err = lm_debuginfo_index(bin);

	*ret = LM_NO_UNIT;
	for (size_t i = 0; i < bin->nr_units && !err && *ret == LM_NO_UNIT; i++) {
		Dwarf_Die root = NULL;
		const char *this = NULL;

		if (!bin->units[i].is_info)
			continue;
		err = lm_die_at(bin, bin->units[i].die, &root);
		if (!err)
			err = lm_die_text(bin, root, DW_AT_name, &this);
		if (!err && this && ends_with(this, name))
			*ret = (uint32_t)i;
		lm_die_drop(root);
	}
	return err;
}

struct lm_err *lm_debuginfo_unit_code(struct lm_debuginfo *bin, uint32_t unit, size_t n, uint64_t *ret, bool *found)
{
	struct lm_err *err = lm_debuginfo_index(bin);

	*found = false;
	if (!err && unit >= bin->nr_units)
		return NULL;
	if (!err)
		err = load_spans(bin, unit);
	if (err || n >= bin->names[unit].nr_spans)
		return err;
	*found = true;
	*ret = bin->names[unit].spans[n].from;
	return NULL;
}

/* ---- variables by address ---- */

/* Local statics are called NAME.123 by the linker: the number is no part of the name. */
static size_t plain_length(const char *symbol)
{
	const char *dot = strchr(symbol, '.');

	return dot && dot > symbol && dot[1] >= '0' && dot[1] <= '9' ? (size_t)(dot - symbol) : strlen(symbol);
}

struct lm_err *lm_debuginfo_global(struct lm_debuginfo *bin, uint32_t unit, uint64_t address, const char *symbol,
				   uint64_t symbol_at, uint32_t *type, uint64_t *start)
{
	const struct lm_unit_names *n;
	const struct lm_global *best = NULL;
	Dwarf_Die die = NULL;
	Dwarf_Off at = 0;
	struct lm_err *err = lm_debuginfo_index(bin);

	*type = LM_NO_TYPE;
	if (err || unit >= bin->nr_units)
		return err;
	err = load_names(bin, unit);
	if (err)
		return err;
	n = &bin->names[unit];
	for (size_t i = 0; i < n->nr_globals; i++)
		if (n->globals[i].addr <= address && (!best || n->globals[i].addr >= best->addr))
			best = &n->globals[i];
	/* The linker's symbol says where the variable starts; without it the nearest below must do. */
	if (best && (best->addr == symbol_at || !*symbol)) {
		at = best->die;
		*start = best->addr;
	} else if (*symbol && lookup(n, 'v', symbol, plain_length(symbol), &at)) {
		*start = symbol_at;
	} else {
		return NULL;
	}
	err = lm_die_at(bin, at, &die);
	if (!err)
		err = lm_type_of(bin, die, type);
	lm_die_drop(die);
	return err;
}

const char *lm_debuginfo_path(const struct lm_debuginfo *bin)
{
	return bin->path;
}
