/* flow_private.h - one run of flow.c, shared with what steps over one instruction. */
#ifndef LM_PROFILES_FLOW_PRIVATE_H
#define LM_PROFILES_FLOW_PRIVATE_H

#include "profiles/flow.h"
#include "profiles/flow_value.h"

enum { LM_FLOW_SLOTS = 64, LM_FLOW_ESCAPES = 32 };

struct lm_flow_slot {
	int64_t at;	/* from the canonical frame address */
	struct lm_flow_value value;
};

struct lm_flow_state {
	bool reached;
	uint32_t nr_slots;
	struct lm_flow_value regs[LM_NR_REGS];
	struct lm_flow_slot slots[LM_FLOW_SLOTS];
};

/* A place of a variable as the run needs it: sorted by where it starts to hold. */
struct lm_flow_place {
	uint64_t from, to;
	const struct lm_location *place;
	const struct lm_variable *variable;
	struct lm_flow_value told;	/* what its type says of a pointer in it */
};

struct lm_flow_run {
	const struct lm_flow_source *source;
	const struct lm_function *function;
	struct lm_typing typing;
	enum lm_machine machine;
	struct lm_flow_place *places;
	size_t nr_places, cap_places;
	/* frame places whose address is somewhere in a register: calls may change what is there */
	int64_t escapes[LM_FLOW_ESCAPES];
	size_t nr_escapes;
	uint32_t *records;	/* that pointers among the variables point to */
	size_t nr_records, cap_records;
};

/* ---- flow_call.c ---- */

/* Registers that a call of callee may change; NULL: not known which function it is. */
/* True of the kernel's hook in front of every function, which keeps all registers and is defined in vmlinux only. */
bool lm_flow_is_hook(const struct lm_flow_source *source, const struct lm_insn *in);
struct lm_err *lm_flow_clobbers(const struct lm_flow_source *source, const struct lm_function *callee, int depth,
				uint32_t *ret) LM_MUST_CHECK;

/* What the kernel's register for the running task points to; LM_V_ANY: this is no such kernel. */
struct lm_err *lm_flow_task(const struct lm_flow_run *run, struct lm_flow_value *ret) LM_MUST_CHECK;

/*
 * A reach outside its type: the record among those that this function has
 * pointers to that holds the type, if there is just one way (container_of).
 */
struct lm_err *lm_flow_container(const struct lm_flow_run *run, uint32_t size, struct lm_reach *reach) LM_MUST_CHECK;

/* ---- flow_patch.c ---- */

/* A place in the code that is patched at run time, and where it may then lead; to 0: on, where it jumps now. */
struct lm_flow_patch { uint64_t at, to; };

/* All of a file, by place; read when first asked for. */
struct lm_flow_patches {
	struct lm_arena arena;
	struct lm_flow_patch *items;
	size_t nr, cap;
	bool read;
};

/* The cache's own; NULL if there is no cache. */
struct lm_flow_patches *lm_flow_cache_patches(struct lm_flow_cache *cache);

/* Makes an instruction that may be a jump or none a conditional one. */
void lm_flow_patch(const struct lm_flow_source *source, struct lm_insn *in);

/* ---- flow_jump.c ---- */

/* Rows that the indirect jump at row may lead to, read from its table; returns how many, 0: not known. */
size_t lm_flow_targets(const struct lm_flow_source *source, const struct lm_flow_row *rows, size_t nr, size_t row,
		       uint32_t *targets, size_t cap);

/* ---- flow_step.c ---- */

/* What an operand reaches, before its instruction ran. */
struct lm_err *lm_flow_reach(const struct lm_flow_run *run, const struct lm_flow_state *s, const struct lm_insn *in,
			     const struct lm_operand *m, struct lm_reach *ret, bool *on_stack) LM_MUST_CHECK;

/* Adds what variables say: those that start to hold in (after, at], or all that hold at at. */
struct lm_err *lm_flow_tell(const struct lm_flow_run *run, struct lm_flow_state *s, bool all, uint64_t after,
			    uint64_t at) LM_MUST_CHECK;

/* Runs one instruction. */
struct lm_err *lm_flow_step(struct lm_flow_run *run, struct lm_flow_state *s, const struct lm_insn *in) LM_MUST_CHECK;

/* The function that a direct call goes to; NULL: not known. */
struct lm_err *lm_flow_callee(const struct lm_flow_run *run, const struct lm_insn *in, const struct lm_function **ret)
	LM_MUST_CHECK;

#endif
