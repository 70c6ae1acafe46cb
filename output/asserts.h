/*
 * asserts.h - compile-time assertions behind the record that keep what a plan
 * parted apart: the compiler of whoever changes it next says so.
 */
#ifndef LM_OUTPUT_ASSERTS_H
#define LM_OUTPUT_ASSERTS_H

#include "optimizer/promise.h"
#include "output/report.h"

/* How assertions are written here, plainest last. */
#define LM_ASSERT_MANNERS(X) \
	X(GROUPS, "static_assert", "offsetof", "L1_CACHE_BYTES") \
	X(KERNEL, "static_assert", "offsetof", "L1_CACHE_BYTES") \
	X(DPDK, "static_assert", "offsetof", "RTE_CACHE_LINE_SIZE") \
	X(C11, "static_assert", "offsetof", NULL) \
	X(OFFSETOF, "_Static_assert", "offsetof", NULL) \
	X(PLAIN, "_Static_assert", "__builtin_offsetof", NULL)

enum lm_assert_manner {
#define X(name, word, offset, line) LM_ASSERT_##name,
	LM_ASSERT_MANNERS(X)
#undef X
	LM_NR_ASSERT_MANNERS
};

struct lm_asserts {
	size_t at;		/* byte of the old header that they go before: the start of a line */
	const char *text;	/* whole lines */
	size_t len;
	uint32_t nr;		/* assertions; 0: nothing can be asserted */
};

/*
 * Where assertions about the record can stand: behind the line of its ';'.
 * LM_ERR_REFUSED with path:line: it is no declaration of its own at file level.
 */
struct lm_err *lm_asserts_place(const char *path, const struct lm_body *body, const struct lm_record *rec,
				struct lm_arena *arena, size_t *at) LM_MUST_CHECK;

/*
 * Assertions for the promises of kind APART that hold in every configuration,
 * each under the guards of its members.  GROUPS also asserts the groups
 * of __cacheline_group_begin() that the members are in, with
 * CACHELINE_ASSERT_GROUP_MEMBER().  text and nr only; in arena.
 */
void lm_asserts_make(const struct lm_story *story, const struct lm_promises *p, enum lm_assert_manner manner,
		     struct lm_arena *arena, struct lm_asserts *out);

/* A copy of text with the assertions put in at `at`. */
char *lm_asserts_insert(const struct lm_asserts *a, const char *text, size_t len, size_t at, struct lm_arena *arena);

/* Puts them into the rewritten header, and says so in what verify.c goes by. */
void lm_asserts_append(const struct lm_asserts *a, const struct lm_body *body, struct lm_arena *arena,
		       struct lm_rewrite *rewrite);

#endif
