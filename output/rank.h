/*
 * rank.h - which records of a program are worth a look: what each one's
 * accesses cost, and how much of that another order of its members could save.
 *
 * A record is priced as it lies in the program, from the debug info alone: no
 * header is parsed, so nothing is known of what may move.
 */
#ifndef LM_OUTPUT_RANK_H
#define LM_OUTPUT_RANK_H

#include "base/arena.h"
#include "base/str.h"
#include "profiles/attribution.h"

struct lm_rank_row {
	const char *name;		/* tag or typedef name */
	uint64_t size;
	uint64_t accesses;		/* samples that touched it */
	uint64_t objects;		/* that were told apart; 0: all were taken as one */
	double transfers;		/* expected, of its accesses */
	double removable;		/* these less the bound of the packing problem: no layout as large removes more */
	double worst;			/* of the worst pair of line mates; 0: there is none */
	const char *a, *b;		/* that pair; a is written more */
	uint64_t line;			/* the one they share */
};

struct lm_rank {
	struct lm_rank_row *rows;	/* most removable first */
	size_t nr;
	uint32_t line;
	struct lm_attribution outcomes;
};

/* Prices every record.  cpus: as lm_join().  Everything lives in arena, names in bin. */
struct lm_err *lm_rank_make(struct lm_debuginfo *bin, struct lm_attributed_all *all, uint32_t line, uint32_t cpus,
			    struct lm_arena *arena, struct lm_rank *out) LM_MUST_CHECK;

/* top: rows at most; 0: all.  Records without transfers are counted, not listed, unless top is 0. */
void lm_rank_text(const struct lm_rank *r, size_t top, struct lm_str *out);
void lm_rank_json(const struct lm_rank *r, struct lm_str *out);

#endif
