/* scratch.c - files that nobody keeps. */
#include "output/scratch.h"

#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lm_err *lm_scratch_write(const char *path, const char *text, size_t len)
{
	/* "x": never through a link, and so never into the person's tree. */
	FILE *f = fopen(path, "wxe");
	int failed = !f || fwrite(text, 1, len, f) != len;

	if (f && fclose(f))
		failed = 1;
	return failed ? lm_err_new(LM_ERR_INPUT, "%s: cannot write this temporary file: %s.", path, strerror(errno)) : NULL;
}

struct lm_err *lm_scratch_dir(struct lm_arena *arena, char **ret)
{
	char *dir = lm_temp_name("/dev/shm", arena);

	if (getenv("TMPDIR") || !mkdtemp(dir))
		return lm_temp_dir(arena, ret);
	*ret = dir;
	return NULL;
}
