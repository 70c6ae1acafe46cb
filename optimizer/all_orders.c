/* all_orders.c - every order of a record with few members that may move. */
#include "optimizer/search.h"

#include <math.h>

enum { MAX_EXHAUSTIVE = 8 };	/* blocks: 8! orders */

struct trial {
	const struct lm_search *x;
	uint32_t blocks[MAX_EXHAUSTIVE], sizes[MAX_EXHAUSTIVE];
	uint32_t nr;
	size_t tried;
	bool late;		/* time is over: the rest is left out */
	bool fixed_too;		/* fixed units are permuted along; the rules sort out what they forbid */
	struct lm_state *best;	/* [nr_units + 1] by number of moves; order.units NULL: none yet */
	struct lm_order scratch;
};

/* An order of so many moves is of interest only if it is better than all with as many or fewer. */
static double to_beat(const struct trial *e, uint32_t moves)
{
	double least = INFINITY;

	for (uint32_t m = 0; m <= moves; m++)
		if (e->best[m].order.units && e->best[m].robust < least)
			least = e->best[m].robust;
	return least;
}

/* Fills fixed units and the permutation into scratch: block units take the free places in turn. */
static void try_permutation(struct trial *e, const uint32_t *perm, struct lm_arena *arena)
{
	const struct lm_search *x = e->x;
	uint32_t n = x->s->body->nr_units, block = 0, inside = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (x->rules->fixed[i] && !e->fixed_too) {
			e->scratch.units[i] = i;
			continue;
		}
		e->scratch.units[i] = e->blocks[perm[block]] + inside;
		if (++inside == e->sizes[perm[block]]) {
			inside = 0;
			block++;
		}
	}

	uint32_t moves = lm_moves_count(x->s, &e->scratch);
	double enough = to_beat(e, moves);
	double robust = lm_objective_robust(x->workers[0], &e->scratch, enough, NULL);

	if (!isfinite(robust) || robust >= enough)
		return;
	e->best[moves] = (struct lm_state){ lm_order_copy(x->s, &e->scratch, arena),
				lm_objective_transfers(x->workers[0], &e->scratch), robust, robust, moves };
}

static void permute(struct trial *e, uint32_t *perm, uint32_t k, struct lm_arena *arena)
{
	/* A record of many lines at an unknown base may take minutes. */
	e->late = e->late || (e->tried++ % 64 == 63 && lm_now() > e->x->until);
	if (e->late)
		return;
	if (k == e->nr) {
		try_permutation(e, perm, arena);
		return;
	}
	for (uint32_t i = k; i < e->nr; i++) {
		uint32_t t = perm[k];

		perm[k] = perm[i];
		perm[i] = t;
		permute(e, perm, k + 1, arena);
		perm[i] = perm[k];
		perm[k] = t;
	}
}

/* Collects the blocks to permute; false if they are too many. */
static bool collect_blocks(struct trial *e)
{
	const struct lm_search *x = e->x;

	e->nr = 0;
	for (uint32_t u = 0; u < x->s->body->nr_units; u++) {
		if (x->rules->block[u] != u || (x->rules->fixed[u] && !e->fixed_too))
			continue;
		if (e->nr == MAX_EXHAUSTIVE)
			return false;
		e->blocks[e->nr] = u;
		e->sizes[e->nr++] = lm_block_size(x, u);
	}
	return e->nr > 0;
}

/*
 * A fixed unit between movable ones (a fence, a pin) keeps its place among the
 * fixed ones only: the others may walk around it, so it is permuted along.
 */
static bool possible(struct trial *e)
{
	if (!collect_blocks(e))
		return false;
	for (uint32_t u = e->blocks[0]; u < e->blocks[e->nr - 1]; u++)
		e->fixed_too |= e->x->rules->fixed[u];
	return !e->fixed_too || collect_blocks(e);
}

bool lm_all_orders(const struct lm_search *x, struct lm_arena *arena, struct lm_state **best, bool *all)
{
	struct trial e = { .x = x };
	uint32_t perm[MAX_EXHAUSTIVE];

	*all = false;
	if (!possible(&e))
		return false;
	e.best = *best = LM_ARENA_ARRAY(arena, struct lm_state, x->s->body->nr_units + 1);
	e.scratch = lm_order_identity(x->s, arena);
	for (uint32_t i = 0; i < e.nr; i++)
		perm[i] = i;
	permute(&e, perm, 0, arena);
	*all = !e.late;
	return true;
}
