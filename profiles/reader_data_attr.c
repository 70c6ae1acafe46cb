/*
 * reader_data_attr.c - the events of a perf.data file: attrs of every age, the
 * ids by which samples name them, and their names.
 *
 * struct perf_event_attr only grew (64 bytes in 2.6.31, 144 in 7.x), so fields
 * are read by their offset as far as the file has them, and the rest is zero.
 */
#include "profiles/reader_data.h"

#include <inttypes.h>
#include <stdlib.h>

enum { TYPE_HARDWARE, TYPE_SOFTWARE, TYPE_TRACEPOINT, TYPE_CACHE, TYPE_RAW, TYPE_BREAKPOINT };

static uint64_t field(const char *attr, size_t size, size_t at, size_t bytes)
{
	struct lm_cursor c = { attr, attr + size, false };

	lm_take_skip(&c, at);
	return lm_take(&c, bytes);
}

void lm_attrs_add(struct lm_attrs *a, const char *attr, size_t size, struct lm_cursor ids)
{
	struct lm_attr item = {
		.type = (uint32_t)field(attr, size, 0, 4),
		.config = field(attr, size, 8, 8),
		.sample_type = field(attr, size, 24, 8),
		.read_format = field(attr, size, 32, 8),
		.flags = field(attr, size, 40, 8),
		.bp_type = (uint32_t)field(attr, size, 52, 4),
		.bp_addr = field(attr, size, 56, 8),
		.bp_len = field(attr, size, 64, 8),
		.branch_sample_type = field(attr, size, 72, 8),
		.regs_user = field(attr, size, 80, 8),
		.regs_intr = field(attr, size, 96, 8),
	};

	while (ids.end - ids.p >= 8)
		*LM_ARENA_PUSH(&a->arena, a->ids, a->nr_ids, a->cap_ids) =
			(struct lm_attr_id){ lm_take_u64(&ids), (uint32_t)a->nr };
	*LM_ARENA_PUSH(&a->arena, a->items, a->nr, a->cap) = item;
	a->sorted = false;
}

void lm_attrs_release(struct lm_attrs *a)
{
	lm_arena_release(&a->arena);
	*a = (struct lm_attrs){ 0 };
}

static int compare_ids(const void *left, const void *right)
{
	const struct lm_attr_id *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->attr > b->attr) - (a->attr < b->attr);
}

static struct lm_attr *find_id(struct lm_attrs *a, uint64_t id)
{
	size_t low = 0, high = a->nr_ids;

	if (!a->sorted && a->nr_ids)
		qsort(a->ids, a->nr_ids, sizeof(*a->ids), compare_ids);
	a->sorted = true;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (a->ids[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < a->nr_ids && a->ids[low].id == id ? &a->items[a->ids[low].attr] : NULL;
}

struct lm_attr *lm_attrs_find(struct lm_attrs *a, uint64_t id)
{
	if (!a->nr)
		return NULL;
	if (a->nr == 1 || !id)
		return &a->items[0];
	return find_id(a, id);
}

/* ---- names ---- */

static void set_name(struct lm_attrs *a, struct lm_attr *attr, struct lm_span name)
{
	if (attr && name.p < name.end)
		attr->name = lm_arena_strndup(&a->arena, name.p, lm_span_len(name));
}

/* u32 length with padding, then the text and zeros. */
static struct lm_span take_string(struct lm_cursor *c)
{
	uint32_t len = lm_take_u32(c);
	struct lm_cursor text = *c;

	lm_take_skip(c, len);
	text.end = c->p;
	return lm_take_text(&text);
}

/* u32 number of events, u32 bytes of an attr; each: attr, u32 number of ids, name, ids. */
static void read_event_desc(struct lm_attrs *a, struct lm_cursor c)
{
	uint32_t nr = lm_take_u32(&c), size = lm_take_u32(&c);

	for (uint32_t i = 0; i < nr && !c.bad; i++) {
		uint32_t nr_ids;
		struct lm_span name;

		lm_take_skip(&c, size);
		nr_ids = lm_take_u32(&c);
		name = take_string(&c);
		if (!nr_ids && i < a->nr && !c.bad)
			set_name(a, &a->items[i], name);
		for (uint32_t k = 0; k < nr_ids && !c.bad; k++) {
			struct lm_attr *attr = find_id(a, lm_take_u64(&c));

			if (!c.bad && attr && !attr->name)
				set_name(a, attr, name);
		}
	}
}

static void read_pmus(struct lm_attrs *a, struct lm_cursor c)
{
	uint32_t nr = lm_take_u32(&c);

	for (uint32_t i = 0; i < nr && !c.bad; i++) {
		uint32_t type = lm_take_u32(&c);
		struct lm_span name = take_string(&c);
		size_t at = a->nr_pmus;

		if (c.bad || name.p == name.end)
			continue;
		*LM_ARENA_PUSH(&a->arena, a->pmu_types, at, a->cap_pmu_types) = type;
		*LM_ARENA_PUSH(&a->arena, a->pmus, a->nr_pmus, a->cap_pmus) =
			lm_arena_strndup(&a->arena, name.p, lm_span_len(name));
	}
}

void lm_attrs_feature(struct lm_attrs *a, uint64_t feature, struct lm_cursor c)
{
	if (feature == LM_FEATURE_EVENT_DESC)
		read_event_desc(a, c);
	else if (feature == LM_FEATURE_PMU_MAPPINGS)
		read_pmus(a, c);
}

/* u64 kind (2: name), u64 id, text. */
void lm_attrs_update(struct lm_attrs *a, struct lm_cursor c)
{
	uint64_t kind = lm_take_u64(&c), id = lm_take_u64(&c);

	if (kind == 2 && !c.bad)
		set_name(a, lm_attrs_find(a, id), lm_take_text(&c));
}

/* Where no name is recorded. */
static const char *make_name(struct lm_attrs *a, const struct lm_attr *attr)
{
	static const char *const hardware[] = { "cycles", "instructions", "cache-references", "cache-misses",
						"branches", "branch-misses", "bus-cycles" };
	static const char *const software[] = { "cpu-clock", "task-clock", "page-faults", "context-switches",
						"cpu-migrations", "minor-faults", "major-faults", "alignment-faults",
						"emulation-faults", "dummy", "bpf-output" };

	if (attr->type == TYPE_HARDWARE && attr->config < sizeof(hardware) / sizeof(*hardware))
		return hardware[attr->config];
	if (attr->type == TYPE_SOFTWARE && attr->config < sizeof(software) / sizeof(*software))
		return software[attr->config];
	if (attr->type == TYPE_BREAKPOINT)
		return lm_arena_printf(&a->arena, "mem:0x%" PRIx64, attr->bp_addr);
	for (size_t i = 0; i < a->nr_pmus; i++)
		if (a->pmu_types[i] == attr->type)
			return lm_arena_printf(&a->arena, "%s/config=0x%" PRIx64 "/", a->pmus[i], attr->config);
	return lm_arena_printf(&a->arena, "type %" PRIu32 " config 0x%" PRIx64, attr->type, attr->config);
}

/* The attr keeps what the text drops: length and kind of access. */
static void read_breakpoint(const struct lm_attr *attr, struct lm_event *ev)
{
	enum { READ = 1, WRITE = 2, EXECUTE = 4 };

	*ev = (struct lm_event){
		.kind = attr->bp_type & EXECUTE ? LM_EVENT_NO_MEMORY : LM_EVENT_BREAKPOINT,
		.does = attr->bp_type == READ ? LM_DOES_READ : attr->bp_type == WRITE ? LM_DOES_WRITE : LM_DOES_NOT_SAY,
		.addr = attr->bp_addr,
		.size = attr->bp_len <= 8 ? (uint32_t)attr->bp_len : 0,
	};
}

const struct lm_event *lm_attrs_event(struct lm_attrs *a, struct lm_attr *attr, struct lm_sink *sink)
{
	struct lm_span name;

	if (attr->classified)
		return &attr->event;
	if (!attr->name)
		attr->name = make_name(a, attr);
	name = (struct lm_span){ attr->name, attr->name + strlen(attr->name) };
	attr->number = lm_sink_event(sink, name);
	attr->event = lm_event_classify(name);
	if (attr->type == TYPE_BREAKPOINT)
		read_breakpoint(attr, &attr->event);
	else if (attr->type == TYPE_TRACEPOINT)
		attr->event.kind = LM_EVENT_NO_MEMORY;
	if (attr->flags >> 15 & 3)	/* precise_ip */
		attr->event.precise = true;
	attr->classified = true;
	return &attr->event;
}
