/* history_parts.h - what the files of history.h share, and nobody else needs. */
#ifndef LM_OUTPUT_HISTORY_PARTS_H
#define LM_OUTPUT_HISTORY_PARTS_H

#include "output/history.h"

/* A commit whose layout may be asked for: one of the range, a parent of one outside it, or the range's start. */
struct lm_node {
	struct lm_git_commit commit;
	uint32_t parent;		/* the node it is compared with; LM_NONE: the start */
	uint32_t *parents;		/* [commit.nr_parents] nodes, or LM_NONE */
	struct lm_arena arena;		/* owns files and version */
	struct lm_git_files files;	/* that differ from the parent's */
	bool parsed;
	struct lm_version version;
	char *why;			/* it has no layout */
	struct lm_accesses accesses;	/* what is joined to the version */
	bool has_accesses, priced;
};

/* The nearest ancestor along first parents that was parsed and has a layout, node itself included; LM_NONE: none. */
uint32_t lm_history_layout(const struct lm_history *h, uint32_t node);

#endif
