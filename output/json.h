/* json.h - jansson, with running out of memory taken care of. */
#ifndef LM_OUTPUT_JSON_H
#define LM_OUTPUT_JSON_H

#include "base/str.h"

#include <jansson.h>
#include <stdint.h>

json_t *lm_json_object(void);
json_t *lm_json_array(void);

/* Text, null for NULL; bytes that are not UTF-8 are escaped as \xNN. */
json_t *lm_json_text(const char *s);
json_t *lm_json_whole(uint64_t n);

/* Both take over value; NULL is "out of memory". */
void lm_json_set(json_t *object, const char *key, json_t *value);
void lm_json_push(json_t *array, json_t *value);

/*
 * Adds root as text and a newline, and frees it.  Keys keep their order;
 * numbers are rounded to twelve digits so that the bytes are the same everywhere.
 */
void lm_json_dump(json_t *root, struct lm_str *out);

/* What --configs auto found (report_derived.c). */
struct lm_derived;
json_t *lm_derived_json(const struct lm_derived *d);

#endif
