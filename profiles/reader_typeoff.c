/*
 * reader_typeoff.c - perf report -s type,typeoff --stdio text -> accesses.
 *
 *   # Samples: 626  of event 'cpu-clock'
 *       37.98%          207  struct shared  struct shared +0x10 (limit)
 *
 * With -n the number of samples stands behind the share.  Without it, it is the
 * share of the samples that the head names ("12K" is rounded by perf, so the
 * counts are, too), and without a head hundredths of a percent: then only the
 * proportions are known.  Nothing says read or write.
 */
#include "profiles/reader_private.h"

#include <string.h>

struct typeoff {
	struct lm_accesses *t;
	uint64_t total;		/* samples of the event; 0: the head does not say */
	bool writes;		/* the event counts stores */
	bool knows;		/* the event's name says which */
};

struct row {
	double share;		/* of the first event, percent */
	uint64_t samples;
	bool has_samples;
	struct lm_span type, field;
	uint64_t offset;
};

static bool parse_share(struct lm_span s, double *ret)
{
	const char *point = memchr(s.p, '.', lm_span_len(s));
	uint64_t whole, part;

	if (lm_span_len(s) < 5 || s.end[-1] != '%' || !point || s.end - point != 4 ||
	    !lm_span_decimal((struct lm_span){ s.p, point }, &whole) || whole > 100 ||
	    !lm_span_decimal((struct lm_span){ point + 1, s.end - 1 }, &part))
		return false;
	*ret = (double)whole + (double)part / 100;
	return true;
}

/* "+0x10", "+16" before perf 6.12 */
static bool parse_offset(struct lm_span s, uint64_t *ret)
{
	if (lm_span_starts(s, "+0x"))
		return lm_span_hex((struct lm_span){ s.p + 3, s.end }, ret);
	return lm_span_starts(s, "+") && lm_span_decimal((struct lm_span){ s.p + 1, s.end }, ret);
}

/* "struct shared +0x10 (limit)" at the end: the last " (" begins the field. */
static bool parse_place(struct lm_span s, struct row *ret)
{
	const char *open = s.p == s.end ? NULL : memrchr(s.p, '(', lm_span_len(s)), *plus, *gap;

	if (!open || s.end[-1] != ')')
		return false;
	ret->field = (struct lm_span){ open + 1, s.end - 1 };
	while (open > s.p && lm_is_blank(open[-1]))
		open--;
	plus = open;
	while (plus > s.p && !lm_is_blank(plus[-1]))
		plus--;
	if (!parse_offset((struct lm_span){ plus, open }, &ret->offset) || ret->offset > UINT32_MAX)
		return false;
	while (plus > s.p && lm_is_blank(plus[-1]))
		plus--;
	gap = plus;
	while (gap > s.p + 1 && !(lm_is_blank(gap[-1]) && lm_is_blank(gap[-2])))
		gap--;
	ret->type = (struct lm_span){ gap > s.p + 1 ? gap : s.p, plus };
	return ret->type.p < ret->type.end;
}

static bool parse_row(struct lm_span line, struct row *ret)
{
	struct lm_span s = lm_token(line.p, line.end);
	double other;
	uint64_t nr;

	*ret = (struct row){ 0 };
	if (!parse_share(s, &ret->share))
		return false;
	for (s = lm_token(s.end, line.end); parse_share(s, &other); s = lm_token(s.end, line.end))
		;
	for (; lm_span_decimal(s, &nr) && nr <= UINT32_MAX; s = lm_token(s.end, line.end)) {
		ret->samples += nr;
		ret->has_samples = true;
	}
	return parse_place((struct lm_span){ s.p, line.end }, ret);
}

/* "# Samples: 12K of event 'cpu/mem-stores/P'" */
static void read_head(struct typeoff *f, struct lm_span line)
{
	static const char start[] = "# Samples: ";
	struct lm_span s, name;
	uint64_t unit = 1;
	const char *quote;

	if (!lm_span_starts(line, start))
		return;
	s = lm_token(line.p + sizeof(start) - 1, line.end);
	if (s.p < s.end && (s.end[-1] == 'K' || s.end[-1] == 'M'))
		unit = *--s.end == 'K' ? 1000 : 1000000;
	if (!lm_span_decimal(s, &f->total) || f->total > UINT32_MAX)
		f->total = 0;
	f->total *= unit;
	quote = memchr(s.end, '\'', (size_t)(line.end - s.end));
	if (!quote)
		return;
	name = (struct lm_span){ quote + 1, quote + 1 };
	while (name.end < line.end && *name.end != '\'')
		name.end++;
	if (name.p == name.end)
		return;
	lm_strings_add(f->t->events, name.p, lm_span_len(name));
	f->writes = lm_span_has(name, "store");
	f->knows = f->writes != lm_span_has(name, "load");
}

static void count_row(struct typeoff *f, const struct row *row)
{
	uint64_t nr = row->samples;
	struct lm_span type = lm_strip_tag(row->type);
	struct lm_access a = {
		.site = lm_strings_add(f->t->strings, "[unknown]", 9), .size = 1, .cpu = LM_CPU_UNKNOWN,
		.evidence = LM_EVIDENCE_TYPED,
	};

	if (!row->has_samples)
		nr = (uint64_t)(row->share * (f->total ? (double)f->total / 100 : 100) + 0.5);
	if (f->t->record == LM_NO_STRING || !lm_span_is(type, lm_strings_get(f->t->strings, f->t->record))) {
		lm_count_drop(f->t, LM_DROP_OTHER_RECORD, nr);
		return;
	}
	if (!nr)
		return;
	if (lm_span_is(row->field, "no field") || row->field.p == row->field.end) {
		a.member = lm_strings_add(f->t->strings, LM_WHOLE_RECORD, 1);
		a.offset = row->offset;
	} else {
		a.member = lm_strings_add(f->t->strings, row->field.p, lm_span_len(row->field));
	}
	if (f->knows && f->writes)
		a.writes = nr;
	else
		a.reads = nr;
	f->t->unknown_op += f->knows ? 0 : nr;
	lm_accesses_add(f->t, a);
	lm_count_used(f->t, nr);
}

static void read_line(struct typeoff *f, const struct lm_line *line)
{
	struct lm_span s = { line->text, line->text + line->len };
	struct row row;
	double share;

	while (s.end > s.p && lm_is_blank(s.end[-1]))
		s.end--;
	if (line->cut || line->too_long) {
		lm_count_drop(f->t, line->cut ? LM_DROP_TRUNCATED : LM_DROP_TOO_LONG, 1);
	} else if (s.p == s.end) {
		return;
	} else if (memchr(s.p, 0, lm_span_len(s))) {
		lm_count_drop(f->t, LM_DROP_UNREADABLE, 1);
	} else if (*s.p == '#') {
		read_head(f, s);
		lm_count_drop(f->t, LM_DROP_NOT_A_SAMPLE, 1);
	} else if (parse_row(s, &row)) {
		count_row(f, &row);
	} else {
		/* "12.85%  (unknown)": a row that no type is known for. */
		lm_count_drop(f->t, parse_share(lm_token(s.p, s.end), &share) ? LM_DROP_NO_MEMBER : LM_DROP_NOT_A_SAMPLE, 1);
	}
}

struct lm_err *lm_read_typeoff(struct lm_lines *src, const struct lm_reader_opts *opts, struct lm_accesses *t)
{
	struct typeoff f = { .t = t };
	struct lm_line line;

	if (opts->record && t->record == LM_NO_STRING) {
		struct lm_span name = lm_strip_tag((struct lm_span){ opts->record, opts->record + strlen(opts->record) });

		t->record = lm_strings_add(t->strings, name.p, lm_span_len(name));
	}
	if (t->record == LM_NO_STRING)
		return lm_err_new(LM_ERR_INPUT, "%s: is perf report text of many records; name one with --struct.", src->name);
	while (lm_lines_next(src, &line))
		read_line(&f, &line);
	return NULL;
}

bool lm_typeoff_looks_like(const char *text, size_t len)
{
	struct row row;

	return parse_row((struct lm_span){ text, text + len }, &row);
}
