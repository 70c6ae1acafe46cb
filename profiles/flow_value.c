/* flow_value.c - arithmetic on what is known of a register. */
#include "profiles/flow_value.h"

bool lm_value_equal(struct lm_flow_value a, struct lm_flow_value b)
{
	return a.kind == b.kind && a.type == b.type && a.offset == b.offset && a.stride == b.stride;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static int64_t wrap_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static uint64_t distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

struct lm_flow_value lm_value_add(struct lm_flow_value a, struct lm_flow_value b)
{
	if (a.kind == LM_V_NUMBER && b.kind != LM_V_NUMBER)
		return lm_value_add(b, a);
	if (b.kind != LM_V_NUMBER)
		return LM_V_ANY;
	a.offset = wrap_add(a.offset, b.offset);
	if (a.kind == LM_V_NUMBER && b.stride) {
		/* 2 * k + k is 3 * k */
		bool same = a.stride && a.type == b.type && a.type != LM_NO_TYPE;

		a.type = same || !a.stride ? b.type : LM_NO_TYPE;
		a.stride = same ? a.stride + b.stride : gcd(a.stride, b.stride);
	} else {
		a.stride = gcd(a.stride, b.stride);
	}
	return a;
}

struct lm_flow_value lm_value_sub(struct lm_flow_value a, struct lm_flow_value b)
{
	if (b.kind == LM_V_NUMBER && !b.stride) {
		a.offset = wrap_add(a.offset, (int64_t)(0 - (uint64_t)b.offset));
		return a;
	}
	if (a.kind == LM_V_NUMBER && b.kind == LM_V_NUMBER && a.type == b.type && a.type != LM_NO_TYPE &&
	    a.stride > b.stride) {
		a.offset = wrap_add(a.offset, (int64_t)(0 - (uint64_t)b.offset));
		a.stride -= b.stride;
		return a;
	}
	return LM_V_ANY;
}

struct lm_flow_value lm_value_scale(struct lm_flow_value a, int64_t by)
{
	struct lm_flow_value v = LM_V_CONST(0);

	if (by <= 0 || by > INT32_MAX)
		return LM_V_ANY;
	if (a.kind == LM_V_NUMBER && a.stride <= INT32_MAX) {
		v.offset = (int64_t)((uint64_t)a.offset * (uint64_t)by);
		v.stride = a.stride * (uint64_t)by;
		v.type = a.type;
	} else {
		v.stride = (uint64_t)by;
	}
	return v;
}

static bool is_constant(struct lm_flow_value v)
{
	return v.kind == LM_V_NUMBER && !v.stride;
}

struct lm_flow_value lm_value_multiply(struct lm_flow_value a, struct lm_flow_value b)
{
	if (is_constant(a))
		return a.offset ? lm_value_scale(b, a.offset) : a;
	if (is_constant(b))
		return b.offset ? lm_value_scale(a, b.offset) : b;
	return LM_V_ANY;
}

struct lm_flow_value lm_value_insert(struct lm_flow_value a, unsigned at, int64_t imm)
{
	uint64_t mask = UINT64_C(0xffff) << at;

	if (!is_constant(a))
		return LM_V_ANY;
	return LM_V_CONST((int64_t)(((uint64_t)a.offset & ~mask) | ((uint64_t)imm << at & mask)));
}

/*
 * The low bits of k have a name made of k's, so that 2 * (k & 7) + (k & 7) is
 * 3 * (k & 7).  It tells how many bits there are: taking as many again changes nothing.
 */
struct lm_flow_value lm_value_bits(struct lm_flow_value a, unsigned bits)
{
	struct lm_flow_value v = LM_V_ANY;

	if (a.kind != LM_V_NUMBER)
		return v;
	if (!a.stride)
		return LM_V_CONST(bits < 64 ? a.offset & (int64_t)((UINT64_C(1) << bits) - 1) : a.offset);
	/* As everywhere, what is left of a number in 32 bits is taken for the number. */
	if (bits >= 32)
		return a;
	if (a.stride != 1 || a.offset || a.type == LM_NO_TYPE)
		return v;
	if (a.type > LM_V_NAMES && (a.type & 31) <= bits)
		return a;
	v.type = (LM_V_NAMES + 1) | ((a.type * 0x9e3779b1u & LM_V_NAMES) >> 5 << 5) | bits;
	return v;
}

/* NULL and error numbers in pointers are never followed. */
static bool is_no_pointer(struct lm_flow_value v)
{
	return v.kind == LM_V_NUMBER && !v.stride && v.offset <= 0 && v.offset >= -4095;
}

/* Two pointers into different types: the smaller one, if it lies in the other at this place. */
static struct lm_err *join_pointers(const struct lm_typing *t, struct lm_flow_value a, struct lm_flow_value b,
				    struct lm_flow_value *ret)
{
	struct lm_reach outer = { a.type, a.offset - b.offset, 0, false };
	bool holds = false;
	struct lm_err *err = lm_typing_holds(t, outer, b.type, &holds);

	*ret = LM_V_ANY;
	if (err)
		return err;
	if (holds) {
		*ret = b;
	} else {
		outer = (struct lm_reach){ b.type, b.offset - a.offset, 0, false };
		err = lm_typing_holds(t, outer, a.type, &holds);
		if (!err && holds)
			*ret = a;
	}
	ret->stride = ret->kind == LM_V_POINTER ? gcd(a.stride, b.stride) : 1;
	return err;
}

struct lm_err *lm_value_join(const struct lm_typing *t, struct lm_flow_value old, struct lm_flow_value more,
			     struct lm_flow_value *ret)
{
	bool equal = false;
	struct lm_err *err = NULL;

	*ret = old;
	if (lm_value_equal(old, more))
		return NULL;
	if (old.kind == LM_V_NUMBER && old.type != more.type)
		ret->type = LM_NO_TYPE;
	if (old.kind != more.kind) {
		if (old.kind == LM_V_POINTER && is_no_pointer(more))
			return NULL;
		*ret = more.kind == LM_V_POINTER && is_no_pointer(old) ? more : LM_V_ANY;
		return NULL;
	}
	if (old.kind == LM_V_POINTER && old.type != more.type) {
		err = lm_typing_same(t, old.type, more.type, &equal);
		if (err || !equal)
			return err ? err : join_pointers(t, old, more, ret);
	}
	if (old.kind == LM_V_FRAME && old.offset != more.offset) {
		*ret = LM_V_ANY;
		return NULL;
	}
	ret->stride = gcd(gcd(old.stride, more.stride), distance(old.offset, more.offset));
	return NULL;
}

/* Types of which a pointer tells nothing: it is used for raw memory. */
static bool is_raw(const struct lm_typing *t, uint32_t id)
{
	struct lm_type type;

	if (id == LM_NO_TYPE)
		return true;
	type = lm_debuginfo_type_head(t->bin, id);
	return type.kind == LM_TYPE_FUNCTION || (type.kind == LM_TYPE_SCALAR && type.size <= 1);
}

static bool is_scalar(const struct lm_typing *t, uint32_t id)
{
	enum lm_type_kind kind = lm_debuginfo_type_head(t->bin, id).kind;

	return kind == LM_TYPE_SCALAR || kind == LM_TYPE_POINTER;
}

struct lm_err *lm_value_refine(const struct lm_typing *t, struct lm_flow_value flow, struct lm_flow_value told,
			       struct lm_flow_value *ret)
{
	struct lm_reach outer = { flow.type, flow.offset - told.offset, flow.stride, false };
	struct lm_type_leaf leaf;
	bool yes = false;
	struct lm_err *err = NULL;

	*ret = flow;
	if (told.kind != LM_V_POINTER || flow.kind == LM_V_FRAME)
		return NULL;
	if (flow.kind == LM_V_NUMBER) {
		/* A constant address is a variable's: its own type says more. */
		if (flow.stride)
			*ret = told;
		return NULL;
	}
	if (is_raw(t, told.type))
		return NULL;
	err = lm_typing_holds(t, outer, told.type, &yes);
	/* Two members that have met are no array: what they have in common is their type. */
	if (!err && yes && flow.stride)
		err = lm_typing_leaf(t, outer, 0, NULL, NULL, &leaf, &yes);
	if (err || yes)
		return err;
	if (!is_scalar(t, told.type) || is_scalar(t, flow.type))
		*ret = told;
	return NULL;
}

struct lm_err *lm_value_of_type(const struct lm_typing *t, uint32_t id, struct lm_flow_value *ret)
{
	struct lm_type type;
	struct lm_err *err;

	*ret = LM_V_ANY;
	if (id == LM_NO_TYPE || lm_debuginfo_type_head(t->bin, id).kind != LM_TYPE_POINTER)
		return NULL;
	err = lm_debuginfo_type(t->bin, id, &type);
	if (!err && type.target != LM_NO_TYPE)
		*ret = (struct lm_flow_value){ .kind = LM_V_POINTER, .type = type.target };
	return err;
}
