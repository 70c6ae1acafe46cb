/*
 * judge_attribution.c - what valgrind or qemu saw against what attribution says.
 *
 *	valgrind --tool=lackey --trace-mem=yes BINARY 2>TRACE
 *	qemu-aarch64 -plugin ./qemu_trace.so,out=TRACE BINARY
 *	judge_attribution BINARY TRACE
 *
 * Objects are the variables called obj_NAME.  Each pair of an instruction and a
 * byte of an object that it touched is a case; only the instruction's address
 * is used.  Right: the type that its pointer is said to have lies in the object
 * at that distance, and the leaf is the same.  Prints "cases right wrong open".
 */
#include "base/table.h"
#include "profiles/flow.h"
#include "trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct judge {
	struct lm_flow_source src;
	struct lm_arena arena;
	struct lm_flow *flows;		/* one a function */
	size_t nr_flows, cap_flows;
	struct lm_strings *seen;
	unsigned long cases, right, wrong, open, misread;
	bool tell;
};

static void check(struct lm_err *err)
{
	if (!err)
		return;
	fprintf(stderr, "%s\n", err->msg);
	exit(2);
}

static const struct lm_flow *flow_of(struct judge *j, const struct lm_function *f)
{
	for (size_t i = 0; i < j->nr_flows; i++)
		if (j->flows[i].function == f)
			return &j->flows[i];
	check(lm_flow_run(&j->src, f, &j->arena, LM_ARENA_PUSH(&j->arena, j->flows, j->nr_flows, j->cap_flows)));
	return &j->flows[j->nr_flows - 1];
}

/* The object that holds addr: its type and the offset there. */
static bool object_at(struct judge *j, uint32_t unit, uint64_t addr, struct lm_reach *truth)
{
	uint64_t start, from;
	const char *name = lm_image_symbol(j->src.image, addr, &start);
	uint32_t type;

	if (strncmp(name, "obj_", 4))
		return false;
	check(lm_debuginfo_global(j->src.bin, unit, addr, name, start, &type, &from));
	*truth = (struct lm_reach){ type, (int64_t)(addr - from), 0, true };
	return type != LM_NO_TYPE;
}

static bool leaf_of(const struct lm_typing *t, struct lm_reach reach, uint32_t size, struct lm_type_leaf *leaf)
{
	bool found;

	check(lm_typing_leaf(t, reach, size, NULL, NULL, leaf, &found));
	return found;
}

static bool agrees(const struct lm_typing *t, struct lm_reach ours, struct lm_reach truth, uint32_t size)
{
	struct lm_type_leaf got, is;
	struct lm_reach base = { truth.type, truth.offset - ours.offset, 0, false };
	bool holds = false, same = false;

	if (!leaf_of(t, ours, size, &got) || !leaf_of(t, truth, size, &is))
		return false;
	check(lm_typing_same(t, ours.type, truth.type, &same));
	if (got.indexed && same)
		/* Any element of the array that was named. */
		holds = ours.stride && (truth.offset - ours.offset) % (int64_t)ours.stride == 0;
	else if (got.indexed)
		for (int64_t k = 0; k <= truth.offset && !holds; k++) {
			base.offset = truth.offset - k;
			if ((k - ours.offset) % (int64_t)ours.stride == 0)
				check(lm_typing_holds(t, base, ours.type, &holds));
		}
	else
		check(lm_typing_holds(t, base, ours.type, &holds));
	check(lm_typing_same(t, got.type, is.type, &same));
	return holds && same && !strcmp(got.member, is.member);
}

static void judge_access(struct judge *j, const struct lm_function *f, const struct lm_flow_row *row, uint64_t ip,
			 struct trace_access seen)
{
	struct lm_typing t = { .bin = j->src.bin, .unit = f->unit };
	struct lm_reach truth;
	uint64_t key[2] = { ip, seen.addr };
	uint32_t before = lm_strings_nr(j->seen);
	bool typed = false, right = false;

	if (!object_at(j, f->unit, seen.addr, &truth))
		return;
	lm_strings_add(j->seen, (const char *)key, sizeof(key));
	if (lm_strings_nr(j->seen) == before)
		return;
	for (unsigned m = 0; row && m < row->insn.nr_mem; m++) {
		struct lm_type_leaf leaf;

		if (row->insn.mem[m].stack || row->reach[m].type == LM_NO_TYPE)
			continue;
		/* A pointer to a number, whatever that lies in: no field is named. */
		typed |= leaf_of(&t, row->reach[m], row->insn.mem[m].size, &leaf) &&
			LM_LEAF_IS_NAMED(leaf, row->reach[m]);
		right |= agrees(&t, row->reach[m], truth, row->insn.mem[m].size);
	}
	j->cases++;
	j->right += right;
	j->wrong += typed && !right;
	j->open += !typed;
	if (j->tell && !right)
		printf("%s %" PRIx64 " %s: byte %" PRId64 ", %u bytes\n", typed ? "wrong" : "open", ip, f->name,
		       truth.offset, seen.size);
}

/* Bytes of all accesses that are not only of the other kind; valgrind looks at those of a lock twice. */
static uint64_t bytes_seen(const struct trace_access *seen, size_t nr, char other)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++) {
		bool again = seen[i].kind == other;

		for (size_t k = 0; k < i && !again; k++)
			again = seen[k].addr == seen[i].addr && seen[k].kind != other;
		sum += again ? 0 : seen[i].size;
	}
	return sum;
}

/* Does the instruction read and write as many bytes as were seen?  qemu compares before it stores for stxr. */
static bool operands_fit(const struct lm_insn *in, const struct trace_access *seen, size_t nr)
{
	uint64_t reads = bytes_seen(seen, nr, 'S'), writes = bytes_seen(seen, nr, 'L'), written = writes;

	for (unsigned m = 0; m < in->nr_mem; m++) {
		if (in->mem[m].repeat || !in->mem[m].size)
			return true;
		reads -= in->mem[m].read ? in->mem[m].size : 0;
		writes -= in->mem[m].write ? in->mem[m].size : 0;
	}
	return !writes && (!reads || (reads == written && in->effect == LM_EFF_NONE));
}

/* One run of an instruction. */
static void judge_run(void *arg, uint64_t ip, const struct trace_access *seen, size_t nr)
{
	struct judge *j = arg;
	const struct lm_function *f;
	const struct lm_flow_row *row;

	check(lm_debuginfo_function(j->src.bin, ip, &f));
	if (!f)
		return;
	row = lm_flow_at(flow_of(j, f), ip);
	if (!row || !operands_fit(&row->insn, seen, nr)) {
		j->misread++;
		if (j->tell)
			printf("misread %" PRIx64 " %s\n", ip, f->name);
	}
	for (size_t i = 0; i < nr; i++)
		judge_access(j, f, row, ip, seen[i]);
}

int main(int argc, char **argv)
{
	struct judge j = { .seen = lm_strings_new(), .tell = argc > 3 };
	struct lm_image *image;

	if (argc < 3) {
		fprintf(stderr, "usage: judge_attribution BINARY TRACE [tell]\n");
		return 2;
	}
	check(lm_debuginfo_open(argv[1], &j.src.bin));
	check(lm_debuginfo_index(j.src.bin));
	check(lm_image_open(argv[1], &image));
	j.src.image = image;
	j.src.disasm = lm_disasm_new(lm_image_machine(image));
	j.src.cache = lm_flow_cache_new();
	trace_each(argv[2], image, judge_run, &j);
	printf("%lu %lu %lu %lu %lu\n", j.cases, j.right, j.wrong, j.open, j.misread);
	lm_disasm_free(j.src.disasm);
	lm_flow_cache_free(j.src.cache);
	lm_image_close(image);
	lm_debuginfo_close(j.src.bin);
	lm_arena_release(&j.arena);
	lm_strings_free(j.seen);
	return 0;
}
