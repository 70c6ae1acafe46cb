/* words.c - numbers and sentences as the reports write them. */
#include "output/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *lm_count(struct lm_arena *arena, double v)
{
	char digits[64], *text;
	size_t len, n = 0;

	if (!isfinite(v) || fabs(v) > 1e18)
		return lm_arena_printf(arena, "%.3g", v);
	snprintf(digits, sizeof(digits), "%lld", (long long)llround(fabs(v)));
	len = strlen(digits);
	text = lm_arena_alloc(arena, len + len / 3 + 2);
	if (v < 0 && strcmp(digits, "0"))
		text[n++] = '-';
	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			text[n++] = ',';
		text[n++] = digits[i];
	}
	return text;
}

const char *lm_percent(struct lm_arena *arena, double percent)
{
	if (fabs(percent) < 0.05)
		return "0 %";
	if (fabs(percent) < 9.95)
		return lm_arena_printf(arena, "%+.1f %%", percent);
	return lm_arena_printf(arena, "%+.0f %%", percent);
}

const char *lm_safe(struct lm_arena *arena, const char *text)
{
	struct lm_str s = { 0 };
	char *copy;

	lm_str_escape(&s, text, strlen(text));
	copy = lm_arena_strdup(arena, lm_str_text(&s));
	for (char *p = copy; *p; p++)
		*p = *p == '\n' || *p == '\t' ? ' ' : *p;
	lm_str_release(&s);
	return copy;
}

static void blanks(struct lm_str *out, unsigned nr)
{
	while (nr--)
		lm_str_add_char(out, ' ');
}

void lm_wrap_to(struct lm_str *out, unsigned width, unsigned first, unsigned rest, const char *text)
{
	size_t column = first;
	bool fresh = true;

	blanks(out, first);
	while (*text) {
		size_t word = strcspn(text, " ");

		if (!fresh && column + 1 + word > width) {
			lm_str_add_char(out, '\n');
			blanks(out, rest);
			column = rest;
			fresh = true;
		}
		if (!fresh) {
			lm_str_add_char(out, ' ');
			column++;
		}
		lm_str_add_bytes(out, text, word);
		column += word;
		fresh = false;
		text += word;
		text += strspn(text, " ");
	}
	lm_str_add_char(out, '\n');
}

void lm_wrap(struct lm_str *out, unsigned first, unsigned rest, const char *text)
{
	lm_wrap_to(out, LM_TEXT_WIDTH, first, rest, text);
}

void lm_wrapf(struct lm_str *out, unsigned first, unsigned rest, const char *fmt, ...)
{
	struct lm_str s = { 0 };
	va_list ap;

	va_start(ap, fmt);
	lm_str_vaddf(&s, fmt, ap);
	va_end(ap);
	lm_wrap(out, first, rest, lm_str_text(&s));
	lm_str_release(&s);
}

void lm_paint(struct lm_str *out, bool on, const char *dress, const char *text)
{
	if (on)
		lm_str_addf(out, "\033[%sm%s\033[0m", dress, text);
	else
		lm_str_add(out, text);
}
