/* report_derived.c - what --configs auto found, in words and as JSON. */
#include "output/json.h"
#include "output/report.h"
#include "output/words.h"

#include <string.h>

/* Without -v; with it, all. */
enum { SHOWN = 6 };

static size_t shown(size_t nr, const struct lm_print_opts *opts)
{
	return opts->verbose > 0 || nr <= SHOWN ? nr : SHOWN;
}

/* "CONFIG_A (off)" */
static const char *switch_text(const struct lm_switch *s, struct lm_arena *arena)
{
	const char *base = !s->base || !strcmp(s->base, "0") ? "off" : !strcmp(s->base, "m") ? "m" : "on";

	return lm_arena_printf(arena, "%s (%s)", lm_safe(arena, s->name), base);
}

static void say_switches(const struct lm_derived *d, struct lm_arena *arena, struct lm_str *out)
{
	struct lm_str s = { 0 };

	lm_str_add(&s, "guards of the record");
	if (d->nr_records > 1)
		lm_str_addf(&s, " and of %zu record%s in it", d->nr_records - 1, d->nr_records == 2 ? "" : "s");
	lm_str_addf(&s, " test %s option%s%s",
		    d->nr_switches ? lm_count(arena, (double)d->nr_switches) : "no", d->nr_switches == 1 ? "" : "s",
		    d->nr_switches ? ", in base: " : ": nothing to derive");
	for (size_t i = 0; i < d->nr_switches; i++)
		lm_str_addf(&s, "%s%s", i ? ", " : "", switch_text(&d->switches[i], arena));
	lm_wrap(out, 2, 6, lm_str_text(&s));
	lm_str_release(&s);
}

static const char *defined_text(const struct lm_tested *t, struct lm_arena *arena)
{
	if (!t->defined_path)
		return "defined in no file (by flags or the compiler, if at all)";
	return lm_arena_printf(arena, "defined at %s:%u", lm_safe(arena, t->defined_path), t->defined_line);
}

static const char *why_fixed(const struct lm_tested *t)
{
	return t->by_value ? "tests its value" : "asks whether it is defined";
}

static void say_fixed(const struct lm_derived *d, const struct lm_print_opts *opts, struct lm_arena *arena,
		      struct lm_str *out)
{
	size_t nr = shown(d->nr_fixed, opts);

	for (size_t i = 0; i < nr; i++) {
		const struct lm_tested *t = &d->fixed[i];

		lm_wrapf(out, 2, 6, "not switchable: %s; %s:%u (%s) %s, and it is %s: only the side that is compiled counts",
			 lm_safe(arena, t->name), lm_safe(arena, t->path), t->line, lm_safe(arena, t->record), why_fixed(t),
			 defined_text(t, arena));
	}
	if (nr < d->nr_fixed)
		lm_wrapf(out, 2, 6, "%zu more that are not switchable: -v", d->nr_fixed - nr);
}

static void say_left_out(const struct lm_derived *d, const struct lm_print_opts *opts, struct lm_arena *arena,
			 struct lm_str *out)
{
	size_t nr = shown(d->nr_left_out, opts);

	for (size_t i = 0; i < nr; i++)
		lm_wrapf(out, 2, 6, "left out: base with %s does not compile: %s", lm_safe(arena, d->left_out[i].items),
			 lm_safe(arena, d->left_out[i].why));
	if (nr < d->nr_left_out)
		lm_wrapf(out, 2, 6, "%zu more combinations that do not compile: -v", d->nr_left_out - nr);
}

/* "+CONFIG_A" of one that base has off and the pair on. */
static const char *value_text(const struct lm_derived *d, size_t k, uint8_t turned, struct lm_arena *arena)
{
	const struct lm_switch *s = &d->switches[k];
	bool on = s->base && strcmp(s->base, "0");

	return lm_arena_printf(arena, "%c%s", on != (turned == 1) ? '+' : '-', lm_safe(arena, s->name));
}

static bool is_lost(const struct lm_derived *d, size_t a, uint8_t x)
{
	for (size_t i = 0; i < d->nr_lost; i++)
		if (d->lost[i].a == a && d->lost[i].b == a && d->lost[i].x == x)
			return true;
	return false;
}

/* Switches never turned, and pairs whose switches are. */
static void say_lost(const struct lm_derived *d, struct lm_arena *arena, struct lm_str *out)
{
	struct lm_str never = { 0 }, pairs = { 0 };

	for (size_t i = 0; i < d->nr_lost; i++) {
		const struct lm_cover_pair *p = &d->lost[i];

		if (p->a == p->b)
			lm_str_addf(&never, "%s%s", never.len ? ", " : "", value_text(d, p->a, p->x, arena));
		else if (!is_lost(d, p->a, p->x) && !is_lost(d, p->b, p->y))
			lm_str_addf(&pairs, "%s%s with %s", pairs.len ? ", " : "", value_text(d, p->a, p->x, arena),
				    value_text(d, p->b, p->y, arena));
	}
	if (never.len)
		lm_wrapf(out, 2, 6, "not covered, alone or in pairs: %s", lm_str_text(&never));
	if (pairs.len)
		lm_wrapf(out, 2, 6, "pairs not covered: %s", lm_str_text(&pairs));
	lm_str_release(&never);
	lm_str_release(&pairs);
}

void lm_derived_report(const struct lm_derived *d, const struct lm_print_opts *opts, struct lm_str *out)
{
	struct lm_arena arena = { 0 };
	struct lm_str s = { 0 };

	lm_paint(out, opts->color, LM_BOLD, "Options");
	lm_str_add_char(out, '\n');
	say_switches(d, &arena, out);
	lm_str_addf(&s, "%zu configuration%s derived: each option on and off%s%s", d->nr_derived,
		    d->nr_derived == 1 ? "" : "s", d->nr_switches > 1 ? ", each pair in all four combinations" : "",
		    d->nr_lost ? ", but for what is below" : "");
	if (d->nr_same_layout)
		lm_str_addf(&s, "; merged: %zu with the layout of another one", d->nr_same_layout);
	if (d->nr_same_text)
		lm_str_addf(&s, "; merged before the parse: %zu with the text of another one", d->nr_same_text);
	if (d->nr_spare)
		lm_str_addf(&s, "; not needed: %zu", d->nr_spare);
	if (d->nr_switches)
		lm_wrapf(out, 2, 6, "%s; %zu parsed in all", lm_str_text(&s), d->nr_parsed);
	say_fixed(d, opts, &arena, out);
	say_left_out(d, opts, &arena, out);
	say_lost(d, &arena, out);
	lm_str_release(&s);
	lm_arena_release(&arena);
}

/* ---- JSON ---- */

static json_t *switches(const struct lm_derived *d)
{
	json_t *array = lm_json_array();

	for (size_t i = 0; i < d->nr_switches; i++) {
		json_t *object = lm_json_object();

		lm_json_set(object, "name", lm_json_text(d->switches[i].name));
		lm_json_set(object, "base", lm_json_text(d->switches[i].base));
		lm_json_set(object, "record", lm_json_text(d->switches[i].record));
		lm_json_set(object, "file", lm_json_text(d->switches[i].path));
		lm_json_set(object, "line", lm_json_whole(d->switches[i].line));
		lm_json_set(object, "turned", json_boolean(d->switches[i].turned));
		lm_json_push(array, object);
	}
	return array;
}

static json_t *fixed(const struct lm_derived *d)
{
	json_t *array = lm_json_array();

	for (size_t i = 0; i < d->nr_fixed; i++) {
		const struct lm_tested *t = &d->fixed[i];
		json_t *object = lm_json_object();

		lm_json_set(object, "name", lm_json_text(t->name));
		lm_json_set(object, "by_value", json_boolean(t->by_value));
		lm_json_set(object, "record", lm_json_text(t->record));
		lm_json_set(object, "file", lm_json_text(t->path));
		lm_json_set(object, "line", lm_json_whole(t->line));
		lm_json_set(object, "defined_in", lm_json_text(t->defined_path));
		lm_json_set(object, "defined_line", t->defined_path ? lm_json_whole(t->defined_line) : json_null());
		lm_json_push(array, object);
	}
	return array;
}

static json_t *left_out(const struct lm_derived *d)
{
	json_t *array = lm_json_array();

	for (size_t i = 0; i < d->nr_left_out; i++) {
		json_t *object = lm_json_object();

		lm_json_set(object, "options", lm_json_text(d->left_out[i].items));
		lm_json_set(object, "why", lm_json_text(d->left_out[i].why));
		lm_json_push(array, object);
	}
	return array;
}

static json_t *lost(const struct lm_derived *d)
{
	struct lm_arena arena = { 0 };
	json_t *array = lm_json_array();

	for (size_t i = 0; i < d->nr_lost; i++) {
		const struct lm_cover_pair *p = &d->lost[i];
		json_t *pair = lm_json_array();

		lm_json_push(pair, lm_json_text(value_text(d, p->a, p->x, &arena)));
		if (p->a != p->b)
			lm_json_push(pair, lm_json_text(value_text(d, p->b, p->y, &arena)));
		lm_json_push(array, pair);
	}
	lm_arena_release(&arena);
	return array;
}

json_t *lm_derived_json(const struct lm_derived *d)
{
	json_t *object = lm_json_object();

	lm_json_set(object, "options", switches(d));
	lm_json_set(object, "not_switchable", fixed(d));
	lm_json_set(object, "left_out", left_out(d));
	lm_json_set(object, "not_covered", lost(d));
	lm_json_set(object, "records", lm_json_whole(d->nr_records));
	lm_json_set(object, "configurations", lm_json_whole(d->nr_derived));
	lm_json_set(object, "same_text", lm_json_whole(d->nr_same_text));
	lm_json_set(object, "same_layout", lm_json_whole(d->nr_same_layout));
	lm_json_set(object, "spare", lm_json_whole(d->nr_spare));
	lm_json_set(object, "parsed", lm_json_whole(d->nr_parsed));
	return object;
}
