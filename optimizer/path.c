/* path.c - member paths. */
#include "optimizer/path.h"

#include "profiles/access.h"

#include <stdlib.h>
#include <string.h>

/* Length of the common start of path and prefix if it ends at a level of both; else 0. */
static bool starts_with(const char *path, const char *prefix, size_t len)
{
	return !strncmp(path, prefix, len) && (!path[len] || path[len] == '.' || path[len] == '[');
}

uint32_t lm_path_leaf(const struct lm_record *rec, const char *path)
{
	for (uint32_t i = 0; i < rec->nr_leaves; i++)
		if (!strcmp(rec->leaves[i].path, path))
			return i;
	return LM_NONE;
}

uint32_t lm_path_leaf_at(const struct lm_record *rec, uint32_t field, uint64_t offset, const char *hint)
{
	const struct lm_field *f = &rec->fields[field];
	size_t len = strlen(hint);
	uint32_t found = LM_NONE, tail = LM_NONE;

	for (uint32_t i = f->first_leaf; i < f->first_leaf + f->nr_leaves; i++) {
		const struct lm_leaf *l = &rec->leaves[i];

		/* An array without elements holds what lies behind it only where it ends the record. */
		if (!l->size && f->flexible && offset >= l->offset && offset - l->offset < LM_FLEXIBLE_REACH)
			tail = i;
		if (offset < l->offset || offset - l->offset >= l->size)
			continue;
		if (starts_with(l->path, hint, len))
			return i;
		if (found == LM_NONE)
			found = i;
	}
	return found != LM_NONE ? found : tail;
}

static enum lm_path_result whole_record(const struct lm_record *rec, uint64_t offset, struct lm_place *ret)
{
	for (uint32_t i = 0; i < rec->nr_fields; i++) {
		const struct lm_field *f = &rec->fields[i];
		uint64_t start = f->bit_offset / 8;
		uint64_t size = f->flexible ? LM_FLEXIBLE_REACH : f->bits == LM_NOT_BITS ? f->size :
				(f->bit_offset % 8 + f->bits + 7) / 8;

		if (offset < start || offset - start >= size)
			continue;
		ret->field = i;
		ret->offset = offset - start;
		ret->leaf = lm_path_leaf_at(rec, i, ret->offset, "");
		return LM_PATH_OK;
	}
	return LM_PATH_OUTSIDE;
}

/* path names leaf i, or something that starts at it: its offset in the field, or false. */
static bool matches(const struct lm_leaf *l, const char *path, size_t path_len, uint64_t *offset)
{
	size_t len = strlen(l->path);

	if (starts_with(l->path, path, path_len)) {	/* path is the leaf or a level above it */
		*offset = l->offset;
		return true;
	}
	if (!starts_with(path, l->path, len))
		return false;
	*offset = l->offset;				/* path goes on below the leaf */
	if (path[len] == '[' && l->elem_size) {
		unsigned long long index = strtoull(path + len + 1, NULL, 10);

		if (index > l->size / l->elem_size)
			index = l->size / l->elem_size;
		*offset += index * l->elem_size;
	}
	return true;
}

enum lm_path_result lm_path_find(const struct lm_record *rec, const char *path, uint64_t offset, struct lm_place *ret)
{
	size_t path_len = strlen(path);
	uint64_t start = UINT64_MAX, at;
	uint32_t field = LM_NONE;

	if (!strcmp(path, LM_WHOLE_RECORD))
		return whole_record(rec, offset, ret);
	for (uint32_t i = 0; i < rec->nr_fields && field == LM_NONE; i++) {
		const struct lm_field *f = &rec->fields[i];

		if (f->key[0] && !strcmp(f->key, path) && !f->anonymous) {
			field = i;
			start = 0;
		}
	}
	for (uint32_t i = 0; i < rec->nr_leaves; i++) {
		if (field != LM_NONE && rec->leaves[i].field != field)
			continue;
		if (!matches(&rec->leaves[i], path, path_len, &at) || at >= start)
			continue;
		start = at;
		field = rec->leaves[i].field;
	}
	if (field == LM_NONE)
		return LM_PATH_NO_MEMBER;

	const struct lm_field *f = &rec->fields[field];

	uint64_t reach = f->flexible ? LM_FLEXIBLE_REACH : f->bits == LM_NOT_BITS ? f->size : (f->bits + 14) / 8;

	if (start >= reach || offset >= reach - start)
		return LM_PATH_OUTSIDE;
	ret->field = field;
	ret->offset = start + offset;
	ret->leaf = lm_path_leaf_at(rec, field, ret->offset, path);
	return LM_PATH_OK;
}

/* Bytes of a whole field, from its first byte on. */
static uint64_t field_bytes(const struct lm_field *f)
{
	return f->bits == LM_NOT_BITS ? f->size : (f->bit_offset % 8 + f->bits + 7) / 8;
}

/* path is a leaf's own path and an index, and perhaps more behind it: that element. */
static bool element_extent(const struct lm_leaf *l, const char *path, uint64_t *begin, uint64_t *end)
{
	size_t len = strlen(l->path);
	unsigned long long index;
	char *stop;

	if (!l->elem_size || strncmp(path, l->path, len) || path[len] != '[')
		return false;
	index = strtoull(path + len + 1, &stop, 10);
	if (stop == path + len + 1 || *stop != ']' || index >= l->size / l->elem_size)
		return false;
	*begin = l->offset + index * l->elem_size;
	*end = *begin + l->elem_size;
	return true;
}

bool lm_path_extent(const struct lm_record *rec, const char *path, uint32_t *field, uint64_t *begin, uint64_t *end)
{
	size_t len = strlen(path);
	uint32_t found = LM_NONE;

	for (uint32_t i = 0; len && i < rec->nr_fields; i++) {
		if (strcmp(rec->fields[i].key, path) || rec->fields[i].anonymous)
			continue;
		*field = i;
		*begin = 0;
		*end = field_bytes(&rec->fields[i]);
		return true;
	}
	for (uint32_t i = 0; len && i < rec->nr_leaves; i++) {
		const struct lm_leaf *l = &rec->leaves[i];

		if (found == LM_NONE && element_extent(l, path, begin, end)) {
			*field = l->field;
			return true;
		}
		if (!starts_with(l->path, path, len) || (found != LM_NONE && l->field != found))
			continue;
		if (found == LM_NONE) {
			*begin = l->offset;
			*end = l->offset + l->size;
		}
		found = l->field;
		*begin = l->offset < *begin ? l->offset : *begin;
		*end = l->offset + l->size > *end ? l->offset + l->size : *end;
	}
	*field = found;
	return found != LM_NONE;
}
