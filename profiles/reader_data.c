/*
 * reader_data.c - perf.data -> samples, without perf.
 *
 * File mode: a header names sections for the attrs, the records, and behind
 * them the features (names of events, build ids).  Pipe mode (perf record -o -):
 * records only, which carry all of that.  A file that ends too early gives what
 * it has, and the rest is counted; a file whose header was never finished
 * (perf was killed) is read to its end.
 *
 * perf sorts by time; we do not: which file an ip lies in is asked when the
 * sample comes and, where its mapping stands further down, again at the end.
 */
#include "profiles/reader_data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	RECORD_MMAP = 1, RECORD_LOST = 2, RECORD_FORK = 7, RECORD_SAMPLE = 9, RECORD_MMAP2 = 10,
	RECORD_LOST_SAMPLES = 13, RECORD_ATTR = 64, RECORD_BUILD_ID = 67, RECORD_AUXTRACE = 71,
	RECORD_EVENT_UPDATE = 78, RECORD_FEATURE = 80, RECORD_COMPRESSED = 81, RECORD_COMPRESSED2 = 83,
};
enum { MODE_KERNEL = 1, MODE_USER = 2, MODE_GUEST_KERNEL = 4, MODE_GUEST_USER = 5, MODE_BITS = 7 };
enum { HEADER_SIZE = 104, PIPE_HEADER_SIZE = 16, NR_FEATURES = 256 };

struct section {
	uint64_t off, size;
};

struct data {
	struct lm_lines *src;
	struct lm_sink *sink;
	struct lm_attrs attrs;
	struct lm_maps *maps;
	struct lm_zstd *zstd;		/* NULL until something is compressed */
	struct lm_recent recent;
	struct lm_samples late;		/* samples without a mapping yet; dso is the pid */
	uint32_t *dsos;			/* maps' names -> ids in the sink, LM_NO_STRING: not asked yet */
	size_t nr_dsos;
	uint64_t at;			/* offset in the file of the record at hand */
	bool has_trace;			/* AUX area data, which only perf decodes */
};

struct record {
	uint32_t type;
	uint16_t misc;
	struct lm_cursor body;
};

static struct lm_err *damaged(const struct data *d, const char *what)
{
	return lm_err_new(LM_ERR_INPUT, "%s: %s at byte %" PRIu64 "; it is damaged, record it again.", d->src->name, what,
			  d->at);
}

/* ---- places ---- */

/* "[kernel.kallsyms]_text" names the symbol that the mapping begins with, too. */
static struct lm_span file_name(struct lm_span name)
{
	static const char kernel[] = "[kernel.kallsyms]";

	if (lm_span_starts(name, kernel))
		name.end = name.p + sizeof(kernel) - 1;
	return name;
}

static struct lm_span map_name(const struct data *d, uint32_t name)
{
	const char *text = lm_strings_get(d->maps->names, name);

	return file_name((struct lm_span){ text, text + strlen(text) });
}

static uint32_t dso_id(struct data *d, uint32_t name)
{
	if (name >= d->nr_dsos) {
		size_t nr = 2 * (size_t)name + 16;

		d->dsos = reallocarray(d->dsos, nr, sizeof(*d->dsos));
		if (!d->dsos)
			lm_oom();
		memset(d->dsos + d->nr_dsos, 0xff, (nr - d->nr_dsos) * sizeof(*d->dsos));
		d->nr_dsos = nr;
	}
	if (d->dsos[name] == LM_NO_STRING)
		d->dsos[name] = lm_sink_dso(d->sink, map_name(d, name));
	return d->dsos[name];
}

/* Without symbols, code is called "FILE+0xOFFSET": what is known, and enough to tell sites apart. */
static uint32_t site_id(struct data *d, struct lm_place place, uint64_t addr)
{
	struct lm_span file = map_name(d, place.dso);
	const char *slash = memrchr(file.p, '/', lm_span_len(file));
	char text[128];
	int len;

	if (slash && slash + 1 < file.end)
		file.p = slash + 1;
	len = snprintf(text, sizeof(text), "%.*s+0x%" PRIx64, (int)(lm_span_len(file) < 64 ? lm_span_len(file) : 64),
		       file.p, place.offset);
	return lm_sink_symbol(d->sink, (struct lm_span){ text, text + len }, addr);
}

static void set_place(struct data *d, struct lm_place place, struct lm_hit *hit)
{
	hit->symbol = d->sink->unknown;
	hit->dso = LM_NO_STRING;
	if (place.dso == LM_NO_STRING)
		return;
	if (d->sink->samples)
		hit->dso = dso_id(d, place.dso);
	else
		hit->symbol = site_id(d, place, hit->addr);
}

/* ---- samples ---- */

static void add_late(struct data *d, uint32_t pid, const struct lm_hit *hit)
{
	lm_sink_note_order(d->sink, hit);
	lm_samples_add(&d->late, (struct lm_sample){
		.ip = hit->ip, .addr = hit->addr, .dso = pid, .cpu = hit->cpu, .size = hit->size,
		.op = lm_does_op(hit->does), .evidence = hit->evidence, .after = hit->after, .chain = hit->chain,
		.count = hit->count,
	});
}

static void flush_late(struct data *d)
{
	static const enum lm_does does[] = {
		[LM_OP_UNKNOWN] = LM_DOES_NOT_SAY, [LM_OP_READ] = LM_DOES_READ,
		[LM_OP_WRITE] = LM_DOES_WRITE, [LM_OP_READ_WRITE] = LM_DOES_BOTH,
	};

	for (size_t i = 0; i < d->late.nr; i++) {
		const struct lm_sample *row = &d->late.rows[i];
		struct lm_hit hit = {
			.ip = row->ip, .addr = row->addr, .cpu = row->cpu, .size = row->size, .does = does[row->op],
			.evidence = row->evidence, .after = row->after, .chain = row->chain, .count = row->count,
			.noted = true,
		};

		set_place(d, lm_maps_find(d->maps, row->dso, row->ip), &hit);
		lm_sink_add(d->sink, &hit);
	}
}

/* Arm SPE: one operation comes as several events. */
static bool is_duplicate(struct data *d, const struct lm_data_sample *s, const struct lm_event *ev)
{
	uint64_t key = (s->time ^ s->ip * 0x9e3779b97f4a7c15u) + s->addr * 0xff51afd7ed558ccdu + s->tid;

	if (ev->kind != LM_EVENT_SPE)
		return false;
	if (!s->has_time)
		return s->addr >= LM_PAGE_ZERO && !ev->is_memory;
	return lm_recent_seen(&d->recent, key, s->attr->number);
}

static uint32_t map_owner(unsigned mode, const struct lm_data_sample *s)
{
	bool kernel = mode == MODE_KERNEL || (mode != MODE_USER && s->ip >> 63);

	return kernel ? LM_KERNEL_PID : s->pid;
}

static void read_sample(struct data *d, const struct record *r)
{
	unsigned mode = r->misc & MODE_BITS;
	const struct lm_event *ev;
	struct lm_data_sample s;
	struct lm_place place;
	struct lm_hit hit;

	if (!lm_data_parse_sample(&d->attrs, r->body, &s)) {
		lm_sink_drop(d->sink, LM_DROP_UNREADABLE, 1);
		return;
	}
	if (mode == MODE_GUEST_KERNEL || mode == MODE_GUEST_USER) {
		lm_sink_drop(d->sink, LM_DROP_GUEST, 1);
		return;
	}
	ev = lm_attrs_event(&d->attrs, s.attr, d->sink);
	if (ev->kind == LM_EVENT_BREAKPOINT && !s.addr)
		s.addr = ev->addr;
	if (ev->kind == LM_EVENT_CLOCK || s.addr < LM_PAGE_ZERO)
		s.addr = 0;
	hit = (struct lm_hit){
		.ip = s.ip, .addr = s.addr, .cpu = s.cpu, .size = ev->size, .count = 1, .symbol = d->sink->unknown,
		.dso = LM_NO_STRING, .does = lm_sink_does(d->sink, ev, s.addr, s.has_data_src, s.data_src),
		.evidence = lm_event_evidence(ev, s.addr != 0), .after = ev->kind == LM_EVENT_BREAKPOINT,
		.has_time = s.has_time, .time = s.time, .chain = s.chain,
	};
	if (hit.does == LM_DOES_NOTHING || !(hit.addr || (hit.ip && d->sink->samples))) {
		lm_sink_add(d->sink, &hit);
		return;
	}
	if (is_duplicate(d, &s, ev)) {
		lm_sink_drop(d->sink, LM_DROP_DUPLICATE, 1);
		return;
	}
	if (lm_sink_wants(d->sink, hit.addr)) {
		place = lm_maps_find(d->maps, map_owner(mode, &s), s.ip);
		if (place.dso == LM_NO_STRING) {
			add_late(d, map_owner(mode, &s), &hit);
			return;
		}
		set_place(d, place, &hit);
	}
	lm_sink_add(d->sink, &hit);
}

/* ---- other records ---- */

static void read_build_id(struct data *d, struct record r)
{
	enum { ID_MAX = 20, WITH_SIZE = 1 << 15 };
	unsigned char id[ID_MAX];
	size_t size = ID_MAX;

	lm_take_skip(&r.body, 4);	/* pid */
	if (r.body.end - r.body.p <= 24)
		return;
	memcpy(id, r.body.p, ID_MAX);
	lm_take_skip(&r.body, ID_MAX);
	if (r.misc & WITH_SIZE)
		size = (unsigned char)*r.body.p;
	lm_take_skip(&r.body, 4);
	if (size <= ID_MAX)
		lm_sink_build_id(d->sink, file_name(lm_take_text(&r.body)), id, size);
}

/* MMAP and MMAP2: where in memory which part of a file lies. */
static void read_mmap(struct data *d, struct record r)
{
	enum { WITH_BUILD_ID = 1 << 14 };
	uint32_t pid = lm_take_u32(&r.body);
	struct lm_mapping m = { 0 };
	struct lm_span name;

	lm_take_skip(&r.body, 4);
	m.start = lm_take_u64(&r.body);
	m.len = lm_take_u64(&r.body);
	m.pgoff = lm_take_u64(&r.body);
	if (r.type == RECORD_MMAP2) {
		struct lm_cursor id = r.body;
		size_t size = (size_t)lm_take(&id, 1);

		lm_take_skip(&id, 3);
		lm_take_skip(&r.body, 24 + 8);	/* device and inode, or build id; protection, flags */
		name = lm_take_text(&r.body);
		if (r.misc & WITH_BUILD_ID && !r.body.bad)
			lm_sink_build_id(d->sink, name, (const unsigned char *)id.p, size <= 20 ? size : 0);
	} else {
		name = lm_take_text(&r.body);
	}
	if (r.body.bad || name.p == name.end)
		return;
	if ((r.misc & MODE_BITS) == MODE_GUEST_KERNEL || (r.misc & MODE_BITS) == MODE_GUEST_USER)
		return;
	m.pid = (r.misc & MODE_BITS) == MODE_KERNEL || pid == LM_KERNEL_PID ? -1 : (int32_t)(pid & INT32_MAX);
	lm_sink_mapping(d->sink, name, m);
	/* The kernel's offset is an address of its own; from the start of its text it is the same in every boot. */
	if (m.pid == -1 && *name.p == '[')
		m.pgoff = 0;
	lm_maps_add(d->maps, m.pid == -1 ? LM_KERNEL_PID : pid, m.start, m.len, m.pgoff, name);
}

static void read_fork(struct data *d, struct record r)
{
	uint32_t pid = lm_take_u32(&r.body), parent = lm_take_u32(&r.body);

	if (!r.body.bad)
		lm_maps_fork(d->maps, pid, parent);
}

static void read_lost(struct data *d, struct record r)
{
	uint64_t nr;

	if (r.type == RECORD_LOST)
		lm_take_skip(&r.body, 8);	/* id */
	nr = lm_take_u64(&r.body);
	if (!r.body.bad)
		lm_sink_lost(d->sink, nr);
}

/* An attr of its own age: its second word is its size. */
static void read_attr(struct data *d, struct record r)
{
	struct lm_cursor peek = r.body;
	uint32_t size;

	lm_take_skip(&peek, 4);
	size = lm_take_u32(&peek);
	if (!size)
		size = 64;
	if (peek.bad || size > (size_t)(r.body.end - r.body.p))
		return;
	peek.p = r.body.p + size;
	lm_attrs_add(&d->attrs, r.body.p, size, peek);
}

static struct lm_span version_of(struct lm_cursor c)
{
	lm_take_skip(&c, 4);
	return lm_take_text(&c);
}

static void read_feature(struct data *d, uint64_t feature, struct lm_cursor c)
{
	struct record r;

	lm_attrs_feature(&d->attrs, feature, c);
	if (feature == LM_FEATURE_VERSION)
		lm_sink_perf_version(d->sink, version_of(c));
	while (feature == LM_FEATURE_BUILD_ID && c.end - c.p > 8) {
		const char *start = c.p;
		uint64_t size;

		r.type = lm_take_u32(&c);
		r.misc = (uint16_t)lm_take(&c, 2);
		size = lm_take(&c, 2);
		if (size < 8 || size > (size_t)(c.end - start))
			return;
		r.body = (struct lm_cursor){ c.p, start + size, false };
		read_build_id(d, r);
		c.p = start + size;
	}
}

static struct lm_err *read_compressed(struct data *d, struct record r);

static struct lm_err *read_record(struct data *d, struct record r)
{
	switch (r.type) {
	case RECORD_SAMPLE:
		read_sample(d, &r);
		break;
	case RECORD_MMAP:
	case RECORD_MMAP2:
		read_mmap(d, r);
		break;
	case RECORD_FORK:
		read_fork(d, r);
		break;
	case RECORD_LOST:
	case RECORD_LOST_SAMPLES:
		read_lost(d, r);
		break;
	case RECORD_ATTR:
		read_attr(d, r);
		break;
	case RECORD_EVENT_UPDATE:
		lm_attrs_update(&d->attrs, r.body);
		break;
	case RECORD_FEATURE: {
		uint64_t feature = lm_take_u64(&r.body);

		read_feature(d, feature, r.body);
		break;
	}
	case RECORD_BUILD_ID:
		read_build_id(d, r);
		break;
	case RECORD_COMPRESSED:
	case RECORD_COMPRESSED2:
		return read_compressed(d, r);
	}
	return NULL;
}

/* type, misc, size: of the record that begins at p; the size. */
static size_t begin_record(const char *p, struct record *r)
{
	struct lm_cursor c = { p, p + 8, false };
	size_t size;

	r->type = lm_take_u32(&c);
	r->misc = (uint16_t)lm_take(&c, 2);
	size = (size_t)lm_take(&c, 2);
	r->body = (struct lm_cursor){ c.p, p + size, false };
	return size;
}

/* All whole records of what is decompressed; half a one waits for the next piece. */
static struct lm_err *read_decompressed(struct data *d)
{
	const char *p;

	while ((p = lm_zstd_bytes(d->zstd, 8))) {
		struct lm_err *err;
		struct record r;
		size_t size = begin_record(p, &r);

		if (size < 8)
			return damaged(d, "a compressed record has no size");
		if (!lm_zstd_bytes(d->zstd, size))
			return NULL;
		if (r.type == RECORD_COMPRESSED || r.type == RECORD_COMPRESSED2)
			return damaged(d, "a compressed record is compressed again");
		err = read_record(d, r);
		if (err)
			return err;
		lm_zstd_skip(d->zstd, size);
	}
	return NULL;
}

static struct lm_err *read_compressed(struct data *d, struct record r)
{
	if (r.type == RECORD_COMPRESSED2) {
		uint64_t size = lm_take_u64(&r.body);

		if (r.body.bad || size > (size_t)(r.body.end - r.body.p))
			return damaged(d, "a compressed record is shorter than it says");
		r.body.end = r.body.p + size;
	}
	if (!d->zstd)
		d->zstd = lm_zstd_new();
	if (!lm_zstd_feed(d->zstd, r.body.p, (size_t)(r.body.end - r.body.p)))
		return damaged(d, "a compressed record cannot be decompressed");
	return read_decompressed(d);
}

/* ---- the stream of records ---- */

/* AUX area data follows its record: Arm SPE and Intel PT, which need perf's decoders. */
static uint64_t trace_size(struct data *d, struct record r)
{
	if (r.type != RECORD_AUXTRACE)
		return 0;
	d->has_trace = true;
	return lm_take_u64(&r.body);
}

/* Reads records until left bytes are used up, or the file ends. */
static struct lm_err *read_records(struct data *d, uint64_t left)
{
	while (left) {
		struct lm_err *err;
		struct record r;
		const char *p = left < 8 ? NULL : lm_lines_bytes(d->src, 8);
		uint64_t size = p ? begin_record(p, &r) : 0, trace;

		if (!p && left == UINT64_MAX && d->src->pos == d->src->end)
			return NULL;
		if (p && size < 8)
			return damaged(d, "a record has no size");
		p = p && size <= left ? lm_lines_bytes(d->src, (size_t)size) : NULL;
		if (!p) {
			lm_sink_drop(d->sink, LM_DROP_TRUNCATED, 1);
			return NULL;
		}
		begin_record(p, &r);
		trace = trace_size(d, r);
		err = read_record(d, r);
		if (err)
			return err;
		lm_lines_skip(d->src, size);
		d->at += size;
		left -= left == UINT64_MAX ? 0 : size;
		if (trace > left || lm_lines_skip(d->src, trace) != trace) {
			lm_sink_drop(d->sink, LM_DROP_TRUNCATED, 1);
			return NULL;
		}
		d->at += trace;
		left -= left == UINT64_MAX ? 0 : trace;
	}
	return NULL;
}

/* ---- file mode ---- */

/* A section of the file, or NULL if the file does not hold all of it. */
static char *read_section(struct data *d, struct section s, uint64_t file_size)
{
	char *bytes;

	if (s.off > file_size || s.size > file_size - s.off)
		return NULL;
	bytes = malloc(s.size ? (size_t)s.size : 1);
	if (!bytes)
		lm_oom();
	if (!lm_lines_read_at(d->src, s.off, bytes, (size_t)s.size)) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

static struct section take_section(struct lm_cursor *c)
{
	uint64_t off = lm_take_u64(c);

	return (struct section){ off, lm_take_u64(c) };
}

/* Each entry: an attr, and the section of its ids. */
static struct lm_err *read_attrs(struct data *d, struct section attrs, uint64_t attr_size, uint64_t file_size)
{
	char *bytes = attr_size >= 64 + 16 ? read_section(d, attrs, file_size) : NULL;

	if (!bytes)
		return lm_err_new(LM_ERR_INPUT, "%s: is cut off before its events, or damaged; record it again.",
				  d->src->name);
	for (uint64_t at = 0; at + attr_size <= attrs.size; at += attr_size) {
		struct lm_cursor c = { bytes + at + attr_size - 16, bytes + at + attr_size, false };
		struct section ids = take_section(&c);
		char *list = read_section(d, ids, file_size);

		lm_attrs_add(&d->attrs, bytes + at, (size_t)attr_size - 16,
			     list ? (struct lm_cursor){ list, list + ids.size, false } : (struct lm_cursor){ 0 });
		free(list);
	}
	free(bytes);
	return NULL;
}

/* Behind the records: one section a set bit.  Of a file that is cut off they are gone. */
static void read_features(struct data *d, struct section data, const char *bits, uint64_t file_size)
{
	uint64_t at;

	if (!data.size || __builtin_add_overflow(data.off, data.size, &at))
		return;
	for (unsigned feature = 0; feature < NR_FEATURES; feature++) {
		char entry[16], *bytes;
		struct lm_cursor c = { entry, entry + sizeof(entry), false };
		struct section s;

		if (!((unsigned char)bits[feature / 8] >> feature % 8 & 1))
			continue;
		if (!lm_lines_read_at(d->src, at, entry, sizeof(entry)))
			return;
		at += sizeof(entry);
		if (feature != LM_FEATURE_BUILD_ID && feature != LM_FEATURE_VERSION &&
		    feature != LM_FEATURE_EVENT_DESC && feature != LM_FEATURE_PMU_MAPPINGS)
			continue;
		s = take_section(&c);
		bytes = read_section(d, s, file_size);
		if (bytes)
			read_feature(d, feature, (struct lm_cursor){ bytes, bytes + s.size, false });
		free(bytes);
	}
}

static struct lm_err *read_file(struct data *d)
{
	char header[HEADER_SIZE];
	struct lm_cursor c = { header + 16, header + HEADER_SIZE, false };
	uint64_t file_size = lm_lines_size(d->src), attr_size;
	struct section attrs, data;
	struct lm_err *err;

	if (!lm_lines_read_at(d->src, 0, header, sizeof(header)))
		return lm_err_new(LM_ERR_INPUT, "%s: is cut off in its header; record it again.", d->src->name);
	attr_size = lm_take_u64(&c);
	attrs = take_section(&c);
	data = take_section(&c);
	err = read_attrs(d, attrs, attr_size, file_size);
	if (err)
		return err;
	read_features(d, data, header + HEADER_SIZE - NR_FEATURES / 8, file_size);
	d->at = data.off;
	if (!lm_lines_seek(d->src, data.off)) {
		lm_sink_drop(d->sink, LM_DROP_TRUNCATED, 1);
		return NULL;
	}
	return read_records(d, data.size ? data.size : UINT64_MAX);
}

static struct lm_err *read_mode(struct data *d)
{
	const char *p = lm_lines_bytes(d->src, PIPE_HEADER_SIZE);
	struct lm_cursor c = { 0 };
	uint64_t size;

	if (!p)
		return lm_err_new(LM_ERR_INPUT, "%s: is cut off in its header; record it again.", d->src->name);
	c = (struct lm_cursor){ p + 8, p + PIPE_HEADER_SIZE, false };
	size = lm_take_u64(&c);
	if (size != PIPE_HEADER_SIZE)
		return read_file(d);
	d->at = lm_lines_skip(d->src, PIPE_HEADER_SIZE);
	return read_records(d, UINT64_MAX);
}

struct lm_err *lm_read_data(struct lm_lines *src, struct lm_sink *sink)
{
	struct data d = { .src = src, .sink = sink, .maps = lm_maps_new() };
	struct lm_err *err;
	uint64_t samples;

	lm_samples_init(&d.late);
	err = read_mode(&d);
	if (!err && d.zstd && lm_zstd_left(d.zstd))
		lm_sink_drop(sink, LM_DROP_TRUNCATED, 1);
	if (!err)
		flush_late(&d);
	samples = sink->samples ? sink->samples->samples : sink->accesses->samples;
	if (!err && d.has_trace && !samples)
		err = lm_err_new(LM_ERR_INPUT, "%s: holds only undecoded AUX area data (Arm SPE, Intel PT); let perf decode "
				 "it: perf script --itrace=M -F +addr,+data_src -i FILE > FILE.txt, or perf inject "
				 "--itrace=M -i FILE -o FILE.decoded.", src->name);
	lm_samples_release(&d.late);
	lm_attrs_release(&d.attrs);
	lm_maps_free(d.maps);
	lm_zstd_free(d.zstd);
	free(d.dsos);
	return err;
}
