/*
 * history.h - a record's layout over a range of commits.
 *
 * Most commits cannot change a layout: those that touch no file which the unit
 * includes.  The set of these files is found by parsing both ends, and grows
 * with every commit that has to be parsed, until no commit touches it that was
 * not parsed.  A file that is added or taken away counts as touching the set if
 * a file of its name is in it: it may be found first.  (What only
 * __has_include asks for is not seen.)
 */
#ifndef LM_OUTPUT_HISTORY_H
#define LM_OUTPUT_HISTORY_H

#include "output/change.h"
#include "output/git.h"

struct lm_history_request {
	const struct lm_configs *configs;
	const char *record;
	const struct lm_git_range *range;	/* both ends */
	bool first_parent;
	uint32_t line, base_align, cpus;	/* as everywhere */
	const char *pair_a, *pair_b;		/* member paths, or NULL */
};

enum lm_history_kind {
	LM_HISTORY_UNTOUCHED,	/* touches no file that the unit includes */
	LM_HISTORY_SAME,	/* touches one, but the layout is the parent's */
	LM_HISTORY_CHANGED,
	LM_HISTORY_NO_LAYOUT,	/* does not compile, or has no such record */
	LM_HISTORY_MERGE,	/* has what one of its parents has */
};

struct lm_history_commit {
	struct lm_git_commit commit;
	enum lm_history_kind kind;
	bool touches_header;	/* the file that defines the record */
	const char *why;	/* NO_LAYOUT: the first error */
	struct lm_change change;	/* CHANGED */
	const char *came_in, *went_in;	/* configurations in which the pair came to share a line, or parted; "" */
	uint64_t came_line;	/* the line in the first of them */
};

struct lm_node;

struct lm_history {
	struct lm_arena arena;	/* owns everything below */
	struct lm_node *nodes;
	size_t nr_nodes;
	uint32_t first_node, last_node;	/* the ends of the range */
	struct lm_history_commit *commits;	/* children before parents */
	size_t nr;
	const char *title;
	const char *together_before, *together_after;	/* configurations in which the pair shares a line at the ends; "" */
	bool pair_known;	/* both members exist somewhere */
};

/*
 * Reads every commit's layout that may differ.  out is zero; release in any
 * case.  LM_ERR_INPUT: an end of the range has no layout (its first error), or
 * git or temporary files fail.
 */
struct lm_err *lm_history_read(const struct lm_history_request *req, struct lm_history *out) LM_MUST_CHECK;

/* The version at the range's end. */
struct lm_version *lm_history_last(const struct lm_history *h);

/* Compares each commit with its parent; accesses (NULL: none) price both. */
void lm_history_compare(const struct lm_history_request *req, const struct lm_accesses *accesses,
			struct lm_history *h);

void lm_history_text(const struct lm_history_request *req, const struct lm_history *h,
		     const struct lm_print_opts *opts, struct lm_str *out);
void lm_history_json(const struct lm_history_request *req, const struct lm_history *h, struct lm_str *out);

void lm_history_release(struct lm_history *h);

#endif
