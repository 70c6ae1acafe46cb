/*
 * script_line.c - one line of perf script text, taken apart.
 *
 * A comm may hold blanks and brackets, an event name colons, a C++ symbol
 * nearly anything, and every column may be missing: so the line is not split
 * into columns.  Two anchors are sure: the time (digits, a point, 6 or 9
 * digits, a colon) and the event (ends with a colon and a blank).  Behind the
 * event stand hexadecimal numbers; the last one before a symbol is the ip, the
 * one before the bars of the data_src text is data_src, the first is the data
 * address.  The words of data_src are never read: they changed four times and
 * leave out the store of a read-modify-write.
 */
#include "profiles/script_line.h"

#include <string.h>

enum { EVENT_MAX = 512 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(struct lm_span s)
{
	uint64_t v;

	return lm_span_hex(s, &v);
}

static bool has_digit(struct lm_span s)
{
	for (; s.p < s.end; s.p++)
		if (is_digit(*s.p))
			return true;
	return false;
}

/* ---- the head: time, cpu, event ---- */

/* True if "SEC.USEC" or "SEC.NSEC" ends at colon; *start is its first byte. */
static bool ends_time(const char *line, const char *colon, const char **start)
{
	const char *p = colon;

	while (p > line && is_digit(p[-1]))
		p--;
	if ((colon - p != 6 && colon - p != 9) || p == line || p[-1] != '.')
		return false;
	p--;
	*start = p;
	while (p > line && is_digit(p[-1]))
		p--;
	if (p == *start || (p > line && !lm_is_blank(p[-1]) && p[-1] != ':'))
		return false;
	*start = p;
	return true;
}

/* "SEC.USEC" or "SEC.NSEC" in nanoseconds; a second's number that is too large becomes 0. */
static uint64_t time_of(const char *start, const char *colon)
{
	const char *point = memchr(start, '.', (size_t)(colon - start));
	uint64_t sec, part;

	if (!lm_span_decimal((struct lm_span){ start, point }, &sec) || sec > UINT64_MAX / 1000000000 - 1 ||
	    !lm_span_decimal((struct lm_span){ point + 1, colon }, &part))
		return 0;
	return sec * 1000000000 + part * (colon - point == 7 ? 1000 : 1);
}

/* The colon behind the time, or NULL. */
static const char *find_time(const char *line, const char *end, const char **start)
{
	for (const char *p = line; (p = memchr(p, ':', (size_t)(end - p))); p++)
		if (ends_time(line, p, start))
			return p;
	return NULL;
}

/* The first colon with a blank or the end behind it, or NULL. */
static const char *find_event_end(const char *p, const char *end)
{
	for (; (p = memchr(p, ':', (size_t)(end - p))); p++)
		if (p + 1 == end || lm_is_blank(p[1]))
			return p;
	return NULL;
}

static struct lm_span token_before(const char *line, const char *p)
{
	struct lm_span s;

	while (p > line && lm_is_blank(p[-1]))
		p--;
	s.end = p;
	while (p > line && !lm_is_blank(p[-1]))
		p--;
	s.p = p;
	return s;
}

/* "[003]" as one of the last tokens before p; behind it misc, the time and the period may stand. */
static int32_t find_cpu(const char *line, const char *p)
{
	for (int i = 0; i < 3 && p > line; i++) {
		struct lm_span s = token_before(line, p);
		uint64_t cpu;

		p = s.p;
		if (lm_span_len(s) < 3 || *s.p != '[' || s.end[-1] != ']')
			continue;
		if (lm_span_decimal((struct lm_span){ s.p + 1, s.end - 1 }, &cpu) && cpu <= INT32_MAX)
			return (int32_t)cpu;
	}
	return LM_CPU_UNKNOWN;
}

/* ---- behind the event ---- */

static bool known_tag(const char *p, const char *end)
{
	if (end - p < 4)
		return false;
	switch (*p) {
	case 'O':
		return p[1] == 'P' && p[2] == ' ';
	case 'L':
		return (p[1] == 'V' && p[2] == 'L' && p[3] == ' ') || (p[1] == 'C' && p[2] == 'K' && p[3] == ' ');
	case 'S':
		return p[1] == 'N' && p[2] == 'P' && p[3] == ' ';
	case 'T':
		return p[1] == 'L' && p[2] == 'B' && p[3] == ' ';
	case 'B':
		return p[1] == 'L' && p[2] == 'K' && p[3] == ' ';
	case 'A':
		return p[1] == 'F' && p[2] == 'F' && p[3] == ' ';
	}
	return false;
}

/* The first bar of the data_src text, or NULL.  Before 5.19 a level stood before it, without a tag. */
static const char *find_data_src_text(const char *p, const char *end)
{
	const char *bar = memchr(p, '|', (size_t)(end - p));

	return bar && known_tag(bar + 1, end) ? bar : NULL;
}

/*
 * Behind the last bar of the text.  perf cuts the text at 99 bytes, so a stump
 * of a tag may follow; it is a word of the last field then.  A bar in a C++
 * operator's name is no tag.
 */
static const char *skip_bars(const char *bar, const char *end)
{
	const char *next = bar;

	while (next && next - bar <= 64 && known_tag(next + 1, end)) {
		bar = next;
		next = memchr(bar + 1, '|', (size_t)(end - bar - 1));
	}
	return bar + 1;
}

/*
 * Cuts a symbol out of "sym+0xoff (dso)  phys": C++ names hold blanks and
 * parentheses, so the offset ends it; where none is printed, the last " (".
 */
static struct lm_span cut_symbol(const char *p, const char *end)
{
	struct lm_span s = { p, end };

	for (const char *plus = p; (plus = memmem(plus, (size_t)(end - plus), "+0x", 3)); plus++) {
		const char *digits = plus + 3;

		while (digits < end && is_hex((struct lm_span){ digits, digits + 1 }))
			digits++;
		if (digits > plus + 3 && (digits == end || lm_is_blank(*digits))) {
			s.end = plus;
			return s;
		}
	}
	for (const char *q = end; q > p + 1; q--) {
		if (q[-1] == '(' && lm_is_blank(q[-2])) {
			s.end = q - 1;
			break;
		}
	}
	if (s.end == end) {
		const char *gap = memmem(p, (size_t)(end - p), "  ", 2);

		if (gap)
			s.end = gap;
	}
	while (s.end > s.p && lm_is_blank(s.end[-1]))
		s.end--;
	if (s.p < s.end && *s.p == '(')
		s.end = s.p;
	return s;
}

static void set_symbol(const char *p, const char *end, struct lm_script_line *ret)
{
	ret->symbol = cut_symbol(p, end);
	ret->behind = (struct lm_span){ ret->symbol.end, end };
}

/* A run of hexadecimal numbers, and what stands behind it. */
struct run {
	struct lm_span first, last, before_last;
	struct lm_span behind;	/* the token that ends it; empty at the end of the line */
	size_t nr;
};

static struct run take_run(const char *p, const char *end)
{
	struct run r = { 0 };

	for (;;) {
		struct lm_span s = lm_token(p, end);

		p = s.end;
		if (is_hex(s)) {
			if (!r.nr++)
				r.first = s;
			r.before_last = r.last;
			r.last = s;
			continue;
		}
		/* A cgroup path stands between the latencies and the ip. */
		if (s.p < s.end && *s.p == '/' && is_hex(lm_token(p, end)))
			continue;
		r.behind = s;
		return r;
	}
}

/* The ip and symbol at the end of a run; the number of numbers left, the ip included. */
static size_t take_ip(const struct run *r, const char *end, struct lm_script_line *ret)
{
	struct lm_span ip = r->last;
	size_t nr = r->nr;

	/* A function named add or dead, printed without offset: all letters, which no address is. */
	if (nr > 1 && !has_digit(r->last) && (r->behind.p == r->behind.end || *r->behind.p == '(')) {
		ret->symbol = r->last;
		ip = r->before_last;
		nr--;
		ret->behind = (struct lm_span){ r->last.end, end };
	} else if (r->behind.p < r->behind.end) {
		set_symbol(r->behind.p, end, ret);
	}
	ret->has_ip = lm_span_hex(ip, &ret->ip);
	return nr;
}

static void parse_behind_data_src(const char *p, const char *end, struct lm_script_line *ret)
{
	struct lm_span s = lm_token(p, end);
	struct run r;

	while (s.p < s.end && !is_hex(s))	/* the words of the last field */
		s = lm_token(s.end, end);
	r = take_run(s.p, end);
	if (r.nr)
		take_ip(&r, end, ret);
}

/* addr and data_src are the first and the last number before the bar. */
static void parse_data_src(const char *p, const char *bar, const char *end, struct lm_script_line *ret)
{
	struct lm_span first = { 0 };

	for (struct lm_span s = lm_token(p, bar); s.p < s.end; s = lm_token(s.end, bar)) {
		if (!lm_span_hex(s, &ret->data_src))
			continue;
		ret->has_addr = first.p != NULL;
		if (!first.p)
			first = s;
		ret->has_data_src = true;
	}
	if (ret->has_addr)
		lm_span_hex(first, &ret->addr);
	parse_behind_data_src(skip_bars(bar, end), end, ret);
}

/* Page faults print the symbol of the data address: "addr sym (dso) ip sym (dso)". */
static bool parse_second_symbol(const char *p, const char *end, struct lm_script_line *ret)
{
	for (struct lm_span s = lm_token(p, end); s.p < s.end; s = lm_token(s.end, end)) {
		struct lm_span next = lm_token(s.end, end);

		if (lm_span_len(s) < 4 || !has_digit(s) || !is_hex(s) || next.p == next.end)
			continue;
		/* A physical address and its page size stand at the end of the line. */
		if (is_digit(*next.p) || lm_span_is(next, "N/A"))
			return false;
		ret->has_ip = lm_span_hex(s, &ret->ip);
		set_symbol(next.p, end, ret);
		return true;
	}
	return false;
}

static void parse_numbers(const char *p, const char *end, struct lm_script_line *ret)
{
	struct run r = take_run(p, end);

	if (!r.nr) {
		ret->traced = r.behind.p < r.behind.end;
		return;
	}
	lm_span_hex(r.first, &ret->addr);
	if (r.nr == 1 && r.behind.p < r.behind.end && parse_second_symbol(r.behind.p, end, ret)) {
		ret->has_addr = true;
		return;
	}
	ret->has_addr = take_ip(&r, end, ret) > 1;
	ret->lone = !ret->has_addr;
}

static void parse_rest(const char *p, const char *end, struct lm_script_line *ret)
{
	const char *bar = find_data_src_text(p, end);

	if (bar)
		parse_data_src(p, bar, end, ret);
	if (!ret->has_data_src)
		parse_numbers(p, end, ret);
}

/* ---- lines ---- */

static enum lm_script_kind parse_timed(const char *line, const char *time, const char *colon, const char *end,
				       struct lm_script_line *ret)
{
	const char *p = lm_skip_blanks(colon + 1, end), *event_end;
	struct lm_span s = lm_token(p, end);
	uint64_t period;

	ret->has_time = true;
	ret->time = time_of(time, colon);
	if (lm_span_starts(s, "PERF_RECORD_"))
		return LM_SCRIPT_RECORD;
	if (lm_span_decimal(s, &period))
		p = lm_skip_blanks(s.end, end);
	s = lm_token(p, end);
	event_end = find_event_end(p, end);
	if (!event_end || event_end == p || event_end - p > EVENT_MAX || (lm_span_len(s) >= 4 && is_hex(s)))
		return LM_SCRIPT_BAD;
	ret->head = (struct lm_span){ line, colon };
	ret->event = (struct lm_span){ p, event_end };
	ret->cpu = find_cpu(line, time);
	parse_rest(event_end + 1, end, ret);
	return LM_SCRIPT_SAMPLE;
}

/*
 * Without a time only an event with numbers behind it makes a sample: any
 * warning may have a colon, and some words are made of the letters a to f.
 */
static enum lm_script_kind parse_untimed(const char *line, const char *end, struct lm_script_line *ret)
{
	const char *event_end = find_event_end(line, end);
	struct lm_span first;

	if (memmem(line, (size_t)(end - line), "PERF_RECORD_", 12))
		return LM_SCRIPT_RECORD;
	if (!event_end)
		return LM_SCRIPT_MESSAGE;
	ret->event = token_before(line, event_end);
	ret->event.end = event_end;
	if (ret->event.p == event_end || lm_span_len(ret->event) > EVENT_MAX)
		return LM_SCRIPT_MESSAGE;
	first = lm_token(event_end + 1, end);
	if (!is_hex(first) || !has_digit(first))
		return LM_SCRIPT_MESSAGE;
	ret->head = (struct lm_span){ line, ret->event.p };
	ret->cpu = find_cpu(line, ret->event.p);
	parse_rest(event_end + 1, end, ret);
	if (ret->lone && lm_span_len(first) < 6)
		return LM_SCRIPT_MESSAGE;
	return LM_SCRIPT_SAMPLE;
}

static bool parse_frame(const char *line, const char *end, struct lm_script_line *ret)
{
	struct lm_span s = lm_token(line, end);

	if (s.p == line || !lm_span_hex(s, &ret->ip))
		return false;
	ret->has_ip = true;
	ret->tab = *line == '\t';
	set_symbol(lm_skip_blanks(s.end, end), end, ret);
	return true;
}

static bool is_srcline(const char *line, const char *end)
{
	struct lm_span s = lm_token(line, end);

	return s.p == line + 2 && s.p < s.end && lm_skip_blanks(s.end, end) == end;
}

enum lm_script_kind lm_script_parse(const char *text, size_t len, struct lm_script_line *ret)
{
	const char *end = text + len, *time = text, *colon = find_time(text, end, &time);
	enum lm_script_kind kind;

	*ret = (struct lm_script_line){ .cpu = LM_CPU_UNKNOWN };
	if (colon)
		return parse_timed(text, time, colon, end, ret);
	kind = parse_untimed(text, end, ret);
	if (kind != LM_SCRIPT_MESSAGE)
		return kind;
	*ret = (struct lm_script_line){ .cpu = LM_CPU_UNKNOWN };
	if (is_srcline(text, end))
		return LM_SCRIPT_SRCLINE;
	return parse_frame(text, end, ret) ? LM_SCRIPT_FRAME : LM_SCRIPT_MESSAGE;
}

bool lm_script_looks_like(const char *text, size_t len)
{
	struct lm_script_line line;
	const char *end = text + len;

	while (end > text && (end[-1] == '\r' || lm_is_blank(end[-1])))
		end--;
	if (text == end || *text == '#' || memchr(text, 0, (size_t)(end - text)))
		return false;
	switch (lm_script_parse(text, (size_t)(end - text), &line)) {
	case LM_SCRIPT_SAMPLE:
	case LM_SCRIPT_RECORD:
		return true;
	case LM_SCRIPT_FRAME:
		/* A line of ips only, or the call chain of a sample further up. */
		return line.ip > 0xffff && lm_span_len(line.symbol) &&
		       (end[-1] == ')' || memmem(line.symbol.p, (size_t)(end - line.symbol.p), "+0x", 3));
	case LM_SCRIPT_SRCLINE:
	case LM_SCRIPT_MESSAGE:
	case LM_SCRIPT_BAD:
		break;
	}
	return false;
}
