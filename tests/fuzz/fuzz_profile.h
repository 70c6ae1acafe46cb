/*
 * fuzz_profile.h - what the fuzz targets of the profile readers share: any
 * bytes are read or refused, the counts add up, and what was read can be
 * printed and read again without a difference.
 */
#ifndef LM_TESTS_FUZZ_PROFILE_H
#define LM_TESTS_FUZZ_PROFILE_H

#include "base/str.h"
#include "profiles/sink.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct lm_err *(*fuzz_reader)(struct lm_lines *src, const struct lm_reader_opts *opts, struct lm_accesses *t);

static const uint64_t fuzz_objects[] = { 0xffff888100000000u, 0xa9ef040u, UINT64_MAX - 8 };
static const struct lm_reader_opts fuzz_opts = { .record = "rec", .objects = fuzz_objects, .nr_objects = 3 };

static inline void check(int good)
{
	if (!good)
		abort();
}

static inline void check_adds_up(const struct lm_accesses *t)
{
	uint64_t sum = t->used;

	for (int d = 0; d < LM_NR_DROPS; d++)
		sum += t->drops[d];
	check(sum == t->samples);
}

static inline void check_read_again(struct lm_accesses *t)
{
	struct lm_str once = { 0 }, twice = { 0 };
	struct lm_accesses u;
	struct lm_err *err;

	lm_accesses_init(&u);
	lm_accesses_sort(t);
	lm_accesses_print(t, &once);
	err = lm_profile_read_memory("again", once.text, once.len, &(struct lm_reader_opts){ 0 }, &u);
	check(!err);
	lm_accesses_sort(&u);
	lm_accesses_print(&u, &twice);
	check(once.len == twice.len && !memcmp(once.text, twice.text, once.len));
	lm_str_release(&once);
	lm_str_release(&twice);
	lm_accesses_release(&u);
}

static inline void check_samples_add_up(const struct lm_samples *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->nr; i++) {
		sum += t->rows[i].count;
		check(t->rows[i].ip || t->rows[i].addr);
		check(t->rows[i].symbol < lm_strings_nr(t->strings));
		check(t->rows[i].dso == LM_NO_STRING || t->rows[i].dso < lm_strings_nr(t->strings));
	}
	for (int d = 0; d < LM_NR_DROPS; d++)
		sum += t->drops[d];
	check(sum == t->samples);
}

/* Through the detection: any bytes are read or refused. */
static inline void fuzz_detected(const uint8_t *data, size_t size)
{
	struct lm_accesses t;
	struct lm_err *err;

	lm_accesses_init(&t);
	err = lm_profile_read_memory("fuzz", (const char *)data, size, &fuzz_opts, &t);
	check_adds_up(&t);
	if (!err)
		check_read_again(&t);
	else
		check(!t.nr && !t.samples && err->msg[0]);
	lm_err_free(err);
	lm_accesses_release(&t);
}

/* And straight into a reader of accesses, which detection may refuse. */
static inline int fuzz_profile(const uint8_t *data, size_t size, fuzz_reader reader)
{
	struct lm_lines src = { .name = "fuzz", .data = (const char *)data, .end = size, .fd = -1, .eof = true };
	struct lm_accesses t;
	struct lm_err *err;

	fuzz_detected(data, size);
	lm_accesses_init(&t);
	err = reader(&src, &fuzz_opts, &t);
	if (!err)
		check_adds_up(&t);
	lm_err_free(err);
	lm_accesses_release(&t);
	return 0;
}

typedef struct lm_err *(*fuzz_sample_reader)(struct lm_lines *src, struct lm_sink *sink);

/* Or into a reader of samples, for accesses and for samples. */
static inline int fuzz_samples(const uint8_t *data, size_t size, fuzz_sample_reader reader)
{
	struct lm_lines src = { .name = "fuzz", .data = (const char *)data, .end = size, .fd = -1, .eof = true };
	struct lm_lines again = src;
	struct lm_accesses accesses;
	struct lm_samples samples, merged;
	struct lm_sink sink;
	struct lm_err *err;

	fuzz_detected(data, size);
	lm_accesses_init(&accesses);
	lm_sink_open(&sink, &fuzz_opts, &accesses, NULL);
	err = reader(&src, &sink);
	check_adds_up(&accesses);
	lm_err_free(err);
	lm_sink_close(&sink);
	lm_accesses_release(&accesses);

	lm_samples_init(&samples);
	lm_samples_init(&merged);
	lm_sink_open(&sink, &fuzz_opts, NULL, &samples);
	err = reader(&again, &sink);
	check_samples_add_up(&samples);
	lm_err_free(err);
	lm_sink_close(&sink);
	lm_samples_sort(&samples);
	lm_strings_add(merged.strings, "not new", 7);
	lm_samples_merge(&merged, &samples);
	check_samples_add_up(&merged);
	check(merged.nr == samples.nr);
	lm_samples_release(&samples);
	lm_samples_release(&merged);
	return 0;
}

#endif
