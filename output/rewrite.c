/* rewrite.c - order + body -> the header's new text. */
#include "output/rewrite.h"

#include "base/str.h"
#include "optimizer/lexer.h"
#include "output/rewrite_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- what moves ---- */

struct weight {
	uint64_t units, bytes;
};

static bool heavier(const struct weight *a, const struct weight *b)
{
	return a->units != b->units ? a->units > b->units : a->bytes > b->bytes;
}

/* What it is worth to leave a unit alone: fences first, then large text, then text under guards. */
static struct weight weight_of(const struct lm_body *b, uint32_t u)
{
	const struct lm_unit *unit = &b->units[u];

	return (struct weight){ .units = unit->fence ? b->nr_units : 1,
				.bytes = unit->end - unit->begin + (unit->guard != LM_NONE ? 200u : 0u) };
}

/*
 * What stays: the heaviest increasing subsequence of the new order (ids are
 * old positions), by the textbook quadratic way.
 */
static void find_moves(struct lm_writer *w)
{
	uint32_t nr = w->body->nr_units, best = LM_NONE;
	struct weight *sum = LM_ARENA_ARRAY(w->arena, struct weight, nr + 1u);
	uint32_t *before = LM_ARENA_ARRAY(w->arena, uint32_t, nr + 1u);

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t u = w->order->units[i];
		struct weight own = weight_of(w->body, u);

		w->moves[u] = true;
		w->position[u] = i;
		before[i] = LM_NONE;
		for (uint32_t k = 0; k < i; k++)
			if (w->order->units[k] < u && (before[i] == LM_NONE || heavier(&sum[k], &sum[before[i]])))
				before[i] = k;
		sum[i] = own;
		if (before[i] != LM_NONE) {
			sum[i].units += sum[before[i]].units;
			sum[i].bytes += sum[before[i]].bytes;
		}
		if (best == LM_NONE || heavier(&sum[i], &sum[best]))
			best = i;
	}
	for (; best != LM_NONE; best = before[best])
		w->moves[w->order->units[best]] = false;
}

static void index_pieces(struct lm_writer *w)
{
	const struct lm_body *b = w->body;

	w->unit_piece = LM_ARENA_ARRAY(w->arena, uint32_t, b->nr_units + 1u);
	w->if_piece = LM_ARENA_ARRAY(w->arena, uint32_t, b->nr_guards + 1u);
	w->endif_piece = LM_ARENA_ARRAY(w->arena, uint32_t, b->nr_guards + 1u);
	w->kept = LM_ARENA_ARRAY(w->arena, uint32_t, b->nr_pieces + 1u);
	w->dropped = LM_ARENA_ARRAY(w->arena, bool, b->nr_pieces + 1u);
	for (uint32_t p = 0; p < b->nr_pieces; p++) {
		const struct lm_piece *piece = &b->pieces[p];

		if (piece->kind == LM_PIECE_UNIT)
			w->unit_piece[piece->unit] = p;
		else if (piece->kind == LM_PIECE_IF)
			w->if_piece[piece->guard] = p;
		else if (piece->kind == LM_PIECE_ENDIF)
			w->endif_piece[piece->guard] = p;
		if (piece->kind != LM_PIECE_UNIT || !w->moves[piece->unit])
			w->kept[w->nr_kept++] = p;
	}
}

/* ---- barriers ---- */

static bool has_word(const struct lm_body *b, const char *word)
{
	const char *at = b->text + b->begin, *end = b->text + b->end;
	size_t len = strlen(word);

	while ((at = memmem(at, (size_t)(end - at), word, len)) != NULL) {
		if (!lm_lex_word_byte(at[-1]) && !lm_lex_word_byte(at[len]))
			return true;
		at += len;
	}
	return false;
}

static const char *padding_line(struct lm_writer *w)
{
	const char *name;

	do
		name = lm_arena_printf(w->arena, "_pad%u_", ++w->pad_number);
	while (has_word(w->body, name));
	return lm_arena_printf(w->arena, "%s(%s);", w->opts->barrier, name);
}

static struct lm_err *check_barriers(const struct lm_writer *w)
{
	const struct lm_body *b = w->body;

	for (uint32_t i = 0; i < b->nr_units; i++) {
		const struct lm_unit *u = &b->units[w->order->units[i]];

		if (!w->order->barrier[i] || w->opts->barrier)
			continue;
		if (!w->opts->barrier_attr)
			return lm_err_new(LM_ERR_BUG, "A line is to start at %s, but the project has no macro for it.",
					  u->name);
		if (u->bit_run || u->nr_declarators != 1 || b->text[u->decl_end - 1] != ';' ||
		    b->text[u->decl_begin] == '#')
			return lm_err_new(LM_ERR_BUG, "A line is to start at %s, which cannot take %s.", u->name,
					  w->opts->barrier_attr);
	}
	return NULL;
}

/* The unit's element, with its barrier. */
static void push_unit(struct lm_writer *w, enum lm_element_kind kind, uint32_t unit)
{
	bool barrier = w->order->barrier[w->position[unit]] != 0;

	if (barrier && w->opts->barrier)
		lm_writer_push(w, LM_EL_BARRIER, LM_NONE, padding_line(w));
	lm_writer_push(w, kind, w->unit_piece[unit], NULL)->align = barrier && !w->opts->barrier;
}

/* ---- the row ---- */

/* The moved units order[*next ..] whose place is before kept[at]. */
static void push_moved(struct lm_writer *w, const uint32_t *place, uint32_t at, uint32_t *next)
{
	const struct lm_body *b = w->body;
	struct lm_path home = lm_writer_context(w, at), now = home;
	uint32_t intact = home.nr;
	bool any = false;

	for (; *next < b->nr_units; ++*next) {
		uint32_t u = w->order->units[*next];

		if (!w->moves[u])
			continue;
		if (place[u] != at)
			break;

		struct lm_path path = lm_writer_path(w, b->units[u].guard, b->units[u].branch);

		uint32_t common = lm_path_common(&now, &path);

		intact = common < intact ? common : intact;
		lm_writer_go(w, &now, &path);
		push_unit(w, LM_EL_UNIT, u);
		now = path;
		any = true;
	}
	if (any)
		lm_writer_return(w, &now, &home, intact, at < w->nr_kept ? w->kept[at] : LM_NONE);
}

static void build_row(struct lm_writer *w)
{
	uint32_t *place = LM_ARENA_ARRAY(w->arena, uint32_t, w->body->nr_units + 1u), next = 0;

	lm_writer_place(w, place);
	for (uint32_t at = 0; at <= w->nr_kept; at++) {
		push_moved(w, place, at, &next);
		if (at == w->nr_kept)
			break;

		uint32_t p = w->kept[at];

		if (w->dropped[p])
			lm_writer_push(w, LM_EL_PIECE, p, NULL)->gone = true;
		else if (w->body->pieces[p].kind == LM_PIECE_UNIT)
			push_unit(w, LM_EL_PIECE, w->body->pieces[p].unit);
		else
			lm_writer_push(w, LM_EL_PIECE, p, NULL);
	}
}

/* ---- what was added and taken ---- */

struct strings {
	const char **items;
	size_t nr, cap;
};

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_strings(struct strings *s)
{
	if (s->nr)
		qsort(s->items, s->nr, sizeof(*s->items), by_bytes);
}

static void add_tokens(struct lm_writer *w, const char *text, struct strings *to)
{
	struct lm_tokens t;

	lm_body_tokens(text, 0, strlen(text), w->arena, &t);
	for (size_t i = 0; i < t.nr; i++)
		*LM_ARENA_PUSH(w->arena, to->items, to->nr, to->cap) = t.items[i];
}

static const char *folded(struct lm_writer *w, const char *text, size_t begin, size_t end)
{
	const char *hash = memchr(text + begin, '#', end - begin);

	return lm_lex_fold(text, hash ? (size_t)(hash - text) : begin, end, w->arena);
}

/* Takes out what is in both: a guard that went along with its unit. */
static void cancel(struct strings *a, struct strings *b)
{
	size_t i = 0, k = 0, na = 0, nb = 0;

	while (i < a->nr || k < b->nr) {
		int c = i >= a->nr ? 1 : k >= b->nr ? -1 : strcmp(a->items[i], b->items[k]);

		if (c < 0)
			a->items[na++] = a->items[i++];
		else if (c > 0)
			b->items[nb++] = b->items[k++];
		else
			i++, k++;
	}
	a->nr = na;
	b->nr = nb;
}

static bool is_directive(const struct lm_piece *p)
{
	return p->kind == LM_PIECE_IF || p->kind == LM_PIECE_MID || p->kind == LM_PIECE_ENDIF;
}

static void account(struct lm_writer *w, struct lm_rewrite *out)
{
	struct strings added = { 0 }, removed = { 0 }, tokens = { 0 };
	const struct lm_body *b = w->body;

	for (size_t i = 0; i < w->nr_row; i++) {
		const struct lm_element *e = &w->row[i];
		const struct lm_piece *p = e->piece == LM_NONE ? NULL : &b->pieces[e->piece];

		if (e->kind == LM_EL_BARRIER)
			add_tokens(w, e->line, &tokens);
		else if (e->align)
			add_tokens(w, w->opts->barrier_attr, &tokens);
		else if (!p && !e->gone)
			*LM_ARENA_PUSH(w->arena, added.items, added.nr, added.cap) =
				folded(w, e->line, 0, strlen(e->line));
		else if (e->gone && p && is_directive(p))
			*LM_ARENA_PUSH(w->arena, removed.items, removed.nr, removed.cap) =
				folded(w, b->text, p->begin, p->end);
	}
	sort_strings(&added);
	sort_strings(&removed);
	sort_strings(&tokens);
	cancel(&added, &removed);
	out->added_directives = added.items;
	out->nr_added_directives = (uint32_t)added.nr;
	out->removed_directives = removed.items;
	out->nr_removed_directives = (uint32_t)removed.nr;
	out->added_tokens = tokens.items;
	out->nr_added_tokens = (uint32_t)tokens.nr;
}

/* ---- the whole ---- */

static void list_moved(struct lm_writer *w, struct lm_rewrite *out)
{
	out->moved = LM_ARENA_ARRAY(w->arena, uint32_t, w->body->nr_units + 1u);
	for (uint32_t i = 0; i < w->body->nr_units; i++)
		if (w->moves[w->order->units[i]])
			out->moved[out->nr_moved++] = w->order->units[i];
}

static void put_together(struct lm_writer *w, struct lm_rewrite *out)
{
	const struct lm_body *b = w->body;
	struct lm_str inside = { 0 };

	lm_writer_print(w, &inside);
	out->len = b->begin + inside.len + (b->len - b->end);
	out->text = lm_arena_alloc(w->arena, out->len + 1);
	memcpy(out->text, b->text, b->begin);
	if (inside.len)
		memcpy(out->text + b->begin, inside.text, inside.len);
	memcpy(out->text + b->begin + inside.len, b->text + b->end, b->len - b->end);
	lm_str_release(&inside);
}

struct lm_err *lm_rewrite(const struct lm_body *body, const struct lm_order *order,
			  const struct lm_rewrite_opts *opts, struct lm_arena *arena, struct lm_rewrite *out)
{
	struct lm_writer w = { .body = body, .order = order, .opts = opts, .arena = arena };
	struct lm_rewrite made = { 0 };

	w.moves = LM_ARENA_ARRAY(arena, bool, body->nr_units + 1u);
	w.position = LM_ARENA_ARRAY(arena, uint32_t, body->nr_units + 1u);
	if (body->refusal)
		return lm_err_new(LM_ERR_BUG, "The record's text was to be rearranged although %s.", body->refusal);

	struct lm_err *err = check_barriers(&w);

	if (err)
		return err;
	find_moves(&w);
	index_pieces(&w);
	build_row(&w);
	lm_writer_sweep(&w);
	lm_writer_merge(&w);
	account(&w, &made);
	lm_writer_tidy(&w);
	list_moved(&w, &made);
	put_together(&w, &made);
	*out = made;
	return NULL;
}
