/* path.h - member paths: "memory.usage", "cgwb_frn[2].done", "memory_events[8]". */
#ifndef LM_OPTIMIZER_PATH_H
#define LM_OPTIMIZER_PATH_H

#include "optimizer/record.h"

/* A flexible array is followed this far, in bytes: beyond it lies another object. */
#define LM_FLEXIBLE_REACH (1u << 20)

/* A place in a record: a byte of a field, and the leaf it lies in. */
struct lm_place {
	uint32_t field;
	uint32_t leaf;		/* LM_NONE: padding, or a leaf of an array too large to list */
	uint64_t offset;	/* bytes inside the field */
};

enum lm_path_result {
	LM_PATH_OK,
	LM_PATH_NO_MEMBER,
	LM_PATH_OUTSIDE,	/* offset behind the member's end, or in padding */
};

/*
 * Where `offset` bytes behind the start of member `path` lie.  path may stop at
 * any level (a nested record), go on below a leaf ("usage.counter" where usage
 * is a scalar here) or index an array; LM_WHOLE_RECORD is the record itself.
 */
enum lm_path_result lm_path_find(const struct lm_record *rec, const char *path, uint64_t offset,
				 struct lm_place *ret);

/*
 * The bytes that `path` names, as far as they lie in one field: a member, a
 * level inside it with everything below, a leaf, or one element of an array.
 * Bytes from the field's start; of a bit-field, those it reaches into.  False
 * if there is no such member.
 */
bool lm_path_extent(const struct lm_record *rec, const char *path, uint32_t *field, uint64_t *begin, uint64_t *end);

/* The leaf with exactly this path, or LM_NONE. */
uint32_t lm_path_leaf(const struct lm_record *rec, const char *path);

/* The leaf of `field` that holds byte `offset`; of a union the one whose path starts with `hint` (may be ""). */
uint32_t lm_path_leaf_at(const struct lm_record *rec, uint32_t field, uint64_t offset, const char *hint);

#endif
