/*
 * flow.c - types through a function: basic blocks, and the way to a fixed
 * point.
 *
 * A block's state at its start only ever gets weaker (strides get smaller,
 * pointers become numbers), so the work ends; a limit on the rounds guards
 * against what nobody thought of, and then nothing is claimed.
 */
#include "profiles/flow_private.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CODE = 1 << 20, MAX_ROUNDS = 64, MAX_ARMS = 1024 };

#define NO_BLOCK UINT32_MAX

struct block {
	uint32_t first, end;	/* rows [first, end) */
	uint32_t next;		/* the block behind, if it goes on there */
	uint32_t jump;		/* the block it jumps to */
	bool indirect;		/* ends in a jump to anywhere */
	uint32_t first_arm, nr_arms;	/* rows in arms that it may lead to, where its table was found */
	bool target;		/* something known leads here */
	bool dirty;
	bool settled;		/* a way from the entry leads here: what no way leads to says nothing about it */
	unsigned rounds;
	struct lm_flow_state in;
};

struct work {
	struct lm_flow_run run;
	struct lm_arena *arena;	/* for the rows */
	const struct lm_flow_arguments *entry;	/* NULL: only what types say */
	bool handed;		/* write down what calls are handed */
	struct lm_arena scratch;
	struct lm_flow_row *rows;
	size_t nr, cap;
	struct block *blocks;
	size_t nr_blocks;
	uint32_t *block_of;	/* by row */
	struct arm { uint32_t jump, to; } *arms;	/* rows: a switch and where it leads; by jump */
	size_t nr_arms, cap_arms;
};

static int by_address(const void *a, const void *b)
{
	const struct lm_flow_row *x = a, *y = b;

	return x->insn.addr < y->insn.addr ? -1 : x->insn.addr > y->insn.addr;
}

/* What cannot be decoded is stepped over by the machine's smallest step, as a row that ends its block. */
static void decode_range(struct work *w, struct lm_range range)
{
	const struct lm_image *image = w->run.source->image;
	uint64_t at = range.from;
	size_t len;
	const uint8_t *code = lm_image_bytes(image, at, &len);

	if (!code || range.to - range.from > MAX_CODE)
		return;
	len = len < range.to - range.from ? len : range.to - range.from;
	while (at < range.from + len) {
		struct lm_flow_row *row = LM_ARENA_PUSH(w->arena, w->rows, w->nr, w->cap);
		uint64_t done = at - range.from;

		memset(row, 0, sizeof(*row));
		if (!lm_disasm_one(w->run.source->disasm, code + done, len - done, at, &row->insn)) {
			row->insn.len = w->run.machine == LM_ARM64 ? 4 : 1;
			row->insn.branch = LM_BR_STOP;
		}
		lm_flow_patch(w->run.source, &row->insn);
		for (unsigned i = 0; i < LM_MAX_MEM; i++)
			row->reach[i].type = LM_NO_TYPE;
		at += row->insn.len;
	}
}

static size_t row_at(const struct lm_flow_row *rows, size_t nr, uint64_t address)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (rows[mid].insn.addr < address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < nr && rows[lo].insn.addr == address ? lo : nr;
}

const struct lm_flow_row *lm_flow_at(const struct lm_flow *flow, uint64_t address)
{
	size_t i = row_at(flow->rows, flow->nr, address);

	return i < flow->nr ? &flow->rows[i] : NULL;
}

static bool ends_block(const struct lm_insn *in)
{
	return in->branch != LM_BR_NONE && in->branch != LM_BR_CALL;
}

static bool leads_on(const struct lm_insn *in)
{
	return in->branch == LM_BR_NONE || in->branch == LM_BR_CALL || in->branch == LM_BR_COND;
}

static void mark_arms(struct work *w, bool *leader, size_t jump)
{
	uint32_t targets[MAX_ARMS];
	size_t nr = lm_flow_targets(w->run.source, w->rows, w->nr, jump, targets, MAX_ARMS);

	for (size_t i = 0; i < nr; i++) {
		leader[targets[i]] = true;
		*LM_ARENA_PUSH(&w->scratch, w->arms, w->nr_arms, w->cap_arms) =
			(struct arm){ (uint32_t)jump, targets[i] };
	}
}

/* Marks the rows that start a block: targets, and what is behind a branch, a call that does not return, a gap. */
static struct lm_err *mark_leaders(struct work *w, bool *leader)
{
	struct lm_err *err = NULL;

	for (size_t i = 0; i < w->nr && !err; i++) {
		struct lm_insn *in = &w->rows[i].insn;
		size_t to = in->branch == LM_BR_JUMP || in->branch == LM_BR_COND ? row_at(w->rows, w->nr, in->target) :
										    w->nr;

		if (to < w->nr)
			leader[to] = true;
		if (in->branch == LM_BR_INDIRECT)
			mark_arms(w, leader, i);
		if (in->branch == LM_BR_CALL) {
			const struct lm_function *callee;

			err = lm_flow_callee(&w->run, in, &callee);
			if (!err && callee && callee->no_return)
				in->branch = LM_BR_STOP;
		}
		if (i + 1 < w->nr && (ends_block(in) || w->rows[i + 1].insn.addr != in->addr + in->len))
			leader[i + 1] = true;
	}
	return err;
}

static void link_blocks(struct work *w)
{
	size_t arm = 0;

	for (size_t i = 0; i < w->nr_blocks; i++) {
		struct block *b = &w->blocks[i];
		const struct lm_insn *last = &w->rows[b->end - 1].insn;
		size_t to;

		b->next = b->jump = NO_BLOCK;
		if (leads_on(last) && b->end < w->nr && w->rows[b->end].insn.addr == last->addr + last->len)
			b->next = (uint32_t)i + 1;
		if (last->branch == LM_BR_JUMP || last->branch == LM_BR_COND) {
			to = row_at(w->rows, w->nr, last->target);
			b->jump = to < w->nr ? w->block_of[to] : NO_BLOCK;
		}
		b->indirect = last->branch == LM_BR_INDIRECT;
		for (; arm < w->nr_arms && w->arms[arm].jump == b->end - 1; arm++) {
			b->first_arm = b->nr_arms++ ? b->first_arm : (uint32_t)arm;
			w->blocks[w->block_of[w->arms[arm].to]].target = true;
		}
		if (b->next != NO_BLOCK)
			w->blocks[b->next].target = true;
		if (b->jump != NO_BLOCK)
			w->blocks[b->jump].target = true;
	}
}

static struct lm_err *make_blocks(struct work *w)
{
	bool *leader = LM_ARENA_ARRAY(&w->scratch, bool, w->nr);
	struct lm_err *err = mark_leaders(w, leader);
	size_t nr = 0;

	if (err)
		return err;
	leader[0] = true;
	for (size_t i = 0; i < w->nr; i++)
		nr += leader[i];
	w->blocks = LM_ARENA_ARRAY(&w->scratch, struct block, nr);
	w->block_of = LM_ARENA_ARRAY(&w->scratch, uint32_t, w->nr);
	w->nr_blocks = 0;
	for (size_t i = 0; i < w->nr; i++) {
		if (leader[i])
			w->blocks[w->nr_blocks++].first = (uint32_t)i;
		w->blocks[w->nr_blocks - 1].end = (uint32_t)i + 1;
		w->block_of[i] = (uint32_t)w->nr_blocks - 1;
	}
	link_blocks(w);
	return NULL;
}

/* ---- variables ---- */

static int by_start(const void *a, const void *b)
{
	const struct lm_flow_place *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->variable->depth != y->variable->depth)
		return x->variable->depth < y->variable->depth ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static struct lm_err *collect_record(struct work *w, uint32_t id)
{
	struct lm_type type;
	struct lm_err *err = lm_typing_complete(&w->run.typing, id, &type, &id);
	bool known = type.kind != LM_TYPE_RECORD;

	for (size_t i = 0; i < w->run.nr_records && !known && !err; i++)
		err = lm_typing_same(&w->run.typing, w->run.records[i], id, &known);
	if (!err && !known)
		*LM_ARENA_PUSH(&w->scratch, w->run.records, w->run.nr_records, w->run.cap_records) = id;
	return err;
}

static struct lm_err *collect_places(struct work *w)
{
	const struct lm_function *f = w->run.function;
	struct lm_err *err = NULL;

	for (size_t i = 0; i < f->nr_variables && !err; i++) {
		const struct lm_variable *v = &f->variables[i];
		struct lm_flow_value told;

		err = lm_value_of_type(&w->run.typing, v->type, &told);
		if (!err && told.kind == LM_V_POINTER)
			err = collect_record(w, told.type);
		for (size_t k = 0; !err && k < v->nr_places; k++)
			*LM_ARENA_PUSH(&w->scratch, w->run.places, w->run.nr_places, w->run.cap_places) =
				(struct lm_flow_place){ v->places[k].from, v->places[k].to, &v->places[k], v, told };
	}
	if (!err && w->run.nr_places)
		qsort(w->run.places, w->run.nr_places, sizeof(*w->run.places), by_start);
	return err;
}

/* ---- to the fixed point ---- */

static struct lm_flow_state unknown(const struct lm_flow_run *run)
{
	struct lm_flow_state s = { .reached = true };

	for (unsigned r = 0; r < LM_NR_REGS; r++)
		s.regs[r] = LM_V_ANY;
	(void)run;
	return s;
}

static struct lm_flow_state at_entry(const struct lm_flow_run *run, const struct lm_flow_arguments *entry)
{
	struct lm_flow_state s = unknown(run);

	for (unsigned n = 0; entry && n < LM_MAX_ARGUMENTS; n++) {
		uint8_t r = lm_machine_argument(run->machine, n);

		if (r != LM_NO_REG && entry->of[n].type != LM_NO_TYPE)
			s.regs[r] = (struct lm_flow_value){ LM_V_POINTER, entry->of[n].type, entry->of[n].offset,
							    entry->of[n].stride };
	}
	/* The call pushed the return address on x86. */
	s.regs[lm_machine_sp(run->machine)] = (struct lm_flow_value){
		.kind = LM_V_FRAME, .type = LM_NO_TYPE, .offset = run->machine == LM_X86_64 ? -8 : 0,
	};
	return s;
}

static struct lm_err *join_slots(struct work *w, struct lm_flow_state *to, const struct lm_flow_state *from,
				 bool *changed)
{
	struct lm_err *err = NULL;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < to->nr_slots && !err; i++) {
		struct lm_flow_slot slot = to->slots[i];
		const struct lm_flow_slot *other = NULL;

		for (uint32_t k = 0; k < from->nr_slots && !other; k++)
			if (from->slots[k].at == slot.at)
				other = &from->slots[k];
		if (!other)
			continue;
		err = lm_value_join(&w->run.typing, slot.value, other->value, &slot.value);
		*changed |= !lm_value_equal(slot.value, to->slots[i].value);
		to->slots[kept++] = slot;
	}
	*changed |= kept != to->nr_slots;
	to->nr_slots = kept;
	return err;
}

/* Joins a state into the start of a block, which is then to be run again if it changed. */
static struct lm_err *enter(struct work *w, struct block *b, const struct lm_flow_state *from)
{
	bool changed = false;
	struct lm_err *err = NULL;

	if (b->settled)
		return NULL;
	if (!b->in.reached) {
		b->in = *from;
		b->in.reached = true;
		b->dirty = true;
		return NULL;
	}
	for (unsigned r = 0; r < LM_NR_REGS && !err; r++) {
		struct lm_flow_value v;

		err = lm_value_join(&w->run.typing, b->in.regs[r], from->regs[r], &v);
		if (err)
			break;
		changed |= !lm_value_equal(v, b->in.regs[r]);
		b->in.regs[r] = v;
	}
	if (!err)
		err = join_slots(w, &b->in, from, &changed);
	if (changed && ++b->rounds > MAX_ROUNDS) {
		b->in = unknown(&w->run);
		changed = b->rounds == MAX_ROUNDS + 1;
	}
	b->dirty |= changed;
	return err;
}

/* What the argument registers point to where control goes elsewhere. */
static struct lm_err *note_arguments(struct work *w, const struct lm_flow_state *s, struct lm_flow_row *row)
{
	struct lm_flow_arguments *a = LM_ARENA_NEW(w->arena, struct lm_flow_arguments);
	struct lm_err *err = NULL;
	bool on_stack;

	for (unsigned n = 0; n < LM_MAX_ARGUMENTS && !err; n++) {
		struct lm_operand at = { .base = lm_machine_argument(w->run.machine, n), .index = LM_NO_REG,
					 .scale = 1 };

		a->of[n].type = LM_NO_TYPE;
		if (at.base != LM_NO_REG)
			err = lm_flow_reach(&w->run, s, &row->insn, &at, &a->of[n], &on_stack);
	}
	row->handed = a;
	return err;
}

static struct lm_err *run_row(struct work *w, struct lm_flow_state *s, struct lm_flow_row *row, bool keep)
{
	struct lm_err *err = NULL;

	for (unsigned m = 0; keep && m < row->insn.nr_mem && !err; m++)
		err = lm_flow_reach(&w->run, s, &row->insn, &row->insn.mem[m], &row->reach[m], &row->on_stack[m]);
	if (!err && keep && w->handed && row->insn.target)
		err = note_arguments(w, s, row);
	return err ? err : lm_flow_step(&w->run, s, &row->insn);
}

/* Numbers that come from several places get a name for this block: 8 * x - x is 7 * x whatever x is. */
static void name_numbers(struct lm_flow_state *s, uint64_t address)
{
	for (unsigned r = 0; r < LM_NR_REGS; r++)
		if (s->regs[r].kind == LM_V_NUMBER && s->regs[r].stride && s->regs[r].type == LM_NO_TYPE)
			s->regs[r].type = ((uint32_t)address * LM_NR_REGS + r) & LM_V_NAMES;
}

/* Runs a block from its start; keep: writes down what the operands reach. */
static struct lm_err *run_block(struct work *w, struct block *b, bool keep, struct lm_flow_state *s)
{
	struct lm_err *err = NULL;
	uint64_t last = 0;

	*s = b->in;
	name_numbers(s, w->rows[b->first].insn.addr);
	for (uint32_t i = b->first; i < b->end && !err; i++) {
		struct lm_flow_row *row = &w->rows[i];

		err = lm_flow_tell(&w->run, s, i == b->first, last, row->insn.addr);
		if (!err)
			err = run_row(w, s, row, keep);
		last = row->insn.addr;
	}
	return err;
}

/* The arms of a switch; without its table, each block that nothing else leads to may be one. */
static struct lm_err *leave_indirect(struct work *w, const struct block *b, const struct lm_flow_state *s)
{
	struct lm_err *err = NULL;

	for (uint32_t i = 0; i < b->nr_arms && !err; i++)
		err = enter(w, &w->blocks[w->block_of[w->arms[b->first_arm + i].to]], s);
	if (b->nr_arms)
		return err;
	for (size_t i = 1; i < w->nr_blocks && !err; i++)
		if (!w->blocks[i].target)
			err = enter(w, &w->blocks[i], s);
	return err;
}

static struct lm_err *propagate(struct work *w)
{
	struct lm_err *err = NULL;
	bool again = true;

	while (again && !err) {
		again = false;
		for (size_t i = 0; i < w->nr_blocks && !err; i++) {
			struct block *b = &w->blocks[i];
			struct lm_flow_state s;

			if (!b->dirty)
				continue;
			b->dirty = false;
			again = true;
			err = run_block(w, b, false, &s);
			if (!err && b->next != NO_BLOCK)
				err = enter(w, &w->blocks[b->next], &s);
			if (!err && b->jump != NO_BLOCK)
				err = enter(w, &w->blocks[b->jump], &s);
			if (!err && b->indirect)
				err = leave_indirect(w, b, &s);
		}
	}
	return err;
}

/* Blocks that no way leads to (fixups, the nops that align a loop): only what variables say is known there. */
static struct lm_err *reach_the_rest(struct work *w)
{
	struct lm_err *err = propagate(w);

	for (size_t i = 0; i < w->nr_blocks; i++)
		w->blocks[i].settled = w->blocks[i].in.reached;
	for (size_t i = 0; i < w->nr_blocks && !err; i++) {
		struct lm_flow_state s = unknown(&w->run);

		if (w->blocks[i].in.reached)
			continue;
		err = enter(w, &w->blocks[i], &s);
		if (!err)
			err = propagate(w);
	}
	return err;
}

static struct lm_err *follow_types(struct work *w)
{
	struct lm_flow_state s;
	struct lm_err *err = make_blocks(w);
	size_t entry = row_at(w->rows, w->nr, w->run.function->ranges[0].from);

	if (!err)
		err = collect_places(w);
	if (err)
		return err;
	s = at_entry(&w->run, w->entry);
	err = enter(w, &w->blocks[entry < w->nr ? w->block_of[entry] : 0], &s);
	if (!err)
		err = reach_the_rest(w);
	for (size_t i = 0; i < w->nr_blocks && !err; i++)
		err = run_block(w, &w->blocks[i], true, &s);
	return err;
}

static struct lm_err *run(struct work *w, const struct lm_flow_source *from, const struct lm_function *function,
			  struct lm_flow *ret)
{
	struct lm_err *err = NULL;

	w->run = (struct lm_flow_run){ .source = from, .function = function, .typing = { from->bin, function->unit },
				       .machine = lm_image_machine(from->image) };
	for (size_t i = 0; i < function->nr_ranges; i++)
		decode_range(w, function->ranges[i]);
	if (w->nr) {
		qsort(w->rows, w->nr, sizeof(*w->rows), by_address);
		err = follow_types(w);
	}
	lm_arena_release(&w->scratch);
	if (!err)
		*ret = (struct lm_flow){ function, w->rows, w->nr };
	return err;
}

struct lm_err *lm_flow_run(const struct lm_flow_source *from, const struct lm_function *function,
			   struct lm_arena *arena, struct lm_flow *ret)
{
	struct work w = { .arena = arena };

	return run(&w, from, function, ret);
}

struct lm_err *lm_flow_run_handed(const struct lm_flow_source *from, const struct lm_function *function,
				  const struct lm_flow_arguments *entry, struct lm_arena *arena, struct lm_flow *ret)
{
	struct work w = { .arena = arena, .entry = entry, .handed = true };

	return run(&w, from, function, ret);
}
