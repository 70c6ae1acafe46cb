/* change_json.c - what a change did to a layout, as JSON.  The schema is docs/json.md. */
#include "output/change.h"
#include "output/change_parts.h"
#include "output/json_rows.h"

#include <string.h>

static const char *verdict_word(enum lm_change_verdict verdict)
{
	switch (verdict) {
	case LM_CHANGE_NONE:
		return "unchanged";
	case LM_CHANGE_NEUTRAL:
		return "neutral";
	case LM_CHANGE_LESS:
		return "less";
	case LM_CHANGE_ADDED:
		break;
	}
	return "added";
}

static const char *fate_word(enum lm_fate fate)
{
	switch (fate) {
	case LM_FATE_STAYS:
		return "stays";
	case LM_FATE_SHIFTED:
		return "shifted";
	case LM_FATE_MOVED:
		return "moved";
	case LM_FATE_ADDED:
		return "added";
	case LM_FATE_REMOVED:
		break;
	}
	return "removed";
}

/* "base, v1" as an array. */
json_t *lm_json_list(const char *text)
{
	json_t *array = lm_json_array();
	struct lm_arena arena = { 0 };

	while (*text) {
		const char *end = strstr(text, ", ");
		size_t len = end ? (size_t)(end - text) : strlen(text);

		lm_json_push(array, lm_json_text(lm_arena_strndup(&arena, text, len)));
		text += len + (end ? 2 : 0);
	}
	lm_arena_release(&arena);
	return array;
}

static json_t *offset(const struct lm_record *rec, uint32_t field)
{
	return field == LM_NONE ? json_null() : lm_json_whole(lm_change_offset(rec, field));
}

static json_t *size(const struct lm_record *rec, uint32_t field)
{
	return field == LM_NONE ? json_null() : lm_json_whole(rec->fields[field].size);
}

static json_t *first_line(const struct lm_record *rec, uint32_t field, uint32_t line)
{
	uint64_t first, last;

	if (field == LM_NONE)
		return json_null();
	lm_field_lines(&rec->fields[field], line, &first, &last);
	return lm_json_whole(first);
}

/* Members that are not where they were, or not what they were. */
static json_t *members(const struct lm_comparison *cmp, uint32_t line)
{
	json_t *array = lm_json_array();

	for (uint32_t i = 0; i < cmp->nr_members; i++) {
		const struct lm_compared *m = &cmp->members[i];
		json_t *object;

		if (m->fate == LM_FATE_STAYS && !m->resized && !m->was)
			continue;
		object = lm_json_object();
		lm_json_set(object, "member", lm_json_text(m->name));
		lm_json_set(object, "was", lm_json_text(m->was));
		lm_json_set(object, "fate", lm_json_text(fate_word(m->fate)));
		lm_json_set(object, "offset_before", offset(cmp->before, m->before));
		lm_json_set(object, "offset_after", offset(cmp->after, m->after));
		lm_json_set(object, "size_before", size(cmp->before, m->before));
		lm_json_set(object, "size_after", size(cmp->after, m->after));
		lm_json_set(object, "line_before", first_line(cmp->before, m->before, line));
		lm_json_set(object, "line_after", first_line(cmp->after, m->after, line));
		lm_json_push(array, object);
	}
	return array;
}

static json_t *mates(const struct lm_comparison *cmp, const struct lm_mates *items, uint32_t nr)
{
	json_t *array = lm_json_array();

	for (uint32_t i = 0; i < nr; i++) {
		json_t *pair = lm_json_array();

		lm_json_push(pair, lm_json_text(cmp->members[items[i].a].name));
		lm_json_push(pair, lm_json_text(cmp->members[items[i].b].name));
		lm_json_push(array, pair);
	}
	return array;
}

static json_t *shape(const struct lm_view_figures *f, bool priced)
{
	json_t *object = lm_json_figures(f);

	if (!priced) {
		lm_json_set(object, "transfers", json_null());
		lm_json_set(object, "transfers_double_line", json_null());
	}
	return object;
}

static json_t *configs(const struct lm_change *c)
{
	static const char *const turns[] = { "less", "neutral", "added" };
	json_t *array = lm_json_array();

	for (uint32_t v = 0; v < c->nr_configs; v++) {
		const struct lm_change_config *x = &c->configs[v];
		json_t *object = lm_json_object();

		lm_json_set(object, "name", lm_json_text(x->name));
		lm_json_set(object, "options", lm_json_text(x->spec));
		lm_json_set(object, "changed", json_boolean(x->cmp.changed));
		lm_json_set(object, "contention", c->priced ? lm_json_text(turns[x->turn + 1]) : json_null());
		lm_json_set(object, "before", shape(&x->before, c->priced));
		lm_json_set(object, "after", shape(&x->after, c->priced));
		lm_json_set(object, "members", members(&x->cmp, c->line));
		lm_json_set(object, "line_mates_came", mates(&x->cmp, x->cmp.came, x->cmp.nr_came));
		lm_json_set(object, "line_mates_went", mates(&x->cmp, x->cmp.went, x->cmp.nr_went));
		lm_json_push(array, object);
	}
	return array;
}

static json_t *resizes(const struct lm_change *c)
{
	json_t *array = lm_json_array();

	for (uint32_t i = 0; i < c->nr_resizes; i++) {
		const struct lm_change_resize *r = &c->resizes[i];
		json_t *object = lm_json_object();

		lm_json_set(object, "member", lm_json_text(r->member));
		lm_json_set(object, "type", lm_json_text(r->type));
		lm_json_set(object, "nested", json_boolean(r->is_record));
		lm_json_set(object, "size_before", lm_json_whole(r->before));
		lm_json_set(object, "size_after", lm_json_whole(r->after));
		lm_json_set(object, "align_before", lm_json_whole(r->align_before));
		lm_json_set(object, "align_after", lm_json_whole(r->align_after));
		lm_json_set(object, "configurations", lm_json_list(r->configs));
		lm_json_push(array, object);
	}
	return array;
}

static json_t *pairs(const struct lm_change_pair *rows, uint32_t nr)
{
	json_t *array = lm_json_array();

	for (uint32_t i = 0; i < nr; i++) {
		json_t *object = lm_json_object();

		lm_json_set(object, "configuration", lm_json_text(rows[i].config));
		lm_json_set(object, "configurations", lm_json_list(rows[i].configs));
		lm_json_set(object, "line", lm_json_whole(rows[i].line));
		lm_json_set(object, "excess_transfers", json_real(rows[i].excess));
		lm_json_set(object, "other_excess_transfers", json_real(rows[i].other_excess));
		lm_json_set(object, "inside", lm_json_text(rows[i].inside));
		lm_json_set(object, "a", lm_json_side(&rows[i].a));
		lm_json_set(object, "b", lm_json_side(&rows[i].b));
		lm_json_push(array, object);
	}
	return array;
}

static json_t *guesses(const struct lm_change *c)
{
	json_t *array = lm_json_array();

	for (uint32_t i = 0; i < c->nr_guesses; i++) {
		const struct lm_change_guess *g = &c->guesses[i];
		json_t *object = lm_json_object();

		lm_json_set(object, "configurations", lm_json_list(g->configs));
		lm_json_set(object, "line", lm_json_whole(g->line));
		lm_json_set(object, "written", lm_json_text(g->written));
		lm_json_set(object, "written_because", lm_json_text(g->why_written));
		lm_json_set(object, "read", lm_json_text(g->read));
		lm_json_set(object, "read_because", lm_json_text(g->why_read));
		lm_json_push(array, object);
	}
	return array;
}

json_t *lm_change_object(const struct lm_change *c)
{
	json_t *root = lm_json_object();

	lm_json_set(root, "record", lm_json_text(c->title));
	lm_json_set(root, "from", lm_json_text(c->before->label));
	lm_json_set(root, "to", lm_json_text(c->after->label));
	lm_json_set(root, "header_before", lm_json_text(c->before->old_name));
	lm_json_set(root, "header_after", lm_json_text(c->after->old_name));
	lm_json_set(root, "line", lm_json_whole(c->line));
	lm_json_set(root, "verdict", lm_json_text(verdict_word(c->verdict)));
	lm_json_set(root, "guessed", json_boolean(!c->priced));
	lm_json_set(root, "changed_in", lm_json_list(c->changed_in));
	lm_json_set(root, "added_in", lm_json_list(c->worse_in));
	lm_json_set(root, "less_in", lm_json_list(c->better_in));
	lm_json_set(root, "same_text", json_boolean(c->same_text));
	lm_json_set(root, "resized", resizes(c));
	lm_json_set(root, "configurations", configs(c));
	lm_json_set(root, "pairs_came", pairs(c->came, c->nr_came));
	lm_json_set(root, "pairs_went", pairs(c->went, c->nr_went));
	lm_json_set(root, "guesses", guesses(c));
	return root;
}

void lm_change_json(const struct lm_change *c, struct lm_str *out)
{
	json_t *root = lm_json_object(), *object = lm_change_object(c);

	lm_json_set(root, "linemate", lm_json_text(LM_VERSION));
	if (json_object_update(root, object))
		lm_oom();
	json_decref(object);
	lm_json_dump(root, out);
}
