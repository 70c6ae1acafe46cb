/*
 * cost.h - usage + layout -> expected transfers.  Pure.
 *
 * A line holds a set of leaves.  Site e on CPU q touches it at rate r(e,q), the
 * largest of its rates on any leaf of the line (one touch of several leaves
 * counts once), and writes it at the largest of its write rates.  With
 *
 *   T_q = sum of r(e,q)             touches of the line by CPU q
 *   W_q = the same of writes        V_q = sum of W_p over p != q
 *
 * and accesses interleaved at random (Poisson), CPU q finds its copy gone with
 * probability V_q / (T_q + V_q):
 *
 *   transfers = sum over q of T_q V_q / (T_q + V_q)     + LM_COST_EPS * sum of T_q
 *
 * 0 (but for eps) for a line that one CPU owns or nobody writes; never falls
 * when a leaf is added.  Objects do not share lines: the sum runs over objects.
 *
 * Where the record's alignment does not fix the base, the cost is the mean over
 * all bases that it allows.
 */
#ifndef LM_OPTIMIZER_COST_H
#define LM_OPTIMIZER_COST_H

#include "base/arena.h"
#include "optimizer/join.h"
#include "optimizer/layout.h"

#define LM_COST_EPS 1e-4

/* Prepared for one view: call lm_cost_layout() many times.  One thread each. */
struct lm_cost;

struct lm_cost_opts {
	uint32_t line;		/* bytes, a power of 2 */
	uint32_t base_align;	/* bytes that the allocator guarantees; at least the record's alignment is taken */
};

/* From malloc; free with lm_cost_free. */
struct lm_cost *lm_cost_new(const struct lm_view *view, const struct lm_usage *usage, uint32_t view_index,
			    const struct lm_cost_opts *opts);
void lm_cost_free(struct lm_cost *c);

/* Expected transfers of the whole record under this layout. */
double lm_cost_layout(struct lm_cost *c, const struct lm_layout *layout);

/*
 * What the units cost each other: the transfers of every line less those of
 * each unit alone on it.  Contention inside one unit, which no order of units
 * decides (but for the luck of where a line ends), is left out.  Below 0 where
 * units that the same sites touch together share lines.
 */
double lm_cost_between(struct lm_cost *c, const struct lm_layout *layout);

/* No layout has an lm_cost_between() below minus this. */
double lm_cost_most_saved(struct lm_cost *c);

/* Per line, with the base on a line: transfers of line i in out[i], i < nr; returns the sum. */
double lm_cost_lines(struct lm_cost *c, const struct lm_layout *layout, double *out, size_t nr);

/*
 * Transfers of one line that held exactly these touches (indexes into the
 * view's touches): the price of a set.  Used for pairs, true sharing, columns.
 */
double lm_cost_set(struct lm_cost *c, const uint32_t *touches, size_t nr);

/* True if the base of every object lies on a line under these options. */
bool lm_cost_base_fixed(const struct lm_cost *c);

#endif
