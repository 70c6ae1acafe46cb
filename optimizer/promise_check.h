/*
 * promise_check.h - does a layout keep its promises?  Pure: the layouts of all
 * configurations in, what is broken out.
 */
#ifndef LM_OPTIMIZER_PROMISE_CHECK_H
#define LM_OPTIMIZER_PROMISE_CHECK_H

#include "optimizer/layout.h"
#include "optimizer/promise.h"
#include "optimizer/subject.h"

/* A member that has to do with a breach, in one configuration. */
struct lm_breach_side {
	const char *member;	/* as the promise names it; NULL: there is no such side */
	const char *leaf;	/* what of it lies on the line: "events[8].counter"; in arena */
	uint32_t field;		/* of the view's record */
	uint64_t begin, end;	/* bytes from the record's start */
};

/* One broken promise in one configuration. */
struct lm_breach {
	uint32_t view;
	struct lm_breach_side a, b;	/* APART and the like: on one line; TOGETHER: the first and the last member */
	uint64_t line;			/* the line that they share, or that a is on */
	uint64_t size;			/* of the record */
	/*
	 * APART and the like: how much further apart they must get.  TOGETHER: how
	 * much closer.  MAX_SIZE: bytes too many.  LINE_START, FIRST: bytes behind.
	 */
	uint64_t bytes;
	uint64_t least;			/* MAX_SIZE: what the members have without what lies between them */
};

struct lm_broken {
	const struct lm_promise *promise;
	const struct lm_promise *other;	/* of a WRITE_HOT promise: the READ_MOSTLY one; else NULL */
	struct lm_breach *breaches;	/* by view, at least one */
	uint32_t nr_breaches;
};

struct lm_promise_verdict {
	struct lm_broken *broken;	/* in the order of the promises */
	size_t nr, cap;
	size_t nr_promises, nr_kept;	/* statements; nr_kept are broken in no configuration */
};

struct lm_promise_opts {
	uint32_t line;
	uint32_t base_align;	/* alignment of every object that the allocator guarantees, 0: only the type's */
};

/*
 * Judges.  layouts [nr_views], NULL: as clang says.  All in arena; p is borrowed.
 *
 * LM_ERR_INPUT with file:line: a member that no configuration has (names
 * similar ones), a configuration that is none, promises that no layout of this
 * record can keep: members promised together that are larger than a line, or
 * overlap and are promised apart.
 */
struct lm_err *lm_promises_judge(const struct lm_promises *p, const struct lm_subject *s,
				 const struct lm_layout *layouts, const struct lm_promise_opts *opts,
				 struct lm_arena *arena, struct lm_promise_verdict *out) LM_MUST_CHECK;

/* Does this one promise hold in view v?  True also where a member is absent or the promise is not given. */
bool lm_promise_holds(const struct lm_promise *p, const struct lm_subject *s, uint32_t v,
		      const struct lm_layout *layout, const struct lm_promise_opts *opts);

/* Does every object start on a line, in this view? */
bool lm_promise_base_fixed(const struct lm_view *view, const struct lm_promise_opts *opts);

#endif
