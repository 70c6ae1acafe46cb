/*
 * reader_private.h - what the readers of profiles/ share: the line source, the
 * counting of outcomes, and small parsers.  Nobody outside profiles/reader*.c
 * and their tests includes it.
 */
#ifndef LM_PROFILES_READER_PRIVATE_H
#define LM_PROFILES_READER_PRIVATE_H

#include "profiles/reader.h"

/* Longest line that is read; a longer one is skipped to its end. */
#define LM_LINE_MAX (64u << 10)
/* Fits the second-level cache; holds a line of the greatest length and the next one's beginning. */
enum { LM_BLOCK = 256 << 10 };

/* ---- spans of bytes: [p, end) ---- */

struct lm_span {
	const char *p, *end;
};

static inline size_t lm_span_len(struct lm_span s)
{
	return (size_t)(s.end - s.p);
}

static inline bool lm_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline const char *lm_skip_blanks(const char *p, const char *end)
{
	while (p < end && lm_is_blank(*p))
		p++;
	return p;
}

/* The next run of non-blanks at or behind p; empty at end. */
static inline struct lm_span lm_token(const char *p, const char *end)
{
	struct lm_span s = { .p = lm_skip_blanks(p, end) };

	for (s.end = s.p; s.end < end && !lm_is_blank(*s.end); s.end++)
		;
	return s;
}

/* The whole span as a number; false if it is empty, has another byte in it, or does not fit. */
bool lm_span_decimal(struct lm_span s, uint64_t *ret);
bool lm_span_hex(struct lm_span s, uint64_t *ret);	/* without 0x; at most 16 digits */

bool lm_span_is(struct lm_span s, const char *text);
bool lm_span_starts(struct lm_span s, const char *text);
/* True if text (lower case) stands in s in any case. */
bool lm_span_has(struct lm_span s, const char *text);

/* ---- lines and bytes (reader_lines.c) ---- */

/* Lines of a file or of memory.  Memory is bounded by the block, however long a line is. */
struct lm_lines {
	const char *name;	/* for messages */
	const char *data;	/* block, or the whole memory */
	char *block;		/* what data is when read from a file; owned */
	size_t pos, end;	/* unread bytes of data */
	int fd;			/* -1: memory */
	int error;		/* errno of a failed read; the rest is lost */
	bool eof;
	bool fd_is_read;	/* of a pipe: all of it stands in data */
	uint64_t line_nr;	/* of the last line handed out, from 1 */
};

struct lm_line {
	const char *text;	/* not NUL-terminated; without newline and carriage return */
	size_t len;
	uint64_t nr;		/* from 1 */
	bool cut;		/* the file ended without a newline behind it */
	bool too_long;		/* over LM_LINE_MAX; text is its beginning only */
};

/* The next line; false at the end (then look at error).  Valid until the next call. */
bool lm_lines_next(struct lm_lines *src, struct lm_line *line);

/* Reads more behind end; eof is set where there is no more. */
void lm_lines_fill(struct lm_lines *src);

/* The next n unread bytes (at most LM_BLOCK), or NULL if there are fewer.  Valid until the next call. */
const char *lm_lines_bytes(struct lm_lines *src, size_t n);

/* Goes n bytes on; the number of bytes that there were. */
uint64_t lm_lines_skip(struct lm_lines *src, uint64_t n);

/*
 * For a file that is read out of order.  size: of the whole file (a pipe is
 * read into memory first).  read_at: false if not all n bytes are there.  seek:
 * the next bytes are those at off.
 */
uint64_t lm_lines_size(struct lm_lines *src);
bool lm_lines_read_at(struct lm_lines *src, uint64_t off, void *to, size_t n) LM_MUST_CHECK;
bool lm_lines_seek(struct lm_lines *src, uint64_t off) LM_MUST_CHECK;

/* ---- one file a format: those that give accesses ---- */

struct lm_err *lm_read_access(struct lm_lines *src, const struct lm_reader_opts *opts,
			      struct lm_accesses *t) LM_MUST_CHECK;
struct lm_err *lm_read_datatype(struct lm_lines *src, const struct lm_reader_opts *opts,
				struct lm_accesses *t) LM_MUST_CHECK;
struct lm_err *lm_read_typeoff(struct lm_lines *src, const struct lm_reader_opts *opts,
			       struct lm_accesses *t) LM_MUST_CHECK;
struct lm_err *lm_read_sweep(struct lm_lines *src, const struct lm_reader_opts *opts,
			     struct lm_accesses *t) LM_MUST_CHECK;

struct lm_err *lm_read_trace(struct lm_lines *src, const struct lm_reader_opts *opts,
			     struct lm_accesses *t) LM_MUST_CHECK;

/* ---- and those that give samples ---- */

struct lm_sink;
struct lm_err *lm_read_script(struct lm_lines *src, struct lm_sink *sink) LM_MUST_CHECK;
struct lm_err *lm_read_data(struct lm_lines *src, struct lm_sink *sink) LM_MUST_CHECK;
struct lm_err *lm_read_csv(struct lm_lines *src, struct lm_sink *sink) LM_MUST_CHECK;
struct lm_err *lm_read_c2c(struct lm_lines *src, struct lm_sink *sink) LM_MUST_CHECK;
struct lm_err *lm_read_lackey(struct lm_lines *src, struct lm_sink *sink) LM_MUST_CHECK;
struct lm_err *lm_read_stat(struct lm_lines *src, struct lm_sink *sink) LM_MUST_CHECK;

/* True if the line can only be of that text. */
bool lm_script_looks_like(const char *text, size_t len);
bool lm_c2c_looks_like(const char *text, size_t len);
bool lm_csv_looks_like(const char *text, size_t len);
bool lm_lackey_looks_like(const char *text, size_t len);
bool lm_stat_looks_like(const char *text, size_t len);
bool lm_sweep_looks_like(const char *text, size_t len);
bool lm_typeoff_looks_like(const char *text, size_t len);

/* True if these bytes can only be accesses in order: they have no first line to tell them by. */
bool lm_trace_looks_like(const char *bytes, size_t len);

/* lm_profile_read() of bytes in memory; name stands in messages. */
struct lm_err *lm_profile_read_memory(const char *name, const char *bytes, size_t len,
				      const struct lm_reader_opts *opts, struct lm_accesses *t) LM_MUST_CHECK;
struct lm_err *lm_profile_read_samples_memory(const char *name, const char *bytes, size_t len,
					      const struct lm_reader_opts *opts, struct lm_samples *t) LM_MUST_CHECK;

/* "struct page" without "struct " (reader_datatype.c). */
struct lm_span lm_strip_tag(struct lm_span s);

/* ---- outcomes ---- */

static inline void lm_count_drop(struct lm_accesses *t, enum lm_drop why, uint64_t nr)
{
	t->samples += nr;
	t->drops[why] += nr;
}

static inline void lm_count_used(struct lm_accesses *t, uint64_t nr)
{
	t->samples += nr;
	t->used += nr;
}

/* ---- operations ---- */

/* What a sample does with memory, as far as it says; bits, so that a read and a write make both. */
enum lm_does { LM_DOES_NOTHING = 0, LM_DOES_READ = 1, LM_DOES_WRITE = 2, LM_DOES_BOTH = 3, LM_DOES_NOT_SAY = 4 };

#endif
