/* show_json.c - layouts with their heat as JSON.  The schema is docs/json.md. */
#include "output/json.h"
#include "output/show.h"

static json_t *part(const struct lm_show_part *p)
{
	json_t *object = lm_json_object();

	lm_json_set(object, "leaf", lm_json_text(p->name));
	lm_json_set(object, "offset", lm_json_whole(p->offset));
	lm_json_set(object, "size", lm_json_whole(p->size));
	lm_json_set(object, "reads", json_real(p->reads));
	lm_json_set(object, "writes", json_real(p->writes));
	return object;
}

static json_t *field(const struct lm_show *show, const struct lm_show_field *f)
{
	json_t *object = lm_json_object(), *parts = lm_json_array();

	lm_json_set(object, "name", lm_json_text(f->name));
	lm_json_set(object, "declaration", lm_json_text(f->decl));
	lm_json_set(object, "offset", lm_json_whole(f->offset));
	lm_json_set(object, "size", lm_json_whole(f->size));
	if (f->bits != LM_NOT_BITS) {
		lm_json_set(object, "first_bit", lm_json_whole(f->bit));
		lm_json_set(object, "bits", lm_json_whole(f->bits));
	}
	lm_json_set(object, "hole_before", lm_json_whole(f->hole));
	for (uint32_t i = 0; i < f->nr_parts; i++)
		lm_json_push(parts, part(&f->parts[i]));
	if (!show->heat) {
		json_decref(parts);
		return object;
	}
	lm_json_set(object, "reads", json_real(f->reads));
	lm_json_set(object, "writes", json_real(f->writes));
	lm_json_set(object, "touched", parts);
	return object;
}

static json_t *view(const struct lm_show *show)
{
	json_t *object = lm_json_object(), *fields = lm_json_array(), *lines = lm_json_array();

	lm_json_set(object, "name", lm_json_text(show->config));
	lm_json_set(object, "size", lm_json_whole(show->size));
	lm_json_set(object, "align", lm_json_whole(show->align));
	lm_json_set(object, "lines", lm_json_whole(show->nr_lines));
	lm_json_set(object, "holes", lm_json_whole(show->holes));
	lm_json_set(object, "hole_bytes", lm_json_whole(show->hole_bytes));
	lm_json_set(object, "tail_bytes", lm_json_whole(show->tail));
	for (uint32_t i = 0; i < show->nr_fields; i++)
		lm_json_push(fields, field(show, &show->fields[i]));
	lm_json_set(object, "fields", fields);
	for (uint64_t i = 0; show->heat && i < show->nr_lines; i++)
		lm_json_push(lines, json_real(show->line_cost[i]));
	if (!show->heat) {
		json_decref(lines);
		return object;
	}
	lm_json_set(object, "line_transfers", lines);
	lm_json_set(object, "transfers", json_real(show->transfers));
	lm_json_set(object, "transfers_double_line", json_real(show->transfers_double));
	return object;
}

void lm_show_json(const struct lm_story *story, struct lm_str *out)
{
	json_t *root = lm_json_object(), *views = lm_json_array();

	lm_json_set(root, "linemate", lm_json_text(LM_VERSION));
	lm_json_set(root, "record", lm_json_text(story->record));
	lm_json_set(root, "header", lm_json_text(story->header));
	lm_json_set(root, "line", lm_json_whole(story->opts->line));
	for (uint32_t v = 0; v < story->subject->nr_views; v++) {
		struct lm_arena arena = { 0 };
		struct lm_show show;

		lm_show_make(story, v, &arena, &show);
		lm_json_push(views, view(&show));
		lm_arena_release(&arena);
	}
	lm_json_set(root, "configurations", views);
	if (story->derived)
		lm_json_set(root, "derived", lm_derived_json(story->derived));
	lm_json_dump(root, out);
}
