/*
 * shrink.h - the one move that gives cache lines back.
 *
 * A member that spills over the end of its group costs a whole line of padding.
 * Where no order saves transfers, a record that needs fewer lines and no more
 * transfers is still a better one.
 */
#ifndef LM_OPTIMIZER_SHRINK_H
#define LM_OPTIMIZER_SHRINK_H

#include "optimizer/plan.h"

/*
 * The best single move of a block that takes lines off the base configuration,
 * grows none, and costs no more transfers, neither as it stands nor under
 * change.  Unlike others it may pass a padding fence: the padding stays, and
 * what it parts still starts a line, and is not nothing.  Most bytes first, then fewest transfers
 * and fewest members on other lines, then the shortest way.  False if there is none, or time is over.
 */
bool lm_shrink_find(const struct lm_subject *s, const struct lm_rules *r, const struct lm_usage *u,
		    const struct lm_plan_opts *opts, double until, struct lm_arena *arena, struct lm_curve_point *out);

#endif
