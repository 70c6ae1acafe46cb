/*
 * constant.h - the value of an integer constant expression as clang prints it
 * in an attribute: aligned(1 << (6)), _Alignas(double).  Only what is certain:
 * anything else is left to clang itself.
 */
#ifndef LM_OPTIMIZER_CONSTANT_H
#define LM_OPTIMIZER_CONSTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A type the target knows; name as clang spells it. */
struct lm_constant_type {
	const char *name;
	uint64_t size;
	uint32_t align;		/* inside a struct: what _Alignof says */
};

/*
 * True and *value if text[0 .. len) is an expression of integers, + - * / % <<
 * >> & | ^ ~ ! comparisons, && || ?: and sizeof or _Alignof of the given types.
 * False where that is not so or a step overflows; *value is untouched then.
 */
bool lm_constant_eval(const char *text, size_t len, const struct lm_constant_type *types, size_t nr_types,
		      int64_t *value);

#endif
