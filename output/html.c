/* html.c - HTML that hostile names cannot break. */
#include "output/html.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

void lm_html_bytes(struct lm_str *out, const char *bytes, size_t len)
{
	struct lm_str safe = { 0 };

	lm_str_escape(&safe, bytes, len);
	for (size_t i = 0; i < safe.len; i++) {
		switch (safe.text[i]) {
		case '&':
			lm_str_add(out, "&amp;");
			break;
		case '<':
			lm_str_add(out, "&lt;");
			break;
		case '>':
			lm_str_add(out, "&gt;");
			break;
		case '"':
			lm_str_add(out, "&quot;");
			break;
		case '\'':
			lm_str_add(out, "&#39;");
			break;
		default:
			lm_str_add_char(out, safe.text[i]);
		}
	}
	lm_str_release(&safe);
}

void lm_html_text(struct lm_str *out, const char *text)
{
	lm_html_bytes(out, text, strlen(text));
}

void lm_html(struct lm_str *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	while (*fmt) {
		size_t plain = strcspn(fmt, "%");

		lm_str_add_bytes(out, fmt, plain);
		fmt += plain;
		if (!*fmt)
			break;
		fmt++;
		if (*fmt == 's') {
			lm_html_text(out, va_arg(ap, const char *));
		} else if (*fmt == 'u') {
			lm_str_addf(out, "%u", va_arg(ap, unsigned));
		} else if (!strncmp(fmt, "llu", 3) || !strncmp(fmt, "lld", 3)) {
			fmt += 2;
			if (*fmt == 'u')
				lm_str_addf(out, "%llu", va_arg(ap, unsigned long long));
			else
				lm_str_addf(out, "%lld", va_arg(ap, long long));
		} else if (fmt[0] == '.' && fmt[1] && fmt[2] == 'f') {
			lm_str_addf(out, "%.*f", fmt[1] - '0', va_arg(ap, double));
			fmt += 2;
		} else {
			assert(*fmt == '%');
			lm_str_add_char(out, '%');
		}
		fmt++;
	}
	va_end(ap);
}
