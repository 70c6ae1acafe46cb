/*
 * script_place.c - where code lies, in perf script text: the file behind a
 * symbol, and the mappings that --show-mmap-events prints.
 */
#include "profiles/script_line.h"

#include <string.h>

/* "path+0x12d0", from -F dsoff: the offset in the file. */
static struct lm_span without_offset(struct lm_span s)
{
	const char *p = s.end;
	uint64_t v;

	while (p > s.p && p[-1] != '+')
		p--;
	if (p > s.p && lm_span_starts((struct lm_span){ p, s.end }, "0x") &&
	    lm_span_hex((struct lm_span){ p + 2, s.end }, &v))
		s.end = p - 1;
	return s;
}

struct lm_span lm_script_dso(const struct lm_script_line *line)
{
	struct lm_span s = line->behind, none = { s.end, s.end };
	const char *open;

	while (s.end > s.p && s.end[-1] != ')')
		s.end--;
	open = s.p;
	while (open < s.end && *open != '(')
		open++;
	if (open == s.end)
		return none;
	s = without_offset((struct lm_span){ open + 1, s.end - 1 });
	return lm_span_is(s, "[unknown]") || s.p == s.end ? none : s;
}

bool lm_script_inlined(const struct lm_script_line *line)
{
	struct lm_span s = line->behind;

	return lm_span_len(s) >= 9 && !memcmp(s.end - 9, "(inlined)", 9);
}

/* The digits of "0x12ab" at *p, which goes behind them. */
static bool take_hex(const char **p, const char *end, uint64_t *ret)
{
	struct lm_span s = { *p, *p };

	if (end - *p > 2 && (*p)[0] == '0' && (*p)[1] == 'x')
		s.p = s.end = *p + 2;
	while (s.end < end && ((*s.end >= '0' && *s.end <= '9') || (*s.end >= 'a' && *s.end <= 'f')))
		s.end++;
	*p = s.end;
	return lm_span_hex(s, ret);
}

static bool take_text(const char **p, const char *end, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(end - *p) < len || memcmp(*p, text, len))
		return false;
	*p += len;
	return true;
}

static bool take_pid(const char **p, const char *end, int32_t *ret)
{
	struct lm_span s = { *p, *p };
	uint64_t pid;

	if (take_text(p, end, "-1/")) {
		*ret = -1;
		return true;
	}
	while (s.end < end && *s.end != '/')
		s.end++;
	*p = s.end;
	if (!lm_span_decimal(s, &pid) || pid > INT32_MAX || !take_text(p, end, "/"))
		return false;
	*ret = (int32_t)pid;
	return true;
}

bool lm_script_start(const struct lm_script_line *line, uint64_t *ret)
{
	const char *p = line->behind.p;
	uint64_t offset;

	if (!line->has_ip || !take_text(&p, line->behind.end, "+") || !take_hex(&p, line->behind.end, &offset) ||
	    offset > line->ip)
		return false;
	*ret = line->ip - offset;
	return true;
}

/* "500/500: [0x401000(0x1000) @ 0x1000 00:00 0 0]: r-xp /usr/bin/x": <build id> may stand for the device. */
bool lm_script_mmap(const char *text, size_t len, struct lm_script_mmap *ret)
{
	const char *end = text + len, *p = memmem(text, len, "PERF_RECORD_MMAP", 16), *close, *id;

	*ret = (struct lm_script_mmap){ 0 };
	if (!p)
		return false;
	p = lm_token(p, end).end;
	p = lm_skip_blanks(p, end);
	if (!take_pid(&p, end, &ret->pid))
		return false;
	p = memchr(p, '[', (size_t)(end - p));
	if (!p || !take_text(&p, end, "[") || !take_hex(&p, end, &ret->start) || !take_text(&p, end, "(") ||
	    !take_hex(&p, end, &ret->len) || !take_text(&p, end, ") @ ") || !take_hex(&p, end, &ret->pgoff))
		return false;
	close = memmem(p, (size_t)(end - p), "]: ", 3);
	if (!close)
		return false;
	id = memchr(p, '<', (size_t)(close - p));
	if (id) {
		ret->build_id = (struct lm_span){ id + 1, id + 1 };
		while (ret->build_id.end < close && *ret->build_id.end != '>')
			ret->build_id.end++;
	}
	p = lm_token(close + 3, end).end;	/* r-xp */
	ret->name = (struct lm_span){ lm_skip_blanks(p, end), end };
	return ret->name.p < end;
}
