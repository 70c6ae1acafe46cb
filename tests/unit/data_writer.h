/*
 * data_writer.h - writes perf.data, for the tests of its reader: a few words a
 * record, and the file around them.
 */
#ifndef LM_TESTS_DATA_WRITER_H
#define LM_TESTS_DATA_WRITER_H

#include "base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline void put(struct lm_str *s, uint64_t v, size_t bytes)
{
	lm_str_add_bytes(s, &v, bytes);
}

static inline void put_u64(struct lm_str *s, uint64_t v)
{
	put(s, v, 8);
}

/* Text with its zero, padded to eight bytes. */
static inline void put_text(struct lm_str *s, const char *text)
{
	size_t len = strlen(text) + 1;

	lm_str_add_bytes(s, text, len);
	put(s, 0, (8 - len % 8) % 8);
}

/* Length and padded text, as features have it. */
static inline void put_string(struct lm_str *s, const char *text)
{
	put(s, (strlen(text) + 8) & ~7ull, 4);
	put_text(s, text);
}

/* A record of body, which is emptied. */
static inline void put_record(struct lm_str *s, uint32_t type, uint16_t misc, struct lm_str *body)
{
	put(s, type, 4);
	put(s, misc, 2);
	put(s, 8 + body->len, 2);
	if (body->len)
		lm_str_add_bytes(s, body->text, body->len);
	lm_str_clear(body);
}

struct attr_words {
	uint32_t type, size;	/* size 0: 128 */
	uint64_t config, sample_type, read_format, flags;
	uint32_t bp_type;
	uint64_t bp_addr, bp_len, branch_sample_type, regs_user;
};

static inline void put_attr(struct lm_str *s, const struct attr_words *a)
{
	size_t size = a->size ? a->size : 128, start = s->len;
	struct lm_str all = { 0 };

	put(&all, a->type, 4);
	put(&all, size, 4);
	put_u64(&all, a->config);
	put_u64(&all, 1);
	put_u64(&all, a->sample_type);
	put_u64(&all, a->read_format);
	put_u64(&all, a->flags);
	put(&all, 0, 4);
	put(&all, a->bp_type, 4);
	put_u64(&all, a->bp_addr);
	put_u64(&all, a->bp_len);
	put_u64(&all, a->branch_sample_type);
	put_u64(&all, a->regs_user);
	lm_str_add_bytes(s, all.text, all.len < size ? all.len : size);
	while (s->len < start + size)
		put(s, 0, 1);
	lm_str_release(&all);
}

struct file_words {
	const struct attr_words *attrs;
	const char *const *names;	/* NULL: no EVENT_DESC */
	size_t nr;			/* event i has the id 100 + i */
	const char *version;		/* NULL: none */
	const struct lm_str *build_ids;	/* records; NULL: none */
	const struct lm_str *pmus;
};

static inline void put_event_desc(struct lm_str *s, const struct file_words *f)
{
	put(s, f->nr, 4);
	put(s, 128, 4);
	for (size_t i = 0; i < f->nr; i++) {
		struct attr_words a = f->attrs[i];

		a.size = 128;
		put_attr(s, &a);
		put(s, 1, 4);
		put_string(s, f->names[i]);
		put_u64(s, 100 + i);
	}
}

static inline void put_features(struct lm_str *out, const struct file_words *f)
{
	struct lm_str parts[4] = { 0 };
	uint64_t at;
	size_t nr = 0;

	if (f->build_ids)
		lm_str_add_bytes(&parts[0], f->build_ids->text, f->build_ids->len);
	if (f->version)
		put_string(&parts[1], f->version);
	if (f->names)
		put_event_desc(&parts[2], f);
	if (f->pmus)
		lm_str_add_bytes(&parts[3], f->pmus->text, f->pmus->len);
	for (size_t i = 0; i < 4; i++)
		nr += parts[i].len != 0;
	at = out->len + 16 * nr;
	for (size_t i = 0; i < 4; i++) {
		if (!parts[i].len)
			continue;
		put_u64(out, at);
		put_u64(out, parts[i].len);
		at += parts[i].len;
	}
	for (size_t i = 0; i < 4; i++) {
		if (parts[i].len)
			lm_str_add_bytes(out, parts[i].text, parts[i].len);
		lm_str_release(&parts[i]);
	}
}

/* The whole file around the records; finished false: the header says no size, as of a perf that was killed. */
static inline void put_file(struct lm_str *out, const struct file_words *f, const struct lm_str *records, int finished)
{
	size_t attr = f->attrs[0].size ? f->attrs[0].size : 128, ids = 104, attrs = ids + 8 * f->nr;
	size_t data = attrs + (attr + 16) * f->nr;
	uint64_t bits = (f->build_ids ? 1u << 2 : 0) | (f->version ? 1u << 5 : 0) | (f->names ? 1u << 12 : 0) |
			(f->pmus ? 1u << 16 : 0);

	lm_str_add_bytes(out, "PERFILE2", 8);
	put_u64(out, 104);
	put_u64(out, attr + 16);
	put_u64(out, attrs);
	put_u64(out, (attr + 16) * f->nr);
	put_u64(out, data);
	put_u64(out, finished ? records->len : 0);
	put_u64(out, 0);
	put_u64(out, 0);
	put_u64(out, finished ? bits : 0);
	for (int i = 0; i < 3; i++)
		put_u64(out, 0);
	for (size_t i = 0; i < f->nr; i++)
		put_u64(out, 100 + i);
	for (size_t i = 0; i < f->nr; i++) {
		put_attr(out, &f->attrs[i]);
		put_u64(out, ids + 8 * i);
		put_u64(out, 8);
	}
	if (records->len)
		lm_str_add_bytes(out, records->text, records->len);
	if (finished)
		put_features(out, f);
}

/* A zstd frame whose blocks are not compressed: what a stream looks like, without a compressor. */
static inline void put_zstd_head(struct lm_str *s)
{
	lm_str_add_bytes(s, "\x28\xb5\x2f\xfd\x00\x58", 6);
}

static inline void put_zstd_block(struct lm_str *s, const char *bytes, size_t len, int last)
{
	put(s, (uint64_t)len << 3 | (last ? 1 : 0), 3);
	lm_str_add_bytes(s, bytes, len);
}

#endif
