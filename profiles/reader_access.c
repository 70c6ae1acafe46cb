/*
 * reader_access.c - the access file (access.h) -> accesses.
 *
 * Written by this program or by hand, so a wrong row is an error with its
 * place, not a counted loss: who wrote it wants to know.  Only a last line
 * without newline is counted as cut off, because a copy that stopped early is
 * no mistake of the writer, and half a number looks like a number.
 *
 * Without a #samples line a row stands for as many samples as it has reads or
 * writes, whichever are more: a read-modify-write is one.
 */
#include "profiles/reader_private.h"

#include "base/str.h"

#include <inttypes.h>
#include <string.h>

enum { MIN_FIELDS = 7, MAX_FIELDS = 9 };

struct access_file {
	struct lm_accesses *t;
	const char *name;	/* for messages */
	const char *record;	/* asked for, or NULL */
	uint64_t line_nr;
	struct lm_str scratch;	/* a name without its escapes */
	uint64_t rows, counted, samples, cut;
	bool has_samples;
};

static struct lm_err *malformed(const struct access_file *f, const char *what, struct lm_span s)
{
	int len = lm_span_len(s) > 60 ? 60 : (int)lm_span_len(s);

	return lm_err_new(LM_ERR_INPUT, "%s:%" PRIu64 ": %s \"%.*s\"; a row is site, member, offset, size, cpu, reads, "
			  "writes, and if wanted object and evidence, separated by tabs.", f->name, f->line_nr, what,
			  len, len ? s.p : "");
}

/* The field at *p, and *p behind its tab; NULL in *p behind the last. */
static struct lm_span next_field(const char **p, const char *end)
{
	const char *tab = memchr(*p, '\t', (size_t)(end - *p));
	struct lm_span s = { *p, tab ? tab : end };

	*p = tab ? tab + 1 : NULL;
	return s;
}

/* The byte that an escape behind a backslash stands for, and its length; 0 if it is none. */
static size_t unescape(struct lm_span s, char *byte)
{
	uint64_t v;

	if (s.p == s.end)
		return 0;
	*byte = *s.p == 't' ? '\t' : *s.p == 'n' ? '\n' : '\\';
	if (*s.p == 't' || *s.p == 'n' || *s.p == '\\')
		return 1;
	if (*s.p != 'x' || lm_span_len(s) < 3 || !lm_span_hex((struct lm_span){ s.p + 1, s.p + 3 }, &v) || !v)
		return 0;
	*byte = (char)v;
	return 3;
}

/* Adds the name to strings; false if it is empty or has a bad escape or a NUL in it. */
static bool add_name(struct access_file *f, struct lm_span s, struct lm_strings *strings, uint32_t *ret)
{
	lm_str_clear(&f->scratch);
	while (s.p < s.end) {
		char byte = *s.p++;

		if (byte == '\\') {
			size_t len = unescape(s, &byte);

			if (!len)
				return false;
			s.p += len;
		}
		if (!byte)
			return false;
		lm_str_add_char(&f->scratch, byte);
	}
	if (!f->scratch.len)
		return false;
	*ret = lm_strings_add(strings, f->scratch.text, f->scratch.len);
	return true;
}

/* ---- the head ---- */

static struct lm_err *set_record(struct access_file *f, struct lm_span s)
{
	const char *asked = f->record;

	if (!asked && f->t->record != LM_NO_STRING)
		asked = lm_strings_get(f->t->strings, f->t->record);
	if (!add_name(f, s, f->t->strings, &f->t->record))
		return malformed(f, "bad name of a record", s);
	if (asked && strcmp(asked, lm_strings_get(f->t->strings, f->t->record)))
		return lm_err_new(LM_ERR_INPUT, "%s:%" PRIu64 ": is a profile of %s, not of %s; check --struct.",
				  f->name, f->line_nr, lm_strings_get(f->t->strings, f->t->record), asked);
	return NULL;
}

static struct lm_err *add_drop(struct access_file *f, struct lm_span s)
{
	const char *p = s.p;
	struct lm_span word = next_field(&p, s.end);
	uint64_t nr, sum;

	if (!p || !lm_span_decimal((struct lm_span){ p, s.end }, &nr))
		return malformed(f, "bad count of dropped samples", s);
	for (int d = 0; d < LM_NR_DROPS; d++) {
		if (!lm_span_is(word, lm_drop_word((enum lm_drop)d)))
			continue;
		if (__builtin_add_overflow(f->t->drops[d], nr, &sum))
			return malformed(f, "too many dropped samples", s);
		f->t->drops[d] = sum;
		return NULL;
	}
	return malformed(f, "unknown reason of dropped samples", word);
}

/* Lines that start with '#': those that mean something; every other is a comment. */
static struct lm_err *read_head(struct access_file *f, struct lm_span line)
{
	const char *p = line.p;
	struct lm_span key = next_field(&p, line.end);
	struct lm_span value = { p ? p : line.end, line.end };
	uint32_t id;

	if (!p)
		return NULL;
	if (lm_span_is(key, "#record"))
		return set_record(f, value);
	if (lm_span_is(key, "#dropped"))
		return add_drop(f, value);
	if (lm_span_is(key, "#event") && !add_name(f, value, f->t->events, &id))
		return malformed(f, "bad name of an event", value);
	if (lm_span_is(key, "#samples")) {
		f->has_samples = true;
		if (!lm_span_decimal(value, &f->samples))
			return malformed(f, "bad number of samples", value);
	}
	if (lm_span_is(key, "#unknown-op") && !lm_span_decimal(value, &f->t->unknown_op))
		return malformed(f, "bad number of unknown operations", value);
	if (lm_span_is(key, "#unknown-element") && !lm_span_decimal(value, &f->t->unknown_element))
		return malformed(f, "bad number of unknown elements", value);
	return NULL;
}

/* ---- rows ---- */

static bool parse_bounded(struct lm_span s, uint64_t max, uint64_t *ret)
{
	return lm_span_decimal(s, ret) && *ret <= max;
}

static bool parse_cpu(struct lm_span s, int32_t *ret)
{
	uint64_t v;

	*ret = LM_CPU_UNKNOWN;
	if (lm_span_is(s, "-"))
		return true;
	if (!parse_bounded(s, INT32_MAX, &v))
		return false;
	*ret = (int32_t)v;
	return true;
}

static bool parse_evidence(struct lm_span s, enum lm_evidence *ret)
{
	for (int e = 0; e < LM_NR_EVIDENCE; e++) {
		if (lm_span_is(s, lm_evidence_word((enum lm_evidence)e))) {
			*ret = (enum lm_evidence)e;
			return true;
		}
	}
	return false;
}

static struct lm_err *parse_fields(struct access_file *f, const struct lm_span *field, size_t nr,
				   struct lm_access *row)
{
	uint64_t v;

	if (!add_name(f, field[0], f->t->strings, &row->site))
		return malformed(f, "bad site", field[0]);
	if (!add_name(f, field[1], f->t->strings, &row->member))
		return malformed(f, "bad member", field[1]);
	if (!lm_span_decimal(field[2], &row->offset))
		return malformed(f, "bad offset", field[2]);
	if (!parse_bounded(field[3], UINT32_MAX, &v) || !v)
		return malformed(f, "bad size", field[3]);
	row->size = (uint32_t)v;
	if (!parse_cpu(field[4], &row->cpu))
		return malformed(f, "bad cpu", field[4]);
	if (!lm_span_decimal(field[5], &row->reads))
		return malformed(f, "bad number of reads", field[5]);
	if (!lm_span_decimal(field[6], &row->writes))
		return malformed(f, "bad number of writes", field[6]);
	if (nr > 7 && !parse_bounded(field[7], UINT32_MAX, &v))
		return malformed(f, "bad number of an object", field[7]);
	row->object = nr > 7 ? (uint32_t)v : 0;
	row->evidence = LM_EVIDENCE_EXACT;
	if (nr > 8 && !parse_evidence(field[8], &row->evidence))
		return malformed(f, "unknown evidence", field[8]);
	return NULL;
}

static struct lm_err *read_row(struct access_file *f, struct lm_span line)
{
	struct lm_span field[MAX_FIELDS];
	struct lm_access row;
	const char *p = line.p;
	struct lm_err *err;
	size_t nr = 0;

	while (p && nr < MAX_FIELDS)
		field[nr++] = next_field(&p, line.end);
	if (p || nr < MIN_FIELDS)
		return malformed(f, p ? "too many fields in" : "too few fields in", line);
	err = parse_fields(f, field, nr, &row);
	if (err)
		return err;
	lm_accesses_add(f->t, row);
	f->rows++;
	if (__builtin_add_overflow(f->counted, row.reads > row.writes ? row.reads : row.writes, &f->counted))
		f->counted = UINT64_MAX;
	return NULL;
}

/* samples == used + sum(drops), whatever the head says. */
static struct lm_err *settle(struct access_file *f)
{
	uint64_t dropped = 0;

	for (int d = 0; d < LM_NR_DROPS; d++)
		if (__builtin_add_overflow(dropped, f->t->drops[d], &dropped))
			return lm_err_new(LM_ERR_INPUT, "%s: has more dropped samples than can be counted; correct its "
					  "#dropped lines.", f->name);
	if (!f->has_samples && __builtin_add_overflow(f->counted, dropped, &f->samples))
		f->samples = dropped;
	if (f->samples < dropped)
		return lm_err_new(LM_ERR_INPUT, "%s: has more dropped samples (%" PRIu64 ") than samples (%" PRIu64
				  "); correct its #samples or #dropped lines.", f->name, dropped, f->samples);
	f->t->used = f->samples - dropped;
	if (f->samples > UINT64_MAX - f->cut)
		f->cut = 0;
	f->t->samples = f->samples + f->cut;
	f->t->drops[LM_DROP_TRUNCATED] += f->cut;
	if (!f->rows)
		return lm_err_new(LM_ERR_INPUT, "%s: has no row; it is an access file without an access.", f->name);
	return NULL;
}

static struct lm_err *read_line(struct access_file *f, const struct lm_line *line)
{
	struct lm_span s = { line->text, line->text + line->len };

	f->line_nr = line->nr;
	if (line->too_long)
		return malformed(f, "line longer than 64 KiB", s);
	if (line->nr == 1) {
		if (lm_span_is(s, "#linemate-access 1"))
			return NULL;
		return lm_err_new(LM_ERR_INPUT, "%s:1: is of another version of the access file; this program reads "
				  "#linemate-access 1.", f->name);
	}
	if (s.p == s.end)
		return NULL;
	if (line->cut) {
		f->cut = 1;
		return NULL;
	}
	return *s.p == '#' ? read_head(f, s) : read_row(f, s);
}

struct lm_err *lm_read_access(struct lm_lines *src, const struct lm_reader_opts *opts, struct lm_accesses *t)
{
	struct access_file f = { .t = t, .name = src->name, .record = opts->record };
	struct lm_err *err = NULL;
	struct lm_line line;

	while (!err && lm_lines_next(src, &line))
		err = read_line(&f, &line);
	if (!err && !src->error)
		err = settle(&f);
	if (opts->record && t->record == LM_NO_STRING)
		t->record = lm_strings_add(t->strings, opts->record, strlen(opts->record));
	lm_str_release(&f.scratch);
	return err;
}
