/* body.c - the text between a record's braces -> pieces and units. */
#include "optimizer/body.h"

#include "base/table.h"
#include "optimizer/body_scan.h"

#include <stdlib.h>
#include <string.h>

/* ---- extents ---- */

static int by_extent(const void *pa, const void *pb)
{
	const struct lm_extent *a = pa, *b = pb;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return (int)b->bit_field - (int)a->bit_field;
}

static void take_extents(struct lm_scan *s, const struct lm_extent *extents, size_t nr)
{
	struct lm_extent *mine = LM_ARENA_ARRAY(s->arena, struct lm_extent, nr + 1);

	for (size_t i = 0; i < nr; i++)
		if (extents[i].begin >= s->begin && extents[i].end <= s->end && extents[i].begin < extents[i].end)
			mine[s->nr_extents++] = extents[i];
	qsort(mine, s->nr_extents, sizeof(*mine), by_extent);
	s->extents = mine;
}

/* ---- macros defined inside the record ---- */

/* In two branches of one guard: never seen together, whatever moves. */
static bool exclude_each_other(const struct lm_scan *s, const struct lm_item *a, const struct lm_item *b)
{
	uint32_t ga = a->guard, ba = a->branch;

	for (; ga != LM_NONE; ba = s->guards[ga].parent_branch, ga = s->guards[ga].parent) {
		uint32_t gb = b->guard, bb = b->branch;

		for (; gb != LM_NONE; bb = s->guards[gb].parent_branch, gb = s->guards[gb].parent)
			if (ga == gb && ba != bb)
				return true;
	}
	return false;
}

/* A macro may travel with its unit only if nobody else in the record needs it. */
static void check_define(struct lm_scan *s, const struct lm_item *owner, const struct lm_directive *d, uint32_t line)
{
	const char *name = lm_scan_macro_name(s, d);

	for (size_t k = 0; !s->refusal && k < s->nr_items; k++) {
		const struct lm_item *item = &s->items[k];
		/* Two that never move keep their order; an #if is where its guard is, not inside. */
		bool still = item->kind == LM_ITEM_COMMENT && owner->kind == LM_ITEM_COMMENT;
		bool inside = item->kind == LM_ITEM_COMMENT || item->kind == LM_ITEM_DECL;

		if (item == owner || still || (inside && exclude_each_other(s, owner, item)))
			continue;
		for (size_t i = item->first; i < item->last; i++)
			if (s->lex.items[i].kind != LM_LEX_COMMENT && lm_scan_uses_word(s, i, name))
				lm_scan_refuse(s, "a macro defined at line %u inside the record is used by "
					       "other members", line);
	}
}

static void check_defines(struct lm_scan *s)
{
	for (size_t k = 0; !s->refusal && k < s->nr_items; k++) {
		const struct lm_item *item = &s->items[k];

		if (item->kind != LM_ITEM_DECL && item->kind != LM_ITEM_COMMENT)
			continue;
		for (size_t i = item->first; i < item->last; i++) {
			struct lm_directive d;

			if (s->lex.items[i].kind != LM_LEX_DIRECTIVE)
				continue;
			lm_lex_directive(s->text, &s->lex.items[i], s->arena, &d);
			if (d.kind == LM_DIR_DEFINE || d.kind == LM_DIR_UNDEF)
				check_define(s, item, &d, s->lex.items[i].line);
		}
	}
}

/* ---- pieces ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\f' || c == '\v';
}

/* From the start of its line, or from the piece before it. */
static size_t piece_begin(const struct lm_scan *s, size_t at, size_t limit)
{
	size_t i = at;

	while (i > limit && is_blank(s->text[i - 1]))
		i--;
	return i == limit || s->text[i - 1] == '\n' ? i : at;
}

/* To behind its line's end if nothing else follows on the line. */
static size_t piece_end(const struct lm_scan *s, size_t at)
{
	size_t i = at;

	while (i < s->end && (is_blank(s->text[i]) || s->text[i] == '\r'))
		i++;
	return i < s->end && s->text[i] == '\n' ? i + 1 : at;
}

static struct lm_piece *push_piece(struct lm_body *b, const struct lm_piece *p)
{
	b->pieces[b->nr_pieces] = *p;
	return &b->pieces[b->nr_pieces++];
}

/* The white space between the pieces, in the guard it stands in. */
static void push_blank(struct lm_scan *s, struct lm_body *b, size_t begin, size_t end, uint32_t guard, uint32_t branch)
{
	if (begin == end)
		return;
	if (memchr(s->text + begin, '\\', end - begin))
		lm_scan_refuse(s, "a line is continued with a backslash between members at line %u",
			       lm_lex_line(s->text, begin));
	push_piece(b, &(struct lm_piece){ .kind = LM_PIECE_BLANK, .begin = begin, .end = end, .unit = LM_NONE,
					  .guard = guard, .branch = branch });
}

static enum lm_piece_kind piece_kind(const struct lm_item *item)
{
	switch (item->kind) {
	case LM_ITEM_IF:
		return LM_PIECE_IF;
	case LM_ITEM_MID:
		return LM_PIECE_MID;
	case LM_ITEM_ENDIF:
		return LM_PIECE_ENDIF;
	case LM_ITEM_COMMENT:
		return LM_PIECE_COMMENT;
	case LM_ITEM_DECL:
	case LM_ITEM_STUCK:
		return LM_PIECE_UNIT;
	}
	return LM_PIECE_UNIT;
}

static void add_piece(struct lm_scan *s, struct lm_body *b, const struct lm_item *item, const struct lm_piece *p)
{
	if (item->kind == LM_ITEM_DECL) {
		struct lm_unit *u = &b->units[b->nr_units];

		lm_scan_describe(s, item, u);
		u->begin = p->begin;
		u->end = p->end;
		u->guard = item->guard;
		u->branch = item->branch;
		push_piece(b, p)->unit = b->nr_units++;
		return;
	}
	if (p->kind == LM_PIECE_IF || p->kind == LM_PIECE_MID) {
		b->guards[item->guard].branches[item->branch].begin = p->begin;
		b->guards[item->guard].branches[item->branch].end = p->end;
	}
	push_piece(b, p);
}

static void tile(struct lm_scan *s, struct lm_body *b)
{
	size_t at = s->begin;
	uint32_t guard = LM_NONE, branch = 0;

	b->pieces = LM_ARENA_ARRAY(s->arena, struct lm_piece, 2 * s->nr_items + 1);
	b->units = LM_ARENA_ARRAY(s->arena, struct lm_unit, s->nr_items + 1);
	b->guards = s->guards;
	b->nr_guards = (uint32_t)s->nr_guards;
	for (size_t i = 0; i < s->nr_items; i++) {
		const struct lm_item *item = &s->items[i];
		struct lm_piece p = { .kind = piece_kind(item), .unit = LM_NONE, .guard = item->guard,
				      .branch = item->branch };

		p.begin = piece_begin(s, s->lex.items[item->first].begin, at);
		p.end = piece_end(s, s->lex.items[item->last - 1].end);
		push_blank(s, b, at, p.begin, guard, branch);
		add_piece(s, b, item, &p);
		at = p.end;
		guard = item->guard;
		branch = item->branch;
		if (item->kind == LM_ITEM_ENDIF) {
			branch = s->guards[guard].parent_branch;
			guard = s->guards[guard].parent;
		}
	}
	push_blank(s, b, at, s->end, guard, branch);
}

/* ---- the whole ---- */

static void make_names_unique(struct lm_body *b, struct lm_arena *arena)
{
	struct lm_strings *seen = lm_strings_new();
	uint32_t *uses = LM_ARENA_ARRAY(arena, uint32_t, b->nr_units + 1u);
	uint32_t *ids = LM_ARENA_ARRAY(arena, uint32_t, b->nr_units + 1u);

	for (uint32_t i = 0; i < b->nr_units; i++)
		ids[i] = lm_strings_add(seen, b->units[i].name, strlen(b->units[i].name));
	for (uint32_t i = 0; i < b->nr_units; i++) {
		const char *name = b->units[i].name;

		if (!uses[ids[i]]++)
			continue;
		do
			name = lm_arena_printf(arena, "%s#%u", b->units[i].name, uses[ids[i]]++);
		while (lm_strings_find(seen, name, strlen(name)) != LM_NO_STRING);
		uses[ids[i]]--;
		b->units[i].name = name;
	}
	lm_strings_free(seen);
}

static bool mostly_crlf(const char *text, size_t begin, size_t end)
{
	size_t crlf = 0, lf = 0;

	for (size_t i = begin; i < end; i++) {
		lf += text[i] == '\n';
		crlf += text[i] == '\n' && i > begin && text[i - 1] == '\r';
	}
	return crlf * 2 > lf;
}

enum { DEEPEST = 100 };	/* guards inside guards */

/* Moves take their guards along: each carries all that are around it. */
static void check_depth(struct lm_scan *s)
{
	uint32_t *depth = LM_ARENA_ARRAY(s->arena, uint32_t, s->nr_guards + 1);

	for (size_t g = 0; g < s->nr_guards; g++) {
		uint32_t parent = s->guards[g].parent;

		depth[g] = parent == LM_NONE ? 1 : depth[parent] + 1;
		if (depth[g] > DEEPEST)
			lm_scan_refuse(s, "more than %d guards inside each other at line %u", DEEPEST, s->guards[g].line);
	}
}

struct lm_err *lm_body_read(const char *path, const char *text, size_t len, size_t open, size_t close,
			    const struct lm_extent *extents, size_t nr_extents, struct lm_arena *arena,
			    struct lm_body *out)
{
	if (open >= close || close >= len || text[open] != '{' || text[close] != '}')
		return lm_err_new(LM_ERR_INPUT, "%s: the braces of the record are not written in this file.", path);

	struct lm_scan s = { .path = path, .text = text, .begin = open + 1, .end = close, .arena = arena,
			     .line = lm_lex_line(text, open) };
	struct lm_err *err;

	take_extents(&s, extents, nr_extents);
	lm_lex(text, s.begin, s.end, s.line, arena, &s.lex);
	if (s.lex.unclosed != LM_LEX_FINE)
		return lm_err_new(LM_ERR_INPUT, "%s:%u: this %s has no end inside the record; close it.", path,
				  s.lex.items[s.lex.unclosed].line,
				  s.lex.items[s.lex.unclosed].kind == LM_LEX_LITERAL ? "literal" : "comment");
	err = lm_scan_body(&s);
	if (err)
		return err;
	lm_scan_join(&s);
	check_defines(&s);
	check_depth(&s);

	struct lm_body b = { .text = text, .len = len, .begin = s.begin, .end = s.end,
			     .crlf = mostly_crlf(text, s.begin, s.end) };

	tile(&s, &b);
	b.refusal = s.refusal;
	make_names_unique(&b, arena);
	*out = b;
	return NULL;
}

uint32_t lm_body_unit_at(const struct lm_body *body, size_t at)
{
	uint32_t low = 0, high = body->nr_units;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (body->units[mid].end <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low < body->nr_units && body->units[low].begin <= at ? low : LM_NONE;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void lm_body_tokens(const char *text, size_t begin, size_t end, struct lm_arena *arena, struct lm_tokens *out)
{
	struct lm_lexemes lex;

	lm_lex(text, begin, end, 1, arena, &lex);
	*out = (struct lm_tokens){ .items = LM_ARENA_ARRAY(arena, const char *, lex.nr + 1),
				   .directives = LM_ARENA_ARRAY(arena, const char *, lex.nr + 1) };
	for (size_t i = 0; i < lex.nr; i++) {
		const struct lm_lexeme *x = &lex.items[i];

		if (x->kind == LM_LEX_DIRECTIVE)
			out->directives[out->nr_directives++] = lm_lex_fold(text, x->begin, x->end, arena);
		else
			out->items[out->nr++] = lm_arena_strndup(arena, text + x->begin, x->end - x->begin);
	}
	qsort(out->items, out->nr, sizeof(*out->items), by_bytes);
	qsort(out->directives, out->nr_directives, sizeof(*out->directives), by_bytes);
}
