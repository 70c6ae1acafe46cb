/* objective.c - how good is an order? */
#include "optimizer/objective.h"

#include <math.h>
#include <stdlib.h>

enum {
	SHRINK = 32, GROW = 64, STEP = 8,	/* bytes */
	GUESSED = 4,				/* of so many perturbations one makes a guess */
	MAX_ELEMENTS = 64,			/* larger arrays are tables: their elements are not alike */
};

/* Rate that an access to one element of an array stands for at each other one. */
static const double other_element = 0.05;

struct side {			/* one configuration */
	struct lm_cost *real;	/* of the accesses as they are */
	struct lm_cost *cost;	/* of these and what they stand for */
	struct lm_layout before, now;
	double alone;		/* what the units cost alone in the declared order */
	double most_saved;
	struct lm_resize *resizes; /* grouped by field */
	size_t nr_resizes, cap_resizes;
	size_t *first_resize;	/* [nr_fields + 1] */
	struct lm_layout_mark *marks; /* [nr_units] of now */
};

struct lm_objective {
	struct lm_arena arena;
	const struct lm_subject *s;
	const struct lm_rules *rules;
	uint32_t line;
	bool base_fixed;
	struct side *sides;	/* [nr_views] */
};

static void add_resizes(struct lm_objective *o, struct side *side, const struct lm_record *rec)
{
	side->first_resize = LM_ARENA_ARRAY(&o->arena, size_t, rec->nr_fields + 1);
	for (uint32_t f = 0; f < rec->nr_fields; f++) {
		const struct lm_field *field = &rec->fields[f];
		uint32_t align = field->type_align > field->attr_align ? field->type_align : field->attr_align;
		int64_t step = align > STEP ? align : STEP;

		side->first_resize[f] = side->nr_resizes;
		if (!(field->is_record || field->is_array) || field->flexible || !field->size)
			continue;
		for (int64_t by = -(SHRINK / step) * step; by <= GROW; by += step) {
			if (!by || (by < 0 && (uint64_t)-by >= field->size))
				continue;
			*LM_ARENA_PUSH(&o->arena, side->resizes, side->nr_resizes, side->cap_resizes) =
				(struct lm_resize){ .field = f, .bytes = by };
		}
	}
	side->first_resize[rec->nr_fields] = side->nr_resizes;
}

struct touches {
	struct lm_touch *items;
	size_t nr, cap;
};

static void add_touch(struct lm_arena *arena, struct touches *t, struct lm_touch touch)
{
	*LM_ARENA_PUSH(arena, t->items, t->nr, t->cap) = touch;
}

/* The touches of view v, and for those of arrays what they stand for at other elements. */
static struct touches widen(const struct lm_usage *u, uint32_t v, const struct lm_record *rec, struct lm_arena *arena)
{
	struct touches t = { 0 };

	for (size_t i = 0; i < u->nr_touches[v]; i++) {
		struct lm_touch touch = u->touches[v][i];
		const struct lm_field *f = &rec->fields[touch.field];
		uint64_t nr = f->is_array && f->elem_size ? f->size / f->elem_size : 0;

		add_touch(arena, &t, touch);
		if (nr < 2 || nr > MAX_ELEMENTS)
			continue;
		touch.reads *= other_element;
		touch.writes *= other_element;
		for (uint64_t e = 0, own = touch.offset / f->elem_size, at = touch.offset % f->elem_size; e < nr; e++) {
			touch.offset = e * f->elem_size + at;
			if (e != own && touch.offset + touch.size <= f->size)
				add_touch(arena, &t, touch);
		}
	}
	return t;
}

/* Pricing of view v by the widened touches. */
static struct lm_cost *widened_cost(const struct lm_view *view, const struct lm_usage *u, uint32_t v,
				    const struct lm_cost_opts *opts, struct lm_arena *arena)
{
	struct lm_usage wide = *u;
	struct touches t = widen(u, v, view->rec, arena);

	wide.touches = LM_ARENA_ARRAY(arena, struct lm_touch *, v + 1);
	wide.nr_touches = LM_ARENA_ARRAY(arena, size_t, v + 1);
	wide.touches[v] = t.items;
	wide.nr_touches[v] = t.nr;
	return lm_cost_new(view, &wide, v, opts);
}

struct lm_objective *lm_objective_new(const struct lm_subject *s, const struct lm_rules *r, const struct lm_usage *u,
				      const struct lm_objective_opts *opts)
{
	struct lm_objective *o = calloc(1, sizeof(*o));

	if (!o)
		lm_oom();
	o->s = s;
	o->rules = r;
	o->line = opts->line;
	o->base_fixed = true;
	o->sides = LM_ARENA_ARRAY(&o->arena, struct side, s->nr_views);

	struct lm_order identity = lm_order_identity(s, &o->arena);
	struct lm_cost_opts cost_opts = { .line = opts->line, .base_align = opts->base_align };

	for (uint32_t v = 0; v < s->nr_views; v++) {
		const struct lm_record *rec = s->views[v].rec;
		struct side *side = &o->sides[v];

		side->before.bit_offset = LM_ARENA_ARRAY(&o->arena, uint64_t, rec->nr_fields + 1);
		side->now.bit_offset = LM_ARENA_ARRAY(&o->arena, uint64_t, rec->nr_fields + 1);
		side->marks = LM_ARENA_ARRAY(&o->arena, struct lm_layout_mark, s->body->nr_units);
		side->real = lm_cost_new(&s->views[v], u, v, &cost_opts);
		side->cost = widened_cost(&s->views[v], u, v, &cost_opts, &o->arena);
		o->base_fixed &= lm_cost_base_fixed(side->cost);
		add_resizes(o, side, rec);
		lm_layout_units(&s->views[v], s->body->nr_units, &identity, o->line, NULL, &side->before);
		side->alone = lm_cost_layout(side->cost, &side->before) - lm_cost_between(side->cost, &side->before);
		side->most_saved = lm_cost_most_saved(side->cost);
	}
	return o;
}

void lm_objective_free(struct lm_objective *o)
{
	if (!o)
		return;
	for (uint32_t v = 0; v < o->s->nr_views; v++) {
		lm_cost_free(o->sides[v].real);
		lm_cost_free(o->sides[v].cost);
	}
	lm_arena_release(&o->arena);
	free(o);
}

/* Lays the order out in view v; false if a rule or the size forbids it. */
static bool lay_out(struct lm_objective *o, uint32_t v, const struct lm_order *order)
{
	struct side *side = &o->sides[v];

	lm_layout_units(&o->s->views[v], o->s->body->nr_units, order, o->line, side->marks, &side->now);
	if (o->rules)
		return lm_rules_layout_ok(o->s, o->rules, v, &side->before, &side->now, o->line,
					  lm_cost_base_fixed(side->cost));
	return side->now.size <= side->before.size;
}

/* Lays the order out in every view; false if it is forbidden. */
static bool lay_out_all(struct lm_objective *o, const struct lm_order *order)
{
	if (o->rules && !lm_rules_order_ok(o->s, o->rules, order))
		return false;
	for (uint32_t v = 0; v < o->s->nr_views; v++)
		if (!lay_out(o, v, order))
			return false;
	return true;
}

double lm_objective_cost(struct lm_objective *o, const struct lm_order *order)
{
	double sum = 0;

	if (!lay_out_all(o, order))
		return INFINITY;
	for (uint32_t v = 0; v < o->s->nr_views; v++)
		sum += o->sides[v].alone + lm_cost_between(o->sides[v].cost, &o->sides[v].now);
	return sum;
}

double lm_objective_transfers(struct lm_objective *o, const struct lm_order *order)
{
	double sum = 0;

	if (!lay_out_all(o, order))
		return INFINITY;
	for (uint32_t v = 0; v < o->s->nr_views; v++)
		sum += lm_cost_layout(o->sides[v].real, &o->sides[v].now);
	return sum;
}

double lm_objective_whole_arrays(struct lm_objective *o, const struct lm_order *order)
{
	double sum = 0;

	if (!lay_out_all(o, order))
		return INFINITY;
	for (uint32_t v = 0; v < o->s->nr_views; v++)
		sum += lm_cost_between(o->sides[v].cost, &o->sides[v].now) -
		       lm_cost_between(o->sides[v].real, &o->sides[v].now);
	return sum / other_element;
}

/* Sums and bounds of a robust cost in the making. */
struct tally {
	double sum, rest;	/* rest: the least that what is still to come may add */
	double enough;
	double worst;		/* of the views that are done */
	size_t every;		/* perturbations: all (1), or every second, third, ... one */
};

static bool is_enough(const struct tally *t)
{
	return t->sum + t->rest > t->enough;
}

/* How many layouts a view is priced in: as it stands, and under each perturbation, or each `every`th. */
static double nr_priced(const struct side *side, size_t every)
{
	return (double)((side->nr_resizes + every - 1) / every) + 1;
}

/* With one field resized, whose unit stands at a position: the most that it costs, or most. */
static double tally_resizes(struct lm_objective *o, uint32_t v, const struct lm_order *order, uint32_t position,
			    uint32_t field, double most, struct tally *t)
{
	struct side *side = &o->sides[v];
	double n = nr_priced(side, t->every);
	size_t first = (side->first_resize[field] + t->every - 1) / t->every * t->every;

	for (size_t i = first; i < side->first_resize[field + 1] && !is_enough(t); i += t->every) {
		double cost;

		lm_layout_resized(&o->s->views[v], o->s->body->nr_units, order, o->line, side->marks, position,
				  &side->resizes[i], &side->now);
		cost = lm_cost_between(side->cost, &side->now);
		most = cost > most ? cost : most;
		t->sum += cost / n;
		t->rest += side->most_saved / n;
	}
	return most;
}

/*
 * Adds view v, laid out in now, under change; stops when the tally is surely
 * too high.  From the last position to the first: what stands before a resized
 * field is as it was.
 */
static void tally_view(struct lm_objective *o, uint32_t v, const struct lm_order *order, struct tally *t)
{
	const struct lm_view *view = &o->s->views[v];
	struct side *side = &o->sides[v];
	double n = nr_priced(side, t->every), cost = lm_cost_between(side->cost, &side->now), most = cost;

	t->sum += cost / n;
	t->rest += side->most_saved / n;
	for (uint32_t i = o->s->body->nr_units; i-- > 0 && !is_enough(t);) {
		uint32_t unit = order->units[i], first = view->first_field[unit];

		for (uint32_t k = 0; k < view->nr_fields[unit]; k++)
			most = tally_resizes(o, v, order, i, first + k, most, t);
	}
	t->worst += side->alone + most;
}

double lm_objective_guess(struct lm_objective *o, const struct lm_order *order)
{
	struct tally t = { .enough = INFINITY, .every = GUESSED };

	if (!lay_out_all(o, order))
		return INFINITY;
	for (uint32_t v = 0; v < o->s->nr_views; v++)
		t.sum += o->sides[v].alone + (v ? lm_cost_between(o->sides[v].cost, &o->sides[v].now) : 0);
	tally_view(o, 0, order, &t);
	return t.sum;
}

double lm_objective_robust(struct lm_objective *o, const struct lm_order *order, double enough, double *worst)
{
	struct tally t = { .enough = enough, .every = 1 };

	if (!lay_out_all(o, order))
		return INFINITY;
	for (uint32_t v = 0; v < o->s->nr_views; v++) {
		t.sum += o->sides[v].alone;
		t.rest -= o->sides[v].most_saved;
	}
	for (uint32_t v = 0; v < o->s->nr_views; v++) {
		tally_view(o, v, order, &t);
		if (t.sum + t.rest > enough)
			return INFINITY;
	}
	if (worst)
		*worst = t.worst;
	return t.sum;
}

const struct lm_layout *lm_objective_before(const struct lm_objective *o, uint32_t v)
{
	return &o->sides[v].before;
}

struct lm_cost *lm_objective_pricing(struct lm_objective *o, uint32_t v)
{
	return o->sides[v].real;
}

bool lm_objective_base_fixed(const struct lm_objective *o)
{
	return o->base_fixed;
}

const struct lm_resize *lm_objective_perturbations(const struct lm_objective *o, uint32_t v, size_t *nr)
{
	*nr = o->sides[v].nr_resizes;
	return o->sides[v].resizes;
}
