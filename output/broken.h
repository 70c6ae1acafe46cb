/*
 * broken.h - what `linemate check` says: promises that a record's layout does
 * not keep, as text, JSON and SARIF.
 */
#ifndef LM_OUTPUT_BROKEN_H
#define LM_OUTPUT_BROKEN_H

#include "base/str.h"
#include "optimizer/config.h"
#include "optimizer/promise_check.h"

/* One promise file, or the comments of one header, judged; borrowed. */
struct lm_checked {
	const char *path;	/* of the promise file as given; NULL: there is none */
	const char *record;	/* "struct mem_cgroup" */
	const char *header;	/* path as given */
	const struct lm_subject *subject;
	const struct lm_configs *configs;
	const struct lm_promises *promises;
	const struct lm_promise_verdict *verdict;
	uint32_t line;		/* bytes of a cache line */
	bool base_fixed;	/* every object starts on a line, in every configuration */
};

/* One line per broken promise. */
void lm_broken_text(const struct lm_checked *checked, size_t nr, struct lm_str *out);

/* One line per file: how many promises hold. */
void lm_broken_summary(const struct lm_checked *checked, size_t nr, struct lm_str *out);

/* docs/json.md */
void lm_broken_json(const struct lm_checked *checked, size_t nr, struct lm_str *out);

/* SARIF 2.1.0, as code scanning services read it. */
void lm_broken_sarif(const struct lm_checked *checked, size_t nr, struct lm_str *out);

/* For the printers: the promise with what is wrong in its first configuration, and the others by name. */
void lm_broken_sentence(const struct lm_checked *c, const struct lm_broken *b, struct lm_str *out);

/* The line of the header that a breach is about, from 1. */
uint32_t lm_broken_line(const struct lm_checked *c, const struct lm_breach *breach);

#endif
