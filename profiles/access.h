/*
 * access.h - the access table: which code touched which bytes of the record,
 * on which CPU, how often.  What every profile becomes.
 *
 * A row is one *access*: site, member, offset inside the member, size, CPU,
 * object, reads, writes, evidence.  Rows are kept added up: no two rows have
 * the same key (all but reads and writes).  lm_accesses_sort() fixes the order.
 */
#ifndef LM_PROFILES_ACCESS_H
#define LM_PROFILES_ACCESS_H

#include "base/err.h"
#include "base/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a row's counts are worth, best first.  name is used in the file. */
#define LM_EVIDENCE(X) \
	X(EXACT, "exact", "every access counted") \
	X(PRECISE, "precise", "sampled, with the data address of each access") \
	X(CONTENTION, "contention", "only contended accesses were kept (c2c): absence proves nothing") \
	X(TYPED, "typed", "sampled; member found from the instruction, object unknown") \
	X(SKIDDING, "skidding", "sampled late: the neighbour of the culprit may be blamed") \
	X(FUNCTION, "function", "known only by function")

enum lm_evidence {
#define X(name, word, text) LM_EVIDENCE_##name,
	LM_EVIDENCE(X)
#undef X
	LM_NR_EVIDENCE
};

/* Why lines or samples could not be used.  Every input line has one outcome. */
#define LM_DROPS(X) \
	X(NOT_A_SAMPLE, "not-a-sample", "line is no sample (header, comment, warning)") \
	X(UNREADABLE, "unreadable", "line does not follow any known format") \
	X(TRUNCATED, "truncated", "last line is cut off") \
	X(TOO_LONG, "too-long", "line is longer than 64 KiB") \
	X(NO_ADDRESS, "no-address", "sample has no data address: record or print with addr (perf script -F +addr)") \
	X(NOT_MEMORY, "not-memory", "sample is no data access (fetch, prefetch or unknown operation)") \
	X(DUPLICATE, "duplicate", "operation that another event counted already (Arm SPE; traps of writes and of accesses)") \
	X(OTHER_OBJECT, "other-object", "data address lies outside the record's objects") \
	X(NO_OBJECT, "no-object", "no --object address was given to bind data addresses") \
	X(OTHER_RECORD, "other-record", "row is about another record") \
	X(NO_MEMBER, "no-member", "member is not in the record") \
	X(OUTSIDE, "outside", "offset lies behind the end of its member") \
	X(GUEST, "guest", "sample was taken inside a virtual machine's guest, whose addresses mean nothing here") \
	X(PART, "part", "reaches a type that lies in other records, too: record with data addresses (perf mem record) to tell") \
	X(NO_CODE, "no-code", "address is in no code of the binary") \
	X(NO_TYPE, "no-type", "debug info gives no type to the instruction's base register") \
	X(LOST, "lost", "perf lost the sample while recording: record with a larger buffer (perf record -m 16M)")

enum lm_drop {
#define X(name, word, text) LM_DROP_##name,
	LM_DROPS(X)
#undef X
	LM_NR_DROPS
};

#define LM_CPU_UNKNOWN (-1)
/* member of a row that knows only its offset in the whole record */
#define LM_WHOLE_RECORD "."

struct lm_access {
	uint32_t site;		/* string id: function, "[unknown]" if not known */
	uint32_t member;	/* string id: dotted path, e.g. "memory.usage"; or LM_WHOLE_RECORD */
	uint64_t offset;	/* bytes inside that member */
	uint32_t size;		/* bytes touched; 1 if unknown */
	int32_t cpu;		/* from 0, or LM_CPU_UNKNOWN */
	uint32_t object;	/* number of the object, from 0 */
	enum lm_evidence evidence;
	uint64_t reads, writes;	/* an atomic read-modify-write counts once in each */
};

struct lm_accesses {
	struct lm_strings *strings;
	struct lm_access *rows;
	size_t nr, cap;
	uint32_t record;	/* string id of the record's name, or LM_NO_STRING */
	uint64_t samples;	/* input samples or lines read, used or not */
	uint64_t used;		/* of these, in rows.  samples == used + sum(drops) */
	uint64_t drops[LM_NR_DROPS];
	uint64_t unknown_op;	/* used samples that did not say read or write: taken as reads */
	uint64_t unknown_element; /* used samples of some element of an array: spread evenly over all */
	struct lm_strings *events; /* names of events seen, in order of appearance */
	void *index;		/* hash over the rows' keys; private */
};

void lm_accesses_init(struct lm_accesses *t);
void lm_accesses_release(struct lm_accesses *t);

/* Adds row's counts to the row with its key, which is made if new.  Counts saturate. */
void lm_accesses_add(struct lm_accesses *t, struct lm_access row);

/* Adds all of from, times weight (> 0; counts rounded to nearest, never to 0 from more). */
void lm_accesses_merge(struct lm_accesses *t, const struct lm_accesses *from, double weight);

/* Sorts rows by site, member, offset, size, cpu, object, evidence (names by bytes). */
void lm_accesses_sort(struct lm_accesses *t);

/*
 * The access file, text, one row a line, tab separated:
 *
 *   #linemate-access 1
 *   #record<TAB>mem_cgroup
 *   #event<TAB>cpu/mem-loads,ldlat=30/P
 *   #samples<TAB>19587
 *   #dropped<TAB>no-address<TAB>12
 *   #unknown-op<TAB>3
 *   #unknown-element<TAB>16
 *   #site<TAB>member<TAB>offset<TAB>size<TAB>cpu<TAB>reads<TAB>writes<TAB>object<TAB>evidence
 *   page_counter_try_charge<TAB>memory.usage<TAB>0<TAB>8<TAB>3<TAB>0<TAB>17<TAB>0<TAB>exact
 *
 * Written by hand, only the first line and the rows are needed; object and
 * evidence may be left out (0, exact), cpu may be "-" (unknown).  Other lines
 * that start with '#' are comments.  A tab, newline or backslash in a name is
 * written \t \n \\ , other control bytes \xNN.
 */
struct lm_str;
void lm_accesses_print(const struct lm_accesses *t, struct lm_str *out);

/* ---- accesses in order ---- */

/* What may happen again and again: an access to one place of one object. */
struct lm_kind {
	uint64_t offset;	/* bytes from the object's start */
	uint32_t size;		/* bytes; 1 if unknown */
	uint32_t object;	/* number of the object, from 0 */
	bool write;		/* a read-modify-write, too, is a write */
};

/* One access: it happened behind those before it in the trace. */
struct lm_step {
	uint32_t kind;		/* index of the kind */
	uint32_t cpu;		/* index of the CPU */
};

/*
 * Accesses to objects of one record as they followed each other.  The table
 * above forgets the order; this remembers it, and nothing else.
 */
struct lm_trace {
	struct lm_kind *kinds;
	size_t nr_kinds, cap_kinds;
	struct lm_step *steps;
	uint64_t *times;	/* [nr] in ns; NULL: the file's own order counts */
	size_t nr, cap;
	uint32_t *cpus;		/* the machine's numbers; rising once it is settled */
	size_t nr_cpus, cap_cpus;
	uint64_t unordered;	/* accesses without time or CPU: they are in no step */
	bool by_cpu;		/* order is known inside each CPU only: an emulator ran one after the other */
	uint64_t *index;	/* over kinds; private */
	size_t nr_index;
};

/* Zero-initialise.  Adds one access; a trace has times for all its steps or for none. */
void lm_trace_add(struct lm_trace *t, struct lm_kind kind, uint32_t cpu, const uint64_t *time);

/*
 * Brings steps into their order, after the last one was added: by time where
 * there are times, those of one time as they came.  turns: one access of each
 * CPU in turn instead, by the CPUs' numbers: the order that contends most.
 */
void lm_trace_settle(struct lm_trace *t, bool turns);
void lm_trace_release(struct lm_trace *t);

/* The sentence and the word of an evidence class or a drop reason.  Static. */
const char *lm_evidence_word(enum lm_evidence e);
const char *lm_evidence_text(enum lm_evidence e);
const char *lm_drop_word(enum lm_drop d);
const char *lm_drop_text(enum lm_drop d);

#endif
