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

#endif
