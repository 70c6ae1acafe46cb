/*
 * callers.c - calls by their bytes, and what else holds a function's address,
 * all in one pass.
 *
 * The bytes of a call are looked for at every place where one may start, which
 * is fast and finds too many: who asks looks at the caller's instructions.
 * Opcodes: Intel SDM volume 2 (CALL, JMP, Jcc), Arm ARM C4.1 (B, BL, B.cond,
 * ADR, ADRP, ADD).
 */
#include "profiles/callers.h"

#include <stdlib.h>
#include <string.h>

enum {
	SHORT_REACH = 130,	/* bytes that a jump of two bytes may span */
	ADD_WITHIN = 16,	/* arm64: instructions between adrp and the add that completes an address */
	MAX_NAME = 256,
	MAX_BYTES = 1 << 30,	/* of code and data; hostile files list the same bytes many times */
};

struct branch { uint64_t target, at; };

struct lm_callers {
	const struct lm_flow_source *source;
	struct branch *branches;	/* by target, then by place */
	size_t nr, cap;
	uint64_t *taken;		/* addresses of functions that something else holds, sorted */
	size_t nr_taken, cap_taken;
	uint64_t low, high;		/* code lies in [low, high) */
	bool listed, too_large;
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

/* Functions start where symbols do: most bytes that look like an address of one fail here. */
static bool is_start(const struct lm_callers *c, uint64_t address)
{
	return address >= c->low && address < c->high && lm_image_alias(c->source->image, address, 0);
}

static void add_branch(struct lm_callers *c, uint64_t target, uint64_t at)
{
	if (is_start(c, target))
		*LM_ARENA_PUSH(&c->arena, c->branches, c->nr, c->cap) = (struct branch){ target, at };
}

static void add_taken(struct lm_callers *c, uint64_t address)
{
	if (is_start(c, address))
		*LM_ARENA_PUSH(&c->arena, c->taken, c->nr_taken, c->cap_taken) = address;
}

/*
 * Branches, and other uses of an address: lea symbol(%rip), known by its opcode,
 * and any four bytes that are the address (mov $symbol).
 */
static void list_x86(struct lm_callers *c, const struct lm_image_part *part)
{
	for (size_t p = 0; p + 4 <= part->len; p++) {
		const uint8_t *at = part->bytes + p;
		int64_t w = (int32_t)word(at);
		uint64_t target = part->addr + p + 4 + (uint64_t)w;
		size_t from;

		if (is_branch(part->bytes, p, &from))
			add_branch(c, target, part->addr + from);
		else if (p >= 2 && at[-2] == 0x8d && (at[-1] & 0xc7) == 0x05)
			add_taken(c, target);
		add_taken(c, (uint64_t)w);
		if (w < 0)
			add_taken(c, (uint32_t)w);
	}
}

/* adrp of the page of a function, and an add of the rest soon behind. */
static void list_adrp(struct lm_callers *c, const struct lm_image_part *part, size_t p)
{
	uint32_t w = word(part->bytes + p);
	int64_t pages = signed_bits((w >> 5 & 0x7ffff) << 2 | (w >> 29 & 3), 21);
	uint64_t page = ((part->addr + p) & ~UINT64_C(0xfff)) + (uint64_t)pages * 0x1000;

	for (size_t q = p + 4; q + 4 <= part->len && q <= p + 4 * ADD_WITHIN; q += 4)
		if ((word(part->bytes + q) & 0xffc00000) == 0x91000000)
			add_taken(c, page + (word(part->bytes + q) >> 10 & 0xfff));
}

/* adr: near, or what a linker made of adrp and add. */
static uint64_t adr_target(uint32_t w, uint64_t at)
{
	return at + (uint64_t)signed_bits((w >> 5 & 0x7ffff) << 2 | (w >> 29 & 3), 21);
}

static void list_arm64(struct lm_callers *c, const struct lm_image_part *part)
{
	for (size_t p = 0; p + 4 <= part->len; p += 4) {
		uint32_t w = word(part->bytes + p);
		uint64_t at = part->addr + p;

		if ((w & 0x7c000000) == 0x14000000)
			add_branch(c, at + (uint64_t)(signed_bits(w, 26) * 4), at);
		else if ((w & 0xff000010) == 0x54000000)
			add_branch(c, at + (uint64_t)(signed_bits(w >> 5, 19) * 4), at);
		else if ((w & 0x9f000000) == 0x90000000)
			list_adrp(c, part, p);
		else if ((w & 0x9f000000) == 0x10000000)
			add_taken(c, adr_target(w, at));
	}
}

/* Tables of pointers, and the addends of relocations, which are words of memory, too. */
static void list_data(struct lm_callers *c, const struct lm_image_part *part)
{
	const struct lm_image *image = c->source->image;
	uint64_t from = 0, to = 0;

	/* Tables of where the functions are, which the kernel's tracer has, call nothing. */
	if (!lm_image_find(image, "__start_mcount_loc", &from) || !lm_image_find(image, "__stop_mcount_loc", &to))
		from = to = 0;
	for (size_t p = (8 - part->addr % 8) % 8; p + 8 <= part->len; p += 8)
		if (part->addr + p < from || part->addr + p >= to)
			add_taken(c, wide(part->bytes + p));
}

static int by_target(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void find_code(struct lm_callers *c)
{
	struct lm_image_part part;
	size_t left = MAX_BYTES;

	c->low = UINT64_MAX;
	for (size_t i = 0; lm_image_part(c->source->image, i, &part); i++) {
		c->too_large |= part.bytes && part.len > left;
		left -= part.bytes && part.len <= left ? part.len : 0;
		if (!part.code)
			continue;
		c->low = part.addr < c->low ? part.addr : c->low;
		c->high = part.addr + part.len > c->high ? part.addr + part.len : c->high;
	}
}

static void list_all(struct lm_callers *c)
{
	enum lm_machine machine = lm_image_machine(c->source->image);
	struct lm_image_part part;

	c->listed = true;
	find_code(c);
	for (size_t i = 0; !c->too_large && lm_image_part(c->source->image, i, &part); i++) {
		if (!part.bytes)
			continue;
		if (!part.code)
			list_data(c, &part);
		else if (machine == LM_X86_64)
			list_x86(c, &part);
		else
			list_arm64(c, &part);
	}
	if (c->nr)
		qsort(c->branches, c->nr, sizeof(*c->branches), by_target);
	if (c->nr_taken)
		qsort(c->taken, c->nr_taken, sizeof(*c->taken), by_value);
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
	return !lm_image_exports(c->source->image, entry) && !is_exported(c->source->image, f->name) &&
		!(c->nr_taken && bsearch(&entry, c->taken, c->nr_taken, sizeof(*c->taken), by_value));
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
		list_all(callers);
	first = end = first_branch(callers, entry);
	while (end < callers->nr && callers->branches[end].target == entry)
		end++;
	*nr = end - first;
	*closed = false;
	/* So many that they are of no use: finding their functions would read half the debug info. */
	if (callers->too_large || end - first > cap || !is_closed(callers, function, entry))
		return NULL;
	for (size_t i = first; i < end && !err; i++)
		err = add_call(&a, callers->branches[i].at);
	if (!err && lm_image_machine(callers->source->image) == LM_X86_64)
		err = short_jumps(&a, callers->source->image, entry);
	*nr = a.nr;
	*closed = a.closed && a.nr <= cap;
	return err;
}
