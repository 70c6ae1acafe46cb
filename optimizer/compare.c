/* compare.c - two versions of a record in one configuration. */
#include "optimizer/compare.h"

#include "optimizer/path.h"

#include <string.h>

void lm_field_lines(const struct lm_field *f, uint32_t line, uint64_t *first, uint64_t *last)
{
	uint64_t begin = f->bit_offset / 8, end;

	if (f->bits != LM_NOT_BITS)
		end = (f->bit_offset + f->bits + 7) / 8;
	else
		end = begin + (f->size ? f->size : f->elem_size);
	*first = begin / line;
	*last = (end > begin ? end - 1 : begin) / line;
}

/* ---- who is who ---- */

static uint32_t find_key(const struct lm_record *rec, const char *key)
{
	for (uint32_t f = 0; f < rec->nr_fields; f++)
		if (!strcmp(rec->fields[f].key, key))
			return f;
	return LM_NONE;
}

static bool same_place(const struct lm_field *a, const struct lm_field *b)
{
	return a->bit_offset == b->bit_offset && a->size == b->size && a->bits == b->bits && a->flexible == b->flexible;
}

/* A field that is gone and lay exactly where the new field f lies. */
static uint32_t find_renamed(const struct lm_record *before, const struct lm_record *after, uint32_t f)
{
	for (uint32_t i = 0; i < before->nr_fields; i++)
		if (before->fields[i].key[0] && same_place(&before->fields[i], &after->fields[f]) &&
		    find_key(after, before->fields[i].key) == LM_NONE)
			return i;
	return LM_NONE;
}

static bool is_known_before(const struct lm_comparison *c, uint32_t field)
{
	for (uint32_t i = 0; i < c->nr_members; i++)
		if (c->members[i].before == field)
			return true;
	return false;
}

static void match_members(struct lm_comparison *c, struct lm_arena *arena)
{
	const struct lm_record *before = c->before, *after = c->after;

	c->members = LM_ARENA_ARRAY(arena, struct lm_compared, (size_t)before->nr_fields + after->nr_fields + 1);
	for (uint32_t f = 0; f < after->nr_fields; f++) {
		struct lm_compared m = { .name = after->fields[f].key, .after = f };

		if (!*m.name)
			continue;
		m.before = find_key(before, m.name);
		if (m.before == LM_NONE) {
			m.before = find_renamed(before, after, f);
			m.was = m.before == LM_NONE ? NULL : before->fields[m.before].key;
		}
		m.fate = m.before == LM_NONE ? LM_FATE_ADDED : LM_FATE_STAYS;
		c->renamed |= m.was != NULL;
		c->members[c->nr_members++] = m;
	}
	for (uint32_t f = 0; f < before->nr_fields; f++)
		if (before->fields[f].key[0] && !is_known_before(c, f))
			c->members[c->nr_members++] = (struct lm_compared){
				.name = before->fields[f].key, .fate = LM_FATE_REMOVED, .before = f, .after = LM_NONE,
			};
}

/* ---- who moved, who was shifted ---- */

/* Marks all as moved but a longest set that keeps its order: then it is the smallest set that moved. */
static void mark_moved(struct lm_comparison *c, struct lm_arena *arena)
{
	uint32_t *length = LM_ARENA_ARRAY(arena, uint32_t, c->nr_members + 1u);
	uint32_t *link = LM_ARENA_ARRAY(arena, uint32_t, c->nr_members + 1u), last = LM_NONE;

	for (uint32_t i = 0; i < c->nr_members; i++) {
		struct lm_compared *m = &c->members[i];

		if (m->before == LM_NONE || m->after == LM_NONE)
			continue;
		length[i] = 1;
		link[i] = LM_NONE;
		for (uint32_t k = 0; k < i; k++)
			if (length[k] && c->members[k].before < m->before && length[k] + 1 > length[i]) {
				length[i] = length[k] + 1;
				link[i] = k;
			}
		if (last == LM_NONE || length[i] > length[last])
			last = i;
		m->fate = LM_FATE_MOVED;
	}
	for (; last != LM_NONE; last = link[last])
		c->members[last].fate = LM_FATE_STAYS;
}

static void mark_changes(struct lm_comparison *c)
{
	for (uint32_t i = 0; i < c->nr_members; i++) {
		struct lm_compared *m = &c->members[i];
		const struct lm_field *b, *a;

		if (m->before == LM_NONE || m->after == LM_NONE)
			continue;
		b = &c->before->fields[m->before];
		a = &c->after->fields[m->after];
		m->resized = a->size != b->size || a->bits != b->bits || a->type_align != b->type_align ||
			     a->attr_align != b->attr_align;
		if (m->fate == LM_FATE_STAYS && a->bit_offset != b->bit_offset)
			m->fate = LM_FATE_SHIFTED;
	}
}

/* ---- does it matter? ---- */

/* The leaves of a field in both versions: other places, or a known name elsewhere. */
static bool leaves_differ(struct lm_comparison *c, const struct lm_field *b, const struct lm_field *a)
{
	if (b->nr_leaves != a->nr_leaves)
		return true;
	for (uint32_t i = 0; i < a->nr_leaves; i++) {
		const struct lm_leaf *x = &c->before->leaves[b->first_leaf + i];
		const struct lm_leaf *y = &c->after->leaves[a->first_leaf + i];

		if (x->offset != y->offset || x->size != y->size)
			return true;
		if (!strcmp(x->path, y->path))
			continue;
		c->renamed = true;
		for (uint32_t k = 0; k < a->nr_leaves; k++)
			if (!strcmp(x->path, c->after->leaves[a->first_leaf + k].path))
				return true;
	}
	return false;
}

static bool differs(struct lm_comparison *c)
{
	bool changed = c->before->size != c->after->size || c->before->align != c->after->align;

	for (uint32_t i = 0; i < c->nr_members; i++) {
		const struct lm_compared *m = &c->members[i];

		changed |= m->fate != LM_FATE_STAYS || m->resized;
		if (m->before != LM_NONE && m->after != LM_NONE)
			changed |= leaves_differ(c, &c->before->fields[m->before], &c->after->fields[m->after]);
	}
	return changed;
}

/* ---- line mates ---- */

static bool on_one_line(const struct lm_record *rec, uint32_t f, uint32_t g, uint32_t line)
{
	uint64_t first_f, last_f, first_g, last_g;

	if (f == LM_NONE || g == LM_NONE)
		return false;
	lm_field_lines(&rec->fields[f], line, &first_f, &last_f);
	lm_field_lines(&rec->fields[g], line, &first_g, &last_g);
	return first_f <= last_g && first_g <= last_f;
}

static void find_mates(struct lm_comparison *c, uint32_t line, struct lm_arena *arena)
{
	size_t nr_came = 0, nr_went = 0, cap_came = 0, cap_went = 0;

	for (uint32_t i = 0; i < c->nr_members; i++)
		for (uint32_t k = i + 1; k < c->nr_members; k++) {
			const struct lm_compared *a = &c->members[i], *b = &c->members[k];
			bool before = on_one_line(c->before, a->before, b->before, line);
			bool after = on_one_line(c->after, a->after, b->after, line);

			if (after && !before)
				*LM_ARENA_PUSH(arena, c->came, nr_came, cap_came) = (struct lm_mates){ i, k };
			if (before && !after)
				*LM_ARENA_PUSH(arena, c->went, nr_went, cap_went) = (struct lm_mates){ i, k };
		}
	c->nr_came = (uint32_t)nr_came;
	c->nr_went = (uint32_t)nr_went;
}

void lm_compare(const struct lm_record *before, const struct lm_record *after, uint32_t line, struct lm_arena *arena,
		struct lm_comparison *out)
{
	struct lm_comparison c = { .before = before, .after = after };

	match_members(&c, arena);
	mark_moved(&c, arena);
	mark_changes(&c);
	c.changed = differs(&c);
	find_mates(&c, line, arena);
	*out = c;
}

/* ---- two paths ---- */

/* The bytes of what path names: a member, a level inside it, a leaf or one element.  False if there is no such thing. */
static bool path_bytes(const struct lm_record *rec, const char *path, uint64_t *begin, uint64_t *end)
{
	size_t len = strlen(path);
	const struct lm_field *f;
	struct lm_place place;
	bool whole;

	if (lm_path_find(rec, path, 0, &place) != LM_PATH_OK)
		return false;
	f = &rec->fields[place.field];
	*begin = place.offset;
	*end = 0;
	whole = !strcmp(f->key, path) && !f->anonymous;
	if (whole)
		*end = f->size;
	for (uint32_t i = f->first_leaf; !whole && i < f->first_leaf + f->nr_leaves; i++) {
		const struct lm_leaf *l = &rec->leaves[i];
		bool inside = !strncmp(l->path, path, len) && (!l->path[len] || l->path[len] == '.' || l->path[len] == '[');

		if (inside && l->offset + l->size > *end)
			*end = l->offset + l->size;
	}
	if (*end <= *begin)
		*end = *begin + (place.leaf != LM_NONE && rec->leaves[place.leaf].elem_size ?
				 rec->leaves[place.leaf].elem_size : 1);
	*begin += f->bit_offset / 8;
	*end += f->bit_offset / 8;
	return true;
}

bool lm_paths_meet(const struct lm_record *rec, const char *a, const char *b, uint32_t line, uint64_t *at, bool *known)
{
	uint64_t begin_a, end_a, begin_b, end_b;
	bool both = path_bytes(rec, a, &begin_a, &end_a) && path_bytes(rec, b, &begin_b, &end_b);

	if (known)
		*known = both;
	if (!both || begin_a / line > (end_b - 1) / line || begin_b / line > (end_a - 1) / line)
		return false;
	if (at)
		*at = (begin_a > begin_b ? begin_a : begin_b) / line;
	return true;
}
