/* body_text.c - what the text of a unit tells: its name and what its comments ask for. */
#include "optimizer/body_scan.h"

#include <string.h>
#include <strings.h>

enum { NAME_MAX_LEN = 40 };

static bool is_kind(const struct lm_scan *s, size_t i, enum lm_lex_kind kind)
{
	return i < s->lex.nr && s->lex.items[i].kind == kind;
}

static bool is_punct(const struct lm_scan *s, size_t i, char c)
{
	return i < s->lex.nr && lm_lex_punct(s->text, &s->lex.items[i], c);
}

static bool starts_with(const struct lm_scan *s, size_t i, const char *prefix)
{
	const struct lm_lexeme *x = &s->lex.items[i];
	size_t len = strlen(prefix);

	return x->end - x->begin >= len && !memcmp(s->text + x->begin, prefix, len);
}

static bool is_keyword(const struct lm_scan *s, size_t i)
{
	static const char *const words[] = { "int", "unsigned", "signed", "char", "short", "long", "float", "double",
					     "struct", "union", "enum", "const", "volatile", "void", "_Bool", "bool" };

	for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
		if (lm_lex_is(s->text, &s->lex.items[i], words[k]))
			return true;
	return false;
}

static bool is_upper_word(const struct lm_scan *s, size_t i)
{
	const struct lm_lexeme *x = &s->lex.items[i];

	for (size_t k = x->begin; k < x->end; k++)
		if (s->text[k] >= 'a' && s->text[k] <= 'z')
			return false;
	return true;
}

/* The first declarator's words at depth 0, the last ones first to go where they look like attributes. */
struct words {
	size_t at[3];		/* the last three, newest first */
	size_t nr;
};

static void add_word(struct words *w, size_t i)
{
	w->at[2] = w->at[1];
	w->at[1] = w->at[0];
	w->at[0] = i;
	w->nr++;
}

static size_t pick_name(const struct lm_scan *s, const struct words *w)
{
	size_t have = w->nr < 3 ? w->nr : 3, k = 0;

	while (k + 1 < have && starts_with(s, w->at[k], "__"))
		k++;
	if (k + 2 < have && is_upper_word(s, w->at[k]) && !is_keyword(s, w->at[k + 1]) &&
	    !is_upper_word(s, w->at[k + 1]))
		k++;
	return have && !is_keyword(s, w->at[k]) ? w->at[k] : s->lex.nr;
}

/* In "(*name)(...)": the name; nr if `open` starts no such declarator. */
static size_t pointer_name(const struct lm_scan *s, size_t open, size_t last)
{
	size_t end = lm_scan_close(s->text, s->lex.items, open, last), name = s->lex.nr;
	bool star = false;

	for (size_t i = open + 1; i + 1 < end; i++) {
		if (is_punct(s, i, '*') || is_punct(s, i, '^'))
			star = true;
		else if (is_punct(s, i, '[') || (is_punct(s, i, '(') && name < s->lex.nr))
			break;
		else if (is_punct(s, i, '('))
			return star ? pointer_name(s, i, end) : s->lex.nr;
		else if (is_kind(s, i, LM_LEX_WORD))
			name = i;
	}
	return star ? name : s->lex.nr;
}

static size_t find_name(const struct lm_scan *s, size_t first, size_t last);

/* The first named member between the braces at open. */
static size_t inner_name(const struct lm_scan *s, size_t open, size_t last)
{
	size_t end = lm_scan_close(s->text, s->lex.items, open, last);

	for (size_t i = open + 1; i + 1 < end;) {
		size_t stop = i;

		while (stop + 1 < end && !is_punct(s, stop, ';'))
			stop = is_punct(s, stop, '{') || is_punct(s, stop, '(') || is_punct(s, stop, '[') ?
				       lm_scan_close(s->text, s->lex.items, stop, end - 1) : stop + 1;

		size_t name = find_name(s, i, stop);

		if (name < s->lex.nr)
			return name;
		i = stop + 1;
	}
	return s->lex.nr;
}

/* The lexeme that names the first declarator in [first, last); nr if there is none. */
static size_t find_name(const struct lm_scan *s, size_t first, size_t last)
{
	struct words w = { .nr = 0 };
	size_t brace = s->lex.nr, i = first;

	while (i < last) {
		if (is_punct(s, i, ';') || is_punct(s, i, ',') || is_punct(s, i, ':') || is_punct(s, i, '='))
			break;
		if (is_punct(s, i, '[') && w.nr)
			break;
		if (is_punct(s, i, '(')) {
			size_t name = pointer_name(s, i, last);

			if (name < s->lex.nr)
				return name;
			/* What has arguments is an attribute or typeof(), never the name. */
			if (w.nr && is_kind(s, i - 1, LM_LEX_WORD) && w.at[0] == i - 1) {
				w.at[0] = w.at[1];
				w.at[1] = w.at[2];
				w.nr--;
			}
		}
		if (is_punct(s, i, '{')) {
			brace = i;
			w.nr = 0;
		}
		if (is_punct(s, i, '(') || is_punct(s, i, '{') || is_punct(s, i, '[')) {
			i = lm_scan_close(s->text, s->lex.items, i, last);
			continue;
		}
		if (is_kind(s, i, LM_LEX_WORD))
			add_word(&w, i);
		i++;
	}

	bool only_attribute = brace < s->lex.nr && w.nr && starts_with(s, w.at[w.nr < 3 ? w.nr - 1 : 2], "__");

	if (brace < s->lex.nr && (!w.nr || only_attribute) && !starts_with(s, first, "enum"))
		return inner_name(s, brace, last);
	return pick_name(s, &w);
}

/* A call and nothing else: NAME(...) or NAME(...); */
static bool is_macro_call(const struct lm_scan *s, const struct lm_item *item)
{
	size_t at = item->decl_first;

	if (item->macro)
		return true;
	if (!is_kind(s, at, LM_LEX_WORD) || !is_punct(s, at + 1, '('))
		return false;

	size_t end = lm_scan_close(s->text, s->lex.items, at + 1, item->decl_last);

	return end < item->decl_last && is_punct(s, end, ';');
}

static const char *shortened(const struct lm_scan *s, const struct lm_item *item)
{
	size_t last = item->decl_last, begin = s->lex.items[item->decl_first].begin, end;
	const char *all;

	/* Of a run that starts with a macro: the macro. */
	if (is_macro_call(s, item) && is_punct(s, item->decl_first + 1, '('))
		last = lm_scan_close(s->text, s->lex.items, item->decl_first + 1, last);
	end = s->lex.items[last - 1].end;
	if (end > begin + 1 && s->text[end - 1] == ';')
		end--;
	all = lm_lex_fold(s->text, begin, end, s->arena);
	if (strlen(all) <= NAME_MAX_LEN)
		return all;

	size_t cut = NAME_MAX_LEN - 3;

	while (cut && ((unsigned char)all[cut] & 0xc0) == 0x80)
		cut--;
	return lm_arena_printf(s->arena, "%.*s...", (int)cut, all);
}

static const char *unit_name(const struct lm_scan *s, const struct lm_item *item)
{
	if (!is_macro_call(s, item)) {
		size_t at = item->decl_first, name = s->lex.nr;

		/* The first of a run may be unnamed. */
		while (name >= s->lex.nr && at < item->decl_last) {
			size_t stop = at;

			while (stop < item->decl_last && !is_punct(s, stop, ';'))
				stop = is_punct(s, stop, '{') || is_punct(s, stop, '(') || is_punct(s, stop, '[') ?
					       lm_scan_close(s->text, s->lex.items, stop, item->decl_last) : stop + 1;
			name = find_name(s, at, stop);
			at = stop + 1;
		}
		if (name < s->lex.nr)
			return lm_arena_strndup(s->arena, s->text + s->lex.items[name].begin,
						s->lex.items[name].end - s->lex.items[name].begin);
	}
	return shortened(s, item);
}

static bool mentions(const char *text, const char *const *phrases)
{
	for (; *phrases; phrases++)
		if (strcasestr(text, *phrases))
			return true;
	return false;
}

static void read_comment(const struct lm_scan *s, const struct lm_lexeme *x, struct lm_unit *u)
{
	static const char *const first[] = { "first member", "first field", "must be first", "must come first",
					     "must stay first", "must remain first", "keep first", "keep this first",
					     "keep it first", "should be first", "has to be first", "must be the first",
					     "at the beginning of", "must be at the top", "at offset 0", "offset zero",
					     "must be at the start", NULL };
	static const char *const last[] = { "must be at the end", "must be last", "must be the last", "must come last",
					    "must stay last", "must remain last", "keep this last", "keep it last",
					    "has to be last", NULL };
	static const char *const layout[] = { "cache line", "cacheline", "cache-line", "offset", " hole", "padding",
					      " pad ", "pad to", "pad out", "bytes hole", "false sharing",
					      "alignment", NULL };
	static const char *const pin[] = { "linemate: pin", NULL };
	const char *text = lm_lex_fold(s->text, x->begin, x->end, s->arena);

	/* A comment of several lines has a '*' at each line's start. */
	if (memchr(s->text + x->begin, '\n', x->end - x->begin)) {
		char *p = lm_arena_strdup(s->arena, text), *to = p;

		for (const char *from = p; *from; from++)
			if (!(from[0] == '*' && from[1] == ' ' && to > p && to[-1] == ' ' && ++from))
				*to++ = *from;
		*to = 0;
		text = p;
	}
	u->comment_first |= mentions(text, first);
	u->comment_last |= mentions(text, last);
	u->comment_layout |= mentions(text, layout);
	u->pin_comment |= mentions(text, pin);
}

static uint32_t count_declarators(const struct lm_scan *s, const struct lm_item *item)
{
	uint32_t nr = 0;
	bool open = false;

	if (is_macro_call(s, item))
		return 1;
	for (size_t i = item->decl_first; i < item->decl_last;) {
		if (is_punct(s, i, '(') || is_punct(s, i, '{') || is_punct(s, i, '[')) {
			i = lm_scan_close(s->text, s->lex.items, i, item->decl_last);
			continue;
		}
		nr += is_punct(s, i, ',') || (is_punct(s, i, ';') && open);
		open = !is_punct(s, i, ';');
		i++;
	}
	return nr + open;
}

/* "char mark[0];": it names an offset, so it and what is around it stay in place. */
static bool is_offset_mark(const struct lm_scan *s, const struct lm_item *item)
{
	size_t end = item->decl_last;

	return end - item->decl_first > 4 && is_punct(s, end - 1, ';') && is_punct(s, end - 2, ']') &&
	       lm_lex_is(s->text, &s->lex.items[end - 3], "0") && is_punct(s, end - 4, '[');
}

void lm_scan_describe(const struct lm_scan *s, const struct lm_item *item, struct lm_unit *u)
{
	const struct lm_lexeme *x = s->lex.items;

	u->name = unit_name(s, item);
	u->decl_begin = x[item->decl_first].begin;
	u->decl_end = x[item->decl_last - 1].end;
	u->line = x[item->decl_first].line;
	u->bit_run = item->bits;
	u->nr_declarators = count_declarators(s, item);
	for (size_t i = item->first; i < item->last; i++)
		if (x[i].kind == LM_LEX_COMMENT)
			read_comment(s, &x[i], u);
	for (size_t i = item->decl_first; i < item->decl_last; i++)
		u->fence |= x[i].kind == LM_LEX_WORD && lm_scan_fence_name(s->text, &x[i]) &&
			    (i == item->decl_first || (i == item->decl_first + 1 && starts_with(s, i - 1, "struct")));
	u->fence |= is_offset_mark(s, item);
	u->group_begin = starts_with(s, item->decl_first, "__cacheline_group_begin");
	u->group_end = starts_with(s, item->decl_first, "__cacheline_group_end");
}
