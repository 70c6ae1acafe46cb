/* json_rows.h - rows that several reports have in common, as JSON (report_json.c, change_json.c). */
#ifndef LM_OUTPUT_JSON_ROWS_H
#define LM_OUTPUT_JSON_ROWS_H

#include "output/json.h"
#include "output/report_rows.h"

struct lm_change;

json_t *lm_json_side(const struct lm_row_side *s);
json_t *lm_json_figures(const struct lm_view_figures *f);

/* "base, v1" as an array (change_json.c). */
json_t *lm_json_list(const char *text);

/* All of a change but the program's version (change_json.c). */
json_t *lm_change_object(const struct lm_change *c);

#endif
