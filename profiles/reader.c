/*
 * reader.c - the way into every profile: opens it, tells its format by its
 * content, hands it to the reader of that format, and says what to do when
 * nothing in it can be used.
 */
#include "base/parallel.h"
#include "profiles/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which format is it? ---- */

#define EXPECTED \
	"this version reads perf.data, perf script text, perf c2c report --stdio text, perf mem report -D text, " \
	"perf annotate --data-type --stdio text, perf report -s type,typeoff text, valgrind lackey traces, " \
	"hardware breakpoint counts, and access files (first line #linemate-access 1)"

typedef struct lm_err *(*access_reader)(struct lm_lines *src, const struct lm_reader_opts *opts,
					struct lm_accesses *t);
typedef struct lm_err *(*sample_reader)(struct lm_lines *src, struct lm_sink *sink);

/* One of the two readers is NULL. */
struct format {
	const char *what;
	access_reader accesses;
	sample_reader samples;
};

static const struct format access_file = { "an access file", lm_read_access, NULL };
static const struct format datatype = { "perf annotate --data-type text", lm_read_datatype, NULL };
static const struct format typeoff = { "perf report -s type,typeoff text", lm_read_typeoff, NULL };
static const struct format sweep = { "a sweep of hardware breakpoints", lm_read_sweep, NULL };
static const struct format trace = { "accesses in order", lm_read_trace, NULL };
static const struct format data = { "perf.data", NULL, lm_read_data };
static const struct format script = { "perf script text", NULL, lm_read_script };
static const struct format csv = { "perf mem report -D text", NULL, lm_read_csv };
static const struct format c2c = { "perf c2c report text", NULL, lm_read_c2c };
static const struct format lackey = { "a valgrind lackey trace", NULL, lm_read_lackey };
static const struct format stat_text = { "perf stat text", NULL, lm_read_stat };

struct refusal {
	const char *bytes;
	size_t len;
	const char *sentence;	/* behind "FILE: " */
};

#define BYTES(text) text, sizeof(text) - 1

/* What a file of another kind begins with. */
static const struct refusal magics[] = {
	{ BYTES("2ELIFREP"), "is a perf.data file of a machine with the other byte order; print it there: "
			     "perf script -i FILE -F +addr,+data_src > FILE.txt" },
	{ BYTES("PERFFILE"), "is a perf.data file of a perf before 2.6.35, which is not read; print it with that perf: "
			     "perf script -i FILE > FILE.txt" },
	{ BYTES("\177ELF"), "is an ELF binary, no profile; give it with --binary and a profile with --profile" },
	{ BYTES("\037\213"), "is compressed with gzip; decompress it first: gunzip FILE" },
	{ BYTES("\050\265\057\375"), "is compressed with zstd; decompress it first: unzstd FILE" },
	{ BYTES("\3757zXZ"), "is compressed with xz; decompress it first: unxz FILE" },
	{ BYTES("BZh"), "is compressed with bzip2; decompress it first: bunzip2 FILE" },
};

/* What a line of another known text says. */
static const struct refusal lines[] = {
	{ BYTES("# Overhead"), "is perf report text; " EXPECTED },
	{ BYTES("Source code & Disassembly"), "is perf annotate text without --data-type; " EXPECTED },
	{ BYTES("\"dhatFileVersion\""), "is valgrind DHAT output, which adds reads and writes up; trace with "
		"valgrind --tool=lackey --trace-mem=yes instead" },
};

struct sign {
	const char *bytes;
	size_t len;
	const struct format *format;
};

/* What a line of a text says that is read. */
static const struct sign signs[] = {
	{ BYTES("Annotate type: '"), &datatype },
	{ BYTES("Annotate data type stats:"), &datatype },
	{ BYTES("Shared Data Cache Line Table"), &c2c },
	{ BYTES("Shared Cache Line Distribution Pareto"), &c2c },
	{ BYTES("Trace Event Information"), &c2c },
	{ BYTES("# PID, TID, IP, ADDR"), &csv },
	{ BYTES("an example Valgrind tool"), &lackey },
	{ BYTES("Performance counter stats for"), &stat_text },
	{ BYTES("Data Type Offset"), &typeoff },
};

static const struct refusal *find_magic(const char *p, size_t len)
{
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if (len >= magics[i].len && !memcmp(p, magics[i].bytes, magics[i].len))
			return &magics[i];
	return NULL;
}

static const struct format *line_format(struct lm_span line, bool first)
{
	const char *p = line.p;
	size_t len = lm_span_len(line);

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (memmem(p, len, signs[i].bytes, signs[i].len))
			return signs[i].format;
	if (lm_c2c_looks_like(p, len))
		return &c2c;
	if (lm_typeoff_looks_like(p, len))
		return &typeoff;
	if (lm_csv_looks_like(p, len))
		return &csv;
	if (lm_lackey_looks_like(p, len))
		return &lackey;
	if (lm_stat_looks_like(p, len))
		return &stat_text;
	/* Three numbers are little to go by: the first line only. */
	if (first && lm_sweep_looks_like(p, len))
		return &sweep;
	return lm_script_looks_like(p, len) ? &script : NULL;
}

static const struct refusal *line_refusal(struct lm_span line)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (memmem(line.p, lm_span_len(line), lines[i].bytes, lines[i].len))
			return &lines[i];
	return NULL;
}

static bool says_something(struct lm_span line)
{
	const char *p = lm_skip_blanks(line.p, line.end);

	return p < line.end && *p != '#' && *p != '\r';
}

/* The first line that can be of one format only decides; the rest of the block is not asked. */
static const struct format *detect(const struct lm_lines *src, const struct refusal **refusal)
{
	const char *p = src->data + src->pos, *end = src->data + src->end;
	const struct format *format = NULL;
	bool first = true;

	*refusal = find_magic(p, (size_t)(end - p));
	if (*refusal)
		return NULL;
	if (lm_span_starts((struct lm_span){ p, end }, "#linemate-access"))
		return &access_file;
	if (lm_span_starts((struct lm_span){ p, end }, "PERFILE2"))
		return &data;
	while (!format && !*refusal && p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		struct lm_span line = { p, newline ? newline : end };

		if (lm_span_len(line) <= LM_LINE_MAX) {
			format = line_format(line, first);
			*refusal = format ? NULL : line_refusal(line);
			first = first && !says_something(line);
		}
		p = newline ? newline + 1 : end;
	}
	if (!format && !*refusal && lm_trace_looks_like(src->data + src->pos, src->end - src->pos))
		return &trace;
	return format;
}

/* ---- nothing usable ---- */

#define PRINT_SCRIPT "print it with perf script -F event,addr,data_src,ip,sym,symoff"

/* What the person can do about a reason. */
static const char *advice(enum lm_drop why)
{
	switch (why) {
	case LM_DROP_NOT_A_SAMPLE:
	case LM_DROP_UNREADABLE:
		return PRINT_SCRIPT;
	case LM_DROP_TRUNCATED:
	case LM_DROP_TOO_LONG:
		return "print the profile again, it is damaged";
	case LM_DROP_NO_ADDRESS:
		return "record with perf mem record (or perf record -d) and print with perf script -F +addr,+data_src";
	case LM_DROP_NOT_MEMORY:
		return "record data accesses, for example with perf mem record -a";
	case LM_DROP_DUPLICATE:
		return "print the memory event of Arm SPE too, and the time";
	case LM_DROP_OTHER_OBJECT:
		return "check the addresses given with --object";
	case LM_DROP_NO_OBJECT:
		return "give the address of an object with --object ADDR";
	case LM_DROP_OTHER_RECORD:
		return "check --struct, or print that record with perf annotate --data-type=NAME --stdio";
	case LM_DROP_NO_MEMBER:
	case LM_DROP_OUTSIDE:
		return "check that the profile is of this version of the record";
	case LM_DROP_NO_CODE:
	case LM_DROP_NO_TYPE:
		return "give the program that ran as --binary, built with -g";
	case LM_DROP_PART:
		return "record data accesses, for example with perf mem record -a: their addresses tell the object";
	case LM_DROP_GUEST:
		return "record inside the guest";
	case LM_DROP_LOST:
		return "record again, with fewer events or a larger buffer";
	case LM_NR_DROPS:
		break;
	}
	return PRINT_SCRIPT;
}

/*
 * The reason of most samples.  What is no sample is no reason, and a duplicate
 * shares the fate of the line that it repeats: they count where nothing else is.
 */
static enum lm_drop main_reason(const uint64_t *drops)
{
	enum lm_drop best = drops[LM_DROP_DUPLICATE] ? LM_DROP_DUPLICATE : LM_DROP_NOT_A_SAMPLE;
	uint64_t most = 0;

	for (int d = 0; d < LM_NR_DROPS; d++) {
		if (d == LM_DROP_NOT_A_SAMPLE || d == LM_DROP_DUPLICATE || drops[d] <= most)
			continue;
		best = (enum lm_drop)d;
		most = drops[d];
	}
	return best;
}

static struct lm_err *nothing_usable(const char *name, uint64_t samples, const uint64_t *drops)
{
	uint64_t lost = samples - drops[LM_DROP_NOT_A_SAMPLE];
	enum lm_drop why = main_reason(drops);

	if (!samples)
		return lm_err_new(LM_ERR_INPUT, "%s: has no sample in it; " EXPECTED ".", name);
	return lm_err_new(LM_ERR_INPUT,
			  "%s: none of its %" PRIu64 " samples can be used; reason of %" PRIu64 ": %s; %s.", name,
			  lost ? lost : samples, drops[why], lm_drop_text(why), advice(why));
}

/* ---- reading ---- */

/* The format of what is to be read, or why not. */
static struct lm_err *find_format(struct lm_lines *src, const struct format **ret)
{
	const struct refusal *refusal = NULL;

	if (src->error)
		return lm_err_new(LM_ERR_INPUT, "%s: cannot be read: %s.", src->name, strerror(src->error));
	if (src->eof && src->pos == src->end)
		return lm_err_new(LM_ERR_INPUT, "%s: is empty; " EXPECTED ".", src->name);
	*ret = detect(src, &refusal);
	if (refusal)
		return lm_err_new(LM_ERR_INPUT, "%s: %s.", src->name, refusal->sentence);
	if (!*ret)
		return lm_err_new(LM_ERR_INPUT, "%s: is of no known format; " EXPECTED ".", src->name);
	return NULL;
}

static struct lm_err *read_format(const struct format *format, struct lm_lines *src,
				  const struct lm_reader_opts *opts, struct lm_accesses *t)
{
	struct lm_sink sink;
	struct lm_err *err;

	if (format->accesses)
		return format->accesses(src, opts, t);
	lm_sink_open(&sink, opts, t, NULL);
	err = format->samples(src, &sink);
	lm_sink_close(&sink);
	return err;
}

/* Reads into a table of its own, so that t is untouched on failure. */
static struct lm_err *read_source(struct lm_lines *src, const struct lm_reader_opts *opts, struct lm_accesses *t)
{
	const struct format *format;
	struct lm_accesses own;
	struct lm_err *err = find_format(src, &format);

	if (err)
		return err;
	lm_accesses_init(&own);
	if (t->record != LM_NO_STRING) {
		const char *record = lm_strings_get(t->strings, t->record);

		own.record = lm_strings_add(own.strings, record, strlen(record));
	}
	err = read_format(format, src, opts, &own);
	if (!err && src->error)
		err = lm_err_new(LM_ERR_INPUT, "%s: cannot be read: %s.", src->name, strerror(src->error));
	if (!err && !own.used)
		err = nothing_usable(src->name, own.samples, own.drops);
	if (!err)
		lm_accesses_merge(t, &own, 1.0);
	lm_accesses_release(&own);
	return err;
}

static struct lm_err *read_samples(struct lm_lines *src, const struct lm_reader_opts *opts, struct lm_samples *t)
{
	const struct format *format;
	struct lm_samples own;
	struct lm_sink sink;
	struct lm_err *err = find_format(src, &format);

	if (err)
		return err;
	if (!format->samples)
		return lm_err_new(LM_ERR_INPUT, "%s: is %s, which names members already and has no samples to attribute; "
				  "read it without --binary.", src->name, format->what);
	lm_samples_init(&own);
	lm_sink_open(&sink, opts, NULL, &own);
	err = format->samples(src, &sink);
	lm_sink_close(&sink);
	if (!err && src->error)
		err = lm_err_new(LM_ERR_INPUT, "%s: cannot be read: %s.", src->name, strerror(src->error));
	if (!err && !own.nr)
		err = nothing_usable(src->name, own.samples, own.drops);
	if (!err)
		lm_samples_merge(t, &own);
	lm_samples_release(&own);
	return err;
}

struct lm_err *lm_profile_read_memory(const char *name, const char *bytes, size_t len,
				      const struct lm_reader_opts *opts, struct lm_accesses *t)
{
	struct lm_lines src = { .name = name, .data = bytes, .end = len, .fd = -1, .eof = true };

	return read_source(&src, opts, t);
}

struct lm_err *lm_profile_read_samples_memory(const char *name, const char *bytes, size_t len,
					      const struct lm_reader_opts *opts, struct lm_samples *t)
{
	struct lm_lines src = { .name = name, .data = bytes, .end = len, .fd = -1, .eof = true };

	return read_samples(&src, opts, t);
}

enum { WRITER_SECONDS = 10 };

/*
 * Waits for what a pipe has to say: long for a writer to come, and as long as
 * it takes once there is one.
 */
static struct lm_err *wait_for_writer(struct lm_lines *src)
{
	struct pollfd p = { .fd = src->fd, .events = POLLIN };
	ssize_t n = 1;

	if (poll(&p, 1, WRITER_SECONDS * 1000) == 0) {
		/* 0 is the end, of a pipe without writers; one with a writer has nothing yet, and fails. */
		n = read(src->fd, src->block, 1);
		src->end = n > 0;
	}
	if (!n)
		return lm_err_new(LM_ERR_INPUT, "%s: is a pipe that nobody has written into for %d seconds; start what "
				  "writes it first.", src->name, WRITER_SECONDS);
	(void)fcntl(src->fd, F_SETFL, fcntl(src->fd, F_GETFL) & ~O_NONBLOCK);
	return NULL;
}

static void close_profile(struct lm_lines *src)
{
	if (src->file_size)
		lm_progress("reading the profile", 1, 1);
	free(src->block);
	if (src->fd != STDIN_FILENO)
		close(src->fd);
}

static struct lm_err *open_file(const char *path, struct lm_lines *src)
{
	struct stat st;

	/* Not waiting: opening a named pipe would wait for its writer, for ever if there is none. */
	src->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (src->fd < 0)
		return lm_err_new(LM_ERR_INPUT, "%s: cannot be opened: %s.", path, strerror(errno));
	if (!fstat(src->fd, &st) && S_ISDIR(st.st_mode)) {
		close(src->fd);
		return lm_err_new(LM_ERR_INPUT, "%s: is a directory; give the file with the profile.", path);
	}
	if (!fstat(src->fd, &st) && S_ISREG(st.st_mode))
		src->file_size = (uint64_t)st.st_size;
	return NULL;
}

static struct lm_err *open_profile(const char *path, struct lm_lines *src)
{
	bool is_stdin = !strcmp(path, "-");
	struct lm_err *err = NULL;

	*src = (struct lm_lines){ .name = is_stdin ? "standard input" : path, .fd = STDIN_FILENO };
	if (!is_stdin)
		err = open_file(path, src);
	if (err)
		return err;
	src->block = malloc(LM_BLOCK);
	if (!src->block)
		lm_oom();
	src->data = src->block;
	if (!is_stdin)
		err = wait_for_writer(src);
	if (err) {
		close_profile(src);
		return err;
	}
	while (!src->eof && src->end < LM_BLOCK)	/* detection wants a whole block, also of a pipe */
		lm_lines_fill(src);
	return NULL;
}

struct lm_err *lm_profile_read(const char *path, const struct lm_reader_opts *opts, struct lm_accesses *t)
{
	struct lm_lines src;
	struct lm_err *err = open_profile(path, &src);

	if (err)
		return err;
	err = read_source(&src, opts, t);
	close_profile(&src);
	return err;
}

struct lm_err *lm_profile_read_samples(const char *path, const struct lm_reader_opts *opts, struct lm_samples *t)
{
	struct lm_lines src;
	struct lm_err *err = open_profile(path, &src);

	if (err)
		return err;
	err = read_samples(&src, opts, t);
	close_profile(&src);
	return err;
}

struct lm_err *lm_profile_read_any(const char *path, const struct lm_reader_opts *opts, struct lm_accesses *accesses,
				   struct lm_samples *samples, bool *has_samples)
{
	const struct format *format;
	struct lm_lines src;
	struct lm_err *err = open_profile(path, &src);

	if (err)
		return err;
	err = find_format(&src, &format);
	if (!err) {
		*has_samples = format->samples != NULL;
		err = *has_samples ? read_samples(&src, opts, samples) : read_source(&src, opts, accesses);
	}
	close_profile(&src);
	return err;
}
