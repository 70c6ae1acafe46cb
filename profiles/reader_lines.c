/*
 * reader_lines.c - what every reader stands on: spans of bytes as numbers, and
 * the source of lines or bytes.
 */
#include "profiles/reader_private.h"

#include "base/parallel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- spans ---- */

bool lm_span_decimal(struct lm_span s, uint64_t *ret)
{
	uint64_t v = 0;

	if (s.p == s.end)
		return false;
	for (; s.p < s.end; s.p++) {
		if (*s.p < '0' || *s.p > '9' || __builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s.p - '0'), &v))
			return false;
	}
	*ret = v;
	return true;
}

/* Values of the hexadecimal digits, plus one; 0 for every other byte. */
static const unsigned char hex_digits[256] = {
	['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6, ['6'] = 7, ['7'] = 8,
	['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

bool lm_span_hex(struct lm_span s, uint64_t *ret)
{
	uint64_t v = 0;

	if (s.p == s.end || lm_span_len(s) > 16)
		return false;
	for (; s.p < s.end; s.p++) {
		unsigned digit = hex_digits[(unsigned char)*s.p];

		if (!digit)
			return false;
		v = v << 4 | (digit - 1);
	}
	*ret = v;
	return true;
}

bool lm_span_is(struct lm_span s, const char *text)
{
	return lm_span_len(s) == strlen(text) && !memcmp(s.p, text, lm_span_len(s));
}

bool lm_span_starts(struct lm_span s, const char *text)
{
	size_t len = strlen(text);

	return lm_span_len(s) >= len && !memcmp(s.p, text, len);
}

bool lm_span_has(struct lm_span s, const char *text)
{
	size_t len = strlen(text);

	for (; lm_span_len(s) >= len; s.p++) {
		size_t i = 0;

		/* The texts are letters and '-'; of these only letters have the bit 0x20 to lose. */
		while (i < len && (s.p[i] == text[i] || (s.p[i] >= 'A' && s.p[i] <= 'Z' && (s.p[i] | 0x20) == text[i])))
			i++;
		if (i == len)
			return true;
	}
	return false;
}

/* ---- the line source ---- */

void lm_lines_fill(struct lm_lines *src)
{
	ssize_t n;

	do
		n = read(src->fd, src->block + src->end, LM_BLOCK - src->end);
	while (n < 0 && errno == EINTR);
	if (n > 0) {
		src->end += (size_t)n;
		src->bytes_read += (uint64_t)n;
		if (src->file_size)
			lm_progress("reading the profile, KiB", src->bytes_read >> 10, src->file_size >> 10);
		return;
	}
	src->error = n < 0 ? errno : 0;
	src->eof = true;
}

static void move_to_front(struct lm_lines *src)
{
	if (!src->pos)
		return;
	memmove(src->block, src->block + src->pos, src->end - src->pos);
	src->end -= src->pos;
	src->pos = 0;
}

/* Hands out the beginning of the endless line at pos, and goes to its end. */
static void skip_long_line(struct lm_lines *src, struct lm_line *line)
{
	const char *newline = NULL;

	move_to_front(src);
	while (!newline && !src->eof) {
		src->end = LM_LINE_MAX;
		lm_lines_fill(src);
		newline = memchr(src->block + LM_LINE_MAX, '\n', src->end - LM_LINE_MAX);
	}
	src->pos = newline ? (size_t)(newline - src->block) + 1 : src->end;
	*line = (struct lm_line){ src->data, LM_LINE_MAX, src->line_nr, !newline, true };
}

static void hand_out(struct lm_lines *src, struct lm_line *line, size_t len, bool cut)
{
	*line = (struct lm_line){ src->data + src->pos, len, src->line_nr, cut, len > LM_LINE_MAX };
	src->pos += len + !cut;
	if (line->too_long)
		line->len = LM_LINE_MAX;
	else if (!cut && len && line->text[len - 1] == '\r')
		line->len--;
}

bool lm_lines_next(struct lm_lines *src, struct lm_line *line)
{
	size_t seen = 0;

	for (;;) {
		size_t left = src->end - src->pos;
		const char *from = src->data + src->pos;
		const char *newline = left > seen ? memchr(from + seen, '\n', left - seen) : NULL;

		if (!newline && src->eof && !left)
			return false;
		if (newline || src->eof) {
			src->line_nr++;
			hand_out(src, line, newline ? (size_t)(newline - from) : left, !newline);
			return true;
		}
		if (left > LM_LINE_MAX) {
			src->line_nr++;
			skip_long_line(src, line);
			return true;
		}
		seen = left;
		move_to_front(src);
		lm_lines_fill(src);
	}
}

/* ---- bytes ---- */

const char *lm_lines_bytes(struct lm_lines *src, size_t n)
{
	while (src->end - src->pos < n && !src->eof) {
		if (n > LM_BLOCK)
			return NULL;
		move_to_front(src);
		lm_lines_fill(src);
	}
	return src->end - src->pos < n ? NULL : src->data + src->pos;
}

uint64_t lm_lines_skip(struct lm_lines *src, uint64_t n)
{
	uint64_t skipped = 0;

	while (skipped < n) {
		uint64_t left = src->end - src->pos;

		if (left > n - skipped)
			left = n - skipped;
		src->pos += (size_t)left;
		skipped += left;
		if (skipped == n || src->eof)
			break;
		move_to_front(src);
		lm_lines_fill(src);
	}
	return skipped;
}

/* Reads all that is left, for a file that must be read out of order but comes through a pipe. */
static void slurp(struct lm_lines *src)
{
	size_t cap = LM_BLOCK;

	move_to_front(src);
	while (!src->eof) {
		ssize_t n;

		if (src->end == cap) {
			if (__builtin_mul_overflow(cap, 2u, &cap))
				lm_oom();
			src->block = realloc(src->block, cap);
			if (!src->block)
				lm_oom();
			src->data = src->block;
		}
		n = read(src->fd, src->block + src->end, cap - src->end);
		if (n < 0 && errno == EINTR)
			continue;
		src->error = n < 0 ? errno : 0;
		src->eof = n <= 0;
		src->end += n > 0 ? (size_t)n : 0;
	}
}

uint64_t lm_lines_size(struct lm_lines *src)
{
	struct stat st;

	if (src->fd >= 0 && !fstat(src->fd, &st) && S_ISREG(st.st_mode))
		return (uint64_t)st.st_size;
	slurp(src);
	src->fd_is_read = true;
	return src->end;
}

bool lm_lines_read_at(struct lm_lines *src, uint64_t off, void *to, size_t n)
{
	size_t got = 0;

	if (src->fd < 0 || src->fd_is_read) {
		if (off > src->end || n > src->end - off)
			return false;
		memcpy(to, src->data + off, n);
		return true;
	}
	while (got < n) {
		ssize_t r = pread(src->fd, (char *)to + got, n - got, (off_t)(off + got));

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		got += (size_t)r;
	}
	return true;
}

bool lm_lines_seek(struct lm_lines *src, uint64_t off)
{
	if (src->fd < 0 || src->fd_is_read) {
		if (off > src->end)
			return false;
		src->pos = (size_t)off;
		return true;
	}
	if (off > INT64_MAX || lseek(src->fd, (off_t)off, SEEK_SET) < 0)
		return false;
	src->pos = src->end = 0;
	src->eof = false;
	return true;
}
