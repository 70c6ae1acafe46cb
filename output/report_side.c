/* report_side.c - who touches a leaf: functions, CPUs, reads and writes. */
#include "output/report_rows.h"
#include "output/words.h"

#include <stdlib.h>
#include <string.h>

/* A leaf is called by one element if that one has this share of its accesses. */
#define CLEAR_ELEMENT 0.9
/* Functions with less are not worth a word. */
#define SMALL_SHARE 0.01

static int compare_touch(const void *pa, const void *pb)
{
	const struct lm_touch *a = *(const struct lm_touch *const *)pa, *b = *(const struct lm_touch *const *)pb;

	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return 0;
}

static int compare_site(const void *pa, const void *pb)
{
	const struct lm_row_site *a = pa, *b = pb;

	if (a->reads + a->writes != b->reads + b->writes)
		return a->reads + a->writes > b->reads + b->writes ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* "0-3,7" of touches sorted by CPU. */
static const char *cpu_list(const struct lm_touch **touches, size_t nr, struct lm_arena *arena)
{
	struct lm_str s = { 0 };
	const char *text;

	for (size_t i = 0; i < nr;) {
		uint32_t first = touches[i]->cpu, last = first;

		for (; i < nr && touches[i]->cpu <= last + 1; i++)
			last = touches[i]->cpu;
		if (s.len > 40) {
			lm_str_add(&s, ",...");
			break;
		}
		lm_str_addf(&s, first == last ? "%s%u" : "%s%u-%u", s.len ? "," : "", first, last);
	}
	text = lm_arena_strdup(arena, lm_str_text(&s));
	lm_str_release(&s);
	return text;
}

/* path, or path[8] where nearly all accesses go to one element of an array. */
static const char *leaf_name(const struct lm_leaf *leaf, const struct lm_touch **touches, size_t nr,
			     struct lm_arena *arena)
{
	const char *path = lm_safe(arena, leaf->path);
	uint64_t elements = leaf->elem_size ? leaf->size / leaf->elem_size : 0, best = 0;
	double all = 0, *sums;

	if (elements < 2 || elements > 1 << 20)
		return path;
	sums = LM_ARENA_ARRAY(arena, double, elements);
	for (size_t i = 0; i < nr; i++) {
		uint64_t at = touches[i]->offset < leaf->offset ? 0 : touches[i]->offset - leaf->offset;
		double hits = touches[i]->reads + touches[i]->writes;

		if (at / leaf->elem_size >= elements)
			continue;
		sums[at / leaf->elem_size] += hits;
		all += hits;
	}
	for (uint64_t e = 0; e < elements; e++)
		best = sums[e] > sums[best] ? e : best;
	if (all <= 0 || sums[best] < CLEAR_ELEMENT * all)
		return path;
	return lm_arena_printf(arena, "%s[%llu]", path, (unsigned long long)best);
}

static bool on_line(const struct lm_touch *t, const struct lm_layout *layout, uint64_t line, uint32_t line_size)
{
	uint64_t begin, end;

	if (line == LM_ANY_LINE)
		return true;
	begin = layout->bit_offset[t->field] / 8 + t->offset;
	end = begin + (t->size ? t->size : 1);
	return begin / line_size <= line && (end - 1) / line_size >= line;
}

static size_t pick(const struct lm_story *story, uint32_t v, uint32_t leaf, const struct lm_layout *layout,
		   uint64_t line, const struct lm_touch **out)
{
	const struct lm_usage *u = story->usage;
	size_t nr = 0;

	for (size_t i = 0; i < u->nr_touches[v]; i++)
		if (u->touches[v][i].leaf == leaf &&
		    on_line(&u->touches[v][i], layout, line, story->opts->line)) {
			if (out)
				out[nr] = &u->touches[v][i];
			nr++;
		}
	return nr;
}

static void mark_main(struct lm_row_side *side)
{
	double least = SMALL_SHARE * (side->reads + side->writes);

	side->same_cpus = side->nr_sites && *side->sites[0].cpus;
	for (uint32_t i = 0; i < side->nr_sites; i++) {
		if (i && side->sites[i].reads + side->sites[i].writes < least)
			break;
		side->nr_main++;
		side->same_cpus = side->same_cpus && !strcmp(side->sites[i].cpus, side->sites[0].cpus);
	}
}

/* Adds touches up by function; sorts them. */
static void add_sites(const struct lm_story *story, const struct lm_touch **touches, size_t nr, struct lm_arena *arena,
		      struct lm_row_side *out)
{
	out->sites = LM_ARENA_ARRAY(arena, struct lm_row_site, nr + 1);
	for (size_t i = 0, j; i < nr; i = j) {
		struct lm_row_site *site = &out->sites[out->nr_sites++];

		for (j = i; j < nr && touches[j]->site == touches[i]->site; j++) {
			site->reads += touches[j]->reads;
			site->writes += touches[j]->writes;
		}
		site->name = lm_safe(arena, story->usage->sites[touches[i]->site]);
		site->cpus = story->usage->cpus_assumed ? "" : cpu_list(touches + i, j - i, arena);
		out->reads += site->reads;
		out->writes += site->writes;
	}
	qsort(out->sites, out->nr_sites, sizeof(*out->sites), compare_site);
	mark_main(out);
}

void lm_row_side_make(const struct lm_story *story, uint32_t v, uint32_t leaf, const struct lm_layout *layout,
		      uint64_t line, struct lm_arena *arena, struct lm_row_side *out)
{
	size_t nr = pick(story, v, leaf, layout, line, NULL);
	const struct lm_touch **touches = LM_ARENA_ARRAY(arena, const struct lm_touch *, nr + 1);

	memset(out, 0, sizeof(*out));
	pick(story, v, leaf, layout, line, touches);
	qsort(touches, nr, sizeof(*touches), compare_touch);
	out->leaf = leaf_name(&story->subject->views[v].rec->leaves[leaf], touches, nr, arena);
	add_sites(story, touches, nr, arena, out);
}

void lm_row_field_side_make(const struct lm_story *story, uint32_t v, uint32_t field, struct lm_arena *arena,
			    struct lm_row_side *out)
{
	const struct lm_usage *u = story->usage;
	const struct lm_touch **touches;
	size_t nr = 0;

	for (size_t i = 0; i < u->nr_touches[v]; i++)
		nr += u->touches[v][i].field == field;
	touches = LM_ARENA_ARRAY(arena, const struct lm_touch *, nr + 1);
	nr = 0;
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < u->nr_touches[v]; i++)
		if (u->touches[v][i].field == field)
			touches[nr++] = &u->touches[v][i];
	qsort(touches, nr, sizeof(*touches), compare_touch);
	out->leaf = "";
	add_sites(story, touches, nr, arena, out);
}
