/* arena.c - stage memory. */
#include "base/arena.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 << 10 };

struct lm_arena_chunk {
	struct lm_arena_chunk *next;
	size_t used, size;
	alignas(max_align_t) char bytes[];
};

static struct lm_arena_chunk *add_chunk(struct lm_arena *arena, size_t size)
{
	size_t want = size > CHUNK ? size : CHUNK, total;

	if (__builtin_add_overflow(want, sizeof(struct lm_arena_chunk), &total))
		lm_oom();

	struct lm_arena_chunk *c = calloc(1, total);

	if (!c)
		lm_oom();
	c->size = want;
	/* A big block goes behind the current chunk, which stays in use. */
	if (arena->chunks && size > CHUNK) {
		c->next = arena->chunks->next;
		arena->chunks->next = c;
	} else {
		c->next = arena->chunks;
		arena->chunks = c;
	}
	return c;
}

void *lm_arena_alloc(struct lm_arena *arena, size_t size)
{
	size_t step = alignof(max_align_t);
	struct lm_arena_chunk *c = arena->chunks;

	if (size > (size_t)-1 - step)
		lm_oom();
	size = (size + step - 1) / step * step;
	if (!c || c->size - c->used < size)
		c = add_chunk(arena, size);

	void *p = c->bytes + c->used;

	c->used += size;
	return p;
}

void *lm_arena_array(struct lm_arena *arena, size_t nr, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(nr, size, &total))
		lm_oom();
	return lm_arena_alloc(arena, total);
}

char *lm_arena_strndup(struct lm_arena *arena, const char *text, size_t len)
{
	char *copy = lm_arena_alloc(arena, len + 1);

	memcpy(copy, text, len);
	return copy;
}

char *lm_arena_strdup(struct lm_arena *arena, const char *text)
{
	return lm_arena_strndup(arena, text, strlen(text));
}

char *lm_arena_printf(struct lm_arena *arena, const char *fmt, ...)
{
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);

	int n = vsnprintf(NULL, 0, fmt, again);

	va_end(again);
	if (n < 0)
		lm_oom();

	char *text = lm_arena_alloc(arena, (size_t)n + 1);

	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return text;
}

void *lm_arena_grow(struct lm_arena *arena, void *items, size_t nr, size_t *cap, size_t size)
{
	if (nr < *cap)
		return items;
	*cap = *cap ? 2 * *cap : 8;

	void *bigger = lm_arena_array(arena, *cap, size);

	if (nr)
		memcpy(bigger, items, nr * size);
	return bigger;
}

void lm_arena_release(struct lm_arena *arena)
{
	struct lm_arena_chunk *c = arena->chunks;

	while (c) {
		struct lm_arena_chunk *next = c->next;

		free(c);
		c = next;
	}
	arena->chunks = NULL;
}
