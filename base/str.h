/*
 * str.h - growing text.
 *
 * Zero-initialise to start; lm_str_release() to end.  Invariant: text is NULL
 * (empty) or NUL-terminated with text[len] == 0.  Bytes may include NUL when
 * added with a length.
 */
#ifndef LM_BASE_STR_H
#define LM_BASE_STR_H

#include <stdarg.h>
#include <stddef.h>

struct lm_str {
	char *text;
	size_t len, cap;
};

void lm_str_add(struct lm_str *s, const char *text);
void lm_str_add_bytes(struct lm_str *s, const void *bytes, size_t len);
void lm_str_add_char(struct lm_str *s, char c);
void lm_str_addf(struct lm_str *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void lm_str_vaddf(struct lm_str *s, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/*
 * Adds bytes of unknown origin so that a terminal shows them and does not obey
 * them: control characters, DEL and bytes that are not UTF-8 become \xNN.
 */
void lm_str_escape(struct lm_str *s, const char *bytes, size_t len);

/* The text; "" when nothing was added.  Valid until the next change. */
const char *lm_str_text(const struct lm_str *s);

/* Empties, keeping the memory. */
void lm_str_clear(struct lm_str *s);

/* Frees the contents and zeroes s. */
void lm_str_release(struct lm_str *s);

#endif
