/*
 * compiled.h - the rewritten header compiled by gcc and by clang, in every
 * configuration, and what their debug info says of the record.
 *
 * Prepared, then run one by one in any order and on any thread, then collected.
 */
#ifndef LM_OUTPUT_COMPILED_H
#define LM_OUTPUT_COMPILED_H

#include "output/mirror.h"
#include "output/verify.h"

struct lm_compilation;

struct lm_compilations {
	const struct lm_verify_request *req;
	struct lm_mirror mirror;
	char *dir, *links;	/* temporary; NULL until made */
	struct lm_compilation *items; /* in arena */
	size_t nr;
};

/*
 * Makes the mirror and the list.  out is zero; lm_compilations_remove() in any
 * case, and before arena is released.  LM_ERR_INPUT: no compiler, or temporary
 * files cannot be written.
 */
struct lm_err *lm_compilations_prepare(const struct lm_verify_request *req, struct lm_arena *arena,
				       struct lm_compilations *out) LM_MUST_CHECK;

/* Compiles number i, once.  What is wrong is told by lm_compilations_collect(). */
void lm_compilations_run(struct lm_compilations *c, size_t i);

/* All have run: the first error in order, as lm_verify(), or what compiled. */
struct lm_err *lm_compilations_collect(struct lm_compilations *c, struct lm_arena *arena,
				       struct lm_verified *out) LM_MUST_CHECK;

/* Removes the temporary files and frees what the compilations hold. */
void lm_compilations_remove(struct lm_compilations *c);

#endif
