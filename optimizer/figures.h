/* figures.h - a layout in numbers: size, lines, holes, transfers. */
#ifndef LM_OPTIMIZER_FIGURES_H
#define LM_OPTIMIZER_FIGURES_H

#include "optimizer/plan.h"

/* All but the transfers. */
void lm_figures_shape(const struct lm_record *rec, const struct lm_layout *l, uint32_t line,
		      struct lm_view_figures *out);

/* The figures of every view [nr_views] under these layouts, transfers at line and at twice the line. */
void lm_figures_make(const struct lm_subject *s, const struct lm_usage *u, const struct lm_layout *layouts,
		     uint32_t line, uint32_t base_align, struct lm_view_figures *out);

#endif
