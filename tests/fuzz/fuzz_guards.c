/*
 * fuzz_guards.c - any bytes as the text of a record: its conditions must be
 * read without a crash, and equal values give equal keys.
 */
#include "optimizer/guards.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *key_of(const struct lm_guarded *g, const struct lm_option_value *values, size_t nr, struct lm_arena *arena)
{
	struct lm_str s = { 0 };
	char *text;

	lm_guards_key(g, values, nr, &s);
	text = lm_arena_strdup(arena, lm_str_text(&s));
	lm_str_release(&s);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lm_arena arena = { 0 };
	struct lm_guarded g = { .record = "struct s", .path = "s.h", .len = size, .line = 1 };
	struct lm_tested_list list = { 0 };

	g.text = lm_arena_strndup(&arena, (const char *)data, size);
	g.len = strlen(g.text);
	lm_guards_tested(&g, &arena, &list);

	struct lm_option_value *values = LM_ARENA_ARRAY(&arena, struct lm_option_value, list.nr + 1);

	for (size_t i = 0; i < list.nr; i++) {
		if (!list.items[i].name || !*list.items[i].name || !list.items[i].line)
			abort();
		values[i] = (struct lm_option_value){ list.items[i].name, i % 3 ? i % 3 == 1 ? "1" : "m" : NULL };
	}
	if (strcmp(key_of(&g, values, list.nr, &arena), key_of(&g, values, list.nr, &arena)))
		abort();
	lm_arena_release(&arena);
	return 0;
}
