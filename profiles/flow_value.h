/*
 * flow_value.h - what a register may hold, and how that is computed.
 *
 * Four kinds, each "offset + k * stride, k from 0":
 *   NUMBER   a number; stride 0: a constant, 1: any number
 *   POINTER  an address in an object of a type, from its start
 *   FRAME    an address in this function's frame, from the canonical frame address
 * A number with a stride is an index: base + disp + 8 * k lies in the array at
 * disp, whichever element it is.
 */
#ifndef LM_PROFILES_FLOW_VALUE_H
#define LM_PROFILES_FLOW_VALUE_H

#include "profiles/typing.h"

enum lm_value_kind { LM_V_NUMBER, LM_V_POINTER, LM_V_FRAME };

struct lm_flow_value {
	enum lm_value_kind kind;
	uint32_t type;		/* of POINTER; of NUMBER a name for k, LM_NO_TYPE: none */
	int64_t offset;
	uint64_t stride;
};

/* Names of numbers that come from somewhere; those of their low bits lie above. */
#define LM_V_NAMES 0x3fffffffu

#define LM_V_ANY ((struct lm_flow_value){ .kind = LM_V_NUMBER, .type = LM_NO_TYPE, .stride = 1 })
#define LM_V_CONST(n) ((struct lm_flow_value){ .kind = LM_V_NUMBER, .type = LM_NO_TYPE, .offset = (n) })

bool lm_value_equal(struct lm_flow_value a, struct lm_flow_value b);
struct lm_flow_value lm_value_add(struct lm_flow_value a, struct lm_flow_value b);
struct lm_flow_value lm_value_sub(struct lm_flow_value a, struct lm_flow_value b);
struct lm_flow_value lm_value_scale(struct lm_flow_value a, int64_t by);
struct lm_flow_value lm_value_bits(struct lm_flow_value a, unsigned bits);	/* its lowest ones, as a number */

struct lm_flow_value lm_value_multiply(struct lm_flow_value a, struct lm_flow_value b);

/* 16 bits of a constant, from bit at on, become those of imm. */
struct lm_flow_value lm_value_insert(struct lm_flow_value a, unsigned at, int64_t imm);

/* What holds on both ways; old is what was known so far, and only ever gets weaker. */
struct lm_err *lm_value_join(const struct lm_typing *t, struct lm_flow_value old, struct lm_flow_value more,
			     struct lm_flow_value *ret) LM_MUST_CHECK;

/* flow is what the code says, told what a variable's declaration says: the one that says more. */
struct lm_err *lm_value_refine(const struct lm_typing *t, struct lm_flow_value flow, struct lm_flow_value told,
			       struct lm_flow_value *ret) LM_MUST_CHECK;

/* A pointer to the target of a pointer type; LM_V_ANY if type is none. */
struct lm_err *lm_value_of_type(const struct lm_typing *t, uint32_t type, struct lm_flow_value *ret) LM_MUST_CHECK;

#endif
