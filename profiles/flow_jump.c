/*
 * flow_jump.c - where a switch may go: jump tables.
 *
 * Two forms in use: jmp *table(,%reg,8) with addresses, and, in code that may
 * be loaded anywhere, lea table(%rip),%a; movslq (%a,%b,4),%c; add %a,%c;
 * jmp *%c with distances from the table.  A table ends where an entry leads out
 * of the function or to no instruction.
 */
#include "profiles/flow_private.h"

#include <string.h>

enum { MAX_ENTRIES = 1024, LOOK_BACK = 12 };

static bool read_word(const struct lm_image *image, uint64_t at, unsigned bytes, uint64_t *ret)
{
	size_t len;
	const uint8_t *from = lm_image_bytes(image, at, &len);
	uint32_t narrow;

	if (!from || len < bytes)
		return false;
	if (bytes == 8) {
		memcpy(ret, from, 8);
		return true;
	}
	memcpy(&narrow, from, sizeof(narrow));
	*ret = (uint64_t)(int64_t)(int32_t)narrow;
	return true;
}

/* The address that the last lea into reg before row computed; false: there is none near. */
static bool table_in(const struct lm_flow_row *rows, size_t row, uint8_t reg, uint64_t *ret)
{
	for (size_t i = row; i > 0 && row - i < LOOK_BACK; i--) {
		const struct lm_insn *in = &rows[i - 1].insn;

		if (in->dst != reg || in->effect == LM_EFF_NONE)
			continue;
		*ret = (uint64_t)in->ea.disp;
		return in->effect == LM_EFF_LEA && in->ea.base == LM_NO_REG && in->ea.index == LM_NO_REG;
	}
	return false;
}

/* The load of a distance that the jump at row uses: the table, if it is one. */
static bool relative_table(const struct lm_flow_row *rows, size_t row, uint64_t *ret)
{
	for (size_t i = row; i > 0 && row - i < LOOK_BACK; i--) {
		const struct lm_insn *in = &rows[i - 1].insn;

		if (in->effect == LM_EFF_LOAD && in->nr_mem && in->mem[0].size == 4 && in->mem[0].scale == 4 &&
		    in->mem[0].index != LM_NO_REG && in->mem[0].base != LM_NO_REG)
			return table_in(rows, i - 1, in->mem[0].base, ret);
	}
	return false;
}

size_t lm_flow_targets(const struct lm_flow_source *source, const struct lm_flow_row *rows, size_t nr, size_t row,
		       uint32_t *targets, size_t cap)
{
	const struct lm_insn *in = &rows[row].insn;
	bool absolute = in->nr_mem && in->mem[0].base == LM_NO_REG && in->mem[0].scale == 8;
	struct lm_flow flow = { .rows = (struct lm_flow_row *)rows, .nr = nr };
	uint64_t table, entry;
	size_t found = 0;

	if (absolute)
		table = (uint64_t)in->mem[0].disp;
	else if (!relative_table(rows, row, &table))
		return 0;
	for (size_t i = 0; i < MAX_ENTRIES && found < cap; i++) {
		const struct lm_flow_row *to;

		if (!read_word(source->image, table + i * (absolute ? 8 : 4), absolute ? 8 : 4, &entry))
			break;
		to = lm_flow_at(&flow, absolute ? entry : table + entry);
		if (!to)
			break;
		targets[found++] = (uint32_t)(to - rows);
	}
	return found;
}
