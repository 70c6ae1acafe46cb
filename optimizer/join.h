/*
 * join.h - accesses meet the record: which field of which configuration does
 * each row of the access table touch?
 *
 * A member path is resolved in the base configuration down to a leaf; other
 * configurations are then reached by leaf path and offset inside the leaf, so
 * a profile of one configuration serves another whose offsets differ.
 */
#ifndef LM_OPTIMIZER_JOIN_H
#define LM_OPTIMIZER_JOIN_H

#include "base/arena.h"
#include "base/err.h"
#include "optimizer/path.h"
#include "optimizer/subject.h"
#include "profiles/access.h"
#include "profiles/debuginfo.h"

/* One access in one view: bytes [offset, offset + size) of a field. */
struct lm_touch {
	uint32_t site;		/* id in lm_usage.sites */
	uint32_t cpu;		/* 0 .. nr_cpus - 1: index into lm_usage.cpu_ids */
	uint32_t object;
	uint32_t field;		/* of the view's record */
	uint32_t leaf;		/* of the view's record, or LM_NONE (padding, element of a union) */
	uint64_t offset;	/* bytes inside the field */
	uint32_t size;
	double reads, writes;	/* an atomic RMW counts in both */
};

/* Accesses joined to every view. */
struct lm_usage {
	const char **sites;	/* function names */
	uint32_t nr_sites;
	int32_t *cpu_ids;	/* [nr_cpus] the machine's CPU numbers, rising; 0, 1, ... if assumed */
	uint32_t nr_cpus;
	bool cpus_assumed;	/* rows had no CPU: rates were split evenly over nr_cpus */
	uint32_t nr_objects;
	struct lm_touch **touches;	/* [nr_views] */
	size_t *nr_touches;		/* [nr_views] */
	uint64_t total;		/* accesses (reads + writes) of all rows in the base view */
	uint64_t absent;	/* accesses to members that base does not have but another view has */
	const struct lm_accesses *accesses; /* borrowed: evidence, drops */
	enum lm_evidence worst;	/* weakest evidence class among rows that count */
};

/*
 * Joins t to the subject.  Rows that fit no view are counted in t->drops
 * (NO_MEMBER, OUTSIDE) with used lowered.  cpus: number to split unknown CPUs
 * over; 0 = as many as the profile names, at least 4.
 *
 * LM_ERR_INPUT: not one row fits ("the profile is of another record": names
 * the first member that does not fit), or t->record names another record.
 */
struct lm_err *lm_join(const struct lm_subject *s, struct lm_accesses *t, const char *record, uint32_t cpus,
		       struct lm_arena *arena, struct lm_usage *out) LM_MUST_CHECK;

/*
 * Rewrites the rows of t that know only their offset in the whole record
 * (LM_WHOLE_RECORD) to leaf path and offset inside the leaf, by the base view.
 * An offset in padding becomes the drop OUTSIDE.
 */
void lm_join_name_rows(const struct lm_subject *s, struct lm_accesses *t);

/*
 * The place in `to`, another configuration or version of the record, of what
 * lies at a byte of `from`; false: `from` has only padding there, or `to` has
 * no such member.
 */
bool lm_join_place(const struct lm_record *from, uint64_t offset, const struct lm_record *to, struct lm_place *ret);

/*
 * Is the record of the source (base view) the record of the program?  NULL if
 * so; LM_ERR_INPUT naming the first difference (member, offset or size) if
 * not.  Members are compared by name and bit offset, sizes by bytes.
 */
struct lm_err *lm_join_binary(const struct lm_view *view, const struct lm_dbg_record *rec,
			      const char *binary) LM_MUST_CHECK;

#endif
