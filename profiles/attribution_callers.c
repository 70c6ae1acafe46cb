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
 * that do not skid.  A caller without samples whose own thing others touch proves
 * nothing: the event may not see that caller.
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
	struct lm_strings *records;	/* "size name" of records that instructions reach */
	struct lm_strings *touched;	/* 8 bytes of an offset in the record */
	struct open { uint32_t place; size_t row; } *open;
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

/* The name of a record type for comparison across units; empty: it is none. */
static struct lm_err *key_of(struct callers *c, const struct lm_function *f, uint32_t id, struct lm_str *key)
{
	struct lm_typing t = { c->locator->bin, f ? f->unit : LM_NO_UNIT };
	struct lm_type type;
	struct lm_err *err = lm_typing_complete(&t, id, &type, &id);

	lm_str_clear(key);
	if (!err && (type.kind == LM_TYPE_RECORD || type.kind == LM_TYPE_UNION) && *type.name)
		lm_str_addf(key, "%llu %s", (unsigned long long)type.size, type.name);
	return err;
}

/* What a sure hit shows to be in use. */
static struct lm_err *note_use(struct callers *c, const struct lm_hit *hit)
{
	struct lm_str key = { 0 };
	struct lm_err *err = NULL;

	if (hit->outcome == LM_OUTCOME_FIELD) {
		uint64_t at = (uint64_t)hit->offset;

		lm_strings_add(c->touched, (const char *)&at, sizeof(at));
	} else if (hit->outcome == LM_OUTCOME_ELSEWHERE && hit->reach.type != LM_NO_TYPE) {
		err = key_of(c, hit->function, hit->reach.type, &key);
		if (!err && key.len)
			lm_strings_add(c->records, lm_str_text(&key), key.len);
	}
	lm_str_release(&key);
	return err;
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

static struct lm_err *tally(struct callers *c)
{
	const struct lm_samples *t = c->samples;
	uint64_t here = 0;
	struct lm_err *err = NULL;

	for (size_t i = 0; i < t->nr && !err; i++) {
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
					(struct open){ (uint32_t)(p - c->places), i };
				p->nr++;
			}
		}
		if (!again || hit->outcome != c->hits[i - 1].outcome)
			err = note_use(c, hit);
	}
	return err;
}

static int by_place(const void *a, const void *b)
{
	const struct open *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* ---- who is in use? ---- */

static struct lm_err *bytes_of(struct callers *c, const struct lm_function *f, uint32_t id, uint64_t *ret)
{
	struct lm_typing t = { c->locator->bin, f->unit };
	struct lm_type type;
	struct lm_err *err = lm_typing_complete(&t, id, &type, &id);

	*ret = err ? 0 : type.size;
	return err;
}

/* Is a byte of [from, from + size) of the record touched by a sure sample? */
static bool is_touched(const struct callers *c, int64_t from, uint64_t size)
{
	for (uint64_t at = (uint64_t)from; at < (uint64_t)from + size; at++)
		if (lm_strings_find(c->touched, (const char *)&at, sizeof(at)) != LM_NO_STRING)
			return true;
	return false;
}

/*
 * At most how many calls the samples leave room for, of those that hand item
 * over: its caller touches memory each time.  UINT64_MAX: any number.
 */
static struct lm_err *calls_of(struct callers *c, const struct lm_handed *item, uint64_t part_size, uint64_t *ret)
{
	struct lm_str key = { 0 };
	struct lm_err *err = NULL;
	bool shows = false, touched = false;

	*ret = place_of(c, item->by)->samples;
	if (*ret)
		return NULL;
	/* None in the caller: the event may not see it.  Then the thing itself must be untouched, too. */
	err = lm_handed_shows(c->handing, item->by, &shows);
	if (!err && item->kind == LM_HANDED_RECORD) {
		touched = item->reach.stride || is_touched(c, item->reach.offset, part_size);
	} else if (!err && item->kind == LM_HANDED_OTHER) {
		err = key_of(c, item->by, item->reach.type, &key);
		touched = !key.len || lm_strings_find(c->records, lm_str_text(&key), key.len) != LM_NO_STRING;
	}
	if (!shows || touched)
		*ret = UINT64_MAX;
	lm_str_release(&key);
	return err;
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
				const struct lm_handed *best, uint64_t part_size, bool *ret)
{
	uint64_t others = 0;
	struct lm_err *err = NULL;

	for (size_t i = 0; i < list->nr && !err; i++) {
		uint64_t calls = 0;

		if (!lm_handed_alike(best, &list->items[i]))
			err = calls_of(c, &list->items[i], part_size, &calls);
		others = add_up(others, calls);
	}
	*ret = !err && p->most >= ENOUGH && others <= (p->most - ENOUGH) / 100;
	return err;
}

/* The one place of the record that the n-th argument can be; NULL: it cannot be told. */
static struct lm_err *decide(struct callers *c, const struct place *p, unsigned n, uint64_t part_size,
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
		err = outweighs(c, p, &list, best, part_size, &enough);
	if (enough) {
		*ret = best;
		*likely = true;
	}
	return err;
}

/* ---- the open samples of one function ---- */

/* Bytes of the part that the samples of a function are in; the largest counts. */
static struct lm_err *size_of_parts(struct callers *c, const struct place *p, uint64_t *ret)
{
	struct lm_err *err = NULL;

	*ret = 0;
	for (size_t i = 0; i < p->nr && !err; i++) {
		const struct lm_hit *hit = &c->hits[c->open[p->first + i].row];
		uint64_t size;

		err = bytes_of(c, p->function, hit->reach.type, &size);
		*ret = size > *ret ? size : *ret;
	}
	return err;
}

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
	uint32_t parts = 0;
	uint64_t size = 0;
	bool any = false, likely = false;
	struct lm_err *err = lm_handed_parts(c->handing, p->function, &parts);

	if (!err && parts)
		err = size_of_parts(c, p, &size);
	for (unsigned n = 0; n < LM_MAX_ARGUMENTS && !err; n++) {
		const struct lm_handed *item = NULL;

		entry.of[n] = (struct lm_reach){ .type = LM_NO_TYPE };
		if (parts >> n & 1)
			err = decide(c, p, n, size, &item, &likely);
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

struct lm_err *lm_ask_the_callers(struct lm_locator *l, const struct lm_samples *samples, uint32_t record,
				  struct lm_hit *hits)
{
	struct callers c = { .locator = l, .samples = samples, .record = record, .hits = hits,
			     .counts = are_executions(samples), .functions = lm_strings_new(),
			     .records = lm_strings_new(), .touched = lm_strings_new() };
	struct lm_err *err = tally(&c);

	if (!err && c.nr_open) {
		qsort(c.open, c.nr_open, sizeof(*c.open), by_place);
		c.handing = lm_handing_new(&l->source, record);
		err = settle_places(&c);
		lm_handing_free(c.handing);
	}
	lm_strings_free(c.functions);
	lm_strings_free(c.records);
	lm_strings_free(c.touched);
	lm_arena_release(&c.arena);
	return err;
}
