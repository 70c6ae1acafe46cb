/* broken_json.c - promises and what is broken as JSON.  The schema is docs/json.md. */
#include "output/broken.h"
#include "output/json.h"

static json_t *side(const struct lm_checked *c, const struct lm_breach_side *s)
{
	json_t *object;

	if (!s->member)
		return json_null();
	object = lm_json_object();
	lm_json_set(object, "member", lm_json_text(s->member));
	lm_json_set(object, "leaf", lm_json_text(s->leaf));
	lm_json_set(object, "offset", lm_json_whole(s->begin));
	lm_json_set(object, "size", lm_json_whole(s->end - s->begin));
	lm_json_set(object, "first_line", lm_json_whole(s->begin / c->line));
	lm_json_set(object, "last_line", lm_json_whole((s->end - 1) / c->line));
	return object;
}

static json_t *breach(const struct lm_checked *c, const struct lm_broken *b, const struct lm_breach *x)
{
	json_t *object = lm_json_object();

	lm_json_set(object, "configuration", lm_json_text(c->subject->views[x->view].config));
	lm_json_set(object, "line", b->promise->kind == LM_PROMISE_MAX_SIZE ? json_null() : lm_json_whole(x->line));
	lm_json_set(object, "bytes", lm_json_whole(x->bytes));
	lm_json_set(object, "size", lm_json_whole(x->size));
	lm_json_set(object, "header_line", lm_json_whole(lm_broken_line(c, x)));
	lm_json_set(object, "a", side(c, &x->a));
	lm_json_set(object, "b", side(c, &x->b));
	return object;
}

static json_t *place(const struct lm_promise *p)
{
	json_t *object = lm_json_object();
	struct lm_str text = { 0 };

	lm_promise_print(p, &text);
	lm_json_set(object, "kind", lm_json_text(lm_promise_word(p->kind)));
	lm_json_set(object, "text", lm_json_text(lm_str_text(&text)));
	lm_json_set(object, "file", lm_json_text(p->file));
	lm_json_set(object, "line", lm_json_whole(p->line));
	lm_str_release(&text);
	return object;
}

static json_t *broken(const struct lm_checked *c, const struct lm_broken *b)
{
	json_t *object = lm_json_object(), *breaches = lm_json_array();
	struct lm_str text = { 0 };

	lm_broken_sentence(c, b, &text);
	lm_json_set(object, "promise", place(b->promise));
	lm_json_set(object, "other", b->other ? place(b->other) : json_null());
	lm_json_set(object, "sentence", lm_json_text(lm_str_text(&text)));
	for (uint32_t i = 0; i < b->nr_breaches; i++)
		lm_json_push(breaches, breach(c, b, &b->breaches[i]));
	lm_json_set(object, "breaches", breaches);
	lm_str_release(&text);
	return object;
}

static json_t *record(const struct lm_checked *c)
{
	json_t *object = lm_json_object(), *views = lm_json_array(), *all = lm_json_array();

	lm_json_set(object, "file", lm_json_text(c->path));
	lm_json_set(object, "record", lm_json_text(c->record));
	lm_json_set(object, "header", lm_json_text(c->header));
	lm_json_set(object, "line", lm_json_whole(c->line));
	for (uint32_t v = 0; v < c->subject->nr_views; v++) {
		json_t *view = lm_json_object();

		lm_json_set(view, "name", lm_json_text(c->subject->views[v].config));
		lm_json_set(view, "options", lm_json_text(c->configs->items[v].spec));
		lm_json_set(view, "size", lm_json_whole(c->subject->views[v].rec->size));
		lm_json_push(views, view);
	}
	lm_json_set(object, "configurations", views);
	lm_json_set(object, "promises", lm_json_whole(c->verdict->nr_promises));
	lm_json_set(object, "kept", lm_json_whole(c->verdict->nr_kept));
	for (size_t b = 0; b < c->verdict->nr; b++)
		lm_json_push(all, broken(c, &c->verdict->broken[b]));
	lm_json_set(object, "broken", all);
	return object;
}

void lm_broken_json(const struct lm_checked *checked, size_t nr, struct lm_str *out)
{
	json_t *root = lm_json_object(), *records = lm_json_array();

	lm_json_set(root, "linemate", lm_json_text(LM_VERSION));
	for (size_t i = 0; i < nr; i++)
		lm_json_push(records, record(&checked[i]));
	lm_json_set(root, "records", records);
	lm_json_dump(root, out);
}
