/*
 * sink.h - where the readers of samples put them: into the access table, by the
 * objects that the person named, or into the sample table, for attribution.
 *
 * The outcome of a sample is decided here, once for all formats.
 */
#ifndef LM_PROFILES_SINK_H
#define LM_PROFILES_SINK_H

#include "profiles/event.h"
#include "profiles/sample.h"

/* Page zero is never mapped: an address below this means "not known". */
#define LM_PAGE_ZERO 4096u

struct lm_object {
	uint64_t base;
	uint32_t nr;		/* place on the command line */
};

struct lm_sink {
	struct lm_accesses *accesses;	/* one of the two is NULL */
	struct lm_samples *samples;
	struct lm_strings *strings;	/* of that table */
	struct lm_object *objects;	/* by base, each base once; owned */
	size_t nr_objects;
	uint64_t record_size;
	struct lm_trace *trace;		/* where accesses go in their order, or NULL */
	uint32_t whole, unknown;	/* string ids */
	struct lm_samples traps;	/* of breakpoints, until all of them are known */
};

/* One sample, or count equal ones. */
struct lm_hit {
	uint64_t ip, addr;		/* 0: not known */
	uint32_t symbol, dso;		/* from lm_sink_symbol(), lm_sink_dso() */
	int32_t cpu;
	uint32_t size;			/* 0: not known */
	enum lm_does does;
	enum lm_evidence evidence;
	bool after, has_time;
	bool noted;			/* lm_sink_note_order() was called */
	uint64_t time;			/* ns */
	struct lm_chain chain;
	uint64_t count;
};

void lm_sink_open(struct lm_sink *s, const struct lm_reader_opts *opts, struct lm_accesses *accesses,
		  struct lm_samples *samples);
/*
 * Settles what is known at the end only, and frees the sink; the tables stay.
 * Where writes and all accesses of one address were trapped, each write came
 * twice: the second one is a duplicate, and what is left over are reads.
 */
void lm_sink_close(struct lm_sink *s);

/* String ids of names of a sample with this data address; names of samples that become no row are not kept. */
uint32_t lm_sink_symbol(struct lm_sink *s, struct lm_span name, uint64_t addr);
uint32_t lm_sink_dso(struct lm_sink *s, struct lm_span name);

/* The number of an event's name, from 0 in order of appearance. */
uint32_t lm_sink_event(struct lm_sink *s, struct lm_span name);

/* True if a sample with this data address can become a row. */
bool lm_sink_wants(const struct lm_sink *s, uint64_t addr);

/*
 * What a sample of ev does.  Where only ips are wanted, an event that has no
 * data source still says something; for accesses it does not.
 */
enum lm_does lm_sink_does(const struct lm_sink *s, const struct lm_event *ev, uint64_t addr, bool has_data_src,
			  uint64_t data_src);

void lm_sink_add(struct lm_sink *s, const struct lm_hit *hit);

/* Adds a hit to the trace alone, where one is wanted: for a reader that hands it to lm_sink_add() later. */
void lm_sink_note_order(struct lm_sink *s, const struct lm_hit *hit);
void lm_sink_drop(struct lm_sink *s, enum lm_drop why, uint64_t nr);
void lm_sink_lost(struct lm_sink *s, uint64_t nr);

/* What only the sample table keeps; nothing in the other case. */
void lm_sink_mapping(struct lm_sink *s, struct lm_span name, struct lm_mapping m);
void lm_sink_start(struct lm_sink *s, struct lm_start start);	/* of a function, by lm_sink_symbol() and lm_sink_dso() */
void lm_sink_build_id(struct lm_sink *s, struct lm_span name, const unsigned char *id, size_t len);
void lm_sink_perf_version(struct lm_sink *s, struct lm_span version);

/* Adds all of from to t; moves it if t is new. */
void lm_samples_merge(struct lm_samples *t, struct lm_samples *from);

/* The op of the sample table for what a reader saw. */
enum lm_op lm_does_op(enum lm_does does);

#endif
