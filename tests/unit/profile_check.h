/*
 * profile_check.h - what the tests of the profile readers share: reading a
 * text, and an access table in words that a test can be compared with.
 */
#ifndef LM_TESTS_PROFILE_CHECK_H
#define LM_TESTS_PROFILE_CHECK_H

#include "base/str.h"
#include "profiles/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* The two objects of the texts, and the size of their record. */
static const uint64_t test_objects[] = { 0xffff888100000000u, 0xffff888200000000u };
static const struct lm_reader_opts test_opts = {
	.record = "rec", .objects = test_objects, .nr_objects = 2, .record_size = 2176,
};

/* Every line has one outcome: the counts add up. */
static inline void check_adds_up(const struct lm_accesses *t)
{
	uint64_t sum = t->used;

	for (int d = 0; d < LM_NR_DROPS; d++)
		sum += t->drops[d];
	assert_int_equal(t->samples, sum);
	assert_true(t->unknown_op <= t->used);
}

/* "site member+offset/size cpu object readsr writesw evidence", a row a line, sorted. */
static inline void tell_rows(struct lm_accesses *t, struct lm_str *out)
{
	lm_accesses_sort(t);
	for (size_t i = 0; i < t->nr; i++) {
		const struct lm_access *a = &t->rows[i];

		lm_str_addf(out, "%s %s+%" PRIu64 "/%u cpu%d #%u %" PRIu64 "r %" PRIu64 "w %s\n",
			    lm_strings_get(t->strings, a->site), lm_strings_get(t->strings, a->member), a->offset,
			    a->size, a->cpu, a->object, a->reads, a->writes, lm_evidence_word(a->evidence));
	}
}

/* "samples N used N unknown N no-address N ..." */
static inline void tell_counts(const struct lm_accesses *t, struct lm_str *out)
{
	lm_str_addf(out, "samples %" PRIu64 " used %" PRIu64, t->samples, t->used);
	if (t->unknown_op)
		lm_str_addf(out, " unknown %" PRIu64, t->unknown_op);
	if (t->unknown_element)
		lm_str_addf(out, " unknown-element %" PRIu64, t->unknown_element);
	for (int d = 0; d < LM_NR_DROPS; d++)
		if (t->drops[d])
			lm_str_addf(out, " %s %" PRIu64, lm_drop_word((enum lm_drop)d), t->drops[d]);
}

/* A text with a known answer: rows and counts, or a part of the error's sentence. */
struct text_case {
	const char *sentence;
	const char *text;
	const char *rows;
	const char *counts;
	const char *error;
};

static inline void check_text(const struct text_case *c, const struct lm_reader_opts *opts)
{
	struct lm_str rows = { 0 }, counts = { 0 };
	struct lm_accesses t;
	struct lm_err *err;

	lm_accesses_init(&t);
	err = lm_profile_read_memory("text", c->text, strlen(c->text), opts, &t);
	check_adds_up(&t);
	tell_rows(&t, &rows);
	tell_counts(&t, &counts);
	if (c->error ? !err || err->code != LM_ERR_INPUT || !strstr(err->msg, c->error) || t.nr || t.samples ||
			       t.record != LM_NO_STRING :
		       err || strcmp(lm_str_text(&rows), c->rows) || strcmp(lm_str_text(&counts), c->counts)) {
		print_error("%s\n--- error: %s\n--- rows:\n%s--- counts: %s\n", c->sentence, err ? err->msg : "none",
			    lm_str_text(&rows), lm_str_text(&counts));
		fail();
	}
	lm_err_free(err);
	lm_str_release(&rows);
	lm_str_release(&counts);
	lm_accesses_release(&t);
}

/* Reads a file of tests/data/profiles. */
static inline struct lm_err *read_data(const char *name, const struct lm_reader_opts *opts, struct lm_accesses *t)
{
	char path[1024];

	snprintf(path, sizeof(path), LM_TEST_DATA "/profiles/%s", name);
	return lm_profile_read(path, opts, t);
}

/* Reads and writes of all rows of a member at an offset; site NULL: of every site. */
static inline void sum_rows(const struct lm_accesses *t, const char *site, const char *member, uint64_t offset,
			    uint64_t *reads, uint64_t *writes)
{
	*reads = *writes = 0;
	for (size_t i = 0; i < t->nr; i++) {
		const struct lm_access *a = &t->rows[i];

		if ((site && strcmp(site, lm_strings_get(t->strings, a->site))) || a->offset != offset ||
		    strcmp(member, lm_strings_get(t->strings, a->member)))
			continue;
		*reads += a->reads;
		*writes += a->writes;
	}
}

#endif
