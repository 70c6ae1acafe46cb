/*
 * reader_script.c - perf script text of memory samples -> accesses.
 *
 * What counts as what:
 *
 * - A sample counts once, not period times.  The period is the distance of two
 *   samples of one event in occurrences of that event; it differs between the
 *   load and the store event (and while perf adapts it), and a store's unit is
 *   not a load's (ldlat leaves out fast loads).  Two numbers that are both
 *   known to be samples can be compared; two estimates with different errors
 *   cannot.  A person who recorded with different periods merges two files
 *   with weights.
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
 * - Page zero is never mapped: an address below 4096 means "not known".
 */
#include "profiles/script_line.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
#define UNKNOWN_RECORD_SIZE (1u << 20)

enum event_kind { EVENT_SAMPLED, EVENT_SPE, EVENT_BREAKPOINT, EVENT_NO_MEMORY };

/* What an event's name says about its samples. */
struct event {
	enum event_kind kind;
	enum lm_does op;
	bool is_memory;		/* the SPE event that each data access has */
	uint64_t addr;		/* of a breakpoint */
	uint32_t size;
};

struct object {
	uint64_t base;
	uint32_t nr;		/* place on the command line */
};

/* SPE operations seen last: the events of one are printed close together. */
enum { NR_RECENT = 16 };
struct operation {
	uint64_t key;
	uint32_t event;
};

/* A sample whose call chain may follow. */
struct pending {
	struct lm_script_line line;	/* numbers only; its spans are gone */
	uint32_t event, site;
	uint64_t head;		/* hash of comm, tid, cpu, time */
	bool any, framed, cut;
};

struct script {
	struct lm_accesses *t;
	struct event *events;	/* by id in t->events */
	size_t nr_events, cap_events;
	struct object *objects;	/* by base, each base once */
	size_t nr_objects;
	uint64_t record_size;
	struct operation recent[NR_RECENT];
	size_t next_recent;
	uint32_t whole, unknown_site;
	struct pending pending;
	bool in_chain;		/* behind a sample, before the empty line */
};

/* ---- events ---- */

static bool is_software(struct lm_span name)
{
	static const char *const names[] = {
		"page-faults", "faults", "minor-faults", "major-faults", "alignment-faults", "emulation-faults",
		"cpu-clock", "task-clock", "context-switches", "cs", "cpu-migrations", "migrations", "dummy",
		"bpf-output", "cgroup-switches", "branch", "branch-miss", "branches", "branch-misses",
	};
	const char *colon = memchr(name.p, ':', lm_span_len(name));

	if (colon)
		name.end = colon;	/* modifiers */
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (lm_span_is(name, names[i]))
			return true;
	return false;
}

static bool is_spe(struct lm_span name)
{
	static const char *const names[] = {
		"memory", "l1d-miss", "l1d-access", "llc-miss", "llc-access", "tlb-miss", "tlb-access",
		"remote-access", "instructions",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (lm_span_is(name, names[i]))
			return true;
	return false;
}

/* "mem:0xADDR[/LEN][:ACCESS][:modifiers]" */
static bool parse_breakpoint(struct lm_span name, struct event *ev)
{
	struct lm_span hex = { name.p + 6, name.p + 6 };
	const char *p;

	if (!lm_span_starts(name, "mem:0x"))
		return false;
	while (hex.end < name.end && *hex.end != '/' && *hex.end != ':')
		hex.end++;
	if (!lm_span_hex(hex, &ev->addr))
		return false;
	p = hex.end;
	if (name.end - p >= 2 && *p == '/' && strchr("1248", p[1]) && p[1]) {
		ev->size = (uint32_t)(p[1] - '0');
		p += 2;
	}
	ev->kind = EVENT_BREAKPOINT;
	if (lm_span_is((struct lm_span){ p, name.end }, ":x") || lm_span_starts((struct lm_span){ p, name.end }, ":x:"))
		ev->kind = EVENT_NO_MEMORY;
	else if (lm_span_is((struct lm_span){ p, name.end }, ":w") ||
		 lm_span_starts((struct lm_span){ p, name.end }, ":w:"))
		ev->op = LM_DOES_WRITE;
	else if (lm_span_is((struct lm_span){ p, name.end }, ":r") ||
		 lm_span_starts((struct lm_span){ p, name.end }, ":r:"))
		ev->op = LM_DOES_READ;
	return true;
}

static struct event classify(struct lm_span name)
{
	struct event ev = { .op = LM_DOES_NOT_SAY, .size = 1 };

	if (parse_breakpoint(name, &ev))
		return ev;
	if (is_software(name) || lm_span_has(name, "mem-loads-aux")) {
		ev.kind = EVENT_NO_MEMORY;
		return ev;
	}
	if (is_spe(name)) {
		ev.kind = EVENT_SPE;
		ev.is_memory = lm_span_is(name, "memory");
	}
	ev.op = lm_event_does(name);
	return ev;
}

static uint32_t event_id(struct script *s, struct lm_span name)
{
	uint32_t id = lm_strings_add(s->t->events, name.p, lm_span_len(name));

	if (id < s->nr_events)
		return id;
	if (s->nr_events == s->cap_events) {
		s->cap_events = s->cap_events ? s->cap_events * 2 : 16;
		s->events = reallocarray(s->events, s->cap_events, sizeof(*s->events));
		if (!s->events)
			lm_oom();
	}
	s->events[s->nr_events++] = classify(name);
	return id;
}

/* ---- objects ---- */

static int compare_objects(const void *left, const void *right)
{
	const struct object *a = left, *b = right;

	if (a->base != b->base)
		return a->base < b->base ? -1 : 1;
	return (a->nr > b->nr) - (a->nr < b->nr);
}

static void sort_objects(struct script *s, const struct lm_reader_opts *opts)
{
	size_t nr = 0;

	s->record_size = opts->record_size ? opts->record_size : UNKNOWN_RECORD_SIZE;
	if (!opts->nr_objects)
		return;
	s->objects = calloc(opts->nr_objects, sizeof(*s->objects));
	if (!s->objects)
		lm_oom();
	for (size_t i = 0; i < opts->nr_objects; i++)
		s->objects[i] = (struct object){ opts->objects[i], (uint32_t)i };
	qsort(s->objects, opts->nr_objects, sizeof(*s->objects), compare_objects);
	for (size_t i = 0; i < opts->nr_objects; i++)	/* of an address given twice the first stays */
		if (!nr || s->objects[nr - 1].base != s->objects[i].base)
			s->objects[nr++] = s->objects[i];
	s->nr_objects = nr;
}

static const struct object *find_object(const struct script *s, uint64_t addr)
{
	size_t low = 0, high = s->nr_objects;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->objects[mid].base <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || addr - s->objects[low - 1].base >= s->record_size)
		return NULL;
	return &s->objects[low - 1];
}

/* ---- one sample ---- */

/* Bits of union perf_mem_data_src (include/uapi/linux/perf_event.h): op 0-4, lock 24-25. */
static enum lm_does data_src_op(uint64_t data_src, enum lm_does by_name)
{
	enum { NA = 1, LOAD = 2, STORE = 4, LOCKED = 2 };
	unsigned bits = data_src & 0x1f, lock = data_src >> 24 & 3, op = LM_DOES_NOTHING;

	if (bits & LOAD)
		op |= lock == LOCKED ? LM_DOES_BOTH : LM_DOES_READ;
	if (bits & STORE)
		op |= LM_DOES_WRITE;
	if (!op && !(bits & ~(unsigned)NA) && by_name != LM_DOES_NOT_SAY)
		op = by_name;
	return (enum lm_does)op;
}

static uint64_t hash_bytes(struct lm_span s)
{
	uint64_t h = 0xcbf29ce484222325u;	/* FNV-1a */

	for (; s.p < s.end; s.p++)
		h = (h ^ (unsigned char)*s.p) * 0x100000001b3u;
	return h;
}

/*
 * True if this line is another event of an operation already counted.  One
 * operation has each event at most once: the event that came first, seen
 * again, is a new operation.
 */
static bool is_duplicate(struct script *s, const struct pending *p)
{
	const struct lm_script_line *line = &p->line;
	uint64_t key = (p->head ^ line->ip * 0x9e3779b97f4a7c15u) + line->addr * 0xff51afd7ed558ccdu;

	if (!line->has_time)
		return !s->events[p->event].is_memory;
	for (size_t i = 0; i < NR_RECENT; i++)
		if (s->recent[i].key == key && s->recent[i].event != LM_NO_STRING)
			return s->recent[i].event != p->event;
	s->recent[s->next_recent++ % NR_RECENT] = (struct operation){ key, p->event };
	return false;
}

static void count(struct script *s, const struct pending *p, const struct event *ev, const struct object *object,
		  enum lm_does op)
{
	struct lm_access row = {
		.site = p->site,
		.member = s->whole,
		.offset = p->line.addr - object->base,
		.size = ev->size,
		.cpu = p->line.cpu,
		.object = object->nr,
		.evidence = ev->kind == EVENT_BREAKPOINT ? LM_EVIDENCE_EXACT : LM_EVIDENCE_PRECISE,
		.reads = op & (LM_DOES_READ | LM_DOES_NOT_SAY) ? 1 : 0,
		.writes = op & LM_DOES_WRITE ? 1 : 0,
	};

	lm_accesses_add(s->t, row);
	lm_count_used(s->t, 1);
	s->t->unknown_op += op == LM_DOES_NOT_SAY;
}

/* Ends the pending sample: a row, or the first reason against one. */
static void resolve(struct script *s)
{
	struct pending *p = &s->pending;
	const struct object *object;
	const struct event *ev;
	enum lm_does op;

	if (!p->any)
		return;
	p->any = false;
	object = find_object(s, p->line.addr);
	ev = &s->events[p->event];
	op = ev->op;
	if (p->line.has_data_src && ev->kind != EVENT_BREAKPOINT)
		op = data_src_op(p->line.data_src, ev->op);
	if (p->cut)
		lm_count_drop(s->t, LM_DROP_TRUNCATED, 1);
	else if (ev->kind == EVENT_NO_MEMORY || p->line.traced || op == LM_DOES_NOTHING)
		lm_count_drop(s->t, LM_DROP_NOT_MEMORY, 1);
	else if ((!p->line.has_addr && !(p->line.lone && p->framed)) || p->line.addr < PAGE)
		lm_count_drop(s->t, LM_DROP_NO_ADDRESS, 1);
	else if (ev->kind == EVENT_SPE && is_duplicate(s, p))
		lm_count_drop(s->t, LM_DROP_DUPLICATE, 1);
	else if (!s->nr_objects)
		lm_count_drop(s->t, LM_DROP_NO_OBJECT, 1);
	else if (!object)
		lm_count_drop(s->t, LM_DROP_OTHER_OBJECT, 1);
	else
		count(s, p, ev, object, op);
}

/* Sites are kept for samples that can become rows only: memory is bounded by the rows. */
static uint32_t site_id(struct script *s, struct lm_span symbol, uint64_t addr)
{
	if (symbol.p == symbol.end || !find_object(s, addr))
		return s->unknown_site;
	return lm_strings_add(s->t->strings, symbol.p, lm_span_len(symbol));
}

static void begin_sample(struct script *s, const struct lm_script_line *line, bool cut)
{
	struct pending *p = &s->pending;
	const struct event *ev;

	*p = (struct pending){ .line = *line, .event = event_id(s, line->event), .any = true, .cut = cut };
	ev = &s->events[p->event];
	if (ev->kind == EVENT_SPE)
		p->head = hash_bytes(line->head);
	if (ev->kind == EVENT_BREAKPOINT && !line->has_addr) {
		p->line.addr = ev->addr;
		p->line.has_addr = true;
		p->line.traced = false;
	}
	p->site = site_id(s, line->symbol, p->line.addr);
	s->in_chain = true;
}

/* The first frame is the sample itself. */
static void add_frame(struct script *s, const struct lm_script_line *frame, bool cut)
{
	struct pending *p = &s->pending;

	if (!s->in_chain) {
		/* An ip without event and address. */
		lm_count_drop(s->t, cut ? LM_DROP_TRUNCATED : LM_DROP_NO_ADDRESS, 1);
		return;
	}
	if (!p->any || p->framed)
		return;
	p->framed = true;
	p->line.ip = frame->ip;
	p->cut = p->cut || cut;
	p->site = site_id(s, frame->symbol, p->line.addr);
}

/* ---- lines ---- */

static void drop_line(struct script *s, enum lm_drop why)
{
	resolve(s);
	s->in_chain = false;
	lm_count_drop(s->t, why, 1);
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

static uint32_t add_text(struct lm_strings *strings, const char *text)
{
	return lm_strings_add(strings, text, strlen(text));
}

struct lm_err *lm_read_script(struct lm_lines *src, const struct lm_reader_opts *opts, struct lm_accesses *t)
{
	struct script s = { .t = t };
	struct lm_line line;

	s.whole = add_text(t->strings, LM_WHOLE_RECORD);
	s.unknown_site = add_text(t->strings, "[unknown]");
	if (opts->record && t->record == LM_NO_STRING)
		t->record = add_text(t->strings, opts->record);
	for (size_t i = 0; i < NR_RECENT; i++)
		s.recent[i].event = LM_NO_STRING;
	sort_objects(&s, opts);
	while (lm_lines_next(src, &line))
		read_line(&s, &line);
	resolve(&s);
	free(s.objects);
	free(s.events);
	return NULL;
}
