/* plan.c - from facts to a plan, one line a step. */
#include "optimizer/plan.h"

#include "base/parallel.h"
#include "optimizer/check.h"
#include "optimizer/figures.h"
#include "optimizer/moves.h"
#include "optimizer/objective.h"
#include "optimizer/packing.h"
#include "optimizer/pairs.h"
#include "optimizer/realise.h"
#include "optimizer/shrink.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { MAX_WORKERS = 16, DEFAULT_SECONDS = 60 };

static const double least_share = 0.001;	/* pairs below this share of all transfers are not listed */
static const double worth_share = 0.01;		/* savings below this share are no reason for a patch */
static const double enough_share = 0.95;	/* of the possible gain: no more moves than that needs */
static const double least_samples = 10;		/* transfers saved, in samples, that are more than noise */
static const double hot_threshold = 0.001;	/* share of touches that the packing problem may leave out */

/* What the steps share. */
struct planning {
	const struct lm_subject *s;
	const struct lm_rules *r;
	const struct lm_usage *u;
	const struct lm_plan_opts *opts;
	struct lm_arena *arena;
	struct lm_objective *workers[MAX_WORKERS];
	size_t nr_workers;
	double until;
	struct lm_order starts[LM_REALISED];
	size_t nr_starts;
	bool late;		/* the search ended because time was over */
	struct lm_plan *plan;
};

static void make_workers(struct planning *p)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct lm_objective_opts opts = { .line = p->opts->line, .base_align = p->opts->base_align };

	p->nr_workers = cpus < 1 ? 1 : cpus > MAX_WORKERS ? MAX_WORKERS : (size_t)cpus;
	for (size_t w = 0; w < p->nr_workers; w++)
		p->workers[w] = lm_objective_new(p->s, p->r, p->u, &opts);
}

static void free_workers(struct planning *p)
{
	for (size_t w = 0; w < p->nr_workers; w++)
		lm_objective_free(p->workers[w]);
}

static struct lm_layout *lay_out(const struct planning *p, const struct lm_order *order)
{
	struct lm_layout *l = LM_ARENA_ARRAY(p->arena, struct lm_layout, p->s->nr_views);

	for (uint32_t v = 0; v < p->s->nr_views; v++) {
		l[v].bit_offset = LM_ARENA_ARRAY(p->arena, uint64_t, p->s->views[v].rec->nr_fields + 1);
		lm_layout_units(&p->s->views[v], p->s->body->nr_units, order, p->opts->line, NULL, &l[v]);
	}
	return l;
}

/* What the units of the base view cost without each other. */
static double alone_in_base(const struct planning *p, const struct lm_layout *layouts)
{
	struct lm_cost *c = lm_objective_pricing(p->workers[0], 0);

	return lm_cost_layout(c, &layouts[0]) - lm_cost_between(c, &layouts[0]);
}

/* How things stand before anything moves. */
static void describe_before(struct planning *p)
{
	struct lm_plan *plan = p->plan;

	plan->order = lm_order_identity(p->s, p->arena);
	plan->before = plan->after = lay_out(p, &plan->order);
	plan->base_fixed = lm_objective_base_fixed(p->workers[0]);
	plan->fig_before = LM_ARENA_ARRAY(p->arena, struct lm_view_figures, p->s->nr_views);
	lm_figures_make(p->s, p->u, plan->before, p->opts->line, p->opts->base_align, plan->fig_before);
	plan->fig_after = plan->fig_before;
	for (uint32_t v = 0; v < p->s->nr_views; v++)
		plan->transfers_before += plan->fig_before[v].transfers;
	plan->transfers_after = plan->transfers_before;

	double least = plan->transfers_before / p->s->nr_views * least_share;

	lm_pairs_find(p->s, p->u, p->workers[0], plan->before, p->opts->line, least > 0 ? least : 1e-9, p->arena,
		      &plan->pairs, &plan->nr_pairs);
	lm_pairs_true_sharing(p->s, p->u, p->workers[0], p->opts->line, least, p->arena, &plan->shared,
			      &plan->nr_shared);
	plan->shared_total = alone_in_base(p, plan->before);
}

/* The packing problem of every view: the proven bound, and orders to start from. */
static struct lm_err *solve_packing(struct planning *p)
{
	double seconds = (p->until - lm_now()) / 2 / p->s->nr_views;

	p->plan->bound_proven = p->plan->base_fixed;
	for (uint32_t v = 0; p->plan->base_fixed && v < p->s->nr_views; v++) {
		struct lm_pack pack = { 0 };
		struct lm_packing packing = { 0 };
		struct lm_err *err;

		lm_progress("solving the packing problem", v, p->s->nr_views);
		lm_pack_build(p->s, p->r, p->u, v, lm_objective_pricing(p->workers[0], v), &p->plan->before[v], p->opts->line,
			      hot_threshold, p->arena, &pack);
		err = lm_packing_solve(&pack, seconds, p->arena, &packing);
		if (err)
			return err;
		p->plan->bound += packing.bound;
		p->plan->bound_proven &= packing.proven;
		if (!v)
			lm_realise(p->s, p->r, v, &pack, &packing, p->opts->line, p->arena, p->starts, &p->nr_starts);
	}
	lm_progress("solving the packing problem", 1, 1);
	return NULL;
}

static void search_moves(struct planning *p)
{
	uint8_t *hot = lm_arena_alloc(p->arena, p->s->body->nr_units + 1);

	for (uint32_t v = 0; v < p->s->nr_views; v++)
		for (size_t i = 0; i < p->u->nr_touches[v]; i++)
			hot[p->s->views[v].field_unit[p->u->touches[v][i].field]] = 1;

	struct lm_search search = {
		.s = p->s, .rules = p->r, .workers = p->workers, .nr_workers = p->nr_workers, .hot = hot,
		.line = p->opts->line, .bound = p->plan->bound,
		.allow_barriers = p->opts->allow_barriers, .until = p->until,
	};

	lm_moves_search(&search, p->starts, p->nr_starts, p->arena, &p->plan->curve, &p->plan->nr_curve,
			&p->plan->exhaustive);
	p->late = lm_now() >= p->until;
	p->plan->curve[0].transfers = p->plan->transfers_before;	/* also where it breaks a rule of the person's own */
}

/* The point to recommend: as few moves as reach most of the gain, within what the person allows. */
static const struct lm_curve_point *choose(const struct planning *p)
{
	const struct lm_curve_point *c = p->plan->curve;
	uint32_t first = 0, last = p->plan->nr_curve - 1;

	/* Where the declared order breaks a rule of the person's own, the gain counts from the first that keeps it. */
	if (!isfinite(c[0].cost) && last)
		first = 1;
	if (p->opts->moves > 0)
		while (last > first && c[last].moves > (uint32_t)p->opts->moves)
			last--;
	if (p->opts->moves)
		return &c[last];

	for (uint32_t i = first; i < last; i++)
		if (c[first].cost - c[i].reach >= enough_share * (c[first].cost - c[last].reach))
			return &c[i];
	return &c[last];
}

static bool sampled(const struct lm_usage *u)
{
	return u->worst != LM_EVIDENCE_EXACT;
}

/* What units cost each other in the declared order: as pairs, or, where many small ones add up, as a whole. */
static double fights_of(const struct planning *p)
{
	double pairs = 0, between = 0;

	for (uint32_t i = 0; i < p->plan->nr_pairs; i++)
		pairs += p->plan->pairs[i].inside ? 0 : p->plan->pairs[i].excess;
	for (uint32_t v = 0; v < p->s->nr_views; v++)
		between += lm_cost_between(lm_objective_pricing(p->workers[0], v), &p->plan->before[v]);
	return fmax(pairs, between);
}

/* Is the point worth a patch?  If not, why is the record kept? */
static bool worth_it(const struct planning *p, const struct lm_curve_point *point, enum lm_kept *kept)
{
	const struct lm_plan *plan = p->plan;
	double before = plan->transfers_before, saved = before - point->transfers;

	if (point->moves && !isfinite(plan->curve[0].cost))
		return true;	/* the declared order breaks a rule of the person's own */
	if (point->moves && saved >= worth_share * before && saved > 0) {
		*kept = LM_KEPT_WEAK_EVIDENCE;
		return !sampled(p->u) || saved / p->s->nr_views >= least_samples;
	}
	if (before <= 2 * LM_COST_EPS * (double)p->u->total * p->s->nr_views)
		*kept = LM_KEPT_NO_CONTENTION;
	else if (fights_of(p) < worth_share * before)
		*kept = LM_KEPT_TRUE_SHARING;
	else if (!plan->exhaustive && p->late)
		*kept = LM_KEPT_TIME;
	else
		*kept = point->moves ? LM_KEPT_SMALL_GAIN : LM_KEPT_NO_ORDER;
	return false;
}

/* Pairs inside one unit come and go with the place of a line's end: they are not new. */
static bool is_new_pair(const struct lm_plan *plan, const struct lm_pair *p)
{
	for (uint32_t i = 0; i < plan->nr_pairs; i++)
		if (plan->pairs[i].view == p->view && plan->pairs[i].leaf_a == p->leaf_a &&
		    plan->pairs[i].leaf_b == p->leaf_b)
			return false;
	return !p->inside;
}

static void find_new_pairs(struct planning *p)
{
	struct lm_plan *plan = p->plan;
	double least = plan->transfers_before / p->s->nr_views * least_share;
	uint32_t nr, kept = 0;

	lm_pairs_find(p->s, p->u, p->workers[0], plan->after, p->opts->line, least > 0 ? least : 1e-9, p->arena,
		      &plan->new_pairs, &nr);
	for (uint32_t i = 0; i < nr; i++)
		if (is_new_pair(plan, &plan->new_pairs[i]))
			plan->new_pairs[kept++] = plan->new_pairs[i];
	plan->nr_new_pairs = kept;
}

/* Pairs that matter for stability: a real part of what is saved. */
static uint32_t pairs_that_matter(const struct lm_plan *plan, uint32_t nr_views)
{
	double saved = (plan->transfers_before - plan->transfers_after) / nr_views;
	uint32_t n = 0;

	while (n < plan->nr_pairs && plan->pairs[n].excess >= 0.05 * saved)
		n++;
	return n;
}

static void describe_after(struct planning *p, const struct lm_curve_point *point)
{
	struct lm_plan *plan = p->plan;

	plan->verdict = LM_VERDICT_MOVED;
	plan->order = lm_order_copy(p->s, &point->order, p->arena);
	plan->after = lay_out(p, &plan->order);
	plan->fig_after = LM_ARENA_ARRAY(p->arena, struct lm_view_figures, p->s->nr_views);
	lm_figures_make(p->s, p->u, plan->after, p->opts->line, p->opts->base_align, plan->fig_after);
	plan->transfers_after = 0;
	for (uint32_t v = 0; v < p->s->nr_views; v++)
		plan->transfers_after += plan->fig_after[v].transfers;
	plan->shared_total = alone_in_base(p, plan->after);
	lm_moves_list(p->s, &plan->order, p->arena, &plan->moves, &plan->nr_moves);
	lm_pairs_judge(p->s, p->u, plan->after, p->opts->line, p->opts->base_align, plan->pairs, plan->nr_pairs);
	find_new_pairs(p);
	lm_pairs_stability(p->s, p->u, p->workers[0], &plan->order, plan->pairs,
			   pairs_that_matter(plan, p->s->nr_views), p->opts->line, p->opts->base_align, &plan->stability);
}

/* No order is worth a patch for its transfers: is one for the lines that it gives back? */
static bool give_back(struct planning *p, const struct lm_curve_point **point)
{
	struct lm_plan *plan = p->plan;
	struct lm_curve_point *curve = LM_ARENA_ARRAY(p->arena, struct lm_curve_point, 2);

	if (plan->kept == LM_KEPT_TIME || !lm_shrink_find(p->s, p->r, p->u, p->opts, p->until, p->arena, &curve[1]))
		return false;
	curve[0] = plan->curve[0];
	plan->curve = curve;
	plan->nr_curve = 2;
	plan->for_size = true;
	/* The bound is of orders that pass no padding. */
	plan->bound = 0;
	plan->bound_proven = false;
	*point = &curve[1];
	return true;
}

static struct lm_err *make(struct planning *p)
{
	struct lm_err *err;
	const struct lm_curve_point *point;

	describe_before(p);
	err = solve_packing(p);
	if (err)
		return err;
	search_moves(p);
	point = choose(p);
	if (!worth_it(p, point, &p->plan->kept) && !give_back(p, &point)) {
		p->plan->verdict = LM_VERDICT_KEPT;
		return NULL;
	}
	describe_after(p, point);
	return NULL;
}

struct lm_err *lm_plan_make(const struct lm_subject *s, const struct lm_rules *r, const struct lm_usage *u,
			    const struct lm_plan_opts *opts, struct lm_arena *arena, struct lm_plan *out)
{
	struct lm_plan plan = { 0 };
	struct planning p = { .s = s, .r = r, .u = u, .opts = opts, .arena = arena, .plan = &plan };
	struct lm_err *err;

	if (r->refused) {
		plan.verdict = LM_VERDICT_REFUSED;
		*out = plan;
		return NULL;
	}
	p.until = lm_now() + (opts->seconds > 0 ? opts->seconds : DEFAULT_SECONDS);
	make_workers(&p);
	err = make(&p);
	free_workers(&p);
	if (!err)
		err = lm_check_plan(s, r, u, opts, &plan);
	if (!err)
		*out = plan;
	return err;
}
