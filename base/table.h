/*
 * table.h - strings as 32-bit ids.
 *
 * The door to uthash: equal strings get the same id; ids count from 0 in the
 * order of first appearance, so that they are the same in every run.
 */
#ifndef LM_BASE_TABLE_H
#define LM_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define LM_NO_STRING UINT32_MAX

struct lm_strings;

struct lm_strings *lm_strings_new(void);
void lm_strings_free(struct lm_strings *t);	/* NULL is fine */

/* The id of text[0 .. len); added if new.  The bytes are copied. */
uint32_t lm_strings_add(struct lm_strings *t, const char *text, size_t len);

/* The id, or LM_NO_STRING. */
uint32_t lm_strings_find(const struct lm_strings *t, const char *text, size_t len);

/* The string; borrowed until free. */
const char *lm_strings_get(const struct lm_strings *t, uint32_t id);

uint32_t lm_strings_nr(const struct lm_strings *t);

#endif
