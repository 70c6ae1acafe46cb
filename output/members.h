/*
 * members.h - the members of a record as planned, as libclang and as debug info
 * have them, in one dress, so that they can be compared.
 */
#ifndef LM_OUTPUT_MEMBERS_H
#define LM_OUTPUT_MEMBERS_H

#include "output/verify.h"
#include "profiles/debuginfo.h"

struct lm_member {
	const char *name, *key, *type;	/* type is NULL in debug info */
	uint64_t bit_offset, size;
	uint32_t bits;
};

struct lm_members {
	struct lm_member *items;
	size_t nr;
	uint64_t size;
	uint32_t align;		/* 0: not known */
};

/* View v's members in the planned order at the planned places. */
struct lm_members lm_members_planned(const struct lm_verify_request *req, uint32_t v, struct lm_arena *arena);

struct lm_members lm_members_of_record(const struct lm_record *rec, struct lm_arena *arena);
struct lm_members lm_members_of_debuginfo(const struct lm_dbg_record *rec, struct lm_arena *arena);

/* Without unnamed bit-fields, which debug info does not mention. */
struct lm_members lm_members_named(struct lm_members all, struct lm_arena *arena);

/* Padding macros that were added make members without bytes: how many are there in view v? */
size_t lm_members_barriers(const struct lm_verify_request *req, uint32_t v);

/* The first difference in words, NULL if there is none.  `spare` members without bytes may be extra in got. */
const char *lm_members_difference(const struct lm_members *want, const struct lm_members *got, size_t spare,
				  struct lm_arena *arena);

#endif
