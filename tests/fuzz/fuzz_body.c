/*
 * fuzz_body.c - any bytes between braces: the reader must not crash; what it
 * takes is tiled exactly, and any order keeps the tokens.
 */
#include "optimizer/body.h"
#include "output/rewrite.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int right)
{
	if (!right)
		abort();
}

static void check_tiles(const struct lm_body *b)
{
	size_t at = b->begin;
	uint32_t unit = 0;

	for (uint32_t p = 0; p < b->nr_pieces; p++) {
		check(b->pieces[p].begin == at && b->pieces[p].end > at);
		at = b->pieces[p].end;
		if (b->pieces[p].kind == LM_PIECE_UNIT)
			check(b->pieces[p].unit == unit++);
	}
	check(at == b->end && unit == b->nr_units);
	for (uint32_t u = 0; u < b->nr_units; u++) {
		const struct lm_unit *x = &b->units[u];

		check(x->begin <= x->decl_begin && x->decl_begin < x->decl_end && x->decl_end <= x->end);
		check(lm_body_unit_at(b, x->decl_begin) == u);
		check(x->guard == LM_NONE || x->branch < b->guards[x->guard].nr_branches);
	}
}

/* An order that depends on the bytes. */
static struct lm_order mix(const struct lm_body *b, const uint8_t *data, size_t size, struct lm_arena *arena)
{
	struct lm_subject s = { .body = b };
	struct lm_order o = lm_order_identity(&s, arena);
	uint32_t seed = (uint32_t)size;

	for (uint32_t i = b->nr_units; i > 1; i--) {
		seed = seed * 1664525u + 1013904223u + data[(seed >> 8) % size];

		uint32_t k = (seed >> 10) % i, u = o.units[k];

		o.units[k] = o.units[i - 1];
		o.units[i - 1] = u;
	}
	return o;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* a + b, sorted. */
static const char **sum(const char **a, size_t na, const char **b, size_t nb, struct lm_arena *arena)
{
	const char **all = LM_ARENA_ARRAY(arena, const char *, na + nb + 1);

	for (size_t i = 0; i < na + nb; i++)
		all[i] = i < na ? a[i] : b[i - na];
	qsort(all, na + nb, sizeof(*all), by_bytes);
	return all;
}

static void check_same(const char **a, size_t na, const char **b, size_t nb)
{
	check(na == nb);
	for (size_t i = 0; i < na; i++)
		check(!strcmp(a[i], b[i]));
}

static void check_order(const struct lm_body *b, const struct lm_order *o, struct lm_arena *arena)
{
	struct lm_rewrite r;
	struct lm_rewrite_opts opts = { 0 };
	struct lm_tokens old, new;
	struct lm_err *err = lm_rewrite(b, o, &opts, arena, &r);

	check(!err);
	lm_body_tokens(b->text, b->begin, b->end, arena, &old);
	lm_body_tokens(r.text, b->begin, r.len - (b->len - b->end), arena, &new);
	check_same(old.items, old.nr, new.items, new.nr);
	check_same(sum(old.directives, old.nr_directives, r.added_directives, r.nr_added_directives, arena),
		   old.nr_directives + r.nr_added_directives,
		   sum(new.directives, new.nr_directives, r.removed_directives, r.nr_removed_directives, arena),
		   new.nr_directives + r.nr_removed_directives);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[] = "struct s {", tail[] = "};\n";
	struct lm_arena arena = { 0 };
	size_t len = sizeof(head) - 1 + size + sizeof(tail) - 1;
	char *text = malloc(len);
	struct lm_extent extents[2] = { { 0 } };
	struct lm_body b;

	check(text != NULL);
	memcpy(text, head, sizeof(head) - 1);
	if (size)
		memcpy(text + sizeof(head) - 1, data, size);
	memcpy(text + sizeof(head) - 1 + size, tail, sizeof(tail) - 1);
	/* What clang says is not to be trusted either. */
	for (size_t i = 0; i < 2 && size > 8; i++) {
		extents[i].begin = sizeof(head) - 1 + data[4 * i] % size;
		extents[i].end = extents[i].begin + data[4 * i + 1] % 32;
		extents[i].bit_field = data[4 * i + 2] & 1;
	}

	struct lm_err *err = lm_body_read("f.h", text, len, sizeof(head) - 2, sizeof(head) - 1 + size, extents,
					  data && size && data[0] & 1 ? 2 : 0, &arena, &b);

	if (!err) {
		check_tiles(&b);
		if (!b.refusal && b.nr_units) {
			struct lm_order o = mix(&b, data, size, &arena);

			check_order(&b, &o, &arena);
		}
	}
	lm_err_free(err);
	lm_arena_release(&arena);
	free(text);
	return 0;
}
