/*
 * sample.h - the sample table: what perf saw, before anybody knows which field
 * it was.
 *
 * Readers fill it; attribution.h turns it into accesses.  Rows are kept added
 * up by key (all but count), so memory is bounded by distinct rows, not by
 * lines.  Addresses are runtime addresses, as perf recorded them.
 */
#ifndef LM_PROFILES_SAMPLE_H
#define LM_PROFILES_SAMPLE_H

#include "profiles/access.h"

#include <stdbool.h>
#include <stdint.h>

/* What the sample says of its access.  UNKNOWN: the instruction must tell. */
enum lm_op { LM_OP_UNKNOWN, LM_OP_READ, LM_OP_WRITE, LM_OP_READ_WRITE };

/* Return addresses on the stack, from the function of the ip outwards. */
enum { LM_CHAIN = 3 };
struct lm_chain { uint64_t returns[LM_CHAIN]; };	/* 0: no more */

struct lm_sample {
	uint64_t ip;		/* 0: not known */
	uint64_t addr;		/* data address; 0: not known */
	uint32_t symbol;	/* string id: function as perf names it, "[unknown]" */
	uint32_t dso;		/* string id: file the ip lies in, "[kernel.kallsyms]"; LM_NO_STRING */
	int32_t cpu;		/* LM_CPU_UNKNOWN */
	uint32_t size;		/* bytes of the access; 0: not known */
	enum lm_op op;
	enum lm_evidence evidence; /* PRECISE, EXACT: ip (and addr) are the access's own; SKIDDING: ip may be late */
	bool after;		/* a hardware breakpoint: on x86, ip is the instruction behind the access */
	struct lm_chain chain;	/* empty where addr is known, which says more */
	uint64_t count;
};

/* Where a file was mapped, from MMAP records: runtime = start + (file offset - pgoff). */
struct lm_mapping {
	uint32_t dso;		/* string id */
	int32_t pid;		/* -1: kernel */
	uint64_t start, len, pgoff;
};

struct lm_build_id {
	uint32_t dso;		/* string id */
	const char *hex;	/* lower case; owned by strings */
};

/* Where a function of a kernel module started, from "symbol+0x12": text may say nothing else of where the module lay. */
struct lm_start {
	uint32_t symbol, dso;	/* string ids */
	uint64_t at;
};

struct lm_samples {
	struct lm_strings *strings;
	struct lm_sample *rows;
	size_t nr, cap;
	struct lm_mapping *mappings;
	size_t nr_mappings, cap_mappings;
	struct lm_build_id *build_ids;
	size_t nr_build_ids, cap_build_ids;
	struct lm_start *starts;	/* each once */
	size_t nr_starts, cap_starts;
	struct lm_strings *events;	/* names seen, in order of appearance */
	uint64_t samples;		/* input samples or lines; samples == sum(count) + sum(drops) */
	uint64_t drops[LM_NR_DROPS];
	uint64_t lost;			/* LOST records: samples that perf itself could not write */
	const char *perf_version;	/* "" if not recorded; owned by strings */
	void *index;			/* private */
};

void lm_samples_init(struct lm_samples *t);
void lm_samples_release(struct lm_samples *t);

/* Adds row.count to the row with its key, which is made if new.  Counts saturate. */
void lm_samples_add(struct lm_samples *t, struct lm_sample row);

/* Sorts rows by ip, addr, cpu, op, symbol, dso (names by bytes), the rest: the order is part of no input. */
void lm_samples_sort(struct lm_samples *t);

#endif
