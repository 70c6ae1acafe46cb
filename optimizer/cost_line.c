/* cost_line.c - the price of one growing and shrinking line. */
#include "optimizer/cost_line.h"

#include "base/err.h"
#include "optimizer/cost.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

/* One (object, cpu): T_q and W_q.  Cells of an object are adjacent. */
struct cell {
	uint32_t object;
	double touches, writes;
};

struct object {
	uint32_t first_cell, nr_cells;
	uint32_t changes;	/* entries of the undo stack that are about it; 0: not on the line */
	double value;
	bool stale;	/* value is of an earlier state */
};

/* State of a slot and its cell before a push. */
struct undo {
	uint32_t slot;
	double touches, writes;
	double cell_touches, cell_writes;
};

struct lm_cost_line {
	struct lm_cost_entry *entries;
	size_t nr_entries;
	struct lm_cost_slot *slots;
	uint32_t nr_slots;
	struct cell *cells;
	struct object *objects;
	uint32_t nr_objects;
	uint32_t *active;	/* objects on the line; grows and shrinks with the undo stack, so the last one leaves first */
	uint32_t nr_active;
	struct undo *undo;
	size_t nr_undo, cap_undo;
};

static void *take(size_t nr, size_t size)
{
	void *p = calloc(nr ? nr : 1, size);

	if (!p)
		lm_oom();
	return p;
}

/* A touch and its place in the table, sorted so that slots, cells and objects are runs. */
struct key {
	uint32_t object, cpu, site, index;
};

static int by_object_cpu_site(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static double more(double a, double b)
{
	return a > b ? a : b;
}

static void number_slots(struct lm_cost_line *l, const struct key *keys, const struct lm_touch *touches)
{
	uint32_t slots = 0, cells = 0;

	for (size_t i = 0; i < l->nr_entries; i++) {
		const struct key *k = &keys[i], *last = i ? k - 1 : NULL;
		const struct lm_touch *t = &touches[k->index];
		bool new_object = !last || last->object != k->object;
		bool new_cell = new_object || last->cpu != k->cpu;

		if (new_object)
			l->objects[l->nr_objects++] = (struct object){ .first_cell = cells };
		if (new_cell) {
			l->cells[cells++].object = l->nr_objects - 1;
			l->objects[l->nr_objects - 1].nr_cells++;
		}
		if (new_cell || last->site != k->site)
			l->slots[slots++].cell = cells - 1;
		l->entries[k->index] =
			(struct lm_cost_entry){ slots - 1, cells - 1, more(t->reads, t->writes), t->writes };
	}
	l->nr_slots = slots;
}

struct lm_cost_line *lm_cost_line_new(const struct lm_touch *touches, size_t nr)
{
	struct lm_cost_line *l = take(1, sizeof(*l));
	struct key *keys = take(nr, sizeof(*keys));

	assert(nr <= UINT32_MAX);
	l->nr_entries = nr;
	l->entries = take(nr, sizeof(*l->entries));
	l->slots = take(nr, sizeof(*l->slots));
	l->cells = take(nr, sizeof(*l->cells));
	l->objects = take(nr, sizeof(*l->objects));
	l->active = take(nr, sizeof(*l->active));
	for (size_t i = 0; i < nr; i++)
		keys[i] = (struct key){ touches[i].object, touches[i].cpu, touches[i].site, (uint32_t)i };
	qsort(keys, nr, sizeof(*keys), by_object_cpu_site);
	number_slots(l, keys, touches);
	free(keys);
	return l;
}

void lm_cost_line_free(struct lm_cost_line *l)
{
	if (!l)
		return;
	free(l->entries);
	free(l->slots);
	free(l->cells);
	free(l->objects);
	free(l->active);
	free(l->undo);
	free(l);
}

static void remember(struct lm_cost_line *l, struct undo u)
{
	if (l->nr_undo == l->cap_undo) {
		l->cap_undo = l->cap_undo ? 2 * l->cap_undo : 256;
		l->undo = reallocarray(l->undo, l->cap_undo, sizeof(*l->undo));
		if (!l->undo)
			lm_oom();
	}
	l->undo[l->nr_undo++] = u;
}

void lm_cost_line_push(struct lm_cost_line *l, uint32_t i)
{
	assert(i < l->nr_entries);

	const struct lm_cost_entry *e = &l->entries[i];
	struct lm_cost_slot *s = &l->slots[e->slot];

	if (e->touches <= s->touches && e->writes <= s->writes)
		return;

	struct cell *c = &l->cells[s->cell];

	remember(l, (struct undo){ e->slot, s->touches, s->writes, c->touches, c->writes });
	if (e->touches > s->touches) {
		c->touches += e->touches - s->touches;
		s->touches = e->touches;
	}
	if (e->writes > s->writes) {
		c->writes += e->writes - s->writes;
		s->writes = e->writes;
	}

	struct object *o = &l->objects[c->object];

	if (!o->changes++)
		l->active[l->nr_active++] = c->object;
	o->stale = true;
}

size_t lm_cost_line_mark(const struct lm_cost_line *l)
{
	return l->nr_undo;
}

void lm_cost_line_pop_to(struct lm_cost_line *l, size_t mark)
{
	assert(mark <= l->nr_undo);
	while (l->nr_undo > mark) {
		const struct undo *u = &l->undo[--l->nr_undo];
		struct lm_cost_slot *s = &l->slots[u->slot];
		struct cell *c = &l->cells[s->cell];

		s->touches = u->touches;
		s->writes = u->writes;
		c->touches = u->cell_touches;
		c->writes = u->cell_writes;
		l->objects[c->object].stale = true;
		if (!--l->objects[c->object].changes)
			l->nr_active--;
	}
}

void lm_cost_line_clear(struct lm_cost_line *l)
{
	lm_cost_line_pop_to(l, 0);
}

/* T_q V_q / (T_q + V_q) + eps T_q; all is the sum of W over every CPU of the object. */
static double transfers_of_cpu(double t, double w, double all)
{
	double v = all - w;

	if (t <= 0)
		return 0;
	/* Rounding of the sum may leave a crumb where nobody else writes. */
	if (v <= all * 1e-12)
		return LM_COST_EPS * t;
	return t * v / (t + v) + LM_COST_EPS * t;
}

static double transfers(const struct cell *cells, uint32_t nr)
{
	double all = 0, sum = 0;

	for (uint32_t i = 0; i < nr; i++)
		all += cells[i].writes;
	for (uint32_t i = 0; i < nr; i++)
		sum += transfers_of_cpu(cells[i].touches, cells[i].writes, all);
	return sum;
}

static double value_of(const struct lm_cost_line *l, struct object *o)
{
	if (o->stale) {
		o->value = transfers(&l->cells[o->first_cell], o->nr_cells);
		o->stale = false;
	}
	return o->value;
}

double lm_cost_line_value(struct lm_cost_line *l)
{
	double sum = 0;

	for (uint32_t i = 0; i < l->nr_active; i++)
		sum += value_of(l, &l->objects[l->active[i]]);
	return sum;
}

struct lm_cost_entry lm_cost_line_entry(const struct lm_cost_line *l, uint32_t i)
{
	assert(i < l->nr_entries);
	return l->entries[i];
}

const struct lm_cost_slot *lm_cost_line_slots(const struct lm_cost_line *l, uint32_t *nr)
{
	*nr = l->nr_slots;
	return l->slots;
}

/* adds() for the parts of one object; *nr parts are left, those used are taken off. */
static double object_adds(const struct lm_cost_line *l, struct object *o, double share,
			  const struct lm_cost_part **parts, uint32_t *nr)
{
	const struct cell *cells = &l->cells[o->first_cell];
	const struct lm_cost_part *p = *parts;
	uint32_t end = o->first_cell + o->nr_cells, used = 0, k = 0;
	double all = 0, sum = -share * value_of(l, o);

	for (uint32_t i = 0; i < o->nr_cells; i++)
		all += cells[i].writes;
	all *= share;
	for (; used < *nr && p[used].cell < end; used++)
		all += p[used].writes;
	for (uint32_t i = 0; i < o->nr_cells; i++) {
		double t = share * cells[i].touches, w = share * cells[i].writes;

		if (k < used && p[k].cell == o->first_cell + i) {
			t += p[k].touches;
			w += p[k++].writes;
		}
		sum += transfers_of_cpu(t, w, all);
	}
	*parts += used;
	*nr -= used;
	return sum;
}

double lm_cost_line_adds(struct lm_cost_line *l, double share, const struct lm_cost_part *parts, uint32_t nr)
{
	double sum = 0;

	while (nr)
		sum += object_adds(l, &l->objects[l->cells[parts->cell].object], share, &parts, &nr);
	return sum;
}
