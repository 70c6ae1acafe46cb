/*
 * attribution_module.c - which of a profile's files is this kernel module, and
 * where did it lie?
 *
 * perf calls a module by its name in brackets, or by the path that it was loaded
 * from, packed or not (tools/perf/util/dso.c, kmod_path__parse()).  It lies where
 * /proc/modules said; perf writes that as a mapping of length and file offset 0
 * (synthetic-events.c).  There the text starts, laid out as elf_link.h tells.
 * On arm64 the loader grows a table of jumps (.plt) wherever the linker put it,
 * behind the code in Debian's modules; so the starts of functions that perf
 * printed are believed first.
 *
 * Code that runs at loading (.init.text) is allocated apart and gone when anybody
 * looks: where it lay is not known, and nothing there is attributed.
 */
#include "profiles/attribution_private.h"
#include "profiles/elf_link.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Modules are allocated in pages; the smallest there are. */
#define MODULE_STEP UINT64_C(4096)

enum { MAX_VOTES = 1 << 14, MAX_NAMESAKES = 16, MAX_STEPS = 16 };

struct lm_module {
	struct lm_arena arena;
	const char *name;
};

/* ---- names ---- */

/* The length up to ".ko" and what may follow it (".ko.xz", ".ko.debug"); 0: that is no module's name. */
static size_t stem(const char *name)
{
	size_t len = 0;

	for (const char *p = name; (p = strstr(p, ".ko")); p++)
		if (!p[3] || p[3] == '.')
			len = (size_t)(p - name);
	return len;
}

/* "name=nf_conntrack" among the texts of .modinfo; NULL: none. */
static const char *own_name(const char *info, size_t len, struct lm_arena *arena)
{
	const char *end = info + len;

	for (const char *p = info, *next; p < end; p = next) {
		next = memchr(p, 0, (size_t)(end - p));
		next = next ? next + 1 : end;
		if (next - p > 6 && !memcmp(p, "name=", 5))
			return lm_arena_strndup(arena, p + 5, (size_t)(next - p) - 6);
	}
	return NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct lm_err *lm_module_open(struct lm_module **ret, const char *path)
{
	struct lm_module *m = calloc(1, sizeof(*m));
	const uint8_t *info;
	struct lm_err *err;
	size_t len;

	if (!m)
		lm_oom();
	*ret = m;
	m->name = stem(base_name(path)) ? lm_arena_strndup(&m->arena, base_name(path), stem(base_name(path))) : "";
	err = lm_image_section(path, ".modinfo", &m->arena, &info, &len);
	if (!err && len) {
		const char *name = own_name((const char *)info, len, &m->arena);

		m->name = name && *name ? name : m->name;
	}
	return err;
}

void lm_module_close(struct lm_module *m)
{
	if (!m)
		return;
	lm_arena_release(&m->arena);
	free(m);
}

/* '-' and '_' are one in names of modules. */
static bool same_name(const char *a, const char *b, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (a[i] != b[i] && !(strchr("-_", a[i]) && a[i] && b[i] && strchr("-_", b[i])))
			return false;
	return true;
}

bool lm_module_is_named(const struct lm_module *m, const char *dso)
{
	const char *name = base_name(dso);
	size_t len = stem(name);

	if (*name == '[') {
		const char *close = strchr(name, ']');

		name++;
		len = close ? (size_t)(close - name) : 0;
	}
	return len && len == strlen(m->name) && same_name(name, m->name, len);
}

/* ---- where it lay ---- */

/* Kernels live in the upper half: an object file of a program is no module. */
static bool is_kernel_address(uint64_t at)
{
	return at >> 63;
}

struct vote { uint64_t slide, count; };

struct votes {
	struct vote *items;
	size_t nr;
};

static void vote(struct votes *v, uint64_t slide, uint64_t count)
{
	if (v->nr < MAX_VOTES)
		v->items[v->nr++] = (struct vote){ slide, count };
}

static int by_slide(const void *a, const void *b)
{
	const struct vote *x = a, *y = b;

	return x->slide < y->slide ? -1 : x->slide > y->slide;
}

/* The slide with most votes; false: there is none.  *ties: how many others have as many. */
static bool most(struct votes *v, uint64_t *ret, size_t *ties)
{
	uint64_t most = 0;

	*ties = 0;
	if (v->nr)
		qsort(v->items, v->nr, sizeof(*v->items), by_slide);
	for (size_t i = 0; i < v->nr;) {
		uint64_t sum = 0, slide = v->items[i].slide;

		for (; i < v->nr && v->items[i].slide == slide; i++)
			if (__builtin_add_overflow(sum, v->items[i].count, &sum))
				sum = UINT64_MAX;
		*ties = sum > most ? 0 : *ties + (sum == most);
		if (sum > most) {
			most = sum;
			*ret = slide;
		}
	}
	return most;
}

/* The n-th function of the name that has code here, not elsewhere. */
static bool function_at(const struct lm_image *image, const char *name, size_t n, uint64_t *at)
{
	size_t len;

	return n < MAX_NAMESAKES && lm_image_find_nth(image, name, n, at) && lm_image_bytes(image, *at, &len);
}

static void votes_of_starts(const struct lm_locator *l, struct votes *v)
{
	const struct lm_samples *t = l->samples;
	uint64_t at;

	for (size_t i = 0; i < t->nr_starts; i++) {
		const struct lm_start *s = &t->starts[i];
		const char *name = lm_strings_get(t->strings, s->symbol);

		for (size_t n = 0; l->ours[s->dso] && function_at(l->image, name, n, &at); n++)
			if ((s->at - at) % MODULE_STEP == 0 && is_kernel_address(s->at))
				vote(v, s->at - at, 1);
	}
}

static bool slide_of_mapping(const struct lm_locator *l, uint64_t *ret)
{
	for (size_t i = 0; i < l->samples->nr_mappings; i++) {
		const struct lm_mapping *m = &l->samples->mappings[i];

		if (!l->ours[m->dso] || m->start % MODULE_STEP || !is_kernel_address(m->start))
			continue;
		*ret = m->start - LM_LINK_TEXT;
		return true;
	}
	return false;
}

/* All places, by whole pages, at which the ip is in the function that starts at an address of the file. */
static void votes_of_name(const struct lm_locator *l, uint64_t ip, uint64_t at, uint64_t count, struct votes *v)
{
	uint64_t offset = (ip - at) % MODULE_STEP, start;

	for (unsigned i = 0; i < MAX_STEPS; i++, offset += MODULE_STEP) {
		lm_image_symbol(l->image, at + offset, &start);
		if (start != at)
			return;
		vote(v, ip - at - offset, count);
	}
}

static void votes_of_names(const struct lm_locator *l, struct votes *v)
{
	const struct lm_samples *t = l->samples;
	bool *foreign = calloc((size_t)lm_strings_nr(t->strings) + 1, sizeof(*foreign));	/* names looked for in vain */
	uint64_t at;
	size_t n;

	if (!foreign)
		lm_oom();
	for (size_t i = 0; i < t->nr && v->nr < MAX_VOTES; i++) {
		const struct lm_sample *s = &t->rows[i];

		if (s->symbol == LM_NO_STRING || !is_kernel_address(s->ip) || foreign[s->symbol] ||
		    (s->dso != LM_NO_STRING && !l->ours[s->dso]))
			continue;
		for (n = 0; function_at(l->image, lm_strings_get(t->strings, s->symbol), n, &at); n++)
			votes_of_name(l, s->ip, at, s->count, v);
		foreign[s->symbol] = !n;
	}
	free(foreign);
}

struct lm_err *lm_module_slide(const struct lm_locator *l, uint64_t *ret)
{
	struct votes v = { .items = malloc(MAX_VOTES * sizeof(*v.items)) };
	size_t ties = 0;
	struct lm_err *err = NULL;

	if (!v.items)
		lm_oom();
	/* Where nothing tells: addresses are those of the text itself. */
	*ret = 0 - LM_LINK_TEXT;
	votes_of_starts(l, &v);
	if (!most(&v, ret, &ties) && !slide_of_mapping(l, ret)) {
		v.nr = 0;
		votes_of_names(l, &v);
		if (most(&v, ret, &ties) && ties)
			err = lm_err_new(LM_ERR_INPUT, "%s: the profile leaves %zu places open where the module lay; "
					 "have perf script print offsets in functions, too (-F +symoff)",
					 lm_debuginfo_path(l->bin), ties + 1);
	}
	free(v.items);
	return err;
}
