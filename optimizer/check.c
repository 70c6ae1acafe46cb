/*
 * check.c - is this plan right?
 *
 * Written apart from the search: its own walk over the order, its own reading
 * of the rules, its own pricing straight from the formula, line by line,
 * without memory or increments.  Only the ABI's rules have one home (layout.c);
 * what gcc and clang make of the header is checked again by output/verify.c.
 */
#include "optimizer/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUG(...) lm_err_new(LM_ERR_BUG, "The plan failed our own check: " __VA_ARGS__)

static struct lm_err *check_permutation(const struct lm_subject *s, const struct lm_order *o)
{
	uint32_t n = s->body->nr_units;
	uint8_t *seen = calloc(n + 1, 1);
	struct lm_err *err = NULL;

	if (!seen)
		lm_oom();
	for (uint32_t i = 0; i < n && !err; i++) {
		if (o->units[i] >= n || seen[o->units[i]])
			err = BUG("its order is no permutation at place %u.", i);
		else
			seen[o->units[i]] = 1;
	}
	free(seen);
	return err;
}

/* Where unit u stands in the order. */
static uint32_t place_of(const struct lm_subject *s, const struct lm_order *o, uint32_t u)
{
	uint32_t i = 0;

	while (i < s->body->nr_units && o->units[i] != u)
		i++;
	return i;
}

/* Does a segment begin between a and a later b that nothing may pass?  Padding may be, for a smaller record. */
static bool parted(const struct lm_rules *r, const struct lm_plan *plan, uint32_t a, uint32_t b)
{
	for (uint32_t u = a + 1; u <= b; u++)
		if (r->segment[u] != r->segment[u - 1] && !(plan->for_size && r->padding[u]))
			return true;
	return false;
}

/* Any two units of different segments keep their order; fixed units keep theirs; blocks stay whole. */
static struct lm_err *check_order_rules(const struct lm_subject *s, const struct lm_rules *r, const struct lm_plan *plan)
{
	const struct lm_order *o = &plan->order;
	uint32_t n = s->body->nr_units;

	for (uint32_t a = 0; a < n; a++) {
		uint32_t at = place_of(s, o, a);

		for (uint32_t b = a + 1; b < n; b++) {
			bool bound = parted(r, plan, a, b) || (r->fixed[a] && r->fixed[b]);

			if (bound && place_of(s, o, b) < at)
				return BUG("%s may not come before %s.", s->body->units[b].name,
					   s->body->units[a].name);
		}
		if (r->block[a] != a && place_of(s, o, a - 1) + 1 != at)
			return BUG("%s was torn from %s.", s->body->units[a].name, s->body->units[a - 1].name);
	}
	return NULL;
}

static struct lm_err *check_layout(const struct lm_subject *s, const struct lm_rules *r, const struct lm_plan *plan,
				   uint32_t v, uint32_t line)
{
	const struct lm_view *view = &s->views[v];
	const struct lm_record *rec = view->rec;
	const struct lm_layout *before = &plan->before[v], *after = &plan->after[v];
	struct lm_arena arena = { 0 };
	struct lm_layout again = { .bit_offset = LM_ARENA_ARRAY(&arena, uint64_t, rec->nr_fields + 1) };
	struct lm_err *err = NULL;

	lm_layout_units(view, s->body->nr_units, &plan->order, line, NULL, &again);
	if (again.size != after->size || again.align != after->align ||
	    memcmp(again.bit_offset, after->bit_offset, rec->nr_fields * sizeof(uint64_t)))
		err = BUG("laid out again in configuration %s, it comes out otherwise.", view->config);
	if (!err && (before->size != rec->size || before->align != rec->align))
		err = BUG("the declared order comes out at %llu bytes in configuration %s, clang says %llu.",
			  (unsigned long long)before->size, view->config, (unsigned long long)rec->size);
	if (!err && after->size > rec->size)
		err = BUG("it grows configuration %s to %llu bytes.", view->config, (unsigned long long)after->size);
	for (uint32_t f = 0; f < rec->nr_fields && !err; f++) {
		if (before->bit_offset[f] != rec->fields[f].bit_offset)
			err = BUG("member %s of the declared order comes out elsewhere than clang says in "
				  "configuration %s.", rec->fields[f].key, view->config);
		else if (r->fixed_offset[view->field_unit[f]] && after->bit_offset[f] != rec->fields[f].bit_offset)
			err = BUG("member %s must keep its offset in configuration %s.", rec->fields[f].key,
				  view->config);
	}
	lm_arena_release(&arena);
	return err;
}

/* A touch of one line, for one base. */
struct hit {
	uint64_t line;
	uint32_t object, cpu, site;
	double touches, writes;
};

struct hits {
	struct hit *items;
	size_t nr, cap;
};

static int by_line_object_cpu_site(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

static void add_hit(struct hits *h, struct hit hit)
{
	if (h->nr == h->cap) {
		h->cap = h->cap ? 2 * h->cap : 1024;
		h->items = reallocarray(h->items, h->cap, sizeof(*h->items));
		if (!h->items)
			lm_oom();
	}
	h->items[h->nr++] = hit;
}

/* Adds up hits [i, end) of one CPU: the largest rates of each site.  They are sorted by site. */
static void cpu_rates(const struct hit *h, size_t i, size_t end, double *T, double *W)
{
	*T = *W = 0;
	while (i < end) {
		double touches = 0, writes = 0;
		uint32_t site = h[i].site;

		for (; i < end && h[i].site == site; i++) {
			touches = fmax(touches, h[i].touches);
			writes = fmax(writes, h[i].writes);
		}
		*T += touches;
		*W += writes;
	}
}

/* The formula of cost.h for hits [i, end): one line, one object.  T and W have room for every CPU. */
static double price_group(const struct hit *h, size_t i, size_t end, double *T, double *W)
{
	size_t cpus = 0;
	double sum = 0;

	while (i < end) {
		size_t next = i;

		while (next < end && h[next].cpu == h[i].cpu)
			next++;
		cpu_rates(h, i, next, &T[cpus], &W[cpus]);
		cpus++;
		i = next;
	}
	for (size_t q = 0; q < cpus; q++) {
		double V = 0;

		for (size_t p = 0; p < cpus; p++)
			V += p == q ? 0 : W[p];
		if (T[q] > 0)
			sum += T[q] * V / (T[q] + V) + LM_COST_EPS * T[q];
	}
	return sum;
}

static double price_hits(struct hits *hits, uint32_t nr_cpus)
{
	double *T = calloc(nr_cpus + 1, sizeof(*T)), *W = calloc(nr_cpus + 1, sizeof(*W)), sum = 0;
	const struct hit *h = hits->items;

	if (!T || !W)
		lm_oom();
	if (hits->nr)
		qsort(hits->items, hits->nr, sizeof(*h), by_line_object_cpu_site);
	for (size_t i = 0, end; i < hits->nr; i = end) {
		for (end = i; end < hits->nr && h[end].line == h[i].line && h[end].object == h[i].object;)
			end++;
		sum += price_group(h, i, end, T, W);
	}
	free(T);
	free(W);
	return sum;
}

static double price_view(const struct lm_subject *s, const struct lm_usage *u, const struct lm_plan_opts *opts,
			 const struct lm_layout *l, uint32_t v)
{
	uint32_t align = s->views[v].rec->align > opts->base_align ? s->views[v].rec->align : opts->base_align;
	uint32_t bases = align && align < opts->line ? opts->line / align : 1;
	double sum = 0;

	for (uint32_t b = 0; b < bases; b++) {
		struct hits hits = { 0 };

		for (size_t i = 0; i < u->nr_touches[v]; i++) {
			const struct lm_touch *t = &u->touches[v][i];
			uint64_t begin = l->bit_offset[t->field] / 8 + t->offset + b * (uint64_t)align;

			for (uint64_t line = begin / opts->line; line * opts->line < begin + t->size; line++)
				add_hit(&hits, (struct hit){ line, t->object, t->cpu, t->site,
							     fmax(t->reads, t->writes), t->writes });
		}
		sum += price_hits(&hits, u->nr_cpus);
		free(hits.items);
	}
	return sum / bases;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fmax(1, fmax(fabs(a), fabs(b)));
}

static bool gives_back(const struct lm_subject *s, const struct lm_plan *plan)
{
	for (uint32_t v = 0; v < s->nr_views; v++)
		if (plan->after[v].size < s->views[v].rec->size)
			return true;
	return false;
}

struct lm_err *lm_check_plan(const struct lm_subject *s, const struct lm_rules *r, const struct lm_usage *u,
			     const struct lm_plan_opts *opts, const struct lm_plan *plan)
{
	struct lm_err *err = NULL;
	double before = 0, after = 0;

	if (plan->verdict == LM_VERDICT_REFUSED)
		return r->refused ? NULL : BUG("it refuses without a rule.");
	err = check_permutation(s, &plan->order);
	if (!err)
		err = check_order_rules(s, r, plan);
	for (uint32_t v = 0; v < s->nr_views && !err; v++)
		err = check_layout(s, r, plan, v, opts->line);
	if (err)
		return err;
	for (uint32_t v = 0; v < s->nr_views; v++) {
		before += price_view(s, u, opts, &plan->before[v], v);
		after += price_view(s, u, opts, &plan->after[v], v);
	}
	if (!near(before, plan->transfers_before) || !near(after, plan->transfers_after))
		return BUG("it claims %.3f -> %.3f transfers, the formula gives %.3f -> %.3f.", plan->transfers_before,
			   plan->transfers_after, before, after);
	if (plan->for_size && !(after <= before * (1 + 1e-6) && gives_back(s, plan)))
		return BUG("it moves members for a smaller record, but costs more or gives nothing back.");
	if (plan->bound_proven && plan->bound > after * (1 + 1e-6) + 1e-6)
		return BUG("its bound of %.3f transfers is above the %.3f of its own order.", plan->bound, after);
	return NULL;
}
