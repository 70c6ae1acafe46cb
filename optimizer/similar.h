/* similar.h - "did you mean": the names closest to one that does not exist. */
#ifndef LM_OPTIMIZER_SIMILAR_H
#define LM_OPTIMIZER_SIMILAR_H

#include "base/arena.h"

/* Set arena and name; the rest zero. */
struct lm_similar {
	struct lm_arena *arena;
	const char *name;	/* what was asked for */
	struct lm_similar_item {
		const char *name;
		size_t distance;
	} *items;
	size_t nr, cap;
};

/* Offers a name (lives as long as the arena); names unlike the one asked for are not kept. */
void lm_similar_add(struct lm_similar *s, const char *name);

/* "a, b and c": up to five, closest first, then by bytes; "" if there is none.  In the arena. */
const char *lm_similar_list(struct lm_similar *s);

#endif
