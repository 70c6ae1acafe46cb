/* attribution_private.h - one attribution, shared by its files. */
#ifndef LM_PROFILES_ATTRIBUTION_PRIVATE_H
#define LM_PROFILES_ATTRIBUTION_PRIVATE_H

#include "base/arena.h"
#include "profiles/attribution.h"
#include "profiles/handed.h"

/* What the code says of one sample. */
struct lm_hit {
	enum lm_outcome outcome;	/* FIELD: its instruction reaches the record */
	const char *site;		/* function; NULL: not known */
	uint32_t type;			/* FIELD: the record that it reaches */
	uint32_t target;		/* FIELD: its number among the records that are looked for */
	int64_t offset;			/* FIELD: in the record */
	uint64_t stride;		/* FIELD: not 0: the element is not known */
	uint32_t size;			/* bytes that the instruction touches; 0 not known */
	bool read, write;
	bool code;			/* an instruction was found: read and write are its own */
	const struct lm_function *function;	/* NULL: not known */
	struct lm_reach reach;		/* of its operand; LM_NO_TYPE: not known */
};

/* ---- a kernel module (attribution_module.c) ---- */

struct lm_locator;
struct lm_module;

/* What the module is called, from its own word (.modinfo), else from its file's name. */
struct lm_err *lm_module_open(struct lm_module **ret, const char *path) LM_MUST_CHECK;
void lm_module_close(struct lm_module *module);	/* NULL is fine */

/* True if this is how perf calls the module: "[nf_conntrack]", "/lib/modules/6.1.0/.../nf-conntrack.ko.xz". */
bool lm_module_is_named(const struct lm_module *module, const char *dso);

/*
 * Where it lay: from the starts of functions that perf printed, else from its
 * mapping, else from the functions that samples name.  LM_ERR_INPUT: those
 * leave several places open.
 */
struct lm_err *lm_module_slide(const struct lm_locator *l, uint64_t *ret) LM_MUST_CHECK;

/* The code side: where files lie, which instruction a sample means. */
struct lm_locator {
	struct lm_debuginfo *bin;
	const struct lm_samples *samples;
	struct lm_image *image;
	struct lm_flow_source source;
	struct lm_arena arena;		/* of the flows */
	const struct lm_function *function;	/* the last one, and what flows in it */
	struct lm_flow flow;
	bool kernel;
	struct lm_module *module;	/* of an object file; NULL */
	uint64_t slide;		/* of a kernel or module: run time - this file */
	bool *ours;			/* by string id of a dso: it is this file */
};

struct lm_err *lm_locator_open(struct lm_locator *l, struct lm_debuginfo *bin, const struct lm_samples *samples,
			       bool force) LM_MUST_CHECK;
void lm_locator_close(struct lm_locator *l);

/* The address in the file of an address at run time; false: it lies in no part of this file. */
bool lm_locator_address(const struct lm_locator *l, uint32_t dso, uint64_t runtime, uint64_t *ret);

/* The same of a call chain's address, which old perfs print as an offset in the file. */
bool lm_locator_return(const struct lm_locator *l, uint64_t address, uint64_t *ret);

/* What the instruction of a sample touches.  record: the type that is looked for; LM_NO_TYPE: any struct. */
struct lm_err *lm_locator_hit(struct lm_locator *l, const struct lm_sample *s, uint32_t record, struct lm_hit *ret)
	LM_MUST_CHECK;

/* Follows a function anew, with more known of its arguments; hits in it are taken from there until the next one. */
struct lm_err *lm_locator_enter(struct lm_locator *l, const struct lm_function *f,
				const struct lm_flow_arguments *entry) LM_MUST_CHECK;

/*
 * Hits that reach a part of the record in samples without a data address: those
 * that their call chain explains (attribution_chain.c), then those that the
 * callers of their functions explain (attribution_callers.c).
 */
struct lm_err *lm_ask_the_chains(struct lm_locator *l, struct lm_handing *handing, const struct lm_samples *samples,
				 uint32_t record, struct lm_hit *hits) LM_MUST_CHECK;
struct lm_err *lm_ask_the_callers(struct lm_locator *l, struct lm_handing *handing, const struct lm_samples *samples,
				  uint32_t record, struct lm_hit *hits) LM_MUST_CHECK;

/* An object of the record: [base, base + size). */
struct lm_object {
	uint64_t base;
	uint64_t votes;		/* samples whose instruction says that it starts here */
	uint32_t instructions;	/* different ones among them */
	bool given;
};

struct lm_objects {
	struct lm_object *items;	/* sorted by base, none overlaps another */
	size_t nr, cap;
	uint64_t size;			/* of the record */
};

/* Adds an object that the person named. */
void lm_objects_give(struct lm_objects *o, uint64_t base);

/* Adds a vote for an object; again: the instruction before, which voted for this one, too, was the same. */
void lm_objects_vote(struct lm_objects *o, uint64_t base, bool again, uint64_t count);

/* Keeps those on which samples agree, and those given. */
void lm_objects_settle(struct lm_objects *o);

/* The largest power of two, up to a page, that every base is a multiple of; 0: there is none. */
uint32_t lm_objects_alignment(const struct lm_objects *o);

/* The number of the object that holds address; false: none. */
bool lm_objects_find(const struct lm_objects *o, uint64_t address, uint32_t *number);

#endif
