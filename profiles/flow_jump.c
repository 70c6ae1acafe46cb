/*
 * flow_jump.c - where a switch may go: jump tables.
 *
 * Forms in use.  x86: jmp *table(,%reg,8) with addresses, or that load and jmp
 * *%reg; in code that may be loaded anywhere, lea table(%rip),%a; movslq
 * (%a,%b,4),%c; add %a,%c; jmp *%c with distances from the table.  arm64: ldrb,
 * ldrh or ldr of a distance, in instructions, from where an adr points: adrp and
 * add to the table; ldrb w0, [x1, w0]; adr x1, start; add x0, x1, w0, sxtb #2;
 * br x0.  clang does not extend it (ldrb did), and has distances in bytes from
 * the table, too.
 *
 * A table ends where the index was compared, where that is found, else where an
 * entry leads out of the function or to no instruction; those of bytes and halves
 * hardly ever do.
 */
#include "profiles/flow_private.h"

#include <string.h>

enum { MAX_ENTRIES = 1024, LOOK_BACK = 24, LOOK_FAR_BACK = 4096, MAX_STEPS = 8 };

struct table {
	uint64_t at, from;	/* its address; what entries are distances from */
	unsigned bytes, scale;	/* of an entry; that a distance is multiplied by */
	bool is_signed;
	size_t nr;
};

/* The row before row, of any block, that last wrote reg; row itself: none is near. */
static size_t writer(const struct lm_flow_row *rows, size_t row, uint8_t reg, size_t back)
{
	for (size_t i = row; reg < LM_NR_REGS && i > 0 && row - i < back; i--) {
		const struct lm_insn *in = &rows[i - 1].insn;

		if ((in->dst == reg && in->effect != LM_EFF_NONE) || in->clobbers >> reg & 1)
			return i - 1;
	}
	return row;
}

/* The constant that reg holds before row: a table's address is often worked out far ahead. */
static bool constant(const struct lm_flow_row *rows, size_t row, uint8_t reg, uint64_t *ret)
{
	uint64_t sum = 0;

	for (int step = 0; step < MAX_STEPS; step++) {
		size_t at = writer(rows, row, reg, LOOK_FAR_BACK);
		const struct lm_insn *in = &rows[at].insn;

		if (at == row || in->dst != reg)
			return false;
		if (in->effect == LM_EFF_CONST || (in->effect == LM_EFF_LEA && in->ea.base == LM_NO_REG &&
						   in->ea.index == LM_NO_REG)) {
			*ret = sum + (uint64_t)(in->effect == LM_EFF_CONST ? in->imm : in->ea.disp);
			return true;
		}
		if (in->effect != LM_EFF_ADD_IMM && in->effect != LM_EFF_MOVE)
			return false;
		sum += in->effect == LM_EFF_ADD_IMM ? (uint64_t)in->imm : 0;
		row = at;
		reg = in->src;
	}
	return false;
}

/* How many values an index may have, as its compare or mask says; SIZE_MAX: not known. */
static size_t index_values(const struct lm_flow_row *rows, size_t row, uint8_t reg)
{
	for (size_t i = row; i > 0 && row - i < LOOK_BACK; i--) {
		const struct lm_insn *in = &rows[i - 1].insn;
		bool writes = (in->dst == reg && in->effect != LM_EFF_NONE) || (reg < LM_NR_REGS && in->clobbers >> reg & 1);

		if (in->effect == LM_EFF_COMPARE && in->src == reg && in->imm >= 0)
			return (size_t)in->imm + 1;
		if (!writes)
			continue;
		if (in->effect == LM_EFF_ALIGN && in->imm >= 0)
			return (size_t)in->imm + 1;
		if (in->effect != LM_EFF_MOVE)
			return SIZE_MAX;
		reg = in->src;
	}
	return SIZE_MAX;
}

/* The load of an entry into reg before row, from a table at a constant address. */
static bool entry_load(const struct lm_flow_row *rows, size_t row, uint8_t reg, struct table *t)
{
	size_t at = writer(rows, row, reg, LOOK_BACK);
	const struct lm_insn *in = &rows[at].insn;
	const struct lm_operand *m = &in->mem[0];
	uint64_t base = 0;

	if (at == row || in->effect != LM_EFF_LOAD || in->dst != reg || !in->nr_mem || m->index == LM_NO_REG ||
	    m->scale != m->size || (m->base != LM_NO_REG && !constant(rows, at, m->base, &base)))
		return false;
	t->at = base + (uint64_t)m->disp;
	t->bytes = m->size;
	t->nr = index_values(rows, at, m->index);
	return t->bytes <= 2 ? t->nr <= MAX_ENTRIES : t->bytes == 4 || t->bytes == 8;
}

/* The sum of an anchor and an entry: which is which is told by what wrote them. */
static bool relative_table(const struct lm_flow_row *rows, size_t row, uint8_t reg, struct table *t)
{
	size_t at = writer(rows, row, reg, LOOK_BACK);
	const struct lm_insn *in = &rows[at].insn;
	bool lea = in->effect == LM_EFF_LEA;
	uint8_t anchor = lea ? in->ea.base : in->src, entry = lea ? in->ea.index : in->src2;

	if (at == row || in->dst != reg || (!lea && in->effect != LM_EFF_ADD))
		return false;
	t->scale = lea ? in->ea.scale : 1;
	if (t->scale == 1 && entry_load(rows, at, anchor, t)) {
		uint8_t other = anchor;

		anchor = entry;
		entry = other;
	} else if (!entry_load(rows, at, entry, t)) {
		return false;
	}
	t->is_signed = t->bytes == 4 || (lea && in->ea.extend < 8);
	return t->bytes < 8 && constant(rows, at, anchor, &t->from);
}

/* The table that the jump at row goes by. */
static bool find_table(const struct lm_flow_row *rows, size_t row, struct table *t)
{
	const struct lm_insn *in = &rows[row].insn;

	*t = (struct table){ .scale = 1, .bytes = 8, .nr = SIZE_MAX };
	if (in->nr_mem) {
		t->at = (uint64_t)in->mem[0].disp;
		return in->mem[0].base == LM_NO_REG && in->mem[0].scale == 8;
	}
	return (entry_load(rows, row, in->src, t) && t->bytes == 8) || relative_table(rows, row, in->src, t);
}

static bool read_entry(const struct lm_image *image, const struct table *t, size_t i, uint64_t *ret)
{
	size_t len;
	const uint8_t *from = lm_image_bytes(image, t->at + i * t->bytes, &len);
	uint64_t raw = 0, top = UINT64_C(1) << (t->bytes * 8 - 1);

	if (!from || len < t->bytes)
		return false;
	/* Both machines are little-endian, as is whatever this runs on. */
	memcpy(&raw, from, t->bytes);
	if (t->is_signed && t->bytes < 8)
		raw = (raw ^ top) - top;
	*ret = t->from + raw * t->scale;
	return true;
}

size_t lm_flow_targets(const struct lm_flow_source *source, const struct lm_flow_row *rows, size_t nr, size_t row,
		       uint32_t *targets, size_t cap)
{
	struct lm_flow flow = { .rows = (struct lm_flow_row *)rows, .nr = nr };
	struct table t;
	uint64_t entry;
	size_t found = 0;

	if (!find_table(rows, row, &t))
		return 0;
	for (size_t i = 0; i < MAX_ENTRIES && i < t.nr && found < cap; i++) {
		const struct lm_flow_row *to;

		if (!read_entry(source->image, &t, i, &entry))
			break;
		to = lm_flow_at(&flow, entry);
		if (!to)
			break;
		targets[found++] = (uint32_t)(to - rows);
	}
	return found;
}
