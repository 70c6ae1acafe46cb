/* trace.c - see trace.h. */
#include "trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SEEN = 64 };

/* Bytes of the operand of the instruction at ip; 0: not known. */
static uint32_t operand_size(const struct lm_image *image, struct lm_disasm *disasm, uint64_t ip)
{
	struct lm_insn in;
	size_t len;
	const uint8_t *code = lm_image_bytes(image, ip, &len);

	return code && lm_disasm_one(disasm, code, len, ip, &in) && in.nr_mem ? in.mem[0].size : 0;
}

static size_t join_pieces(struct trace_access *seen, size_t nr, uint32_t whole)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		struct trace_access *last = kept ? &seen[kept - 1] : NULL;

		if (last && last->size < whole && last->kind == seen[i].kind && seen[i].addr == last->addr + last->size)
			last->size += seen[i].size;
		else
			seen[kept++] = seen[i];
	}
	return kept;
}

void trace_each(const char *path, const struct lm_image *image,
		void (*run)(void *arg, uint64_t ip, const struct trace_access *seen, size_t nr), void *arg)
{
	struct lm_disasm *disasm = lm_disasm_new(lm_image_machine(image));
	struct trace_access seen[MAX_SEEN];
	uint64_t ip = 0;
	size_t nr = 0;
	char line[256];
	FILE *f = fopen(path, "r");
	bool more = f;

	if (!f) {
		perror(path);
		exit(2);
	}
	while (more) {
		more = fgets(line, sizeof(line), f);
		if (more && nr < MAX_SEEN && line[0] == ' ' && strchr("LSM", line[1]) &&
		    sscanf(line + 2, "%" SCNx64 ",%" SCNu32, &seen[nr].addr, &seen[nr].size) == 2) {
			seen[nr++].kind = line[1];
		} else if (!more || line[0] == 'I') {
			if (nr)
				run(arg, ip, seen, join_pieces(seen, nr, operand_size(image, disasm, ip)));
			nr = 0;
			if (more)
				sscanf(line, "I %" SCNx64, &ip);
		}
	}
	fclose(f);
	lm_disasm_free(disasm);
}
