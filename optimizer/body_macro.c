/* body_macro.c - the macros of a body: which end without a ';', and who uses those defined in it. */
#include "optimizer/body_scan.h"

#include <string.h>

size_t lm_scan_close(const char *text, const struct lm_lexeme *x, size_t open, size_t limit)
{
	size_t depth = 0;

	for (size_t i = open; i < limit; i++) {
		if (x[i].kind != LM_LEX_PUNCT)
			continue;

		char c = text[x[i].begin];

		if (c == '(' || c == '[' || c == '{')
			depth++;
		else if ((c == ')' || c == ']' || c == '}') && --depth == 0)
			return i + 1;
	}
	return limit;
}

size_t lm_scan_extent(const struct lm_scan *s, size_t at)
{
	size_t low = 0, high = s->nr_extents;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->extents[mid].begin < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool has_extent(const struct lm_scan *s, size_t begin, size_t end)
{
	for (size_t e = lm_scan_extent(s, begin); e < s->nr_extents && s->extents[e].begin == begin; e++)
		if (s->extents[e].end == end)
			return true;
	return false;
}

static size_t skip_comments(const struct lm_scan *s, size_t i)
{
	while (i < s->lex.nr && s->lex.items[i].kind == LM_LEX_COMMENT)
		i++;
	return i;
}

static bool contains(const char *text, const struct lm_lexeme *x, const char *part)
{
	return memmem(text + x->begin, x->end - x->begin, part, strlen(part)) != NULL;
}

static bool is_upper(const char *text, const struct lm_lexeme *x)
{
	bool letter = false;

	for (size_t i = x->begin; i < x->end; i++) {
		if (text[i] >= 'a' && text[i] <= 'z')
			return false;
		letter |= text[i] >= 'A' && text[i] <= 'Z';
	}
	return letter;
}

bool lm_scan_fence_name(const char *text, const struct lm_lexeme *x)
{
	static const char *const parts[] = { "PADDING", "CACHE_GUARD", "CACHELINE_PAD", "CACHE_PAD", "PAD_CACHELINE" };
	static const char *const words[] = { "__cacheline_group_begin", "__cacheline_group_begin_aligned",
					     "__cacheline_group_end", "__cacheline_group_end_aligned",
					     "randomized_struct_fields_start", "randomized_struct_fields_end",
					     "RTE_MARKER", "cacheline_padding" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (lm_lex_is(text, x, words[i]))
			return true;
	if (!is_upper(text, x))
		return false;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (contains(text, x, parts[i]))
			return true;
	return false;
}

/* Words with parentheses that start a declaration and do not end it. */
static bool starts_declaration(const char *text, const struct lm_lexeme *x)
{
	static const char *const words[] = { "typeof", "_Alignas", "alignas", "_Atomic", "typeof_unqual", "_BitInt" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (lm_lex_is(text, x, words[i]))
			return true;
	/* Attribute macros: __printf(1, 2), __attribute__(...), RTE_ALIGNAS(8). */
	return (x->end - x->begin > 2 && !memcmp(text + x->begin, "__", 2)) ||
	       (is_upper(text, x) && contains(text, x, "ALIGN"));
}

/* Can what stands at n go on with the declaration that a macro call began? */
static bool goes_on(const struct lm_scan *s, size_t n)
{
	const struct lm_lexeme *x = &s->lex.items[n];

	if (x->kind == LM_LEX_PUNCT)
		return strchr(";,=[:(", s->text[x->begin]) != NULL;
	return x->kind == LM_LEX_WORD && x->end - x->begin > 2 && !memcmp(s->text + x->begin, "__", 2);
}

/* Does a configuration see a field in the declaration that starts at n? */
static bool seen(const struct lm_scan *s, size_t n)
{
	size_t end = n, depth = 0;

	for (; end < s->lex.nr; end++) {
		const struct lm_lexeme *x = &s->lex.items[end];
		char c = s->text[x->begin];

		if (x->kind != LM_LEX_PUNCT)
			continue;
		if (c == '(' || c == '[' || c == '{')
			depth++;
		else if (c == ')' || c == ']' || c == '}')
			depth -= depth > 0;
		else if (c == ';' && !depth)
			break;
	}

	size_t e = lm_scan_extent(s, s->lex.items[n].begin);
	size_t limit = end < s->lex.nr ? s->lex.items[end].begin : s->end;

	return e < s->nr_extents && s->extents[e].begin < limit;
}

static bool is_lone_marker(const struct lm_scan *s, size_t at)
{
	return lm_lex_is(s->text, &s->lex.items[at], "randomized_struct_fields_start") ||
	       lm_lex_is(s->text, &s->lex.items[at], "randomized_struct_fields_end");
}

/*
 * Without clang's word: NAME(...) that ends its line.  Where a configuration
 * sees the next declaration and no member made by the macro, the two stay one
 * unit: the macro may be an attribute of what follows.
 */
static bool ends_by_syntax(const struct lm_scan *s, size_t at, size_t behind, size_t n)
{
	const struct lm_lexeme *x = s->lex.items;

	if (n >= s->lex.nr || x[n].kind == LM_LEX_DIRECTIVE)
		return true;
	if (lm_scan_fence_name(s->text, &x[at]))
		return !goes_on(s, n);
	return x[n].line > x[behind - 1].last_line && !goes_on(s, n) && !starts_declaration(s->text, &x[at]) &&
	       !seen(s, n);
}

size_t lm_scan_macro(const struct lm_scan *s, size_t at)
{
	const struct lm_lexeme *x = s->lex.items;

	if (x[at].kind != LM_LEX_WORD)
		return 0;

	size_t open = skip_comments(s, at + 1), behind = at + 1;
	bool call = open < s->lex.nr && lm_lex_punct(s->text, &x[open], '(');

	if (call)
		behind = lm_scan_close(s->text, x, open, s->lex.nr);

	size_t n = skip_comments(s, behind);

	if (n < s->lex.nr && x[n].kind == LM_LEX_PUNCT && strchr(";,=[:", s->text[x[n].begin]))
		return 0;
	if (is_lone_marker(s, at) || has_extent(s, x[at].begin, x[behind - 1].end))
		return behind;
	return call && ends_by_syntax(s, at, behind, n) ? behind : 0;
}

bool lm_scan_uses_word(const struct lm_scan *s, size_t at, const char *word)
{
	const struct lm_lexeme *x = &s->lex.items[at];
	struct lm_lexemes inner;

	if (x->kind != LM_LEX_DIRECTIVE)
		return lm_lex_is(s->text, x, word);
	if (!memmem(s->text + x->begin, x->end - x->begin, word, strlen(word)))
		return false;
	lm_lex(s->text, x->begin + 1, x->end, 1, s->arena, &inner);
	for (size_t i = 0; i < inner.nr; i++)
		if (lm_lex_is(s->text, &inner.items[i], word))
			return true;
	return false;
}

const char *lm_scan_macro_name(const struct lm_scan *s, const struct lm_directive *d)
{
	size_t len = 0;

	while (lm_lex_word_byte(d->rest[len]))
		len++;
	return lm_arena_strndup(s->arena, d->rest, len);
}
