/*
 * typing.c - offsets into types.
 */
#include "profiles/typing.h"

#include <string.h>

/* Records inside each other; steps of one question: hostile debug info nests without end. */
enum { MAX_LEVELS = 64, MAX_STEPS = 1 << 16 };

struct lm_err *lm_typing_complete(const struct lm_typing *t, uint32_t id, struct lm_type *type, uint32_t *ret)
{
	struct lm_err *err = lm_debuginfo_type(t->bin, id, type);
	uint32_t other;

	*ret = id;
	if (err || !type->declared || !*type->name)
		return err;
	err = lm_debuginfo_type_by_name(t->bin, t->unit, type->name, &other);
	if (err || other == LM_NO_TYPE)
		return err;
	*ret = other;
	return lm_debuginfo_type(t->bin, other, type);
}

static bool is_record(const struct lm_type *t)
{
	return t->kind == LM_TYPE_RECORD || t->kind == LM_TYPE_UNION;
}

static struct lm_err *same(const struct lm_typing *t, uint32_t a, uint32_t b, int depth, bool *ret)
{
	struct lm_type x, y;
	struct lm_err *err = NULL;

	*ret = a == b;
	if (a == b || a == LM_NO_TYPE || b == LM_NO_TYPE)
		return NULL;
	x = lm_debuginfo_type_head(t->bin, a);
	y = lm_debuginfo_type_head(t->bin, b);
	if (x.kind != y.kind)
		return NULL;
	if (x.kind == LM_TYPE_POINTER || x.kind == LM_TYPE_ARRAY) {
		err = lm_debuginfo_type(t->bin, a, &x);
		if (!err)
			err = lm_debuginfo_type(t->bin, b, &y);
		if (err)
			return err;
	}
	switch (x.kind) {
	case LM_TYPE_RECORD:
	case LM_TYPE_UNION:
		*ret = *x.name && !strcmp(x.name, y.name) && (x.size == y.size || x.declared || y.declared);
		return NULL;
	case LM_TYPE_SCALAR:
		*ret = x.size == y.size;
		return NULL;
	case LM_TYPE_POINTER:
		if (x.target == LM_NO_TYPE || y.target == LM_NO_TYPE || depth > 4) {
			*ret = true;
			return NULL;
		}
		return same(t, x.target, y.target, depth + 1, ret);
	case LM_TYPE_ARRAY:
		return depth > 4 ? NULL : same(t, x.target, y.target, depth + 1, ret);
	case LM_TYPE_FUNCTION:
		*ret = true;
		return NULL;
	}
	return NULL;
}

struct lm_err *lm_typing_same(const struct lm_typing *t, uint32_t a, uint32_t b, bool *ret)
{
	return same(t, a, b, 0, ret);
}

/* ---- down into a type ---- */

struct walk {
	const struct lm_typing *t;
	uint32_t id;		/* the type we are in */
	uint64_t offset;	/* inside it */
	uint64_t stride;	/* not used up yet */
	uint32_t size;		/* of the access */
	struct lm_str *path;
	uint64_t rest;
	bool frozen;		/* the element is not known: path ends here */
	struct lm_type_leaf leaf;
};

/* Bytes that the innermost scalar at offset of a type has; 0: none there. */
static struct lm_err *scalar_size(const struct lm_typing *t, uint32_t id, uint64_t offset, uint64_t *ret)
{
	struct lm_err *err = NULL;

	*ret = 0;
	for (int level = 0; !err && id != LM_NO_TYPE && level < MAX_LEVELS; level++) {
		struct lm_type type;
		uint32_t next = LM_NO_TYPE;

		err = lm_typing_complete(t, id, &type, &id);
		if (err)
			return err;
		if (type.kind == LM_TYPE_ARRAY) {
			struct lm_type element;

			next = type.target;
			if (next == LM_NO_TYPE)
				return NULL;
			err = lm_typing_complete(t, next, &element, &next);
			if (!err && element.size)
				offset %= element.size;
		} else if (is_record(&type)) {
			for (uint32_t i = 0; i < type.nr_members && next == LM_NO_TYPE; i++) {
				const struct lm_type_member *m = &type.members[i];

				if (offset >= m->offset && offset - m->offset < m->size) {
					next = m->type;
					offset -= m->offset;
				}
			}
		} else {
			*ret = offset ? 0 : type.size;
			return NULL;
		}
		id = next;
	}
	return err;
}

/* A stride from element to element; one element or none declared: there may be more behind. */
static bool steps_over(const struct lm_type *array, const struct lm_type *element, uint64_t stride)
{
	return stride % element->size == 0 && (stride < array->size || array->size <= element->size);
}

/* True if an array at offset of a type has elements that the stride steps over. */
static struct lm_err *takes_stride(const struct lm_typing *t, struct lm_reach at, int level, unsigned *steps,
				   bool *ret)
{
	struct lm_type type, element;
	struct lm_err *err;
	uint32_t id;

	if (at.type == LM_NO_TYPE || level > MAX_LEVELS / 2 || (*steps)++ > MAX_STEPS)
		return NULL;
	err = lm_typing_complete(t, at.type, &type, &id);
	if (err)
		return err;
	if (type.kind == LM_TYPE_ARRAY && type.target != LM_NO_TYPE) {
		err = lm_typing_complete(t, type.target, &element, &id);
		if (err || !element.size)
			return err;
		*ret = steps_over(&type, &element, at.stride);
		at.type = id;
		at.offset %= (int64_t)element.size;
		return *ret ? NULL : takes_stride(t, at, level + 1, steps, ret);
	}
	for (uint32_t i = 0; is_record(&type) && i < type.nr_members && !err && !*ret; i++) {
		const struct lm_type_member *m = &type.members[i];
		int64_t inside = at.offset - (int64_t)m->offset;

		if (inside >= 0 && (!m->size || (uint64_t)inside < m->size))
			err = takes_stride(t, (struct lm_reach){ m->type, inside, at.stride, false }, level + 1,
					   steps, ret);
	}
	return err;
}

/*
 * The member at w->offset.  Of several (a union, bit-fields in one byte) the
 * first whose scalar has the size of the access, else the first.  An access
 * that starts in a pad belongs to the member that it reaches.
 */
static struct lm_err *find_member(struct walk *w, const struct lm_type *type, const struct lm_type_member **ret)
{
	const struct lm_type_member *first = NULL, *open = NULL, *reached = NULL;
	unsigned steps = 0;
	struct lm_err *err = NULL;

	*ret = NULL;
	for (uint32_t i = 0; i < type->nr_members && !err; i++) {
		const struct lm_type_member *m = &type->members[i];
		uint64_t size = 0;

		if (!m->size && w->offset >= m->offset)
			open = m;
		if (!reached && m->offset > w->offset && m->offset - w->offset < w->size)
			reached = m;
		if (w->stride && w->offset >= m->offset && (!m->size || w->offset - m->offset < m->size)) {
			bool takes = false;

			/* With an index it is the array, not the member beside or over it. */
			err = takes_stride(w->t, (struct lm_reach){ m->type, (int64_t)(w->offset - m->offset),
								    w->stride, false }, 0, &steps, &takes);
			if (takes) {
				first = m;
				break;
			}
		}
		if (w->offset < m->offset || w->offset - m->offset >= m->size)
			continue;
		first = first ? first : m;
		if (w->stride || type->kind != LM_TYPE_UNION || !w->size)
			continue;
		err = scalar_size(w->t, m->type, w->offset - m->offset, &size);
		if (size == w->size) {
			first = m;
			break;
		}
	}
	if (!first && reached) {
		w->offset = reached->offset;
		first = reached;
	}
	*ret = first ? first : open;
	return err;
}

static struct lm_err *into_record(struct walk *w, const struct lm_type *type, bool *go_on)
{
	const struct lm_type_member *m;
	struct lm_err *err = find_member(w, type, &m);

	*go_on = m != NULL;
	if (err || !m)
		return err;
	w->leaf.record = w->id;
	w->leaf.member = m->name;
	w->leaf.at = (int64_t)w->offset;
	w->offset -= m->offset;
	w->id = m->type;
	if (w->path && *m->name && !w->frozen) {
		if (w->path->len)
			lm_str_add_char(w->path, '.');
		lm_str_add(w->path, m->name);
	}
	if (!w->frozen)
		w->rest = w->offset;
	/* A bit-field is its own leaf. */
	if (m->bits != UINT32_MAX) {
		w->leaf.type = m->type;
		w->id = LM_NO_TYPE;
	}
	return NULL;
}

static struct lm_err *into_array(struct walk *w, const struct lm_type *type, bool *go_on)
{
	struct lm_type element;
	uint32_t id;
	struct lm_err *err;

	*go_on = false;
	if (type->target == LM_NO_TYPE)
		return NULL;
	err = lm_typing_complete(w->t, type->target, &element, &id);
	if (err || !element.size)
		return err;
	if (w->stride && steps_over(type, &element, w->stride)) {
		w->stride = 0;
		w->leaf.indexed = true;
		w->frozen = true;
	}
	/* sums[4][6] with one index for both: the row is not known either. */
	w->frozen |= w->stride && element.kind == LM_TYPE_ARRAY;
	if (w->path && !w->frozen) {
		lm_str_addf(w->path, "[%llu]", (unsigned long long)(w->offset / element.size));
		w->rest = w->offset % element.size;
	}
	w->offset %= element.size;
	w->id = id;
	*go_on = true;
	return NULL;
}

static int64_t modulo(int64_t offset, uint64_t size)
{
	int64_t rest = offset % (int64_t)size;

	return rest < 0 ? rest + (int64_t)size : rest;
}

/* A number, or a record that is nothing but one (atomic_t). */
static bool is_atom(const struct lm_type *t)
{
	return t->kind == LM_TYPE_SCALAR || t->kind == LM_TYPE_POINTER ||
	       (t->kind == LM_TYPE_RECORD && t->nr_members == 1 && t->size <= 8);
}

/* A pointer to T with an index walks over an array of T, of which we see no declaration. */
static struct lm_err *start(struct walk *w, struct lm_reach reach, bool *ok)
{
	struct lm_type type;
	struct lm_err *err;

	*ok = false;
	if (reach.type == LM_NO_TYPE)
		return NULL;
	err = lm_typing_complete(w->t, reach.type, &type, &w->id);
	w->stride = reach.stride;
	if (err)
		return err;
	if (w->stride && type.size && w->stride % type.size == 0) {
		w->stride = 0;
		w->leaf.indexed = true;
		reach.offset = modulo(reach.offset, type.size);
	} else if (!w->stride && type.size && (reach.offset < 0 || (uint64_t)reach.offset >= type.size) &&
		   is_atom(&type)) {
		/* p[3], p[-1] of a pointer to numbers: an array of which we see no declaration. */
		reach.offset = modulo(reach.offset, type.size);
	}
	*ok = reach.offset >= 0;
	w->offset = (uint64_t)reach.offset;
	return NULL;
}

static struct lm_err *descend(struct walk *w, bool *found)
{
	struct lm_err *err = NULL;
	bool go_on = true;

	for (int level = 0; !err && go_on && w->id != LM_NO_TYPE && level < MAX_LEVELS; level++) {
		struct lm_type type;

		err = lm_typing_complete(w->t, w->id, &type, &w->id);
		if (err)
			return err;
		if (type.kind == LM_TYPE_ARRAY) {
			err = into_array(w, &type, &go_on);
		} else if (is_record(&type)) {
			/* Larger than any member at its start: a whole record is copied. */
			err = into_record(w, &type, &go_on);
		} else {
			go_on = false;
			w->leaf.type = w->id;
			*found = !w->stride && w->offset < (type.size ? type.size : 1);
		}
	}
	if (w->id == LM_NO_TYPE && w->leaf.type != LM_NO_TYPE)
		*found = !w->stride;
	return err;
}

struct lm_err *lm_typing_leaf(const struct lm_typing *t, struct lm_reach reach, uint32_t size, struct lm_str *path,
			      uint64_t *rest, struct lm_type_leaf *ret, bool *found)
{
	struct lm_err *err = NULL;

	*found = false;
	/* An index that counts from one starts an element before the array. */
	for (int from = 0; from < (reach.stride > 1 ? 2 : 1) && !err && !*found; from++) {
		struct walk w = { .t = t, .size = size, .path = path,
				  .leaf = { .type = LM_NO_TYPE, .record = LM_NO_TYPE, .member = "" } };
		bool ok;

		if (path)
			lm_str_clear(path);
		err = start(&w, reach, &ok);
		if (!err && ok)
			err = descend(&w, found);
		*ret = w.leaf;
		if (rest)
			*rest = w.rest;
		reach.offset += (int64_t)reach.stride;
	}
	return err;
}

/* ---- does an object of a type start here? ---- */

static struct lm_err *holds(const struct lm_typing *t, struct lm_reach at, uint32_t inner, int level,
			    unsigned *steps, bool *ret)
{
	struct lm_type type;
	struct lm_err *err;
	uint32_t id;

	if (at.type == LM_NO_TYPE || at.offset < 0 || level > MAX_LEVELS / 2 || (*steps)++ > MAX_STEPS)
		return NULL;
	err = lm_typing_complete(t, at.type, &type, &id);
	if (!err && at.offset == 0)
		err = same(t, id, inner, 0, ret);
	if (err || *ret)
		return err;
	if (type.kind == LM_TYPE_ARRAY && type.target != LM_NO_TYPE) {
		struct lm_type element;

		err = lm_typing_complete(t, type.target, &element, &id);
		if (err || !element.size)
			return err;
		at.offset %= (int64_t)element.size;
		at.type = id;
		return holds(t, at, inner, level + 1, steps, ret);
	}
	/* All members of a union lie at its start. */
	for (uint32_t i = 0; is_record(&type) && i < type.nr_members && !err && !*ret; i++) {
		const struct lm_type_member *m = &type.members[i];
		uint64_t offset = (uint64_t)at.offset;

		if (m->bits == UINT32_MAX && offset >= m->offset && (offset - m->offset < m->size || !m->size))
			err = holds(t, (struct lm_reach){ .type = m->type, .offset = (int64_t)(offset - m->offset) },
				    inner, level + 1, steps, ret);
	}
	return err;
}

struct lm_err *lm_typing_holds(const struct lm_typing *t, struct lm_reach outer, uint32_t inner, bool *ret)
{
	unsigned steps = 0;

	*ret = false;
	return holds(t, outer, inner, 0, &steps, ret);
}

struct parts {
	const struct lm_typing *t;
	uint32_t inner;
	uint64_t *places;
	size_t cap, nr;
	unsigned steps;
};

static struct lm_err *parts(struct parts *p, uint32_t id, uint64_t at, int level)
{
	struct lm_type type;
	struct lm_err *err;
	bool is = false;

	if (id == LM_NO_TYPE || level > MAX_LEVELS / 4 || p->steps++ > MAX_STEPS)
		return NULL;
	err = lm_typing_complete(p->t, id, &type, &id);
	if (!err && level)
		err = same(p->t, id, p->inner, 0, &is);
	if (err)
		return err;
	if (is) {
		if (p->nr < p->cap)
			p->places[p->nr] = at;
		p->nr++;
		return NULL;
	}
	if (type.kind == LM_TYPE_ARRAY)
		return parts(p, type.target, at, level + 1);
	for (uint32_t i = 0; is_record(&type) && i < type.nr_members && !err; i++)
		if (type.members[i].bits == UINT32_MAX)
			err = parts(p, type.members[i].type, at + type.members[i].offset, level + 1);
	return err;
}

struct lm_err *lm_typing_parts(const struct lm_typing *t, uint32_t outer, uint32_t inner, uint64_t *places, size_t cap,
			       size_t *nr)
{
	struct parts p = { t, inner, places, cap, 0, 0 };
	struct lm_err *err = parts(&p, outer, 0, 0);

	*nr = p.nr;
	return err;
}
