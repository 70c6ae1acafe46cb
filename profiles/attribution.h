/*
 * attribution.h - which field did this sample touch?
 *
 * From the instruction: its memory operand (insn.h), the type that the base
 * register points to there (debug info's variables, and types that flow through
 * moves, loads, address arithmetic, calls and joins inside a function).  From
 * the data address: objects of the record, found by the instructions that
 * resolve surely (base = address - offset), then every sample inside an object
 * is the record's, whichever pointer made the access.
 *
 * Without a data address, a function that was handed a part of a record touches
 * what the call on the sample's stack had (attribution_chain.c); else what all its
 * callers had, or what nearly all calls in this profile can have had
 * (attribution_callers.c).
 *
 * Every sample has exactly one outcome; the counts add up to the samples read.
 */
#ifndef LM_PROFILES_ATTRIBUTION_H
#define LM_PROFILES_ATTRIBUTION_H

#include "profiles/access.h"
#include "profiles/debuginfo.h"
#include "profiles/sample.h"

/*	name		word in JSON	what the report says */
#define LM_OUTCOMES(X) \
	X(FIELD, "instruction", "by its instruction: base register, type and displacement") \
	X(OBJECT, "address", "by its data address: inside an object of the record") \
	X(CHAIN, "call-chain", "by its call chain: the call on the stack hands this member to its function") \
	X(CALLERS, "callers", "by its callers: all of them hand this member to its function") \
	X(LIKELY, "likely-callers", "by its callers: 99 of 100 calls or more hand this member over, as their samples show") \
	X(PART, "part", "to a type that lies in the record, too: in which object is not known") \
	X(ELSEWHERE, "elsewhere", "to another record or variable") \
	X(NO_FUNCTION, "no-function", "address is in no function of this binary") \
	X(NO_CODE, "no-code", "no code can be read at the address") \
	X(NO_MEMORY, "no-memory-operand", "instruction has no memory operand (skid, or no access)") \
	X(NO_TYPE, "no-type", "no type is known for the base register") \
	X(OUTSIDE, "outside", "offset is outside the type")

enum lm_outcome {
#define X(name, word, text) LM_OUTCOME_##name,
	LM_OUTCOMES(X)
#undef X
	LM_NR_OUTCOMES
};

struct lm_attribution {
	uint64_t samples;		/* used by readers: the sum of counts */
	uint64_t count[LM_NR_OUTCOMES];	/* sums to samples */
	uint64_t objects;		/* objects of the record that were found or given */
	uint64_t slide;			/* runtime kernel address - address in the file; of a module: where its text lay */
};

struct lm_attribution_opts {
	const char *record;		/* tag or typedef name */
	const uint64_t *objects;	/* given by the person; may be none */
	size_t nr_objects;
	bool force;			/* use a profile of another build: evidence is downgraded */
	bool open_elements;		/* leave open which element an index means: rows name the array */
	uint64_t **bases;		/* not NULL: gets where the objects lie, rising; from malloc, as many as ret->objects */
};

/*
 * Attributes every sample; adds those of the record to out (member paths from
 * the debug info, dotted; array elements as name[i]).  Borrows bin and samples.
 *
 * LM_ERR_INPUT: the binary has no such record; the profile's build id for this
 * file differs (names both ids) and force is not set.
 */
struct lm_err *lm_attribute(struct lm_debuginfo *bin, struct lm_samples *samples,
			    const struct lm_attribution_opts *opts, struct lm_accesses *out,
			    struct lm_attribution *ret) LM_MUST_CHECK;

/* One record that samples touched. */
struct lm_attributed {
	const char *name;		/* owned by the debug info */
	uint32_t type;			/* for debuginfo_code.h */
	uint64_t size;
	struct lm_accesses accesses;	/* rows by offset in the whole record, sorted */
	uint64_t objects;		/* that were found */
	uint32_t alignment;		/* of all their bases, up to a page; 0: none was found */
};

struct lm_attributed_all {
	struct lm_attributed *items;	/* by name and size */
	size_t nr;
	struct lm_attribution outcomes;	/* of all samples; objects is the sum */
};

/*
 * The same for every record of the debug info at once.  An access counts for
 * the outermost record that its instruction is sure of, and for every record of
 * which an object lies at its data address: one inside another has it, too.
 * ret is for lm_attributed_release(), in any case.
 */
struct lm_err *lm_attribute_all(struct lm_debuginfo *bin, struct lm_samples *samples, bool force,
				struct lm_attributed_all *ret) LM_MUST_CHECK;
void lm_attributed_release(struct lm_attributed_all *all);

/* Static; do not free. */
const char *lm_outcome_text(enum lm_outcome outcome);	/* the sentence */
const char *lm_outcome_word(enum lm_outcome outcome);

#endif
