/*
 * flow.h - what the pointers of one function point to, instruction by
 * instruction.
 *
 * Forward over the basic blocks until nothing changes.  Each register and each
 * stack slot holds a value (flow_value.h); where the debug info says that a
 * variable lives in a register from here on, its type is added to what is
 * known.  Where ways meet, what they agree on survives.
 */
#ifndef LM_PROFILES_FLOW_H
#define LM_PROFILES_FLOW_H

#include "base/arena.h"
#include "profiles/debuginfo_code.h"
#include "profiles/elf_image.h"
#include "profiles/insn.h"
#include "profiles/typing.h"

enum { LM_MAX_ARGUMENTS = 8 };	/* that are handed in registers */

/* What the argument registers point to where a function starts, or where it is called. */
struct lm_flow_arguments {
	struct lm_reach of[LM_MAX_ARGUMENTS];	/* LM_NO_TYPE: not known */
};

/* One instruction with what its operands reach. */
struct lm_flow_row {
	struct lm_insn insn;
	struct lm_reach reach[LM_MAX_MEM];	/* LM_NO_TYPE: not known */
	bool on_stack[LM_MAX_MEM];		/* in this function's own frame: a spill, a local variable */
	const struct lm_flow_arguments *handed;	/* lm_flow_run_handed(): at calls and jumps with a target */
};

struct lm_flow {
	const struct lm_function *function;
	struct lm_flow_row *rows;	/* by address */
	size_t nr;
};

struct lm_flow_cache;	/* what functions do to registers, and where code is patched */

struct lm_flow_cache *lm_flow_cache_new(void);
void lm_flow_cache_free(struct lm_flow_cache *cache);	/* NULL is fine */

struct lm_flow_source {
	struct lm_debuginfo *bin;
	const struct lm_image *image;
	struct lm_disasm *disasm;
	struct lm_flow_cache *cache;
};

/* Follows the types through a function.  *ret is in arena. */
struct lm_err *lm_flow_run(const struct lm_flow_source *from, const struct lm_function *function,
			   struct lm_arena *arena, struct lm_flow *ret) LM_MUST_CHECK;

/* The same where more is known of the arguments than their types (entry; NULL: no more); fills in handed. */
struct lm_err *lm_flow_run_handed(const struct lm_flow_source *from, const struct lm_function *function,
				  const struct lm_flow_arguments *entry, struct lm_arena *arena,
				  struct lm_flow *ret) LM_MUST_CHECK;

/* The row of the instruction at an address, or NULL. */
const struct lm_flow_row *lm_flow_at(const struct lm_flow *flow, uint64_t address);

#endif
