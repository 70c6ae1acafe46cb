/*
 * attribution_code.c - from the address that perf recorded to an instruction
 * of this file, and to what its operand reaches.
 *
 * perf records run-time addresses.  A kernel is moved as a whole (KASLR): the
 * distance is told by the mmap record of its text, or, where the text of a
 * profile has none, by the names of functions that perf printed: the distance
 * on which they agree.  Programs lie where their mappings say, kernel modules
 * where attribution_module.c says.
 */
#include "profiles/attribution_private.h"

#include <stdlib.h>
#include <string.h>

enum { SKID_BACK = 4 };		/* instructions to look back for the access that is meant */

/* Kernels are moved in steps of this (CONFIG_PHYSICAL_ALIGN on x86, SEGMENT_ALIGN on Arm). */
#define KERNEL_STEP UINT64_C(0x10000)
#define KERNEL_NAME "[kernel.kallsyms]"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_kernel_name(const char *dso)
{
	return !strncmp(dso, "[kernel", 7) || !strncmp(base_name(dso), "vmlinux", 7);
}

/* The name alone: the build id, where there is one, has the last word. */
static bool named_like(const struct lm_locator *l, const char *dso)
{
	if (l->kernel)
		return is_kernel_name(dso) || !strcmp(dso, "[unknown]");
	if (l->module)
		return lm_module_is_named(l->module, dso);
	return !strcmp(base_name(dso), base_name(lm_debuginfo_path(l->bin)));
}

static const char *build_id_of(const struct lm_samples *t, uint32_t dso)
{
	for (size_t i = 0; i < t->nr_build_ids; i++)
		if (t->build_ids[i].dso == dso)
			return t->build_ids[i].hex;
	return "";
}

/* Old kernels' ids are cut to 20 bytes, or padded with zeros to them: the shorter one decides. */
static bool same_id(const char *a, const char *b)
{
	size_t len = strlen(a) < strlen(b) ? strlen(a) : strlen(b);

	return len >= 16 && !strncmp(a, b, len);
}

/* Which of the profile's files this is; a file of its name with another id is an error. */
static struct lm_err *match_files(struct lm_locator *l, bool force)
{
	const char *mine = lm_debuginfo_build_id(l->bin);
	uint32_t nr = lm_strings_nr(l->samples->strings);

	l->ours = calloc((size_t)nr + 1, sizeof(*l->ours));
	if (!l->ours)
		lm_oom();
	for (uint32_t i = 0; i < nr; i++) {
		const char *name = lm_strings_get(l->samples->strings, i), *id = build_id_of(l->samples, i);

		if (*id && *mine && same_id(id, mine)) {
			l->ours[i] = true;
			continue;
		}
		l->ours[i] = named_like(l, name);
		if (l->ours[i] && *id && *mine && strcmp(name, "[unknown]") && !force)
			return lm_err_new(LM_ERR_INPUT, "%s: is not the file that was profiled: its build id is %s, "
					  "the profile says %s for %s; give the binary that ran, or --force to use "
					  "this one anyway", lm_debuginfo_path(l->bin), mine, id, name);
	}
	return NULL;
}

/* ---- how far the kernel was moved ---- */

/* "[kernel.kallsyms]_text": the symbol stands behind the name. */
static bool slide_of_mapping(struct lm_locator *l)
{
	for (size_t i = 0; i < l->samples->nr_mappings; i++) {
		const struct lm_mapping *m = &l->samples->mappings[i];
		const char *name = lm_strings_get(l->samples->strings, m->dso), *symbol;
		uint64_t at;

		if (strncmp(name, KERNEL_NAME, strlen(KERNEL_NAME)))
			continue;
		symbol = name + strlen(KERNEL_NAME);
		if (!lm_image_find(l->image, *symbol ? symbol : "_text", &at))
			continue;
		l->slide = m->start - at;
		return true;
	}
	return false;
}

struct vote { uint64_t slide, count; };

static int by_slide(const void *a, const void *b)
{
	const struct vote *x = a, *y = b;

	return x->slide < y->slide ? -1 : x->slide > y->slide;
}

/* The slide on which most samples agree; 0 wins a tie. */
static uint64_t best_slide(struct vote *votes, size_t nr)
{
	uint64_t best = 0, most = 0;

	qsort(votes, nr, sizeof(*votes), by_slide);
	for (size_t i = 0; i < nr;) {
		uint64_t sum = 0, slide = votes[i].slide;

		for (; i < nr && votes[i].slide == slide; i++)
			if (__builtin_add_overflow(sum, votes[i].count, &sum))
				sum = UINT64_MAX;
		if (sum > most) {
			most = sum;
			best = slide;
		}
	}
	return best;
}

static void slide_of_names(struct lm_locator *l)
{
	const struct lm_samples *t = l->samples;
	struct vote *votes = malloc((t->nr + 1) * sizeof(*votes));
	uint32_t last = LM_NO_STRING;
	uint64_t at = 0;
	bool known = false;
	size_t nr = 0;

	if (!votes)
		lm_oom();
	for (size_t i = 0; i < t->nr && nr < 4096; i++) {
		const struct lm_sample *s = &t->rows[i];

		if (s->symbol == LM_NO_STRING || !s->ip || (s->dso != LM_NO_STRING && !l->ours[s->dso]))
			continue;
		/* Rows are sorted by ip: those of a function follow each other. */
		if (s->symbol != last)
			known = lm_image_find(l->image, lm_strings_get(t->strings, s->symbol), &at);
		last = s->symbol;
		if (known && s->ip >= at)
			votes[nr++] = (struct vote){ (s->ip - at) / KERNEL_STEP * KERNEL_STEP, s->count };
		else if (known)
			votes[nr++] = (struct vote){ 0 - (at - s->ip + KERNEL_STEP - 1) / KERNEL_STEP * KERNEL_STEP,
						     s->count };
	}
	l->slide = best_slide(votes, nr);
	free(votes);
}

struct lm_err *lm_locator_open(struct lm_locator *l, struct lm_debuginfo *bin, const struct lm_samples *samples,
			       bool force)
{
	uint64_t text;
	struct lm_err *err;

	*l = (struct lm_locator){ .bin = bin, .samples = samples };
	err = lm_image_open(lm_debuginfo_path(bin), &l->image);
	if (err)
		return err;
	l->source = (struct lm_flow_source){ bin, l->image, lm_disasm_new(lm_image_machine(l->image)),
					     lm_flow_cache_new() };
	/* Kernels live in the upper half. */
	l->kernel = lm_image_find(l->image, "_text", &text) && text >> 63;
	if (lm_image_relocatable(l->image))
		err = lm_module_open(&l->module, lm_debuginfo_path(bin));
	if (!err)
		err = match_files(l, force);
	if (!err && l->kernel && !slide_of_mapping(l))
		slide_of_names(l);
	if (!err && l->module)
		err = lm_module_slide(l, &l->slide);
	return err;
}

void lm_locator_close(struct lm_locator *l)
{
	lm_disasm_free(l->source.disasm);
	lm_flow_cache_free(l->source.cache);
	lm_image_close(l->image);
	lm_module_close(l->module);
	lm_arena_release(&l->arena);
	free(l->ours);
}

bool lm_locator_address(const struct lm_locator *l, uint32_t dso, uint64_t runtime, uint64_t *ret)
{
	size_t len;
	bool mapped = false;

	if (!runtime || (dso != LM_NO_STRING && !l->ours[dso]))
		return false;
	if (l->kernel) {
		*ret = runtime - l->slide;
		return true;
	}
	if (l->module) {
		*ret = runtime - l->slide;
		return lm_image_bytes(l->image, *ret, &len);
	}
	for (size_t i = 0; i < l->samples->nr_mappings; i++) {
		const struct lm_mapping *m = &l->samples->mappings[i];

		if (!l->ours[m->dso])
			continue;
		mapped = true;
		if (runtime >= m->start && runtime - m->start < m->len)
			return lm_image_address(l->image, runtime - m->start + m->pgoff, ret);
	}
	/* Without mappings: linked to a fixed address, or given as addresses of the file. */
	*ret = runtime;
	return !mapped && lm_image_bytes(l->image, runtime, &len);
}

bool lm_locator_return(const struct lm_locator *l, uint64_t address, uint64_t *ret)
{
	return lm_locator_address(l, LM_NO_STRING, address, ret) ||
		(!l->kernel && lm_image_address(l->image, address, ret));
}

static bool is_named(const struct lm_image *image, uint64_t address, const char *name)
{
	uint64_t start;
	const char *symbol = lm_image_symbol(image, address, &start);

	for (size_t n = 0; symbol; n++) {
		if (!strcmp(symbol, name))
			return true;
		symbol = lm_image_alias(image, start, n);
	}
	return false;
}

/*
 * Where a sample is.  perf script (6.1; not 7.3) prints the addresses of call
 * chains in programs as offsets in the file: the name of the function tells.
 */
static bool address_of(const struct lm_locator *l, const struct lm_sample *s, uint64_t *ret)
{
	if (lm_locator_address(l, s->dso, s->ip, ret))
		return true;
	return !l->kernel && s->dso != LM_NO_STRING && l->ours[s->dso] && s->symbol != LM_NO_STRING &&
		lm_image_address(l->image, s->ip, ret) &&
		is_named(l->image, *ret, lm_strings_get(l->samples->strings, s->symbol));
}

/* ---- the instruction that is meant ---- */

static bool touches_memory(const struct lm_insn *in)
{
	for (unsigned i = 0; i < in->nr_mem; i++)
		if (!in->mem[i].stack)
			return true;
	return false;
}

/*
 * A breakpoint on data traps behind its access on x86, one back, and before it
 * on arm64.  A timer's sample comes late: the access that made the processor
 * wait is before it, so the nearest memory instruction before is blamed, else
 * the one at the address.
 */
static const struct lm_flow_row *meant(const struct lm_flow *flow, const struct lm_flow_row *row,
				       const struct lm_sample *s, enum lm_machine machine)
{
	const struct lm_flow_row *back = row;

	if (s->after && machine == LM_ARM64)
		return row;
	if (s->after)
		return row > flow->rows ? row - 1 : NULL;
	if (s->evidence != LM_EVIDENCE_SKIDDING)
		return row;
	for (int i = 0; i < SKID_BACK && back > flow->rows; i++) {
		back--;
		if (back[1].insn.addr != back->insn.addr + back->insn.len || back->insn.branch == LM_BR_JUMP ||
		    back->insn.branch == LM_BR_RETURN || back->insn.branch == LM_BR_INDIRECT)
			break;
		if (touches_memory(&back->insn))
			return back;
	}
	return row;
}

/* Does the sample's own word on read or write fit this operand? */
static bool fits(const struct lm_sample *s, const struct lm_operand *m)
{
	switch (s->op) {
	case LM_OP_READ:
		return m->read;
	case LM_OP_WRITE:
		return m->write;
	case LM_OP_READ_WRITE:
	case LM_OP_UNKNOWN:
		break;
	}
	return true;
}

/* An element of an array is what its type says, whichever one it is. */
static struct lm_err *element_of(const struct lm_typing *t, struct lm_reach *reach)
{
	struct lm_type type, element;
	uint32_t id = reach->type;
	struct lm_err *err = lm_typing_complete(t, id, &type, &reach->type);

	while (!err && type.kind == LM_TYPE_ARRAY && type.target != LM_NO_TYPE && reach->offset >= 0) {
		err = lm_typing_complete(t, type.target, &element, &id);
		if (err || !element.size)
			return err;
		reach->type = id;
		reach->offset = (int64_t)((uint64_t)reach->offset % element.size);
		reach->stride = reach->stride % element.size ? reach->stride : 0;
		type = element;
	}
	return err;
}

/* Does it reach the record that is looked for?  *reach becomes the place in it. */
static struct lm_err *find_wanted(const struct lm_typing *t, uint32_t record, struct lm_reach *reach, bool *ret)
{
	struct lm_type type;
	struct lm_err *err;

	if (record != LM_NO_TYPE) {
		err = lm_typing_same(t, reach->type, record, ret);
		if (err || *ret)
			return err;
	}
	err = element_of(t, reach);
	if (err)
		return err;
	if (record != LM_NO_TYPE)
		return lm_typing_same(t, reach->type, record, ret);
	err = lm_debuginfo_type(t->bin, reach->type, &type);
	*ret = !err && type.kind == LM_TYPE_RECORD && *type.name && !type.declared && type.size;
	return err;
}

/* Does an object of the type that is reached lie in the record? */
static struct lm_err *is_part(const struct lm_typing *t, uint32_t record, struct lm_reach reach, bool *ret)
{
	uint64_t place;
	size_t nr = 0;
	struct lm_type type;
	struct lm_err *err = lm_typing_complete(t, reach.type, &type, &reach.type);

	*ret = false;
	if (err || record == LM_NO_TYPE || reach.whole || (type.kind != LM_TYPE_RECORD && type.kind != LM_TYPE_UNION))
		return err;
	err = lm_typing_parts(t, record, reach.type, &place, 1, &nr);
	*ret = nr > 0;
	return err;
}

/* What one operand says; a better outcome than before replaces it. */
static struct lm_err *operand(struct lm_locator *l, const struct lm_flow_row *row, unsigned i, uint32_t record,
			      struct lm_hit *hit)
{
	struct lm_typing t = { l->bin, l->function->unit };
	const struct lm_operand *m = &row->insn.mem[i];
	struct lm_reach reach = row->reach[i], wanted = reach;
	struct lm_type_leaf leaf;
	bool same = false, found = false, part = false;
	struct lm_err *err = NULL;

	if (reach.type != LM_NO_TYPE) {
		err = lm_typing_leaf(&t, reach, m->size, NULL, NULL, &leaf, &found);
		if (!err && found)
			err = find_wanted(&t, record, &wanted, &same);
		if (!err && found && !same)
			err = is_part(&t, record, reach, &part);
	}
	if (err)
		return err;
	hit->reach = reach;
	hit->size = m->size;
	hit->read = m->read;
	hit->write = m->write;
	hit->outcome = LM_OUTCOME_NO_TYPE;
	if (reach.type == LM_NO_TYPE) {
		if (row->on_stack[i])
			hit->outcome = LM_OUTCOME_ELSEWHERE;
	} else if (!found) {
		hit->outcome = LM_OUTCOME_OUTSIDE;
	} else if (same) {
		hit->outcome = LM_OUTCOME_FIELD;
		hit->type = wanted.type;
		hit->offset = wanted.offset;
		hit->stride = leaf.indexed ? wanted.stride : 0;
	} else if (LM_LEAF_IS_NAMED(leaf, reach)) {
		hit->outcome = part ? LM_OUTCOME_PART : LM_OUTCOME_ELSEWHERE;
	}
	return NULL;
}

static struct lm_err *operands(struct lm_locator *l, const struct lm_flow_row *row, const struct lm_sample *s,
			       uint32_t record, struct lm_hit *hit)
{
	struct lm_err *err = NULL;
	bool any = false;

	for (int pass = 0; pass < 2 && !any; pass++) {
		for (unsigned i = 0; i < row->insn.nr_mem && !err; i++) {
			struct lm_hit one = *hit;

			/* Operands written in the instruction first; push, call and ret touch the stack only. */
			if (row->insn.mem[i].stack != (pass == 1) || !fits(s, &row->insn.mem[i]))
				continue;
			err = operand(l, row, i, record, &one);
			if (!any || one.outcome == LM_OUTCOME_FIELD)
				*hit = one;
			any = true;
		}
	}
	return err;
}

struct lm_err *lm_locator_enter(struct lm_locator *l, const struct lm_function *f,
				const struct lm_flow_arguments *entry)
{
	struct lm_err *err;

	lm_arena_release(&l->arena);
	l->arena = (struct lm_arena){ 0 };
	l->function = NULL;
	err = entry ? lm_flow_run_handed(&l->source, f, entry, &l->arena, &l->flow) :
		      lm_flow_run(&l->source, f, &l->arena, &l->flow);
	if (!err)
		l->function = f;
	return err;
}

struct lm_err *lm_locator_hit(struct lm_locator *l, const struct lm_sample *s, uint32_t record, struct lm_hit *ret)
{
	const struct lm_function *f = NULL;
	const struct lm_flow_row *row;
	struct lm_err *err = NULL;
	uint64_t ip;

	*ret = (struct lm_hit){ .outcome = LM_OUTCOME_NO_FUNCTION, .reach.type = LM_NO_TYPE };
	if (!address_of(l, s, &ip))
		return NULL;
	err = lm_debuginfo_function(l->bin, ip, &f);
	/* A trap behind the last instruction of a function. */
	if (!err && !f && s->after)
		err = lm_debuginfo_function(l->bin, ip - 1, &f);
	if (err || !f)
		return err;
	ret->site = *f->name ? f->name : NULL;
	ret->function = f;
	ret->outcome = LM_OUTCOME_NO_CODE;
	/* Rows come by address: a function is not asked for again. */
	if (f != l->function)
		err = lm_locator_enter(l, f, NULL);
	if (err)
		return err;
	row = lm_flow_at(&l->flow, ip);
	row = row ? meant(&l->flow, row, s, lm_image_machine(l->image)) : NULL;
	if (!row)
		return NULL;
	ret->code = true;
	ret->outcome = LM_OUTCOME_NO_MEMORY;
	return operands(l, row, s, record, ret);
}
