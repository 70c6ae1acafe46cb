/*
 * callers.c - calls by their bytes, all in one pass; and what else may hold a
 * function's address.
 *
 * The bytes of a call are looked for at every place where one may start, which
 * is fast and finds too many: who asks looks at the caller's instructions.
 * Opcodes: Intel SDM volume 2 (CALL, JMP, Jcc), Arm ARM C4.1 (B, BL, B.cond,
 * ADRP, ADD).
 */
#include "profiles/callers.h"

#include <stdlib.h>
#include <string.h>

enum {
	SHORT_REACH = 130,	/* bytes that a jump of two bytes may span */
	ADD_WITHIN = 16,	/* arm64: instructions between adrp and the add that completes an address */
	MAX_NAME = 256,
};

struct branch { uint64_t target, at; };

struct lm_callers {
	const struct lm_flow_source *source;
	struct branch *branches;	/* by target, then by place */
	size_t nr, cap;
	bool listed;
	struct lm_arena arena;
};

struct lm_callers *lm_callers_new(const struct lm_flow_source *source)
{
	struct lm_callers *c = calloc(1, sizeof(*c));

	if (!c)
		lm_oom();
	c->source = source;
	return c;
}

void lm_callers_free(struct lm_callers *callers)
{
	if (!callers)
		return;
	lm_arena_release(&callers->arena);
	free(callers);
}

static uint32_t word(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t wide(const uint8_t *at)
{
	return word(at) | (uint64_t)word(at + 4) << 32;
}

static int64_t signed_bits(uint32_t value, unsigned bits)
{
	int64_t v = value & ((UINT32_C(1) << bits) - 1);

	return v >> (bits - 1) ? v - (INT64_C(1) << bits) : v;
}

/* ---- branches ---- */

/* x86: the distance of four bytes at p belongs to a call, a jump or a conditional jump; from: where that starts. */
static bool is_branch(const uint8_t *code, size_t p, size_t *from)
{
	*from = p - 1;
	if (p >= 1 && (code[p - 1] == 0xe8 || code[p - 1] == 0xe9))
		return true;
	*from = p - 2;
	return p >= 2 && code[p - 2] == 0x0f && (code[p - 1] & 0xf0) == 0x80;
}

static void add_branch(struct lm_callers *c, uint64_t target, uint64_t at)
{
	*LM_ARENA_PUSH(&c->arena, c->branches, c->nr, c->cap) = (struct branch){ target, at };
}

static void list_x86(struct lm_callers *c, const struct lm_image_part *part)
{
	size_t from;

	for (size_t p = 1; p + 4 <= part->len; p++) {
		const struct lm_image *image = c->source->image;
		uint64_t target = part->addr + p + 4 + (uint64_t)(int64_t)(int32_t)word(part->bytes + p);

		/* Functions start where symbols do: most bytes that look like a call fail here. */
		if (is_branch(part->bytes, p, &from) && lm_image_alias(image, target, 0))
			add_branch(c, target, part->addr + from);
	}
}

static void list_arm64(struct lm_callers *c, const struct lm_image_part *part)
{
	for (size_t p = 0; p + 4 <= part->len; p += 4) {
		uint32_t w = word(part->bytes + p);
		int64_t distance;

		if ((w & 0x7c000000) == 0x14000000)
			distance = signed_bits(w, 26) * 4;
		else if ((w & 0xff000010) == 0x54000000)
			distance = signed_bits(w >> 5, 19) * 4;
		else
			continue;
		if (lm_image_alias(c->source->image, part->addr + p + (uint64_t)distance, 0))
			add_branch(c, part->addr + p + (uint64_t)distance, part->addr + p);
	}
}

static int by_target(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void list_branches(struct lm_callers *c)
{
	enum lm_machine machine = lm_image_machine(c->source->image);
	struct lm_image_part part;

	for (size_t i = 0; lm_image_part(c->source->image, i, &part); i++) {
		if (!part.code || !part.bytes)
			continue;
		if (machine == LM_X86_64)
			list_x86(c, &part);
		else
			list_arm64(c, &part);
	}
	if (c->nr)
		qsort(c->branches, c->nr, sizeof(*c->branches), by_target);
	c->listed = true;
}

/* ---- other uses of an address ---- */

/* Tables of where the functions are, which the kernel's tracer has, call nothing. */
static bool is_table_of_tracer(const struct lm_image *image, uint64_t at)
{
	uint64_t from, to;

	return lm_image_find(image, "__start_mcount_loc", &from) && lm_image_find(image, "__stop_mcount_loc", &to) &&
		at >= from && at < to;
}

/* Tables of pointers, and the addends of relocations, which are words of memory, too. */
static bool in_data(const struct lm_image *image, const struct lm_image_part *part, uint64_t entry)
{
	size_t first = (8 - part->addr % 8) % 8;

	for (size_t p = first; p + 8 <= part->len; p += 8)
		if (wide(part->bytes + p) == entry && !is_table_of_tracer(image, part->addr + p))
			return true;
	return false;
}

/* Any four bytes that are the address (mov $entry); the distance to it behind lea's opcode (lea entry(%rip)). */
static bool in_x86(const struct lm_image_part *part, uint64_t entry)
{
	bool fits = (uint64_t)(int64_t)(int32_t)entry == entry || entry >> 32 == 0;

	for (size_t p = 0; p + 4 <= part->len; p++) {
		const uint8_t *at = part->bytes + p;
		uint32_t w = word(at);

		if (fits && w == (uint32_t)entry)
			return true;
		if (part->addr + p + 4 + (uint64_t)(int64_t)(int32_t)w == entry && p >= 2 && at[-2] == 0x8d &&
		    (at[-1] & 0xc7) == 0x05)
			return true;
	}
	return false;
}

/* adrp of its page, and an add of the rest soon behind. */
static bool in_arm64(const struct lm_image_part *part, uint64_t entry)
{
	for (size_t p = 0; p + 4 <= part->len; p += 4) {
		uint32_t w = word(part->bytes + p);
		int64_t pages;

		if ((w & 0x9f000000) != 0x90000000)
			continue;
		pages = signed_bits((w >> 5 & 0x7ffff) << 2 | (w >> 29 & 3), 21);
		if (((part->addr + p) >> 12) + (uint64_t)pages != entry >> 12)
			continue;
		for (size_t q = p + 4; q + 4 <= part->len && q <= p + 4 * ADD_WITHIN; q += 4)
			if ((word(part->bytes + q) & 0xffc00000) == 0x91000000 &&
			    (word(part->bytes + q) >> 10 & 0xfff) == (entry & 0xfff))
				return true;
	}
	return false;
}

/* What modules may call. */
static bool is_exported(const struct lm_image *image, const char *name)
{
	char symbol[MAX_NAME];
	uint64_t at;

	if (strlen(name) + sizeof("__ksymtab_") > sizeof(symbol))
		return true;
	memcpy(symbol, "__ksymtab_", sizeof("__ksymtab_"));
	strcat(symbol, name);
	return lm_image_find(image, symbol, &at);
}

static bool is_closed(const struct lm_callers *c, const struct lm_function *f, uint64_t entry)
{
	const struct lm_image *image = c->source->image;
	bool x86 = lm_image_machine(image) == LM_X86_64;
	struct lm_image_part part;

	if (lm_image_exports(image, entry) || is_exported(image, f->name))
		return false;
	for (size_t i = 0; lm_image_part(image, i, &part); i++) {
		if (part.bytes && !part.code && in_data(image, &part, entry))
			return false;
		if (part.bytes && part.code && (x86 ? in_x86(&part, entry) : in_arm64(&part, entry)))
			return false;
	}
	return true;
}

/* ---- the answer ---- */

struct answer {
	struct lm_debuginfo *bin;
	const struct lm_function *function;
	struct lm_call *calls;
	size_t cap, nr;
	bool closed;
};

static struct lm_err *add_call(struct answer *a, uint64_t at)
{
	const struct lm_function *caller;
	struct lm_err *err = lm_debuginfo_function(a->bin, at, &caller);

	if (err)
		return err;
	/* Assembly: nobody knows what it hands over. */
	if (!caller) {
		a->closed = false;
		return NULL;
	}
	if (a->nr < a->cap)
		a->calls[a->nr] = (struct lm_call){ at, caller };
	a->nr++;
	return NULL;
}

/* x86: jumps of two bytes from a function beside it. */
static struct lm_err *short_jumps(struct answer *a, const struct lm_image *image, uint64_t entry)
{
	struct lm_err *err = NULL;

	for (uint64_t at = entry < SHORT_REACH ? 0 : entry - SHORT_REACH; at < entry + SHORT_REACH && !err; at++) {
		size_t len;
		const uint8_t *code = lm_image_bytes(image, at, &len);

		if (!code || len < 2 || (code[0] != 0xeb && (code[0] & 0xf0) != 0x70))
			continue;
		if (at + 2 + (uint64_t)(int64_t)(int8_t)code[1] == entry)
			err = add_call(a, at);
	}
	return err;
}

static size_t first_branch(const struct lm_callers *c, uint64_t target)
{
	size_t lo = 0, hi = c->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->branches[mid].target < target)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct lm_err *lm_callers_of(struct lm_callers *callers, const struct lm_function *function, struct lm_call *calls,
			     size_t cap, size_t *nr, bool *closed)
{
	struct answer a = { .bin = callers->source->bin, .function = function, .calls = calls, .cap = cap,
			    .closed = true };
	uint64_t entry = function->ranges[0].from;
	size_t first, end;
	struct lm_err *err = NULL;

	if (!callers->listed)
		list_branches(callers);
	first = end = first_branch(callers, entry);
	while (end < callers->nr && callers->branches[end].target == entry)
		end++;
	*nr = end - first;
	*closed = false;
	/* So many that they are of no use: finding their functions would read half the debug info. */
	if (end - first > cap || !is_closed(callers, function, entry))
		return NULL;
	for (size_t i = first; i < end && !err; i++)
		err = add_call(&a, callers->branches[i].at);
	if (!err && lm_image_machine(callers->source->image) == LM_X86_64)
		err = short_jumps(&a, callers->source->image, entry);
	*nr = a.nr;
	*closed = a.closed && a.nr <= cap;
	return err;
}
