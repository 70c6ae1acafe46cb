/* fuzz_kconfig.c - any bytes as a .config file: refused with a sentence, or lines of #define and #undef. */
#include "optimizer/edits.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char autoconf[] = "#define CONFIG_A 1\n#define CONFIG_B_MODULE 1\n#define CONFIG_\n";
	int fd = memfd_create("config", 0);
	struct lm_arena arena = { 0 };
	struct lm_edits edits;
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

	struct lm_err *err = lm_edits_kconfig(path, autoconf, &arena, &edits);

	/* Each line is a directive, whatever the file said. */
	for (const char *line = err ? "" : edits.text; *line; line += strcspn(line, "\n") + 1)
		if (strncmp(line, "#define CONFIG_", 15) && strncmp(line, "#undef CONFIG_", 14))
			abort();
	lm_err_free(err);
	close(fd);
	lm_arena_release(&arena);
	return 0;
}
