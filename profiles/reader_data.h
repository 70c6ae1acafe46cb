/*
 * reader_data.h - what the parts of the perf.data reader share.
 *
 * The format: tools/perf/Documentation/perf.data-file-format.txt, the records:
 * include/uapi/linux/perf_event.h and tools/lib/perf/include/perf/event.h.
 * Everything in the file is in the order of bytes of the machine that recorded
 * it, which must be ours; nothing in it is trusted.
 */
#ifndef LM_PROFILES_READER_DATA_H
#define LM_PROFILES_READER_DATA_H

#include "base/arena.h"
#include "profiles/sink.h"

#include <string.h>

/* ---- bytes that may end too early ---- */

/* Takes from p; once there is too little, bad stays set and zeros come. */
struct lm_cursor {
	const char *p, *end;
	bool bad;
};

static inline uint64_t lm_take(struct lm_cursor *c, size_t size)
{
	uint64_t v = 0;

	if ((size_t)(c->end - c->p) < size) {
		c->bad = true;
		c->p = c->end;
		return 0;
	}
	memcpy(&v, c->p, size);		/* little endian: the low bytes */
	c->p += size;
	return v;
}

static inline uint64_t lm_take_u64(struct lm_cursor *c)
{
	return lm_take(c, 8);
}

static inline uint32_t lm_take_u32(struct lm_cursor *c)
{
	return (uint32_t)lm_take(c, 4);
}

static inline void lm_take_skip(struct lm_cursor *c, uint64_t n)
{
	if (n > (uint64_t)(c->end - c->p)) {
		c->bad = true;
		n = (uint64_t)(c->end - c->p);
	}
	if (n)
		c->p += n;
}

/* Text up to its zero byte, in all that is left. */
static inline struct lm_span lm_take_text(const struct lm_cursor *c)
{
	const char *zero = c->p == c->end ? NULL : memchr(c->p, 0, (size_t)(c->end - c->p));

	return (struct lm_span){ c->p, zero ? zero : c->end };
}

/* ---- events (reader_data_attr.c) ---- */

struct lm_attr {
	uint32_t type, bp_type;
	uint64_t config, sample_type, read_format, flags, bp_addr, bp_len;
	uint64_t branch_sample_type, regs_user, regs_intr;
	const char *name;	/* NULL: not told yet */
	bool classified;	/* event and number are set */
	uint32_t number;	/* in the sink */
	struct lm_event event;
};

struct lm_attr_id {
	uint64_t id;
	uint32_t attr;
};

struct lm_attrs {
	struct lm_arena arena;
	struct lm_attr *items;
	size_t nr, cap;
	struct lm_attr_id *ids;	/* by id once sorted */
	size_t nr_ids, cap_ids;
	bool sorted;
	const char **pmus;	/* by PMU_MAPPINGS: names, and their types */
	uint32_t *pmu_types;
	size_t nr_pmus, cap_pmus, cap_pmu_types;
};

/* size: bytes of the attr as far as the file has them; ids follow in c. */
void lm_attrs_add(struct lm_attrs *a, const char *attr, size_t size, struct lm_cursor ids);
/* The attr of an id, or NULL.  Without an id, and with one attr only: the first. */
struct lm_attr *lm_attrs_find(struct lm_attrs *a, uint64_t id);
void lm_attrs_feature(struct lm_attrs *a, uint64_t feature, struct lm_cursor c);	/* EVENT_DESC, PMU_MAPPINGS */
void lm_attrs_update(struct lm_attrs *a, struct lm_cursor c);	/* EVENT_UPDATE */
/* What the event's samples mean; asked when its first sample comes, so that the name is known. */
const struct lm_event *lm_attrs_event(struct lm_attrs *a, struct lm_attr *attr, struct lm_sink *sink);
void lm_attrs_release(struct lm_attrs *a);

enum { LM_FEATURE_BUILD_ID = 2, LM_FEATURE_VERSION = 5, LM_FEATURE_EVENT_DESC = 12, LM_FEATURE_PMU_MAPPINGS = 16 };

/* ---- one sample (reader_data_sample.c) ---- */

struct lm_data_sample {
	uint64_t ip, addr, data_src, time;
	struct lm_chain chain;
	uint32_t pid, tid;
	int32_t cpu;
	bool has_data_src, has_time;
	struct lm_attr *attr;
};

/* False if it follows no event, or ends too early. */
bool lm_data_parse_sample(struct lm_attrs *a, struct lm_cursor c, struct lm_data_sample *ret);

/* ---- which file does an ip lie in (reader_data_map.c) ---- */

struct lm_map {
	uint64_t start, end, pgoff;
	uint32_t dso;		/* number in names */
	uint32_t older;		/* map + 1 of the same process */
};

struct lm_process {
	uint32_t newest;	/* map + 1 */
	uint32_t parent;	/* process + 1 */
};

struct lm_place {
	uint32_t dso;		/* LM_NO_STRING: not known */
	uint64_t offset;	/* in the file */
};

enum { LM_PLACES = 4096 };

struct lm_maps {
	struct lm_arena arena;
	struct lm_strings *names, *pids;
	struct lm_map *items;
	size_t nr, cap;
	struct lm_process *processes;
	size_t nr_processes, cap_processes;
	uint32_t generation;
	struct lm_cached {
		uint64_t ip;
		uint32_t pid, generation;
		struct lm_place place;
	} cache[LM_PLACES];
};

#define LM_KERNEL_PID UINT32_MAX

void lm_maps_add(struct lm_maps *m, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff, struct lm_span name);
void lm_maps_fork(struct lm_maps *m, uint32_t pid, uint32_t parent);
struct lm_place lm_maps_find(struct lm_maps *m, uint32_t pid, uint64_t ip);
struct lm_maps *lm_maps_new(void);
void lm_maps_free(struct lm_maps *m);

/* ---- compressed records (reader_data_zstd.c) ---- */

struct lm_zstd;
struct lm_zstd *lm_zstd_new(void);
void lm_zstd_free(struct lm_zstd *z);	/* NULL is fine */

/* Decompresses the next piece of the stream behind what is still unread; false if it is damaged. */
bool lm_zstd_feed(struct lm_zstd *z, const char *piece, size_t len) LM_MUST_CHECK;
/* The next n decompressed bytes, or NULL.  Valid until the next feed. */
const char *lm_zstd_bytes(struct lm_zstd *z, size_t n);
void lm_zstd_skip(struct lm_zstd *z, size_t n);
size_t lm_zstd_left(const struct lm_zstd *z);

#endif
