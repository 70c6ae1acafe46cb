/* picture_parts.h - between picture.c and picture_pairs.c only. */
#ifndef LM_OUTPUT_PICTURE_PARTS_H
#define LM_OUTPUT_PICTURE_PARTS_H

#include "output/picture.h"

/* A picture in the making. */
struct lm_pic_work {
	const struct lm_rows *rows;
	uint32_t v;
	const struct lm_view *view;
	struct lm_arena *arena;
	struct lm_picture *pic;
	struct lm_cost *cost;
	double most;		/* reads or writes of the hottest part */
};

/* Pairs that the picture shows, at most: each has a number of one digit. */
#define LM_PIC_PAIRS 9

/* The main pairs as they lie in a layout; after the change also new ones. */
void lm_pic_add_pairs(struct lm_pic_work *w, const struct lm_layout *l, bool is_after, struct lm_pic_side *side);

/* Links the fields of main pairs that change their line. */
void lm_pic_mark_pairs(struct lm_pic_work *w);

#endif
