/*
 * attribution_chain.c - samples in functions that were handed a part of a
 * record, with the call chain: the call that is on the stack says of what.
 *
 * The call must stand in the code where the chain returns to, and must be one
 * of the sample's function, or of a function in which the only way on is to call
 * it: an unwinder may miss one frame (frame pointers in leaf functions, tail
 * calls).  Other chains are no witnesses.
 */
#include "profiles/attribution_private.h"

#include "base/parallel.h"
#include "base/table.h"
#include "profiles/handed.h"

#include <stdlib.h>

/* A function with what is known of one argument: the same for many samples. */
struct known {
	const struct lm_function *function;
	unsigned n;
	struct lm_reach reach;
};

struct chains {
	struct lm_locator *locator;
	struct lm_handing *handing;
	const struct lm_samples *samples;
	uint32_t record;
	struct lm_hit *hits;
	struct lm_arena arena;
	struct lm_strings *asked;	/* function and chain; id = index of answers */
	struct answer { enum lm_outcome outcome; uint32_t known; } *answers;
	size_t nr_answers, cap_answers;
	struct lm_strings *same;	/* function, argument and place; id = index of known */
	struct known *known;
	size_t nr_known, cap_known;
	struct told { uint32_t known; size_t row; } *told;
	size_t nr_told, cap_told;
};

/* The chain in addresses of the file, as far as it stays there. */
static size_t in_file(const struct chains *c, const struct lm_chain *chain, uint64_t returns[LM_CHAIN])
{
	size_t nr = 0;

	while (nr < LM_CHAIN && chain->returns[nr] && lm_locator_return(c->locator, chain->returns[nr], &returns[nr]))
		nr++;
	return nr;
}

static uint32_t known_of(struct chains *c, const struct lm_function *f, unsigned n, struct lm_reach reach)
{
	const uint64_t key[] = { (uintptr_t)f, n, (uint64_t)reach.offset, reach.stride };
	uint32_t id = lm_strings_add(c->same, (const char *)key, sizeof(key));

	if (id == c->nr_known)
		*LM_ARENA_PUSH(&c->arena, c->known, c->nr_known, c->cap_known) = (struct known){ f, n, reach };
	return id;
}

/* What the call at the end of the chain hands to f: CHAIN, ELSEWHERE, or PART, not known. */
static struct lm_err *look(struct chains *c, const struct lm_function *f, const struct lm_chain *chain,
			   struct answer *ret)
{
	uint64_t returns[LM_CHAIN];
	size_t nr = in_file(c, chain, returns);
	unsigned parts = 0, others = 0;
	struct lm_err *err = NULL;

	*ret = (struct answer){ .outcome = LM_OUTCOME_PART };
	for (unsigned n = 0; nr && n < LM_MAX_ARGUMENTS && !err; n++) {
		struct lm_handed item;
		size_t places;
		bool found = false;

		err = lm_handed_places(c->handing, f, n, &places);
		if (err || !places)
			continue;
		parts++;
		err = lm_handed_by(c->handing, f, n, returns, nr, &item, &found);
		if (err || !found)
			continue;
		others += item.kind == LM_HANDED_OTHER;
		if (item.kind == LM_HANDED_RECORD && ret->outcome == LM_OUTCOME_PART)
			*ret = (struct answer){ LM_OUTCOME_CHAIN, known_of(c, f, n, item.reach) };
	}
	/* All parts that came in are another record's. */
	if (parts && others == parts)
		ret->outcome = LM_OUTCOME_ELSEWHERE;
	return err;
}

static struct lm_err *answer_to(struct chains *c, const struct lm_function *f, const struct lm_chain *chain,
				struct answer *ret)
{
	uint64_t key[1 + LM_CHAIN] = { (uintptr_t)f };
	uint32_t id;
	struct lm_err *err;

	for (unsigned i = 0; i < LM_CHAIN; i++)
		key[1 + i] = chain->returns[i];
	id = lm_strings_add(c->asked, (const char *)key, sizeof(key));
	if (id < c->nr_answers) {
		*ret = c->answers[id];
		return NULL;
	}
	err = look(c, f, chain, ret);
	*LM_ARENA_PUSH(&c->arena, c->answers, c->nr_answers, c->cap_answers) = *ret;
	return err;
}

static struct lm_err *ask_all(struct chains *c)
{
	const struct lm_samples *t = c->samples;
	struct lm_err *err = NULL;

	for (size_t i = 0; i < t->nr && !err; i++) {
		struct answer a;

		if (c->hits[i].outcome != LM_OUTCOME_PART || t->rows[i].addr || !t->rows[i].chain.returns[0])
			continue;
		lm_progress("following call chains", i, t->nr);
		err = answer_to(c, c->hits[i].function, &t->rows[i].chain, &a);
		if (!err && a.outcome == LM_OUTCOME_CHAIN)
			*LM_ARENA_PUSH(&c->arena, c->told, c->nr_told, c->cap_told) = (struct told){ a.known, i };
		else if (!err)
			c->hits[i].outcome = a.outcome;
	}
	lm_progress("following call chains", t->nr, t->nr);
	return err;
}

static int by_known(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	if (x->known != y->known)
		return x->known < y->known ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static struct lm_err *enter(struct chains *c, const struct known *k)
{
	struct lm_flow_arguments entry;

	for (unsigned n = 0; n < LM_MAX_ARGUMENTS; n++)
		entry.of[n] = n == k->n ? k->reach : (struct lm_reach){ .type = LM_NO_TYPE };
	return lm_locator_enter(c->locator, k->function, &entry);
}

static struct lm_err *hit_again(struct chains *c)
{
	struct lm_err *err = NULL;

	for (size_t i = 0; i < c->nr_told && !err; i++) {
		size_t row = c->told[i].row;
		struct lm_hit hit = { .outcome = LM_OUTCOME_PART };

		if (!i || c->told[i].known != c->told[i - 1].known)
			err = enter(c, &c->known[c->told[i].known]);
		if (!err)
			err = lm_locator_hit(c->locator, &c->samples->rows[row], c->record, &hit);
		if (err || hit.outcome != LM_OUTCOME_FIELD)
			continue;
		hit.outcome = LM_OUTCOME_CHAIN;
		c->hits[row] = hit;
	}
	return err;
}

struct lm_err *lm_ask_the_chains(struct lm_locator *l, struct lm_handing *handing, const struct lm_samples *samples,
				 uint32_t record, struct lm_hit *hits)
{
	struct chains c = { .locator = l, .handing = handing, .samples = samples, .record = record, .hits = hits,
			    .asked = lm_strings_new(), .same = lm_strings_new() };
	struct lm_err *err = ask_all(&c);

	if (!err && c.nr_told) {
		qsort(c.told, c.nr_told, sizeof(*c.told), by_known);
		err = hit_again(&c);
	}
	lm_strings_free(c.asked);
	lm_strings_free(c.same);
	lm_arena_release(&c.arena);
	return err;
}
