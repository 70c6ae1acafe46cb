/*
 * flow_call.c - beyond the function at hand: which registers survive a call,
 * what the system keeps in one, and which larger record a pointer to a part
 * belongs to.
 */
#include "profiles/flow_private.h"

#include "base/table.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 3, MAX_SCAN = 1 << 14, MAX_PARTS = 16 };

struct lm_flow_cache {
	struct lm_strings *entries;	/* 8 bytes of a function's first address */
	uint32_t *masks;
	size_t nr, cap;
	struct lm_arena arena;
	struct lm_flow_patches patches;
};

struct lm_flow_cache *lm_flow_cache_new(void)
{
	struct lm_flow_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		lm_oom();
	cache->entries = lm_strings_new();
	return cache;
}

void lm_flow_cache_free(struct lm_flow_cache *cache)
{
	if (!cache)
		return;
	lm_strings_free(cache->entries);
	lm_arena_release(&cache->arena);
	lm_arena_release(&cache->patches.arena);
	free(cache);
}

struct lm_flow_patches *lm_flow_cache_patches(struct lm_flow_cache *cache)
{
	return cache ? &cache->patches : NULL;
}

static bool inside(const struct lm_function *f, uint64_t address)
{
	for (size_t i = 0; i < f->nr_ranges; i++)
		if (address >= f->ranges[i].from && address < f->ranges[i].to)
			return true;
	return false;
}

bool lm_flow_is_hook(const struct lm_flow_source *source, const struct lm_insn *in)
{
	uint64_t start;

	return in->branch == LM_BR_CALL && in->target &&
		!strcmp(lm_image_symbol(source->image, in->target, &start), "__fentry__");
}

/* Adds what one instruction changes; calls and jumps elsewhere add what is changed there. */
static struct lm_err *add_clobbers(const struct lm_flow_source *source, const struct lm_function *f,
				   const struct lm_insn *in, int depth, uint32_t *mask)
{
	uint32_t all = lm_machine_clobbered(lm_image_machine(source->image)), there = 0;
	const struct lm_function *callee = NULL;
	struct lm_err *err = NULL;
	bool leaves = in->branch == LM_BR_CALL || in->branch == LM_BR_INDIRECT ||
		((in->branch == LM_BR_JUMP || in->branch == LM_BR_COND) && !inside(f, in->target));

	*mask |= in->clobbers;
	if (in->dst < LM_NR_REGS && in->effect != LM_EFF_NONE)
		*mask |= UINT32_C(1) << in->dst;
	if (!leaves)
		return NULL;
	if (in->target)
		err = lm_debuginfo_callee(source->bin, in->target, &callee);
	if (!err && !callee && lm_flow_is_hook(source, in))
		return NULL;
	if (!err && callee)
		err = lm_flow_clobbers(source, callee, depth + 1, &there);
	*mask |= callee ? there : all;
	return err;
}

static struct lm_err *scan(const struct lm_flow_source *source, const struct lm_function *f, int depth, uint32_t *mask)
{
	uint32_t all = lm_machine_clobbered(lm_image_machine(source->image));
	struct lm_err *err = NULL;

	*mask = 0;
	for (size_t i = 0; i < f->nr_ranges; i++) {
		size_t len, done = 0, size = f->ranges[i].to - f->ranges[i].from;
		const uint8_t *code = lm_image_bytes(source->image, f->ranges[i].from, &len);

		if (!code || size > MAX_SCAN || len < size) {
			*mask = all;
			return NULL;
		}
		while (done < size && !err && (*mask & all) != all) {
			struct lm_insn in;

			if (!lm_disasm_one(source->disasm, code + done, size - done, f->ranges[i].from + done, &in)) {
				*mask = all;
				return NULL;
			}
			err = add_clobbers(source, f, &in, depth, mask);
			done += in.len;
		}
	}
	return err;
}

/*
 * gcc's -fipa-ra, on from -O2: a caller keeps values in registers that it knows
 * its callee not to use.  So the callee's code is the authority, not the ABI.
 */
struct lm_err *lm_flow_clobbers(const struct lm_flow_source *source, const struct lm_function *callee, int depth,
				uint32_t *ret)
{
	uint32_t all = lm_machine_clobbered(lm_image_machine(source->image)), mask = all, slot;
	struct lm_flow_cache *cache = source->cache;
	struct lm_err *err;
	uint64_t key;

	*ret = all;
	if (!callee || !callee->nr_ranges || !cache)
		return NULL;
	key = callee->ranges[0].from;
	slot = lm_strings_add(cache->entries, (const char *)&key, sizeof(key));
	if (slot < cache->nr) {
		*ret = cache->masks[slot];
		return NULL;
	}
	/* Recursion, direct or not, sees the cautious answer. */
	*LM_ARENA_PUSH(&cache->arena, cache->masks, cache->nr, cache->cap) = all;
	if (depth >= MAX_DEPTH)
		return NULL;
	err = scan(source, callee, depth, &mask);
	if (!err)
		*ret = cache->masks[slot] = mask & all;
	return err;
}

/* ---- the running task ---- */

/*
 * arm64 keeps current in sp_el0 (arch/arm64/include/asm/current.h) since Linux
 * 4.10, when thread_info moved into task_struct as its first member; before, it
 * was thread_info's address.  Only a kernel has an init_task.
 */
struct lm_err *lm_flow_task(const struct lm_flow_run *run, struct lm_flow_value *ret)
{
	static const char name[] = "task_struct";
	struct lm_debuginfo *bin = run->source->bin;
	const struct lm_dbg_record *record = NULL;
	struct lm_type type;
	uint64_t at;
	uint32_t id = LM_NO_TYPE;
	struct lm_err *err;

	*ret = LM_V_ANY;
	if (!lm_image_find(run->source->image, "init_task", &at))
		return NULL;
	err = lm_debuginfo_type_by_name(bin, run->function->unit, name, &id);
	if (!err && id == LM_NO_TYPE)
		err = lm_debuginfo_record(bin, name, &record);
	if (!err && record)
		err = lm_debuginfo_type_of_record(bin, record, &id);
	if (err || id == LM_NO_TYPE)
		return err;
	err = lm_typing_complete(&run->typing, id, &type, &id);
	if (!err && type.kind == LM_TYPE_RECORD && type.nr_members && !strcmp(type.members[0].name, "thread_info"))
		*ret = (struct lm_flow_value){ .kind = LM_V_POINTER, .type = id };
	return err;
}

/* ---- container_of ---- */

struct found {
	struct lm_reach reach;
	unsigned ways;
};

static struct lm_err *try_record(const struct lm_flow_run *run, uint32_t record, uint32_t size, struct lm_reach reach,
				 struct found *found)
{
	uint64_t places[MAX_PARTS];
	size_t nr = 0;
	struct lm_err *err = lm_typing_parts(&run->typing, record, reach.type, places, MAX_PARTS, &nr);

	/* So many parts of one kind: which one it is cannot be told. */
	if (err || nr > MAX_PARTS)
		return err;
	for (size_t i = 0; i < nr && !err; i++) {
		struct lm_reach at = { record, reach.offset + (int64_t)places[i], reach.stride, false };
		struct lm_type_leaf leaf;
		bool ok = false;

		if (at.offset < 0)
			continue;
		err = lm_typing_leaf(&run->typing, at, size, NULL, NULL, &leaf, &ok);
		if (err || !ok)
			continue;
		found->reach = at;
		found->ways++;
	}
	return err;
}

struct lm_err *lm_flow_container(const struct lm_flow_run *run, uint32_t size, struct lm_reach *reach)
{
	struct found found = { .ways = 0 };
	struct lm_type type;
	struct lm_type_leaf leaf;
	uint32_t id;
	bool ok = false;
	struct lm_err *err = lm_typing_complete(&run->typing, reach->type, &type, &id);

	if (err || type.kind != LM_TYPE_RECORD || !type.size)
		return err;
	/* Without an index, only what lies outside; with one, what fits no array of the type. */
	if (!reach->stride && reach->offset >= 0 && (uint64_t)reach->offset < type.size)
		return NULL;
	err = lm_typing_leaf(&run->typing, *reach, size, NULL, NULL, &leaf, &ok);
	if (err || ok)
		return err;
	for (size_t i = 0; i < run->nr_records && !err; i++)
		err = try_record(run, run->records[i], size, *reach, &found);
	if (!err && found.ways == 1)
		*reach = found.reach;
	return err;
}
