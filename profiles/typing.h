/*
 * typing.h - what lies at an offset of a type, and which pointer says more.
 *
 * A reach is what a pointer is known to point to: a byte of a type, or any of
 * offset + k * stride, k from 0, where an index is in a register.
 */
#ifndef LM_PROFILES_TYPING_H
#define LM_PROFILES_TYPING_H

#include "base/str.h"
#include "profiles/debuginfo_code.h"

struct lm_reach {
	uint32_t type;		/* LM_NO_TYPE: not known */
	int64_t offset;
	uint64_t stride;	/* 0: exactly there */
	bool whole;		/* type is a variable's: there is nothing around it */
};

/*
 * True if a leaf names its place: a member, an element or a variable.  A plain
 * pointer to a number names the number's type only: what it lies in is open.
 */
#define LM_LEAF_IS_NAMED(leaf, reach) ((leaf).record != LM_NO_TYPE || (reach).whole)

/* How to look at types: those that are only declared are completed by what this unit saw. */
struct lm_typing {
	struct lm_debuginfo *bin;
	uint32_t unit;
};

/* Where a reach ends. */
struct lm_type_leaf {
	uint32_t type;		/* of the bytes touched: a number, a pointer */
	uint32_t record;	/* innermost record or union around it, LM_NO_TYPE: none */
	const char *member;	/* its member there; "" */
	int64_t at;		/* offset inside the innermost record */
	bool indexed;		/* some element of an array: offset names the first */
};

/*
 * Follows reach into its type for an access of size bytes (0: not known).
 * False: outside, or the stride fits no array there.  path, if not NULL, gets
 * the dotted members from the outermost record; where the element is not
 * known it ends with the array, and *rest is the offset behind path.
 */
struct lm_err *lm_typing_leaf(const struct lm_typing *t, struct lm_reach reach, uint32_t size, struct lm_str *path,
			      uint64_t *rest, struct lm_type_leaf *ret, bool *found) LM_MUST_CHECK;

/*
 * The elements that a reach with a stride may mean: *nr of them, each stride
 * behind the one before, *first is the offset of the first.  *nr is 0 where the
 * number is not known (an array without length) or there is no stride.
 */
struct lm_err *lm_typing_elements(const struct lm_typing *t, struct lm_reach reach, uint32_t size, int64_t *first,
				  size_t *nr) LM_MUST_CHECK;

/* True if a pointer to inner fits at this reach: some object of the type inner starts there. */
struct lm_err *lm_typing_holds(const struct lm_typing *t, struct lm_reach outer, uint32_t inner, bool *ret)
	LM_MUST_CHECK;

/*
 * Where objects of the type inner lie in outer, by offset: at most cap places
 * are written, *nr counts all.  Array elements but the first are left out.
 */
struct lm_err *lm_typing_parts(const struct lm_typing *t, uint32_t outer, uint32_t inner, uint64_t *places, size_t cap,
			       size_t *nr) LM_MUST_CHECK;

/* Same name, kind and size, whichever unit they are from. */
struct lm_err *lm_typing_same(const struct lm_typing *t, uint32_t a, uint32_t b, bool *ret) LM_MUST_CHECK;

/* The id with a definition, where one is known; else id. */
struct lm_err *lm_typing_complete(const struct lm_typing *t, uint32_t id, struct lm_type *type, uint32_t *ret)
	LM_MUST_CHECK;

#endif
