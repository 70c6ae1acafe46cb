/*
 * sink.c - where the readers of samples put them.
 *
 * A sample counts once, not period times.  The period is the distance of two
 * samples of one event in occurrences of that event; it differs between the
 * load and the store event (and while perf adapts it), and a store's unit is
 * not a load's (ldlat leaves out fast loads).  Two numbers that are both known
 * to be samples can be compared; two estimates with different errors cannot.
 * A person who recorded with different periods merges two files with weights.
 */
#include "profiles/sink.h"

#include <stdlib.h>
#include <string.h>

#define UNKNOWN_RECORD_SIZE (1u << 20)

enum { MAX_STARTS_OF_FILE = 16, MAX_STARTS = 4096 };

static uint32_t add_text(struct lm_strings *strings, const char *text)
{
	return lm_strings_add(strings, text, strlen(text));
}

static uint32_t add_span(struct lm_strings *strings, struct lm_span s)
{
	return lm_strings_add(strings, s.p, lm_span_len(s));
}

/* ---- objects ---- */

static int compare_objects(const void *left, const void *right)
{
	const struct lm_object *a = left, *b = right;

	if (a->base != b->base)
		return a->base < b->base ? -1 : 1;
	return (a->nr > b->nr) - (a->nr < b->nr);
}

static void sort_objects(struct lm_sink *s, const struct lm_reader_opts *opts)
{
	size_t nr = 0;

	s->record_size = opts->record_size ? opts->record_size : UNKNOWN_RECORD_SIZE;
	if (!opts->nr_objects)
		return;
	s->objects = calloc(opts->nr_objects, sizeof(*s->objects));
	if (!s->objects)
		lm_oom();
	for (size_t i = 0; i < opts->nr_objects; i++)
		s->objects[i] = (struct lm_object){ opts->objects[i], (uint32_t)i };
	qsort(s->objects, opts->nr_objects, sizeof(*s->objects), compare_objects);
	for (size_t i = 0; i < opts->nr_objects; i++)	/* of an address given twice the first stays */
		if (!nr || s->objects[nr - 1].base != s->objects[i].base)
			s->objects[nr++] = s->objects[i];
	s->nr_objects = nr;
}

static const struct lm_object *find_object(const struct lm_sink *s, uint64_t addr)
{
	size_t low = 0, high = s->nr_objects;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->objects[mid].base <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || addr - s->objects[low - 1].base >= s->record_size)
		return NULL;
	return &s->objects[low - 1];
}

/* ---- opening ---- */

void lm_sink_open(struct lm_sink *s, const struct lm_reader_opts *opts, struct lm_accesses *accesses,
		  struct lm_samples *samples)
{
	*s = (struct lm_sink){
		.accesses = accesses,
		.samples = samples,
		.strings = accesses ? accesses->strings : samples->strings,
	};
	s->unknown = add_text(s->strings, "[unknown]");
	lm_samples_init(&s->traps);
	lm_strings_free(s->traps.strings);
	s->traps.strings = s->strings;	/* so that ids are the same */
	if (!accesses)
		return;
	s->whole = add_text(s->strings, LM_WHOLE_RECORD);
	s->trace = opts->trace;
	if (opts->record && accesses->record == LM_NO_STRING)
		accesses->record = add_text(s->strings, opts->record);
	sort_objects(s, opts);
}

/* ---- names ---- */

bool lm_sink_wants(const struct lm_sink *s, uint64_t addr)
{
	return s->samples || find_object(s, addr);
}

uint32_t lm_sink_symbol(struct lm_sink *s, struct lm_span name, uint64_t addr)
{
	if (name.p == name.end || !lm_sink_wants(s, addr))
		return s->unknown;
	return add_span(s->strings, name);
}

uint32_t lm_sink_dso(struct lm_sink *s, struct lm_span name)
{
	if (name.p == name.end || !s->samples)
		return LM_NO_STRING;
	return add_span(s->strings, name);
}

uint32_t lm_sink_event(struct lm_sink *s, struct lm_span name)
{
	return add_span(s->samples ? s->samples->events : s->accesses->events, name);
}

/* ---- outcomes ---- */

void lm_sink_drop(struct lm_sink *s, enum lm_drop why, uint64_t nr)
{
	if (s->accesses) {
		lm_count_drop(s->accesses, why, nr);
		return;
	}
	s->samples->samples += nr;
	s->samples->drops[why] += nr;
}

void lm_sink_lost(struct lm_sink *s, uint64_t nr)
{
	uint64_t limit = UINT64_MAX / 4;	/* a hostile number must not break the sum */

	if (nr > limit)
		nr = limit;
	if (s->accesses && s->accesses->samples < limit)
		lm_count_drop(s->accesses, LM_DROP_LOST, nr);
	else if (s->samples && s->samples->lost < limit)
		s->samples->lost += nr;
}

enum lm_op lm_does_op(enum lm_does does)
{
	switch (does) {
	case LM_DOES_READ:
		return LM_OP_READ;
	case LM_DOES_WRITE:
		return LM_OP_WRITE;
	case LM_DOES_BOTH:
		return LM_OP_READ_WRITE;
	case LM_DOES_NOTHING:
	case LM_DOES_NOT_SAY:
		break;
	}
	return LM_OP_UNKNOWN;
}

enum lm_does lm_sink_does(const struct lm_sink *s, const struct lm_event *ev, uint64_t addr, bool has_data_src,
			  uint64_t data_src)
{
	enum lm_does does = ev->does;

	switch (ev->kind) {
	case LM_EVENT_NO_MEMORY:
		return LM_DOES_NOTHING;
	case LM_EVENT_CLOCK:
		return s->samples ? LM_DOES_NOT_SAY : LM_DOES_NOTHING;
	case LM_EVENT_BREAKPOINT:
		return does;
	case LM_EVENT_SAMPLED:
	case LM_EVENT_SPE:
		break;
	}
	if (has_data_src)
		does = lm_data_src_does(data_src, does);
	if (does == LM_DOES_NOTHING && s->samples && addr < LM_PAGE_ZERO && !ev->every && !(data_src & 0x1e))
		does = LM_DOES_NOT_SAY;
	return does;
}

static struct lm_sample row_of(const struct lm_hit *hit)
{
	bool has_addr = hit->addr >= LM_PAGE_ZERO;

	return (struct lm_sample){
		.ip = hit->ip,
		.addr = has_addr ? hit->addr : 0,
		.symbol = hit->symbol,
		.dso = hit->dso,
		.cpu = hit->cpu,
		.size = hit->size,
		.op = lm_does_op(hit->does),
		.evidence = hit->evidence,
		.after = hit->after,
		.chain = has_addr ? (struct lm_chain){ { 0 } } : hit->chain,
		.count = hit->count,
	};
}

static void add_sample(struct lm_sink *s, const struct lm_hit *hit)
{
	struct lm_sample row = row_of(hit);

	if (!row.ip && !row.addr) {
		lm_sink_drop(s, LM_DROP_NO_ADDRESS, hit->count);
		return;
	}
	lm_samples_add(s->samples, row);
	s->samples->samples += hit->count;
}

static void add_access(struct lm_sink *s, const struct lm_hit *hit, const struct lm_object *object)
{
	struct lm_access row = {
		.site = hit->symbol,
		.member = s->whole,
		.offset = hit->addr - object->base,
		.size = hit->size ? hit->size : 1,
		.cpu = hit->cpu,
		.object = object->nr,
		.evidence = hit->evidence,
		.reads = hit->does & (LM_DOES_READ | LM_DOES_NOT_SAY) ? hit->count : 0,
		.writes = hit->does & LM_DOES_WRITE ? hit->count : 0,
	};

	lm_accesses_add(s->accesses, row);
	lm_count_used(s->accesses, hit->count);
	if (hit->does == LM_DOES_NOT_SAY)
		s->accesses->unknown_op += hit->count;
}

static void add_bound(struct lm_sink *s, const struct lm_hit *hit)
{
	const struct lm_object *object = find_object(s, hit->addr);

	if (hit->addr < LM_PAGE_ZERO)
		lm_sink_drop(s, LM_DROP_NO_ADDRESS, hit->count);
	else if (!s->nr_objects)
		lm_sink_drop(s, LM_DROP_NO_OBJECT, hit->count);
	else if (!object)
		lm_sink_drop(s, LM_DROP_OTHER_OBJECT, hit->count);
	else
		add_access(s, hit, object);
}

/* A trap of a write may come as an access, too: the second of them finds the line where the first left it. */
void lm_sink_note_order(struct lm_sink *s, const struct lm_hit *hit)
{
	const struct lm_object *object = s->trace ? find_object(s, hit->addr) : NULL;
	struct lm_kind kind;

	if (!object || hit->addr < LM_PAGE_ZERO || hit->does == LM_DOES_NOTHING)
		return;
	if (!hit->has_time || hit->cpu < 0 || hit->count != 1) {
		s->trace->unordered += hit->count;
		return;
	}
	kind = (struct lm_kind){ hit->addr - object->base, hit->size ? hit->size : 1, object->nr,
				 (hit->does & LM_DOES_WRITE) != 0 };
	lm_trace_add(s->trace, kind, (uint32_t)hit->cpu, &hit->time);
}

void lm_sink_add(struct lm_sink *s, const struct lm_hit *hit)
{
	if (hit->does == LM_DOES_NOTHING) {
		lm_sink_drop(s, LM_DROP_NOT_MEMORY, hit->count);
		return;
	}
	if (!hit->noted)
		lm_sink_note_order(s, hit);
	if (hit->after && hit->addr >= LM_PAGE_ZERO && lm_sink_wants(s, hit->addr))
		lm_samples_add(&s->traps, row_of(hit));
	else if (s->samples)
		add_sample(s, hit);
	else
		add_bound(s, hit);
}

/* ---- breakpoints ---- */

/* Rows of one instruction, address and processor: writes, and what does not say. */
static void settle_trap(struct lm_sink *s, struct lm_sample *rows, size_t nr)
{
	uint64_t writes = 0;

	for (size_t i = 0; i < nr; i++)
		if (rows[i].op == LM_OP_WRITE && __builtin_add_overflow(writes, rows[i].count, &writes))
			writes = UINT64_MAX;
	for (size_t i = 0; i < nr; i++) {
		uint64_t twice = rows[i].count < writes ? rows[i].count : writes;

		if (rows[i].op != LM_OP_UNKNOWN)
			continue;
		lm_sink_drop(s, LM_DROP_DUPLICATE, twice);
		rows[i].count -= twice;
		writes -= twice;
	}
}

static int compare_u64(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Of an address, told apart by kernel and user: a breakpoint may trap in one of them only (:u). */
static uint64_t trap_key(const struct lm_sample *r)
{
	return r->addr << 1 | r->ip >> 63;
}

/* Where writes were trapped: what is no write there is a read.  Sorted; to be freed. */
static uint64_t *find_write_traps(const struct lm_samples *t, size_t *nr)
{
	uint64_t *keys = calloc(t->nr ? t->nr : 1, sizeof(*keys));

	if (!keys)
		lm_oom();
	*nr = 0;
	for (size_t i = 0; i < t->nr; i++)
		if (t->rows[i].op == LM_OP_WRITE)
			keys[(*nr)++] = trap_key(&t->rows[i]);
	qsort(keys, *nr, sizeof(*keys), compare_u64);
	return keys;
}

static void flush_traps(struct lm_sink *s)
{
	static const enum lm_does does[] = {
		[LM_OP_UNKNOWN] = LM_DOES_NOT_SAY, [LM_OP_READ] = LM_DOES_READ,
		[LM_OP_WRITE] = LM_DOES_WRITE, [LM_OP_READ_WRITE] = LM_DOES_BOTH,
	};
	struct lm_samples *t = &s->traps;
	size_t nr;
	uint64_t *keys = find_write_traps(t, &nr);

	lm_samples_sort(t);
	for (size_t i = 0, k; i < t->nr; i = k) {
		for (k = i + 1; k < t->nr && t->rows[k].ip == t->rows[i].ip && t->rows[k].addr == t->rows[i].addr &&
				t->rows[k].cpu == t->rows[i].cpu; k++)
			;
		settle_trap(s, t->rows + i, k - i);
	}
	for (size_t i = 0; i < t->nr; i++) {
		const struct lm_sample *r = &t->rows[i];
		struct lm_hit hit = {
			.ip = r->ip, .addr = r->addr, .symbol = r->symbol, .dso = r->dso, .cpu = r->cpu, .size = r->size,
			.does = does[r->op], .evidence = r->evidence, .after = true, .count = r->count,
		};

		uint64_t key = trap_key(r);

		if (hit.does == LM_DOES_NOT_SAY && bsearch(&key, keys, nr, sizeof(key), compare_u64))
			hit.does = LM_DOES_READ;
		if (hit.count && s->samples)
			add_sample(s, &hit);
		else if (hit.count)
			add_bound(s, &hit);
	}
	free(keys);
}

void lm_sink_close(struct lm_sink *s)
{
	flush_traps(s);
	s->traps.strings = NULL;
	lm_samples_release(&s->traps);
	free(s->objects);
	*s = (struct lm_sink){ 0 };
}

/* ---- what only the sample table keeps ---- */

static void *grow(void *items, size_t nr, size_t *cap, size_t size)
{
	if (nr < *cap)
		return items;
	*cap = *cap ? *cap * 2 : 16;
	items = reallocarray(items, *cap, size);
	if (!items)
		lm_oom();
	return items;
}

void lm_sink_mapping(struct lm_sink *s, struct lm_span name, struct lm_mapping m)
{
	struct lm_samples *t = s->samples;

	if (!t || name.p == name.end || lm_span_is(name, "//anon"))
		return;
	m.dso = add_span(t->strings, name);
	t->mappings = grow(t->mappings, t->nr_mappings, &t->cap_mappings, sizeof(*t->mappings));
	t->mappings[t->nr_mappings++] = m;
}

/* A few functions of a module tell where it lay; the last ones first, since samples come in runs. */
static void add_start(struct lm_samples *t, struct lm_start start)
{
	size_t of_file = 0;

	for (size_t i = t->nr_starts; i-- > 0 && of_file < MAX_STARTS_OF_FILE;) {
		if (t->starts[i].symbol == start.symbol && t->starts[i].dso == start.dso && t->starts[i].at == start.at)
			return;
		of_file += t->starts[i].dso == start.dso;
	}
	if (of_file == MAX_STARTS_OF_FILE || t->nr_starts >= MAX_STARTS)
		return;
	t->starts = grow(t->starts, t->nr_starts, &t->cap_starts, sizeof(*t->starts));
	t->starts[t->nr_starts++] = start;
}

void lm_sink_start(struct lm_sink *s, struct lm_start start)
{
	if (s->samples && start.dso != LM_NO_STRING && start.symbol != s->unknown)
		add_start(s->samples, start);
}

void lm_sink_build_id(struct lm_sink *s, struct lm_span name, const unsigned char *id, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	struct lm_samples *t = s->samples;
	struct lm_build_id b;
	char hex[41];
	uint32_t at;

	if (!t || name.p == name.end || !len || len > 20)
		return;
	for (size_t i = 0; i < len; i++) {
		hex[2 * i] = digits[id[i] >> 4];
		hex[2 * i + 1] = digits[id[i] & 15];
	}
	at = lm_strings_add(t->strings, hex, 2 * len);
	b = (struct lm_build_id){ add_span(t->strings, name), lm_strings_get(t->strings, at) };
	for (size_t i = 0; i < t->nr_build_ids; i++)
		if (t->build_ids[i].dso == b.dso && t->build_ids[i].hex == b.hex)
			return;
	t->build_ids = grow(t->build_ids, t->nr_build_ids, &t->cap_build_ids, sizeof(*t->build_ids));
	t->build_ids[t->nr_build_ids++] = b;
}

void lm_sink_perf_version(struct lm_sink *s, struct lm_span version)
{
	if (s->samples && version.p < version.end)
		s->samples->perf_version = lm_strings_get(s->strings, add_span(s->strings, version));
}

static uint32_t copy_string(struct lm_strings *to, const struct lm_strings *from, uint32_t id)
{
	const char *text = id == LM_NO_STRING ? NULL : lm_strings_get(from, id);

	return text ? add_text(to, text) : LM_NO_STRING;
}

static void merge_places(struct lm_samples *t, const struct lm_samples *from)
{
	for (size_t i = 0; i < from->nr_mappings; i++) {
		struct lm_mapping m = from->mappings[i];

		m.dso = copy_string(t->strings, from->strings, m.dso);
		t->mappings = grow(t->mappings, t->nr_mappings, &t->cap_mappings, sizeof(m));
		t->mappings[t->nr_mappings++] = m;
	}
	for (size_t i = 0; i < from->nr_starts; i++) {
		struct lm_start start = from->starts[i];

		start.symbol = copy_string(t->strings, from->strings, start.symbol);
		start.dso = copy_string(t->strings, from->strings, start.dso);
		add_start(t, start);
	}
	for (size_t i = 0; i < from->nr_build_ids; i++) {
		struct lm_build_id b = from->build_ids[i];

		b.dso = copy_string(t->strings, from->strings, b.dso);
		b.hex = lm_strings_get(t->strings, add_text(t->strings, b.hex));
		t->build_ids = grow(t->build_ids, t->nr_build_ids, &t->cap_build_ids, sizeof(b));
		t->build_ids[t->nr_build_ids++] = b;
	}
}

void lm_samples_merge(struct lm_samples *t, struct lm_samples *from)
{
	if (!t->nr && !t->samples && !t->nr_mappings && !t->nr_build_ids && !lm_strings_nr(t->strings)) {
		struct lm_samples empty = *t;

		*t = *from;
		*from = empty;
		return;
	}
	for (size_t i = 0; i < from->nr; i++) {
		struct lm_sample row = from->rows[i];

		row.symbol = copy_string(t->strings, from->strings, row.symbol);
		row.dso = copy_string(t->strings, from->strings, row.dso);
		lm_samples_add(t, row);
	}
	merge_places(t, from);
	for (uint32_t i = 0; i < lm_strings_nr(from->events); i++)
		copy_string(t->events, from->events, i);
	t->samples += from->samples;
	t->lost += from->lost;
	for (size_t i = 0; i < LM_NR_DROPS; i++)
		t->drops[i] += from->drops[i];
	if (!*t->perf_version && *from->perf_version)
		t->perf_version = lm_strings_get(t->strings, add_text(t->strings, from->perf_version));
}
