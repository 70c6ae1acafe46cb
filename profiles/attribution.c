/*
 * attribution.c - samples to accesses: first what each instruction says, then
 * where the objects are, then every sample with a data address in one of them.
 */
#include "profiles/attribution_private.h"

#include "base/parallel.h"
#include "profiles/elf_link.h"

#include <stdlib.h>
#include <string.h>

/* A record that is looked for. */
struct target {
	uint32_t type;
	struct lm_objects objects;
	struct lm_accesses *out;
};

struct run {
	struct lm_locator locator;
	const struct lm_samples *samples;
	const struct lm_attribution_opts *opts;
	uint32_t wanted;		/* LM_NO_TYPE: every record */
	struct lm_hit *hits;		/* by row */
	struct target *targets;
	size_t nr_targets;
	size_t turn;			/* of elements that are not known: whose it is */
	struct lm_attribution *ret;
};

const char *lm_outcome_text(enum lm_outcome outcome)
{
	static const char *const texts[] = {
#define X(name, word, text) [LM_OUTCOME_##name] = text,
		LM_OUTCOMES(X)
#undef X
	};

	return texts[outcome];
}

const char *lm_outcome_word(enum lm_outcome outcome)
{
	static const char *const words[] = {
#define X(name, word, text) [LM_OUTCOME_##name] = word,
		LM_OUTCOMES(X)
#undef X
	};

	return words[outcome];
}

static struct lm_err *ask_the_code(struct run *r)
{
	const struct lm_samples *t = r->samples;
	struct lm_err *err = NULL;

	for (size_t i = 0; i < t->nr && !err; i++) {
		const struct lm_sample *s = &t->rows[i], *before = i ? s - 1 : NULL;

		if (i % 1024 == 0)
			lm_progress("attributing samples", i, t->nr);
		/* What an instruction touches does not depend on the sample but for these. */
		if (before && before->ip == s->ip && before->dso == s->dso && before->op == s->op &&
		    before->evidence == s->evidence && before->after == s->after)
			r->hits[i] = r->hits[i - 1];
		else
			err = lm_locator_hit(&r->locator, s, r->wanted, &r->hits[i]);
	}
	lm_progress("attributing samples", t->nr, t->nr);
	return err;
}

/* Its hit names a place in a record. */
static bool is_access(enum lm_outcome outcome)
{
	return outcome == LM_OUTCOME_FIELD || outcome == LM_OUTCOME_CHAIN || outcome == LM_OUTCOME_CALLERS ||
		outcome == LM_OUTCOME_LIKELY;
}

/* Of functions that were handed a part. */
static struct lm_err *ask_the_calls(struct run *r)
{
	struct lm_handing *handing = lm_handing_new(&r->locator.source, r->wanted);
	struct lm_err *err = lm_ask_the_chains(&r->locator, handing, r->samples, r->wanted, r->hits);

	if (!err)
		err = lm_ask_the_callers(&r->locator, handing, r->samples, r->wanted, r->hits);
	lm_handing_free(handing);
	return err;
}

static bool is_sure(const struct lm_hit *hit, const struct lm_sample *s)
{
	return hit->outcome == LM_OUTCOME_FIELD && !hit->stride && s->addr && s->evidence != LM_EVIDENCE_SKIDDING;
}

/* Votes of one instruction for one base count as one instruction. */
static void find_objects(struct run *r)
{
	const struct lm_samples *t = r->samples;
	uint64_t last_ip = 0, last_base = 0;

	for (size_t i = 0; i < r->opts->nr_objects; i++)
		lm_objects_give(&r->targets[0].objects, r->opts->objects[i]);
	for (size_t i = 0; i < t->nr; i++) {
		const struct lm_sample *s = &t->rows[i];
		uint64_t base = s->addr - (uint64_t)r->hits[i].offset;

		if (r->opts->nr_objects || !is_sure(&r->hits[i], s))
			continue;
		lm_objects_vote(&r->targets[r->hits[i].target].objects, base, s->ip == last_ip && base == last_base,
				s->count);
		last_ip = s->ip;
		last_base = base;
	}
	for (size_t k = 0; k < r->nr_targets; k++) {
		lm_objects_settle(&r->targets[k].objects);
		r->ret->objects += r->targets[k].objects.nr;
	}
}

/* ---- accesses ---- */

/* Evidence of a row: without a data address an exact address of code is "typed". */
static enum lm_evidence evidence_of(const struct run *r, const struct lm_sample *s, bool by_address)
{
	enum lm_evidence e = s->evidence;

	if (!by_address && (e == LM_EVIDENCE_EXACT || e == LM_EVIDENCE_PRECISE))
		e = LM_EVIDENCE_TYPED;
	if (r->opts->force && e < LM_EVIDENCE_SKIDDING)
		e = LM_EVIDENCE_SKIDDING;
	return e;
}

static void set_counts(struct lm_accesses *out, const struct lm_sample *s, const struct lm_hit *hit,
		       struct lm_access *row)
{
	bool read = s->op == LM_OP_READ || s->op == LM_OP_READ_WRITE;
	bool write = s->op == LM_OP_WRITE || s->op == LM_OP_READ_WRITE;

	if (s->op == LM_OP_UNKNOWN) {
		read = hit->code && hit->read;
		write = hit->code && hit->write;
	}
	if (!read && !write) {
		read = true;
		out->unknown_op += s->count;
	}
	row->reads = read ? s->count : 0;
	row->writes = write ? s->count : 0;
}

/* How types look where a hit is. */
static struct lm_typing typing_at(const struct run *r, const struct lm_hit *hit)
{
	return (struct lm_typing){ r->locator.bin, hit->function ? hit->function->unit : LM_NO_UNIT };
}

/*
 * The member at a place of the record, by name; where every record is asked
 * for, by its offset, from which whoever looks at one of them names it.
 */
static struct lm_err *name_place(struct run *r, const struct lm_typing *t, struct lm_reach reach, uint32_t size,
				 struct lm_str *path, uint64_t *rest)
{
	struct lm_type_leaf leaf;
	bool found = false;
	struct lm_err *err = NULL;

	if (r->wanted != LM_NO_TYPE)
		err = lm_typing_leaf(t, reach, size, path, rest, &leaf, &found);
	if (!err && (!found || !path->len)) {	/* also a pad, or a record without members */
		lm_str_clear(path);
		lm_str_add(path, LM_WHOLE_RECORD);
		*rest = (uint64_t)reach.offset;
	}
	return err;
}

/* Adds one row for bytes at an offset of the record; s->count of them. */
static struct lm_err *add_access(struct run *r, const struct target *target, const struct lm_sample *s,
				 const struct lm_hit *hit, struct lm_reach reach, uint32_t object, bool by_address)
{
	struct lm_access row = { .size = s->size ? s->size : hit->size ? hit->size : 1, .cpu = s->cpu, .object = object };
	struct lm_typing t = typing_at(r, hit);
	const char *site = hit->site;
	struct lm_str path = { 0 };
	struct lm_err *err = name_place(r, &t, reach, row.size, &path, &row.offset);

	if (!err) {
		if (!site)
			site = s->symbol != LM_NO_STRING ? lm_strings_get(r->samples->strings, s->symbol) : "[unknown]";
		row.site = lm_strings_add(target->out->strings, site, strlen(site));
		row.member = lm_strings_add(target->out->strings, lm_str_text(&path), path.len);
		row.evidence = evidence_of(r, s, by_address);
		set_counts(target->out, s, hit, &row);
		lm_accesses_add(target->out, row);
	}
	lm_str_release(&path);
	return err;
}

/*
 * An index that is not known may mean any element: all get the same, and what is
 * left over goes round, so that many samples of few counts are even, too.
 */
static struct lm_err *add_spread(struct run *r, const struct target *target, const struct lm_sample *s,
				 const struct lm_hit *hit, uint32_t object)
{
	struct lm_reach at = { target->type, hit->offset, hit->stride, true };
	struct lm_typing t = typing_at(r, hit);
	struct lm_sample part = *s;
	int64_t first = 0;
	size_t nr = 0;
	uint64_t left;
	struct lm_err *err = NULL;

	if (hit->stride && !r->opts->open_elements)
		err = lm_typing_elements(&t, at, hit->size, &first, &nr);
	if (err || !nr)
		return err ? err : add_access(r, target, s, hit, at, object, false);
	target->out->unknown_element += s->count;
	left = s->count % nr;
	for (size_t i = 0; i < nr && !err; i++) {
		size_t k = (r->turn + i) % nr;

		part.count = s->count / nr + (i < left);
		at = (struct lm_reach){ target->type, first + (int64_t)(k * hit->stride), 0, true };
		if (part.count)
			err = add_access(r, target, &part, hit, at, object, false);
	}
	r->turn = (r->turn + left) % nr;
	return err;
}

/* To every record that has an object at the sample's address; *own: the instruction's record is one of them. */
static struct lm_err *settle_address(struct run *r, const struct lm_sample *s, struct lm_hit *hit, bool *own)
{
	bool by_code = is_access(hit->outcome);
	struct lm_err *err = NULL;

	for (size_t k = 0; s->addr && k < r->nr_targets && !err; k++) {
		const struct target *target = &r->targets[k];
		uint32_t object;

		if (!lm_objects_find(&target->objects, s->addr, &object))
			continue;

		struct lm_reach at = { target->type, (int64_t)(s->addr - target->objects.items[object].base), 0, true };

		*own |= by_code && hit->target == k;
		if (!by_code)
			hit->outcome = LM_OUTCOME_OBJECT;
		err = add_access(r, target, s, hit, at, object, true);
		target->out->used += s->count;
	}
	return err;
}

/* One sample: by its address if that lies in an object, else by its instruction. */
static struct lm_err *settle_row(struct run *r, const struct lm_sample *s, struct lm_hit *hit)
{
	bool own = false;
	struct lm_err *err = settle_address(r, s, hit, &own);
	const struct target *target = &r->targets[hit->target];

	if (err || own || !is_access(hit->outcome))
		return err;
	/* Objects were named, or the address contradicts what the type says: another one. */
	if (s->addr && r->opts->nr_objects) {
		hit->outcome = LM_OUTCOME_ELSEWHERE;
		return NULL;
	}
	target->out->used += s->count;
	return add_spread(r, target, s, hit, s->addr ? (uint32_t)target->objects.nr : 0);
}

/* Why a sample is no access, in the access table's words. */
static enum lm_drop drop_of(enum lm_outcome outcome, const struct lm_sample *s)
{
	switch (outcome) {
	case LM_OUTCOME_NO_MEMORY:
		return LM_DROP_NOT_MEMORY;
	case LM_OUTCOME_OUTSIDE:
		return LM_DROP_OUTSIDE;
	case LM_OUTCOME_NO_TYPE:
		return s->addr ? LM_DROP_OTHER_OBJECT : LM_DROP_NO_TYPE;
	case LM_OUTCOME_NO_FUNCTION:
	case LM_OUTCOME_NO_CODE:
		return LM_DROP_NO_CODE;
	case LM_OUTCOME_PART:
		return s->addr ? LM_DROP_OTHER_OBJECT : LM_DROP_PART;
	case LM_OUTCOME_FIELD:
	case LM_OUTCOME_OBJECT:
	case LM_OUTCOME_CHAIN:
	case LM_OUTCOME_CALLERS:
	case LM_OUTCOME_LIKELY:
	case LM_OUTCOME_ELSEWHERE:
	case LM_NR_OUTCOMES:
		break;
	}
	return LM_DROP_OTHER_RECORD;
}

static struct lm_err *settle_all(struct run *r)
{
	const struct lm_samples *t = r->samples;
	struct lm_err *err = NULL;

	for (size_t i = 0; i < t->nr && !err; i++) {
		const struct lm_sample *s = &t->rows[i];
		struct lm_hit *hit = &r->hits[i];

		err = settle_row(r, s, hit);
		r->ret->samples += s->count;
		r->ret->count[hit->outcome] += s->count;
	}
	return err;
}

/* ---- one record ---- */

static void copy_head(const struct lm_samples *t, const char *record, struct lm_accesses *out)
{
	out->samples += t->samples;
	for (unsigned i = 0; i < LM_NR_DROPS; i++)
		out->drops[i] += t->drops[i];
	for (uint32_t i = 0; i < lm_strings_nr(t->events); i++) {
		const char *name = lm_strings_get(t->events, i);

		lm_strings_add(out->events, name, strlen(name));
	}
	out->record = lm_strings_add(out->strings, record, strlen(record));
}

/* What is no access to the record, by reason. */
static void count_drops(const struct run *r, struct lm_accesses *out)
{
	for (size_t i = 0; i < r->samples->nr; i++) {
		enum lm_outcome outcome = r->hits[i].outcome;

		if (!is_access(outcome) && outcome != LM_OUTCOME_OBJECT)
			out->drops[drop_of(outcome, &r->samples->rows[i])] += r->samples->rows[i].count;
	}
}

static struct lm_err *start(struct run *r, struct lm_debuginfo *bin, struct lm_samples *samples)
{
	struct lm_err *err;

	lm_samples_sort(samples);
	r->samples = samples;
	r->hits = calloc(samples->nr + 1, sizeof(*r->hits));
	if (!r->hits)
		lm_oom();
	err = lm_locator_open(&r->locator, bin, samples, r->opts->force);
	if (!err && samples->nr && !r->opts->nr_objects && !lm_image_has_code(r->locator.image))
		err = lm_err_new(LM_ERR_INPUT, "%s: has debug info but no code, which was left in the file that ran; join "
				 "both with eu-unstrip -o JOINED FILE %s and give JOINED, or name an object of the "
				 "profile with --object", lm_debuginfo_path(bin), lm_debuginfo_path(bin));
	if (!err)
		err = ask_the_code(r);
	if (!err && r->wanted != LM_NO_TYPE)
		err = ask_the_calls(r);
	r->ret->slide = r->locator.slide + (r->locator.module ? LM_LINK_TEXT : 0);
	return err;
}

static void finish(struct run *r)
{
	for (size_t k = 0; k < r->nr_targets; k++)
		free(r->targets[k].objects.items);
	lm_locator_close(&r->locator);
	free(r->hits);
}

static void copy_bases(const struct lm_objects *o, uint64_t **ret)
{
	*ret = calloc(o->nr + 1, sizeof(**ret));
	if (!*ret)
		lm_oom();
	for (size_t i = 0; i < o->nr; i++)
		(*ret)[i] = o->items[i].base;
}

static struct lm_err *find_record(struct lm_debuginfo *bin, const char *name, struct target *ret)
{
	const struct lm_dbg_record *record;
	struct lm_err *err = lm_debuginfo_record(bin, name, &record);

	if (!err && !record)
		err = lm_err_new(LM_ERR_INPUT, "%s: its debug info has no record %s; check the name, and that this is "
				 "the binary that was profiled", lm_debuginfo_path(bin), name);
	if (err)
		return err;
	ret->objects.size = record->size;
	return lm_debuginfo_type_of_record(bin, record, &ret->type);
}

struct lm_err *lm_attribute(struct lm_debuginfo *bin, struct lm_samples *samples,
			    const struct lm_attribution_opts *opts, struct lm_accesses *out,
			    struct lm_attribution *ret)
{
	struct lm_attribution result = { 0 };
	struct target target = { .out = out };
	struct run r = { .opts = opts, .ret = &result, .targets = &target, .nr_targets = 1 };
	struct lm_err *err = find_record(bin, opts->record, &target);

	if (err)
		return err;
	r.wanted = target.type;
	err = start(&r, bin, samples);
	if (!err) {
		find_objects(&r);
		copy_head(samples, opts->record, out);
		err = settle_all(&r);
		count_drops(&r, out);
	}
	if (!err && opts->bases)
		copy_bases(&target.objects, opts->bases);
	finish(&r);
	if (!err)
		*ret = result;
	return err;
}

/* ---- every record ---- */

static int compare_attributed(const void *left, const void *right)
{
	const struct lm_attributed *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : (a->size > b->size) - (a->size < b->size);
}

/* One target for each record that instructions reach: equal in name and size is one, whichever unit describes it. */
static struct lm_err *collect_targets(struct run *r, struct lm_attributed_all *all)
{
	struct lm_strings *keys = lm_strings_new();
	struct lm_err *err = NULL;
	size_t cap = 0;

	for (size_t i = 0; i < r->samples->nr && !err; i++) {
		struct lm_str key = { 0 };
		struct lm_type type;

		if (r->hits[i].outcome != LM_OUTCOME_FIELD)
			continue;
		err = lm_debuginfo_type(r->locator.bin, r->hits[i].type, &type);
		if (err)
			break;
		lm_str_addf(&key, "%llu %s", (unsigned long long)type.size, type.name);
		r->hits[i].target = lm_strings_add(keys, lm_str_text(&key), key.len);
		lm_str_release(&key);
		if (r->hits[i].target < all->nr)
			continue;
		if (all->nr == cap) {
			cap = cap ? 2 * cap : 64;
			all->items = reallocarray(all->items, cap, sizeof(*all->items));
			if (!all->items)
				lm_oom();
		}
		all->items[all->nr++] =
			(struct lm_attributed){ .name = type.name, .type = r->hits[i].type, .size = type.size };
	}
	lm_strings_free(keys);
	return err;
}

static void open_targets(struct run *r, struct lm_attributed_all *all)
{
	r->targets = calloc(all->nr + 1, sizeof(*r->targets));
	if (!r->targets)
		lm_oom();
	r->nr_targets = all->nr;
	for (size_t k = 0; k < all->nr; k++) {
		lm_accesses_init(&all->items[k].accesses);
		r->targets[k] = (struct target){ .type = all->items[k].type, .out = &all->items[k].accesses };
		r->targets[k].objects.size = all->items[k].size;
		copy_head(r->samples, all->items[k].name, &all->items[k].accesses);
	}
}

static void close_targets(struct run *r, struct lm_attributed_all *all)
{
	for (size_t k = 0; k < all->nr; k++) {
		struct lm_attributed *item = &all->items[k];
		uint64_t known = item->accesses.used;

		for (unsigned d = 0; d < LM_NR_DROPS; d++)
			known += item->accesses.drops[d];
		item->accesses.drops[LM_DROP_OTHER_RECORD] += item->accesses.samples - known;
		item->objects = r->targets[k].objects.nr;
		item->alignment = lm_objects_alignment(&r->targets[k].objects);
		lm_accesses_sort(&item->accesses);
	}
}

struct lm_err *lm_attribute_all(struct lm_debuginfo *bin, struct lm_samples *samples, bool force,
				struct lm_attributed_all *ret)
{
	const struct lm_attribution_opts opts = { .force = force };
	struct run r = { .opts = &opts, .wanted = LM_NO_TYPE, .ret = &ret->outcomes };
	struct lm_err *err;

	*ret = (struct lm_attributed_all){ 0 };
	err = start(&r, bin, samples);
	if (!err)
		err = collect_targets(&r, ret);
	if (!err) {
		open_targets(&r, ret);
		find_objects(&r);
		err = settle_all(&r);
		close_targets(&r, ret);
	}
	finish(&r);
	free(r.targets);
	if (!err && ret->nr)
		qsort(ret->items, ret->nr, sizeof(*ret->items), compare_attributed);
	return err;
}

void lm_attributed_release(struct lm_attributed_all *all)
{
	for (size_t k = 0; k < all->nr; k++)
		if (all->items[k].accesses.strings)
			lm_accesses_release(&all->items[k].accesses);
	free(all->items);
	*all = (struct lm_attributed_all){ 0 };
}
