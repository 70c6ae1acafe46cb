/*
 * reader_data_sample.c - the fields of one sample, in the order of
 * PERF_RECORD_SAMPLE in include/uapi/linux/perf_event.h.  What is not needed is
 * skipped by its own length, up to the data source; the rest is not looked at.
 */
#include "profiles/reader_data.h"

enum {
	IP = 1 << 0, TID = 1 << 1, TIME = 1 << 2, ADDR = 1 << 3, READ = 1 << 4, CALLCHAIN = 1 << 5, ID = 1 << 6,
	CPU = 1 << 7, PERIOD = 1 << 8, STREAM_ID = 1 << 9, RAW = 1 << 10, BRANCH_STACK = 1 << 11, REGS_USER = 1 << 12,
	STACK_USER = 1 << 13, WEIGHT = 1 << 14, DATA_SRC = 1 << 15, IDENTIFIER = 1 << 16, WEIGHT_STRUCT = 1 << 24,
};

static void skip_read(struct lm_cursor *c, uint64_t format)
{
	enum { ENABLED = 1, RUNNING = 2, WITH_ID = 4, GROUP = 8, LOST = 16 };
	uint64_t nr = 1, each = 1 + !!(format & WITH_ID) + !!(format & LOST), bytes;

	if (format & GROUP)
		nr = lm_take_u64(c);
	lm_take_skip(c, 8u * (!!(format & ENABLED) + !!(format & RUNNING)));
	if (__builtin_mul_overflow(nr, 8 * each, &bytes))
		bytes = UINT64_MAX;
	lm_take_skip(c, bytes);
}

/* nr elements of each bytes. */
static void skip_array(struct lm_cursor *c, uint64_t nr, uint64_t each)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(nr, each, &bytes))
		bytes = UINT64_MAX;
	lm_take_skip(c, bytes);
}

static void skip_branches(struct lm_cursor *c, uint64_t branch_sample_type)
{
	enum { HW_INDEX = 1 << 17, COUNTERS = 1 << 19 };
	uint64_t nr = lm_take_u64(c);

	if (branch_sample_type & HW_INDEX)
		lm_take_skip(c, 8);
	skip_array(c, nr, 24);
	if (branch_sample_type & COUNTERS)
		skip_array(c, nr, 8);
}

static void skip_stack(struct lm_cursor *c)
{
	uint64_t size = lm_take_u64(c);

	lm_take_skip(c, size);
	if (size)
		lm_take_skip(c, 8);	/* how much of it was filled */
}

/*
 * The return addresses of a call chain.  It starts with a mark of what follows
 * (enum perf_callchain_context: the last 4095 addresses) and the ip itself;
 * where the next mark is, the stack of another world begins.
 */
static void take_chain(struct lm_cursor *c, struct lm_chain *ret)
{
	uint64_t nr = lm_take_u64(c), done = 0;
	unsigned frames = 0;

	for (; done < nr && !c->bad; done++) {
		uint64_t at = lm_take_u64(c);

		if (at >= (uint64_t)-4095) {
			if (frames)
				break;
			continue;
		}
		if (frames && frames <= LM_CHAIN)
			ret->returns[frames - 1] = at;
		if (++frames > LM_CHAIN)
			break;
	}
	if (done < nr)
		skip_array(c, nr - done - 1, 8);
}

/* From RAW to WEIGHT: only what stands before the data source. */
static void skip_to_data_src(struct lm_cursor *c, const struct lm_attr *attr)
{
	uint64_t type = attr->sample_type;

	if (type & RAW)
		lm_take_skip(c, lm_take_u32(c));
	if (type & BRANCH_STACK)
		skip_branches(c, attr->branch_sample_type);
	if (type & REGS_USER && lm_take_u64(c))
		skip_array(c, (uint64_t)__builtin_popcountll(attr->regs_user), 8);
	if (type & STACK_USER)
		skip_stack(c);
	if (type & (WEIGHT | WEIGHT_STRUCT))
		lm_take_skip(c, 8);
}

/*
 * Where the id stands is the same for all events of a file (perf sees to that):
 * first with IDENTIFIER, else behind the fields before ID.
 */
static struct lm_attr *find_attr(struct lm_attrs *a, struct lm_cursor c)
{
	uint64_t type, before;

	if (!a->nr)
		return NULL;
	type = a->items[0].sample_type;
	before = type & IDENTIFIER ? 0 : type & (IP | TID | TIME | ADDR);
	if (a->nr == 1 || !(type & (IDENTIFIER | ID)))
		return &a->items[0];
	lm_take_skip(&c, 8u * (unsigned)__builtin_popcountll(before));
	return lm_attrs_find(a, lm_take_u64(&c));
}

bool lm_data_parse_sample(struct lm_attrs *a, struct lm_cursor c, struct lm_data_sample *ret)
{
	struct lm_attr *attr = find_attr(a, c);
	uint64_t type;

	*ret = (struct lm_data_sample){ .cpu = LM_CPU_UNKNOWN, .attr = attr };
	if (!attr)
		return false;
	type = attr->sample_type;
	if (type & IDENTIFIER)
		lm_take_skip(&c, 8);
	if (type & IP)
		ret->ip = lm_take_u64(&c);
	if (type & TID) {
		ret->pid = lm_take_u32(&c);
		ret->tid = lm_take_u32(&c);
	}
	if (type & TIME) {
		ret->time = lm_take_u64(&c);
		ret->has_time = true;
	}
	if (type & ADDR)
		ret->addr = lm_take_u64(&c);
	if (type & ID)
		lm_take_skip(&c, 8);
	if (type & STREAM_ID)
		lm_take_skip(&c, 8);
	if (type & CPU) {
		uint32_t cpu = lm_take_u32(&c);

		ret->cpu = cpu <= INT32_MAX ? (int32_t)cpu : LM_CPU_UNKNOWN;
		lm_take_skip(&c, 4);
	}
	if (type & PERIOD)
		lm_take_skip(&c, 8);
	if (type & READ)
		skip_read(&c, attr->read_format);
	if (type & CALLCHAIN)
		take_chain(&c, &ret->chain);
	if (type & DATA_SRC) {
		skip_to_data_src(&c, attr);
		ret->data_src = lm_take_u64(&c);
		ret->has_data_src = true;
	}
	return !c.bad;
}
