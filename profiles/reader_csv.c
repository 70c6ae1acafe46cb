/*
 * reader_csv.c - perf mem report -D text -> samples.
 *
 *   # PID, TID, IP, ADDR, [PHYS ADDR, ][DATA PAGE SIZE, ]LOCAL WEIGHT, DSRC, SYMBOL
 *   20132,20144,0xffffffffa4470d46,0x55ffba5cda08,225,0x11868100242,[kernel.kallsyms]:???
 *
 * The separator is what -x said, or blanks.  Without -x all versions of perf
 * (to 7.3 at least) print the first row's address behind a literal "0x016"; no
 * other address has a zero in front, so it is taken off again.  The weight is
 * the first decimal number behind the addresses, which finds the data source
 * whether the two optional columns are there or not.
 */
#include "profiles/sink.h"

#include <string.h>

enum { MAX_SEPARATOR = 8 };

struct row {
	uint64_t ip, addr, data_src;
	struct lm_span dso, symbol;
};

/* Cuts fields at a separator; blanks around a field, and runs of blanks, do not count. */
struct fields {
	const char *p, *end;
	struct lm_span separator;	/* empty: blanks */
};

static struct lm_span next_field(struct fields *f)
{
	struct lm_span s = { .p = lm_skip_blanks(f->p, f->end) };
	const char *cut;

	if (f->separator.p == f->separator.end) {
		s = lm_token(f->p, f->end);
		f->p = s.end;
		return s;
	}
	cut = memmem(s.p, (size_t)(f->end - s.p), f->separator.p, lm_span_len(f->separator));
	s.end = cut ? cut : f->end;
	f->p = cut ? cut + lm_span_len(f->separator) : f->end;
	while (s.end > s.p && lm_is_blank(s.end[-1]))
		s.end--;
	return s;
}

static bool parse_hex(struct lm_span s, uint64_t *ret)
{
	return lm_span_starts(s, "0x") && lm_span_hex((struct lm_span){ s.p + 2, s.end }, ret);
}

static bool parse_address(struct lm_span s, uint64_t *ret)
{
	if (lm_span_starts(s, "0x016") && lm_span_len(s) > 5)
		s.p += 5;
	else if (!lm_span_starts(s, "0x"))
		return false;
	else
		s.p += 2;
	return lm_span_hex(s, ret);
}

/* The separator is what stands between the first two numbers. */
static bool find_separator(struct fields *f)
{
	const char *p = lm_skip_blanks(f->p, f->end), *start;

	while (p < f->end && ((*p >= '0' && *p <= '9') || *p == '-'))
		p++;
	start = lm_skip_blanks(p, f->end);
	p = start;
	while (p < f->end && !lm_is_blank(*p) && !(*p >= '0' && *p <= '9') && *p != '-')
		p++;
	f->separator = (struct lm_span){ start, p };
	return p - start <= MAX_SEPARATOR;
}

static bool parse_pid(struct lm_span s)
{
	uint64_t v;

	if (s.p < s.end && *s.p == '-')
		s.p++;
	return lm_span_decimal(s, &v);
}

static bool parse_row(const char *p, const char *end, struct row *ret)
{
	struct fields f = { .p = p, .end = end };
	struct lm_span s;
	const char *colon;
	uint64_t weight;

	*ret = (struct row){ 0 };
	if (!find_separator(&f) || !parse_pid(next_field(&f)) || !parse_pid(next_field(&f)) ||
	    !parse_hex(next_field(&f), &ret->ip) || !parse_address(next_field(&f), &ret->addr))
		return false;
	for (int i = 0; i < 3; i++) {
		s = next_field(&f);
		if (lm_span_decimal(s, &weight))
			break;
	}
	if (!lm_span_decimal(s, &weight) || !parse_hex(next_field(&f), &ret->data_src))
		return false;
	s = (struct lm_span){ lm_skip_blanks(f.p, end), end };
	colon = memchr(s.p, ':', lm_span_len(s));
	if (!colon)
		return true;
	ret->dso = (struct lm_span){ s.p, colon };
	ret->symbol = (struct lm_span){ colon + 1, end };
	if (lm_span_is(ret->symbol, "???"))
		ret->symbol.p = end;
	if (lm_span_is(ret->dso, "???"))
		ret->dso.p = colon;
	return true;
}

static void count_row(struct lm_sink *sink, const struct row *row)
{
	struct lm_hit hit = {
		.ip = row->ip, .addr = row->addr, .cpu = LM_CPU_UNKNOWN, .count = 1,
		.does = lm_data_src_does(row->data_src, LM_DOES_NOT_SAY), .evidence = LM_EVIDENCE_PRECISE,
	};

	hit.symbol = lm_sink_symbol(sink, row->symbol, row->addr);
	hit.dso = lm_sink_dso(sink, row->dso);
	lm_sink_add(sink, &hit);
}

static void read_line(struct lm_sink *sink, const struct lm_line *line)
{
	const char *p = line->text, *end = p + line->len;
	struct row row;

	while (end > p && lm_is_blank(end[-1]))
		end--;
	if (line->too_long)
		lm_sink_drop(sink, LM_DROP_TOO_LONG, 1);
	else if (p == end)
		return;
	else if (line->cut)
		lm_sink_drop(sink, LM_DROP_TRUNCATED, 1);
	else if (*p == '#')
		lm_sink_drop(sink, LM_DROP_NOT_A_SAMPLE, 1);
	else if (memchr(p, 0, (size_t)(end - p)) || !parse_row(p, end, &row))
		lm_sink_drop(sink, LM_DROP_UNREADABLE, 1);
	else
		count_row(sink, &row);
}

struct lm_err *lm_read_csv(struct lm_lines *src, struct lm_sink *sink)
{
	struct lm_line line;

	while (lm_lines_next(src, &line))
		read_line(sink, &line);
	return NULL;
}

bool lm_csv_looks_like(const char *text, size_t len)
{
	struct row row;

	return parse_row(text, text + len, &row);
}
