/*
 * reason.h - why a member stands where the patch leaves it, as one sentence for
 * a comment beside it: "Read often: keep away from memory_events_local, which
 * is written."
 *
 * Members are named, never functions, offsets or lines: those change sooner
 * than the comment would, and in another configuration they are others.
 */
#ifndef LM_OUTPUT_REASON_H
#define LM_OUTPUT_REASON_H

#include "output/report.h"

/*
 * A sentence for each unit [nr_units of the body] that bears one, NULL for the
 * others.  Of every pair that the plan parts and that costs more than a small
 * share of the worst, one unit tells the reason: the moved one, or if neither
 * or both moved, the one that is read.  Neighbours in the new order with the
 * same reason share the sentence of the first.  story needs subject, usage, plan and
 * opts; all in arena.
 */
const char **lm_reasons_make(const struct lm_story *story, struct lm_arena *arena);

#endif
