/* event.c - what an event's name says about its samples. */
#include "profiles/event.h"

#include <string.h>

enum lm_does lm_event_does(struct lm_span name)
{
	bool load = lm_span_has(name, "load"), store = lm_span_has(name, "store");

	if (load == store)
		return LM_DOES_NOT_SAY;
	return load ? LM_DOES_READ : LM_DOES_WRITE;
}

/* Bits of data_src: op 0-4, lock 24-25. */
enum lm_does lm_data_src_does(uint64_t data_src, enum lm_does by_name)
{
	enum { NA = 1, LOAD = 2, STORE = 4, LOCKED = 2 };
	unsigned bits = data_src & 0x1f, lock = data_src >> 24 & 3, does = LM_DOES_NOTHING;

	if (bits & LOAD)
		does |= lock == LOCKED ? LM_DOES_BOTH : LM_DOES_READ;
	if (bits & STORE)
		does |= LM_DOES_WRITE;
	if (!does && !(bits & ~(unsigned)NA) && by_name != LM_DOES_NOT_SAY)
		does = by_name;
	return (enum lm_does)does;
}

static bool is_one_of(struct lm_span name, const char *const *names)
{
	for (; *names; names++)
		if (lm_span_is(name, *names))
			return true;
	return false;
}

/* The name without its modifiers: "cpu-clock:u". */
static struct lm_span without_modifiers(struct lm_span name)
{
	const char *colon = memchr(name.p, ':', lm_span_len(name));

	if (colon)
		name.end = colon;
	return name;
}

static bool is_clock(struct lm_span name)
{
	static const char *const names[] = { "cpu-clock", "task-clock", NULL };

	return is_one_of(without_modifiers(name), names);
}

/* Software events, and branches, whose samples name no access of data. */
static bool is_no_memory(struct lm_span name)
{
	static const char *const names[] = {
		"page-faults", "faults", "minor-faults", "major-faults", "alignment-faults", "emulation-faults",
		"context-switches", "cs", "cpu-migrations", "migrations", "dummy", "bpf-output", "cgroup-switches",
		"branch", "branch-miss", "branches", "branch-misses", NULL,
	};

	return is_one_of(without_modifiers(name), names);
}

static bool is_spe(struct lm_span name)
{
	static const char *const names[] = {
		"memory", "l1d-miss", "l1d-access", "llc-miss", "llc-access", "tlb-miss", "tlb-access",
		"remote-access", "instructions", NULL,
	};

	return is_one_of(name, names);
}

/* True if modifiers ask for a precise ip: "cycles:pp", "cycles:P", "cpu/cycles/upp". */
static bool has_precise_modifier(struct lm_span name)
{
	const char *p = name.end;

	while (p > name.p && strchr("ukhGHpPSDWeI", p[-1]))
		p--;
	if (p == name.p || (p[-1] != ':' && p[-1] != '/'))
		return false;
	return memchr(p, 'p', (size_t)(name.end - p)) || memchr(p, 'P', (size_t)(name.end - p));
}

static bool is_modifier(struct lm_span s, char letter)
{
	return lm_span_len(s) >= 2 && s.p[0] == ':' && s.p[1] == letter && (s.p + 2 == s.end || s.p[2] == ':');
}

/* "mem:0xADDR[/LEN][:ACCESS][:modifiers]" */
static bool parse_breakpoint(struct lm_span name, struct lm_event *ev)
{
	struct lm_span hex = { name.p + 6, name.p + 6 }, access;

	if (!lm_span_starts(name, "mem:0x"))
		return false;
	while (hex.end < name.end && *hex.end != '/' && *hex.end != ':')
		hex.end++;
	if (!lm_span_hex(hex, &ev->addr))
		return false;
	access = (struct lm_span){ hex.end, name.end };
	if (lm_span_len(access) >= 2 && *access.p == '/' && strchr("1248", access.p[1]) && access.p[1]) {
		ev->size = (uint32_t)(access.p[1] - '0');
		access.p += 2;
	}
	ev->kind = is_modifier(access, 'x') ? LM_EVENT_NO_MEMORY : LM_EVENT_BREAKPOINT;
	if (is_modifier(access, 'w'))
		ev->does = LM_DOES_WRITE;
	else if (is_modifier(access, 'r'))
		ev->does = LM_DOES_READ;
	return true;
}

struct lm_event lm_event_classify(struct lm_span name)
{
	struct lm_event ev = { .does = LM_DOES_NOT_SAY };

	if (parse_breakpoint(name, &ev))
		return ev;
	if (is_no_memory(name) || lm_span_has(name, "mem-loads-aux")) {
		ev.kind = LM_EVENT_NO_MEMORY;
		return ev;
	}
	if (is_clock(name)) {
		ev.kind = LM_EVENT_CLOCK;
		return ev;
	}
	if (is_spe(name)) {
		ev.kind = LM_EVENT_SPE;
		ev.is_memory = lm_span_is(name, "memory");
	}
	ev.does = lm_event_does(name);
	ev.every = lm_span_has(name, "ibs_") || lm_span_has(name, "arm_spe") ||
		   (ev.kind == LM_EVENT_SPE && !lm_span_is(name, "instructions"));
	/* Load latency and store events of every processor give the ip of the access. */
	ev.precise = ev.every || has_precise_modifier(name) || lm_span_has(name, "mem-loads") ||
		     lm_span_has(name, "mem-stores") || lm_span_has(name, "mem_trans_retired");
	return ev;
}

bool lm_event_counts(struct lm_span name)
{
	static const char *const parts[] = { "instructions", "inst_retired", "INST_RETIRED", "mem-stores", "all_loads",
					     "all_stores", "ALL_LOADS", "ALL_STORES", NULL };
	struct lm_event ev = lm_event_classify(name);

	if (ev.kind == LM_EVENT_BREAKPOINT || ev.kind == LM_EVENT_SPE)
		return true;
	for (const char *const *part = parts; *part && ev.kind == LM_EVENT_SAMPLED; part++)
		if (lm_span_has(name, *part))
			return !lm_span_has(name, "lat");
	return false;
}

enum lm_evidence lm_event_evidence(const struct lm_event *ev, bool has_addr)
{
	if (ev->kind == LM_EVENT_BREAKPOINT)
		return LM_EVIDENCE_EXACT;
	return has_addr || ev->precise ? LM_EVIDENCE_PRECISE : LM_EVIDENCE_SKIDDING;
}

bool lm_recent_seen(struct lm_recent *r, uint64_t key, uint32_t event)
{
	for (size_t i = 0; i < LM_NR_RECENT; i++)
		if (r->items[i].key == key && r->items[i].event)
			return r->items[i].event != event + 1;
	r->items[r->next % LM_NR_RECENT].key = key;
	r->items[r->next++ % LM_NR_RECENT].event = event + 1;
	return false;
}
