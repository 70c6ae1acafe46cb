/*
 * reader_stat.c - counts of hardware breakpoints: perf stat text, and a sweep.
 *
 *   perf stat -x, -a -e mem:A/8:w -e mem:A/8:rw PROGRAM
 *
 *   336,,mem:0xffff88811b71d880,412070,100.00,,
 *   453,,mem:0xffff88811b71d880,412070,100.00,,
 *
 * perf leaves length and kind of access out of the name (6.1) or keeps them
 * (when the person named the event so).  x86 has breakpoints on writes, and on
 * reads and writes together: of two counts of one address the smaller one is
 * the writes, and the rest of the larger one the reads.  One count alone does
 * not say.  A read-modify-write traps once, so it counts as a write.
 *
 * A sweep is what a script made of that: a line a slot, "OFFSET WRITES ALL",
 * offsets inside one object.  Both are exact, but each pair was a run of its
 * own: compare magnitudes, not units.
 */
#include "base/arena.h"
#include "profiles/sink.h"

#include <string.h>

/* ---- perf stat ---- */

struct count {
	struct lm_event event;
	bool all;		/* named :rw */
	uint64_t nr;
	int32_t cpu;
};

struct stat {
	struct lm_sink *sink;
	struct count pending;
	bool any;
};

/* "1,250" or "1250" */
static bool parse_grouped(struct lm_span s, uint64_t *ret)
{
	uint64_t v = 0;

	if (s.p == s.end || *s.p < '0' || *s.p > '9')
		return false;
	for (; s.p < s.end; s.p++) {
		if (*s.p == ',')
			continue;
		if (*s.p < '0' || *s.p > '9' || v > UINT32_MAX)
			return false;
		v = v * 10 + (uint64_t)(*s.p - '0');
	}
	*ret = v;
	return true;
}

static struct lm_span last_field(const char *p, const char *end)
{
	struct lm_span s = { end, end };

	while (s.p > p && s.p[-1] != ',')
		s.p--;
	return s;
}

/* "CPU3" as the first field or word, with -A. */
static int32_t parse_cpu(const char *p, const char *end)
{
	struct lm_span s = lm_token(p, end), number;
	const char *comma = memchr(s.p, ',', lm_span_len(s));
	uint64_t cpu;

	if (!lm_span_starts(s, "CPU"))
		return LM_CPU_UNKNOWN;
	number = (struct lm_span){ s.p + 3, comma ? comma : s.end };
	return lm_span_decimal(number, &cpu) && cpu <= INT32_MAX ? (int32_t)cpu : LM_CPU_UNKNOWN;
}

/* "[CPU0,]336,,mem:0xA/8:w,...", or "336   mem:0xA/8:w  ..." */
static bool parse_count(const char *p, const char *end, struct lm_span *name, struct count *ret)
{
	const char *at = memmem(p, (size_t)(end - p), "mem:0x", 6);
	struct lm_span nr;

	if (!at || at == p)
		return false;
	*name = (struct lm_span){ at, at };
	while (name->end < end && *name->end != ',' && !lm_is_blank(*name->end))
		name->end++;
	*ret = (struct count){ .event = lm_event_classify(*name), .cpu = parse_cpu(p, end) };
	ret->all = memmem(at, lm_span_len(*name), ":rw", 3) != NULL;
	if (ret->event.kind != LM_EVENT_BREAKPOINT)
		return false;
	if (at[-1] == ',') {
		nr = last_field(p, at - 1);		/* the unit */
		nr = nr.p > p ? last_field(p, nr.p - 1) : nr;
		while (nr.p < nr.end && lm_is_blank(*nr.p))
			nr.p++;
		return lm_span_decimal(nr, &ret->nr) && ret->nr <= UINT32_MAX * 1000ull;
	}
	while (at > p && lm_is_blank(at[-1]))
		at--;
	nr.end = at;
	while (at > p && !lm_is_blank(at[-1]))
		at--;
	nr.p = at;
	return parse_grouped(nr, &ret->nr);
}

static void add_hits(struct lm_sink *sink, const struct count *c, enum lm_does does, uint64_t nr)
{
	struct lm_hit hit = {
		.addr = c->event.addr, .symbol = sink->unknown, .dso = LM_NO_STRING, .cpu = c->cpu,
		.size = c->event.size, .does = does, .evidence = LM_EVIDENCE_EXACT, .count = nr,
	};

	if (nr)
		lm_sink_add(sink, &hit);
}

static void flush_count(struct stat *s)
{
	if (s->any)
		add_hits(s->sink, &s->pending, s->pending.event.does, s->pending.nr);
	s->any = false;
}

static void take_count(struct stat *s, const struct count *c)
{
	const struct count *p = &s->pending;
	bool pair = s->any && p->event.addr == c->event.addr && p->cpu == c->cpu && p->event.does != LM_DOES_READ &&
		    c->event.does != LM_DOES_READ && !(p->event.does == LM_DOES_WRITE && c->event.does == LM_DOES_WRITE) &&
		    !(p->all && c->all);
	uint64_t low = p->nr < c->nr ? p->nr : c->nr;

	if (!pair) {
		flush_count(s);
		s->pending = *c;
		s->any = true;
		return;
	}
	/* Runs differ a little: writes cannot be more than all accesses. */
	if (p->event.does == LM_DOES_WRITE || c->event.does == LM_DOES_WRITE)
		low = p->event.does == LM_DOES_WRITE ? p->nr : c->nr;
	add_hits(s->sink, p, LM_DOES_WRITE, low);
	add_hits(s->sink, p, LM_DOES_READ, p->nr + c->nr > 2 * low ? p->nr + c->nr - 2 * low : 0);
	s->any = false;
}

struct lm_err *lm_read_stat(struct lm_lines *src, struct lm_sink *sink)
{
	struct stat s = { .sink = sink };
	struct lm_line line;

	while (lm_lines_next(src, &line)) {
		struct lm_span name;
		struct count c;

		if (line.cut || line.too_long) {
			lm_sink_drop(sink, line.cut ? LM_DROP_TRUNCATED : LM_DROP_TOO_LONG, 1);
		} else if (memchr(line.text, 0, line.len)) {
			lm_sink_drop(sink, LM_DROP_UNREADABLE, 1);
		} else if (parse_count(line.text, line.text + line.len, &name, &c)) {
			lm_sink_event(sink, name);
			take_count(&s, &c);
		} else if (lm_skip_blanks(line.text, line.text + line.len) < line.text + line.len) {
			lm_sink_drop(sink, memmem(line.text, line.len, "mem:0x", 6) ? LM_DROP_UNREADABLE :
										      LM_DROP_NOT_A_SAMPLE, 1);
		}
	}
	flush_count(&s);
	return NULL;
}

bool lm_stat_looks_like(const char *text, size_t len)
{
	struct lm_span name;
	struct count c;
	const char *at = memmem(text, len, "mem:0x", 6);

	/* In perf script text a colon follows the name, and a time stands before it. */
	return at && at > text && at[-1] == ',' && parse_count(text, text + len, &name, &c);
}

/* ---- a sweep ---- */

struct slot {
	uint64_t offset, writes, all;
};

static bool parse_slot(const char *p, const char *end, struct slot *ret)
{
	struct lm_span a = lm_token(p, end), b = lm_token(a.end, end), c = lm_token(b.end, end);

	return lm_span_decimal(a, &ret->offset) && lm_span_decimal(b, &ret->writes) && lm_span_decimal(c, &ret->all) &&
	       ret->offset <= UINT32_MAX && ret->writes <= UINT32_MAX * 1000ull && ret->all <= UINT32_MAX * 1000ull &&
	       lm_skip_blanks(c.end, end) == end;
}

bool lm_sweep_looks_like(const char *text, size_t len)
{
	struct slot slot;

	return parse_slot(text, text + len, &slot);
}

/* The distance of the slots, if a breakpoint can have that length. */
static uint32_t slot_size(const struct slot *slots, size_t nr)
{
	uint64_t least = 8;

	for (size_t i = 1; i < nr; i++) {
		uint64_t gap = slots[i].offset > slots[i - 1].offset ? slots[i].offset - slots[i - 1].offset : least;

		least = gap < least ? gap : least;
	}
	return least == 8 || least == 4 || least == 2 ? (uint32_t)least : 1;
}

static void count_slots(const struct slot *slots, size_t nr, struct lm_accesses *t)
{
	uint32_t site = lm_strings_add(t->strings, "[unknown]", 9), member = lm_strings_add(t->strings, LM_WHOLE_RECORD, 1);
	uint32_t size = nr > 1 ? slot_size(slots, nr) : 8;

	for (size_t i = 0; i < nr; i++) {
		uint64_t all = slots[i].all > slots[i].writes ? slots[i].all : slots[i].writes;

		if (!all)
			continue;
		lm_accesses_add(t, (struct lm_access){
			.site = site, .member = member, .offset = slots[i].offset, .size = size, .cpu = LM_CPU_UNKNOWN,
			.evidence = LM_EVIDENCE_EXACT, .writes = slots[i].writes, .reads = all - slots[i].writes,
		});
		lm_count_used(t, all);
	}
}

struct lm_err *lm_read_sweep(struct lm_lines *src, const struct lm_reader_opts *opts, struct lm_accesses *t)
{
	struct lm_arena arena = { 0 };
	struct slot *slots = NULL, slot;
	size_t nr = 0, cap = 0;
	struct lm_line line;

	if (opts->record && t->record == LM_NO_STRING)
		t->record = lm_strings_add(t->strings, opts->record, strlen(opts->record));
	while (lm_lines_next(src, &line)) {
		if (line.cut || line.too_long)
			lm_count_drop(t, line.cut ? LM_DROP_TRUNCATED : LM_DROP_TOO_LONG, 1);
		else if (parse_slot(line.text, line.text + line.len, &slot))
			*LM_ARENA_PUSH(&arena, slots, nr, cap) = slot;
		else if (line.len)
			lm_count_drop(t, *line.text == '#' ? LM_DROP_NOT_A_SAMPLE : LM_DROP_UNREADABLE, 1);
	}
	count_slots(slots, nr, t);
	lm_arena_release(&arena);
	return NULL;
}
