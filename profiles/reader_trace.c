/*
 * reader_trace.c - accesses to one object in order, as an emulator records them.
 *
 * Four bytes an access, little endian, nothing before and between them:
 *
 *   u16 offset in the object, u8 cpu, u8 size in bytes | 0x80 for a store
 *
 * An emulator runs its processors in slices, one after the other: what order
 * means here is the order on each CPU.  No function is named, so each place is
 * a site of its own: two accesses to two places are two touches of a line.
 */
#include "profiles/reader_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD = 4, STORE = 0x80, MAX_SIZE = 64, MAX_CPU = 63, MAX_OFFSET = 0xffff };

struct reading {
	const struct lm_reader_opts *opts;
	struct lm_accesses *t;
	uint32_t whole;
	uint32_t sites[MAX_OFFSET + 1];	/* string id + 1 */
};

static uint32_t site_of(struct reading *r, unsigned offset)
{
	if (!r->sites[offset]) {
		char text[32];
		int len = snprintf(text, sizeof(text), "[byte %u]", offset);

		r->sites[offset] = lm_strings_add(r->t->strings, text, (size_t)len) + 1;
	}
	return r->sites[offset] - 1;
}

static void read_record(struct reading *r, const unsigned char *p)
{
	unsigned offset = p[0] | (unsigned)p[1] << 8, size = p[3] & ~STORE;
	bool store = p[3] & STORE;

	if (!size || size > MAX_SIZE) {
		lm_count_drop(r->t, LM_DROP_UNREADABLE, 1);
		return;
	}
	if (r->opts->record_size && offset >= r->opts->record_size) {
		lm_count_drop(r->t, LM_DROP_OUTSIDE, 1);
		return;
	}
	lm_accesses_add(r->t, (struct lm_access){
		.site = site_of(r, offset), .member = r->whole, .offset = offset, .size = size, .cpu = p[2],
		.evidence = LM_EVIDENCE_EXACT, .reads = !store, .writes = store,
	});
	lm_count_used(r->t, 1);
	if (r->opts->trace)
		lm_trace_add(r->opts->trace, (struct lm_kind){ offset, size, 0, store }, p[2], NULL);
}

struct lm_err *lm_read_trace(struct lm_lines *src, const struct lm_reader_opts *opts, struct lm_accesses *t)
{
	struct reading *r = calloc(1, sizeof(*r));
	const char *p;

	if (!r)
		lm_oom();
	r->opts = opts;
	r->t = t;
	r->whole = lm_strings_add(t->strings, LM_WHOLE_RECORD, strlen(LM_WHOLE_RECORD));
	if (opts->record && t->record == LM_NO_STRING)
		t->record = lm_strings_add(t->strings, opts->record, strlen(opts->record));
	while ((p = lm_lines_bytes(src, RECORD))) {
		read_record(r, (const unsigned char *)p);
		lm_lines_skip(src, RECORD);
	}
	if (lm_lines_skip(src, RECORD))
		lm_count_drop(t, LM_DROP_TRUNCATED, 1);
	if (opts->trace)
		opts->trace->by_cpu = true;
	free(r);
	return NULL;
}

static bool is_power_of_two(unsigned n)
{
	return n && !(n & (n - 1));
}

/* Bytes below 9 stand in no text; sizes and CPUs of every record must make sense. */
bool lm_trace_looks_like(const char *bytes, size_t len)
{
	const unsigned char *p = (const unsigned char *)bytes;
	bool text = true;

	for (size_t i = 0; i + RECORD <= len; i += RECORD, p += RECORD) {
		unsigned size = p[3] & ~STORE;

		if (!is_power_of_two(size) || size > MAX_SIZE || p[2] > MAX_CPU)
			return false;
		for (int k = 0; k < RECORD; k++)
			text = text && p[k] >= 9;
	}
	return len >= RECORD && !text;
}
