/*
 * attribution_callers.c - samples in functions that were handed a part of a
 * record: which record?
 *
 * All callers are looked at (handed.h).  If they all had the same member of the
 * record, that is it (CALLERS).  If they had several things, the profile may
 * tell (LIKELY).  A caller touches memory too, so what n samples on one
 * instruction of the function mean in calls, k samples in all of a caller's
 * code bound for that caller.  If all callers that had something else have k
 * of them and (k + 3) / n is at most 1 %, then at most one call in a hundred was
 * theirs, with 95 % (the rule of three: nothing seen in n trials bounds a share
 * by 3 / n).  So it takes an event that counts executions, not time, and samples
 * that do not skid.
 *
 * A caller without samples (k = 0) must be one that the profile could show.  Is
 * other records' memory in the profile, it shows every caller that touches
 * memory.  Is there none at all, then nothing in it is another record's, and who
 * touches this record shows.
 */
#include "profiles/attribution_private.h"

#include "base/parallel.h"
#include "base/table.h"
#include "profiles/event.h"
#include "profiles/handed.h"

#include <stdlib.h>
#include <string.h>

enum { ENOUGH = 300 };	/* 3 / 1 % */

/* What the samples say of one function. */
struct place {
	const struct lm_function *function;
	uint64_t samples;	/* in it */
	uint64_t most;		/* on one of its instructions */
	size_t first, nr;	/* of its rows among the open ones */
};

struct callers {
	struct lm_locator *locator;
	const struct lm_samples *samples;
	uint32_t record;
	struct lm_hit *hits;
	struct lm_handing *handing;
	bool counts;			/* samples are executions */
	struct lm_arena arena;
	struct lm_strings *functions;	/* 8 bytes of a pointer; id = index of place */
	struct place *places;
	size_t nr_places, cap_places;
	uint64_t own, elsewhere;	/* samples that are surely on the record, on others */
	bool reads, writes;		/* the profile has such samples */
	struct open { uint64_t samples; uint32_t place; size_t row; } *open;	/* samples: of the place */
	size_t nr_open, cap_open;
};

static struct place *place_of(struct callers *c, const struct lm_function *f)
{
	uint32_t id = lm_strings_add(c->functions, (const char *)&f, sizeof(f));

	if (id == c->nr_places)
		*LM_ARENA_PUSH(&c->arena, c->places, c->nr_places, c->cap_places) = (struct place){ .function = f };
	return &c->places[id];
}

static uint64_t add_up(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Events are sampled by count, and every sample is where it belongs. */
static bool are_executions(const struct lm_samples *t)
{
	for (uint32_t i = 0; i < lm_strings_nr(t->events); i++) {
		const char *name = lm_strings_get(t->events, i);

		if (!lm_event_counts((struct lm_span){ name, name + strlen(name) }))
			return false;
	}
	for (size_t i = 0; i < t->nr; i++)
		if (t->rows[i].evidence == LM_EVIDENCE_SKIDDING)
			return false;
	return true;
}

static void tally(struct callers *c)
{
	const struct lm_samples *t = c->samples;
	uint64_t here = 0;

	for (size_t i = 0; i < t->nr; i++) {
		const struct lm_hit *hit = &c->hits[i];
		bool again = i && t->rows[i].ip == t->rows[i - 1].ip && t->rows[i].dso == t->rows[i - 1].dso;
		struct place *p;

		here = again ? add_up(here, t->rows[i].count) : t->rows[i].count;
		if (hit->function) {
			p = place_of(c, hit->function);
			p->samples = add_up(p->samples, t->rows[i].count);
			p->most = here > p->most ? here : p->most;
			if (hit->outcome == LM_OUTCOME_PART && !t->rows[i].addr) {
				*LM_ARENA_PUSH(&c->arena, c->open, c->nr_open, c->cap_open) =
					(struct open){ 0, (uint32_t)(p - c->places), i };
				p->nr++;
			}
		}
		if (hit->outcome == LM_OUTCOME_ELSEWHERE)
			c->elsewhere = add_up(c->elsewhere, t->rows[i].count);
		else if (hit->outcome == LM_OUTCOME_FIELD)
			c->own = add_up(c->own, t->rows[i].count);
		c->reads |= t->rows[i].op != LM_OP_WRITE;
		c->writes |= t->rows[i].op != LM_OP_READ;
	}
	for (size_t i = 0; i < c->nr_open; i++)
		c->open[i].samples = c->places[c->open[i].place].samples;
}

/* The functions with the most samples first: what can be looked at has a limit. */
static int by_place(const void *a, const void *b)
{
	const struct open *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* ---- who called? ---- */

/* At most how many calls, in samples, handed item over as one of so many places.  UINT64_MAX: any number. */
static struct lm_err *calls_of(struct callers *c, const struct lm_handed *item, size_t places, uint64_t *ret)
{
	bool alone = !c->elsewhere && c->own >= ENOUGH;
	struct lm_shown shown;
	struct lm_err *err;

	*ret = place_of(c, item->by)->samples;
	if (*ret)
		return NULL;
	err = lm_handed_shows(c->handing, item->by, c->reads, c->writes, &shown);
	if (err || shown.record || (shown.any && c->elsewhere >= ENOUGH))
		return err;
	/* Where nothing is another record's, what is open is the one place that this record has. */
	if (!shown.any || !alone || item->kind == LM_HANDED_RECORD || (item->kind == LM_HANDED_OPEN && places > 1))
		*ret = UINT64_MAX;
	return NULL;
}

/* The caller with the most samples among those that hand over a place of the record. */
static const struct lm_handed *busiest(struct callers *c, const struct lm_handed_list *list)
{
	const struct lm_handed *best = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < list->nr; i++) {
		uint64_t samples = place_of(c, list->items[i].by)->samples;

		if (list->items[i].kind == LM_HANDED_RECORD && samples > most) {
			most = samples;
			best = &list->items[i];
		}
	}
	return best;
}

/* Whether all but best can have made one call in a hundred at most. */
static struct lm_err *outweighs(struct callers *c, const struct place *p, const struct lm_handed_list *list,
				const struct lm_handed *best, size_t places, bool *ret)
{
	uint64_t others = 0;
	struct lm_err *err = NULL;

	for (size_t i = 0; i < list->nr && !err; i++) {
		uint64_t calls = 0;

		if (!lm_handed_alike(best, &list->items[i]))
			err = calls_of(c, &list->items[i], places, &calls);
		others = add_up(others, calls);
	}
	*ret = !err && p->most >= ENOUGH && others <= (p->most - ENOUGH) / 100;
	return err;
}

/* The one place of the record that the n-th argument can be; NULL: it cannot be told. */
static struct lm_err *decide(struct callers *c, const struct place *p, unsigned n, size_t places,
			     const struct lm_handed **ret, bool *likely)
{
	struct lm_handed_list list;
	const struct lm_handed *best;
	struct lm_err *err = lm_handed_to(c->handing, p->function, n, !c->counts || p->most < ENOUGH, &list);
	bool all_same = true, enough = false;

	*ret = NULL;
	if (err || !list.complete || !list.nr)
		return err;
	for (size_t i = 0; i < list.nr; i++)
		all_same &= lm_handed_alike(&list.items[0], &list.items[i]);
	if (all_same) {
		*ret = &list.items[0];
		return NULL;
	}
	best = c->counts ? busiest(c, &list) : NULL;
	if (best)
		err = outweighs(c, p, &list, best, places, &enough);
	if (enough) {
		*ret = best;
		*likely = true;
	}
	return err;
}

/* ---- the open samples of one function ---- */

static struct lm_err *hit_again(struct callers *c, const struct place *p, enum lm_outcome outcome)
{
	struct lm_err *err = NULL;

	for (size_t i = 0; i < p->nr && !err; i++) {
		size_t row = c->open[p->first + i].row;
		struct lm_hit hit;

		err = lm_locator_hit(c->locator, &c->samples->rows[row], c->record, &hit);
		if (err || hit.outcome != LM_OUTCOME_FIELD)
			continue;
		hit.outcome = outcome;
		c->hits[row] = hit;
	}
	return err;
}

static struct lm_err *settle_place(struct callers *c, const struct place *p)
{
	struct lm_flow_arguments entry;
	bool any = false, likely = false;
	struct lm_err *err = NULL;

	for (unsigned n = 0; n < LM_MAX_ARGUMENTS && !err; n++) {
		const struct lm_handed *item = NULL;
		size_t places;

		entry.of[n] = (struct lm_reach){ .type = LM_NO_TYPE };
		err = lm_handed_places(c->handing, p->function, n, &places);
		if (!err && places)
			err = decide(c, p, n, places, &item, &likely);
		if (!item)
			continue;
		entry.of[n] = item->reach;
		any = true;
	}
	if (err || !any)
		return err;
	err = lm_locator_enter(c->locator, p->function, &entry);
	return err ? err : hit_again(c, p, likely ? LM_OUTCOME_LIKELY : LM_OUTCOME_CALLERS);
}

static struct lm_err *settle_places(struct callers *c)
{
	struct lm_err *err = NULL;
	size_t asked = 0;

	for (size_t i = 0; i < c->nr_open && !err;) {
		/* A copy: asking adds places. */
		struct place p = c->places[c->open[i].place];

		p.first = i;
		lm_progress("asking callers", asked++, c->nr_places);
		err = settle_place(c, &p);
		i += p.nr;
	}
	lm_progress("asking callers", c->nr_places, c->nr_places);
	return err;
}

struct lm_err *lm_ask_the_callers(struct lm_locator *l, struct lm_handing *handing, const struct lm_samples *samples,
				  uint32_t record, struct lm_hit *hits)
{
	struct callers c = { .locator = l, .handing = handing, .samples = samples, .record = record, .hits = hits,
			     .counts = are_executions(samples), .functions = lm_strings_new() };
	struct lm_err *err = NULL;

	tally(&c);
	if (c.nr_open) {
		qsort(c.open, c.nr_open, sizeof(*c.open), by_place);
		err = settle_places(&c);
	}
	lm_strings_free(c.functions);
	lm_arena_release(&c.arena);
	return err;
}
