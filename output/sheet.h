/* sheet.h - what the printers of reports share: headings, tables, and who touches a member. */
#ifndef LM_OUTPUT_SHEET_H
#define LM_OUTPUT_SHEET_H

#include "output/report_rows.h"

struct lm_sheet {
	struct lm_str *out;
	struct lm_arena *arena;
	const struct lm_print_opts *opts;
};

/* A bold line with an empty one in front. */
void lm_sheet_heading(const struct lm_sheet *s, const char *text);

/* A sentence in a dress (words.h), broken like any other. */
void lm_sheet_painted(const struct lm_sheet *s, const char *dress, unsigned indent, const char *text);

/*
 * nr rows of `columns` cells each; the first column is left-aligned, the others
 * right.  Columns of empty cells vanish; so does an empty last cell of a row.
 */
void lm_sheet_table(const struct lm_sheet *s, const char *const *cells, uint32_t nr, uint32_t columns);

/* "leaf: N reads, N writes by function N, ...", with a figure in front where there is one. */
void lm_sheet_side(const struct lm_sheet *s, const char *figure, const struct lm_row_side *side);

#endif
