/* similar.c - "did you mean": the names closest to one that does not exist. */
#include "optimizer/similar.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 128, MAX_LISTED = 5 };

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* Insertions, deletions and replacements from a to b (Wagner and Fischer, 1974). */
static size_t distance(const char *a, const char *b)
{
	size_t row[MAX_NAME + 1], n = strlen(a), m = strlen(b);

	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t above = row[j];

			row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[m];
}

void lm_similar_add(struct lm_similar *s, const char *name)
{
	size_t len = strlen(s->name), d;

	if (!*name || strchr(name, ' ') || len > MAX_NAME || strlen(name) > MAX_NAME)
		return;
	d = distance(s->name, name);
	if (strstr(name, s->name) || strstr(s->name, name))
		d = d < len / 3 + 1 ? d : len / 3 + 1;
	if (d > len / 3 + 1)
		return;
	for (size_t i = 0; i < s->nr; i++)
		if (!strcmp(s->items[i].name, name))
			return;
	*LM_ARENA_PUSH(s->arena, s->items, s->nr, s->cap) = (struct lm_similar_item){ .name = name, .distance = d };
}

static int compare(const void *va, const void *vb)
{
	const struct lm_similar_item *a = va, *b = vb;

	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	return strcmp(a->name, b->name);
}

const char *lm_similar_list(struct lm_similar *s)
{
	struct lm_str list = { 0 };
	size_t nr = s->nr < MAX_LISTED ? s->nr : MAX_LISTED;

	if (s->nr)
		qsort(s->items, s->nr, sizeof(*s->items), compare);
	for (size_t i = 0; i < nr; i++)
		lm_str_addf(&list, "%s%s", i == 0 ? "" : i + 1 == nr ? " and " : ", ", s->items[i].name);

	const char *text = lm_arena_strdup(s->arena, lm_str_text(&list));

	lm_str_release(&list);
	return text;
}
