/*
 * html.h - HTML that hostile names cannot break.
 *
 * What comes from outside (names, paths, a header's text) goes into a page only
 * through these: characters that mean something in HTML become references,
 * control codes and bytes that are not UTF-8 become \xNN as on a terminal.
 */
#ifndef LM_OUTPUT_HTML_H
#define LM_OUTPUT_HTML_H

#include "base/str.h"

/* Text, good in elements and in quoted attributes. */
void lm_html_text(struct lm_str *out, const char *text);
void lm_html_bytes(struct lm_str *out, const char *bytes, size_t len);

/*
 * Formatted markup.  %s is text, escaped as above; the rest of fmt goes out as
 * it is.  Knows %s, %u, %llu, %lld, %.Nf with one digit N, and %%; else assert.
 */
void lm_html(struct lm_str *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
