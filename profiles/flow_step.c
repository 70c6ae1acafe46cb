/*
 * flow_step.c - one instruction: what its operands reach, and what the
 * registers and stack slots hold afterwards.
 */
#include "profiles/flow_private.h"

#include <string.h>

/* Programs that are linked to fixed addresses start here; offsets in records end before. */
#define NO_OFFSET 0x400000

/* ---- stack slots ---- */

static struct lm_flow_slot *find_slot(struct lm_flow_state *s, int64_t at)
{
	for (uint32_t i = 0; i < s->nr_slots; i++)
		if (s->slots[i].at == at)
			return &s->slots[i];
	return NULL;
}

static void drop_slots(struct lm_flow_state *s, int64_t from, int64_t to)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->nr_slots; i++)
		if (s->slots[i].at + 8 <= from || s->slots[i].at >= to)
			s->slots[kept++] = s->slots[i];
	s->nr_slots = kept;
}

static void set_slot(struct lm_flow_state *s, int64_t at, struct lm_flow_value value)
{
	drop_slots(s, at, at + 8);
	if (s->nr_slots < LM_FLOW_SLOTS)
		s->slots[s->nr_slots++] = (struct lm_flow_slot){ at, value };
}

/* ---- addresses ---- */

static struct lm_flow_value reg(const struct lm_flow_state *s, uint8_t r)
{
	return r < LM_NR_REGS ? s->regs[r] : LM_V_CONST(0);
}

static struct lm_flow_value address(const struct lm_flow_state *s, const struct lm_operand *m)
{
	struct lm_flow_value v = reg(s, m->base), index = LM_V_CONST(0);

	/* (%rax,%rax,2) is three times the same number, whatever it is. */
	if (m->index != LM_NO_REG && m->index == m->base && v.kind == LM_V_NUMBER)
		return lm_value_add(lm_value_scale(v, m->scale + 1), LM_V_CONST(m->disp));
	if (m->index != LM_NO_REG) {
		index = reg(s, m->index);
		/* A pointer scaled by one is as good a base as the base. */
		if (m->extend < 4 || (m->extend < 8 && index.kind != LM_V_NUMBER))
			index = LM_V_ANY;
		if (m->scale != 1)
			index = lm_value_scale(index, m->scale);
	}
	return lm_value_add(lm_value_add(v, index), LM_V_CONST(m->disp));
}

/* The frame address of offset 0 of places that are relative to the frame base; false: not known. */
static bool frame_base(const struct lm_flow_run *run, const struct lm_flow_state *s, int64_t *ret)
{
	const struct lm_location *f = &run->function->frame;
	struct lm_flow_value v;

	*ret = 0;
	if (f->reg == 0xff)
		return true;
	if (f->reg >= LM_NR_REGS)
		return false;
	v = s->regs[f->reg];
	*ret = v.offset + (f->kind == LM_AT_REGISTER ? 0 : f->offset);
	return v.kind == LM_V_FRAME && !v.stride;
}

/* Bytes of a type, 0 where it has none. */
static struct lm_err *bytes_of(const struct lm_flow_run *run, uint32_t id, uint64_t *ret)
{
	struct lm_type type;
	uint32_t complete;
	struct lm_err *err = lm_typing_complete(&run->typing, id, &type, &complete);

	*ret = err ? 0 : type.size;
	return err;
}

/* The variable of this function whose bytes in the frame hold at. */
static struct lm_err *frame_variable(const struct lm_flow_run *run, const struct lm_flow_state *s, uint64_t ip,
				     int64_t at, struct lm_reach *ret)
{
	int64_t base = 0;
	bool based = frame_base(run, s, &base);
	struct lm_err *err = NULL;

	*ret = (struct lm_reach){ .type = LM_NO_TYPE };
	for (size_t i = 0; i < run->nr_places && !err; i++) {
		const struct lm_flow_place *p = &run->places[i];
		int64_t start;
		uint64_t size;

		if (ip < p->from || ip >= p->to)
			continue;
		if (p->place->kind == LM_AT_FRAME && based)
			start = base + p->place->offset;
		else if (p->place->kind == LM_AT_MEMORY && p->place->reg < LM_NR_REGS &&
			 s->regs[p->place->reg].kind == LM_V_FRAME && !s->regs[p->place->reg].stride)
			start = s->regs[p->place->reg].offset + p->place->offset;
		else
			continue;
		if (at < start)
			continue;
		err = bytes_of(run, p->variable->type, &size);
		/* Of nested scopes the innermost comes last. */
		if (!err && (uint64_t)(at - start) < size)
			*ret = (struct lm_reach){ p->variable->type, at - start, 0, true };
	}
	return err;
}

/* A static variable of this function. */
static struct lm_err *static_variable(const struct lm_flow_run *run, uint64_t at, struct lm_reach *ret)
{
	struct lm_err *err = NULL;

	for (size_t i = 0; i < run->nr_places && !err; i++) {
		const struct lm_flow_place *p = &run->places[i];
		uint64_t size;

		if (p->place->kind != LM_AT_ADDRESS || at < (uint64_t)p->place->offset)
			continue;
		err = bytes_of(run, p->variable->type, &size);
		if (!err && at - (uint64_t)p->place->offset < size) {
			*ret = (struct lm_reach){ p->variable->type, (int64_t)at - p->place->offset, 0, true };
			break;
		}
	}
	return err;
}

/*
 * A variable with an address of its own: known by its symbol, else one of this
 * function.  In this order: "sum is at obj + 8" also means that sum is what is
 * there now.
 */
static struct lm_err *global_variable(const struct lm_flow_run *run, uint64_t at, struct lm_reach *ret)
{
	uint64_t start = 0, symbol_at = 0;
	const char *symbol = lm_image_symbol(run->source->image, at, &symbol_at);
	uint32_t type = LM_NO_TYPE;
	struct lm_err *err = NULL;

	*ret = (struct lm_reach){ .type = LM_NO_TYPE };
	if (!symbol_at)
		return NULL;
	err = lm_debuginfo_global(run->source->bin, run->function->unit, at, symbol, symbol_at, &type, &start);
	/* One place, several names: const_current_task is current_task's, jiffies is jiffies_64's. */
	for (size_t n = 0; !err && type == LM_NO_TYPE; n++) {
		symbol = lm_image_alias(run->source->image, symbol_at, n);
		if (!symbol)
			break;
		err = lm_debuginfo_global(run->source->bin, run->function->unit, at, symbol, symbol_at, &type, &start);
	}
	if (!err && type != LM_NO_TYPE && at >= start)
		*ret = (struct lm_reach){ type, (int64_t)(at - start), 0, true };
	else if (!err)
		err = static_variable(run, at, ret);
	return err;
}

struct lm_err *lm_flow_reach(const struct lm_flow_run *run, const struct lm_flow_state *s, const struct lm_insn *in,
			     const struct lm_operand *m, struct lm_reach *ret, bool *on_stack)
{
	struct lm_flow_value v = address(s, m);
	struct lm_err *err = NULL;

	*ret = (struct lm_reach){ .type = LM_NO_TYPE };
	*on_stack = v.kind == LM_V_FRAME || m->stack;
	if (m->tls)
		return NULL;
	switch (v.kind) {
	case LM_V_POINTER:
		*ret = (struct lm_reach){ v.type, v.offset, v.stride, false };
		err = lm_flow_container(run, m->size, ret);
		break;
	case LM_V_FRAME:
		err = frame_variable(run, s, in->addr, v.offset, ret);
		ret->stride = v.stride;
		break;
	case LM_V_NUMBER:
		/*
		 * table(,%rax,8): the displacement is the table's address.  Next to any number (stride 1) it may
		 * as well be a member's offset, unless no record is that large.
		 */
		if (v.stride != 1 || v.offset < 0 || v.offset >= NO_OFFSET) {
			err = global_variable(run, (uint64_t)v.offset, ret);
			ret->stride = v.stride;
		}
		break;
	}
	/* rep stos: from there on, nobody knows how far. */
	if (m->repeat)
		ret->stride = 1;
	return err;
}

/* ---- what variables say ---- */

/* The first place that starts to hold behind an address. */
static size_t first_after(const struct lm_flow_run *run, uint64_t after)
{
	size_t lo = 0, hi = run->nr_places;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (run->places[mid].from <= after)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct lm_err *lm_flow_tell(const struct lm_flow_run *run, struct lm_flow_state *s, bool all, uint64_t after,
			    uint64_t at)
{
	size_t first = all ? 0 : first_after(run, after);
	struct lm_err *err = NULL;

	/* What is only computed from a register says less than what is in it. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = first; i < run->nr_places && !err; i++) {
			const struct lm_flow_place *p = &run->places[i];
			struct lm_flow_value told = p->told, *r;

			if (p->from > at)
				break;
			if (at >= p->to || told.kind != LM_V_POINTER ||
			    p->place->reg >= LM_NR_REGS)
				continue;
			r = &s->regs[p->place->reg];
			if (pass == 0 && p->place->kind == LM_AT_REGISTER) {
				err = lm_value_refine(&run->typing, *r, told, r);
			} else if (pass == 1 && p->place->kind == LM_AT_VALUE && r->kind == LM_V_NUMBER &&
				   r->stride && p->place->reg != lm_machine_sp(run->machine)) {
				told.offset -= p->place->offset;
				err = lm_value_refine(&run->typing, *r, told, r);
			}
		}
	}
	return err;
}

/* ---- steps ---- */

/* The type at a reach; of one that may be either of two places, the type if both have the same. */
static struct lm_err *loaded_type(const struct lm_flow_run *run, struct lm_reach reach, uint32_t *ret)
{
	struct lm_reach next = { reach.type, reach.offset + (int64_t)reach.stride, 0, false };
	struct lm_type_leaf leaf, other;
	bool found = false, same = false;
	struct lm_err *err = lm_typing_leaf(&run->typing, reach, 8, NULL, NULL, &leaf, &found);

	*ret = LM_NO_TYPE;
	if (err || found || !reach.stride) {
		*ret = found ? leaf.type : LM_NO_TYPE;
		return err;
	}
	reach.stride = 0;
	err = lm_typing_leaf(&run->typing, reach, 8, NULL, NULL, &leaf, &found);
	if (!err && found)
		err = lm_typing_leaf(&run->typing, next, 8, NULL, NULL, &other, &same);
	if (!err && found && same)
		err = lm_typing_same(&run->typing, leaf.type, other.type, &same);
	*ret = found && same ? leaf.type : LM_NO_TYPE;
	return err;
}

/* What is loaded from what an operand reaches. */
static struct lm_err *loaded(const struct lm_flow_run *run, struct lm_flow_state *s, const struct lm_insn *in,
			     const struct lm_operand *m, struct lm_flow_value *ret)
{
	struct lm_flow_value at = address(s, m);
	struct lm_flow_slot *slot = NULL;
	struct lm_reach reach;
	uint32_t type;
	bool on_stack;
	struct lm_err *err;

	*ret = LM_V_ANY;
	if (m->size != 8)
		return NULL;
	if (at.kind == LM_V_FRAME && !at.stride)
		slot = find_slot(s, at.offset);
	if (slot)
		*ret = slot->value;
	/* The kernel's distances to a CPU's own data: adding one changes no type. */
	if (at.kind == LM_V_NUMBER) {
		uint64_t start;
		const char *name = lm_image_symbol(run->source->image, (uint64_t)at.offset, &start);

		if (!strcmp(name, "this_cpu_off") || !strcmp(name, "__per_cpu_offset")) {
			*ret = LM_V_CONST(0);
			return NULL;
		}
	}
	err = lm_flow_reach(run, s, in, m, &reach, &on_stack);
	if (err || reach.type == LM_NO_TYPE)
		return err;
	err = loaded_type(run, reach, &type);
	if (!err && type != LM_NO_TYPE) {
		struct lm_flow_value told;

		err = lm_value_of_type(&run->typing, type, &told);
		if (!err)
			err = lm_value_refine(&run->typing, *ret, told, ret);
	}
	return err;
}

/* Registers narrower than a pointer hold none. */
static struct lm_flow_value narrowed(struct lm_flow_value v, uint8_t width)
{
	if (width >= 8 || !width)
		return v;
	if (width < 4 || v.kind != LM_V_NUMBER)
		return LM_V_ANY;
	v.offset = v.stride ? (int32_t)v.offset : (int64_t)(uint32_t)v.offset;
	return v;
}

/* A number that nothing is known of gets the name of where it came from: 8 * x - x is 7 * x. */
static struct lm_flow_value named(struct lm_flow_value v, const struct lm_insn *in)
{
	if (v.kind == LM_V_NUMBER && v.stride == 1 && !v.offset && v.type == LM_NO_TYPE)
		v.type = (uint32_t)in->addr & LM_V_NAMES;
	return v;
}

static struct lm_flow_value aligned(struct lm_flow_value v, int64_t mask)
{
	/* Tag bits are masked off a pointer: it stays one. */
	if (v.kind == LM_V_POINTER && mask >= -16 && mask < 0)
		return v;
	if (v.kind == LM_V_NUMBER && !v.stride)
		return LM_V_CONST(v.offset & mask);
	if (mask > 0 && !(mask & (mask + 1)))
		return lm_value_bits(v, (unsigned)__builtin_popcountll((uint64_t)mask));
	return LM_V_ANY;
}

/* The value that dst gets where it comes from memory. */
static struct lm_err *memory_result(const struct lm_flow_run *run, struct lm_flow_state *s, const struct lm_insn *in,
				    struct lm_flow_value *v)
{
	struct lm_flow_value there = LM_V_ANY;
	struct lm_err *err = in->nr_mem ? loaded(run, s, in, &in->mem[0], &there) : NULL;

	*v = there;
	if (!err && in->effect == LM_EFF_ADD_MEM)
		*v = lm_value_add(reg(s, in->dst), there);
	else if (!err && in->effect == LM_EFF_SELECT_MEM)
		err = lm_value_join(&run->typing, reg(s, in->dst), there, v);
	return err;
}

/* The value that dst gets; v is LM_V_ANY where the effect tells nothing. */
static struct lm_err *result(const struct lm_flow_run *run, struct lm_flow_state *s, const struct lm_insn *in,
			     struct lm_flow_value *v)
{
	struct lm_flow_value src = reg(s, in->src);
	struct lm_err *err = NULL;

	*v = LM_V_ANY;
	switch (in->effect) {
	case LM_EFF_MOVE:
		*v = src;
		break;
	case LM_EFF_CONST:
		*v = LM_V_CONST(in->imm);
		break;
	case LM_EFF_LEA:
		*v = address(s, &in->ea);
		break;
	case LM_EFF_LOAD:
	case LM_EFF_LOAD2:
	case LM_EFF_POP:
	case LM_EFF_ADD_MEM:
	case LM_EFF_SELECT_MEM:
		err = memory_result(run, s, in, v);
		break;
	case LM_EFF_ADD_IMM:
		*v = lm_value_add(src, LM_V_CONST(in->imm));
		break;
	case LM_EFF_ADD:
		*v = in->src == in->src2 ? lm_value_scale(src, 2) : lm_value_add(src, reg(s, in->src2));
		break;
	case LM_EFF_SUB:
		*v = lm_value_sub(src, in->imm ? lm_value_scale(reg(s, in->src2), INT64_C(1) << in->imm) :
						 reg(s, in->src2));
		break;
	case LM_EFF_BITS:
		*v = lm_value_scale(lm_value_bits(src, in->bits), in->imm);
		break;
	case LM_EFF_INSERT:
		*v = lm_value_insert(src, in->bits, in->imm);
		break;
	case LM_EFF_MUL_ADD:
		*v = lm_value_add(lm_value_multiply(src, reg(s, in->src2)), reg(s, in->src3));
		break;
	case LM_EFF_TASK:
		err = lm_flow_task(run, v);
		break;
	case LM_EFF_COMPARE:
		break;
	case LM_EFF_SCALE:
		*v = lm_value_scale(src, in->imm);
		break;
	case LM_EFF_SELECT:
		err = lm_value_join(&run->typing, reg(s, in->src2), src, v);
		break;
	case LM_EFF_ALIGN:
		*v = aligned(src, in->imm);
		break;
	case LM_EFF_XCHG:
		*v = src;
		break;
	case LM_EFF_NONE:
	case LM_EFF_STORE:
	case LM_EFF_STORE2:
	case LM_EFF_PUSH:
	case LM_EFF_LEAVE:
		break;
	}
	*v = narrowed(*v, in->width);
	return err;
}

static void note_escape(struct lm_flow_run *run, uint8_t dst, struct lm_flow_value v)
{
	if (v.kind != LM_V_FRAME || dst == lm_machine_sp(run->machine) || dst == lm_machine_fp(run->machine))
		return;
	for (size_t i = 0; i < run->nr_escapes; i++)
		if (run->escapes[i] == v.offset)
			return;
	if (run->nr_escapes < LM_FLOW_ESCAPES)
		run->escapes[run->nr_escapes++] = v.offset;
}

/* Stores into the frame are remembered or forget; through other pointers they touch no spill slot. */
static void store(struct lm_flow_state *s, const struct lm_insn *in)
{
	for (unsigned i = 0; i < in->nr_mem; i++) {
		struct lm_flow_value at = address(s, &in->mem[i]);
		int64_t size = in->mem[i].size ? in->mem[i].size : 512;

		if (!in->mem[i].write || at.kind != LM_V_FRAME)
			continue;
		drop_slots(s, at.offset, at.stride ? at.offset + 4096 : at.offset + size);
		if (at.stride)
			continue;
		if (in->effect == LM_EFF_STORE && size == 8)
			set_slot(s, at.offset, in->src == LM_NO_REG ? LM_V_CONST(in->imm) : reg(s, in->src));
		if (in->effect == LM_EFF_PUSH)
			set_slot(s, at.offset, in->src == LM_NO_REG ? LM_V_ANY : reg(s, in->src));
		if (in->effect == LM_EFF_STORE2) {
			set_slot(s, at.offset, in->src == LM_NO_REG ? LM_V_CONST(0) : reg(s, in->src));
			set_slot(s, at.offset + 8, in->src2 == LM_NO_REG ? LM_V_CONST(0) : reg(s, in->src2));
		}
	}
}

struct lm_err *lm_flow_callee(const struct lm_flow_run *run, const struct lm_insn *in, const struct lm_function **ret)
{
	*ret = NULL;
	return in->target ? lm_debuginfo_callee(run->source->bin, in->target, ret) : NULL;
}

static struct lm_err *call(const struct lm_flow_run *run, struct lm_flow_state *s, const struct lm_insn *in)
{
	const struct lm_function *callee;
	struct lm_err *err = lm_flow_callee(run, in, &callee);
	uint32_t all = lm_machine_clobbered(run->machine), gone = all;

	if (!err && !callee && lm_flow_is_hook(run->source, in))
		return NULL;
	if (!err)
		err = lm_flow_clobbers(run->source, callee, 0, &gone);
	gone |= in->clobbers & all;
	for (unsigned r = 0; r < LM_NR_REGS; r++)
		if (gone >> r & 1)
			s->regs[r] = LM_V_ANY;
	for (size_t i = 0; i < run->nr_escapes; i++)
		drop_slots(s, run->escapes[i], run->escapes[i] + 64);
	/* On arm64 a function without a result may well leave its first argument where that would be. */
	if (!err && callee && callee->result != LM_NO_TYPE)
		err = lm_value_of_type(&run->typing, callee->result, &s->regs[lm_machine_result(run->machine)]);
	return err;
}

static void write_back(struct lm_flow_state *s, const struct lm_insn *in)
{
	uint8_t base = in->ea.base;

	if (in->write_back && base < LM_NR_REGS)
		s->regs[base] = lm_value_add(s->regs[base], LM_V_CONST(in->wb_imm));
}

/* push, pop, leave: the stack pointer moves. */
static void move_stack(const struct lm_flow_run *run, struct lm_flow_state *s, const struct lm_insn *in,
		       struct lm_flow_value fp)
{
	uint8_t sp = lm_machine_sp(run->machine);

	if (in->effect == LM_EFF_PUSH)
		s->regs[sp] = lm_value_add(s->regs[sp], LM_V_CONST(-8));
	else if (in->effect == LM_EFF_POP)
		s->regs[sp] = lm_value_add(s->regs[sp], LM_V_CONST(8));
	else if (in->effect == LM_EFF_LEAVE)
		s->regs[sp] = lm_value_add(fp, LM_V_CONST(8));
}

/* Registers that the instruction writes without saying what: all it clobbers but what the effect accounts for. */
static void clobber(const struct lm_flow_run *run, struct lm_flow_state *s, const struct lm_insn *in)
{
	uint32_t keep = 0;

	if (in->effect == LM_EFF_PUSH || in->effect == LM_EFF_POP || in->effect == LM_EFF_LEAVE ||
	    in->branch == LM_BR_CALL || in->branch == LM_BR_RETURN)
		keep |= UINT32_C(1) << lm_machine_sp(run->machine);
	if (in->write_back && in->ea.base < LM_NR_REGS)
		keep |= UINT32_C(1) << in->ea.base;
	for (unsigned r = 0; r < LM_NR_REGS; r++)
		if ((in->clobbers & ~keep) >> r & 1)
			s->regs[r] = LM_V_ANY;
}

struct lm_err *lm_flow_step(struct lm_flow_run *run, struct lm_flow_state *s, const struct lm_insn *in)
{
	uint8_t fp_reg = lm_machine_fp(run->machine);
	struct lm_flow_value v, second = LM_V_ANY, old = reg(s, in->dst), fp = s->regs[fp_reg];
	struct lm_err *err;

	if (in->branch == LM_BR_CALL)
		return call(run, s, in);
	err = result(run, s, in, &v);
	if (err)
		return err;
	if (in->effect == LM_EFF_LOAD2) {
		struct lm_operand half = in->mem[0];

		half.size = 8;
		err = loaded(run, s, in, &half, &v);
		half.disp += 8;
		if (!err)
			err = loaded(run, s, in, &half, &second);
	}
	if (err)
		return err;
	store(s, in);
	clobber(run, s, in);
	if (in->dst < LM_NR_REGS && in->effect != LM_EFF_NONE) {
		s->regs[in->dst] = named(v, in);
		note_escape(run, in->dst, v);
	}
	if (in->effect == LM_EFF_LOAD2 && in->src2 < LM_NR_REGS)
		s->regs[in->src2] = second;
	if (in->effect == LM_EFF_XCHG && in->src < LM_NR_REGS)
		s->regs[in->src] = narrowed(old, in->width);
	move_stack(run, s, in, fp);
	if (in->effect == LM_EFF_LEAVE) {
		struct lm_flow_slot *slot = fp.kind == LM_V_FRAME ? find_slot(s, fp.offset) : NULL;

		s->regs[fp_reg] = slot ? slot->value : LM_V_ANY;
	}
	write_back(s, in);
	return NULL;
}
