/*
 * reader_datatype.c - perf annotate --data-type --stdio text -> accesses.
 *
 * Blocks, one a record (and program, and without --group one an event):
 *
 *   Annotate type: 'struct shared' in /path/to/program (995 samples):
 *    event[0] = cpu/mem-loads,ldlat=30/P		only with --group
 *   =====
 *    Percent     offset       size  field
 *     100.00          0       0x88  struct shared<TAB> {
 *      68.63       0x18        0x8      long int<TAB>count;
 *                                   };
 *
 * A row repeats what its bytes got: a parent its members', a union each
 * alternative's, bit-fields of one word the word's.  So only leaves count, and
 * of members that overlap only the one that explains most.
 *
 * The unit is the sample.  "Percent" is the share of an event's samples of
 * this record; a count is the share times the samples, rounded.  With several
 * events the text tells the sum of their samples only: shares of percentages
 * are taken as if each event had the same number of them, shares of periods as
 * if the number went with the period.  perf annotate -n prints the counts
 * themselves, which needs no such guess.  What the leaves do not explain (a
 * sample in padding, a share rounded to 0.00) is counted as NO_MEMBER.
 *
 * An access of a leaf of up to 16 bytes is taken to touch all of it; in an
 * array or anything larger the touched bytes are not known.  The text names no
 * event without --group, no function and no CPU: then the operation is
 * unknown, the site "[unknown]".
 */
#include "profiles/event.h"

#include "base/arena.h"
#include "base/str.h"

#include <string.h>

enum { MAX_EVENTS = 32, MAX_DEPTH = 64, MAX_SCALAR = 16 };
#define NONE UINT32_MAX
#define MAX_SAMPLES (1ull << 32)	/* perf prints an int */

enum unit { UNIT_PERCENT, UNIT_SAMPLES, UNIT_PERIOD };

struct node {
	const char *name;	/* "" if anonymous */
	uint64_t offset, size;
	uint32_t parent, last_child, first_child, next;
	bool is_array, picked;
	uint64_t explained;	/* samples of its picked leaves */
};

/* One block of the record asked for. */
struct block {
	struct lm_arena arena;
	struct node *nodes;
	size_t nr, cap;
	double *values;		/* [nr][nr_events] */
	size_t nr_values, values_cap;
	uint32_t open[MAX_DEPTH];
	size_t depth;
	enum lm_does ops[MAX_EVENTS];
	size_t nr_named, nr_events;	/* named: by event[N] lines; nr_events: columns of the root */
	enum unit unit;
	uint64_t samples;
};

enum place { OUTSIDE, WANTED, UNWANTED };

struct datatype {
	struct lm_accesses *t;
	struct block block;
	enum place place;
	bool closed;		/* the wanted block's last row has been read */
	struct lm_str path;
};

/* ---- counting a finished block ---- */

/* Samples of each event, as far as the text tells. */
static void event_samples(const struct block *b, double *ret)
{
	double sum = 0;

	for (size_t e = 0; e < b->nr_events; e++)
		sum += b->unit == UNIT_PERIOD ? b->values[e] : b->values[e] > 0;
	for (size_t e = 0; e < b->nr_events; e++) {
		double part = b->unit == UNIT_PERIOD ? b->values[e] : b->values[e] > 0;

		ret[e] = sum > 0 ? (double)b->samples * part / sum : 0;
	}
}

static uint64_t count_of(const struct block *b, size_t node, size_t e, const double *samples)
{
	double value = b->values[node * b->nr_events + e], whole = b->values[e];

	if (b->unit == UNIT_SAMPLES)
		return value < (double)MAX_SAMPLES ? (uint64_t)value : MAX_SAMPLES;
	if (!(whole > 0))
		return 0;
	if (b->unit == UNIT_PERCENT)
		whole = 100;
	return value >= whole ? (uint64_t)(samples[e] + 0.5) : (uint64_t)(samples[e] * value / whole + 0.5);
}

static bool is_leaf(const struct block *b, size_t node)
{
	return b->nodes[node].first_child == NONE;
}

/* Of each run of overlapping members picks the one that explains most, the first of equals. */
static void pick_members(struct block *b, struct node *parent)
{
	uint32_t best = NONE;
	uint64_t start = 0, end = 0;

	for (uint32_t c = parent->first_child; c != NONE; c = b->nodes[c].next) {
		struct node *n = &b->nodes[c];

		if (!n->size)
			continue;
		if (best == NONE || n->offset >= end || n->offset + n->size <= start) {
			if (best != NONE)
				parent->explained += b->nodes[best].explained;
			best = c;
			start = n->offset;
			end = n->offset + n->size;
			n->picked = true;
			continue;
		}
		end = n->offset + n->size > end ? n->offset + n->size : end;
		if (n->explained > b->nodes[best].explained) {
			b->nodes[best].picked = false;
			n->picked = true;
			best = c;
		}
	}
	if (best != NONE)
		parent->explained += b->nodes[best].explained;
}

/* Members stand behind their parent: backwards, a node's members are done before it. */
static void explain(struct block *b, const double *samples)
{
	for (size_t i = b->nr; i-- > 0;) {
		if (!is_leaf(b, i)) {
			pick_members(b, &b->nodes[i]);
			continue;
		}
		for (size_t e = 0; e < b->nr_events; e++)
			b->nodes[i].explained += count_of(b, i, e, samples);
	}
	b->nodes[0].picked = true;
	for (size_t i = 1; i < b->nr; i++)
		b->nodes[i].picked = b->nodes[i].picked && b->nodes[b->nodes[i].parent].picked;
}

/*
 * The dotted path of the leaf from the record: anonymous members have no part
 * in it.  Of a leaf without name the nearest named member, *offset inside it.
 */
static void make_path(struct datatype *d, size_t leaf, uint64_t *offset)
{
	uint32_t chain[MAX_DEPTH + 1];
	const struct block *b = &d->block;
	size_t nr = 0;

	for (size_t i = leaf; i != 0; i = b->nodes[i].parent)
		chain[nr++] = (uint32_t)i;
	lm_str_clear(&d->path);
	*offset = b->nodes[leaf].offset - b->nodes[0].offset;
	while (nr-- > 0) {
		const struct node *n = &b->nodes[chain[nr]];

		if (!*n->name)
			continue;
		if (d->path.len)
			lm_str_add_char(&d->path, '.');
		lm_str_add(&d->path, n->name);
		*offset = b->nodes[leaf].offset - n->offset;
	}
	if (!d->path.len)
		lm_str_add(&d->path, LM_WHOLE_RECORD);
}

/* A row with one count an event. */
static void add_access(struct datatype *d, size_t leaf, const uint64_t *counts)
{
	const struct block *b = &d->block;
	const struct node *n = &b->nodes[leaf];
	struct lm_access row = {
		.site = lm_strings_add(d->t->strings, "[unknown]", 9),
		.size = n->is_array || !n->size || n->size > MAX_SCALAR ? 1 : (uint32_t)n->size,
		.cpu = LM_CPU_UNKNOWN,
		.evidence = LM_EVIDENCE_TYPED,
	};

	make_path(d, leaf, &row.offset);
	row.member = lm_strings_add(d->t->strings, d->path.text, d->path.len);
	for (size_t e = 0; e < b->nr_events; e++) {
		if (b->ops[e] == LM_DOES_WRITE)
			row.writes += counts[e];
		else
			row.reads += counts[e];
		if (b->ops[e] == LM_DOES_NOT_SAY)
			d->t->unknown_op += counts[e];
		lm_count_used(d->t, counts[e]);
	}
	if (row.reads || row.writes)
		lm_accesses_add(d->t, row);
}

/*
 * A flexible array at the end has size 0, so its row is always 0; but the
 * record's size often reaches into it, and what was touched there is in the
 * record's own value only.  It gets what no other member explains.
 */
static void add_flexible_tail(struct datatype *d, const double *samples, const uint64_t *explained)
{
	const struct block *b = &d->block;
	uint32_t last = b->nodes[0].last_child;
	uint64_t counts[MAX_EVENTS];

	if (last == NONE || !b->nodes[last].is_array || b->nodes[last].size ||
	    b->nodes[last].offset >= b->nodes[0].offset + b->nodes[0].size)
		return;
	for (size_t e = 0; e < b->nr_events; e++) {
		uint64_t whole = count_of(b, 0, e, samples);

		counts[e] = whole > explained[e] ? whole - explained[e] : 0;
	}
	add_access(d, last, counts);
}

static void count_block(struct datatype *d)
{
	struct block *b = &d->block;
	uint64_t explained[MAX_EVENTS] = { 0 };
	double samples[MAX_EVENTS];

	event_samples(b, samples);
	explain(b, samples);
	for (size_t i = 0; i < b->nr; i++) {
		uint64_t counts[MAX_EVENTS];

		if (!b->nodes[i].picked || !is_leaf(b, i) || !b->nodes[i].explained)
			continue;
		for (size_t e = 0; e < b->nr_events; e++) {
			counts[e] = count_of(b, i, e, samples);
			explained[e] += counts[e];
		}
		add_access(d, i, counts);
	}
	if (d->closed)
		add_flexible_tail(d, samples, explained);
}

/* Ends the block; rest says why the leaves of a block that has no end do not explain all its samples. */
static void end_block(struct datatype *d, enum lm_drop rest)
{
	struct block *b = &d->block;
	uint64_t before = d->t->used, used;

	if (d->place == WANTED && b->nr)
		count_block(d);
	used = d->t->used - before;
	if (d->place == WANTED && used < b->samples)
		lm_count_drop(d->t, d->closed ? LM_DROP_NO_MEMBER : rest, b->samples - used);
	lm_arena_release(&b->arena);
	*b = (struct block){ 0 };
	d->place = OUTSIDE;
	d->closed = false;
}

/* ---- rows ---- */

/* "12.34", "17" */
static bool parse_value(struct lm_span s, double *ret)
{
	double v = 0, scale = 1;
	bool point = false, any = false;

	if (lm_span_len(s) > 24)
		return false;
	for (; s.p < s.end; s.p++) {
		if (*s.p == '.' && !point) {
			point = true;
			continue;
		}
		if (*s.p < '0' || *s.p > '9')
			return false;
		any = true;
		v = v * 10 + (*s.p - '0');
		if (point)
			scale *= 10;
	}
	*ret = v / scale;
	return any;
}

/* Decimal before perf 6.12, "0x18" since. */
static bool parse_bytes(struct lm_span s, uint64_t *ret)
{
	bool ok = lm_span_starts(s, "0x") ? lm_span_hex((struct lm_span){ s.p + 2, s.end }, ret) :
					    lm_span_decimal(s, ret);

	return ok && *ret <= UINT32_MAX;	/* perf prints an int */
}

/* The numbers at the start of a row; 0 if there are too many. */
static size_t take_numbers(struct lm_span line, struct lm_span *numbers, const char **behind)
{
	size_t nr = 0;

	for (const char *p = line.p;;) {
		struct lm_span s = lm_token(p, line.end);

		if (s.p == s.end || *s.p < '0' || *s.p > '9') {
			*behind = s.p;
			return nr;
		}
		if (nr == MAX_EVENTS + 2)
			return 0;
		numbers[nr++] = s;
		p = s.end;
	}
}

/* "type<TAB>name {" or "type<TAB>name;": a mail may have turned the tab into blanks. */
static bool parse_field(struct lm_span s, struct lm_span *type, struct lm_span *name, bool *opens)
{
	const char *tab;

	if (s.p == s.end || (s.end[-1] != '{' && s.end[-1] != ';'))
		return false;
	*opens = s.end[-1] == '{';
	s.end--;
	tab = memchr(s.p, '\t', lm_span_len(s));
	while (s.end > s.p && lm_is_blank(s.end[-1]))
		s.end--;
	*name = (struct lm_span){ s.end, s.end };
	if (tab && tab < s.end) {
		name->p = lm_skip_blanks(tab, s.end);
	} else if (!tab) {
		while (name->p > s.p && !lm_is_blank(name->p[-1]))
			name->p--;
		if (name->p == s.p)	/* one word: the type of an anonymous member */
			name->p = name->end;
	}
	*type = (struct lm_span){ s.p, name->p };
	while (type->end > type->p && lm_is_blank(type->end[-1]))
		type->end--;
	return type->p < type->end;
}

static void link_node(struct block *b, uint32_t node)
{
	struct node *parent;

	b->nodes[node].parent = b->depth ? b->open[b->depth - 1] : 0;
	if (!node)
		return;
	parent = &b->nodes[b->nodes[node].parent];
	if (parent->first_child == NONE)
		parent->first_child = node;
	else
		b->nodes[parent->last_child].next = node;
	parent->last_child = node;
}

static void add_values(struct block *b, const double *values)
{
	for (size_t e = 0; e < b->nr_events; e++)
		*LM_ARENA_PUSH(&b->arena, b->values, b->nr_values, b->values_cap) = values[e];
}

/* The root row says how many columns there are. */
static bool set_columns(struct block *b, size_t nr)
{
	if (b->nr)
		return nr == b->nr_events;
	if (b->nr_named && b->nr_named != nr)
		return false;
	b->nr_events = nr;
	for (size_t e = b->nr_named; e < nr; e++)
		b->ops[e] = LM_DOES_NOT_SAY;
	return true;
}

static bool add_row(struct datatype *d, struct lm_span line)
{
	struct lm_span numbers[MAX_EVENTS + 2], type, name;
	struct block *b = &d->block;
	struct node n = { .last_child = NONE, .first_child = NONE, .next = NONE };
	double values[MAX_EVENTS];
	bool opens;
	const char *behind = line.p;
	size_t nr = take_numbers(line, numbers, &behind);

	if (nr < 3 || !parse_field((struct lm_span){ behind, line.end }, &type, &name, &opens))
		return false;
	for (size_t e = 0; e < nr - 2; e++)
		if (!parse_value(numbers[e], &values[e]))
			return false;
	if (!parse_bytes(numbers[nr - 2], &n.offset) || !parse_bytes(numbers[nr - 1], &n.size) ||
	    (opens && b->depth == MAX_DEPTH) || (b->nr && !b->depth) || b->nr == NONE || !set_columns(b, nr - 2))
		return false;
	n.name = lm_arena_strndup(&b->arena, name.p, lm_span_len(name));
	n.is_array = type.end[-1] == ']';
	add_values(b, values);
	*LM_ARENA_PUSH(&b->arena, b->nodes, b->nr, b->cap) = n;
	link_node(b, (uint32_t)b->nr - 1);
	if (opens)
		b->open[b->depth++] = (uint32_t)b->nr - 1;
	d->closed = !b->depth;
	return true;
}

/* ---- lines ---- */

struct lm_span lm_strip_tag(struct lm_span s)
{
	static const char *const tags[] = { "struct ", "union ", "class " };

	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
		if (lm_span_starts(s, tags[i]))
			return (struct lm_span){ lm_skip_blanks(s.p + strlen(tags[i]), s.end), s.end };
	return s;
}

/* "Annotate type: 'struct shared' in /path (995 samples):" */
static bool parse_title(struct lm_span line, struct lm_span *type, uint64_t *samples)
{
	struct lm_span s = { line.p + strlen("Annotate type: '"), line.end }, nr;
	const char *quote = memmem(s.p, lm_span_len(s), "' in ", 5);
	const char *open = memrchr(s.p, '(', lm_span_len(s));

	if (!quote || !open || open < quote)
		return false;
	nr = lm_token(open + 1, s.end);
	*type = lm_strip_tag((struct lm_span){ s.p, quote });
	return lm_span_decimal(nr, samples) && *samples < MAX_SAMPLES &&
	       lm_span_starts(lm_token(nr.end, s.end), "sample");
}

static void begin_block(struct datatype *d, struct lm_span line)
{
	struct lm_span type;
	uint64_t samples;

	end_block(d, LM_DROP_UNREADABLE);
	d->place = UNWANTED;
	if (!parse_title(line, &type, &samples)) {
		lm_count_drop(d->t, LM_DROP_UNREADABLE, 1);
		return;
	}
	if (d->t->record == LM_NO_STRING)
		d->t->record = lm_strings_add(d->t->strings, type.p, lm_span_len(type));
	if (!lm_span_is(type, lm_strings_get(d->t->strings, d->t->record))) {
		lm_count_drop(d->t, LM_DROP_OTHER_RECORD, samples);
		return;
	}
	d->place = WANTED;
	d->block.samples = samples;
}

/* " event[0] = cpu/mem-loads,ldlat=30/P" */
static bool read_event(struct datatype *d, struct lm_span line)
{
	struct lm_span s = lm_token(line.p, line.end), equal = lm_token(s.end, line.end);
	struct lm_span name = { lm_skip_blanks(equal.end, line.end), line.end };
	struct block *b = &d->block;

	if (!lm_span_starts(s, "event[") || !lm_span_is(equal, "=") || name.p == name.end || b->nr_named == MAX_EVENTS)
		return false;
	lm_strings_add(d->t->events, name.p, lm_span_len(name));
	b->ops[b->nr_named++] = lm_event_does(name);
	return true;
}

/* "Percent  offset  size  field" */
static bool read_columns(struct block *b, struct lm_span line)
{
	struct lm_span s = lm_token(line.p, line.end);

	if (!lm_span_is(lm_token(s.end, line.end), "offset"))
		return false;
	b->unit = lm_span_has(s, "samples") ? UNIT_SAMPLES : lm_span_has(s, "period") ? UNIT_PERIOD : UNIT_PERCENT;
	return true;
}

static void read_inside(struct datatype *d, struct lm_span line)
{
	struct block *b = &d->block;
	struct lm_span s = lm_token(line.p, line.end);

	if (lm_span_is(s, "};") && b->depth) {
		d->closed = !--b->depth;
		return;
	}
	if (!b->nr && (lm_span_starts(s, "===") || read_event(d, line) || read_columns(b, line)))
		return;
	if (!add_row(d, line))
		lm_count_drop(d->t, LM_DROP_UNREADABLE, 1);
}

/* True if the line can be part of a block that is skipped. */
static bool is_part(struct lm_span line)
{
	struct lm_span s = lm_token(line.p, line.end);

	return (*s.p >= '0' && *s.p <= '9' && (line.end[-1] == ';' || line.end[-1] == '{')) || lm_span_is(s, "};") ||
	       lm_span_starts(s, "===") || lm_span_starts(s, "event[") ||
	       lm_span_is(lm_token(s.end, line.end), "offset");
}

static void read_line(struct datatype *d, const struct lm_line *line)
{
	struct lm_span s = { line->text, line->text + line->len };

	while (s.end > s.p && lm_is_blank(s.end[-1]))
		s.end--;
	if (line->too_long || memchr(s.p, 0, lm_span_len(s))) {
		lm_count_drop(d->t, line->too_long ? LM_DROP_TOO_LONG : LM_DROP_UNREADABLE, 1);
		return;
	}
	if (s.p == s.end)
		return;
	if (line->cut)
		lm_count_drop(d->t, LM_DROP_TRUNCATED, 1);
	else if (lm_span_starts(s, "Annotate type: '"))
		begin_block(d, s);
	else if (d->place == WANTED && !d->closed)
		read_inside(d, s);
	else if (d->place != UNWANTED || !is_part(s))
		lm_count_drop(d->t, LM_DROP_NOT_A_SAMPLE, 1);
}

struct lm_err *lm_read_datatype(struct lm_lines *src, const struct lm_reader_opts *opts, struct lm_accesses *t)
{
	struct datatype d = { .t = t };
	struct lm_line line;

	if (opts->record && t->record == LM_NO_STRING) {
		struct lm_span name = lm_strip_tag((struct lm_span){ opts->record, opts->record + strlen(opts->record) });

		t->record = lm_strings_add(t->strings, name.p, lm_span_len(name));
	}
	while (lm_lines_next(src, &line))
		read_line(&d, &line);
	end_block(&d, LM_DROP_TRUNCATED);
	lm_str_release(&d.path);
	return NULL;
}
