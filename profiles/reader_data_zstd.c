/*
 * reader_data_zstd.c - the zstd stream of perf record -z.  The door to libzstd.
 *
 * perf compresses its records with one context for the whole recording and cuts
 * the stream into COMPRESSED records wherever a buffer was full, so a piece
 * continues the one before it and a record may end in the next piece.
 */
#include "profiles/reader_data.h"

#include <stdlib.h>
#include <zstd.h>

/* A record is up to 64 KiB; a piece of up to 64 KiB may become much more. */
enum { STEP = 128 << 10 };
/* Zeros compress 30,000 times: 64 KiB become 2 GiB, which no recording has. */
#define MAX_UNREAD (256u << 20)

struct lm_zstd {
	ZSTD_DStream *stream;
	char *bytes;
	size_t pos, end, cap;
};

struct lm_zstd *lm_zstd_new(void)
{
	struct lm_zstd *z = calloc(1, sizeof(*z));

	if (!z)
		lm_oom();
	z->stream = ZSTD_createDStream();
	if (!z->stream)
		lm_oom();
	ZSTD_initDStream(z->stream);
	return z;
}

void lm_zstd_free(struct lm_zstd *z)
{
	if (!z)
		return;
	ZSTD_freeDStream(z->stream);
	free(z->bytes);
	free(z);
}

static void make_room(struct lm_zstd *z)
{
	if (z->pos) {
		memmove(z->bytes, z->bytes + z->pos, z->end - z->pos);
		z->end -= z->pos;
		z->pos = 0;
	}
	if (z->cap - z->end >= STEP)
		return;
	z->cap = z->cap * 2 > z->end + STEP ? z->cap * 2 : z->end + STEP;
	z->bytes = realloc(z->bytes, z->cap);
	if (!z->bytes)
		lm_oom();
}

bool lm_zstd_feed(struct lm_zstd *z, const char *piece, size_t len)
{
	ZSTD_inBuffer in = { piece, len, 0 };
	bool full = false;

	/* A full output buffer may hide more output although all input is taken. */
	while (in.pos < in.size || full) {
		ZSTD_outBuffer out;
		size_t before = in.pos;

		if (z->end - z->pos > MAX_UNREAD)
			return false;
		make_room(z);
		out = (ZSTD_outBuffer){ z->bytes + z->end, z->cap - z->end, 0 };
		if (ZSTD_isError(ZSTD_decompressStream(z->stream, &out, &in)))
			return false;
		z->end += out.pos;
		full = out.pos == out.size;
		if (in.pos == before && !out.pos)
			return in.pos == in.size;
	}
	return true;
}

const char *lm_zstd_bytes(struct lm_zstd *z, size_t n)
{
	return z->end - z->pos < n ? NULL : z->bytes + z->pos;
}

void lm_zstd_skip(struct lm_zstd *z, size_t n)
{
	z->pos += n;
}

size_t lm_zstd_left(const struct lm_zstd *z)
{
	return z->end - z->pos;
}
