/*
 * reader_c2c.c - perf c2c report --stdio text -> samples.
 *
 * Only the Pareto has code and offset together:
 *
 *   0      100      150      290      150       10           0xa9ef040
 *    60.00%  0.00%  0.00%  0.00%  0.00%   0x0  1  1  0x4012d0  417  0  27  240  4  [.] account  fs  fs.c:26  0  1
 *
 * A cache line's row has counts (number, HITMs of two kinds, stores of two or
 * three), its detail rows the shares of them.  "records" are all samples of the
 * row, loads and stores; so stores = shares times counts, loads = records less
 * stores.  Which other columns there are depends on the age, the grouping and
 * the options, and widths differ line by line: a row is taken apart from its
 * sure ends, the shares in front and the two numbers before the symbol.
 *
 * Rows without HITM and store are hidden by perf, so absence proves nothing:
 * contention is this evidence's name.  Mails quote, re-indent and trim: no
 * banner and no header is needed.
 */
#include "profiles/sink.h"

#include <string.h>

enum { MIN_SHARES = 4, MAX_SHARES = 6, MAX_TOKENS = 24 };

struct c2c {
	struct lm_sink *sink;
	bool has_line;
	uint64_t line;			/* address of the cache line */
	uint64_t totals[MAX_SHARES];
	size_t nr_totals;
};

struct row {
	double shares[MAX_SHARES];
	size_t nr_shares;
	uint64_t offset, code, records;
	struct lm_span symbol, dso;
};

static bool parse_hex(struct lm_span s, uint64_t *ret)
{
	return lm_span_starts(s, "0x") && lm_span_hex((struct lm_span){ s.p + 2, s.end }, ret);
}

/* "45.58%" as hundredths. */
static bool parse_share(struct lm_span s, double *ret)
{
	const char *point = memchr(s.p, '.', lm_span_len(s));
	uint64_t whole, part;

	if (lm_span_len(s) < 5 || s.end[-1] != '%' || !point || s.end - point != 4 ||
	    !lm_span_decimal((struct lm_span){ s.p, point }, &whole) || whole > 100 ||
	    !lm_span_decimal((struct lm_span){ point + 1, s.end - 1 }, &part))
		return false;
	*ret = (double)whole * 100 + (double)part;
	return true;
}

/* Marks of a quoting mail. */
static const char *skip_quotes(const char *p, const char *end)
{
	while (p < end && (*p == '>' || lm_is_blank(*p)))
		p++;
	return p;
}

/* "14  36  70  191  0  0xffff8881c06420c0", and nothing behind it. */
static bool parse_line(const char *p, const char *end, struct c2c *ret)
{
	uint64_t number;
	struct lm_span s = lm_token(skip_quotes(p, end), end);

	if (!lm_span_decimal(s, &number))
		return false;
	ret->nr_totals = 0;
	for (s = lm_token(s.end, end); ret->nr_totals < MAX_SHARES; s = lm_token(s.end, end)) {
		if (!lm_span_decimal(s, &ret->totals[ret->nr_totals]))
			break;
		ret->nr_totals++;
	}
	return ret->nr_totals >= MIN_SHARES && parse_hex(s, &ret->line) && lm_skip_blanks(s.end, end) == end;
}

/* From p, the text up to a gap of two blanks or a tab. */
static struct lm_span take_column(const char *p, const char *end)
{
	struct lm_span s = { .p = lm_skip_blanks(p, end) };

	s.end = s.p;
	while (s.end < end && *s.end != '\t' && !(*s.end == ' ' && (s.end + 1 == end || lm_is_blank(s.end[1]))))
		s.end++;
	return s;
}

/* "[k] name  object  ...", or the object alone. */
static void take_names(const char *p, const char *end, struct row *ret)
{
	struct lm_span s = lm_token(p, end);
	uint64_t code;

	if (lm_span_len(s) == 3 && *s.p == '[' && s.p[2] == ']') {
		ret->symbol = take_column(s.end, end);
		p = ret->symbol.end;
		if (parse_hex(ret->symbol, &code))	/* no symbol is known there */
			ret->symbol.end = ret->symbol.p;
	}
	ret->dso = take_column(p, end);
}

/*
 * Behind the offset: node, PA cnt, [pid], [tid:comm], [code], cycles (three or
 * four), records, cpus, names.  The first run of five numbers or more behind
 * the code, or the node, ends with records and cpus.
 */
static bool take_records(const char *p, const char *end, struct row *ret)
{
	uint64_t last = 0, before = 0, v;
	size_t run = 0;

	for (int i = 0; i < MAX_TOKENS; i++) {
		struct lm_span s = lm_token(p, end);

		if (s.p < s.end && lm_span_decimal(s, &v)) {
			before = last;
			last = v;
			run++;
		} else if (run >= 5 || s.p == s.end) {
			break;
		} else {
			if (!ret->code)
				parse_hex(s, &ret->code);
			run = 0;
		}
		p = s.end;
	}
	ret->records = before;
	take_names(p, end, ret);
	return run >= 5;
}

static bool parse_row(const char *p, const char *end, struct row *ret)
{
	struct lm_span s = lm_token(skip_quotes(p, end), end);

	*ret = (struct row){ 0 };
	while (ret->nr_shares < MAX_SHARES && parse_share(s, &ret->shares[ret->nr_shares])) {
		ret->nr_shares++;
		s = lm_token(s.end, end);
	}
	return ret->nr_shares >= MIN_SHARES && parse_hex(s, &ret->offset) && take_records(s.end, end, ret);
}

/* Of six shares (a draft of 2022) the third is of loads, too. */
static uint64_t count_stores(const struct c2c *c, const struct row *row)
{
	uint64_t stores = 0;

	for (size_t i = row->nr_shares == MAX_SHARES ? 3 : 2; i < row->nr_shares && i < c->nr_totals; i++)
		stores += (uint64_t)(row->shares[i] * (double)(c->totals[i] >> 1) / 5000 +
				     row->shares[i] * (double)(c->totals[i] & 1) / 10000 + 0.5);
	return stores < row->records ? stores : row->records;
}

static void count_row(struct c2c *c, const struct row *row)
{
	uint64_t stores = count_stores(c, row);
	struct lm_hit hit = {
		.ip = row->code, .addr = c->line + row->offset, .cpu = LM_CPU_UNKNOWN, .evidence = LM_EVIDENCE_CONTENTION,
		.count = row->records - stores, .does = LM_DOES_READ,
	};

	hit.symbol = lm_sink_symbol(c->sink, row->symbol, hit.addr);
	hit.dso = lm_sink_dso(c->sink, row->dso);
	if (hit.count)
		lm_sink_add(c->sink, &hit);
	hit.count = stores;
	hit.does = LM_DOES_WRITE;
	if (hit.count)
		lm_sink_add(c->sink, &hit);
}

/* "  Events   : cpu/mem-loads,ldlat=30/P", and lines that continue it. */
static bool read_event(struct c2c *c, const char *p, const char *end)
{
	struct lm_span s = lm_token(skip_quotes(p, end), end), name;

	if (lm_span_is(s, "Events"))
		s = lm_token(s.end, end);
	if (!lm_span_is(s, ":"))
		return false;
	name = lm_token(s.end, end);
	if (name.p < name.end)
		lm_sink_event(c->sink, name);
	return true;
}

static void read_line(struct c2c *c, const struct lm_line *line)
{
	const char *p = line->text, *end = p + line->len;
	struct c2c next = *c;
	struct row row;

	while (end > p && lm_is_blank(end[-1]))
		end--;
	if (line->too_long) {
		lm_sink_drop(c->sink, LM_DROP_TOO_LONG, 1);
	} else if (p == end) {
		return;
	} else if (line->cut || memchr(p, 0, (size_t)(end - p))) {
		lm_sink_drop(c->sink, line->cut ? LM_DROP_TRUNCATED : LM_DROP_UNREADABLE, 1);
	} else if (parse_line(p, end, &next)) {
		*c = next;
		c->has_line = true;
		lm_sink_drop(c->sink, LM_DROP_NOT_A_SAMPLE, 1);
	} else if (!parse_row(p, end, &row)) {
		read_event(c, p, end);
		lm_sink_drop(c->sink, row.nr_shares >= MIN_SHARES ? LM_DROP_UNREADABLE : LM_DROP_NOT_A_SAMPLE, 1);
	} else if (!c->has_line || !row.records || row.records > UINT32_MAX) {
		lm_sink_drop(c->sink, LM_DROP_UNREADABLE, 1);
	} else {
		count_row(c, &row);
	}
}

struct lm_err *lm_read_c2c(struct lm_lines *src, struct lm_sink *sink)
{
	struct c2c c = { .sink = sink };
	struct lm_line line;

	while (lm_lines_next(src, &line))
		read_line(&c, &line);
	return NULL;
}

bool lm_c2c_looks_like(const char *text, size_t len)
{
	struct c2c c;
	struct row row;

	return parse_line(text, text + len, &c) || parse_row(text, text + len, &row);
}
