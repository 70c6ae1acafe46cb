/*
 * objective.h - how good is an order?  What its units cost each other in every
 * configuration, as it stands and under change.
 *
 * Three kinds of luck are kept out.  Which element of an array is hot depends on
 * the workload: an access to one counts with a twentieth of its rate for each
 * of the others, so that orders part a reader from the whole array.  Contention inside one unit (a timer and the
 * lock beside it in one nested record) changes with the place where a line
 * happens to end, and no order of units can promise it: an order is judged by
 * lm_cost_between().  And the cheapest order of today's offsets may be lucky: a
 * nested record grows by eight bytes, and two fields meet again.  So an order is
 * also priced with one member at a time resized: every member whose type is a
 * record or an array, by -32 to +64 bytes in steps of its alignment (at least
 * 8).  The *robust* cost of a configuration is the mean over the unchanged layout
 * and all of these; that of an order is the sum over configurations.
 */
#ifndef LM_OPTIMIZER_OBJECTIVE_H
#define LM_OPTIMIZER_OBJECTIVE_H

#include "optimizer/cost.h"
#include "optimizer/rules.h"

#include <stdbool.h>

struct lm_objective_opts {
	uint32_t line;		/* bytes */
	uint32_t base_align;	/* bytes */
};

/* One thread each.  Everything borrowed must outlive it. */
struct lm_objective;

/* Rules may be NULL: then nothing is forbidden but growth. */
struct lm_objective *lm_objective_new(const struct lm_subject *s, const struct lm_rules *r, const struct lm_usage *u,
				      const struct lm_objective_opts *opts);
void lm_objective_free(struct lm_objective *o);	/* NULL is fine */

/*
 * Costs start from what the units cost alone in the declared order: so they are
 * comparable with transfers, and equal to them there.
 *
 * The cost of the order as it stands, summed over configurations; INFINITY if
 * the order breaks a rule or grows a configuration.
 */
double lm_objective_cost(struct lm_objective *o, const struct lm_order *order);

/* Its expected transfers, contention inside units and all; INFINITY likewise. */
double lm_objective_transfers(struct lm_objective *o, const struct lm_order *order);

/*
 * What units would cost each other besides if every element of an array were as
 * hot as the hottest: transfers as it stands, summed over configurations.
 */
double lm_objective_whole_arrays(struct lm_objective *o, const struct lm_order *order);

/*
 * A cheap guess of the robust cost: the first configuration under a quarter of
 * its changes, the others as they stand.  INFINITY as above.
 */
double lm_objective_guess(struct lm_objective *o, const struct lm_order *order);

/*
 * The robust cost.  Gives up with INFINITY as soon as it is sure to exceed
 * `enough`.  *worst (may be NULL) is the cost if each configuration met with the
 * perturbation that hurts it most.
 */
double lm_objective_robust(struct lm_objective *o, const struct lm_order *order, double enough, double *worst);

/* The declared order's layout in view v. */
const struct lm_layout *lm_objective_before(const struct lm_objective *o, uint32_t v);

/* The pricing of view v by the accesses as they are. */
struct lm_cost *lm_objective_pricing(struct lm_objective *o, uint32_t v);

bool lm_objective_base_fixed(const struct lm_objective *o);	/* in every view */

/* The perturbations of view v, [*nr]. */
const struct lm_resize *lm_objective_perturbations(const struct lm_objective *o, uint32_t v, size_t *nr);

#endif
