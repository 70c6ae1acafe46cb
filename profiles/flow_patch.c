/*
 * flow_patch.c - jumps that a kernel writes over its own code.
 *
 * What a static key or, on arm64, a capability of the processor decides is a nop
 * or a jump in the file and may be the other one at run time: atomics of ARMv8.1
 * stand behind a jump over them.  The kernel's tables say where:
 *
 *   __start___jump_table	struct jump_entry: s32 code, s32 target, s64 key, each
 *				from its own place (include/linux/jump_label.h)
 *   __alt_instructions		arm64, struct alt_instr: s32 orig_offset, s32
 *				alt_offset, u16 cpucap, u8 orig_len, u8 alt_len
 *				(arch/arm64/include/asm/alternative.h)
 */
#include "profiles/flow_private.h"

#include <stdlib.h>
#include <string.h>

enum { JUMP_ENTRY = 16, ALT_ENTRY = 12 };

static void add(struct lm_flow_patches *p, uint64_t at, uint64_t to)
{
	*LM_ARENA_PUSH(&p->arena, p->items, p->nr, p->cap) = (struct lm_flow_patch){ at, to };
}

/* The address that four bytes at place say, as a distance from there. */
static uint64_t away(uint64_t place, const uint8_t *bytes)
{
	int32_t distance;

	memcpy(&distance, bytes, sizeof(distance));
	return place + (uint64_t)(int64_t)distance;
}

/* The bytes between two symbols; NULL: there is no such table. */
static const uint8_t *table(const struct lm_image *image, const char *from, const char *to, uint64_t *start,
			    size_t *len)
{
	const uint8_t *bytes;
	uint64_t end;
	size_t there;

	if (!lm_image_find(image, from, start) || !lm_image_find(image, to, &end) || end <= *start)
		return NULL;
	bytes = lm_image_bytes(image, *start, &there);
	*len = end - *start < there ? end - *start : there;
	return bytes;
}

static void read_keys(const struct lm_image *image, struct lm_flow_patches *p)
{
	uint64_t start;
	size_t len, code;
	const uint8_t *bytes = table(image, "__start___jump_table", "__stop___jump_table", &start, &len);

	for (size_t i = 0; bytes && i + JUMP_ENTRY <= len; i += JUMP_ENTRY) {
		uint64_t at = away(start + i, bytes + i);

		/* Before Linux 4.19 entries were addresses: then this leads nowhere, and nothing is believed. */
		if (!lm_image_bytes(image, at, &code)) {
			p->nr = 0;
			return;
		}
		add(p, at, away(start + i + 4, bytes + i + 4));
	}
}

/* A jump in the place of a nop; a jump that may become one leads where it says. */
static void read_alternatives(const struct lm_flow_source *source, struct lm_flow_patches *p)
{
	uint64_t start;
	size_t len, there;
	const uint8_t *bytes = table(source->image, "__alt_instructions", "__alt_instructions_end", &start, &len);

	for (size_t i = 0; bytes && i + ALT_ENTRY <= len; i += ALT_ENTRY) {
		uint64_t at = away(start + i, bytes + i), instead = away(start + i + 4, bytes + i + 4);
		const uint8_t *code = lm_image_bytes(source->image, instead, &there);
		struct lm_insn in;

		/* Behind a callback's address (alt_len 0) stands code that is not put here. */
		if (bytes[i + 11] && code && lm_disasm_one(source->disasm, code, there, instead, &in) &&
		    in.branch == LM_BR_JUMP)
			add(p, at, in.target);
		else
			add(p, at, 0);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct lm_flow_patch *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

void lm_flow_patch(const struct lm_flow_source *source, struct lm_insn *in)
{
	struct lm_flow_patches *p = lm_flow_cache_patches(source->cache);
	size_t lo = 0, hi;

	if (!p)
		return;
	if (!p->read) {
		p->read = true;
		read_keys(source->image, p);
		if (lm_image_machine(source->image) == LM_ARM64)
			read_alternatives(source, p);
		if (p->nr)
			qsort(p->items, p->nr, sizeof(*p->items), by_place);
	}
	for (hi = p->nr; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->items[mid].at < in->addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < p->nr && p->items[lo].at == in->addr; lo++) {
		if (in->branch == LM_BR_JUMP) {
			in->branch = LM_BR_COND;
		} else if (in->branch == LM_BR_NONE && p->items[lo].to) {
			in->branch = LM_BR_COND;
			in->target = p->items[lo].to;
		}
	}
}
