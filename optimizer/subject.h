/*
 * subject.h - the thing to be laid out: one body of text, seen in every
 * configuration.  The meeting point of body.c (units) and source.c (fields).
 */
#ifndef LM_OPTIMIZER_SUBJECT_H
#define LM_OPTIMIZER_SUBJECT_H

#include "optimizer/body.h"
#include "optimizer/source.h"

/* One configuration's view.  A unit's fields are adjacent in the record. */
struct lm_view {
	const char *config;		/* its name */
	const struct lm_record *rec;
	uint32_t *field_unit;		/* [nr_fields] */
	uint32_t *first_field;		/* [nr_units]; LM_NONE where the unit is absent */
	uint32_t *nr_fields;		/* [nr_units]; 0 where absent */
};

struct lm_subject {
	const struct lm_body *body;
	struct lm_view *views;		/* [nr_views]; [0] is base */
	uint32_t nr_views;
};

/*
 * Reads the body once and binds every field of every configuration to its
 * unit.  LM_ERR_REFUSED where a field comes from no text of the body (an
 * #include inside it), or the braces differ between configurations.
 */
struct lm_err *lm_subject_make(const char *path, const char *text, size_t len, const struct lm_source *sources,
			       size_t nr, struct lm_arena *arena, struct lm_body *body,
			       struct lm_subject *out) LM_MUST_CHECK;

/*
 * An order: a permutation of all units (also those absent in some views) plus
 * barriers.  barrier[i] != 0: the unit at position i starts a line.
 */
struct lm_order {
	uint32_t *units;		/* [nr_units] */
	uint8_t *barrier;		/* [nr_units], by position */
};

struct lm_order lm_order_identity(const struct lm_subject *s, struct lm_arena *arena);
struct lm_order lm_order_copy(const struct lm_subject *s, const struct lm_order *o, struct lm_arena *arena);

#endif
