/* fuzz_debuginfo.c - any bytes as a binary: an error or a record, never a crash. */
#include "profiles/debuginfo.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Names that the corpus defines, and one that nothing does: a walk over everything. */
static const char *const names[] = { "s", "anon_t", "no_such_record" };

static void ask(struct lm_debuginfo *bin, const char *name)
{
	const struct lm_dbg_record *rec = NULL;
	struct lm_err *err = lm_debuginfo_record(bin, name, &rec);
	size_t sum = 0;

	/* Touch all that was handed out, for the sanitizer. */
	for (uint32_t i = 0; !err && rec && i < rec->nr_members; i++)
		sum += strlen(rec->members[i].name) + strlen(rec->members[i].key);
	if (sum == SIZE_MAX)
		abort();
	lm_err_free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lm_debuginfo *bin = NULL;
	struct lm_err *err;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = lm_debuginfo_open(path, &bin);
	for (size_t i = 0; !err && i < sizeof(names) / sizeof(*names); i++)
		ask(bin, names[i]);
	lm_err_free(err);
	lm_debuginfo_close(bin);
	close(fd);
	return 0;
}
