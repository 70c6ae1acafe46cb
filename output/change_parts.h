/* change_parts.h - what the files of change.h share, and nobody else needs. */
#ifndef LM_OUTPUT_CHANGE_PARTS_H
#define LM_OUTPUT_CHANGE_PARTS_H

#include "output/change.h"

/* Bytes; UINT64_MAX for a field that is not there. */
static inline uint64_t lm_change_offset(const struct lm_record *rec, uint32_t field)
{
	return field == LM_NONE ? UINT64_MAX : rec->fields[field].bit_offset / 8;
}

/* Fills came and went; both versions are joined (change_pairs.c). */
void lm_change_pairs(struct lm_change *c, const struct lm_change_opts *opts, struct lm_arena *arena);

#endif
