/*
 * tell_flow.c - what linemate knows of every memory instruction of a file:
 *
 *	tell_flow FILE
 *
 * prints "function+0xoffset operand: type offset stride", sorted by nobody, for
 * each operand, and how many functions there were on stderr.
 */
#include "base/str.h"
#include "profiles/flow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(struct lm_err *err)
{
	if (!err)
		return;
	fprintf(stderr, "%s\n", err->msg);
	exit(2);
}

/* The n-th piece of a function that holds an address, and how far into it. */
static uint64_t inside(const struct lm_function *f, uint64_t address, size_t *piece)
{
	for (*piece = 0; *piece < f->nr_ranges; ++*piece)
		if (address >= f->ranges[*piece].from && address < f->ranges[*piece].to)
			return address - f->ranges[*piece].from;
	return 0;
}

static void tell_operand(const struct lm_flow_source *src, const struct lm_function *f, const struct lm_flow_row *row,
			 unsigned m)
{
	struct lm_typing t = { src->bin, f->unit };
	struct lm_reach reach = row->reach[m];
	struct lm_type_leaf leaf;
	struct lm_str path = { 0 };
	struct lm_type type;
	uint64_t rest = 0;
	size_t piece;
	uint64_t offset = inside(f, row->insn.addr, &piece);
	bool found = false;

	if (reach.type == LM_NO_TYPE) {
		printf("%s.%zu+0x%" PRIx64 " %u: -%s%s\n", f->name, piece, offset, m, row->on_stack[m] ? " stack" : "",
		       row->insn.mem[m].write ? " w" : "");
		return;
	}
	check(lm_debuginfo_type(src->bin, reach.type, &type));
	check(lm_typing_leaf(&t, reach, row->insn.mem[m].size, &path, &rest, &leaf, &found));
	printf("%s.%zu+0x%" PRIx64 " %u: %s%s %" PRId64 " %" PRIu64 " %s+%" PRIu64 "%s\n", f->name, piece, offset, m,
	       row->on_stack[m] ? "stack " : "", *type.name ? type.name : "?", reach.offset, reach.stride,
	       found ? lm_str_text(&path) : "-", rest, row->insn.mem[m].write ? " w" : "");
	lm_str_release(&path);
}

static void tell_function(const struct lm_flow_source *src, const struct lm_function *f)
{
	struct lm_arena arena = { 0 };
	struct lm_flow flow;

	check(lm_flow_run(src, f, &arena, &flow));
	for (size_t i = 0; i < flow.nr; i++)
		for (unsigned m = 0; m < flow.rows[i].insn.nr_mem; m++)
			tell_operand(src, f, &flow.rows[i], m);
	lm_arena_release(&arena);
}

/* The pieces of a unit, each function once: at the piece that is its first. */
static unsigned tell_unit(const struct lm_flow_source *src, uint32_t unit)
{
	unsigned nr = 0;
	bool found = true;

	for (size_t n = 0; found; n++) {
		const struct lm_function *f = NULL;
		uint64_t at;

		check(lm_debuginfo_unit_code(src->bin, unit, n, &at, &found));
		if (found)
			check(lm_debuginfo_function(src->bin, at, &f));
		if (!f || f->ranges[0].from != at)
			continue;
		tell_function(src, f);
		nr++;
	}
	return nr;
}

int main(int argc, char **argv)
{
	struct lm_flow_source src = { 0 };
	struct lm_image *image;
	unsigned nr = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: tell_flow FILE\n");
		return 2;
	}
	check(lm_debuginfo_open(argv[1], &src.bin));
	check(lm_debuginfo_index(src.bin));
	check(lm_image_open(argv[1], &image));
	src.image = image;
	src.disasm = lm_disasm_new(lm_image_machine(image));
	src.cache = lm_flow_cache_new();
	for (uint32_t unit = 0; unit < 64; unit++)
		nr += tell_unit(&src, unit);
	fprintf(stderr, "%u functions\n", nr);
	lm_disasm_free(src.disasm);
	lm_flow_cache_free(src.cache);
	lm_image_close(image);
	lm_debuginfo_close(src.bin);
	return nr ? 0 : 1;
}
