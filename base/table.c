/* table.c - strings as 32-bit ids. */
#include "base/table.h"

#include "base/arena.h"
#include "base/err.h"

#define HASH_NONFATAL_OOM 0
#define uthash_fatal(msg) lm_oom()
#include <uthash.h>

struct entry {
	UT_hash_handle hh;
	const char *text;
	uint32_t id;
};

struct lm_strings {
	struct lm_arena arena;
	struct entry *head;
	struct entry **by_id;
	size_t nr, cap;
};

struct lm_strings *lm_strings_new(void)
{
	struct lm_strings *t = calloc(1, sizeof(*t));

	if (!t)
		lm_oom();
	return t;
}

void lm_strings_free(struct lm_strings *t)
{
	if (!t)
		return;
	HASH_CLEAR(hh, t->head);
	lm_arena_release(&t->arena);
	free(t);
}

static struct entry *find(const struct lm_strings *t, const char *text, size_t len)
{
	struct entry *e = NULL;

	HASH_FIND(hh, t->head, text, len, e);
	return e;
}

uint32_t lm_strings_add(struct lm_strings *t, const char *text, size_t len)
{
	struct entry *e = find(t, text, len);

	if (e)
		return e->id;
	if (t->nr == LM_NO_STRING)
		lm_oom();
	e = LM_ARENA_NEW(&t->arena, struct entry);
	e->text = lm_arena_strndup(&t->arena, text, len);
	e->id = (uint32_t)t->nr;
	*LM_ARENA_PUSH(&t->arena, t->by_id, t->nr, t->cap) = e;
	HASH_ADD_KEYPTR(hh, t->head, e->text, len, e);
	return e->id;
}

uint32_t lm_strings_find(const struct lm_strings *t, const char *text, size_t len)
{
	struct entry *e = find(t, text, len);

	return e ? e->id : LM_NO_STRING;
}

const char *lm_strings_get(const struct lm_strings *t, uint32_t id)
{
	return t->by_id[id]->text;
}

uint32_t lm_strings_nr(const struct lm_strings *t)
{
	return (uint32_t)t->nr;
}
