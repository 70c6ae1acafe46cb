/* guards.c - the conditions in the text of a record. */
#include "optimizer/guards.h"

#include "optimizer/lexer.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

enum truth { NO, YES, UNKNOWN };

/* Brackets and negations inside each other; no condition of a person has as many. */
enum { MAX_DEPTH = 200 };

/* ---- conditions ---- */

/* One condition being read; what it tests goes to `tested`, if that is set. */
struct condition {
	const char *text;
	struct lm_lexemes lex;
	size_t at;
	unsigned depth;
	const struct lm_option_value *values;
	size_t nr_values;
	struct lm_arena *arena;
	struct lm_tested_list *tested;
	struct lm_tested place;		/* what a new item starts from */
};

static enum truth negate(enum truth t)
{
	return t == UNKNOWN ? UNKNOWN : t == YES ? NO : YES;
}

static bool punct_at(const struct condition *c, size_t at, char ch)
{
	return at < c->lex.nr && lm_lex_punct(c->text, &c->lex.items[at], ch);
}

/* "&&" or "||" */
static bool twice_at(const struct condition *c, size_t at, char ch)
{
	return punct_at(c, at, ch) && punct_at(c, at + 1, ch) && c->lex.items[at].end == c->lex.items[at + 1].begin;
}

static bool word_at(const struct condition *c, size_t at)
{
	return at < c->lex.nr && c->lex.items[at].kind == LM_LEX_WORD;
}

static bool is_test(const struct condition *c, size_t at)
{
	static const char *const tests[] = { "defined", "IS_ENABLED", "IS_BUILTIN", "IS_REACHABLE", "IS_MODULE" };

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		if (at < c->lex.nr && lm_lex_is(c->text, &c->lex.items[at], tests[i]))
			return true;
	return false;
}

/* The macro's name; *module if it is that of an option's =m. */
static const char *name_at(const struct condition *c, size_t at, bool *module)
{
	static const char suffix[] = "_MODULE";
	size_t begin = c->lex.items[at].begin, len = c->lex.items[at].end - begin, cut = strlen(suffix);
	const char *name = c->text + begin;

	*module = len > cut + 7 && !strncmp(name, "CONFIG_", 7) && !strncmp(name + len - cut, suffix, cut);
	return lm_arena_strndup(c->arena, name, len - (*module ? cut : 0));
}

static void add_tested(struct condition *c, const char *name, bool by_value)
{
	struct lm_tested_list *to = c->tested;
	struct lm_tested *t = NULL;

	for (size_t i = 0; i < to->nr && !t; i++)
		t = strcmp(to->items[i].name, name) ? NULL : &to->items[i];
	if (!t) {
		t = LM_ARENA_PUSH(c->arena, to->items, to->nr, to->cap);
		*t = c->place;
		t->name = name;
	} else if (by_value && !t->by_value) {
		t->record = c->place.record;
		t->path = c->place.path;
		t->line = c->place.line;
	}
	t->by_value |= by_value;
}

/* What is known of the macro at `at`. */
static enum truth test(struct condition *c, size_t at, bool by_value)
{
	bool module;
	const char *name = name_at(c, at, &module);

	if (c->tested)
		add_tested(c, name, by_value);
	for (size_t i = 0; i < c->nr_values && !by_value && !module; i++)
		if (!strcmp(c->values[i].name, name))
			return !c->values[i].value ? NO : !strcmp(c->values[i].value, "1") ? YES : UNKNOWN;
	return UNKNOWN;
}

/* Behind the term at `at`: before && || ) or the end. */
static size_t term_end(const struct condition *c, size_t at)
{
	for (size_t depth = 0; at < c->lex.nr; at++) {
		if (punct_at(c, at, '('))
			depth++;
		else if (punct_at(c, at, ')') && !depth--)
			break;
		else if (!depth && (twice_at(c, at, '&') || twice_at(c, at, '|')))
			break;
	}
	return at;
}

/* The ')' of the '(' at `at`. */
static size_t closing(const struct condition *c, size_t at)
{
	for (size_t depth = 0; at < c->lex.nr; at++) {
		depth += punct_at(c, at, '(');
		if (punct_at(c, at, ')') && !--depth)
			break;
	}
	return at;
}

/* Words that are compared or calculated with. */
static enum truth by_value(struct condition *c, size_t end)
{
	bool asked = false;

	for (; c->at < end; c->at++) {
		if (is_test(c, c->at))
			asked = true;
		else if (word_at(c, c->at)) {
			test(c, c->at, !asked);
			asked = false;
		}
	}
	return UNKNOWN;
}

static enum truth any_of(struct condition *c);

static enum truth term(struct condition *c)
{
	size_t at = c->at, end = term_end(c, at), nr = end - at;
	enum truth t = UNKNOWN;

	if (c->depth > MAX_DEPTH)
		return by_value(c, end);
	if (nr > 1 && punct_at(c, at, '!') && !punct_at(c, at + 1, '=')) {
		c->at++;
		c->depth++;
		t = negate(term(c));
		c->depth--;
		return t;
	}
	if (nr > 2 && punct_at(c, at, '(') && closing(c, at) == end - 1) {
		c->at++;
		c->depth++;
		t = any_of(c);
		c->depth--;
	} else if (nr == 4 && is_test(c, at) && punct_at(c, at + 1, '(') && word_at(c, at + 2)) {
		t = test(c, at + 2, false);
		t = lm_lex_is(c->text, &c->lex.items[at], "IS_MODULE") ? UNKNOWN : t;
	} else if (nr == 1 && word_at(c, at)) {
		t = test(c, at, false);
	} else if (nr == 1 && c->lex.items[at].kind == LM_LEX_NUMBER) {
		t = strtoull(c->text + c->lex.items[at].begin, NULL, 0) ? YES : NO;
	} else {
		return by_value(c, end);
	}
	c->at = end;
	return t;
}

static enum truth all_of(struct condition *c)
{
	enum truth t = term(c);

	while (twice_at(c, c->at, '&')) {
		c->at += 2;

		enum truth more = term(c);

		t = t == NO || more == NO ? NO : t == YES && more == YES ? YES : UNKNOWN;
	}
	return t;
}

static enum truth any_of(struct condition *c)
{
	enum truth t = all_of(c);

	while (twice_at(c, c->at, '|')) {
		c->at += 2;

		enum truth more = all_of(c);

		t = t == YES || more == YES ? YES : t == NO && more == NO ? NO : UNKNOWN;
	}
	return t;
}

static enum truth read_condition(struct condition *c, const char *text)
{
	enum truth t;

	c->text = text;
	c->at = 0;
	lm_lex(text, 0, strlen(text), 1, c->arena, &c->lex);
	for (size_t i = 0; i < c->lex.nr; i++)
		if (punct_at(c, i, '?'))
			return by_value(c, c->lex.nr);
	t = any_of(c);
	/* What is left is no condition that we know. */
	return c->at < c->lex.nr ? by_value(c, c->lex.nr) : t;
}

/* ---- guards ---- */

struct branch {
	const char *condition;	/* an #if expression; "1" for #else */
	uint32_t line;
};

struct guard {
	uint32_t parent, parent_branch;
	struct branch *branches;
	size_t nr, cap;
	bool full;		/* has a member in some branch */
};

struct guards {
	struct guard *items;
	size_t nr, cap;
	bool torn;
};

static const char *condition_of(const struct lm_directive *d, struct lm_arena *arena)
{
	switch (d->kind) {
	case LM_DIR_IFDEF:
	case LM_DIR_ELIFDEF:
		return lm_arena_printf(arena, "defined(%s)", d->rest);
	case LM_DIR_IFNDEF:
	case LM_DIR_ELIFNDEF:
		return lm_arena_printf(arena, "!defined(%s)", d->rest);
	case LM_DIR_IF:
	case LM_DIR_ELIF:
		return d->rest;
	case LM_DIR_ELSE:
		return "1";
	case LM_DIR_ENDIF:
	case LM_DIR_DEFINE:
	case LM_DIR_UNDEF:
	case LM_DIR_NULL:
	case LM_DIR_OTHER:
		break;
	}
	return NULL;
}

static void add_branch(struct guards *all, uint32_t guard, const char *condition, uint32_t line, struct lm_arena *arena)
{
	struct guard *g = &all->items[guard];

	*LM_ARENA_PUSH(arena, g->branches, g->nr, g->cap) = (struct branch){ condition, line };
}

/* Where the reader stands, after one directive. */
static uint32_t step(struct guards *all, uint32_t at, const struct lm_directive *d, uint32_t line, struct lm_arena *arena)
{
	bool opens = d->kind == LM_DIR_IF || d->kind == LM_DIR_IFDEF || d->kind == LM_DIR_IFNDEF;
	const char *condition = condition_of(d, arena);

	if (opens) {
		uint32_t branch = at == NONE ? 0 : (uint32_t)all->items[at].nr - 1;

		*LM_ARENA_PUSH(arena, all->items, all->nr, all->cap) = (struct guard){ .parent = at,
										       .parent_branch = branch };
		at = (uint32_t)all->nr - 1;
	} else if (at == NONE && (condition || d->kind == LM_DIR_ENDIF)) {
		all->torn = true;
		return at;
	}
	if (condition)
		add_branch(all, at, condition, line, arena);
	else if (d->kind == LM_DIR_ENDIF)
		at = all->items[at].parent;
	return at;
}

static struct guards read_guards(const struct lm_guarded *g, struct lm_arena *arena)
{
	struct guards all = { 0 };
	struct lm_lexemes lex;
	uint32_t at = NONE;

	lm_lex(g->text, 0, g->len, g->line, arena, &lex);
	for (size_t i = 0; i < lex.nr && !all.torn; i++) {
		struct lm_directive d;

		if (lex.items[i].kind == LM_LEX_DIRECTIVE) {
			lm_lex_directive(g->text, &lex.items[i], arena, &d);
			at = step(&all, at, &d, lex.items[i].line, arena);
		} else if (lex.items[i].kind != LM_LEX_COMMENT) {
			for (uint32_t up = at; up != NONE; up = all.items[up].parent)
				all.items[up].full = true;
		}
	}
	if (at != NONE || all.torn)
		all.nr = 0;
	return all;
}

void lm_guards_tested(const struct lm_guarded *g, struct lm_arena *arena, struct lm_tested_list *to)
{
	struct guards all = read_guards(g, arena);

	for (size_t i = 0; i < all.nr; i++) {
		for (size_t b = 0; b < all.items[i].nr && all.items[i].full; b++) {
			struct condition c = { .arena = arena, .tested = to,
					       .place = { .record = g->record, .path = g->path,
							  .line = all.items[i].branches[b].line } };

			read_condition(&c, all.items[i].branches[b].condition);
		}
	}
}

/* All options that the guard's conditions mention, with their values. */
static void add_values(const struct guard *g, const struct lm_option_value *values, size_t nr, struct lm_arena *arena,
		       struct lm_str *key)
{
	struct lm_tested_list tested = { 0 };

	for (size_t b = 0; b < g->nr; b++) {
		struct condition c = { .arena = arena, .tested = &tested };

		read_condition(&c, g->branches[b].condition);
	}
	for (size_t t = 0; t < tested.nr; t++)
		for (size_t i = 0; i < nr; i++)
			if (!strcmp(values[i].name, tested.items[t].name))
				lm_str_addf(key, "%s=%s,", values[i].name, values[i].value ? values[i].value : "");
}

void lm_guards_key(const struct lm_guarded *g, const struct lm_option_value *values, size_t nr, struct lm_str *key)
{
	struct lm_arena arena = { 0 };
	struct guards all = read_guards(g, &arena);
	uint32_t *taken = LM_ARENA_ARRAY(&arena, uint32_t, all.nr + 1);

	/* taken: the branch; nr of branches: none; NONE: not known. */
	for (size_t i = 0; i < all.nr; i++) {
		const struct guard *guard = &all.items[i];
		enum truth t = NO;
		uint32_t b = 0;

		taken[i] = (uint32_t)guard->nr;
		if (guard->parent != NONE && taken[guard->parent] != NONE && taken[guard->parent] != guard->parent_branch) {
			lm_str_add_char(key, '-');
			continue;
		}
		for (; b < guard->nr && t == NO; b++) {
			struct condition c = { .arena = &arena, .values = values, .nr_values = nr };

			t = read_condition(&c, guard->branches[b].condition);
		}
		taken[i] = t == UNKNOWN ? NONE : t == YES ? b - 1 : (uint32_t)guard->nr;
		if (t == UNKNOWN) {
			lm_str_add_char(key, '?');
			add_values(guard, values, nr, &arena, key);
		} else {
			lm_str_addf(key, "%u", taken[i]);
		}
	}
	lm_str_add_char(key, ';');
	lm_arena_release(&arena);
}
