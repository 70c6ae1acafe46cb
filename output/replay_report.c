/* replay_report.c - a replay as rows, as text and as JSON. */
#include "output/replay_report.h"

#include "optimizer/cost.h"
#include "output/json.h"
#include "output/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 3 };

/* Below this share of all accesses a line is not shown but with -v. */
#define SHOWN 1e-4

/* ---- rows ---- */

struct heat {
	const char *name;
	double accesses;
};

static int compare_heat(const void *left, const void *right)
{
	const struct heat *a = left, *b = right;

	if (a->accesses != b->accesses)
		return a->accesses > b->accesses ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* "memory_events_local, vmstats_percpu and 2 more" */
static const char *names_on_line(const struct lm_view *view, const struct lm_usage *u, uint32_t v, uint32_t line,
				 uint64_t number, struct lm_arena *arena)
{
	struct heat *heat = LM_ARENA_ARRAY(arena, struct heat, view->rec->nr_fields);
	struct lm_str s = { 0 };
	const char *text;
	size_t nr = 0;

	for (uint32_t f = 0; f < view->rec->nr_fields; f++)
		heat[f].name = view->rec->fields[f].key;
	for (size_t i = 0; i < u->nr_touches[v]; i++) {
		const struct lm_touch *t = &u->touches[v][i];
		uint64_t at = view->rec->fields[t->field].bit_offset / 8 + t->offset;

		if (at / line <= number && number <= (at + (t->size ? t->size - 1 : 0)) / line)
			heat[t->field].accesses += t->reads > t->writes ? t->reads : t->writes;
	}
	qsort(heat, view->rec->nr_fields, sizeof(*heat), compare_heat);
	while (nr < view->rec->nr_fields && heat[nr].accesses > 0)
		nr++;
	for (size_t i = 0; i < nr && i < MAX_NAMES; i++)
		lm_str_addf(&s, "%s%s", i ? ", " : "", heat[i].name);
	if (nr > MAX_NAMES)
		lm_str_addf(&s, " and %zu more", nr - MAX_NAMES);
	text = lm_arena_strdup(arena, lm_str_text(&s));
	lm_str_release(&s);
	return text;
}

static int compare_lines(const void *left, const void *right)
{
	const struct lm_replay_line *a = left, *b = right;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->object > b->object) - (a->object < b->object);
}

/* Objects added up. */
static void add_rows(const struct lm_replay *played, struct lm_arena *arena, struct lm_replay_side *out)
{
	struct lm_replay_line *lines = LM_ARENA_ARRAY(arena, struct lm_replay_line, played->nr_lines + 1);

	if (played->nr_lines)
		memcpy(lines, played->lines, played->nr_lines * sizeof(*lines));
	qsort(lines, played->nr_lines, sizeof(*lines), compare_lines);
	out->rows = LM_ARENA_ARRAY(arena, struct lm_replay_row, played->nr_lines + 1);
	for (size_t i = 0; i < played->nr_lines; i++) {
		const struct lm_replay_line *l = &lines[i];
		struct lm_replay_row *row = &out->rows[out->nr_rows ? out->nr_rows - 1 : 0];

		if (!i || l->line != lines[i - 1].line)
			row = &out->rows[out->nr_rows++];
		row->line = l->line;
		row->accesses += l->accesses;
		row->misses += l->misses;
		row->upgrades += l->upgrades;
		row->spread = hypot(row->spread, hypot(l->misses_spread, l->upgrades_spread));
	}
}

void lm_replay_side_make(const struct lm_view *view, const struct lm_usage *u, uint32_t v, uint32_t line,
			 const struct lm_replay *played, struct lm_arena *arena, struct lm_replay_side *out)
{
	const struct lm_record *rec = view->rec;
	struct lm_cost_opts opts = { .line = line, .base_align = line };
	struct lm_layout layout = { rec->size, rec->align, LM_ARENA_ARRAY(arena, uint64_t, rec->nr_fields) };
	struct lm_cost *cost = lm_cost_new(view, u, v, &opts);
	size_t nr_lines;
	double *model;

	*out = (struct lm_replay_side){ .size = rec->size, .misses = played->misses, .upgrades = played->upgrades,
					.absent = played->absent,
					.spread = hypot(played->misses_spread, played->upgrades_spread) };
	add_rows(played, arena, out);
	for (uint32_t f = 0; f < rec->nr_fields; f++)
		layout.bit_offset[f] = rec->fields[f].bit_offset;
	nr_lines = out->nr_rows ? (size_t)out->rows[out->nr_rows - 1].line + 1 : 0;
	model = LM_ARENA_ARRAY(arena, double, nr_lines + 1);
	out->model = lm_cost_lines(cost, &layout, model, nr_lines);
	lm_cost_free(cost);
	for (size_t i = 0; i < out->nr_rows; i++) {
		out->rows[i].model = model[out->rows[i].line];
		out->rows[i].members = names_on_line(view, u, v, line, out->rows[i].line, arena);
	}
}

/* ---- text ---- */

static const char *with_spread(struct lm_arena *arena, double v, double spread)
{
	return spread > 0 ? lm_arena_printf(arena, "%s +- %s", lm_count(arena, v), lm_count(arena, spread)) :
	       lm_count(arena, v);
}

static void side_text(const struct lm_replay_story *s, const struct lm_replay_side *side, const char *title,
		      int verbose, struct lm_arena *arena, struct lm_str *out)
{
	double least = verbose > 0 ? 0 : s->accesses * SHOWN;
	size_t hidden = 0;

	lm_str_addf(out, "%s: %llu bytes\n", title, (unsigned long long)side->size);
	lm_str_addf(out, "  %4s %12s %12s %12s %12s  %s\n", "line", "accesses", "misses", "upgrades", "cost model", "members");
	for (size_t i = 0; i < side->nr_rows; i++) {
		const struct lm_replay_row *r = &side->rows[i];

		if (r->misses + r->upgrades <= least) {
			hidden++;
			continue;
		}
		lm_str_addf(out, "  %4llu %12s %12s %12s %12s  %s\n", (unsigned long long)r->line,
			    lm_count(arena, r->accesses), lm_count(arena, r->misses), lm_count(arena, r->upgrades),
			    lm_count(arena, r->model), lm_safe(arena, r->members));
	}
	lm_str_addf(out, "  %4s %12s %12s %12s %12s\n", "sum", lm_count(arena, s->accesses),
		    lm_count(arena, side->misses), lm_count(arena, side->upgrades), lm_count(arena, side->model));
	if (side->spread > 0)
		lm_wrapf(out, 2, 6, "misses and upgrades together: %s from one random interleaving to another",
			 with_spread(arena, side->misses + side->upgrades, side->spread));
	if (side->absent > 0)
		lm_wrapf(out, 2, 6, "%s accesses are to no member of this layout, and were left out",
			 lm_count(arena, side->absent));
	if (hidden)
		lm_wrapf(out, 2, 6, "%zu line%s with fewer than %s misses and upgrades: -v", hidden, hidden == 1 ? "" : "s",
			 lm_count(arena, floor(least) + 1));
}

/* The line with most misses, where the model is put to the test. */
static const struct lm_replay_row *most_contended(const struct lm_replay_side *side)
{
	const struct lm_replay_row *best = NULL;

	for (size_t i = 0; i < side->nr_rows; i++)
		if (!best || side->rows[i].misses > best->misses)
			best = &side->rows[i];
	return best && best->misses > 0 ? best : NULL;
}

static void compare_text(const struct lm_replay_config *c, struct lm_arena *arena, struct lm_str *out)
{
	const struct lm_replay_row *row = most_contended(&c->before);
	double before = c->before.misses + c->before.upgrades, after = c->after.misses + c->after.upgrades;

	if (c->after.size)
		lm_wrapf(out, 0, 4, "%s: misses %s -> %s, upgrades %s -> %s; together %s -> %s%s%s", c->name,
			 lm_count(arena, c->before.misses), lm_count(arena, c->after.misses),
			 lm_count(arena, c->before.upgrades), lm_count(arena, c->after.upgrades),
			 lm_count(arena, before), lm_count(arena, after), before > 0 ? ", " : "",
			 before > 0 ? lm_percent(arena, 100 * (after - before) / before) : "");
	if (row)
		lm_wrapf(out, 0, 4, "%s: on line %llu, the most contended, the cost model expects %s transfers; replayed: "
			 "%s misses (model %s)", c->name, (unsigned long long)row->line, lm_count(arena, row->model),
			 lm_count(arena, row->misses), lm_percent(arena, 100 * (row->model - row->misses) / row->misses));
}

void lm_replay_text(const struct lm_replay_story *s, int verbose, struct lm_str *out)
{
	struct lm_arena arena = { 0 };

	lm_wrapf(out, 0, 4, "Replay of %s %s to %s by %u CPUs through MESI caches with %u-byte lines; order: %s (%s)",
		 lm_count(&arena, s->accesses), s->sampled ? "sampled accesses" : "accesses", lm_safe(&arena, s->record),
		 s->nr_cpus, s->line, s->order, s->why_order);
	if (s->sampled)
		lm_wrap(out, 0, 4, "The profile holds a part of the accesses: the counts are of that part.");
	if (s->base_open)
		lm_wrap(out, 0, 4, "Objects are taken to start on a line, which the record's alignment does not promise.");
	for (size_t i = 0; i < s->nr_configs; i++) {
		const struct lm_replay_config *c = &s->configs[i];
		const char *name = lm_safe(&arena, c->name);

		lm_str_add_char(out, '\n');
		side_text(s, &c->before, c->after.size ? lm_arena_printf(&arena, "%s, before", name) : name, verbose, &arena,
			  out);
		if (c->after.size)
			side_text(s, &c->after, lm_arena_printf(&arena, "%s, after", name), verbose, &arena, out);
		compare_text(c, &arena, out);
	}
	lm_arena_release(&arena);
}

/* ---- JSON ---- */

static json_t *side_json(const struct lm_replay_side *side)
{
	json_t *o = lm_json_object(), *lines = lm_json_array();

	lm_json_set(o, "size", lm_json_whole(side->size));
	lm_json_set(o, "misses", json_real(side->misses));
	lm_json_set(o, "upgrades", json_real(side->upgrades));
	lm_json_set(o, "spread", json_real(side->spread));
	lm_json_set(o, "model", json_real(side->model));
	lm_json_set(o, "absent", json_real(side->absent));
	for (size_t i = 0; i < side->nr_rows; i++) {
		const struct lm_replay_row *r = &side->rows[i];
		json_t *line = lm_json_object();

		lm_json_set(line, "line", lm_json_whole(r->line));
		lm_json_set(line, "accesses", json_real(r->accesses));
		lm_json_set(line, "misses", json_real(r->misses));
		lm_json_set(line, "upgrades", json_real(r->upgrades));
		lm_json_set(line, "spread", json_real(r->spread));
		lm_json_set(line, "model", json_real(r->model));
		lm_json_set(line, "members", lm_json_text(r->members));
		lm_json_push(lines, line);
	}
	lm_json_set(o, "lines", lines);
	return o;
}

void lm_replay_json(const struct lm_replay_story *s, struct lm_str *out)
{
	json_t *root = lm_json_object(), *configs = lm_json_array();

	lm_json_set(root, "linemate", lm_json_text(LM_VERSION));
	lm_json_set(root, "record", lm_json_text(s->record));
	lm_json_set(root, "line", lm_json_whole(s->line));
	lm_json_set(root, "accesses", json_real(s->accesses));
	lm_json_set(root, "sampled", json_boolean(s->sampled));
	lm_json_set(root, "cpus", lm_json_whole(s->nr_cpus));
	lm_json_set(root, "objects", lm_json_whole(s->nr_objects));
	lm_json_set(root, "order", lm_json_text(s->order));
	for (size_t i = 0; i < s->nr_configs; i++) {
		json_t *c = lm_json_object();

		lm_json_set(c, "name", lm_json_text(s->configs[i].name));
		lm_json_set(c, "before", side_json(&s->configs[i].before));
		if (s->configs[i].after.size)
			lm_json_set(c, "after", side_json(&s->configs[i].after));
		lm_json_push(configs, c);
	}
	lm_json_set(root, "configurations", configs);
	lm_json_dump(root, out);
}
