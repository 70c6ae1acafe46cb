/*
 * replay.c - runs a fuzz target over a stored corpus, without a fuzzer.
 *
 *   fuzz_NAME FOLDER
 *
 * Every file goes in whole; small ones also cut off behind each byte, because
 * a file that ends too early is the commonest broken file there is.  A crash
 * or a sanitizer's report is the failure.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 2048

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of exactly size bytes, so that a sanitizer sees the first one read behind it. */
static void run(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	if (size)
		memcpy(copy, bytes, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static uint8_t *slurp(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes = NULL;
	size_t cap = 0, got;

	*size = 0;
	if (!f)
		return NULL;
	do {
		if (*size == cap) {
			cap = cap ? 2 * cap : 1 << 16;
			bytes = realloc(bytes, cap);
			if (!bytes)
				abort();
		}
		got = fread(bytes + *size, 1, cap - *size, f);
		*size += got;
	} while (got);
	fclose(f);
	return bytes;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	struct dirent **names;
	size_t inputs = 0;
	int nr;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	nr = scandir(argv[1], &names, is_visible, alphasort);
	if (nr <= 0) {
		fprintf(stderr, "%s: no corpus: put at least one input there\n", argv[1]);
		return 1;
	}
	run(NULL, 0);
	for (int i = 0; i < nr; i++) {
		char path[4096];
		uint8_t *bytes;
		size_t size;

		snprintf(path, sizeof(path), "%s/%s", argv[1], names[i]->d_name);
		bytes = slurp(path, &size);
		if (!bytes) {
			fprintf(stderr, "%s: cannot be read\n", path);
			return 1;
		}
		run(bytes, size);
		inputs++;
		for (size_t cut = 1; size <= SMALL && cut < size; cut++, inputs++)
			run(bytes, cut);
		free(bytes);
		free(names[i]);
	}
	free(names);
	printf("%zu inputs from %d files\n", inputs, nr);
	return 0;
}
