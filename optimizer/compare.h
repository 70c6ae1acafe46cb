/*
 * compare.h - two versions of a record in one configuration: what lies where
 * now, and beside whom.  Pure.
 *
 * Members are known by their key.  One that is gone, with another in its place
 * (same offset, same size) that was not there before, counts as renamed.
 * Unnamed bit-fields are no members.
 */
#ifndef LM_OPTIMIZER_COMPARE_H
#define LM_OPTIMIZER_COMPARE_H

#include "base/arena.h"
#include "optimizer/record.h"

enum lm_fate {
	LM_FATE_STAYS,		/* same offset */
	LM_FATE_SHIFTED,	/* other offset, same place in the order */
	LM_FATE_MOVED,		/* other place in the order: the smallest set of members that explains the new one */
	LM_FATE_ADDED,
	LM_FATE_REMOVED,
};

struct lm_compared {
	const char *name;
	const char *was;	/* its name before, if it was renamed; else NULL */
	enum lm_fate fate;
	uint32_t before, after;	/* index of its field; LM_NONE where it is absent */
	bool resized;		/* other size, or other alignment */
};

/* Two members that share a line in one version and not in the other; indexes of lm_comparison.members, a < b. */
struct lm_mates {
	uint32_t a, b;
};

struct lm_comparison {
	const struct lm_record *before, *after;
	struct lm_compared *members;	/* in the new order; those that are gone behind them, in the old order */
	uint32_t nr_members;
	struct lm_mates *came, *went;	/* by a, then b; lines as if the object starts on one */
	uint32_t nr_came, nr_went;
	bool changed;			/* size, alignment, or any byte's meaning; names alone do not count */
	bool renamed;			/* some member or leaf has another name */
};

/* line: bytes of a cache line.  Everything lives in arena. */
void lm_compare(const struct lm_record *before, const struct lm_record *after, uint32_t line, struct lm_arena *arena,
		struct lm_comparison *out);

/*
 * Do two member paths (as profiles write them: "memory", "stock.lock",
 * "events[8]") share a line?  *at (may be NULL) is the first they share.
 * *known (may be NULL): the record has both.
 */
bool lm_paths_meet(const struct lm_record *rec, const char *a, const char *b, uint32_t line, uint64_t *at, bool *known);

/* First and last line of a field's bytes; an array without elements lies where its first element would. */
void lm_field_lines(const struct lm_field *f, uint32_t line, uint64_t *first, uint64_t *last);

#endif
