/*
 * sample_check.h - what the tests of the readers of samples share: a sample
 * table in words that a test can be compared with.
 */
#ifndef LM_TESTS_SAMPLE_CHECK_H
#define LM_TESTS_SAMPLE_CHECK_H

#include "profile_check.h"

static inline void check_samples_add_up(const struct lm_samples *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->nr; i++)
		sum += t->rows[i].count;
	for (int d = 0; d < LM_NR_DROPS; d++)
		sum += t->drops[d];
	assert_int_equal(t->samples, sum);
}

/* "ip addr symbol (dso) cpuN sizeN op evidence[ after][ from RETURN ...] xN", a row a line, sorted. */
static inline void tell_samples(struct lm_samples *t, struct lm_str *out)
{
	static const char *const ops[] = { "unknown", "read", "write", "both" };

	lm_samples_sort(t);
	for (size_t i = 0; i < t->nr; i++) {
		const struct lm_sample *r = &t->rows[i];

		lm_str_addf(out, "%" PRIx64 " %" PRIx64 " %s (%s) cpu%d size%u %s %s%s", r->ip, r->addr,
			    lm_strings_get(t->strings, r->symbol),
			    r->dso == LM_NO_STRING ? "" : lm_strings_get(t->strings, r->dso), r->cpu, r->size,
			    ops[r->op], lm_evidence_word(r->evidence), r->after ? " after" : "");
		for (unsigned k = 0; k < LM_CHAIN && r->chain.returns[k]; k++)
			lm_str_addf(out, "%s %" PRIx64, k ? "" : " from", r->chain.returns[k]);
		lm_str_addf(out, " x%" PRIu64 "\n", r->count);
	}
}

/* "samples N lost N no-address N ...", events, mappings, build ids: a line each. */
static inline void tell_rest(const struct lm_samples *t, struct lm_str *out)
{
	lm_str_addf(out, "samples %" PRIu64, t->samples);
	if (t->lost)
		lm_str_addf(out, " lost %" PRIu64, t->lost);
	for (int d = 0; d < LM_NR_DROPS; d++)
		if (t->drops[d])
			lm_str_addf(out, " %s %" PRIu64, lm_drop_word((enum lm_drop)d), t->drops[d]);
	lm_str_add_char(out, '\n');
	for (uint32_t i = 0; i < lm_strings_nr(t->events); i++)
		lm_str_addf(out, "event %s\n", lm_strings_get(t->events, i));
	for (size_t i = 0; i < t->nr_mappings; i++)
		lm_str_addf(out, "map %d %" PRIx64 "+%" PRIx64 "@%" PRIx64 " %s\n", t->mappings[i].pid,
			    t->mappings[i].start, t->mappings[i].len, t->mappings[i].pgoff,
			    lm_strings_get(t->strings, t->mappings[i].dso));
	for (size_t i = 0; i < t->nr_build_ids; i++)
		lm_str_addf(out, "id %s %s\n", t->build_ids[i].hex, lm_strings_get(t->strings, t->build_ids[i].dso));
	if (*t->perf_version)
		lm_str_addf(out, "perf %s\n", t->perf_version);
}

/* Bytes with a known answer: rows and the rest, or a part of the error's sentence. */
static inline void check_samples(const char *sentence, const char *bytes, size_t len, const char *rows,
				 const char *rest, const char *error)
{
	struct lm_str told = { 0 }, told_rest = { 0 };
	struct lm_samples t;
	struct lm_err *err;

	lm_samples_init(&t);
	err = lm_profile_read_samples_memory("bytes", bytes, len, &test_opts, &t);
	check_samples_add_up(&t);
	tell_samples(&t, &told);
	tell_rest(&t, &told_rest);
	if (error ? !err || err->code != LM_ERR_INPUT || !strstr(err->msg, error) || t.nr || t.samples :
		    err || strcmp(lm_str_text(&told), rows) || strcmp(lm_str_text(&told_rest), rest)) {
		print_error("%s\n--- error: %s\n--- rows:\n%s--- rest:\n%s", sentence, err ? err->msg : "none",
			    lm_str_text(&told), lm_str_text(&told_rest));
		fail();
	}
	lm_err_free(err);
	lm_str_release(&told);
	lm_str_release(&told_rest);
	lm_samples_release(&t);
}

/* Reads a file of tests/data/profiles. */
static inline struct lm_err *read_data_samples(const char *name, struct lm_samples *t)
{
	char path[1024];

	snprintf(path, sizeof(path), LM_TEST_DATA "/profiles/%s", name);
	return lm_profile_read_samples(path, &test_opts, t);
}

#endif
