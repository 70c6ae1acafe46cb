/*
 * attribution.c - samples to accesses: first what each instruction says, then
 * where the objects are, then every sample with a data address in one of them.
 */
#include "profiles/attribution_private.h"

#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

struct run {
	struct lm_locator locator;
	const struct lm_samples *samples;
	const struct lm_attribution_opts *opts;
	const struct lm_dbg_record *record;
	uint32_t type;
	struct lm_hit *hits;		/* by row */
	struct lm_objects objects;
	struct lm_accesses *out;
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
			err = lm_locator_hit(&r->locator, s, r->type, &r->hits[i]);
	}
	lm_progress("attributing samples", t->nr, t->nr);
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

	r->objects.size = r->record->size;
	for (size_t i = 0; i < r->opts->nr_objects; i++)
		lm_objects_give(&r->objects, r->opts->objects[i]);
	for (size_t i = 0; i < t->nr; i++) {
		const struct lm_sample *s = &t->rows[i];
		uint64_t base = s->addr - (uint64_t)r->hits[i].offset;

		if (r->opts->nr_objects || !is_sure(&r->hits[i], s))
			continue;
		lm_objects_vote(&r->objects, base, s->ip == last_ip && base == last_base, s->count);
		last_ip = s->ip;
		last_base = base;
	}
	lm_objects_settle(&r->objects);
	r->ret->objects = r->objects.nr;
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

static void set_counts(struct run *r, const struct lm_sample *s, const struct lm_hit *hit, struct lm_access *row)
{
	bool read = s->op == LM_OP_READ || s->op == LM_OP_READ_WRITE;
	bool write = s->op == LM_OP_WRITE || s->op == LM_OP_READ_WRITE;

	if (s->op == LM_OP_UNKNOWN) {
		read = hit->code && hit->read;
		write = hit->code && hit->write;
	}
	if (!read && !write) {
		read = true;
		r->out->unknown_op += s->count;
	}
	row->reads = read ? s->count : 0;
	row->writes = write ? s->count : 0;
}

/* Adds one row for bytes at an offset of the record. */
static struct lm_err *add_access(struct run *r, const struct lm_sample *s, const struct lm_hit *hit,
				 struct lm_reach reach, uint32_t object, bool by_address)
{
	struct lm_typing t = { r->locator.bin, r->locator.function ? r->locator.function->unit : LM_NO_UNIT };
	uint32_t size = s->size ? s->size : hit->size ? hit->size : 1;
	const char *site = hit->site;
	struct lm_access row = { .size = size, .cpu = s->cpu, .object = object };
	struct lm_str path = { 0 };
	struct lm_type_leaf leaf;
	uint64_t rest = 0;
	bool found;
	struct lm_err *err = lm_typing_leaf(&t, reach, size, &path, &rest, &leaf, &found);

	if (err) {
		lm_str_release(&path);
		return err;
	}
	if (!site)
		site = s->symbol != LM_NO_STRING ? lm_strings_get(r->samples->strings, s->symbol) : "[unknown]";
	if (!found || !path.len) {	/* a pad, or a record without members */
		lm_str_clear(&path);
		lm_str_add(&path, LM_WHOLE_RECORD);
		rest = (uint64_t)reach.offset;
	}
	row.site = lm_strings_add(r->out->strings, site, strlen(site));
	row.member = lm_strings_add(r->out->strings, lm_str_text(&path), path.len);
	row.offset = rest;
	row.evidence = evidence_of(r, s, by_address);
	set_counts(r, s, hit, &row);
	lm_accesses_add(r->out, row);
	lm_str_release(&path);
	return NULL;
}

/* One sample: by its address if that lies in an object, else by its instruction. */
static struct lm_err *settle_row(struct run *r, const struct lm_sample *s, struct lm_hit *hit)
{
	uint32_t object = 0;

	if (s->addr && lm_objects_find(&r->objects, s->addr, &object)) {
		struct lm_reach at = { r->type, (int64_t)(s->addr - r->objects.items[object].base), 0, true };

		if (hit->outcome != LM_OUTCOME_FIELD)
			hit->outcome = LM_OUTCOME_OBJECT;
		return add_access(r, s, hit, at, object, true);
	}
	if (hit->outcome != LM_OUTCOME_FIELD)
		return NULL;
	/* Objects were named, or the address contradicts what the type says: another one. */
	if (s->addr && r->opts->nr_objects) {
		hit->outcome = LM_OUTCOME_ELSEWHERE;
		return NULL;
	}
	return add_access(r, s, hit, (struct lm_reach){ r->type, hit->offset, hit->stride, true },
			  s->addr ? (uint32_t)r->objects.nr : 0, false);
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
	case LM_OUTCOME_FIELD:
	case LM_OUTCOME_OBJECT:
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
		if (hit->outcome == LM_OUTCOME_FIELD || hit->outcome == LM_OUTCOME_OBJECT)
			r->out->used += s->count;
		else
			r->out->drops[drop_of(hit->outcome, s)] += s->count;
	}
	return err;
}

static void copy_head(struct run *r)
{
	const struct lm_samples *t = r->samples;

	r->out->samples += t->samples;
	for (unsigned i = 0; i < LM_NR_DROPS; i++)
		r->out->drops[i] += t->drops[i];
	for (uint32_t i = 0; i < lm_strings_nr(t->events); i++) {
		const char *name = lm_strings_get(t->events, i);

		lm_strings_add(r->out->events, name, strlen(name));
	}
	r->out->record = lm_strings_add(r->out->strings, r->opts->record, strlen(r->opts->record));
}

static struct lm_err *find_record(struct run *r, struct lm_debuginfo *bin)
{
	struct lm_err *err = lm_debuginfo_record(bin, r->opts->record, &r->record);

	if (!err && !r->record)
		err = lm_err_new(LM_ERR_INPUT, "%s: its debug info has no record %s; check the name, and that this is "
				 "the binary that was profiled", lm_debuginfo_path(bin), r->opts->record);
	return err ? err : lm_debuginfo_type_of_record(bin, r->record, &r->type);
}

struct lm_err *lm_attribute(struct lm_debuginfo *bin, struct lm_samples *samples,
			    const struct lm_attribution_opts *opts, struct lm_accesses *out,
			    struct lm_attribution *ret)
{
	struct lm_attribution result = { 0 };
	struct run r = { .samples = samples, .opts = opts, .out = out, .ret = &result };
	struct lm_err *err = find_record(&r, bin);

	if (err)
		return err;
	lm_samples_sort(samples);
	r.hits = calloc(samples->nr + 1, sizeof(*r.hits));
	if (!r.hits)
		lm_oom();
	err = lm_locator_open(&r.locator, bin, samples, opts->force);
	if (!err)
		err = ask_the_code(&r);
	if (!err) {
		result.slide = r.locator.slide;
		find_objects(&r);
		copy_head(&r);
		err = settle_all(&r);
	}
	lm_locator_close(&r.locator);
	free(r.objects.items);
	free(r.hits);
	if (!err)
		*ret = result;
	return err;
}
