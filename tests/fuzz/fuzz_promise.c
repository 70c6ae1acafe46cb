/* fuzz_promise.c - any bytes as promise files: what is read can be printed, and read again as the same. */
#include "optimizer/promise.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const struct lm_promises *p, struct lm_arena *arena)
{
	struct lm_str one = { 0 }, two = { 0 };
	struct lm_promises again;
	struct lm_err *err;

	lm_promises_print(p, &one);
	err = lm_promises_read("again", lm_str_text(&one), one.len, arena, &again);
	if (err || again.nr != p->nr || again.nr_flags != p->nr_flags || again.nr_configs != p->nr_configs)
		abort();
	lm_promises_print(&again, &two);
	if (strcmp(lm_str_text(&one), lm_str_text(&two)))
		abort();
	lm_str_release(&one);
	lm_str_release(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lm_arena arena = { 0 };
	char *text = lm_arena_strndup(&arena, (const char *)data, size);
	struct lm_promises p;
	struct lm_err *err;

	memcpy(text, data, size);
	err = lm_promises_read("fuzz", text, size, &arena, &p);
	if (!err)
		check_again(&p, &arena);
	lm_err_free(err);
	lm_arena_release(&arena);
	return 0;
}
