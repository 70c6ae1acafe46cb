/*
 * reader_lackey.c - valgrind --tool=lackey --trace-mem=yes -> samples.
 *
 *   I  0401ab70,3	an instruction: address, length
 *    S 1fff0006f8,8	what it stored: address, size; L loaded, M modified
 *
 * Every access is there, so this is exact; the last I line is the ip.  The
 * program's own output may stand between the lines.
 */
#include "profiles/sink.h"

#include <string.h>

enum { MAX_SIZE = 4096 };

/* "0401ab70,3" */
static bool parse_place(const char *p, const char *end, uint64_t *addr, uint64_t *size)
{
	const char *comma = memchr(p, ',', (size_t)(end - p));

	return comma && lm_span_hex((struct lm_span){ p, comma }, addr) &&
	       lm_span_decimal((struct lm_span){ comma + 1, end }, size) && *size && *size <= MAX_SIZE;
}

static bool parse_ip(const char *p, size_t len, uint64_t *ip)
{
	uint64_t size;

	return len > 3 && p[0] == 'I' && p[1] == ' ' && p[2] == ' ' && parse_place(p + 3, p + len, ip, &size);
}

static bool parse_access(const char *p, size_t len, struct lm_hit *hit)
{
	uint64_t size = 0;

	if (len <= 3 || p[0] != ' ' || p[2] != ' ')
		return false;
	if (p[1] == 'L')
		hit->does = LM_DOES_READ;
	else if (p[1] == 'S')
		hit->does = LM_DOES_WRITE;
	else if (p[1] == 'M')
		hit->does = LM_DOES_BOTH;
	else
		return false;
	if (!parse_place(p + 3, p + len, &hit->addr, &size))
		return false;
	hit->size = (uint32_t)size;
	return true;
}

struct lm_err *lm_read_lackey(struct lm_lines *src, struct lm_sink *sink)
{
	struct lm_hit hit = {
		.cpu = LM_CPU_UNKNOWN, .symbol = sink->unknown, .dso = LM_NO_STRING, .count = 1,
		.evidence = LM_EVIDENCE_EXACT,
	};
	struct lm_line line;

	while (lm_lines_next(src, &line)) {
		if (line.cut || line.too_long)
			lm_sink_drop(sink, line.cut ? LM_DROP_TRUNCATED : LM_DROP_TOO_LONG, 1);
		else if (parse_ip(line.text, line.len, &hit.ip))
			continue;
		else if (parse_access(line.text, line.len, &hit))
			lm_sink_add(sink, &hit);
		else if (line.len)
			lm_sink_drop(sink, LM_DROP_NOT_A_SAMPLE, 1);
	}
	return NULL;
}

bool lm_lackey_looks_like(const char *text, size_t len)
{
	struct lm_hit hit;
	uint64_t ip;

	return parse_ip(text, len, &ip) || parse_access(text, len, &hit);
}
