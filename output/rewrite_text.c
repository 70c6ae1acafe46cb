/* rewrite_text.c - the row of elements -> text a person would have written. */
#include "output/rewrite_parts.h"

#include "base/str.h"
#include "optimizer/lexer.h"

#include <string.h>

/* A new comment's last column, and what a tab is worth. */
enum { NOTE_WIDTH = 80, TAB = 8 };

struct lm_element *lm_writer_push(struct lm_writer *w, enum lm_element_kind kind, uint32_t piece, const char *line)
{
	struct lm_element *e = LM_ARENA_PUSH(w->arena, w->row, w->nr_row, w->cap_row);

	*e = (struct lm_element){ .kind = kind, .piece = piece, .line = line, .above = LM_NONE };
	return e;
}

/* ---- blank lines ---- */

static const struct lm_piece *old_piece(const struct lm_writer *w, const struct lm_element *e)
{
	return e && e->kind == LM_EL_PIECE ? &w->body->pieces[e->piece] : NULL;
}

static bool is_old(const struct lm_writer *w, const struct lm_element *e, enum lm_piece_kind kind)
{
	const struct lm_piece *p = old_piece(w, e);

	return p && p->kind == kind;
}

static bool has_newline(const struct lm_writer *w, const struct lm_piece *p)
{
	return memchr(w->body->text + p->begin, '\n', p->end - p->begin) != NULL;
}

/* A blank line between two things, not the rest of the line of '{' or the indentation of '}'. */
static bool is_blank_line(const struct lm_writer *w, uint32_t piece)
{
	const struct lm_piece *p = &w->body->pieces[piece];

	return p->kind == LM_PIECE_BLANK && p->begin != w->body->begin && has_newline(w, p);
}

static bool opens(const struct lm_writer *w, const struct lm_element *e)
{
	return !e || e->kind == LM_EL_OPEN || e->kind == LM_EL_MID || is_old(w, e, LM_PIECE_IF) ||
	       is_old(w, e, LM_PIECE_MID);
}

static bool closes(const struct lm_writer *w, const struct lm_element *e)
{
	return !e || e->kind == LM_EL_CLOSE || e->kind == LM_EL_MID || is_old(w, e, LM_PIECE_ENDIF) ||
	       is_old(w, e, LM_PIECE_MID) ||
	       (is_old(w, e, LM_PIECE_BLANK) && !has_newline(w, old_piece(w, e)));
}

static bool ends_guard(const struct lm_writer *w, const struct lm_element *e)
{
	return e->kind == LM_EL_CLOSE || is_old(w, e, LM_PIECE_ENDIF);
}

static bool starts_guard(const struct lm_writer *w, const struct lm_element *e)
{
	return e->kind == LM_EL_OPEN || is_old(w, e, LM_PIECE_IF);
}

/* Was there a blank line before or behind the unit, its guard's lines not counted? */
static bool had_blank(const struct lm_writer *w, uint32_t piece)
{
	const struct lm_body *b = w->body;
	uint32_t before = piece, behind = piece;

	do
		before--;
	while (before < b->nr_pieces &&
	       (b->pieces[before].kind == LM_PIECE_IF || b->pieces[before].kind == LM_PIECE_MID));
	do
		behind++;
	while (behind < b->nr_pieces &&
	       (b->pieces[behind].kind == LM_PIECE_ENDIF || b->pieces[behind].kind == LM_PIECE_MID));
	return (before < b->nr_pieces && is_blank_line(w, before)) ||
	       (behind < b->nr_pieces && is_blank_line(w, behind));
}

/* Did the unit stand between two blank lines, a paragraph of its own? */
static bool stood_alone(const struct lm_writer *w, uint32_t piece)
{
	return piece > 0 && piece + 1 < w->body->nr_pieces && is_blank_line(w, piece - 1) &&
	       is_blank_line(w, piece + 1);
}

static bool has_fence(const struct lm_writer *w, const struct lm_element *e)
{
	return e->kind == LM_EL_BARRIER ||
	       (e->piece != LM_NONE && w->body->pieces[e->piece].kind == LM_PIECE_UNIT &&
		w->body->units[w->body->pieces[e->piece].unit].fence);
}

static bool starts_with_comment(const struct lm_writer *w, const struct lm_element *e)
{
	const struct lm_piece *p = e->piece == LM_NONE ? NULL : &w->body->pieces[e->piece];

	if (!p)
		return false;
	if (p->kind == LM_PIECE_UNIT)
		return e->note || lm_lex_line(w->body->text, w->body->units[p->unit].decl_begin) !=
		       lm_lex_line(w->body->text, p->begin);
	return p->kind == LM_PIECE_COMMENT;
}

static bool is_new(const struct lm_element *e)
{
	return e->kind != LM_EL_PIECE;
}

/* The moved unit that a new line is there for. */
static uint32_t owner(const struct lm_writer *w, const struct lm_element *e)
{
	const struct lm_element *last = w->row + w->nr_row;

	if (e->kind == LM_EL_OPEN)
		while (e + 1 < last && e->kind != LM_EL_UNIT && e->kind != LM_EL_PIECE)
			e++;
	else
		while (e > w->row && e->kind != LM_EL_UNIT && e->kind != LM_EL_PIECE)
			e--;
	return e->kind == LM_EL_UNIT ? e->piece : LM_NONE;
}

/* Does a moved thing ask for a blank line towards its neighbour? */
static bool wants_blank(const struct lm_writer *w, const struct lm_element *e, const struct lm_element *x,
			const struct lm_element *y)
{
	uint32_t piece = is_new(e) ? owner(w, e) : LM_NONE;
	bool fence = has_fence(w, x) || has_fence(w, y);

	if (piece == LM_NONE)
		return false;
	/* The lines of a repeated guard take after the old ones. */
	if (e->kind == LM_EL_OPEN || e->kind == LM_EL_CLOSE) {
		uint32_t guard = w->body->pieces[piece].guard;

		return had_blank(w, piece) ||
		       (guard != LM_NONE && (had_blank(w, w->if_piece[guard]) || had_blank(w, w->endif_piece[guard])));
	}
	return stood_alone(w, piece) || (had_blank(w, piece) && (fence || ends_guard(w, x) || starts_guard(w, y) ||
								 starts_with_comment(w, y)));
}

static bool is_airy(const struct lm_writer *w)
{
	for (uint32_t p = 0; p < w->body->nr_pieces; p++)
		if (is_blank_line(w, p))
			return true;
	return false;
}

static bool needs_blank(const struct lm_writer *w, const struct lm_element *x, const struct lm_element *y, bool airy)
{
	if (opens(w, x) || closes(w, y) || is_old(w, x, LM_PIECE_BLANK) || is_old(w, y, LM_PIECE_BLANK))
		return false;
	if (x->kind == LM_EL_UNIT && y->kind == LM_EL_UNIT && y->piece > x->piece && y->piece - x->piece <= 2)
		return y->piece - x->piece == 2 && is_blank_line(w, x->piece + 1);
	if (x->kind == LM_EL_BARRIER || y->kind == LM_EL_BARRIER)
		return airy;
	return wants_blank(w, x, x, y) || wants_blank(w, y, x, y);
}

/* A blank line that would stand beside another one, or at the edge of a block, where none was. */
static bool is_spare(const struct lm_writer *w, const struct lm_element *x, const struct lm_element *e,
		     const struct lm_element *y)
{
	const struct lm_piece *p = old_piece(w, e);
	bool after_old = x ? x->kind == LM_EL_PIECE && x->piece + 1 == e->piece : e->piece == 0;
	bool before_old = y ? y->kind == LM_EL_PIECE && y->piece == e->piece + 1 : e->piece + 1 == w->body->nr_pieces;

	if (!has_newline(w, p) || (p->begin == w->body->begin && after_old))
		return false;
	if (x && (x->kind == LM_EL_BLANK || is_old(w, x, LM_PIECE_BLANK)))
		return true;
	return (opens(w, x) && !after_old) || (closes(w, y) && !before_old);
}

static const struct lm_element *behind_blanks(const struct lm_writer *w, const struct lm_element *y)
{
	const struct lm_element *last = w->row + w->nr_row;

	while (y && is_old(w, y, LM_PIECE_BLANK) && has_newline(w, old_piece(w, y)))
		y = y + 1 < last ? y + 1 : NULL;
	return y;
}

void lm_writer_tidy(struct lm_writer *w)
{
	struct lm_element *from = w->row;
	size_t nr = 0;
	bool airy = is_airy(w);

	for (size_t i = 0; i < w->nr_row; i++)
		if (!from[i].gone)
			from[nr++] = from[i];
	w->nr_row = nr;

	/* The decisions look at the old row while the new one grows. */
	struct lm_writer grown = *w;
	const struct lm_element *x = NULL;

	grown.row = NULL;
	grown.nr_row = grown.cap_row = 0;
	for (size_t i = 0; i < nr; i++) {
		const struct lm_element *e = &from[i], *y = i + 1 < nr ? &from[i + 1] : NULL;

		if (is_old(w, e, LM_PIECE_BLANK) && is_spare(w, x, e, behind_blanks(w, y)))
			continue;
		if (x && needs_blank(w, x, e, airy))
			lm_writer_push(&grown, LM_EL_BLANK, LM_NONE, "");
		*lm_writer_push(&grown, e->kind, e->piece, e->line) = *e;
		x = e;
	}
	w->row = grown.row;
	w->nr_row = grown.nr_row;
	w->cap_row = grown.cap_row;
}

/* ---- text ---- */

static bool is_space_in_line(char c)
{
	return lm_lex_space(c) && c != '\n' && c != '\r';
}

static void add_newline(const struct lm_writer *w, struct lm_str *out)
{
	lm_str_add(out, w->body->crlf ? "\r\n" : "\n");
}

static void end_line(const struct lm_writer *w, struct lm_str *out)
{
	if (!out->len || out->text[out->len - 1] != '\n')
		add_newline(w, out);
}

static bool at_line_start(const struct lm_writer *w, size_t at)
{
	return at > 0 && w->body->text[at - 1] == '\n';
}

/* White space at the start of the line of byte `at`. */
static void add_indent_of(const struct lm_writer *w, size_t at, struct lm_str *out)
{
	size_t begin = at, end;

	while (begin > 0 && w->body->text[begin - 1] != '\n')
		begin--;
	for (end = begin; end < at && is_space_in_line(w->body->text[end]); end++)
		;
	lm_str_add_bytes(out, w->body->text + begin, end - begin);
}

/* The indentation of members: that of the first one that starts a line. */
static void add_indent(const struct lm_writer *w, struct lm_str *out)
{
	for (uint32_t u = 0; u < w->body->nr_units; u++) {
		size_t at = w->body->units[u].begin;

		if (!at_line_start(w, at))
			continue;
		while (is_space_in_line(w->body->text[at]))
			at++;
		add_indent_of(w, at, out);
		return;
	}
	add_indent_of(w, w->body->begin, out);
	lm_str_add_char(out, '\t');
}

/* Columns of white space that stands at a line's start. */
static size_t columns(const char *text, size_t len)
{
	size_t at = 0;

	for (size_t i = 0; i < len; i++)
		at += text[i] == '\t' ? TAB - at % TAB : 1;
	return at;
}

static bool is_one_line(const struct lm_writer *w)
{
	return !memchr(w->body->text + w->body->begin, '\n', w->body->end - w->body->begin);
}

/* The lines of a comment, each behind indentation and " * ". */
static void add_note_lines(const struct lm_writer *w, const char *sentence, const struct lm_str *indent,
			   struct lm_str *out)
{
	size_t first = columns(lm_str_text(indent), indent->len) + strlen(" *"), at = NOTE_WIDTH;

	while (*sentence) {
		size_t word = strcspn(sentence, " ");

		if (at + 1 + word > NOTE_WIDTH) {
			add_newline(w, out);
			lm_str_addf(out, "%s *", lm_str_text(indent));
			at = first;
		}
		lm_str_add_char(out, ' ');
		lm_str_add_bytes(out, sentence, word);
		at += 1 + word;
		sentence += word;
		sentence += strspn(sentence, " ");
	}
	add_newline(w, out);
	lm_str_addf(out, "%s ", lm_str_text(indent));
}

const char *lm_writer_note(const struct lm_writer *w, const char *sentence)
{
	struct lm_str s = { 0 }, indent = { 0 };
	const char *note;

	add_indent(w, &indent);
	lm_str_add(&s, "/*");
	if (is_one_line(w) || columns(lm_str_text(&indent), indent.len) + strlen("/*  */") + strlen(sentence) <= NOTE_WIDTH)
		lm_str_addf(&s, " %s ", sentence);
	else
		add_note_lines(w, sentence, &indent, &s);
	lm_str_add(&s, "*/");
	note = lm_arena_strdup(w->arena, lm_str_text(&s));
	lm_str_release(&indent);
	lm_str_release(&s);
	return note;
}

/* A piece from byte `begin` on, with the barrier attribute in front of its ';' if asked for. */
static void add_bytes(const struct lm_writer *w, const struct lm_element *e, size_t begin, struct lm_str *out)
{
	const struct lm_piece *p = &w->body->pieces[e->piece];

	if (e->align) {
		size_t semicolon = w->body->units[p->unit].decl_end - 1;

		lm_str_add_bytes(out, w->body->text + begin, semicolon - begin);
		lm_str_addf(out, " %s", w->opts->barrier_attr);
		begin = semicolon;
	}
	lm_str_add_bytes(out, w->body->text + begin, p->end - begin);
}

/* A piece that does not follow its old neighbour: on lines of its own. */
static void add_apart(const struct lm_writer *w, const struct lm_element *e, struct lm_str *out)
{
	const struct lm_piece *p = &w->body->pieces[e->piece];
	size_t begin = p->begin;

	end_line(w, out);
	if (!at_line_start(w, begin)) {
		if (p->kind == LM_PIECE_BLANK) {
			add_indent_of(w, w->body->begin, out);
			return;
		}
		while (begin < p->end && is_space_in_line(w->body->text[begin]))
			begin++;
		if (p->kind == LM_PIECE_UNIT || p->kind == LM_PIECE_COMMENT)
			add_indent(w, out);
	}
	add_bytes(w, e, begin, out);
}

/* In its old place, directly behind its old neighbour: nothing changes there. */
static bool follows(const struct lm_element *e, const struct lm_element *x)
{
	return e->kind == LM_EL_PIECE && (x ? x->kind == LM_EL_PIECE && x->piece + 1 == e->piece : !e->piece);
}

static void print_element(const struct lm_writer *w, const struct lm_element *e, const struct lm_element *x,
			  struct lm_str *out)
{
	if (e->above != LM_NONE)
		add_apart(w, &(struct lm_element){ .kind = LM_EL_PIECE, .piece = e->above }, out);
	if (e->note) {
		end_line(w, out);
		add_indent(w, out);
		lm_str_add(out, e->note);
		add_newline(w, out);
	}
	switch (e->kind) {
	case LM_EL_PIECE:
	case LM_EL_UNIT:
		if (follows(e, x) && e->above == LM_NONE && !e->note)
			add_bytes(w, e, w->body->pieces[e->piece].begin, out);
		else
			add_apart(w, e, out);
		return;
	case LM_EL_BARRIER:
		end_line(w, out);
		add_indent(w, out);
		break;
	case LM_EL_OPEN:
	case LM_EL_MID:
	case LM_EL_CLOSE:
	case LM_EL_BLANK:
		end_line(w, out);
		break;
	}
	lm_str_add(out, e->line);
	add_newline(w, out);
}

/* A body on one line stays on one line. */
static void print_in_line(const struct lm_writer *w, struct lm_str *out)
{
	const struct lm_body *b = w->body;
	bool airy = lm_lex_space(b->text[b->begin]);

	for (size_t i = 0; i < w->nr_row; i++) {
		const struct lm_element *e = &w->row[i];
		size_t begin = e->piece == LM_NONE ? 0 : b->pieces[e->piece].begin;

		if (e->kind == LM_EL_BLANK || is_old(w, e, LM_PIECE_BLANK))
			continue;
		if (follows(e, i ? e - 1 : NULL) && !e->note) {
			add_bytes(w, e, begin, out);
			continue;
		}
		if (out->len || airy)
			lm_str_add_char(out, ' ');
		if (e->piece == LM_NONE) {
			lm_str_add(out, e->line);
			continue;
		}
		while (is_space_in_line(b->text[begin]))
			begin++;
		if (e->note)
			lm_str_addf(out, "%s ", e->note);
		add_bytes(w, e, begin, out);
	}
	/* The blanks before the '}' are the last piece, if there are any. */
	if (b->nr_pieces && b->pieces[b->nr_pieces - 1].kind == LM_PIECE_BLANK)
		lm_str_add_bytes(out, b->text + b->pieces[b->nr_pieces - 1].begin,
				 b->end - b->pieces[b->nr_pieces - 1].begin);
}

void lm_writer_print(struct lm_writer *w, struct lm_str *out)
{
	const struct lm_body *b = w->body;

	if (is_one_line(w)) {
		print_in_line(w, out);
		return;
	}
	for (size_t i = 0; i < w->nr_row; i++)
		print_element(w, &w->row[i], i ? &w->row[i - 1] : NULL, out);

	const struct lm_element *last = w->nr_row ? &w->row[w->nr_row - 1] : NULL;
	bool same_end = last && last->kind == LM_EL_PIECE && last->piece + 1 == b->nr_pieces;

	if (!same_end && (!out->len || out->text[out->len - 1] != '\n')) {
		add_newline(w, out);
		add_indent_of(w, b->begin, out);
	}
}
