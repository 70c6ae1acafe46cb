/*
 * realise.h - lines chosen by the packing problem -> orders of all units.
 *
 * The packing problem says which hot leaves should share a line.  An order
 * that does it puts the units of one chosen line side by side, fills the line's
 * free bytes with cold units and begins the next.  Whether rules and alignment
 * let it come out so is for the objective to say: these orders are starts for
 * the search, nothing more.
 */
#ifndef LM_OPTIMIZER_REALISE_H
#define LM_OPTIMIZER_REALISE_H

#include "optimizer/packing.h"

/* A few orders made from the solution for view v, at most LM_REALISED; *nr of them. */
#define LM_REALISED 4
void lm_realise(const struct lm_subject *s, const struct lm_rules *r, uint32_t v, const struct lm_pack *pack,
		const struct lm_packing *packing, uint32_t line, struct lm_arena *arena, struct lm_order *orders,
		size_t *nr);

#endif
