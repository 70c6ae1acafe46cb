/* str.c - growing text. */
#include "base/str.h"

#include "base/err.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(struct lm_str *s, size_t more)
{
	size_t need;

	if (__builtin_add_overflow(s->len, more, &need) || need == SIZE_MAX)
		lm_oom();
	need++;
	if (need <= s->cap)
		return;
	s->cap = need < 64 ? 64 : need + need / 2;
	s->text = realloc(s->text, s->cap);
	if (!s->text)
		lm_oom();
}

void lm_str_add_bytes(struct lm_str *s, const void *bytes, size_t len)
{
	reserve(s, len);
	if (len)
		memcpy(s->text + s->len, bytes, len);
	s->len += len;
	s->text[s->len] = 0;
}

void lm_str_add(struct lm_str *s, const char *text)
{
	lm_str_add_bytes(s, text, strlen(text));
}

void lm_str_add_char(struct lm_str *s, char c)
{
	lm_str_add_bytes(s, &c, 1);
}

void lm_str_vaddf(struct lm_str *s, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		lm_oom();
	reserve(s, (size_t)n);
	vsnprintf(s->text + s->len, (size_t)n + 1, fmt, ap);
	s->len += (size_t)n;
}

void lm_str_addf(struct lm_str *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	lm_str_vaddf(s, fmt, ap);
	va_end(ap);
}

/* Length of the well-formed UTF-8 sequence at p, 0 if there is none. */
static size_t utf8_len(const unsigned char *p, size_t left)
{
	size_t n = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 :
		   *p >= 0xe0 && *p < 0xf0 ? 3 : *p >= 0xf0 && *p < 0xf5 ? 4 : 0;

	if (!n || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if (n == 2 && *p == 0xc2 && p[1] < 0xa0)	/* C1 control codes */
		return 0;
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] >= 0xa0) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] >= 0x90))
		return 0;
	if (*p == 0xe2 && ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae) ||
			   (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9)))
		return 0;				/* bidirectional overrides */
	return n;
}

void lm_str_escape(struct lm_str *s, const char *bytes, size_t len)
{
	const unsigned char *p = (const unsigned char *)bytes;

	for (size_t i = 0; i < len;) {
		size_t n = utf8_len(p + i, len - i);

		if (n == 1 && p[i] != '\n' && p[i] != '\t' && (p[i] < 0x20 || p[i] == 0x7f))
			n = 0;
		if (n) {
			lm_str_add_bytes(s, p + i, n);
			i += n;
		} else {
			lm_str_addf(s, "\\x%02x", p[i]);
			i++;
		}
	}
}

const char *lm_str_text(const struct lm_str *s)
{
	return s->text ? s->text : "";
}

void lm_str_clear(struct lm_str *s)
{
	s->len = 0;
	if (s->text)
		s->text[0] = 0;
}

void lm_str_release(struct lm_str *s)
{
	free(s->text);
	*s = (struct lm_str){ 0 };
}
