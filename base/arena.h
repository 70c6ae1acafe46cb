/*
 * arena.h - stage memory: allocate freely, free once.
 *
 * Zero-initialise to start.  Everything handed out is zeroed, aligned for any
 * type, and lives until lm_arena_release().  Never returns NULL (lm_oom()).
 * An arena belongs to one thread at a time.
 */
#ifndef LM_BASE_ARENA_H
#define LM_BASE_ARENA_H

#include <stddef.h>

struct lm_arena_chunk;

struct lm_arena {
	struct lm_arena_chunk *chunks;
};

void *lm_arena_alloc(struct lm_arena *arena, size_t size);

/* nr elements of size bytes each; overflow ends in lm_oom(). */
void *lm_arena_array(struct lm_arena *arena, size_t nr, size_t size);
#define LM_ARENA_ARRAY(arena, type, nr) ((type *)lm_arena_array(arena, nr, sizeof(type)))
#define LM_ARENA_NEW(arena, type) ((type *)lm_arena_alloc(arena, sizeof(type)))

char *lm_arena_strdup(struct lm_arena *arena, const char *text);
char *lm_arena_strndup(struct lm_arena *arena, const char *text, size_t len);
char *lm_arena_printf(struct lm_arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Grows a growing array held in the arena: returns items, or a copy with room
 * for at least nr + 1 elements, *cap updated.  The old block stays until the
 * end (the waste is bounded by the final size).
 */
void *lm_arena_grow(struct lm_arena *arena, void *items, size_t nr, size_t *cap, size_t size);
#define LM_ARENA_PUSH(arena, items, nr, cap) \
	((items) = lm_arena_grow(arena, items, nr, &(cap), sizeof(*(items))), &(items)[(nr)++])

void lm_arena_release(struct lm_arena *arena);

#endif
