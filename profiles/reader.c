/*
 * reader.c - the way into every profile: opens it, tells its format by its
 * content, hands it to the reader of that format, and says what to do when
 * nothing in it can be used.
 */
#include "profiles/reader_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A block fits the second-level cache and holds a line of the greatest length and the next one's beginning. */
enum { BLOCK = 256 << 10 };

/* ---- spans ---- */

bool lm_span_decimal(struct lm_span s, uint64_t *ret)
{
	uint64_t v = 0;

	if (s.p == s.end)
		return false;
	for (; s.p < s.end; s.p++) {
		if (*s.p < '0' || *s.p > '9' || __builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s.p - '0'), &v))
			return false;
	}
	*ret = v;
	return true;
}

/* Values of the hexadecimal digits, plus one; 0 for every other byte. */
static const unsigned char hex_digits[256] = {
	['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6, ['6'] = 7, ['7'] = 8,
	['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

bool lm_span_hex(struct lm_span s, uint64_t *ret)
{
	uint64_t v = 0;

	if (s.p == s.end || lm_span_len(s) > 16)
		return false;
	for (; s.p < s.end; s.p++) {
		unsigned digit = hex_digits[(unsigned char)*s.p];

		if (!digit)
			return false;
		v = v << 4 | (digit - 1);
	}
	*ret = v;
	return true;
}

bool lm_span_is(struct lm_span s, const char *text)
{
	return lm_span_len(s) == strlen(text) && !memcmp(s.p, text, lm_span_len(s));
}

bool lm_span_starts(struct lm_span s, const char *text)
{
	size_t len = strlen(text);

	return lm_span_len(s) >= len && !memcmp(s.p, text, len);
}

bool lm_span_has(struct lm_span s, const char *text)
{
	size_t len = strlen(text);

	for (; lm_span_len(s) >= len; s.p++) {
		size_t i = 0;

		/* The texts are letters and '-'; of these only letters have the bit 0x20 to lose. */
		while (i < len && (s.p[i] == text[i] || (s.p[i] >= 'A' && s.p[i] <= 'Z' && (s.p[i] | 0x20) == text[i])))
			i++;
		if (i == len)
			return true;
	}
	return false;
}

enum lm_does lm_event_does(struct lm_span name)
{
	bool load = lm_span_has(name, "load"), store = lm_span_has(name, "store");

	if (load == store)
		return LM_DOES_NOT_SAY;
	return load ? LM_DOES_READ : LM_DOES_WRITE;
}

/* ---- the line source ---- */

/* Reads more behind end; eof is set where there is no more. */
static void fill(struct lm_lines *src)
{
	ssize_t n;

	do
		n = read(src->fd, src->block + src->end, BLOCK - src->end);
	while (n < 0 && errno == EINTR);
	if (n > 0) {
		src->end += (size_t)n;
		return;
	}
	src->error = n < 0 ? errno : 0;
	src->eof = true;
}

static void move_to_front(struct lm_lines *src)
{
	if (!src->pos)
		return;
	memmove(src->block, src->block + src->pos, src->end - src->pos);
	src->end -= src->pos;
	src->pos = 0;
}

/* Hands out the beginning of the endless line at pos, and goes to its end. */
static void skip_long_line(struct lm_lines *src, struct lm_line *line)
{
	const char *newline = NULL;

	move_to_front(src);
	while (!newline && !src->eof) {
		src->end = LM_LINE_MAX;
		fill(src);
		newline = memchr(src->block + LM_LINE_MAX, '\n', src->end - LM_LINE_MAX);
	}
	src->pos = newline ? (size_t)(newline - src->block) + 1 : src->end;
	*line = (struct lm_line){ src->data, LM_LINE_MAX, src->line_nr, !newline, true };
}

static void hand_out(struct lm_lines *src, struct lm_line *line, size_t len, bool cut)
{
	*line = (struct lm_line){ src->data + src->pos, len, src->line_nr, cut, len > LM_LINE_MAX };
	src->pos += len + !cut;
	if (line->too_long)
		line->len = LM_LINE_MAX;
	else if (!cut && len && line->text[len - 1] == '\r')
		line->len--;
}

bool lm_lines_next(struct lm_lines *src, struct lm_line *line)
{
	size_t seen = 0;

	for (;;) {
		size_t left = src->end - src->pos;
		const char *from = src->data + src->pos;
		const char *newline = left > seen ? memchr(from + seen, '\n', left - seen) : NULL;

		if (!newline && src->eof && !left)
			return false;
		if (newline || src->eof) {
			src->line_nr++;
			hand_out(src, line, newline ? (size_t)(newline - from) : left, !newline);
			return true;
		}
		if (left > LM_LINE_MAX) {
			src->line_nr++;
			skip_long_line(src, line);
			return true;
		}
		seen = left;
		move_to_front(src);
		fill(src);
	}
}

/* ---- which format is it? ---- */

enum format { FORMAT_UNKNOWN, FORMAT_ACCESS, FORMAT_SCRIPT, FORMAT_DATATYPE, FORMAT_REFUSED };

#define EXPECTED \
	"this version reads perf script text, perf annotate --data-type --stdio text, and access files " \
	"(first line #linemate-access 1)"

struct refusal {
	const char *bytes;
	size_t len;
	const char *sentence;	/* behind "FILE: " */
};

#define BYTES(text) text, sizeof(text) - 1
#define PRINT_FIRST "is a perf.data file; print it first: perf script -i FILE -F +addr,+data_src > FILE.txt"

/* What a file of another kind begins with. */
static const struct refusal magics[] = {
	{ BYTES("PERFILE2"), PRINT_FIRST },
	{ BYTES("2ELIFREP"), PRINT_FIRST },
	{ BYTES("PERFFILE"), PRINT_FIRST },
	{ BYTES("\177ELF"), "is an ELF binary, no profile; give it with --binary and a profile with --profile" },
	{ BYTES("\037\213"), "is compressed with gzip; decompress it first: gunzip FILE" },
	{ BYTES("\050\265\057\375"), "is compressed with zstd; decompress it first: unzstd FILE" },
	{ BYTES("\3757zXZ"), "is compressed with xz; decompress it first: unxz FILE" },
	{ BYTES("BZh"), "is compressed with bzip2; decompress it first: bunzip2 FILE" },
};

/* What a line of another known text says. */
static const struct refusal lines[] = {
	{ BYTES("Shared Data Cache Line Table"), "is perf c2c report text; " EXPECTED },
	{ BYTES("Shared Cache Line Distribution Pareto"), "is perf c2c report text; " EXPECTED },
	{ BYTES("Trace Event Information"), "is perf c2c report text; " EXPECTED },
	{ BYTES("# PID, TID, IP, ADDR"), "is perf mem report -D text; " EXPECTED },
	{ BYTES("# Overhead"), "is perf report text; " EXPECTED },
	{ BYTES("Source code & Disassembly"), "is perf annotate text without --data-type; " EXPECTED },
	{ BYTES("an example Valgrind tool"), "is valgrind lackey output; " EXPECTED },
	{ BYTES("\"dhatFileVersion\""), "is valgrind DHAT output; " EXPECTED },
	{ BYTES("Performance counter stats for"), "is perf stat text; " EXPECTED },
};

static const struct refusal *find_magic(const char *p, size_t len)
{
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if (len >= magics[i].len && !memcmp(p, magics[i].bytes, magics[i].len))
			return &magics[i];
	return NULL;
}

static enum format line_format(struct lm_span line, const struct refusal **refusal)
{
	if (lm_span_starts(line, "Annotate type: '") || lm_span_starts(line, "Annotate data type stats:"))
		return FORMAT_DATATYPE;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (memmem(line.p, lm_span_len(line), lines[i].bytes, lines[i].len)) {
			*refusal = &lines[i];
			return FORMAT_REFUSED;
		}
	}
	return lm_script_looks_like(line.p, lm_span_len(line)) ? FORMAT_SCRIPT : FORMAT_UNKNOWN;
}

/* The first line that can be of one format only decides; the rest of the block is not asked. */
static enum format detect(const struct lm_lines *src, const struct refusal **refusal)
{
	const char *p = src->data + src->pos, *end = src->data + src->end;
	enum format format = FORMAT_UNKNOWN;

	*refusal = find_magic(p, (size_t)(end - p));
	if (*refusal)
		return FORMAT_REFUSED;
	if (lm_span_starts((struct lm_span){ p, end }, "#linemate-access"))
		return FORMAT_ACCESS;
	while (format == FORMAT_UNKNOWN && p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		struct lm_span line = { p, newline ? newline : end };

		if (lm_span_len(line) <= LM_LINE_MAX)
			format = line_format(line, refusal);
		p = newline ? newline + 1 : end;
	}
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
	case LM_NR_DROPS:
		break;
	}
	return PRINT_SCRIPT;
}

/*
 * The reason of most samples.  What is no sample is no reason, and a duplicate
 * shares the fate of the line that it repeats: they count where nothing else is.
 */
static enum lm_drop main_reason(const struct lm_accesses *t)
{
	enum lm_drop best = t->drops[LM_DROP_DUPLICATE] ? LM_DROP_DUPLICATE : LM_DROP_NOT_A_SAMPLE;
	uint64_t most = 0;

	for (int d = 0; d < LM_NR_DROPS; d++) {
		if (d == LM_DROP_NOT_A_SAMPLE || d == LM_DROP_DUPLICATE || t->drops[d] <= most)
			continue;
		best = (enum lm_drop)d;
		most = t->drops[d];
	}
	return best;
}

static struct lm_err *nothing_usable(const char *name, const struct lm_accesses *t)
{
	uint64_t lost = t->samples - t->drops[LM_DROP_NOT_A_SAMPLE];
	enum lm_drop why = main_reason(t);

	if (!t->samples)
		return lm_err_new(LM_ERR_INPUT, "%s: has no sample in it; " EXPECTED ".", name);
	return lm_err_new(LM_ERR_INPUT,
			  "%s: none of its %" PRIu64 " samples can be used; reason of %" PRIu64 ": %s; %s.", name,
			  lost ? lost : t->samples, t->drops[why], lm_drop_text(why), advice(why));
}

/* ---- reading ---- */

static struct lm_err *dispatch(struct lm_lines *src, const struct lm_reader_opts *opts, struct lm_accesses *t)
{
	const struct refusal *refusal = NULL;

	switch (detect(src, &refusal)) {
	case FORMAT_ACCESS:
		return lm_read_access(src, opts, t);
	case FORMAT_SCRIPT:
		return lm_read_script(src, opts, t);
	case FORMAT_DATATYPE:
		return lm_read_datatype(src, opts, t);
	case FORMAT_REFUSED:
		return lm_err_new(LM_ERR_INPUT, "%s: %s.", src->name, refusal->sentence);
	case FORMAT_UNKNOWN:
		break;
	}
	return lm_err_new(LM_ERR_INPUT, "%s: is of no known format; " EXPECTED ".", src->name);
}

static struct lm_err *read_failed(const struct lm_lines *src)
{
	return lm_err_new(LM_ERR_INPUT, "%s: cannot be read: %s.", src->name, strerror(src->error));
}

/* Reads into a table of its own, so that t is untouched on failure. */
static struct lm_err *read_source(struct lm_lines *src, const struct lm_reader_opts *opts, struct lm_accesses *t)
{
	struct lm_accesses own;
	struct lm_err *err;

	if (src->error)
		return read_failed(src);
	if (src->eof && src->pos == src->end)
		return lm_err_new(LM_ERR_INPUT, "%s: is empty; " EXPECTED ".", src->name);
	lm_accesses_init(&own);
	if (t->record != LM_NO_STRING) {
		const char *record = lm_strings_get(t->strings, t->record);

		own.record = lm_strings_add(own.strings, record, strlen(record));
	}
	err = dispatch(src, opts, &own);
	if (!err && src->error)
		err = read_failed(src);
	if (!err && !own.used)
		err = nothing_usable(src->name, &own);
	if (!err)
		lm_accesses_merge(t, &own, 1.0);
	lm_accesses_release(&own);
	return err;
}

struct lm_err *lm_profile_read_memory(const char *name, const char *bytes, size_t len,
				      const struct lm_reader_opts *opts, struct lm_accesses *t)
{
	struct lm_lines src = { .name = name, .data = bytes, .end = len, .fd = -1, .eof = true };

	return read_source(&src, opts, t);
}

static struct lm_err *open_profile(const char *path, int *ret)
{
	struct stat st;
	int fd;

	if (!strcmp(path, "-")) {
		*ret = STDIN_FILENO;
		return NULL;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return lm_err_new(LM_ERR_INPUT, "%s: cannot be opened: %s.", path, strerror(errno));
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		close(fd);
		return lm_err_new(LM_ERR_INPUT, "%s: is a directory; give the file with the profile.", path);
	}
	*ret = fd;
	return NULL;
}

struct lm_err *lm_profile_read(const char *path, const struct lm_reader_opts *opts, struct lm_accesses *t)
{
	struct lm_lines src = { .name = strcmp(path, "-") ? path : "standard input", .fd = -1 };
	struct lm_err *err = open_profile(path, &src.fd);

	if (err)
		return err;
	src.block = malloc(BLOCK);
	if (!src.block)
		lm_oom();
	src.data = src.block;
	while (!src.eof && src.end < BLOCK)	/* detection wants a whole block, also of a pipe */
		fill(&src);
	err = read_source(&src, opts, t);
	free(src.block);
	if (src.fd != STDIN_FILENO)
		close(src.fd);
	return err;
}
