/* report_words.c - what more than one printer of the report says in the same words. */
#include "output/report_rows.h"

static const char *barriers(uint32_t nr, struct lm_arena *arena)
{
	return lm_arena_printf(arena, "%u barrier%s", nr, nr == 1 ? "" : "s");
}

const char *lm_kept_text(enum lm_kept kept)
{
	static const char *const texts[] = {
#define X(name, text) text,
		LM_KEPT(X)
#undef X
	};

	return texts[kept];
}

const char *lm_rows_what_to_do(const struct lm_rows *rows, struct lm_arena *arena)
{
	const char *move = lm_arena_printf(arena, "move %u of %u members", rows->nr_moved, rows->nr_units);

	if (!rows->nr_barriers)
		return move;
	return lm_arena_printf(arena, "%s, add %s", rows->nr_moved ? move : "move nothing",
			       barriers(rows->nr_barriers, arena));
}

const char *lm_row_point_name(const struct lm_row_point *c, struct lm_arena *arena)
{
	const char *name = lm_arena_printf(arena, "%s%u move%s", c->any ? "any: " : "", c->moves,
					   c->moves == 1 ? "" : "s");

	return c->barriers ? lm_arena_printf(arena, "%s, %s", name, barriers(c->barriers, arena)) : name;
}
