/* same_record.h - do two configurations show the same record? */
#ifndef LM_OPTIMIZER_SAME_RECORD_H
#define LM_OPTIMIZER_SAME_RECORD_H

#include "optimizer/source.h"

/*
 * True if the same text makes the same members, of the same sizes and
 * alignments, at the same places, and what starts a line does so in both: then
 * every order of units has one layout for both.
 */
bool lm_same_record(const struct lm_source *a, const struct lm_source *b);

#endif
