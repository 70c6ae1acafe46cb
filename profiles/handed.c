/*
 * handed.c - arguments at calls, through callers that only pass them on.
 *
 * A caller's flow says what its registers hold where it calls.  If that is a
 * part which came in as the caller's own argument, its callers are asked, and
 * the caller is followed again with what they hand over.  Recursion and crowds
 * of callers end in "not complete".
 */
#include "profiles/handed.h"

#include <stdlib.h>

enum {
	MAX_CALLS = 64,		/* of one function: spin_lock() has thousands */
	MAX_HANDED = 24,	/* things that differ: of more, nothing can be told anyway */
	MAX_DEPTH = 3,		/* callers of callers */
	MAX_FLOWS = 1024,	/* followed in all */
};

struct followed {
	const struct lm_function *function;
	struct lm_flow flow;
};

struct known {
	const struct lm_function *function;
	unsigned n;
	bool alike;
	struct lm_handed_list list;
};

struct lm_handing {
	const struct lm_flow_source *source;
	uint32_t record;
	struct lm_callers *callers;
	struct lm_arena arena;
	struct followed *followed;
	size_t nr_followed, cap_followed;
	struct known *known;
	size_t nr_known, cap_known;
	unsigned flows;		/* followed so far */
};

struct lm_handing *lm_handing_new(const struct lm_flow_source *source, uint32_t record)
{
	struct lm_handing *h = calloc(1, sizeof(*h));

	if (!h)
		lm_oom();
	h->source = source;
	h->record = record;
	h->callers = lm_callers_new(source);
	return h;
}

void lm_handing_free(struct lm_handing *h)
{
	if (!h)
		return;
	lm_callers_free(h->callers);
	lm_arena_release(&h->arena);
	free(h);
}

static struct lm_typing typing_of(const struct lm_handing *h, const struct lm_function *f)
{
	return (struct lm_typing){ h->source->bin, f->unit };
}

/* The flow of a function of which nothing is known but its types. */
static struct lm_err *flow_of(struct lm_handing *h, const struct lm_function *f, const struct lm_flow **ret)
{
	struct followed *new;
	struct lm_flow flow;
	struct lm_err *err;

	for (size_t i = 0; i < h->nr_followed; i++) {
		if (h->followed[i].function == f) {
			*ret = &h->followed[i].flow;
			return NULL;
		}
	}
	*ret = NULL;
	if (++h->flows > MAX_FLOWS)
		return NULL;
	err = lm_flow_run_handed(h->source, f, NULL, &h->arena, &flow);
	if (err)
		return err;
	new = LM_ARENA_PUSH(&h->arena, h->followed, h->nr_followed, h->cap_followed);
	*new = (struct followed){ f, flow };
	*ret = &new->flow;
	return NULL;
}

/* ---- what a reach is ---- */

/* True if objects of a type lie in the record. */
static struct lm_err *is_part(const struct lm_handing *h, const struct lm_typing *t, uint32_t type, bool *ret)
{
	uint64_t place;
	size_t nr = 0;
	struct lm_err *err = lm_typing_parts(t, h->record, type, &place, 1, &nr);

	*ret = nr > 0;
	return err;
}

static struct lm_err *kind_of(const struct lm_handing *h, const struct lm_typing *t, struct lm_reach reach,
			      enum lm_handed_kind *ret)
{
	struct lm_type type;
	bool yes = false;
	uint32_t id;
	struct lm_err *err;

	*ret = LM_HANDED_OPEN;
	if (reach.type == LM_NO_TYPE)
		return NULL;
	err = lm_typing_same(t, reach.type, h->record, &yes);
	if (err || yes) {
		*ret = LM_HANDED_RECORD;
		return err;
	}
	*ret = LM_HANDED_OTHER;
	if (reach.whole)
		return NULL;
	err = lm_typing_complete(t, reach.type, &type, &id);
	if (err)
		return err;
	/* A plain number or pointer lies in anything. */
	if (type.kind != LM_TYPE_RECORD && type.kind != LM_TYPE_UNION) {
		*ret = LM_HANDED_OPEN;
		return NULL;
	}
	err = is_part(h, t, id, &yes);
	if (yes)
		*ret = LM_HANDED_OPEN;
	return err;
}

/* ---- parameters ---- */

/* The record that the n-th parameter points to; LM_NO_TYPE: none, or its register is not sure. */
static struct lm_err *pointee(const struct lm_handing *h, const struct lm_function *f, unsigned n, uint32_t *ret)
{
	struct lm_typing t = typing_of(h, f);
	unsigned at = 0;

	*ret = LM_NO_TYPE;
	for (size_t i = 0; i < f->nr_variables; i++) {
		struct lm_type type;
		struct lm_err *err;

		if (!f->variables[i].parameter)
			continue;
		if (f->variables[i].type == LM_NO_TYPE)
			return NULL;
		err = lm_typing_complete(&t, f->variables[i].type, &type, &(uint32_t){ 0 });
		/* Records by value take any number of registers, or none. */
		if (err || (type.kind != LM_TYPE_SCALAR && type.kind != LM_TYPE_POINTER) || type.size > 8)
			return err;
		if (at++ < n)
			continue;
		if (type.kind != LM_TYPE_POINTER || type.target == LM_NO_TYPE)
			return NULL;
		err = lm_typing_complete(&t, type.target, &type, ret);
		if (!err && type.kind != LM_TYPE_RECORD && type.kind != LM_TYPE_UNION)
			*ret = LM_NO_TYPE;
		return err;
	}
	return NULL;
}

struct lm_err *lm_handed_places(struct lm_handing *h, const struct lm_function *function, unsigned n, size_t *ret)
{
	struct lm_typing t = typing_of(h, function);
	uint32_t type;
	uint64_t place;
	struct lm_err *err = pointee(h, function, n, &type);

	*ret = 0;
	return err || type == LM_NO_TYPE ? err : lm_typing_parts(&t, h->record, type, &place, 1, ret);
}

/* ---- what is handed over ---- */

struct list {
	struct lm_handing *h;
	struct lm_handed *items;
	size_t nr, cap;
	bool complete;
	bool alike;		/* two things that differ are one too many */
};

static struct lm_err *add(struct list *list, const struct lm_typing *t, struct lm_reach reach,
			  const struct lm_function *by)
{
	struct lm_handed item = { .reach = reach, .by = by };
	struct lm_err *err = kind_of(list->h, t, reach, &item.kind);

	if (err)
		return err;
	for (size_t i = 0; i < list->nr; i++) {
		const struct lm_handed *x = &list->items[i];
		bool same = x->reach.type == reach.type;

		if (list->alike && !lm_handed_alike(x, &item))
			list->complete = false;

		if (!same && x->reach.type != LM_NO_TYPE && reach.type != LM_NO_TYPE)
			err = lm_typing_same(t, x->reach.type, reach.type, &same);
		if (err)
			return err;
		if (same && x->by == by && x->kind == item.kind && x->reach.offset == reach.offset &&
		    x->reach.stride == reach.stride)
			return NULL;
	}
	if (list->nr >= MAX_HANDED)
		list->complete = false;
	else
		*LM_ARENA_PUSH(&list->h->arena, list->items, list->nr, list->cap) = item;
	return NULL;
}

static struct lm_err *handed_to(struct lm_handing *h, const struct lm_function *f, unsigned n, bool alike, int depth,
				struct lm_handed_list *ret);

/* What call hands over if what its caller was handed in from is item. */
static struct lm_err *with_entry(struct lm_handing *h, const struct lm_function *caller, uint64_t call, unsigned n,
				 unsigned from, struct lm_reach item, struct lm_reach *ret)
{
	struct lm_flow_arguments entry;
	struct lm_arena scratch = { 0 };
	const struct lm_flow_row *row;
	struct lm_flow flow;
	struct lm_err *err;

	for (unsigned i = 0; i < LM_MAX_ARGUMENTS; i++)
		entry.of[i] = (struct lm_reach){ .type = LM_NO_TYPE };
	entry.of[from] = item;
	err = lm_flow_run_handed(h->source, caller, &entry, &scratch, &flow);
	row = err ? NULL : lm_flow_at(&flow, call);
	if (row && row->handed)
		*ret = row->handed->of[n];
	lm_arena_release(&scratch);
	return err;
}

/* The caller again, its own argument being item: what does it hand over now? */
static struct lm_err *follow_again(struct list *list, const struct lm_call *call, unsigned n, unsigned from,
				   const struct lm_handed *item, struct lm_reach before, bool *derived)
{
	struct lm_typing t = typing_of(list->h, call->caller);
	struct lm_reach now = before;
	struct lm_err *err;

	if (++list->h->flows > MAX_FLOWS) {
		list->complete = false;
		return NULL;
	}
	err = with_entry(list->h, call->caller, call->at, n, from, item->reach, &now);
	if (err || (now.type == before.type && now.offset == before.offset))
		return err;
	*derived = true;
	return add(list, &t, now, item->by);
}

/* A part that the caller hands over without knowing its record: if it is the caller's own argument, who gave it? */
static struct lm_err *ask_further(struct list *list, const struct lm_call *call, unsigned n, struct lm_reach reach,
				  int depth)
{
	struct lm_handing *h = list->h;
	struct lm_typing t = typing_of(h, call->caller);
	bool derived = false;
	struct lm_err *err = NULL;

	for (unsigned from = 0; reach.type != LM_NO_TYPE && from < LM_MAX_ARGUMENTS && !err && !derived &&
	     list->complete; from++) {
		struct lm_handed_list further = { 0 };
		uint32_t type;
		bool same = false;

		err = pointee(h, call->caller, from, &type);
		if (!err && type != LM_NO_TYPE)
			err = lm_typing_same(&t, type, reach.type, &same);
		if (err || !same)
			continue;
		err = handed_to(h, call->caller, from, list->alike, depth + 1, &further);
		for (size_t i = 0; i < further.nr && !err && list->complete; i++)
			if (further.items[i].kind != LM_HANDED_OPEN)
				err = follow_again(list, call, n, from, &further.items[i], reach, &derived);
		/* What is open there is open here, too. */
		for (size_t i = 0; i < further.nr && !err && derived; i++)
			if (further.items[i].kind == LM_HANDED_OPEN)
				err = add(list, &t, further.items[i].reach, further.items[i].by);
		if (derived)
			list->complete &= further.complete;
	}
	return err || derived ? err : add(list, &t, reach, call->caller);
}

static struct lm_err *look_at_call(struct list *list, const struct lm_function *f, const struct lm_call *call,
				   unsigned n, int depth)
{
	struct lm_typing t = typing_of(list->h, call->caller);
	const struct lm_flow *flow;
	const struct lm_flow_row *row;
	enum lm_handed_kind kind;
	struct lm_err *err = flow_of(list->h, call->caller, &flow);

	if (err)
		return err;
	if (!flow) {
		list->complete = false;
		return NULL;
	}
	row = lm_flow_at(flow, call->at);
	/* Bytes inside an instruction that read as a call. */
	if (!row || row->insn.target != f->ranges[0].from || !row->handed)
		return NULL;
	err = kind_of(list->h, &t, row->handed->of[n], &kind);
	if (err)
		return err;
	if (kind != LM_HANDED_OPEN)
		return add(list, &t, row->handed->of[n], call->caller);
	return ask_further(list, call, n, row->handed->of[n], depth);
}

static struct lm_err *look_at_callers(struct list *list, const struct lm_function *f, unsigned n, int depth)
{
	struct lm_call calls[MAX_CALLS];
	size_t nr = 0;
	struct lm_err *err = lm_callers_of(list->h->callers, f, calls, MAX_CALLS, &nr, &list->complete);

	for (size_t i = 0; i < nr && i < MAX_CALLS && list->complete && !err; i++)
		err = look_at_call(list, f, &calls[i], n, depth);
	return err;
}

static struct lm_err *handed_to(struct lm_handing *h, const struct lm_function *f, unsigned n, bool alike, int depth,
				struct lm_handed_list *ret)
{
	struct list list = { .h = h, .alike = alike };
	size_t slot;
	struct lm_err *err;

	for (size_t i = 0; i < h->nr_known; i++) {
		if (h->known[i].function == f && h->known[i].n == n && h->known[i].alike == alike) {
			*ret = h->known[i].list;
			return NULL;
		}
	}
	*ret = (struct lm_handed_list){ 0 };
	if (depth > MAX_DEPTH)
		return NULL;
	/* Recursion sees the cautious answer: nothing, and not complete. */
	slot = h->nr_known;
	*LM_ARENA_PUSH(&h->arena, h->known, h->nr_known, h->cap_known) = (struct known){ f, n, alike, *ret };
	err = look_at_callers(&list, f, n, depth);
	if (!err)
		*ret = h->known[slot].list = (struct lm_handed_list){ list.items, list.nr, list.complete };
	return err;
}

/* ---- at one call ---- */

/* The direct call that ends just before an address to return to; NULL: there is none. */
static const struct lm_flow_row *call_before(const struct lm_flow *flow, uint64_t back)
{
	for (size_t i = 0; i < flow->nr; i++) {
		const struct lm_insn *in = &flow->rows[i].insn;

		/* Some unwinders step back by a byte. */
		if (back - 1 >= in->addr && back - 1 < in->addr + in->len)
			return in->branch == LM_BR_CALL && in->target && flow->rows[i].handed ? &flow->rows[i] : NULL;
	}
	return NULL;
}

static bool is_inside(const struct lm_function *f, uint64_t address)
{
	for (size_t i = 0; i < f->nr_ranges; i++)
		if (address >= f->ranges[i].from && address < f->ranges[i].to)
			return true;
	return false;
}

/* The only call of, or jump to, f in a function that jumps nowhere else; NULL: not the only one. */
static const struct lm_flow_row *only_way(const struct lm_flow *flow, const struct lm_function *f)
{
	const struct lm_flow_row *way = NULL;

	for (size_t i = 0; i < flow->nr; i++) {
		const struct lm_insn *in = &flow->rows[i].insn;
		bool jumps = in->branch == LM_BR_JUMP || in->branch == LM_BR_COND;

		if (in->target == f->ranges[0].from && (jumps || in->branch == LM_BR_CALL)) {
			if (way || !flow->rows[i].handed)
				return NULL;
			way = &flow->rows[i];
		} else if (in->branch == LM_BR_INDIRECT || (jumps && !is_inside(flow->function, in->target))) {
			return NULL;
		}
	}
	return way;
}

/* The place where f was called, by a chain; *used: returns that it took. */
struct site {
	const struct lm_function *caller;
	const struct lm_flow_row *row;	/* NULL: not known */
	size_t used;
};

/*
 * One frame may be missing: f has none of its own yet, or its caller jumped to
 * it.  Then the call that is found is its caller's.
 */
static struct lm_err *find_site(struct lm_handing *h, const struct lm_function *f, uint64_t back, struct site *ret)
{
	const struct lm_function *g = NULL;
	const struct lm_flow *flow = NULL;
	const struct lm_flow_row *row;
	struct lm_err *err = lm_debuginfo_function(h->source->bin, back - 1, &g);

	*ret = (struct site){ .caller = g, .used = 1 };
	if (!err && g)
		err = flow_of(h, g, &flow);
	row = !err && flow ? call_before(flow, back) : NULL;
	if (!row)
		return err;
	if (row->insn.target == f->ranges[0].from) {
		ret->row = row;
		return NULL;
	}
	err = lm_debuginfo_function(h->source->bin, row->insn.target, &g);
	if (err || !g || g->ranges[0].from != row->insn.target)
		return err;
	err = flow_of(h, g, &flow);
	if (!err && flow)
		*ret = (struct site){ g, only_way(flow, f), 0 };
	return err;
}

/* A part of which the caller does not know the record: its own call may. */
static struct lm_err *from_further(struct lm_handing *h, const struct lm_function *caller, uint64_t call, unsigned n,
				   const uint64_t *returns, size_t nr, struct lm_handed *item)
{
	struct lm_typing t = typing_of(h, caller);
	struct lm_err *err = NULL;

	for (unsigned from = 0; from < LM_MAX_ARGUMENTS && !err && item->kind == LM_HANDED_OPEN; from++) {
		struct lm_handed further;
		uint32_t type;
		bool same = false, found = false;

		err = pointee(h, caller, from, &type);
		if (!err && type != LM_NO_TYPE)
			err = lm_typing_same(&t, type, item->reach.type, &same);
		if (!err && same)
			err = lm_handed_by(h, caller, from, returns, nr, &further, &found);
		if (err || !found || further.kind == LM_HANDED_OPEN || ++h->flows > MAX_FLOWS)
			continue;
		err = with_entry(h, caller, call, n, from, further.reach, &item->reach);
		if (!err)
			err = kind_of(h, &t, item->reach, &item->kind);
	}
	return err;
}

struct lm_err *lm_handed_by(struct lm_handing *h, const struct lm_function *function, unsigned n,
			    const uint64_t *returns, size_t nr, struct lm_handed *ret, bool *found)
{
	struct site site = { .row = NULL };
	struct lm_typing t;
	struct lm_err *err = nr ? find_site(h, function, returns[0], &site) : NULL;

	*found = false;
	if (err || !site.row)
		return err;
	*found = true;
	t = typing_of(h, site.caller);
	*ret = (struct lm_handed){ .reach = site.row->handed->of[n], .by = site.caller };
	err = kind_of(h, &t, ret->reach, &ret->kind);
	if (err || ret->kind != LM_HANDED_OPEN || ret->reach.type == LM_NO_TYPE)
		return err;
	return from_further(h, site.caller, site.row->insn.addr, n, returns + site.used, nr - site.used, ret);
}

bool lm_handed_alike(const struct lm_handed *a, const struct lm_handed *b)
{
	return a->kind == LM_HANDED_RECORD && b->kind == LM_HANDED_RECORD && a->reach.offset == b->reach.offset &&
		a->reach.stride == b->reach.stride;
}

struct lm_err *lm_handed_to(struct lm_handing *h, const struct lm_function *function, unsigned n, bool alike,
			    struct lm_handed_list *ret)
{
	return handed_to(h, function, n, alike, 0, ret);
}

struct lm_err *lm_handed_shows(struct lm_handing *h, const struct lm_function *function, bool reads, bool writes,
			       struct lm_shown *ret)
{
	struct lm_typing t = typing_of(h, function);
	const struct lm_flow *flow;
	struct lm_err *err = flow_of(h, function, &flow);

	*ret = (struct lm_shown){ false, false };
	for (size_t i = 0; !err && flow && i < flow->nr && !ret->record; i++) {
		const struct lm_flow_row *row = &flow->rows[i];

		for (unsigned m = 0; m < row->insn.nr_mem && !err; m++) {
			const struct lm_operand *at = &row->insn.mem[m];
			bool same = false;

			if (at->stack || row->on_stack[m] || !((reads && at->read) || (writes && at->write)))
				continue;
			ret->any = true;
			if (row->reach[m].type != LM_NO_TYPE)
				err = lm_typing_same(&t, row->reach[m].type, h->record, &same);
			ret->record |= same;
		}
	}
	return err;
}
