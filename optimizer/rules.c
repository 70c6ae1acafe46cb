/* rules.c - what must not move, or only as a block, with the reason. */
#include "optimizer/rules.h"

#include "optimizer/path.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Everything a step of the collection needs. */
struct collecting {
	const struct lm_subject *s;
	const struct lm_source *sources;
	const struct lm_rules_opts *opts;
	struct lm_arena *arena;
	struct lm_rules *out;
	size_t cap_rules, cap_notes;
	uint8_t *head;		/* [nr_units] starts a segment */
	uint8_t *glued;		/* [nr_units] stays behind its predecessor */
};

static const struct lm_unit *unit_of(const struct collecting *c, uint32_t u)
{
	return &c->s->body->units[u];
}

static void add_rule(struct collecting *c, enum lm_rule_kind kind, uint32_t unit, uint32_t other, const char *because)
{
	size_t nr = c->out->nr_rules;

	*LM_ARENA_PUSH(c->arena, c->out->rules, nr, c->cap_rules) =
		(struct lm_rule){ .kind = kind, .unit = unit, .other = other, .because = because };
	c->out->nr_rules = (uint32_t)nr;
}

static const char *at_line(struct collecting *c, uint32_t unit, const char *text)
{
	return lm_arena_printf(c->arena, "%s (%s:%u)", text, c->opts->path, unit_of(c, unit)->line);
}

static void add_note(struct collecting *c, const char *text)
{
	size_t nr = c->out->nr_notes;

	*LM_ARENA_PUSH(c->arena, c->out->notes, nr, c->cap_notes) = text;
	c->out->nr_notes = (uint32_t)nr;
}

static void refuse(struct collecting *c, enum lm_refusal why, const char *text)
{
	if (c->out->refused)
		return;
	c->out->refused = true;
	c->out->refusal = why;
	c->out->refusal_text = text;
}

static const char *refusal_sentence(enum lm_refusal why)
{
	switch (why) {
#define X(name, word, text) case LM_REFUSAL_##name: return text;
	LM_REFUSALS(X)
#undef X
	case LM_NR_REFUSALS:
		break;
	}
	return "";
}

static void refuse_at(struct collecting *c, enum lm_refusal why, const char *file, uint32_t line)
{
	refuse(c, why, lm_arena_printf(c->arena, "%s:%u: %s is not rearranged: %s.", file, line,
				       c->s->views[0].rec->name, refusal_sentence(why)));
}

/* Refusals that one look at the record decides. */
static void refuse_by_record(struct collecting *c)
{
	for (uint32_t v = 0; v < c->s->nr_views; v++) {
		const struct lm_record *rec = c->s->views[v].rec;

		if (rec->is_union)
			refuse_at(c, LM_REFUSAL_UNION, c->opts->path, rec->line);
		if (rec->packed || rec->pack)
			refuse_at(c, LM_REFUSAL_PACKED, c->opts->path, rec->line);
	}
	if (strstr(c->opts->path, "/uapi/") || !strncmp(c->opts->path, "uapi/", 5))
		refuse_at(c, LM_REFUSAL_UAPI, c->opts->path, c->s->views[0].rec->line);
	if (c->s->body->refusal)
		refuse(c, LM_REFUSAL_TEXT, lm_arena_printf(c->arena, "%s:%u: %s is not rearranged: %s.", c->opts->path,
				c->s->views[0].rec->line, c->s->views[0].rec->name, c->s->body->refusal));
}

/* Fields of unit u in view v, or NULL. */
static const struct lm_field *fields_of(const struct lm_view *v, uint32_t u, uint32_t *nr)
{
	*nr = v->first_field[u] == LM_NONE ? 0 : v->nr_fields[u];
	return *nr ? &v->rec->fields[v->first_field[u]] : NULL;
}

/* The unit that holds the top-level member `key` (or the first level of a path), or LM_NONE. */
static uint32_t unit_of_member(const struct lm_subject *s, const char *key, size_t len)
{
	for (uint32_t v = 0; v < s->nr_views; v++) {
		const struct lm_record *rec = s->views[v].rec;

		for (uint32_t f = 0; f < rec->nr_fields; f++)
			if (strlen(rec->fields[f].key) == len && len && !memcmp(rec->fields[f].key, key, len))
				return s->views[v].field_unit[f];
		for (uint32_t l = 0; l < rec->nr_leaves; l++)	/* members of anonymous structs and unions */
			if (!strncmp(rec->leaves[l].path, key, len) && len &&
			    (!rec->leaves[l].path[len] || strchr(".[", rec->leaves[l].path[len])))
				return s->views[v].field_unit[rec->leaves[l].field];
	}
	for (uint32_t u = 0; u < s->body->nr_units; u++)
		if (strlen(s->body->units[u].name) == len && !memcmp(s->body->units[u].name, key, len))
			return u;
	return LM_NONE;
}

static void hazards(struct collecting *c)
{
	for (uint32_t v = 0; v < c->s->nr_views; v++) {
		for (size_t i = 0; i < c->sources[v].nr_hazards; i++) {
			const struct lm_hazard *h = &c->sources[v].hazards[i];
			uint32_t u;

			switch (h->kind) {
			case LM_HAZARD_POSITIONAL_INIT:
				refuse_at(c, LM_REFUSAL_POSITIONAL, h->file, h->line);
				break;
			case LM_HAZARD_RANDSTRUCT:
				refuse_at(c, LM_REFUSAL_RANDSTRUCT, h->file, h->line);
				break;
			case LM_HAZARD_OFFSET_ASSERT:
				u = h->member ? unit_of_member(c->s, h->member, strlen(h->member)) : LM_NONE;
				if (u == LM_NONE || c->out->fixed_offset[u])
					break;
				c->out->fixed[u] = c->out->fixed_offset[u] = 1;
				add_rule(c, LM_RULE_OFFSET, u, LM_NONE,
					 lm_arena_printf(c->arena, "%s:%u asserts it", h->file, h->line));
				break;
			case LM_NR_HAZARDS:
				break;
			}
		}
	}
}

/* Why unit u must stay first, or NULL. */
static const char *first_reason(struct collecting *c, uint32_t u)
{
	if (unit_of(c, u)->comment_first)
		return at_line(c, u, "its comment says so");
	for (uint32_t v = 0; v < c->s->nr_views; v++) {
		uint32_t nr;
		const struct lm_field *f = fields_of(&c->s->views[v], u, &nr);

		if (nr && c->s->views[v].first_field[u] == 0 && f->is_record && !f->is_array && !f->anonymous)
			return at_line(c, u, "it is a record at offset 0");
	}
	return NULL;
}

static void first_members(struct collecting *c)
{
	for (uint32_t u = 0; u < c->s->body->nr_units; u++) {
		bool is_first = false;

		for (uint32_t v = 0; v < c->s->nr_views; v++)
			is_first |= c->s->views[v].first_field[u] == 0;

		const char *why = is_first ? first_reason(c, u) : NULL;

		if (!why)
			continue;
		c->out->fixed[u] = c->out->fixed_offset[u] = 1;
		add_rule(c, LM_RULE_FIRST, u, LM_NONE, why);
	}
}

/* A record whose last leaf is a flexible array ends in a variable tail.  (An empty padding record does not.) */
static bool has_variable_tail(const struct lm_record *rec, const struct lm_field *f)
{
	for (uint32_t l = f->first_leaf; f->size && l < f->first_leaf + f->nr_leaves; l++)
		if (!rec->leaves[l].size && rec->leaves[l].elem_size && rec->leaves[l].offset >= f->size)
			return true;
	return false;
}

/* Does nothing that takes room follow field i? */
static bool is_last(const struct lm_record *rec, uint32_t i)
{
	while (++i < rec->nr_fields)
		if (rec->fields[i].size || rec->fields[i].bits != LM_NOT_BITS)
			return false;
	return true;
}

/* What unit u's tail binds it to: FLEXIBLE, TAIL, FENCE (a marker in the middle), or LM_NR_RULES for nothing. */
static enum lm_rule_kind tail_kind(struct collecting *c, uint32_t u)
{
	enum lm_rule_kind kind = LM_NR_RULES;

	for (uint32_t v = 0; v < c->s->nr_views; v++) {
		const struct lm_view *view = &c->s->views[v];
		uint32_t nr;
		const struct lm_field *f = fields_of(view, u, &nr);

		for (uint32_t i = 0; i < nr; i++) {
			bool one_record = f[i].is_record && !f[i].is_array;
			bool padding = one_record && !f[i].size;
			bool tail = one_record && (f[i].flexible || has_variable_tail(view->rec, &f[i]));

			if (padding || (!f[i].flexible && !tail))
				continue;
			kind = !is_last(view->rec, view->first_field[u] + i) ? LM_RULE_FENCE :
			       tail ? LM_RULE_TAIL : LM_RULE_FLEXIBLE;
		}
	}
	return kind;
}

/* An array of no elements in the middle marks the begin or end of a range for memcpy and the like. */
static void tails(struct collecting *c)
{
	for (uint32_t u = 0; u < c->s->body->nr_units; u++) {
		enum lm_rule_kind kind = tail_kind(c, u);

		if (kind == LM_NR_RULES)
			continue;
		c->out->fixed[u] = 1;
		c->head[u] = 1;		/* nothing moves behind a tail, nothing passes a marker */
		add_rule(c, kind, u, LM_NONE, at_line(c, u, kind == LM_RULE_FENCE ? "an empty array marks a place" :
						      "declared"));
	}
}

/* What a comment says must be at the end is a part of its own: it may be several members. */
static void said_to_be_last(struct collecting *c)
{
	for (uint32_t u = 0; u < c->s->body->nr_units; u++) {
		if (!unit_of(c, u)->comment_last || c->head[u])
			continue;
		c->out->fixed[u] = c->head[u] = 1;
		add_rule(c, LM_RULE_GROUP, u, LM_NONE, at_line(c, u, "its comment says that it must be at the end"));
	}
}

/* Largest aligned() on unit u's members over all views; *empty if all of it has size 0. */
static uint32_t unit_alignment(struct collecting *c, uint32_t u, bool *empty)
{
	uint32_t most = 0;
	bool any = false;

	*empty = true;
	for (uint32_t v = 0; v < c->s->nr_views; v++) {
		uint32_t nr;
		const struct lm_field *f = fields_of(&c->s->views[v], u, &nr);

		for (uint32_t i = 0; i < nr; i++) {
			uint32_t a = f[i].attr_align;

			any = true;
			if (f[i].size || f[i].bits != LM_NOT_BITS || f[i].flexible)
				*empty = false;
			else if (f[i].type_align > a)
				a = f[i].type_align;	/* an empty padding record */
			most = a > most ? a : most;
		}
	}
	*empty &= any;
	return most;
}

/* An empty array that is no group's border: offsetof(it) stands for the member behind it. */
static bool is_offset_mark(struct collecting *c, uint32_t u)
{
	const struct lm_unit *unit = unit_of(c, u);

	for (uint32_t v = 0; v < c->s->nr_views && !unit->group_begin && !unit->group_end; v++) {
		uint32_t nr;
		const struct lm_field *f = fields_of(&c->s->views[v], u, &nr);

		if (nr == 1 && f->is_array && !f->size && !is_last(c->s->views[v].rec, c->s->views[v].first_field[u]))
			return true;
	}
	return false;
}

static void offset_marks(struct collecting *c)
{
	for (uint32_t u = 0; u + 1 < c->s->body->nr_units; u++)
		c->glued[u + 1] |= is_offset_mark(c, u);
}

/* Nothing but padding up to the next line, in every view that has it: no marker, no group's border. */
static bool only_pads(struct collecting *c, uint32_t u)
{
	const struct lm_unit *unit = unit_of(c, u);
	bool any = false;

	for (uint32_t v = 0; v < c->s->nr_views; v++) {
		uint32_t nr;
		const struct lm_field *f = fields_of(&c->s->views[v], u, &nr);

		if (!nr)
			continue;
		if (nr != 1 || !f->is_record || f->is_array || f->size || f->type_align < c->opts->line)
			return false;
		any = true;
	}
	return any && !unit->group_begin && !unit->group_end;
}

static void fences(struct collecting *c)
{
	for (uint32_t u = 0; u < c->s->body->nr_units; u++) {
		const struct lm_unit *unit = unit_of(c, u);
		bool empty;
		uint32_t align = unit_alignment(c, u, &empty);

		if (c->head[u])
			continue;	/* a tail or marker */
		if (unit->fence || (empty && align >= c->opts->line)) {
			bool random = !strncmp(unit->name, "randomized_struct_fields", 24);

			c->out->fixed[u] = c->head[u] = 1;
			c->out->padding[u] = !random && only_pads(c, u);
			add_rule(c, random ? LM_RULE_RANDOM : LM_RULE_FENCE, u, LM_NONE, at_line(c, u, "declared"));
		} else if (align >= c->opts->line) {
			c->out->fixed[u] = c->head[u] = 1;
			add_rule(c, LM_RULE_ALIGNED, u, LM_NONE,
				 lm_arena_printf(c->arena, "aligned to %u bytes (%s:%u)", align, c->opts->path,
						 unit->line));
		} else if (align && u + 1 < c->s->body->nr_units) {
			c->glued[u + 1] = 1;
			add_rule(c, LM_RULE_WORD_PAIR, u, u + 1,
				 lm_arena_printf(c->arena, "aligned to %u bytes (%s:%u)", align, c->opts->path,
						 unit->line));
		}
	}
}

/* Units between a group's begin and end markers are bound to them: their segment does that; say so. */
static void groups(struct collecting *c)
{
	uint32_t open = LM_NONE;

	for (uint32_t u = 0; u < c->s->body->nr_units; u++) {
		const struct lm_unit *unit = unit_of(c, u);

		if (unit->group_begin)
			open = u;
		else if (unit->group_end)
			open = LM_NONE;
		else if (open != LM_NONE)
			add_rule(c, LM_RULE_GROUP, u, open, at_line(c, open, "its group begins there"));
	}
}

static struct lm_err *find_named(struct collecting *c, const char *option, const char *name, size_t len, uint32_t *ret)
{
	*ret = unit_of_member(c->s, name, len);
	if (*ret != LM_NONE)
		return NULL;
	return lm_err_new(LM_ERR_USAGE, "%s names %.*s, but %s has no such member in any configuration.", option,
			  (int)(len < 200 ? len : 200), name, c->s->views[0].rec->name);
}

static struct lm_err *pins(struct collecting *c)
{
	for (uint32_t u = 0; u < c->s->body->nr_units; u++) {
		if (!unit_of(c, u)->pin_comment)
			continue;
		c->out->fixed[u] = c->out->fixed_offset[u] = 1;
		add_rule(c, LM_RULE_PINNED, u, LM_NONE, at_line(c, u, "its comment says so"));
	}
	for (size_t i = 0; i < c->opts->nr_pins; i++) {
		uint32_t u;
		struct lm_err *err = find_named(c, "--pin", c->opts->pins[i], strlen(c->opts->pins[i]), &u);

		if (err)
			return err;
		c->out->fixed[u] = c->out->fixed_offset[u] = 1;
		add_rule(c, LM_RULE_PINNED, u, LM_NONE, "--pin");
	}
	return NULL;
}

static struct lm_err *pairs(struct collecting *c, const char *option, enum lm_rule_kind kind, const char *const *items,
			    size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		size_t n = strcspn(items[i], ",");
		const char *second = items[i] + n + (items[i][n] == ',');
		uint32_t a, b;
		struct lm_err *err;

		if (!n || !*second || strchr(second, ','))
			return lm_err_new(LM_ERR_USAGE, "%s takes two members with a comma between them, not \"%s\".",
					  option, items[i]);
		err = find_named(c, option, items[i], n, &a);
		if (!err)
			err = find_named(c, option, second, strlen(second), &b);
		if (err)
			return err;
		if (a == b)
			return lm_err_new(LM_ERR_USAGE, "%s %s: both members are in one declaration and always "
					  "move together.", option, items[i]);
		add_rule(c, kind, a, b, option);
	}
	return NULL;
}

/* A promise in a comment binds whole members; one that names a part of a member is for check alone. */
static void promised(struct collecting *c, const struct lm_promise *p)
{
	bool apart = p->kind == LM_PROMISE_APART;
	uint32_t first;

	if ((!apart && p->kind != LM_PROMISE_TOGETHER) || p->nr_configs)
		return;
	first = unit_of_member(c->s, p->members[0], strlen(p->members[0]));
	for (uint32_t i = 1; i < p->nr_members && first != LM_NONE; i++) {
		uint32_t other = unit_of_member(c->s, p->members[i], strlen(p->members[i]));

		if (other != LM_NONE && other != first)
			add_rule(c, apart ? LM_RULE_APART : LM_RULE_TOGETHER, first, other,
				 lm_arena_printf(c->arena, "a comment says so (%s:%u)", p->file, p->line));
	}
}

/* --keep-together and --apart of the same two members cannot both hold. */
static struct lm_err *contradictions(struct collecting *c)
{
	for (uint32_t i = 0; i < c->out->nr_rules; i++) {
		for (uint32_t j = 0; j < c->out->nr_rules; j++) {
			const struct lm_rule *t = &c->out->rules[i], *a = &c->out->rules[j];

			if (t->kind == LM_RULE_TOGETHER && a->kind == LM_RULE_APART &&
			    ((t->unit == a->unit && t->other == a->other) ||
			     (t->unit == a->other && t->other == a->unit)))
				return lm_err_new(LM_ERR_USAGE, "--keep-together and --apart, or a comment of the header, "
						  "contradict each other: both name %s and %s.", unit_of(c, t->unit)->name,
						  unit_of(c, t->other)->name);
		}
	}
	return NULL;
}

static void derive(struct collecting *c)
{
	uint32_t n = c->s->body->nr_units, segment = 0, movable = 0;

	for (uint32_t u = 0; u < n; u++) {
		if (c->head[u] && u)
			segment++;
		c->out->segment[u] = segment;
		c->out->block[u] = u && c->glued[u] && !c->head[u] ? c->out->block[u - 1] : u;
	}
	/* Nothing may slip before a head that opens the record. */
	if (n && c->head[0])
		c->out->fixed_offset[0] = 1;
	/* A block with a fixed member stays as a whole. */
	for (uint32_t u = 0; u < n; u++)
		if (c->out->fixed[u])
			c->out->fixed[c->out->block[u]] = 1;
	for (uint32_t u = 0; u < n; u++) {
		c->out->fixed[u] |= c->out->fixed[c->out->block[u]];
		movable += !c->out->fixed[u];
	}
	if (n < 2 || !movable)
		refuse_at(c, LM_REFUSAL_NO_UNITS, c->opts->path, c->s->views[0].rec->line);
}

static void notes(struct collecting *c)
{
	for (uint32_t v = 0; v < c->s->nr_views; v++) {
		if (!c->s->views[v].rec->randomized)
			continue;
		add_note(c, "the record is marked __randomize_layout: with RANDSTRUCT on, its layout is shuffled and "
			    "nothing said here holds");
		break;
	}
	for (uint32_t u = 0; u < c->s->body->nr_units; u++)
		if (unit_of(c, u)->comment_layout)
			add_note(c, lm_arena_printf(c->arena, "%s:%u: the comment at %s speaks of the layout: see "
						    "whether it still says the truth", c->opts->path,
						    unit_of(c, u)->line, unit_of(c, u)->name));
}

struct lm_err *lm_rules_collect(const struct lm_subject *s, const struct lm_source *sources,
				const struct lm_rules_opts *opts, struct lm_arena *arena, struct lm_rules *out)
{
	uint32_t n = s->body->nr_units;
	struct lm_rules rules = {
		.fixed = LM_ARENA_ARRAY(arena, uint8_t, n + 1), .fixed_offset = LM_ARENA_ARRAY(arena, uint8_t, n + 1),
		.segment = LM_ARENA_ARRAY(arena, uint32_t, n + 1), .block = LM_ARENA_ARRAY(arena, uint32_t, n + 1),
		.padding = LM_ARENA_ARRAY(arena, uint8_t, n + 1),
	};
	struct collecting c = {
		.s = s, .sources = sources, .opts = opts, .arena = arena, .out = &rules,
		.head = LM_ARENA_ARRAY(arena, uint8_t, n + 1), .glued = LM_ARENA_ARRAY(arena, uint8_t, n + 1),
	};
	struct lm_err *err;

	refuse_by_record(&c);
	hazards(&c);
	first_members(&c);
	tails(&c);
	said_to_be_last(&c);
	fences(&c);
	offset_marks(&c);
	groups(&c);
	err = pins(&c);
	if (!err)
		err = pairs(&c, "--keep-together", LM_RULE_TOGETHER, opts->together, opts->nr_together);
	if (!err)
		err = pairs(&c, "--apart", LM_RULE_APART, opts->apart, opts->nr_apart);
	for (size_t i = 0; !err && opts->promises && i < opts->promises->nr; i++)
		promised(&c, &opts->promises->items[i]);
	if (!err)
		err = contradictions(&c);
	if (err)
		return err;
	derive(&c);
	notes(&c);
	*out = rules;
	return NULL;
}

struct lm_rules lm_rules_past_padding(const struct lm_subject *s, const struct lm_rules *r, struct lm_arena *arena)
{
	uint32_t n = s->body->nr_units, passed = 0;
	struct lm_rules loose = *r;

	loose.segment = LM_ARENA_ARRAY(arena, uint32_t, n + 1);
	for (uint32_t u = 0; u < n; u++) {
		passed += u && r->padding[u] && r->segment[u] != r->segment[u - 1];
		loose.segment[u] = r->segment[u] - passed;
	}
	return loose;
}

bool lm_rules_order_ok(const struct lm_subject *s, const struct lm_rules *r, const struct lm_order *o)
{
	uint32_t n = s->body->nr_units, segment = 0, last_fixed = LM_NONE;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t u = o->units[i];

		/* Segments in order: never back, and forth only at the segment's own first unit, which is fixed. */
		if (r->segment[u] != segment) {
			if (r->segment[u] != segment + 1 || (u && r->segment[u - 1] == r->segment[u]))
				return false;
			segment++;
		} else if (u && r->segment[u - 1] != r->segment[u] && i && r->segment[o->units[i - 1]] == segment) {
			return false;	/* a member slipped before its segment's head */
		}
		if (r->block[u] != u && (!i || o->units[i - 1] != u - 1))
			return false;
		if (r->fixed[u]) {
			if (last_fixed != LM_NONE && u < last_fixed)
				return false;
			last_fixed = u;
		}
	}
	return true;
}

/* Bytes [*begin, *end) of unit u in a layout of view v; false where it is absent. */
static bool unit_bytes(const struct lm_view *v, uint32_t u, const struct lm_layout *l, uint64_t *begin, uint64_t *end)
{
	uint32_t nr;
	const struct lm_field *f = fields_of(v, u, &nr);

	if (!nr)
		return false;
	*begin = UINT64_MAX;
	*end = 0;
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t bit = l->bit_offset[v->first_field[u] + i];
		uint64_t last = f[i].bits == LM_NOT_BITS ? bit / 8 + f[i].size : (bit + f[i].bits + 7) / 8;

		*begin = bit / 8 < *begin ? bit / 8 : *begin;
		*end = last > *end ? last : *end;
	}
	return true;
}

static bool pair_ok(const struct lm_view *v, const struct lm_rule *rule, const struct lm_layout *l, uint32_t line,
		    bool base_fixed)
{
	uint64_t a, a_end, b, b_end;

	if (!unit_bytes(v, rule->unit, l, &a, &a_end) || !unit_bytes(v, rule->other, l, &b, &b_end))
		return true;

	uint64_t begin = a < b ? a : b, end = a_end > b_end ? a_end : b_end;
	uint64_t first_end = a < b ? a_end : b_end, second = a < b ? b : a;

	if (rule->kind == LM_RULE_TOGETHER)
		return base_fixed ? begin / line == (end - 1) / line : end - begin <= line;
	if (!base_fixed)
		return second >= first_end && second - first_end >= line - 1;
	return first_end == 0 || (first_end - 1) / line != second / line;
}

bool lm_rules_layout_ok(const struct lm_subject *s, const struct lm_rules *r, uint32_t v,
			const struct lm_layout *before, const struct lm_layout *after, uint32_t line, bool base_fixed)
{
	const struct lm_view *view = &s->views[v];

	if (after->size > before->size || after->align > before->align)
		return false;
	for (uint32_t u = 0; u < s->body->nr_units; u++) {
		if (!r->fixed_offset[u] || view->first_field[u] == LM_NONE)
			continue;
		for (uint32_t f = view->first_field[u]; f < view->first_field[u] + view->nr_fields[u]; f++)
			if (before->bit_offset[f] != after->bit_offset[f])
				return false;
	}
	for (uint32_t i = 0; i < r->nr_rules; i++)
		if ((r->rules[i].kind == LM_RULE_TOGETHER || r->rules[i].kind == LM_RULE_APART) &&
		    !pair_ok(view, &r->rules[i], after, line, base_fixed))
			return false;
	return true;
}
