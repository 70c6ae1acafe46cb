/* rewrite_guard.c - guards repeated, split and removed. */
#include "output/rewrite_parts.h"

#include "base/str.h"
#include "optimizer/lexer.h"

#include <string.h>

static const char *negation(const struct lm_branch *b, struct lm_arena *arena)
{
	if (b->simple)
		return lm_arena_printf(arena, "%sdefined(%s)", b->negated ? "" : "!", b->simple);
	return lm_arena_printf(arena, "!(%s)", b->condition);
}

/* When the compiler takes branch b: none before it, and its own condition. */
static const char *full_condition(const struct lm_writer *w, const struct lm_guard *g, uint32_t b)
{
	const struct lm_branch *own = &g->branches[b];
	struct lm_str s = { 0 };

	if (!b && !own->simple)
		return own->condition;
	for (uint32_t i = 0; i < b; i++) {
		lm_str_add(&s, i ? " && " : "");
		lm_str_add(&s, negation(&g->branches[i], w->arena));
	}
	if (own->simple)
		lm_str_addf(&s, "%s%sdefined(%s)", b ? " && " : "", own->negated ? "!" : "", own->simple);
	else if (*own->condition)
		lm_str_addf(&s, " && (%s)", own->condition);

	const char *text = lm_arena_strdup(w->arena, lm_str_text(&s));

	lm_str_release(&s);
	return text;
}

struct lm_path lm_writer_path(const struct lm_writer *w, uint32_t guard, uint32_t branch)
{
	struct lm_path p = { .nr = 0 };

	for (uint32_t g = guard; g != LM_NONE; g = w->body->guards[g].parent)
		p.nr++;
	p.steps = LM_ARENA_ARRAY(w->arena, struct lm_step, p.nr + 1u);
	for (uint32_t k = p.nr; k-- > 0;) {
		const struct lm_guard *g = &w->body->guards[guard];

		p.steps[k] = (struct lm_step){ .guard = guard, .branch = branch,
					       .condition = full_condition(w, g, branch) };
		branch = g->parent_branch;
		guard = g->parent;
	}
	return p;
}

uint32_t lm_path_common(const struct lm_path *a, const struct lm_path *b)
{
	uint32_t n = 0;

	while (n < a->nr && n < b->nr && !strcmp(a->steps[n].condition, b->steps[n].condition))
		n++;
	return n;
}

/* A directive as it is written, without indentation in front and newline behind. */
static const char *piece_line(const struct lm_writer *w, uint32_t piece)
{
	size_t begin = w->body->pieces[piece].begin, end = w->body->pieces[piece].end;

	while (end > begin && lm_lex_space(w->body->text[end - 1]))
		end--;
	return lm_arena_strndup(w->arena, w->body->text + begin, end - begin);
}

static uint32_t branch_piece(const struct lm_writer *w, uint32_t guard, uint32_t branch)
{
	uint32_t p = w->if_piece[guard];

	while (branch && ++p < w->body->nr_pieces)
		branch -= w->body->pieces[p].guard == guard && w->body->pieces[p].kind == LM_PIECE_MID;
	return p;
}

/* "#ifndef X" for the #else of "#ifdef X"; "#if !(A) && (B)" where there is no short form. */
static const char *branch_line(const struct lm_writer *w, const struct lm_step *step)
{
	const struct lm_branch *first = &w->body->guards[step->guard].branches[0];
	const struct lm_branch *own = &w->body->guards[step->guard].branches[step->branch];

	if (!step->branch)
		return piece_line(w, w->if_piece[step->guard]);
	if (step->branch == 1 && first->simple && !*own->condition)
		return lm_arena_printf(w->arena, "#%s %s", first->negated ? "ifdef" : "ifndef", first->simple);
	return lm_arena_printf(w->arena, "#if %s", step->condition);
}

static const char *endif_line(const struct lm_writer *w, const struct lm_step *step)
{
	const char *old = piece_line(w, w->endif_piece[step->guard]);

	if (!step->branch)
		return old;
	return strchr(old, '/') ? lm_arena_printf(w->arena, "#endif /* %s */", step->condition) : "#endif";
}

void lm_writer_go(struct lm_writer *w, const struct lm_path *from, const struct lm_path *to)
{
	uint32_t common = lm_path_common(from, to);

	for (uint32_t k = from->nr; k-- > common;)
		lm_writer_push(w, LM_EL_CLOSE, LM_NONE, endif_line(w, &from->steps[k]));
	for (uint32_t k = common; k < to->nr; k++)
		lm_writer_push(w, LM_EL_OPEN, LM_NONE, branch_line(w, &to->steps[k]))->condition = to->steps[k].condition;
}

/* Opens a guard again so that its later #elif and #else still exclude the earlier branches. */
static void reopen(struct lm_writer *w, const struct lm_step *step, uint32_t next)
{
	const struct lm_guard *g = &w->body->guards[step->guard];
	const struct lm_piece *p = next == LM_NONE ? NULL : &w->body->pieces[next];
	struct lm_step at = *step;

	if (p && p->kind == LM_PIECE_MID && p->guard == step->guard && !w->dropped[next]) {
		w->dropped[next] = true;
		at.branch++;
		at.condition = full_condition(w, g, at.branch);
	}
	if (!at.branch || at.branch + 1 == g->nr_branches) {
		lm_writer_push(w, LM_EL_OPEN, LM_NONE, branch_line(w, &at))->condition = at.condition;
		return;
	}
	for (uint32_t b = 0; b <= at.branch; b++)
		lm_writer_push(w, b ? LM_EL_MID : LM_EL_OPEN, LM_NONE, piece_line(w, branch_piece(w, step->guard, b)));
}

void lm_writer_return(struct lm_writer *w, const struct lm_path *from, const struct lm_path *to, uint32_t intact,
		      uint32_t next)
{
	uint32_t common = lm_path_common(from, to);

	/* An #if that stands for a middle branch alone cannot carry the rest of the chain. */
	for (uint32_t k = intact; k < common; k++)
		if (to->steps[k].branch && to->steps[k].branch + 1 < w->body->guards[to->steps[k].guard].nr_branches)
			common = k;
	for (uint32_t k = from->nr; k-- > common;)
		lm_writer_push(w, LM_EL_CLOSE, LM_NONE, endif_line(w, &from->steps[k]));
	for (uint32_t k = common; k < to->nr; k++)
		reopen(w, &to->steps[k], next);
}

/* ---- guards that lost their content ---- */

static bool el_is(const struct lm_writer *w, const struct lm_element *e, enum lm_element_kind made,
		  enum lm_piece_kind old)
{
	return e->kind == made || (e->kind == LM_EL_PIECE && w->body->pieces[e->piece].kind == old);
}

static bool is_content(const struct lm_writer *w, const struct lm_element *e)
{
	return e->kind == LM_EL_UNIT || e->kind == LM_EL_BARRIER ||
	       (e->kind == LM_EL_PIECE && (w->body->pieces[e->piece].kind == LM_PIECE_UNIT ||
					   w->body->pieces[e->piece].kind == LM_PIECE_COMMENT));
}

static bool is_inside(const struct lm_body *b, uint32_t guard, uint32_t outer)
{
	while (guard != LM_NONE && guard != outer)
		guard = b->guards[guard].parent;
	return guard != LM_NONE;
}

/* The first unit of the new order that was inside the guard; LM_NONE if it never had one. */
static uint32_t first_of_guard(const struct lm_writer *w, uint32_t guard)
{
	for (uint32_t i = 0; i < w->body->nr_units; i++)
		if (is_inside(w->body, w->body->units[w->order->units[i]].guard, guard))
			return w->order->units[i];
	return LM_NONE;
}

/* Not what stands behind the '{', and not the "private:" of kernel-doc. */
static bool is_movable_comment(const struct lm_body *b, const struct lm_piece *p)
{
	size_t len = p->end - p->begin;

	return p->kind == LM_PIECE_COMMENT && b->text[p->begin - 1] == '\n' &&
	       !memmem(b->text + p->begin, len, "private:", 8) && !memmem(b->text + p->begin, len, "public:", 7);
}

/* A comment right above a guard that goes follows the guard's first unit. */
static void carry_comment(struct lm_writer *w, size_t at, uint32_t unit)
{
	uint32_t piece = w->row[at].piece;
	struct lm_element *c = at ? &w->row[at - 1] : NULL;

	if (!c || c->kind != LM_EL_PIECE || c->piece + 1 != piece ||
	    !is_movable_comment(w->body, &w->body->pieces[c->piece]))
		return;
	for (size_t i = 0; i < w->nr_row; i++) {
		if (w->row[i].kind != LM_EL_UNIT || w->row[i].piece != w->unit_piece[unit])
			continue;
		while (i && w->row[i - 1].kind == LM_EL_OPEN)
			i--;
		w->row[i].above = c->piece;
		c->gone = true;
		return;
	}
}

static void sweep_guard(struct lm_writer *w, size_t from, size_t to)
{
	const struct lm_element *e = &w->row[from];

	if (e->kind == LM_EL_PIECE) {
		uint32_t unit = first_of_guard(w, w->body->pieces[e->piece].guard);

		if (unit == LM_NONE)
			return;
		carry_comment(w, from, unit);
	}
	for (size_t i = from; i <= to; i++)
		w->row[i].gone = true;
}

void lm_writer_sweep(struct lm_writer *w)
{
	size_t *open = LM_ARENA_ARRAY(w->arena, size_t, w->nr_row + 1), depth = 0;
	bool *full = LM_ARENA_ARRAY(w->arena, bool, w->nr_row + 1);

	for (size_t i = 0; i < w->nr_row; i++) {
		const struct lm_element *e = &w->row[i];

		if (el_is(w, e, LM_EL_OPEN, LM_PIECE_IF)) {
			open[depth] = i;
			full[depth++] = false;
		} else if (el_is(w, e, LM_EL_CLOSE, LM_PIECE_ENDIF)) {
			depth--;
			if (!full[depth])
				sweep_guard(w, open[depth], i);
			else if (depth)
				full[depth - 1] = true;
		} else if (depth && is_content(w, e)) {
			full[depth - 1] = true;
		}
	}
}

/* ---- guards that met their like ---- */

static bool is_blank(const struct lm_writer *w, const struct lm_element *e)
{
	return e->gone || e->kind == LM_EL_BLANK ||
	       (e->kind == LM_EL_PIECE && w->body->pieces[e->piece].kind == LM_PIECE_BLANK);
}

/* Of an #if: when it is taken; NULL for the first of a chain opened again, and for all else. */
static const char *condition_at(const struct lm_writer *w, size_t at)
{
	const struct lm_element *e = &w->row[at];

	if (e->kind == LM_EL_OPEN)
		return e->condition;
	if (e->kind != LM_EL_PIECE || w->body->pieces[e->piece].kind != LM_PIECE_IF)
		return NULL;
	return full_condition(w, &w->body->guards[w->body->pieces[e->piece].guard], 0);
}

/* Did they follow one another before, with nothing but white space between? */
static bool were_neighbours(const struct lm_writer *w, const struct lm_element *a, const struct lm_element *b)
{
	if (a->kind != LM_EL_PIECE || b->kind != LM_EL_PIECE)
		return false;
	for (uint32_t p = a->piece + 1; p < b->piece; p++)
		if (w->body->pieces[p].kind != LM_PIECE_BLANK)
			return false;
	return a->piece < b->piece;
}

/* What was closed last, while the row is read. */
struct closed {
	size_t at;			/* the #endif, SIZE_MAX: something else came since */
	const char *condition;		/* of its only branch; NULL if it has more */
	bool fresh;			/* its #if is new */
};

struct opened {
	const char *condition;
	bool fresh;
};

/* One pass; true if two guards became one. */
static bool merge_once(struct lm_writer *w, struct opened *open)
{
	struct closed last = { .at = SIZE_MAX };
	size_t depth = 0;

	for (size_t i = 0; i < w->nr_row; i++) {
		struct lm_element *e = &w->row[i];

		if (is_blank(w, e))
			continue;
		if (el_is(w, e, LM_EL_OPEN, LM_PIECE_IF)) {
			const char *condition = condition_at(w, i);

			if (last.at != SIZE_MAX && last.condition && condition && !strcmp(last.condition, condition) &&
			    (last.fresh || !were_neighbours(w, &w->row[last.at], e)) && e->above == LM_NONE) {
				w->row[last.at].gone = true;
				e->gone = true;
				return true;
			}
			open[depth++] = (struct opened){ condition, e->kind == LM_EL_OPEN };
			last.at = SIZE_MAX;
		} else if (el_is(w, e, LM_EL_MID, LM_PIECE_MID)) {
			open[depth - 1].condition = NULL;
			last.at = SIZE_MAX;
		} else if (el_is(w, e, LM_EL_CLOSE, LM_PIECE_ENDIF)) {
			depth--;
			last = (struct closed){ i, open[depth].condition, open[depth].fresh };
		} else {
			last.at = SIZE_MAX;
		}
	}
	return false;
}

void lm_writer_merge(struct lm_writer *w)
{
	struct opened *open = LM_ARENA_ARRAY(w->arena, struct opened, w->nr_row + 1);

	while (merge_once(w, open))
		;
}
