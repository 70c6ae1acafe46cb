/* subject.c - one body of text, seen in every configuration. */
#include "optimizer/subject.h"

#include <string.h>

static struct lm_err *check_braces(const char *path, const struct lm_source *sources, size_t nr)
{
	const struct lm_record *base = &sources[0].record;

	for (size_t i = 1; i < nr; i++) {
		const struct lm_record *rec = &sources[i].record;

		if (rec->open != base->open || rec->close != base->close)
			return lm_err_new(LM_ERR_REFUSED,
					  "%s:%u: configuration %s takes another definition of %s (line %u) than %s "
					  "does; plan them one at a time.", path, base->line, sources[i].config->name,
					  base->name, rec->line, sources[0].config->name);
	}
	return NULL;
}

static struct lm_extent *collect_extents(const struct lm_source *sources, size_t nr, struct lm_arena *arena,
					 size_t *nr_extents)
{
	size_t total = 0;

	for (size_t i = 0; i < nr; i++)
		total += sources[i].record.nr_fields;

	struct lm_extent *all = LM_ARENA_ARRAY(arena, struct lm_extent, total + 1);

	*nr_extents = 0;
	for (size_t i = 0; i < nr; i++) {
		const struct lm_record *rec = &sources[i].record;

		for (uint32_t f = 0; f < rec->nr_fields; f++)
			if (rec->fields[f].in_header)
				all[(*nr_extents)++] = (struct lm_extent){
					.begin = rec->fields[f].begin,
					.end = rec->fields[f].end,
					.bit_field = rec->fields[f].bits != LM_NOT_BITS,
				};
	}
	return all;
}

static const char *field_text(const struct lm_field *f)
{
	return f->key && *f->key ? f->key : f->name && *f->name ? f->name : "an unnamed member";
}

/* The unit of one field, which must not lie before the unit of the field before it. */
static struct lm_err *bind_field(const char *path, const struct lm_body *body, const struct lm_view *v, uint32_t f,
				 uint32_t *unit)
{
	const struct lm_field *field = &v->rec->fields[f];
	uint32_t u;

	if (!field->in_header || field->begin < body->begin || field->begin >= body->end)
		return lm_err_new(LM_ERR_REFUSED,
				  "%s:%u: %s of %s comes from outside the braces (an #include or a macro); "
				  "only members written in the header itself can be moved.", path, v->rec->line,
				  field_text(field), v->rec->name);
	u = lm_body_unit_at(body, field->begin);
	if (u == LM_NONE)
		return lm_err_new(LM_ERR_BUG, "%s:%u: %s of %s belongs to no unit of the text (configuration %s).",
				  path, v->rec->line, field_text(field), v->rec->name, v->config);
	if (f && u < v->field_unit[f - 1])
		return lm_err_new(LM_ERR_BUG, "%s:%u: %s of %s is not where the text has it (configuration %s).", path,
				  body->units[u].line, field_text(field), v->rec->name, v->config);
	*unit = u;
	return NULL;
}

static struct lm_err *make_view(const char *path, const struct lm_body *body, const struct lm_source *src,
				struct lm_arena *arena, struct lm_view *v)
{
	v->config = src->config->name;
	v->rec = &src->record;
	v->field_unit = LM_ARENA_ARRAY(arena, uint32_t, v->rec->nr_fields + 1u);
	v->first_field = LM_ARENA_ARRAY(arena, uint32_t, body->nr_units + 1u);
	v->nr_fields = LM_ARENA_ARRAY(arena, uint32_t, body->nr_units + 1u);
	for (uint32_t u = 0; u < body->nr_units; u++)
		v->first_field[u] = LM_NONE;
	for (uint32_t f = 0; f < v->rec->nr_fields; f++) {
		uint32_t u = LM_NONE;
		struct lm_err *err = bind_field(path, body, v, f, &u);

		if (err)
			return err;
		v->field_unit[f] = u;
		if (v->first_field[u] == LM_NONE)
			v->first_field[u] = f;
		v->nr_fields[u]++;
	}
	return NULL;
}

/* The key of the unit's first named field in the first view that has one. */
static const char *unit_key(const struct lm_subject *s, uint32_t u)
{
	for (uint32_t i = 0; i < s->nr_views; i++) {
		const struct lm_view *v = &s->views[i];

		for (uint32_t k = 0; k < v->nr_fields[u]; k++) {
			const char *key = v->rec->fields[v->first_field[u] + k].key;

			if (key && *key)
				return key;
		}
	}
	return NULL;
}

static bool name_taken(const struct lm_body *body, uint32_t u, const char *name)
{
	for (uint32_t i = 0; i < body->nr_units; i++)
		if (i != u && !strcmp(body->units[i].name, name))
			return true;
	return false;
}

/* clang's names are better than those read off the text: take them where they stay unique. */
static void name_units(const struct lm_subject *s, struct lm_body *body, struct lm_arena *arena)
{
	for (uint32_t u = 0; u < body->nr_units; u++) {
		const char *key = unit_key(s, u);

		if (key && !name_taken(body, u, key))
			body->units[u].name = lm_arena_strdup(arena, key);
	}
}

struct lm_err *lm_subject_make(const char *path, const char *text, size_t len, const struct lm_source *sources,
			       size_t nr, struct lm_arena *arena, struct lm_body *body, struct lm_subject *out)
{
	const struct lm_record *base = &sources[0].record;
	size_t nr_extents = 0;
	struct lm_body made;
	struct lm_err *err = check_braces(path, sources, nr);

	if (err)
		return err;

	struct lm_extent *extents = collect_extents(sources, nr, arena, &nr_extents);
	struct lm_subject s = { .body = body, .views = LM_ARENA_ARRAY(arena, struct lm_view, nr),
				.nr_views = (uint32_t)nr };

	err = lm_body_read(path, text, len, base->open, base->close, extents, nr_extents, arena, &made);
	for (size_t i = 0; !err && i < nr; i++)
		err = make_view(path, &made, &sources[i], arena, &s.views[i]);
	if (err)
		return err;
	name_units(&s, &made, arena);
	*body = made;
	*out = s;
	return NULL;
}

struct lm_order lm_order_identity(const struct lm_subject *s, struct lm_arena *arena)
{
	struct lm_order o = { .units = LM_ARENA_ARRAY(arena, uint32_t, s->body->nr_units + 1u),
			      .barrier = LM_ARENA_ARRAY(arena, uint8_t, s->body->nr_units + 1u) };

	for (uint32_t u = 0; u < s->body->nr_units; u++)
		o.units[u] = u;
	return o;
}

struct lm_order lm_order_copy(const struct lm_subject *s, const struct lm_order *o, struct lm_arena *arena)
{
	struct lm_order copy = lm_order_identity(s, arena);

	memcpy(copy.units, o->units, s->body->nr_units * sizeof(*copy.units));
	memcpy(copy.barrier, o->barrier, s->body->nr_units * sizeof(*copy.barrier));
	return copy;
}
