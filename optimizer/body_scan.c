/* body_scan.c - the lexemes of a body -> a row of items. */
#include "optimizer/body_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 256 };	/* what compilers take, too */

/* A guard that opened in the middle of a declaration. */
struct nest {
	uint32_t depth;		/* of brackets at its #if */
	uint32_t end_depth;	/* at the end of its first branch, or LM_NONE */
	bool has_else;
};

/* The declaration that is being read. */
struct decl {
	size_t at;		/* the lexeme looked at */
	uint32_t depth;		/* open brackets */
	uint32_t questions;	/* '?' that wait for their ':' */
	bool complete;		/* the last lexeme was a ';' at depth 0 */
	bool bits;
	bool torn;		/* a guard around it has an #else or #endif in its middle */
	bool ended;
	struct nest *nests;
	size_t nr_nests, cap_nests;
};

void lm_scan_refuse(struct lm_scan *s, const char *fmt, ...)
{
	va_list ap;
	char buf[512];

	if (s->refusal)
		return;
	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	s->refusal = lm_arena_strdup(s->arena, buf);
}

static struct lm_directive directive_at(const struct lm_scan *s, size_t at)
{
	struct lm_directive d;

	lm_lex_directive(s->text, &s->lex.items[at], s->arena, &d);
	return d;
}

static size_t column_of(const struct lm_scan *s, size_t at)
{
	size_t start = at, column = 1;

	while (start > 0 && s->text[start - 1] != '\n')
		start--;
	for (; start < at; start++)
		column = s->text[start] == '\t' ? (column - 1) / 8 * 8 + 9 : column + 1;
	return column;
}

static struct lm_item *push_item(struct lm_scan *s, enum lm_item_kind kind, size_t first, size_t last)
{
	struct lm_item *item = LM_ARENA_PUSH(s->arena, s->items, s->nr_items, s->cap_items);

	*item = (struct lm_item){ .kind = kind, .first = first, .last = last, .decl_first = first,
				  .decl_last = last, .guard = s->guard, .branch = s->branch };
	return item;
}

/* ---- directives between declarations ---- */

static void name_condition(struct lm_scan *s, struct lm_branch *b, const struct lm_directive *d)
{
	const char *rest = d->rest;
	size_t word = 0, len = strlen(rest);

	while (lm_lex_word_byte(rest[word]))
		word++;
	b->condition = rest;
	if (d->kind == LM_DIR_IFDEF || d->kind == LM_DIR_IFNDEF || d->kind == LM_DIR_ELIFDEF ||
	    d->kind == LM_DIR_ELIFNDEF) {
		b->negated = d->kind == LM_DIR_IFNDEF || d->kind == LM_DIR_ELIFNDEF;
		b->simple = lm_arena_strndup(s->arena, rest, word);
		b->condition = lm_arena_printf(s->arena, "%sdefined(%s)", b->negated ? "!" : "", b->simple);
		return;
	}
	if (d->kind == LM_DIR_ELSE) {
		b->condition = "";
		return;
	}
	b->negated = rest[0] == '!';
	rest += b->negated;
	len -= b->negated;
	while (*rest == ' ')
		rest++, len--;
	if (!strncmp(rest, "defined(", 8) && len > 9) {
		word = 8;
		while (lm_lex_word_byte(rest[word]))
			word++;
		if (word > 8 && word + 1 == len && rest[word] == ')')
			b->simple = lm_arena_strndup(s->arena, rest + 8, word - 8);
	}
	if (!b->simple)
		b->negated = false;
}

static void add_branch(struct lm_scan *s, struct lm_guard *g, const struct lm_directive *d)
{
	struct lm_branch *more = LM_ARENA_ARRAY(s->arena, struct lm_branch, g->nr_branches + 1u);

	if (g->nr_branches)
		memcpy(more, g->branches, g->nr_branches * sizeof(*more));
	name_condition(s, &more[g->nr_branches], d);
	g->branches = more;
	g->nr_branches++;
}

static void open_guard(struct lm_scan *s, size_t at, const struct lm_directive *d)
{
	uint32_t id = (uint32_t)s->nr_guards;
	size_t nr = s->nr_guards;
	struct lm_guard *g = LM_ARENA_PUSH(s->arena, s->guards, s->nr_guards, s->cap_guards);

	*g = (struct lm_guard){ .parent = s->guard, .parent_branch = s->branch, .line = s->lex.items[at].line };
	*LM_ARENA_PUSH(s->arena, s->guard_if, nr, s->cap_guard_if) = s->nr_items;
	add_branch(s, g, d);
	s->guard = id;
	s->branch = 0;
	push_item(s, LM_ITEM_IF, at, at + 1);
}

static struct lm_err *unbalanced(const struct lm_scan *s, size_t at, const char *word)
{
	return lm_err_new(LM_ERR_INPUT, "%s:%u: #%s without an #if inside the record; balance the guards.", s->path,
			  s->lex.items[at].line, word);
}

static struct lm_err *next_branch(struct lm_scan *s, size_t at, const struct lm_directive *d)
{
	if (s->guard == LM_NONE)
		return unbalanced(s, at, d->word);

	struct lm_guard *g = &s->guards[s->guard];

	if (!*g->branches[g->nr_branches - 1].condition)
		return lm_err_new(LM_ERR_INPUT, "%s:%u: #%s behind the #else of the #if at line %u; "
				  "balance the guards.", s->path, s->lex.items[at].line, d->word, g->line);
	add_branch(s, g, d);
	s->branch = g->nr_branches - 1;
	push_item(s, LM_ITEM_MID, at, at + 1);
	return NULL;
}

static struct lm_err *close_guard(struct lm_scan *s, size_t at)
{
	if (s->guard == LM_NONE)
		return unbalanced(s, at, "endif");
	push_item(s, LM_ITEM_ENDIF, at, at + 1);
	s->branch = s->guards[s->guard].parent_branch;
	s->guard = s->guards[s->guard].parent;
	return NULL;
}

static struct lm_err *take_directive(struct lm_scan *s, size_t at)
{
	struct lm_directive d = directive_at(s, at);

	switch (d.kind) {
	case LM_DIR_IF:
	case LM_DIR_IFDEF:
	case LM_DIR_IFNDEF:
		if (!*d.rest)
			return lm_err_new(LM_ERR_INPUT, "%s:%u: #%s without a condition.", s->path,
					  s->lex.items[at].line, d.word);
		open_guard(s, at, &d);
		return NULL;
	case LM_DIR_ELIF:
	case LM_DIR_ELIFDEF:
	case LM_DIR_ELIFNDEF:
		if (!*d.rest)
			return lm_err_new(LM_ERR_INPUT, "%s:%u: #%s without a condition.", s->path,
					  s->lex.items[at].line, d.word);
		return next_branch(s, at, &d);
	case LM_DIR_ELSE:
		return next_branch(s, at, &d);
	case LM_DIR_ENDIF:
		return close_guard(s, at);
	case LM_DIR_DEFINE:
	case LM_DIR_UNDEF:
	case LM_DIR_NULL:
		push_item(s, LM_ITEM_STUCK, at, at + 1);
		return NULL;
	case LM_DIR_OTHER:
		lm_scan_refuse(s, "#%s inside the record at line %u", d.word, s->lex.items[at].line);
		push_item(s, LM_ITEM_COMMENT, at, at + 1);
		return NULL;
	}
	return NULL;
}

/* ---- comments ---- */

/* "private:" and "public:" rule what kernel-doc says of all members behind them. */
static bool is_section_mark(const struct lm_scan *s, size_t at)
{
	const char *p = s->text + s->lex.items[at].begin + 2, *end = s->text + s->lex.items[at].end;

	while (p < end && (lm_lex_space(*p) || *p == '*'))
		p++;
	return (end - p >= 8 && !memcmp(p, "private:", 8)) || (end - p >= 7 && !memcmp(p, "public:", 7));
}

/* Does the comment go on with what stands behind the last declaration? */
static bool is_trailing(const struct lm_scan *s, size_t at)
{
	const struct lm_item *prev = s->nr_items ? &s->items[s->nr_items - 1] : NULL;

	if (!prev || (prev->kind != LM_ITEM_DECL && prev->kind != LM_ITEM_STUCK))
		return false;

	const struct lm_lexeme *x = &s->lex.items[at], *last = &s->lex.items[prev->last - 1];

	if (x->line == last->last_line)
		return true;
	return prev->trail && x->line == last->last_line + 1 &&
	       column_of(s, x->begin) >= column_of(s, s->lex.items[prev->trail].begin);
}

/* Behind the '{' on its line, and nothing else there: it speaks of the record. */
static bool is_behind_brace(const struct lm_scan *s, size_t at)
{
	const struct lm_lexeme *x = s->lex.items;

	return at == 0 && x[0].line == s->line && (s->lex.nr == 1 || x[1].line > x[0].last_line);
}

/*
 * Comments at `at`: behind a declaration, a section's heading, or above the
 * declaration at the index returned (then nothing is taken).
 */
static size_t take_comments(struct lm_scan *s, size_t at, bool *above)
{
	const struct lm_lexeme *x = s->lex.items;
	size_t end = at + 1;

	*above = false;
	if (is_trailing(s, at)) {
		struct lm_item *prev = &s->items[s->nr_items - 1];

		if (!prev->trail)
			prev->trail = at;
		prev->last = at + 1;
		return at + 1;
	}
	if (is_section_mark(s, at) || is_behind_brace(s, at)) {
		push_item(s, LM_ITEM_COMMENT, at, at + 1)->stays = true;
		return at + 1;
	}
	while (end < s->lex.nr && x[end].kind == LM_LEX_COMMENT && x[end].line <= x[end - 1].last_line + 1 &&
	       !is_section_mark(s, end))
		end++;
	*above = end < s->lex.nr && x[end].kind != LM_LEX_COMMENT && x[end].kind != LM_LEX_DIRECTIVE &&
		 x[end].line <= x[end - 1].last_line + 1;
	if (!*above)
		push_item(s, LM_ITEM_COMMENT, at, end);
	return end;
}

/* ---- declarations ---- */

static void nest_if(struct lm_scan *s, struct decl *d)
{
	struct nest *n = LM_ARENA_PUSH(s->arena, d->nests, d->nr_nests, d->cap_nests);

	*n = (struct nest){ .depth = d->depth, .end_depth = LM_NONE };
}

/* The end of one branch: all branches must open and close the same brackets. */
static void nest_branch_end(struct lm_scan *s, struct decl *d, uint32_t line)
{
	struct nest *n = &d->nests[d->nr_nests - 1];

	if (n->end_depth == LM_NONE)
		n->end_depth = d->depth;
	else if (n->end_depth != d->depth)
		lm_scan_refuse(s, "the branches of the guard that ends at line %u open different brackets", line);
}

static void nest_endif(struct lm_scan *s, struct decl *d, uint32_t line)
{
	struct nest *n = &d->nests[d->nr_nests - 1];

	nest_branch_end(s, d, line);
	if (!n->has_else && n->end_depth != n->depth)
		lm_scan_refuse(s, "the guard that ends at line %u opens or closes a bracket", line);
	d->depth = n->end_depth;
	d->nr_nests--;
	d->ended = !d->nr_nests && !d->depth && d->complete;
}

static void decl_directive(struct lm_scan *s, struct decl *d)
{
	struct lm_directive dir = directive_at(s, d->at);
	uint32_t line = s->lex.items[d->at].line;
	bool mid = dir.kind == LM_DIR_ELSE || dir.kind == LM_DIR_ELIF || dir.kind == LM_DIR_ELIFDEF ||
		   dir.kind == LM_DIR_ELIFNDEF;

	if (dir.kind == LM_DIR_IF || dir.kind == LM_DIR_IFDEF || dir.kind == LM_DIR_IFNDEF) {
		nest_if(s, d);
	} else if (mid || dir.kind == LM_DIR_ENDIF) {
		if (!d->nr_nests) {
			d->torn = true;
		} else if (mid) {
			nest_branch_end(s, d, line);
			d->nests[d->nr_nests - 1].has_else |= dir.kind == LM_DIR_ELSE;
			d->depth = d->nests[d->nr_nests - 1].depth;
		} else {
			nest_endif(s, d, line);
		}
	} else if (dir.kind == LM_DIR_OTHER) {
		lm_scan_refuse(s, "#%s inside the record at line %u", dir.word, line);
	}
}

static struct lm_err *decl_punct(struct lm_scan *s, struct decl *d)
{
	const struct lm_lexeme *x = &s->lex.items[d->at];
	char c = s->text[x->begin];

	d->complete = false;
	if (c == '#')	/* on a line of its own it would become a directive */
		return lm_err_new(LM_ERR_INPUT, "%s:%u: this '#' starts no directive.", s->path, x->line);
	if (c == '(' || c == '[' || c == '{') {
		if (d->depth++ > MAX_DEPTH)
			return lm_err_new(LM_ERR_INPUT, "%s:%u: brackets are nested too deeply.", s->path, x->line);
	} else if (c == ')' || c == ']' || c == '}') {
		if (!d->depth)
			return lm_err_new(LM_ERR_INPUT, "%s:%u: '%c' closes nothing inside the record.", s->path,
					  x->line, c);
		d->depth--;
	} else if (!d->depth && c == ';') {
		d->complete = true;
		d->ended = !d->nr_nests;
		d->questions = 0;
	} else if (!d->depth && c == '?') {
		d->questions++;
	} else if (!d->depth && c == ':') {
		if (d->questions)
			d->questions--;
		else
			d->bits = true;
	}
	return NULL;
}

static struct lm_err *read_decl(struct lm_scan *s, struct decl *d)
{
	size_t start = d->at;
	struct lm_err *err = NULL;

	while (!err && d->at < s->lex.nr) {
		const struct lm_lexeme *x = &s->lex.items[d->at];

		if (x->kind == LM_LEX_DIRECTIVE)
			decl_directive(s, d);
		else if (x->kind == LM_LEX_PUNCT)
			err = decl_punct(s, d);
		else if (x->kind != LM_LEX_COMMENT)
			d->complete = false;
		if (d->torn || err)
			return err;
		d->at++;
		if (d->ended)
			return NULL;
	}
	return err ? err : lm_err_new(LM_ERR_INPUT, "%s:%u: this declaration has no end inside the record.", s->path,
				      s->lex.items[start].line);
}

/* Does an extent say that a bit-field lies between these lexemes? */
static bool extent_bits(const struct lm_scan *s, size_t first, size_t last)
{
	size_t end = s->lex.items[last - 1].end;

	for (size_t e = lm_scan_extent(s, s->lex.items[first].begin); e < s->nr_extents; e++) {
		if (s->extents[e].begin >= end)
			return false;
		if (s->extents[e].bit_field)
			return true;
	}
	return false;
}

static bool is_assert(const struct lm_scan *s, size_t at)
{
	const struct lm_lexeme *x = &s->lex.items[at];

	return lm_lex_is(s->text, x, "_Static_assert") || lm_lex_is(s->text, x, "static_assert") ||
	       lm_lex_punct(s->text, x, ';');
}

/* Back to the #if whose #else or #endif tears a declaration: all of it becomes one. */
static struct lm_err *roll_back(struct lm_scan *s, size_t at, size_t *first)
{
	if (s->guard == LM_NONE)
		return unbalanced(s, at, directive_at(s, at).word);

	uint32_t id = s->guard;

	s->nr_items = s->guard_if[id];
	*first = s->items[s->nr_items].first;
	s->branch = s->guards[id].parent_branch;
	s->guard = s->guards[id].parent;
	s->nr_guards = id;
	return NULL;
}

/* The declaration at lexeme `at`, its comments from `first`; *next is the lexeme behind it. */
static struct lm_err *take_decl(struct lm_scan *s, size_t first, size_t at, size_t *next)
{
	size_t behind = lm_scan_macro(s, at);
	bool macro = behind != 0;
	struct decl d = { .at = at };

	while (!behind) {
		d = (struct decl){ .at = at };

		struct lm_err *err = read_decl(s, &d);

		if (!err && d.torn) {
			err = roll_back(s, d.at, &first);
			at = first;
		}
		if (err)
			return err;
		behind = d.ended ? d.at : 0;
	}

	bool stuck = s->lex.items[at].kind != LM_LEX_DIRECTIVE && is_assert(s, at);
	struct lm_item *item = push_item(s, stuck ? LM_ITEM_STUCK : LM_ITEM_DECL, first, behind);

	item->decl_first = at;
	item->macro = macro;
	item->bits = !stuck && ((d.bits && !macro) || extent_bits(s, at, behind));
	*next = behind;
	return NULL;
}

struct lm_err *lm_scan_body(struct lm_scan *s)
{
	const struct lm_lexeme *x = s->lex.items;
	struct lm_err *err = NULL;
	size_t i = 0;

	s->guard = LM_NONE;
	s->branch = 0;
	while (!err && i < s->lex.nr) {
		size_t first = i;
		bool above = true;

		if (x[i].kind == LM_LEX_COMMENT)
			i = take_comments(s, i, &above);
		if (!above)
			continue;
		if (x[i].kind == LM_LEX_DIRECTIVE)
			err = take_directive(s, i++);
		else
			err = take_decl(s, first, i, &i);
	}
	if (!err && s->guard != LM_NONE)
		err = lm_err_new(LM_ERR_INPUT, "%s:%u: this guard has no #endif inside the record; balance the guards.",
				 s->path, s->guards[s->guard].line);
	return err;
}
