/*
 * guards.h - the conditions in the text of a record: which macros decide what
 * members it has, and what they make of it.  Text alone; no compiler.
 */
#ifndef LM_OPTIMIZER_GUARDS_H
#define LM_OPTIMIZER_GUARDS_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A record between its braces. */
struct lm_guarded {
	const char *record;	/* "struct page_counter" */
	const char *path;
	const char *text;
	size_t len;
	uint32_t line;		/* of the first byte, from 1 */
	size_t offset;		/* of the first byte in the file */
};

/* A macro that a condition around members tests. */
struct lm_tested {
	const char *name;	/* CONFIG_X for CONFIG_X_MODULE, too */
	bool by_value;		/* compared, calculated with, or called: on and off say nothing of it */
	const char *record, *path;
	uint32_t line;		/* of the first such condition; of the first by value if there is one */
	/* Filled by who reads the whole unit: */
	const char *defined_path; /* first #define of it, or NULL */
	uint32_t defined_line;
	bool defined_inside;	/* the unit defines it whatever the flags say */
	bool elsewhere;		/* the unit mentions it at other places than these records and #define lines */
};

struct lm_tested_list {
	struct lm_tested *items;
	size_t nr, cap;
};

/*
 * Adds the macros that guards in g test, in the order of the text; each name
 * once.  Guards without a member in any branch, and those of a text that is not
 * balanced, count for nothing.
 */
void lm_guards_tested(const struct lm_guarded *g, struct lm_arena *arena, struct lm_tested_list *to);

/* An option and what it is in one configuration: NULL not defined, "1" on, or another value. */
struct lm_option_value {
	const char *name, *value;
};

/*
 * Adds to key which branch of each guard is taken.  Two configurations that
 * differ in the given options alone see the same text if their keys are equal.
 * Conditions that hang on more than these options add the values themselves.
 */
void lm_guards_key(const struct lm_guarded *g, const struct lm_option_value *values, size_t nr, struct lm_str *key);

#endif
