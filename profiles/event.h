/*
 * event.h - what an event's name says about its samples.
 */
#ifndef LM_PROFILES_EVENT_H
#define LM_PROFILES_EVENT_H

#include "profiles/reader_private.h"

enum lm_event_kind {
	LM_EVENT_SAMPLED,	/* may carry a data address */
	LM_EVENT_SPE,		/* one Arm SPE operation prints under several of these */
	LM_EVENT_BREAKPOINT,	/* each access traps */
	LM_EVENT_CLOCK,		/* cpu-clock, task-clock: an ip, never an address */
	LM_EVENT_NO_MEMORY,	/* says nothing about an access */
};

struct lm_event {
	enum lm_event_kind kind;
	enum lm_does does;
	bool is_memory;		/* the SPE event that each data access has */
	bool precise;		/* the ip is the instruction's own, also without an address */
	bool every;		/* samples all instructions: no operation means no access (IBS, SPE) */
	uint64_t addr;		/* of a breakpoint */
	uint32_t size;		/* of a breakpoint; 0 if the name does not say */
};

struct lm_event lm_event_classify(struct lm_span name);

/*
 * True if the event is known to fire after so many instructions or accesses:
 * equally many samples, equally many executions.  Not so clocks and cycles, which
 * wait where the processor waits, nor loads above a latency.
 */
bool lm_event_counts(struct lm_span name);

/* What an event's name says: *loads* read, *stores* write; both or neither: does not say. */
enum lm_does lm_event_does(struct lm_span name);

/*
 * What a sample does: union perf_mem_data_src (include/uapi/linux/perf_event.h),
 * or, where that says nothing, the event's name.
 */
enum lm_does lm_data_src_does(uint64_t data_src, enum lm_does by_name);

/* What a sample of the event is worth. */
enum lm_evidence lm_event_evidence(const struct lm_event *ev, bool has_addr);

/* SPE operations seen last: the events of one stand close together. */
enum { LM_NR_RECENT = 16 };
struct lm_recent {
	struct {
		uint64_t key;
		uint32_t event;	/* number + 1; 0: free */
	} items[LM_NR_RECENT];
	size_t next;
};

/*
 * True if this is another event of an operation already seen, which key (of
 * thread, time, ip and address) names.  One operation has each event at most
 * once: the event that came first, seen again, is a new operation.
 */
bool lm_recent_seen(struct lm_recent *r, uint64_t key, uint32_t event);

#endif
