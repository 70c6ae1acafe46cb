/*
 * page.h - the sections of the page that `linemate report --html` writes, for
 * report_html.c.  Each appends markup; what is computed comes from the rows
 * (report_rows.h) and the picture (picture.h).
 */
#ifndef LM_OUTPUT_PAGE_H
#define LM_OUTPUT_PAGE_H

#include "output/html.h"
#include "output/picture.h"
#include "output/report_rows.h"

struct lm_page {
	const struct lm_rows *rows;
	const struct lm_story *story;
	struct lm_arena *arena;
	struct lm_str *out;
};

/* page_story.c: what is wrong, what moves, what it brings. */
void lm_page_verdict(const struct lm_page *p);
void lm_page_pairs(const struct lm_page *p);
void lm_page_diff(const struct lm_page *p);
void lm_page_curve(const struct lm_page *p);

/* page_picture.c: the cache lines, one picture and one table of fields a configuration. */
void lm_page_picture(const struct lm_page *p);

/* page_facts.c: the tables behind it. */
void lm_page_configs(const struct lm_page *p);
void lm_page_rest(const struct lm_page *p);
void lm_page_evidence(const struct lm_page *p);

/* page_words.c: small pieces that several sections use. */
/* The functions of a side, at most so many, as a list. */
void lm_page_sites(const struct lm_page *p, const struct lm_row_side *side, uint32_t most);
/* "1 read", "12,345 reads" */
const char *lm_page_times(const struct lm_page *p, double n, const char *word);
/* What a configuration changes, "+A,-B", so that it is broken at the commas only; nothing for base. */
void lm_page_spec(const struct lm_page *p, const char *spec);
/* "12 -> 34", or only one where they are the same or nothing moved. */
const char *lm_page_change(const struct lm_page *p, const char *before, const char *after);
/* A table in a region that scrolls by itself where it is too wide; label names it, heads end with NULL. */
void lm_page_table_begin(const struct lm_page *p, const char *label, const char *const *heads);
#define LM_HEADS(...) ((const char *const[]){ __VA_ARGS__, NULL })
void lm_page_number(const struct lm_page *p, const char *text);	/* a cell with a figure */
void lm_page_table_end(const struct lm_page *p);

/* Files of output/page/, with a NUL behind. */
extern const unsigned char lm_page_css[], lm_page_js[];

#endif
