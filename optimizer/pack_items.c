/* pack_items.c - units and leaves -> windows, atoms and merged touches. */
#include "optimizer/pack_items.h"

#include <assert.h>
#include <stdlib.h>

/* ---- ways and windows ---- */

struct builder {
	struct lm_pack_items *out;
	struct lm_arena *arena;
	size_t cap_items, cap_ways;
};

/* The item of the unit's part on line k, if it starts `phase` bytes into line 0; leaves are filled in later. */
static struct lm_pack_item part_on_line(const struct lm_pack *p, uint32_t unit, uint64_t phase, uint64_t k)
{
	const struct lm_pack_unit *u = &p->units[unit];
	uint64_t line = k * p->line, begin = phase > line ? phase : line, end = phase + u->size;
	struct lm_pack_item item = { .unit = unit, .line_at = -1 };

	item.from_before = phase < line;
	item.goes_on = end > line + p->line;
	if (item.goes_on)
		end = line + p->line;
	item.bytes = begin < end ? (uint32_t)(end - begin) : 0;
	if (u->at >= 0)
		item.line_at = u->at / (int64_t)p->line + (int64_t)k;
	return item;
}

static bool same_windows(const struct lm_pack_item *a, const struct lm_pack_item *b, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (a[i].first_leaf != b[i].first_leaf || a[i].nr_leaves != b[i].nr_leaves)
			return false;
	return true;
}

/* The last way becomes part of an earlier one of its unit that cuts alike, if there is one. */
static void merge_way(struct lm_pack_items *out)
{
	const struct lm_pack_way *last = &out->ways[out->nr_ways - 1];
	struct lm_pack_item *from = &out->items[last->first];

	for (uint32_t w = out->nr_ways - 1; w-- > 0 && out->ways[w].unit == last->unit;) {
		struct lm_pack_item *to = &out->items[out->ways[w].first];

		if (out->ways[w].nr != last->nr || !same_windows(to, from, last->nr))
			continue;
		for (uint32_t i = 0; i < last->nr; i++) {
			to[i].bytes = from[i].bytes < to[i].bytes ? from[i].bytes : to[i].bytes;
			to[i].from_before &= from[i].from_before;
			to[i].goes_on &= from[i].goes_on;
		}
		out->nr_items -= last->nr;
		out->nr_ways--;
		return;
	}
}

static void add_way(struct builder *b, uint32_t unit, uint32_t leaf, uint32_t end, uint64_t phase)
{
	struct lm_pack_items *out = b->out;
	const struct lm_pack *p = out->pack;
	struct lm_pack_way *way = LM_ARENA_PUSH(b->arena, out->ways, out->nr_ways, b->cap_ways);

	*way = (struct lm_pack_way){ .unit = unit, .first = out->nr_items };
	while (leaf < end) {
		uint64_t k = (phase + p->leaves[leaf].begin) / p->line;
		struct lm_pack_item item = part_on_line(p, unit, phase, k);

		item.first_leaf = leaf;
		while (leaf < end && (phase + p->leaves[leaf].begin) / p->line == k)
			leaf++;
		item.nr_leaves = leaf - item.first_leaf;
		*LM_ARENA_PUSH(b->arena, out->items, out->nr_items, b->cap_items) = item;
		way->nr++;
	}
	merge_way(out);
}

static void add_unit(struct builder *b, uint32_t unit, uint32_t leaf, uint32_t end)
{
	struct lm_pack_items *out = b->out;
	const struct lm_pack_unit *u = &out->pack->units[unit];
	uint32_t step = u->align ? u->align : 1, first = out->nr_ways, most = 0;

	if (u->at >= 0)
		add_way(b, unit, leaf, end, (uint64_t)u->at % out->pack->line);
	else if (u->phase >= 0)
		add_way(b, unit, leaf, end, (uint64_t)u->phase);
	else
		for (uint64_t phase = 0; phase < out->pack->line; phase += step)
			add_way(b, unit, leaf, end, phase);
	for (uint32_t w = first; w < out->nr_ways; w++)
		most = out->ways[w].nr > most ? out->ways[w].nr : most;
	out->most_lines += most;
}

/* ---- atoms: runs of leaves that no way separates ---- */

/* atom[leaf] for every leaf, and atom[nr_leaves] how many there are. */
static uint32_t *number_atoms(const struct lm_pack_items *out, struct lm_arena *arena)
{
	uint32_t nr = out->pack->nr_leaves, atoms = 0;
	uint8_t *cut = LM_ARENA_ARRAY(arena, uint8_t, nr + 1);
	uint32_t *atom = LM_ARENA_ARRAY(arena, uint32_t, nr + 1);

	for (uint32_t i = 0; i < out->nr_items; i++)
		cut[out->items[i].first_leaf] = 1;
	for (uint32_t i = 0; i < nr; i++) {
		atoms += cut[i];
		atom[i] = atoms - 1;
	}
	atom[nr] = atoms;
	return atom;
}

/* ---- touches ---- */

/* What one slot (site, cpu, object) does to one atom. */
struct use {
	uint32_t object, cpu, site, atom;
	double touches, writes;
};

/* A slot: a run of uses by atom.  scale is its largest rate. */
struct run {
	const struct use *uses;
	uint32_t nr;
	double scale;
};

static int order(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int by_slot_atom(const void *a, const void *b)
{
	const struct use *x = a, *y = b;
	int c = order(x->object, y->object);

	c = c ? c : order(x->cpu, y->cpu);
	c = c ? c : order(x->site, y->site);
	return c ? c : order(x->atom, y->atom);
}

static int order_rate(double a, double b)
{
	return (a > b) - (a < b);
}

/* Equal: no set of atoms can tell the two slots from one slot with the sum of their rates. */
static int by_pattern(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	int c = order(x->uses->object, y->uses->object);

	c = c ? c : order(x->uses->cpu, y->uses->cpu);
	c = c ? c : order(x->nr, y->nr);
	for (uint32_t i = 0; !c && i < x->nr; i++)
		c = order(x->uses[i].atom, y->uses[i].atom);
	for (uint32_t i = 0; !c && x->nr > 1 && i < x->nr; i++) {
		c = order_rate(x->uses[i].touches / x->scale, y->uses[i].touches / y->scale);
		c = c ? c : order_rate(x->uses[i].writes / x->scale, y->uses[i].writes / y->scale);
	}
	return c;
}

static int by_pattern_then_site(const void *a, const void *b)
{
	int c = by_pattern(a, b);

	return c ? c : order(((const struct run *)a)->uses->site, ((const struct run *)b)->uses->site);
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* One use a (slot, atom), sorted; a use that never happens is left out. */
static struct use *collect_uses(const struct lm_pack *p, const uint32_t *atom, struct lm_arena *arena, size_t *ret)
{
	size_t nr = 0, kept = 0;

	for (uint32_t i = 0; i < p->nr_leaves; i++)
		nr += p->leaves[i].nr_touches;

	struct use *uses = LM_ARENA_ARRAY(arena, struct use, nr + 1);

	nr = 0;
	for (uint32_t i = 0; i < p->nr_leaves; i++) {
		for (uint32_t k = 0; k < p->leaves[i].nr_touches; k++) {
			const struct lm_touch *t = &p->touches[p->leaves[i].touches[k]];

			if (t->reads > 0 || t->writes > 0)
				uses[nr++] = (struct use){ t->object, t->cpu, t->site, atom[i],
							   larger(t->reads, t->writes), t->writes };
		}
	}
	if (nr)
		qsort(uses, nr, sizeof(*uses), by_slot_atom);
	for (size_t i = 0; i < nr; i++) {
		if (kept && !by_slot_atom(&uses[kept - 1], &uses[i])) {
			uses[kept - 1].touches = larger(uses[kept - 1].touches, uses[i].touches);
			uses[kept - 1].writes = larger(uses[kept - 1].writes, uses[i].writes);
		} else {
			uses[kept++] = uses[i];
		}
	}
	*ret = kept;
	return uses;
}

static struct run *collect_runs(const struct use *uses, size_t nr, struct lm_arena *arena, size_t *ret)
{
	struct run *runs = LM_ARENA_ARRAY(arena, struct run, nr + 1);
	size_t nr_runs = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct use *u = &uses[i];

		if (!i || u->object != u[-1].object || u->cpu != u[-1].cpu || u->site != u[-1].site)
			runs[nr_runs++].uses = u;
		runs[nr_runs - 1].nr++;
		runs[nr_runs - 1].scale = larger(runs[nr_runs - 1].scale, u->touches);
	}
	if (nr_runs)
		qsort(runs, nr_runs, sizeof(*runs), by_pattern_then_site);
	*ret = nr_runs;
	return runs;
}

/* Merged touches: t[i] is of atom of[i]; site is the number of the merged slot. */
struct merged {
	struct lm_touch *t;
	uint32_t *of;
	uint32_t *group;	/* of t[i]'s slot */
	uint32_t nr;
};

/* A merged slot: touches first .. first + nr of m. */
struct span {
	const struct merged *m;
	uint32_t first, nr;
};

static int by_atoms(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	int c = order(x->nr, y->nr);

	for (uint32_t i = 0; !c && i < x->nr; i++)
		c = order(x->m->of[x->first + i], y->m->of[y->first + i]);
	return c;
}

/* Numbers the groups; returns how many. */
static uint32_t group_slots(struct merged *m, struct lm_arena *arena)
{
	struct span *spans = LM_ARENA_ARRAY(arena, struct span, m->nr + 1);
	uint32_t nr = 0, groups = 0;

	for (uint32_t i = 0; i < m->nr; i++) {
		if (!i || m->t[i].site != m->t[i - 1].site)
			spans[nr++] = (struct span){ m, i, 0 };
		spans[nr - 1].nr++;
	}
	if (nr)
		qsort(spans, nr, sizeof(*spans), by_atoms);
	m->group = LM_ARENA_ARRAY(arena, uint32_t, m->nr + 1);
	for (uint32_t i = 0; i < nr; i++) {
		groups += !i || by_atoms(&spans[i - 1], &spans[i]);
		for (uint32_t k = 0; k < spans[i].nr; k++)
			m->group[spans[i].first + k] = groups - 1;
	}
	return groups;
}

static void merge_touches(const struct lm_pack *p, const uint32_t *atom, struct lm_arena *arena, struct merged *m)
{
	size_t nr_uses, nr_runs;
	const struct use *uses = collect_uses(p, atom, arena, &nr_uses);
	const struct run *runs = collect_runs(uses, nr_uses, arena, &nr_runs);
	uint32_t first = 0;

	m->t = LM_ARENA_ARRAY(arena, struct lm_touch, nr_uses + 1);
	m->of = LM_ARENA_ARRAY(arena, uint32_t, nr_uses + 1);
	for (size_t i = 0; i < nr_runs; i++) {
		bool same = i && !by_pattern(&runs[i - 1], &runs[i]);

		if (!same)
			first = m->nr;
		for (uint32_t k = 0; k < runs[i].nr; k++) {
			const struct use *u = &runs[i].uses[k];
			struct lm_touch *t = &m->t[first + k];

			t->site = first;
			t->cpu = u->cpu;
			t->object = u->object;
			t->reads += u->touches;
			t->writes += u->writes;
			m->of[first + k] = u->atom;
		}
		if (!same)
			m->nr += runs[i].nr;
	}
}

/* ---- an item's touches and rates ---- */

static int by_cell_slot(const void *a, const void *b)
{
	const struct lm_pack_rate *x = a, *y = b;
	int c = order(x->cell, y->cell);

	return c ? c : order(x->slot, y->slot);
}

static void rate_item(struct lm_pack_items *p, struct lm_pack_item *x, const struct merged *m, struct lm_arena *arena)
{
	x->rates = LM_ARENA_ARRAY(arena, struct lm_pack_rate, x->nr_touches + 1);
	for (uint32_t i = 0; i < x->nr_touches; i++) {
		struct lm_cost_entry e = lm_cost_line_entry(p->price, x->touches[i]);

		x->rates[i] = (struct lm_pack_rate){ e.slot, e.cell, m->group[x->touches[i]], e.touches,
							 e.writes };
	}
	if (x->nr_touches)
		qsort(x->rates, x->nr_touches, sizeof(*x->rates), by_cell_slot);
	for (uint32_t i = 0; i < x->nr_touches; i++) {
		struct lm_pack_rate *last = x->nr_rates ? &x->rates[x->nr_rates - 1] : NULL;

		if (last && last->slot == x->rates[i].slot) {
			last->touches = larger(last->touches, x->rates[i].touches);
			last->writes = larger(last->writes, x->rates[i].writes);
		} else {
			x->rates[x->nr_rates++] = x->rates[i];
		}
	}
}

static int by_number(const void *a, const void *b)
{
	return order(*(const uint32_t *)a, *(const uint32_t *)b);
}

static void list_groups(struct lm_pack_item *x, struct lm_arena *arena)
{
	x->groups = LM_ARENA_ARRAY(arena, uint32_t, x->nr_rates + 1);
	for (uint32_t i = 0; i < x->nr_rates; i++)
		x->groups[i] = x->rates[i].group;
	if (x->nr_rates)
		qsort(x->groups, x->nr_rates, sizeof(*x->groups), by_number);
	for (uint32_t i = 0; i < x->nr_rates; i++)
		if (!i || x->groups[i] != x->groups[x->nr_groups - 1])
			x->groups[x->nr_groups++] = x->groups[i];
}

static void fill_items(struct lm_pack_items *p, const struct merged *m, const uint32_t *atom, struct lm_arena *arena)
{
	uint32_t atoms = atom[p->pack->nr_leaves];
	uint32_t *first = LM_ARENA_ARRAY(arena, uint32_t, atoms + 2);
	uint32_t *list = LM_ARENA_ARRAY(arena, uint32_t, m->nr + 1);

	for (uint32_t i = 0; i < m->nr; i++)
		first[m->of[i] + 2]++;
	for (uint32_t a = 1; a <= atoms; a++)
		first[a + 1] += first[a];
	for (uint32_t i = 0; i < m->nr; i++)
		list[first[m->of[i] + 1]++] = i;
	/* Now the touches of atom a are list[first[a] .. first[a + 1]): atoms of an item are adjacent in it. */
	for (uint32_t i = 0; i < p->nr_items; i++) {
		struct lm_pack_item *x = &p->items[i];

		x->touches = list + first[atom[x->first_leaf]];
		x->nr_touches = first[atom[x->first_leaf + x->nr_leaves - 1] + 1] - first[atom[x->first_leaf]];
		rate_item(p, x, m, arena);
		list_groups(x, arena);
		x->alone = lm_pack_items_value(p, &i, 1);
	}
}

static double price_of_way(const struct lm_pack_items *p, const struct lm_pack_way *w)
{
	double sum = 0;

	for (uint32_t i = 0; i < w->nr; i++)
		sum += p->items[w->first + i].alone;
	return sum;
}

static void choose_ways(struct lm_pack_items *p, struct lm_arena *arena)
{
	p->start = LM_ARENA_ARRAY(arena, uint32_t, p->nr_items + 1);
	for (uint32_t w = 0, end; w < p->nr_ways; w = end) {
		const struct lm_pack_way *best = &p->ways[w];

		for (end = w + 1; end < p->nr_ways && p->ways[end].unit == best->unit; end++)
			if (price_of_way(p, &p->ways[end]) < price_of_way(p, best))
				best = &p->ways[end];
		for (uint32_t i = 0; i < best->nr; i++)
			p->start[p->nr_start++] = best->first + i;
	}
}

void lm_pack_items_make(const struct lm_pack *p, struct lm_arena *arena, struct lm_pack_items *out)
{
	struct builder b = { .out = out, .arena = arena };
	struct merged m = { 0 };

	*out = (struct lm_pack_items){ .pack = p };
	for (uint32_t leaf = 0, end; leaf < p->nr_leaves; leaf = end) {
		for (end = leaf; end < p->nr_leaves && p->leaves[end].unit == p->leaves[leaf].unit; end++)
			assert(end == leaf || p->leaves[end].begin >= p->leaves[end - 1].begin);
		add_unit(&b, p->leaves[leaf].unit, leaf, end);
	}
	if (out->most_lines > p->lines)
		out->most_lines = p->lines;
	out->least_bytes = p->line;
	for (uint32_t i = 0; i < out->nr_items; i++)
		if (out->items[i].bytes < out->least_bytes)
			out->least_bytes = out->items[i].bytes;

	const uint32_t *atom = number_atoms(out, arena);

	merge_touches(p, atom, arena, &m);
	out->nr_groups = group_slots(&m, arena);
	out->price = lm_cost_line_new(m.t, m.nr);
	fill_items(out, &m, atom, arena);
	choose_ways(out, arena);
}

void lm_pack_items_release(struct lm_pack_items *p)
{
	lm_cost_line_free(p->price);
	p->price = NULL;
}

bool lm_pack_items_meet(const struct lm_pack_items *p, uint32_t a, uint32_t b)
{
	const struct lm_pack_item *x = &p->items[a], *y = &p->items[b];

	if (x->unit == y->unit || p->pack->units[x->unit].segment != p->pack->units[y->unit].segment)
		return false;
	if ((x->from_before && y->from_before) || (x->goes_on && y->goes_on))
		return false;
	return x->line_at < 0 || y->line_at < 0 || x->line_at == y->line_at;
}

double lm_pack_items_value(struct lm_pack_items *p, const uint32_t *items, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		for (uint32_t k = 0; k < p->items[items[i]].nr_touches; k++)
			lm_cost_line_push(p->price, p->items[items[i]].touches[k]);

	double value = lm_cost_line_value(p->price);

	lm_cost_line_clear(p->price);
	return value;
}
