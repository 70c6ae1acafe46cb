/*
 * debuginfo_function.c - one function: itself, and the variables in it and in
 * the calls that are inlined in it.
 */
#include "profiles/debuginfo_private.h"

enum { MAX_DEPTH = 64 };	/* scopes inside each other */

struct scope {
	struct lm_debuginfo *bin;
	struct lm_function *f;
	size_t cap;
	uint64_t base;
};

/* What an entry, or where that refers to, says of name and type. */
static struct lm_err *read_origin(struct lm_debuginfo *bin, Dwarf_Die die, int depth, struct lm_origin *ret)
{
	Dwarf_Die origin = NULL;
	struct lm_err *err = lm_die_follow(bin, die, DW_AT_abstract_origin, &origin);

	if (!err && !origin)
		err = lm_die_follow(bin, die, DW_AT_specification, &origin);
	if (!err)
		err = lm_die_copy(bin, origin ? origin : die, DW_AT_name, &ret->name);
	if (!err)
		err = lm_type_of(bin, origin ? origin : die, &ret->type);
	/* The origin of an out-of-line copy of an inline function's parameter may have an origin again. */
	if (!err && origin && ret->type == LM_NO_TYPE && depth < MAX_DEPTH &&
	    lm_die_has(bin, origin, DW_AT_abstract_origin))
		err = read_origin(bin, origin, depth + 1, ret);
	lm_die_drop(origin);
	return err;
}

/*
 * A variable of an inlined call has its name and type at its abstract origin,
 * which all calls of that function refer to: read once.
 */
static struct lm_err *name_and_type(struct lm_debuginfo *bin, Dwarf_Die die, const char **name, uint32_t *type)
{
	struct lm_origin o = { .name = "", .type = LM_NO_TYPE };
	uint32_t id = LM_NO_STRING;
	struct lm_err *err;
	Dwarf_Off at;

	if (!bin->by_origin)
		bin->by_origin = lm_strings_new();
	if (lm_die_refers(bin, die, DW_AT_abstract_origin, &at)) {
		id = lm_strings_add(bin->by_origin, (const char *)&at, sizeof(at));
		if (id < bin->nr_origins) {
			*name = bin->origins[id].name;
			*type = bin->origins[id].type;
			return NULL;
		}
	}
	err = read_origin(bin, die, 0, &o);
	/* Also of one that cannot be read: ids stay indices. */
	if (id != LM_NO_STRING)
		*LM_ARENA_PUSH(&bin->arena, bin->origins, bin->nr_origins, bin->cap_origins) = o;
	*name = o.name;
	*type = o.type;
	return err;
}

static struct lm_err *add_variable(struct scope *s, Dwarf_Die die, uint8_t depth, const struct lm_range *ranges,
				   size_t nr_ranges)
{
	struct lm_variable v = { .name = "", .type = LM_NO_TYPE, .depth = depth };
	size_t cap = 0;
	struct lm_err *err = name_and_type(s->bin, die, &v.name, &v.type);

	v.parameter = depth == 0 && lm_die_tag(die) == DW_TAG_formal_parameter;
	for (size_t i = 0; !err && i < nr_ranges; i++) {
		size_t before = v.nr_places;

		err = lm_die_places(s->bin, die, DW_AT_location, &s->bin->names[s->f->unit], ranges[i],
				    &v.places, &v.nr_places, &cap);
		/* A list has addresses of its own: once is enough. */
		if (v.nr_places > before && (v.places[before].from != ranges[i].from ||
					     v.places[before].to != ranges[i].to))
			break;
	}
	/* One without a place still tells which records this function is about. */
	if (!err && v.type != LM_NO_TYPE)
		*LM_ARENA_PUSH(&s->bin->arena, s->f->variables, s->f->nr_variables, s->cap) = v;
	return err;
}

/* What an inlined call returns: a variable without a place, so that its type is among those of the function. */
static struct lm_err *add_result(struct scope *s, Dwarf_Die die, uint8_t depth)
{
	struct lm_variable v = { .name = "", .type = LM_NO_TYPE, .depth = depth };
	struct lm_err *err = name_and_type(s->bin, die, &v.name, &v.type);

	if (!err && v.type != LM_NO_TYPE)
		*LM_ARENA_PUSH(&s->bin->arena, s->f->variables, s->f->nr_variables, s->cap) = v;
	return err;
}

static struct lm_err *read_scope(struct scope *s, Dwarf_Die die, uint8_t depth, const struct lm_range *ranges,
				 size_t nr_ranges);

static struct lm_err *inner_scope(struct scope *s, Dwarf_Die die, uint8_t depth)
{
	struct lm_range *ranges = NULL;
	size_t nr = 0, cap = 0;
	struct lm_err *err;

	if (depth >= MAX_DEPTH)
		return NULL;
	err = lm_die_ranges(s->bin, die, s->base, &ranges, &nr, &cap);
	return err ? err : read_scope(s, die, (uint8_t)(depth + 1), ranges, nr);
}

static struct lm_err *read_scope(struct scope *s, Dwarf_Die die, uint8_t depth, const struct lm_range *ranges,
				 size_t nr_ranges)
{
	Dwarf_Die child;
	struct lm_err *err = lm_die_child(s->bin, die, &child);

	while (!err && child) {
		Dwarf_Half tag = lm_die_tag(child);

		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			err = add_variable(s, child, depth, ranges, nr_ranges);
		else if (tag == DW_TAG_inlined_subroutine)
			err = add_result(s, child, depth);
		if (!err && (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine))
			err = inner_scope(s, child, depth);
		if (!err)
			err = lm_die_next(s->bin, &child);
	}
	lm_die_drop(child);
	return err;
}

/* The function's own facts, from its entry or where that refers to (specification, abstract origin). */
static struct lm_err *read_head(struct lm_debuginfo *bin, Dwarf_Die die, struct lm_function *f)
{
	Dwarf_Die origin = NULL;
	struct lm_location *frame = NULL;
	size_t nr = 0, cap = 0;
	struct lm_err *err = lm_die_copy(bin, die, DW_AT_name, &f->name);

	if (!err && !*f->name)
		err = name_and_type(bin, die, &f->name, &f->result);
	else if (!err)
		err = lm_type_of(bin, die, &f->result);
	if (!err)
		err = lm_die_follow(bin, die, DW_AT_abstract_origin, &origin);
	f->no_return = lm_die_has(bin, die, DW_AT_noreturn) || (origin && lm_die_has(bin, origin, DW_AT_noreturn));
	lm_die_drop(origin);
	if (!err)
		err = lm_die_places(bin, die, DW_AT_frame_base, &bin->names[f->unit],
				    (struct lm_range){ 0, UINT64_MAX }, &frame, &nr, &cap);
	f->frame = nr == 1 ? frame[0] : (struct lm_location){ .kind = LM_AT_VALUE, .reg = 0xff };
	return err;
}

struct lm_err *lm_function_read(struct lm_debuginfo *bin, struct lm_code *code)
{
	struct lm_function *f = LM_ARENA_NEW(&bin->arena, struct lm_function);
	Dwarf_Die die = NULL;
	size_t cap = 0;
	struct lm_err *err = lm_die_at(bin, code->die, &die);

	f->unit = code->unit;
	f->result = LM_NO_TYPE;
	f->name = "";
	if (!err)
		err = lm_die_ranges(bin, die, bin->names[code->unit].low, &f->ranges, &f->nr_ranges, &cap);
	if (!err)
		err = read_head(bin, die, f);
	lm_die_drop(die);
	if (!err)
		code->detail = f;
	return err;
}

struct lm_err *lm_function_variables(struct lm_debuginfo *bin, struct lm_code *code)
{
	struct scope s = { bin, code->detail, 0, bin->names[code->unit].low };
	Dwarf_Die die = NULL;
	struct lm_err *err = lm_die_at(bin, code->die, &die);

	if (!err)
		err = read_scope(&s, die, 0, s.f->ranges, s.f->nr_ranges);
	lm_die_drop(die);
	code->scoped = !err;
	if (err)
		s.f->nr_variables = 0;
	return err;
}
