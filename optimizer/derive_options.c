/* derive_options.c - guards -> switches; combinations of switches -> names, edits, keys. */
#include "optimizer/derive_parts.h"

#include "optimizer/edits.h"

#include <ctype.h>
#include <string.h>

/* Names are columns of tables. */
#define MAX_NAME 34

static bool is_on(const char *value)
{
	return value && strcmp(value, "0");
}

/* ---- what guards test ---- */

static bool is_known_text(const struct lm_deriving *d, const struct lm_guarded *g)
{
	for (size_t i = 0; i < d->nr_texts; i++)
		if (d->texts[i].offset == g->offset && !strcmp(d->texts[i].path, g->path))
			return true;
	return false;
}

/* Names that belong to the compiler and the C library; Kconfig's are not among them. */
static bool is_reserved(const char *name)
{
	return name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]));
}

static struct lm_tested *find_fixed(struct lm_deriving *d, const char *name)
{
	for (size_t i = 0; i < d->fixed.nr; i++)
		if (!strcmp(d->fixed.items[i].name, name))
			return &d->fixed.items[i];
	return NULL;
}

static struct lm_switch *find_switch(struct lm_deriving *d, const char *name)
{
	for (size_t i = 0; i < d->nr_switches; i++)
		if (!strcmp(d->switches[i].name, name))
			return &d->switches[i];
	return NULL;
}

static void add_tested(struct lm_deriving *d, const struct lm_tested *t)
{
	struct lm_switch *known = find_switch(d, t->name);

	if (known) {
		known->elsewhere |= t->elsewhere;
		return;
	}
	if (find_fixed(d, t->name))
		return;
	if (t->by_value || t->defined_inside || is_reserved(t->name)) {
		*LM_ARENA_PUSH(d->arena, d->fixed.items, d->fixed.nr, d->fixed.cap) = *t;
		return;
	}
	*LM_ARENA_PUSH(d->arena, d->switches, d->nr_switches, d->cap_switches) = (struct lm_switch){
		.name = t->name, .record = t->record, .path = t->path, .line = t->line, .elsewhere = t->elsewhere,
	};
}

/* The values of the switches from `from` on, in each given configuration. */
static struct lm_err *read_values(struct lm_deriving *d, size_t from)
{
	size_t nr = d->nr_switches - from;
	const char **names = LM_ARENA_ARRAY(d->arena, const char *, nr + 1);
	const char **values = LM_ARENA_ARRAY(d->arena, const char *, nr + 1);

	for (size_t k = 0; k < nr; k++)
		names[k] = d->switches[from + k].name;
	for (size_t i = 0; i < d->nr_given; i++) {
		struct lm_err *err = lm_source_macros(d->req, i, names, nr, d->arena, values);
		uint8_t *turned = LM_ARENA_ARRAY(d->arena, uint8_t, d->nr_switches + 1);

		if (err)
			return err;
		for (size_t k = 0; k < nr; k++) {
			struct lm_switch *s = &d->switches[from + k];

			s->base = i ? s->base : values[k];
			turned[from + k] = is_on(values[k]) != is_on(s->base);
		}
		for (size_t k = 0; k < from; k++)
			turned[k] = lm_row_turned(&d->rows[i], k);
		d->rows[i].turned = turned;
		d->rows[i].nr_turned = d->nr_switches;
	}
	return NULL;
}

static void rebuild_cover(struct lm_deriving *d)
{
	uint8_t *row = LM_ARENA_ARRAY(d->arena, uint8_t, d->nr_switches + 1);

	d->cover = lm_cover_make(d->nr_switches, d->arena);
	for (size_t i = 0; i < d->nr_rows; i++) {
		for (size_t k = 0; k < d->nr_switches; k++)
			row[k] = lm_row_turned(&d->rows[i], k);
		if (d->rows[i].state == LM_ROW_WORKS && !d->rows[i].asked)
			lm_cover_saw(&d->cover, row);
	}
	for (size_t i = 0; i < d->nr_forbidden; i++)
		lm_cover_forbid(&d->cover, d->forbidden[i]);
}

struct lm_err *lm_deriving_take(struct lm_deriving *d)
{
	size_t from = d->nr_switches, texts = d->nr_texts;
	struct lm_err *err = NULL;

	for (; d->nr_taken < d->configs->nr; d->nr_taken++) {
		const struct lm_source *s = &d->sources[d->nr_taken];

		for (size_t i = 0; i < s->nr_guarded; i++)
			if (!is_known_text(d, &s->guarded[i]))
				*LM_ARENA_PUSH(d->arena, d->texts, d->nr_texts, d->cap_texts) = s->guarded[i];
		for (size_t i = 0; i < s->tested.nr; i++)
			add_tested(d, &s->tested.items[i]);
	}
	if (d->nr_switches > from) {
		err = read_values(d, from);
		if (!err)
			rebuild_cover(d);
	}
	for (size_t i = 0; !err && i < d->nr_rows && (d->nr_switches > from || d->nr_texts > texts); i++)
		if (d->rows[i].key)
			d->rows[i].key = lm_row_key(d, &d->rows[i]);
	return err;
}

/* ---- combinations ---- */

uint8_t lm_row_turned(const struct lm_row *row, size_t k)
{
	return k < row->nr_turned ? row->turned[k] : 0;
}

static const char *value_in(const struct lm_deriving *d, const struct lm_row *row, size_t k)
{
	const char *base = d->switches[k].base;

	return !lm_row_turned(row, k) ? base : is_on(base) ? NULL : "1";
}

const char *lm_row_key(const struct lm_deriving *d, const struct lm_row *row)
{
	struct lm_option_value *values = LM_ARENA_ARRAY(d->arena, struct lm_option_value, d->nr_switches + 1);
	struct lm_str key = { 0 };

	for (size_t k = 0; k < d->nr_switches; k++) {
		values[k] = (struct lm_option_value){ d->switches[k].name, value_in(d, row, k) };
		if (d->switches[k].elsewhere)
			lm_str_addf(&key, "%s=%s,", values[k].name, values[k].value ? values[k].value : "");
	}
	for (size_t i = 0; i < d->nr_texts; i++)
		lm_guards_key(&d->texts[i], values, d->nr_switches, &key);

	const char *text = lm_arena_strdup(d->arena, lm_str_text(&key));

	lm_str_release(&key);
	return text;
}

const char *lm_row_items(const struct lm_deriving *d, const struct lm_row *row, struct lm_str *edits)
{
	struct lm_str s = { 0 };

	for (size_t k = 0; k < d->nr_switches; k++) {
		bool on = !is_on(d->switches[k].base);

		if (!lm_row_turned(row, k))
			continue;
		lm_str_addf(&s, "%s%c%s", s.len ? "," : "", on ? '+' : '-', d->switches[k].name);
		if (edits && on)
			lm_edits_on(edits, d->switches[k].name, NULL);
		else if (edits)
			lm_edits_off(edits, d->switches[k].name);
	}

	const char *text = lm_arena_strdup(d->arena, lm_str_text(&s));

	lm_str_release(&s);
	return text;
}

static bool is_taken(const struct lm_deriving *d, const char *name)
{
	for (size_t i = 0; i < d->configs->nr; i++)
		if (!strcmp(d->configs->items[i].name, name))
			return true;
	return false;
}

const char *lm_row_name(const struct lm_deriving *d, const struct lm_row *row)
{
	struct lm_str s = { 0 };
	const char *name;

	for (size_t k = 0; k < d->nr_switches; k++) {
		const char *option = d->switches[k].name;

		if (lm_row_turned(row, k))
			lm_str_addf(&s, "%s%c%s", s.len ? " " : "", is_on(d->switches[k].base) ? '-' : '+',
				    strncmp(option, "CONFIG_", 7) ? option : option + 7);
	}
	name = lm_arena_strdup(d->arena, lm_str_text(&s));
	for (size_t n = 1; strlen(name) > MAX_NAME || is_taken(d, name); n++)
		name = lm_arena_printf(d->arena, "auto%zu", n);
	lm_str_release(&s);
	return name;
}
