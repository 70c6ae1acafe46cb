/*
 * cost_line.h - the price of one line, kept up to date while touches are added
 * and taken back.  The only home of the formula of cost.h.  Pure.
 *
 * Built once for a table of touches: sites, CPUs and objects become dense
 * slots, so that adding a touch costs a few additions, and asking for the value
 * a pass over the CPUs of the objects that changed.  Search and pricing do that
 * some ten million times.
 *
 * A touch of `reads` and `writes` (an atomic read-modify-write counts in both)
 * is max(reads, writes) touches of the line: x++ is one touch, not two.  A slot
 * is one (site, cpu, object); it counts with the largest rate and the largest
 * write rate of the touches that are on the line.
 *
 * Pricing one line after another: mark, push, value, pop to the mark.
 */
#ifndef LM_OPTIMIZER_COST_LINE_H
#define LM_OPTIMIZER_COST_LINE_H

#include "optimizer/join.h"

#include <stddef.h>
#include <stdint.h>

struct lm_cost_line;

/* An empty line over these touches, which are copied.  From malloc; free with lm_cost_line_free.  One thread each. */
struct lm_cost_line *lm_cost_line_new(const struct lm_touch *touches, size_t nr);
void lm_cost_line_free(struct lm_cost_line *l);	/* NULL is fine */

/* Adds touch number i of the table.  Adding one twice changes nothing. */
void lm_cost_line_push(struct lm_cost_line *l, uint32_t i);

/* A point to come back to.  pop_to() restores exactly what was there, bit for bit. */
size_t lm_cost_line_mark(const struct lm_cost_line *l);
void lm_cost_line_pop_to(struct lm_cost_line *l, size_t mark);

/* Empties the line. */
void lm_cost_line_clear(struct lm_cost_line *l);

/* Expected transfers of the line as it is, with LM_COST_EPS per touch. */
double lm_cost_line_value(struct lm_cost_line *l);

/* ---- for bounds: what a line would cost at least if more were added ---- */

/* Where touch i counts, and with how much.  Cells (one per object and CPU) are numbered by object, then CPU. */
struct lm_cost_entry {
	uint32_t slot, cell;
	double touches, writes;
};
struct lm_cost_entry lm_cost_line_entry(const struct lm_cost_line *l, uint32_t i);

/* One (site, cpu, object): its rates on the line now. */
struct lm_cost_slot {
	uint32_t cell;
	double touches, writes;
};

/* All slots, *nr of them; borrowed, and always up to date. */
const struct lm_cost_slot *lm_cost_line_slots(const struct lm_cost_line *l, uint32_t *nr);

/* Touches and writes added to T_q and W_q of one cell. */
struct lm_cost_part {
	uint32_t cell;
	double touches, writes;
};

/*
 * value(share x line + parts) - share x value(line), parts sorted by cell, at
 * most one a cell.  T V / (T + V) is concave and homogeneous, so the price of
 * a sum of lines is at least the sum of their prices: with shares that add up
 * to at most 1, value(line + parts of a + parts of b + ...) is at least
 * value(line) plus the sum of these figures.
 */
double lm_cost_line_adds(struct lm_cost_line *l, double share, const struct lm_cost_part *parts, uint32_t nr);

#endif
