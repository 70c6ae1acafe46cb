/*
 * reader_script.c - perf script text -> samples.
 *
 * What counts as what (sink.c says what a sample counts):
 *
 * - Read or write comes from the hexadecimal data_src, never from its words
 *   (script_line.c).  A LOCKED load is the load half of a locked
 *   read-modify-write: a read and a write.  Without data_src, or where it says
 *   N/A, the event's name decides (loads, stores); else the access is taken as
 *   a read and counted as unknown.
 * - Hardware breakpoints trap on every access: exact.  Their name keeps the
 *   address (default output prints no other) but perf drops length and kind
 *   from it, so the size is 1 and the operation unknown unless the person
 *   named the event with them (mem:ADDR/8:w).  "rw" does not say which.
 * - Arm SPE prints one operation under up to six events with equal thread,
 *   time, ip and address.  The first one counts; without a time only "memory".
 * - For attribution a sample needs no address: its ip is enough.  It is as good
 *   as its event: of cycles without :p the ip is late.
 */
#include "profiles/script_line.h"
#include "profiles/sink.h"

#include <stdlib.h>
#include <string.h>

/* A sample whose call chain may follow. */
struct pending {
	struct lm_script_line line;	/* numbers only; its spans are gone */
	uint32_t event;		/* LM_NO_STRING: the line is an ip only */
	uint32_t symbol, dso;
	uint64_t head;		/* hash of comm, tid, cpu, time */
	struct lm_chain chain;
	unsigned frames;	/* behind the first one */
	bool any, framed, cut;
	bool inlined;		/* symbol and dso are of a call inlined at the ip */
};

struct script {
	struct lm_sink *sink;
	struct lm_event *events;	/* by number */
	size_t nr_events, cap_events;
	struct lm_recent recent;
	struct pending pending;
	bool in_chain;		/* behind a sample, before the empty line */
};

/* ---- events ---- */

static uint32_t event_id(struct script *s, struct lm_span name)
{
	uint32_t id = lm_sink_event(s->sink, name);

	while (id >= s->nr_events) {
		if (s->nr_events == s->cap_events) {
			s->cap_events = s->cap_events ? s->cap_events * 2 : 16;
			s->events = reallocarray(s->events, s->cap_events, sizeof(*s->events));
			if (!s->events)
				lm_oom();
		}
		s->events[s->nr_events++] = lm_event_classify(name);
	}
	return id;
}

/* ---- one sample ---- */

static uint64_t hash_bytes(struct lm_span s)
{
	uint64_t h = 0xcbf29ce484222325u;	/* FNV-1a */

	for (; s.p < s.end; s.p++)
		h = (h ^ (unsigned char)*s.p) * 0x100000001b3u;
	return h;
}

static bool is_duplicate(struct script *s, const struct pending *p)
{
	const struct lm_script_line *line = &p->line;
	uint64_t key = (p->head ^ line->ip * 0x9e3779b97f4a7c15u) + line->addr * 0xff51afd7ed558ccdu;

	if (!line->has_time)
		return line->addr >= LM_PAGE_ZERO && !s->events[p->event].is_memory;
	return lm_recent_seen(&s->recent, key, p->event);
}

/* Ends the pending sample: a row, or the first reason against one. */
static void resolve(struct script *s)
{
	static const struct lm_event no_event = { .does = LM_DOES_NOT_SAY };
	struct pending *p = &s->pending;
	const struct lm_event *ev;
	struct lm_hit hit;

	if (!p->any)
		return;
	p->any = false;
	ev = p->event == LM_NO_STRING ? &no_event : &s->events[p->event];
	if (!p->line.has_addr && !(p->line.lone && p->framed))
		p->line.addr = 0;
	hit = (struct lm_hit){
		.ip = p->line.ip, .addr = p->line.addr, .symbol = p->symbol, .dso = p->dso, .cpu = p->line.cpu,
		.size = ev->size, .count = 1,
		.does = p->line.traced ? LM_DOES_NOTHING :
			lm_sink_does(s->sink, ev, p->line.addr, p->line.has_data_src, p->line.data_src),
		.evidence = lm_event_evidence(ev, p->line.addr >= LM_PAGE_ZERO),
		.after = ev->kind == LM_EVENT_BREAKPOINT,
		.has_time = p->line.has_time, .time = p->line.time, .chain = p->chain,
	};
	if (p->cut)
		lm_sink_drop(s->sink, LM_DROP_TRUNCATED, 1);
	else if (hit.does != LM_DOES_NOTHING && ev->kind == LM_EVENT_SPE &&
		 (s->sink->samples || hit.addr >= LM_PAGE_ZERO) && is_duplicate(s, p))
		lm_sink_drop(s->sink, LM_DROP_DUPLICATE, 1);
	else
		lm_sink_add(s->sink, &hit);
}

/* "[nf_conntrack]": a kernel module, not "[kernel.kallsyms]" and not "[vdso]". */
static bool may_be_module(struct lm_span dso)
{
	return memmem(dso.p, lm_span_len(dso), ".ko", 3) ||
		(lm_span_starts(dso, "[") && !lm_span_starts(dso, "[kernel") && !lm_span_starts(dso, "[vdso"));
}

static void set_place(struct script *s, const struct lm_script_line *line)
{
	struct pending *p = &s->pending;
	struct lm_span dso = s->sink->samples ? lm_script_dso(line) : (struct lm_span){ NULL, NULL };
	struct lm_start start;

	p->symbol = lm_sink_symbol(s->sink, line->symbol, p->line.addr);
	p->inlined = lm_script_inlined(line);
	p->dso = p->inlined ? LM_NO_STRING : lm_sink_dso(s->sink, dso);
	if (p->inlined || dso.p == dso.end || !may_be_module(dso) || !lm_script_start(line, &start.at))
		return;
	start.symbol = p->symbol;
	start.dso = p->dso;
	lm_sink_start(s->sink, start);
}

static void begin_sample(struct script *s, const struct lm_script_line *line, bool cut)
{
	struct pending *p = &s->pending;
	const struct lm_event *ev;

	*p = (struct pending){ .line = *line, .event = event_id(s, line->event), .any = true, .cut = cut };
	ev = &s->events[p->event];
	if (ev->kind == LM_EVENT_SPE)
		p->head = hash_bytes(line->head);
	if (ev->kind == LM_EVENT_BREAKPOINT && !line->has_addr) {
		p->line.addr = ev->addr;
		p->line.has_addr = true;
		p->line.traced = false;
	}
	set_place(s, line);
	s->in_chain = true;
}

/* A line of an ip only; of a call chain without a head the first frame is the sample. */
static void begin_ip(struct script *s, const struct lm_script_line *frame, bool cut)
{
	if (!s->sink->samples) {
		/* An ip without event and address. */
		lm_sink_drop(s->sink, cut ? LM_DROP_TRUNCATED : LM_DROP_NO_ADDRESS, 1);
		return;
	}
	s->pending = (struct pending){ .line = *frame, .event = LM_NO_STRING, .any = true, .framed = true, .cut = cut };
	set_place(s, frame);
	s->in_chain = frame->tab;
	if (!s->in_chain)
		resolve(s);
}

/* Frames of inlined calls have the address of the frame that they are in. */
static void add_caller(struct pending *p, const struct lm_script_line *frame)
{
	uint64_t last = p->frames ? p->chain.returns[p->frames - 1] : p->line.ip;

	if (p->frames < LM_CHAIN && frame->ip != last)
		p->chain.returns[p->frames++] = frame->ip;
}

/* The first frame is the sample itself. */
static void add_frame(struct script *s, const struct lm_script_line *frame, bool cut)
{
	struct pending *p = &s->pending;

	if (!s->in_chain) {
		begin_ip(s, frame, cut);
		return;
	}
	if (!p->any)
		return;
	if (p->framed && p->inlined && frame->ip == p->line.ip) {
		set_place(s, frame);
		return;
	}
	if (p->framed) {
		add_caller(p, frame);
		return;
	}
	p->framed = true;
	p->line.ip = frame->ip;
	p->cut = p->cut || cut;
	set_place(s, frame);
}

/* ---- lines ---- */

static void drop_line(struct script *s, enum lm_drop why)
{
	resolve(s);
	s->in_chain = false;
	lm_sink_drop(s->sink, why, 1);
}

/* Hexadecimal digits as bytes; 0 if they are none, or too many. */
static size_t parse_id(struct lm_span hex, unsigned char ret[20])
{
	size_t nr = lm_span_len(hex) / 2;

	if (lm_span_len(hex) != 2 * nr || nr > 20)
		return 0;
	for (size_t i = 0; i < nr; i++) {
		uint64_t byte;

		if (!lm_span_hex((struct lm_span){ hex.p + 2 * i, hex.p + 2 * i + 2 }, &byte))
			return 0;
		ret[i] = (unsigned char)byte;
	}
	return nr;
}

static void add_mapping(struct script *s, const struct lm_line *line)
{
	struct lm_script_mmap m;
	unsigned char id[20];

	if (!lm_script_mmap(line->text, line->len, &m))
		return;
	lm_sink_mapping(s->sink, m.name,
			(struct lm_mapping){ .pid = m.pid, .start = m.start, .len = m.len, .pgoff = m.pgoff });
	lm_sink_build_id(s->sink, m.name, id, parse_id(m.build_id, id));
}

static void read_sample_line(struct script *s, const struct lm_line *line)
{
	struct lm_script_line parsed;

	switch (lm_script_parse(line->text, line->len, &parsed)) {
	case LM_SCRIPT_SAMPLE:
		resolve(s);
		begin_sample(s, &parsed, line->cut);
		return;
	case LM_SCRIPT_FRAME:
		add_frame(s, &parsed, line->cut);
		return;
	case LM_SCRIPT_SRCLINE:
		if (!s->in_chain)
			drop_line(s, line->cut ? LM_DROP_TRUNCATED : LM_DROP_NOT_A_SAMPLE);
		return;
	case LM_SCRIPT_RECORD:
		if (!line->cut && s->sink->samples)
			add_mapping(s, line);
		drop_line(s, line->cut ? LM_DROP_TRUNCATED : LM_DROP_NOT_A_SAMPLE);
		return;
	case LM_SCRIPT_MESSAGE:
		drop_line(s, line->cut ? LM_DROP_TRUNCATED : LM_DROP_NOT_A_SAMPLE);
		return;
	case LM_SCRIPT_BAD:
		drop_line(s, line->cut ? LM_DROP_TRUNCATED : LM_DROP_UNREADABLE);
		return;
	}
}

static void read_line(struct script *s, struct lm_line *line)
{
	if (line->too_long) {
		drop_line(s, LM_DROP_TOO_LONG);
		return;
	}
	if (memchr(line->text, 0, line->len)) {
		drop_line(s, LM_DROP_UNREADABLE);
		return;
	}
	while (line->len && lm_is_blank(line->text[line->len - 1]))
		line->len--;
	if (!line->len) {
		resolve(s);
		s->in_chain = false;
	} else if (*line->text == '#') {
		drop_line(s, LM_DROP_NOT_A_SAMPLE);
	} else {
		read_sample_line(s, line);
	}
}

struct lm_err *lm_read_script(struct lm_lines *src, struct lm_sink *sink)
{
	struct script s = { .sink = sink };
	struct lm_line line;

	while (lm_lines_next(src, &line))
		read_line(&s, &line);
	resolve(&s);
	free(s.events);
	return NULL;
}
