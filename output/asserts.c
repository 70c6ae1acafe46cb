/* asserts.c - what was parted, as compile-time assertions in the project's manner. */
#include "output/asserts.h"

#include "optimizer/lexer.h"
#include "optimizer/path.h"

#include <string.h>

static const struct manner {
	const char *word, *offset, *line;
} manners[] = {
#define X(name, word, offset, line) { word, offset, line },
	LM_ASSERT_MANNERS(X)
#undef X
};

struct writing {
	const struct lm_story *story;
	const struct manner *manner;
	bool groups;
	const char *line;		/* its bytes, as text */
	const char *indent;		/* blanks as wide as the word and its parenthesis */
	struct lm_arena *arena;
	struct lm_str text;
	uint32_t nr;
};

/* ---- where ---- */

/* Braces open in front of byte `at`; that of extern "C" does not count. */
static uint32_t depth_at(const char *text, size_t at, struct lm_arena *arena)
{
	struct lm_lexemes lex;
	uint32_t depth = 0;

	lm_lex(text, 0, at, 1, arena, &lex);
	for (size_t i = 0; i < lex.nr; i++) {
		if (lm_lex_punct(text, &lex.items[i], '{') && !(i && lex.items[i - 1].kind == LM_LEX_LITERAL))
			depth++;
		else if (lm_lex_punct(text, &lex.items[i], '}') && depth)
			depth--;
	}
	return depth;
}

/* Behind the line in which byte `at` stands, and behind a comment that begins in it. */
static size_t behind_line(const struct lm_body *body, const struct lm_lexemes *lex, size_t i)
{
	size_t at = lex->items[i].end;

	if (i + 1 < lex->nr && lex->items[i + 1].kind == LM_LEX_COMMENT && lex->items[i + 1].line == lex->items[i].last_line)
		at = lex->items[i + 1].end;
	while (at < body->len && body->text[at] != '\n')
		at++;
	return at < body->len ? at + 1 : at;
}

struct lm_err *lm_asserts_place(const char *path, const struct lm_body *body, const struct lm_record *rec,
				struct lm_arena *arena, size_t *at)
{
	struct lm_lexemes lex;
	uint32_t parens = 0;

	lm_lex(body->text, rec->close + 1, body->len, lm_lex_line(body->text, rec->close), arena, &lex);
	for (size_t i = 0; i < lex.nr && !depth_at(body->text, rec->open, arena); i++) {
		const struct lm_lexeme *x = &lex.items[i];

		if (lm_lex_punct(body->text, x, '('))
			parens++;
		else if (lm_lex_punct(body->text, x, ')'))
			parens -= parens > 0;
		else if (lm_lex_punct(body->text, x, '{') || lm_lex_punct(body->text, x, '}'))
			break;
		else if (lm_lex_punct(body->text, x, ';') && !parens) {
			*at = behind_line(body, &lex, i);
			return NULL;
		}
	}
	return lm_err_new(LM_ERR_REFUSED, "%s:%u: %s is no declaration of its own at file level, so no assertion can follow it; "
			  "leave --asserts out, and use --promise.", path, rec->line, rec->name);
}

/* ---- guards ---- */

/* "defined(A) && !(B > 2)": what must hold for text in this branch, its guard's parents first. */
static void add_guard(const struct lm_body *body, uint32_t guard, uint32_t branch, struct lm_str *out)
{
	const struct lm_guard *g;

	if (guard == LM_NONE)
		return;
	g = &body->guards[guard];
	add_guard(body, g->parent, g->parent_branch, out);
	for (uint32_t b = 0; b <= branch && b < g->nr_branches; b++) {
		const char *condition = g->branches[b].condition;

		if (!*condition)
			continue;	/* #else */
		if (g->branches[b].simple)
			lm_str_addf(out, "%s%sdefined(%s)", out->len ? " && " : "",
				    g->branches[b].negated == (b == branch) ? "!" : "", g->branches[b].simple);
		else
			lm_str_addf(out, "%s%s(%s)", out->len ? " && " : "", b == branch ? "" : "!", condition);
	}
}

static uint32_t unit_of(const struct lm_subject *s, uint32_t v, const char *member)
{
	uint32_t field;
	uint64_t begin, end;

	return lm_path_extent(s->views[v].rec, member, &field, &begin, &end) ? s->views[v].field_unit[field] : LM_NONE;
}

/* Was the same pair of units met in an earlier view?  Both branches of a guard may declare a member. */
static bool met_before(const struct writing *w, uint32_t v, const char *a, const char *b)
{
	const struct lm_subject *s = w->story->subject;

	for (uint32_t i = 0; i < v; i++)
		if (unit_of(s, i, a) == unit_of(s, v, a) && unit_of(s, i, b) == unit_of(s, v, b))
			return true;
	return false;
}

/* The #if line for an assertion about the two members as view v has them, or "". */
static const char *guard_line(const struct writing *w, uint32_t v, const char *a, const char *b)
{
	const struct lm_body *body = w->story->subject->body;
	const struct lm_unit *ua = &body->units[unit_of(w->story->subject, v, a)];
	const struct lm_unit *ub = &body->units[unit_of(w->story->subject, v, b)];
	struct lm_str one = { 0 }, two = { 0 };
	const char *line = "";
	size_t len;

	add_guard(body, ua->guard, ua->branch, &one);
	add_guard(body, ub->guard, ub->branch, &two);
	/* The outer guards that both have say it once. */
	if (two.len && strcmp(lm_str_text(&one), lm_str_text(&two)))
		lm_str_addf(&one, "%s%s", one.len ? " && " : "", lm_str_text(&two));
	len = strlen(lm_str_text(&one));
	if (len > 9 && !strncmp(one.text, "defined(", 8) && strchr(one.text, ')') == one.text + len - 1)
		line = lm_arena_printf(w->arena, "#ifdef %.*s\n", (int)(len - 9), one.text + 8);
	else if (len)
		line = lm_arena_printf(w->arena, "#if %s\n", one.text);
	lm_str_release(&one);
	lm_str_release(&two);
	return line;
}

/* ---- one pair ---- */

struct side {
	const char *member;
	uint64_t begin, end;
	bool scalar;		/* lies on one line wherever it is */
};

static bool find_side(const struct writing *w, uint32_t v, const char *member, struct side *out)
{
	const struct lm_record *rec = w->story->subject->views[v].rec;
	uint32_t field;

	if (!lm_path_extent(rec, member, &field, &out->begin, &out->end) || rec->fields[field].bits != LM_NOT_BITS ||
	    out->end == out->begin)
		return false;
	out->begin += w->story->plan->after[v].bit_offset[field] / 8;
	out->end += w->story->plan->after[v].bit_offset[field] / 8;
	out->member = member;
	out->scalar = out->end - out->begin <= 8 && !(rec->fields[field].is_record || rec->fields[field].is_array);
	return true;
}

static uint64_t step_of(const struct writing *w, uint32_t v)
{
	uint32_t align = w->story->plan->after[v].align;

	return align > w->story->opts->base_align ? align : w->story->opts->base_align;
}

/*
 * The two sides in their order, if the assertion below is true in every view
 * that has both: it must be, before it is written.
 */
static bool provable(const struct writing *w, const char *a, const char *b, struct side *first, struct side *second,
		     uint64_t *step)
{
	uint32_t line = w->story->opts->line;
	bool any = false, turned = false;

	*step = UINT64_MAX;
	for (uint32_t v = 0; v < w->story->subject->nr_views; v++)
		*step = step_of(w, v) < *step ? step_of(w, v) : *step;
	for (uint32_t v = 0; v < w->story->subject->nr_views; v++) {
		struct side x, y;

		if (!find_side(w, v, a, &x) || !find_side(w, v, b, &y))
			continue;

		bool swap = y.begin < x.begin;

		if (any && swap != turned)
			return false;
		turned = swap;
		*first = swap ? y : x;
		*second = swap ? x : y;
		if (*step >= line ? (first->end - 1) / line >= second->begin / line :
		    second->begin < first->end + line - *step)
			return false;
		any = true;
	}
	return any;
}

static void add_offset(struct writing *w, const char *member)
{
	lm_str_addf(&w->text, "%s(%s, %s)", w->manner->offset, w->story->record, member);
}

static void add_end(struct writing *w, const struct side *s)
{
	add_offset(w, s->member);
	lm_str_addf(&w->text, " +\n%s sizeof(((%s *)0)->%s)", w->indent, w->story->record, s->member);
}

static void add_condition(struct writing *w, const struct side *a, const struct side *b, uint64_t step)
{
	if (step < w->story->opts->line) {
		lm_str_add_char(&w->text, '(');
		add_offset(w, b->member);
		lm_str_addf(&w->text, " >=\n%s ", w->indent);
		add_end(w, a);
		lm_str_addf(&w->text, " + %u,", w->story->opts->line - (unsigned)step);
		return;
	}
	if (a->scalar) {
		lm_str_add_char(&w->text, '(');
		add_offset(w, a->member);
	} else {
		lm_str_add(&w->text, "((");
		add_end(w, a);
		lm_str_add(&w->text, " - 1)");
	}
	lm_str_addf(&w->text, " / %s %s\n%s", w->line, a->scalar && b->scalar ? "!=" : "<", w->indent);
	add_offset(w, b->member);
	lm_str_addf(&w->text, " / %s,", w->line);
}

static void add_pair(struct writing *w, uint32_t v, const char *a, const char *b)
{
	struct side first, second;
	const char *guard;
	uint64_t step;

	if (!provable(w, a, b, &first, &second, &step))
		return;
	guard = guard_line(w, v, a, b);
	lm_str_addf(&w->text, "%s%s", guard, w->manner->word);
	add_condition(w, &first, &second, step);
	lm_str_addf(&w->text, "\n%s\"%s and %s must not share a cache line\");\n%s", w->indent, a, b, *guard ? "#endif\n" : "");
	w->nr++;
}

/* ---- groups ---- */

/* The name in __cacheline_group_begin(NAME) of the group that unit u is in, or NULL. */
static const char *group_of(const struct writing *w, uint32_t u)
{
	const struct lm_body *body = w->story->subject->body;
	const struct lm_unit *begin = NULL;
	const char *open, *close;

	for (uint32_t i = 0; i < body->nr_units; i++) {
		uint32_t unit = w->story->plan->order.units[i];

		if (unit == u)
			break;
		if (body->units[unit].group_begin)
			begin = &body->units[unit];
		else if (body->units[unit].group_end)
			begin = NULL;
	}
	if (!begin)
		return NULL;
	open = memchr(body->text + begin->decl_begin, '(', begin->decl_end - begin->decl_begin);
	close = open ? memchr(open, ')', (size_t)(body->text + begin->decl_end - open)) : NULL;
	return close ? lm_lex_fold(open, 1, (size_t)(close - open), w->arena) : NULL;
}

static void add_group(struct writing *w, uint32_t v, const char *member)
{
	const char *group = group_of(w, unit_of(w->story->subject, v, member)), *guard, *line;

	if (!group || strpbrk(member, ".["))
		return;
	guard = guard_line(w, v, member, member);
	line = lm_arena_printf(w->arena, "%sCACHELINE_ASSERT_GROUP_MEMBER(%s, %s, %s);\n%s", guard, w->story->record, group,
			       member, *guard ? "#endif\n" : "");
	if (strstr(lm_str_text(&w->text), line))
		return;
	lm_str_add(&w->text, line);
	w->nr++;
}

/* ---- all of it ---- */

static void add_promise(struct writing *w, const char *a, const char *b)
{
	const struct lm_subject *s = w->story->subject;

	for (uint32_t v = 0; v < s->nr_views; v++) {
		if (unit_of(s, v, a) == LM_NONE || unit_of(s, v, b) == LM_NONE || met_before(w, v, a, b))
			continue;
		add_pair(w, v, a, b);
		if (w->groups) {
			add_group(w, v, a);
			add_group(w, v, b);
		}
	}
}

void lm_asserts_make(const struct lm_story *story, const struct lm_promises *p, enum lm_assert_manner manner,
		     struct lm_arena *arena, struct lm_asserts *out)
{
	struct writing w = { .story = story, .manner = &manners[manner], .groups = manner == LM_ASSERT_GROUPS,
			     .arena = arena };

	w.line = w.manner->line ? w.manner->line : lm_arena_printf(arena, "%u", story->opts->line);
	w.indent = lm_arena_printf(arena, "\t%*s", (int)strlen(w.manner->word) + 1 - 8, "");
	lm_str_add(&w.text, "\n/* Different CPUs write the one and read the other. */\n");
	for (size_t i = 0; i < p->nr; i++) {
		const struct lm_promise *x = &p->items[i];

		if (x->kind != LM_PROMISE_APART || x->nr_configs)
			continue;
		add_promise(&w, x->members[0], x->members[1]);
	}
	out->nr = w.nr;
	out->len = w.nr ? w.text.len : 0;
	out->text = lm_arena_strndup(arena, lm_str_text(&w.text), out->len);
	lm_str_release(&w.text);
}

char *lm_asserts_insert(const struct lm_asserts *a, const char *text, size_t len, size_t at, struct lm_arena *arena)
{
	char *all = lm_arena_alloc(arena, len + a->len + 1);

	memcpy(all, text, at);
	memcpy(all + at, a->text, a->len);
	memcpy(all + at + a->len, text + at, len - at);
	return all;
}

void lm_asserts_append(const struct lm_asserts *a, const struct lm_body *body, struct lm_arena *arena,
		       struct lm_rewrite *rewrite)
{
	/* Behind the record every byte is as far from the end as it was. */
	rewrite->text = lm_asserts_insert(a, rewrite->text, rewrite->len, rewrite->len - (body->len - a->at), arena);
	rewrite->len += a->len;
	rewrite->added_at = a->at;
	rewrite->added_text = a->text;
	rewrite->added_len = a->len;
	rewrite->nr_asserts = a->nr;
}
