/*
 * derive.h - the configurations that matter, found from the guards inside the
 * record and the records nested in it (--configs auto).
 *
 * Each option that a guard tests is seen on and off, and each two of them in all
 * four combinations, on top of base and of what was asked for; what does not
 * compile is left out and told.
 */
#ifndef LM_OPTIMIZER_DERIVE_H
#define LM_OPTIMIZER_DERIVE_H

#include "base/arena.h"
#include "base/err.h"
#include "optimizer/cover.h"
#include "optimizer/source.h"

/* A macro that turns members on and off, and that flags can set. */
struct lm_switch {
	const char *name;
	const char *base;	/* its value in base; NULL: not defined, "m": as a module */
	const char *record, *path;	/* the first guard that tests it; paths: relative to configs->root inside it */
	uint32_t line;
	bool elsewhere;		/* other code of the unit tests it, too */
	bool turned;		/* some configuration has it the other way */
};

/* A combination that does not compile, although all that it is made of does. */
struct lm_left_out {
	const char *items;	/* "+CONFIG_A,-CONFIG_B" */
	const char *why;	/* the first error, without a full stop */
};

struct lm_derived {
	struct lm_switch *switches;
	size_t nr_switches;
	struct lm_tested *fixed;	/* tested, but nothing switches it */
	size_t nr_fixed;
	struct lm_left_out *left_out;
	size_t nr_left_out;
	struct lm_cover_pair *lost;	/* of switches (0 as in base, 1 turned): in no configuration */
	size_t nr_lost;
	size_t nr_records;	/* whose text was read for guards */
	size_t nr_derived;	/* configurations added */
	size_t nr_same_text;	/* combinations that see the same text as one that was parsed, and were not parsed */
	size_t nr_spare;	/* parsed to learn what compiles together; left out, since they show no pair that others do not */
	size_t nr_same_layout;	/* parsed, but with the same members at the same places as an earlier one: left out */
	size_t nr_parsed;	/* units parsed, base and given configurations among them */
};

/*
 * Parses the configurations of req and those derived from them.  configs (which
 * req points to) grows; *sources becomes one for each, to be released by the
 * caller; both arrays, and *out, are in arena.  req->want_guards is set by it.
 * With want_bodies, function bodies count for what compiles, if those of base do.
 *
 * Errors as lm_source_parse_all(), for the configurations that were given.
 */
struct lm_err *lm_derive(struct lm_source_request *req, struct lm_configs *configs, struct lm_arena *arena,
			 struct lm_source **sources, struct lm_derived *out) LM_MUST_CHECK;

#endif
