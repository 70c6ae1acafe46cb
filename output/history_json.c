/* history_json.c - a record's layout over a range of commits, as JSON.  The schema is docs/json.md. */
#include "output/history.h"
#include "output/json_rows.h"

static const char *kind_word(enum lm_history_kind kind)
{
	switch (kind) {
	case LM_HISTORY_UNTOUCHED:
		return "untouched";
	case LM_HISTORY_SAME:
		return "same";
	case LM_HISTORY_CHANGED:
		return "changed";
	case LM_HISTORY_NO_LAYOUT:
		return "no-layout";
	case LM_HISTORY_MERGE:
		break;
	}
	return "merge";
}

static json_t *commit(const struct lm_history_commit *c, bool pair)
{
	json_t *object = lm_json_object();

	lm_json_set(object, "id", lm_json_text(c->commit.id));
	lm_json_set(object, "date", lm_json_text(c->commit.date));
	lm_json_set(object, "author", lm_json_text(c->commit.author));
	lm_json_set(object, "subject", lm_json_text(c->commit.subject));
	lm_json_set(object, "result", lm_json_text(kind_word(c->kind)));
	lm_json_set(object, "error", lm_json_text(c->why));
	if (pair) {
		lm_json_set(object, "came_together_in", lm_json_list(c->came_in));
		lm_json_set(object, "parted_in", lm_json_list(c->went_in));
	}
	lm_json_set(object, "change", c->kind == LM_HISTORY_CHANGED ? lm_change_object(&c->change) : json_null());
	return object;
}

void lm_history_json(const struct lm_history_request *req, const struct lm_history *h, struct lm_str *out)
{
	json_t *root = lm_json_object(), *commits = lm_json_array();

	lm_json_set(root, "linemate", lm_json_text(LM_VERSION));
	lm_json_set(root, "record", lm_json_text(h->title));
	lm_json_set(root, "from", lm_json_text(req->range->from));
	lm_json_set(root, "to", lm_json_text(req->range->to));
	if (req->pair_a) {
		lm_json_set(root, "together_before", lm_json_list(h->together_before));
		lm_json_set(root, "together_after", lm_json_list(h->together_after));
	}
	for (size_t i = 0; i < h->nr; i++)
		lm_json_push(commits, commit(&h->commits[i], req->pair_a != NULL));
	lm_json_set(root, "commits", commits);
	lm_json_dump(root, out);
}
