/* same_record.c - two records compared, in all that a layout or a report is made of. */
#include "optimizer/same_record.h"

#include <string.h>

static bool same_text(const char *a, const char *b)
{
	return !a || !b ? a == b : !strcmp(a, b);
}

static bool same_field(const struct lm_field *a, const struct lm_field *b)
{
	return same_text(a->name, b->name) && same_text(a->key, b->key) && same_text(a->type, b->type) &&
	       a->size == b->size && a->elem_size == b->elem_size && a->type_align == b->type_align &&
	       a->attr_align == b->attr_align && a->bits == b->bits && a->packed == b->packed && a->begin == b->begin &&
	       a->end == b->end && a->in_header == b->in_header && a->bit_offset == b->bit_offset &&
	       a->nr_leaves == b->nr_leaves;
}

static bool same_leaf(const struct lm_leaf *a, const struct lm_leaf *b)
{
	return same_text(a->path, b->path) && a->offset == b->offset && a->size == b->size &&
	       a->elem_size == b->elem_size && a->field == b->field;
}

/* What the code of a configuration forbids. */
static bool same_hazards(const struct lm_source *a, const struct lm_source *b)
{
	if (a->nr_hazards != b->nr_hazards)
		return false;
	for (size_t i = 0; i < a->nr_hazards; i++)
		if (a->hazards[i].kind != b->hazards[i].kind || !same_text(a->hazards[i].member, b->hazards[i].member))
			return false;
	return true;
}

bool lm_same_record(const struct lm_source *a, const struct lm_source *b)
{
	const struct lm_record *r = &a->record, *s = &b->record;

	if (r->size != s->size || r->align != s->align || r->attr_align != s->attr_align || r->packed != s->packed ||
	    r->pack != s->pack || r->randomized != s->randomized || r->open != s->open || r->close != s->close ||
	    r->nr_fields != s->nr_fields || r->nr_leaves != s->nr_leaves || a->line_size != b->line_size ||
	    !same_text(a->barrier, b->barrier) || !same_text(a->barrier_attr, b->barrier_attr) ||
	    !same_text(a->barrier_text, b->barrier_text) || !same_hazards(a, b))
		return false;
	for (uint32_t i = 0; i < r->nr_fields; i++)
		if (!same_field(&r->fields[i], &s->fields[i]))
			return false;
	for (uint32_t i = 0; i < r->nr_leaves; i++)
		if (!same_leaf(&r->leaves[i], &s->leaves[i]))
			return false;
	return true;
}
