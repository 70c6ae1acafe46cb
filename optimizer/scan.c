/* scan.c - C source as text, for the places that clang does not tell. */
#include "optimizer/scan.h"

#include <ctype.h>
#include <string.h>

enum { MAX_PACK_DEPTH = 64 };

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool starts(const char *text, size_t len, size_t at, const char *word)
{
	size_t n = strlen(word);

	return len - at >= n && !memcmp(text + at, word, n);
}

/* Behind a backslash-newline at `at`, or `at`. */
static size_t splice(const char *text, size_t len, size_t at)
{
	if (starts(text, len, at, "\\\n"))
		return at + 2;
	if (starts(text, len, at, "\\\r\n"))
		return at + 3;
	return at;
}

static size_t line_comment(const char *text, size_t len, size_t at)
{
	while (at < len && text[at] != '\n') {
		size_t next = splice(text, len, at);

		at = next > at ? next : at + 1;
	}
	return at;
}

static size_t block_comment(const char *text, size_t len, size_t at)
{
	for (at += 2; at < len; at++)
		if (starts(text, len, at, "*/"))
			return at + 2;
	return len;
}

size_t lm_scan_blank(const char *text, size_t len, size_t at)
{
	while (at < len) {
		size_t next = splice(text, len, at);

		if (next > at)
			at = next;
		else if (isspace((unsigned char)text[at]))
			at++;
		else if (starts(text, len, at, "//"))
			at = line_comment(text, len, at);
		else if (starts(text, len, at, "/*"))
			at = block_comment(text, len, at);
		else
			break;
	}
	return at;
}

static size_t quoted(const char *text, size_t len, size_t at)
{
	char quote = text[at++];

	while (at < len && text[at] != quote && text[at] != '\n')
		at += text[at] == '\\' && at + 1 < len ? 2 : 1;
	return at < len ? at + 1 : len;
}

size_t lm_scan_token(const char *text, size_t len, size_t at)
{
	if (at >= len)
		return len;
	if (text[at] == '"' || text[at] == '\'')
		return quoted(text, len, at);
	if (!is_word(text[at]))
		return at + 1;
	while (at < len && is_word(text[at]))
		at++;
	return at;
}

bool lm_scan_is_name(const char *text, size_t len, size_t at)
{
	return at < len && is_word(text[at]) && !isdigit((unsigned char)text[at]);
}

size_t lm_scan_parens(const char *text, size_t len, size_t at)
{
	size_t depth = 0;

	for (; at < len; at = lm_scan_blank(text, len, lm_scan_token(text, len, at))) {
		if (text[at] == '(')
			depth++;
		else if (text[at] == ')' && depth-- <= 1)
			return at + 1;
	}
	return len;
}

size_t lm_scan_invocation(const char *text, size_t len, size_t at)
{
	size_t end = lm_scan_token(text, len, at);
	size_t next = lm_scan_blank(text, len, end);

	if (lm_scan_is_name(text, len, at) && next < len && text[next] == '(')
		return lm_scan_parens(text, len, next);
	return end;
}

size_t lm_scan_open(const char *text, size_t len, size_t at)
{
	for (at = lm_scan_blank(text, len, at); at < len; at = lm_scan_blank(text, len, at)) {
		if (text[at] == '{')
			return at;
		if (text[at] == '(')
			at = lm_scan_parens(text, len, at);
		else if (text[at] == '#')
			at = line_comment(text, len, at);
		else
			at = lm_scan_token(text, len, at);
	}
	return len;
}

static bool word_is(const char *text, size_t begin, size_t end, const char *word)
{
	return end - begin == strlen(word) && !memcmp(text + begin, word, end - begin);
}

bool lm_scan_has_word(const char *text, size_t begin, size_t end, const char *word)
{
	for (size_t at = lm_scan_blank(text, end, begin); at < end;) {
		size_t next = lm_scan_token(text, end, at);

		if (word_is(text, at, next, word))
			return true;
		at = lm_scan_blank(text, end, next);
	}
	return false;
}

/* The stack of #pragma pack, as GCC and MSVC define it. */
struct pack {
	uint32_t value, initial;
	unsigned depth;
	struct {
		uint32_t value;
		const char *label;
		size_t label_len;
	} stack[MAX_PACK_DEPTH];
};

static uint32_t number(const char *text, size_t begin, size_t end)
{
	uint32_t n = 0;

	for (; begin < end && isdigit((unsigned char)text[begin]) && n < 1000; begin++)
		n = n * 10 + (uint32_t)(text[begin] - '0');
	return n;
}

static void pack_push(struct pack *p, const char *label, size_t label_len)
{
	if (p->depth == MAX_PACK_DEPTH)
		return;
	p->stack[p->depth].value = p->value;
	p->stack[p->depth].label = label;
	p->stack[p->depth++].label_len = label_len;
}

static void pack_pop(struct pack *p, const char *label, size_t label_len)
{
	unsigned to = p->depth;

	while (label && to && (p->stack[to - 1].label_len != label_len ||
			       memcmp(p->stack[to - 1].label, label, label_len)))
		to--;
	if (!to)
		return;
	p->depth = to - 1;
	p->value = p->stack[p->depth].value;
}

/* Obeys "pack(...)" whose '(' is at `at`. */
static void pack_obey(struct pack *p, const char *text, size_t end, size_t at)
{
	bool push = false, pop = false, has_value = false, empty = true;
	const char *label = NULL;
	size_t label_len = 0;
	uint32_t value = 0;

	for (at = lm_scan_blank(text, end, at + 1); at < end && text[at] != ')' && text[at] != '"';) {
		size_t next = lm_scan_token(text, end, at);

		empty = false;
		if (word_is(text, at, next, "push")) {
			push = true;
		} else if (word_is(text, at, next, "pop")) {
			pop = true;
		} else if (isdigit((unsigned char)text[at])) {
			has_value = true;
			value = number(text, at, next);
		} else if (lm_scan_is_name(text, end, at)) {
			label = text + at;
			label_len = next - at;
		}
		at = lm_scan_blank(text, end, next);
	}
	if (push)
		pack_push(p, label, label_len);
	if (pop)
		pack_pop(p, label, label_len);
	if (has_value)
		p->value = value ? value : p->initial;
	if (empty)
		p->value = p->initial;
}

/* Behind "pack" if that is the word at `at` and '(' follows: offset of the '(', else 0. */
static size_t pack_at(const char *text, size_t end, size_t at)
{
	size_t next = lm_scan_token(text, end, at);

	if (!word_is(text, at, next, "pack"))
		return 0;
	next = lm_scan_blank(text, end, next);
	return next < end && text[next] == '(' ? next : 0;
}

/* "#pragma pack(", "_Pragma("pack(" and Microsoft's "__pragma(pack(" that start at `at`: offset of the last '('. */
static size_t pragma_at(const char *text, size_t end, size_t at)
{
	size_t next = lm_scan_token(text, end, at);
	size_t arg;

	if (text[at] == '#') {
		arg = lm_scan_blank(text, end, next);
		next = lm_scan_token(text, end, arg);
		return word_is(text, arg, next, "pragma") ? pack_at(text, end, lm_scan_blank(text, end, next)) : 0;
	}
	if (!word_is(text, at, next, "_Pragma") && !word_is(text, at, next, "__pragma"))
		return 0;
	arg = lm_scan_blank(text, end, next);
	if (arg >= end || text[arg] != '(')
		return 0;
	arg = lm_scan_blank(text, end, arg + 1);
	if (arg < end && text[arg] == '"')
		arg = lm_scan_blank(text, end, arg + 1);
	return pack_at(text, end, arg);
}

uint32_t lm_scan_pack(const char *text, size_t end, uint32_t initial)
{
	struct pack p = { .value = initial, .initial = initial };

	for (size_t at = lm_scan_blank(text, end, 0); at < end;) {
		size_t args = pragma_at(text, end, at);

		if (args)
			pack_obey(&p, text, end, args);
		if (text[at] == '#' && starts(text, end, at, "#define"))
			at = line_comment(text, end, at);	/* a _Pragma in a macro acts where it is used */
		else
			at = lm_scan_token(text, end, at);
		at = lm_scan_blank(text, end, at);
	}
	return p.value;
}
