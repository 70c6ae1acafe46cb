/* constant.c - the value of an integer constant expression as clang prints it. */
#include "optimizer/constant.h"

#include "optimizer/scan.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_DIGITS = 40 };

struct eval {
	const char *text;
	size_t len, at;
	const struct lm_constant_type *types;
	size_t nr_types;
	unsigned depth;
};

static bool expression(struct eval *e, unsigned level, int64_t *value);

static void blank(struct eval *e)
{
	e->at = lm_scan_blank(e->text, e->len, e->at);
}

static bool accept(struct eval *e, const char *token)
{
	size_t n = strlen(token);

	blank(e);
	if (e->len - e->at < n || memcmp(e->text + e->at, token, n))
		return false;
	e->at += n;
	return true;
}

/* The type between the parentheses at e->at; NULL if it is none of ours. */
static const struct lm_constant_type *type_name(struct eval *e)
{
	const struct lm_constant_type *found = NULL;
	size_t start, end;

	if (!accept(e, "("))
		return NULL;
	blank(e);
	start = end = e->at;
	while (end < e->len && e->text[end] != ')' && e->text[end] != '(')
		end++;
	for (size_t i = 0; i < e->nr_types && !found; i++)
		if (strlen(e->types[i].name) == end - start && !memcmp(e->types[i].name, e->text + start, end - start))
			found = &e->types[i];
	if (!found || end == e->len || e->text[end] != ')')
		return NULL;
	e->at = end + 1;
	return found;
}

static bool integer(struct eval *e, int64_t *value)
{
	char digits[MAX_DIGITS], *rest;
	size_t end = lm_scan_token(e->text, e->len, e->at), n = end - e->at;

	if (n >= sizeof(digits))
		return false;
	memcpy(digits, e->text + e->at, n);
	digits[n] = 0;
	errno = 0;

	unsigned long long v = strtoull(digits, &rest, 0);

	if (errno || v > INT64_MAX || rest[strspn(rest, "uUlL")])
		return false;
	e->at = end;
	*value = (int64_t)v;
	return true;
}

/* sizeof(type), _Alignof(type). GNU's __alignof may be larger than the alignment in a struct: left to clang. */
static bool type_operator(struct eval *e, int64_t *value)
{
	size_t start = e->at, end = lm_scan_token(e->text, e->len, start), n = end - start;
	bool is_size = n == 6 && !memcmp(e->text + start, "sizeof", n);
	bool is_align = n == 8 && !memcmp(e->text + start, "_Alignof", n);

	if (!is_size && !is_align)
		return false;
	e->at = end;
	blank(e);

	const struct lm_constant_type *t = type_name(e);

	if (t)
		*value = is_size ? (int64_t)t->size : t->align;
	return t != NULL;
}

static bool primary(struct eval *e, int64_t *value)
{
	bool ok;

	blank(e);
	if (e->at >= e->len)
		return false;
	if (isdigit((unsigned char)e->text[e->at]))
		return integer(e, value);
	if (lm_scan_is_name(e->text, e->len, e->at))
		return type_operator(e, value);
	if (!accept(e, "("))
		return false;
	ok = expression(e, 0, value);
	return ok && accept(e, ")");
}

static bool unary(struct eval *e, int64_t *value)
{
	static const char signs[] = "-+~!";
	bool ok;

	blank(e);

	const char *sign = e->at < e->len && e->text[e->at] ? strchr(signs, e->text[e->at]) : NULL;

	if (!sign)
		return primary(e, value);
	if (++e->depth > MAX_DEPTH)
		return false;
	e->at++;
	ok = unary(e, value);
	e->depth--;
	if (!ok)
		return false;
	switch (*sign) {
	case '-':
		return !__builtin_sub_overflow((int64_t)0, *value, value);
	case '~':
		*value = ~*value;
		return true;
	case '!':
		*value = !*value;
		return true;
	}
	return true;
}

enum operator { MUL, DIV, MOD, ADD, SUB, SHL, SHR, LE, GE, LT, GT, EQ, NE, AND, XOR, OR, LAND, LOR, NR_OPERATORS };

/* Longer spellings stand before their prefixes. */
static const struct {
	const char *text;
	enum operator op;
	unsigned level;		/* binds tighter the higher it is */
} operators[] = {
	{ "||", LOR, 1 }, { "&&", LAND, 2 }, { "<<", SHL, 8 }, { ">>", SHR, 8 }, { "<=", LE, 7 }, { ">=", GE, 7 },
	{ "==", EQ, 6 }, { "!=", NE, 6 }, { "<", LT, 7 }, { ">", GT, 7 }, { "|", OR, 3 }, { "^", XOR, 4 },
	{ "&", AND, 5 }, { "+", ADD, 9 }, { "-", SUB, 9 }, { "*", MUL, 10 }, { "/", DIV, 10 }, { "%", MOD, 10 },
};

static bool shift(int64_t a, int64_t b, bool left, int64_t *value)
{
	if (a < 0 || b < 0 || b > 62 || (left && a > (INT64_MAX >> b)))
		return false;
	*value = left ? a << b : a >> b;
	return true;
}

static bool divide(int64_t a, int64_t b, bool modulo, int64_t *value)
{
	if (b == 0 || (a == INT64_MIN && b == -1))
		return false;
	*value = modulo ? a % b : a / b;
	return true;
}

static bool apply(enum operator op, int64_t a, int64_t b, int64_t *value)
{
	switch (op) {
	case MUL: return !__builtin_mul_overflow(a, b, value);
	case ADD: return !__builtin_add_overflow(a, b, value);
	case SUB: return !__builtin_sub_overflow(a, b, value);
	case DIV: return divide(a, b, false, value);
	case MOD: return divide(a, b, true, value);
	case SHL: return shift(a, b, true, value);
	case SHR: return shift(a, b, false, value);
	case LE: *value = a <= b; return true;
	case GE: *value = a >= b; return true;
	case LT: *value = a < b; return true;
	case GT: *value = a > b; return true;
	case EQ: *value = a == b; return true;
	case NE: *value = a != b; return true;
	case AND: *value = a & b; return true;
	case XOR: *value = a ^ b; return true;
	case OR: *value = a | b; return true;
	case LAND: *value = a && b; return true;
	case LOR: *value = a || b; return true;
	case NR_OPERATORS: break;
	}
	return false;
}

/* The operator at e->at that binds tighter than level; NR_OPERATORS if there is none. */
static enum operator next_operator(struct eval *e, unsigned level, unsigned *found)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		size_t before = e->at;

		if (!accept(e, operators[i].text))
			continue;
		if (operators[i].level > level) {
			*found = operators[i].level;
			return operators[i].op;
		}
		e->at = before;
		break;
	}
	return NR_OPERATORS;
}

/* level 0 takes everything, ?: included. */
static bool expression(struct eval *e, unsigned level, int64_t *value)
{
	int64_t right, other;
	unsigned found;
	bool ok;

	if (++e->depth > MAX_DEPTH)
		return false;
	ok = unary(e, value);
	for (enum operator op; ok && (op = next_operator(e, level, &found)) != NR_OPERATORS;)
		ok = expression(e, found, &right) && apply(op, *value, right, value);
	if (ok && level == 0 && accept(e, "?")) {
		ok = expression(e, 0, &right) && accept(e, ":") && expression(e, 0, &other);
		if (ok)
			*value = *value ? right : other;
	}
	e->depth--;
	return ok;
}

bool lm_constant_eval(const char *text, size_t len, const struct lm_constant_type *types, size_t nr_types,
		      int64_t *value)
{
	struct eval e = { .text = text, .len = len, .types = types, .nr_types = nr_types };
	int64_t v;

	if (!expression(&e, 0, &v))
		return false;
	blank(&e);
	if (e.at != len)
		return false;
	*value = v;
	return true;
}
