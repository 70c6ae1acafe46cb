/*
 * typing_elements.c - which elements an index may mean.
 *
 * offset + k * stride for k from 0 (or 1, where an index counts from there), as
 * long as it stays in the array at which the path ends.
 */
#include "profiles/typing.h"

#include <string.h>

/* More elements than this are not looked at one by one. */
enum { MAX_ELEMENTS = 1 << 14 };

struct elements {
	const struct lm_typing *t;
	struct lm_reach reach;
	uint32_t size;
	struct lm_str array;	/* the path of the array */
	int64_t first;		/* offset of the first one */
};

static struct lm_err *is_element(struct elements *e, int64_t offset, bool *ret)
{
	struct lm_reach at = { e->reach.type, offset, 0, e->reach.whole };
	struct lm_type_leaf leaf;
	struct lm_str path = { 0 };
	bool found = false;
	struct lm_err *err = lm_typing_leaf(e->t, at, e->size, &path, NULL, &leaf, &found);

	*ret = !err && found && path.len > e->array.len && lm_str_text(&path)[e->array.len] == '[' &&
		!memcmp(lm_str_text(&path), lm_str_text(&e->array), e->array.len);
	lm_str_release(&path);
	return err;
}

/* The array, and where its first element is; *found false: there is none. */
static struct lm_err *find_array(struct elements *e, bool *found)
{
	struct lm_type_leaf leaf;
	struct lm_err *err = lm_typing_leaf(e->t, e->reach, e->size, &e->array, NULL, &leaf, found);

	*found = *found && leaf.indexed;
	e->first = e->reach.offset;
	for (int from = 0; from < 2 && !err && *found; from++) {
		bool is = false;

		err = is_element(e, e->first, &is);
		if (is)
			return err;
		e->first += (int64_t)e->reach.stride;
	}
	*found = false;
	return err;
}

struct lm_err *lm_typing_elements(const struct lm_typing *t, struct lm_reach reach, uint32_t size, int64_t *first,
				  size_t *nr)
{
	struct elements e = { .t = t, .reach = reach, .size = size };
	struct lm_type type;
	uint32_t id;
	bool found = false, is = true;
	struct lm_err *err = reach.stride ? lm_typing_complete(t, reach.type, &type, &id) : NULL;

	*nr = 0;
	if (!err && reach.stride)
		err = find_array(&e, &found);
	*first = e.first;
	/* An open array at the end has any number. */
	while (!err && found && is && *nr < MAX_ELEMENTS) {
		int64_t at = e.first + (int64_t)(*nr * reach.stride);

		is = at >= 0 && (uint64_t)at < type.size;
		if (is)
			err = is_element(&e, at, &is);
		*nr += is;
	}
	lm_str_release(&e.array);
	return err;
}
