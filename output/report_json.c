/* report_json.c - the report as JSON.  The schema is docs/json.md. */
#include "output/json_rows.h"
#include "output/report.h"
#include "output/report_rows.h"

json_t *lm_json_side(const struct lm_row_side *s)
{
	json_t *object = lm_json_object(), *sites = lm_json_array();

	lm_json_set(object, "leaf", lm_json_text(s->leaf));
	lm_json_set(object, "reads", json_real(s->reads));
	lm_json_set(object, "writes", json_real(s->writes));
	for (uint32_t i = 0; i < s->nr_sites; i++) {
		json_t *site = lm_json_object();

		lm_json_set(site, "function", lm_json_text(s->sites[i].name));
		lm_json_set(site, "reads", json_real(s->sites[i].reads));
		lm_json_set(site, "writes", json_real(s->sites[i].writes));
		lm_json_set(site, "cpus", lm_json_text(s->sites[i].cpus));
		lm_json_push(sites, site);
	}
	lm_json_set(object, "functions", sites);
	return object;
}

static json_t *pairs(const struct lm_row_pair *rows, uint32_t nr, bool with_fate)
{
	json_t *array = lm_json_array();

	for (uint32_t i = 0; i < nr; i++) {
		json_t *object = lm_json_object();

		lm_json_set(object, "configuration", lm_json_text(rows[i].config));
		lm_json_set(object, "line", lm_json_whole(rows[i].line));
		lm_json_set(object, "excess_transfers", json_real(rows[i].excess));
		lm_json_set(object, "a", lm_json_side(&rows[i].a));
		lm_json_set(object, "b", lm_json_side(&rows[i].b));
		if (with_fate) {
			lm_json_set(object, "apart_after", json_boolean(rows[i].apart));
			lm_json_set(object, "slack_bytes", json_integer(rows[i].slack));
			lm_json_set(object, "together_in", lm_json_text(rows[i].together));
		}
		lm_json_push(array, object);
	}
	return array;
}

json_t *lm_json_figures(const struct lm_view_figures *f)
{
	json_t *object = lm_json_object();

	lm_json_set(object, "size", lm_json_whole(f->size));
	lm_json_set(object, "lines", lm_json_whole(f->lines));
	lm_json_set(object, "holes", lm_json_whole(f->holes));
	lm_json_set(object, "hole_bytes", lm_json_whole(f->hole_bytes));
	lm_json_set(object, "tail_bytes", lm_json_whole(f->tail_bytes));
	lm_json_set(object, "transfers", json_real(f->transfers));
	lm_json_set(object, "transfers_double_line", json_real(f->transfers_double));
	return object;
}

static json_t *configs(const struct lm_rows *rows)
{
	json_t *array = lm_json_array();

	for (uint32_t v = 0; v < rows->nr_views; v++) {
		const struct lm_row_config *c = &rows->configs[v];
		json_t *object = lm_json_object(), *shifts = lm_json_array();

		lm_json_set(object, "name", lm_json_text(c->name));
		lm_json_set(object, "options", lm_json_text(c->spec));
		lm_json_set(object, "before", lm_json_figures(c->before));
		lm_json_set(object, "after", lm_json_figures(c->after));
		lm_json_set(object, "percent", json_real(c->percent));
		for (uint32_t i = 0; i < rows->shifts[v].nr; i++) {
			const struct lm_row_shift *s = &rows->shifts[v].items[i];
			json_t *shift = lm_json_object();

			lm_json_set(shift, "field", lm_json_text(s->field));
			lm_json_set(shift, "line_before", lm_json_whole(s->line_before));
			lm_json_set(shift, "line_after", lm_json_whole(s->line_after));
			lm_json_set(shift, "last_line_before", lm_json_whole(s->last_before));
			lm_json_set(shift, "last_line_after", lm_json_whole(s->last_after));
			lm_json_set(shift, "offset_before", lm_json_whole(s->offset_before));
			lm_json_set(shift, "offset_after", lm_json_whole(s->offset_after));
			lm_json_push(shifts, shift);
		}
		lm_json_set(object, "changed_lines", shifts);
		if (rows->story->kernel) {
			lm_json_set(object, "allocator_before", lm_json_text(c->step_before));
			lm_json_set(object, "allocator_after", lm_json_text(c->step_after));
		}
		lm_json_push(array, object);
	}
	return array;
}

static json_t *moves(const struct lm_rows *rows)
{
	json_t *array = lm_json_array();

	for (uint32_t i = 0; i < rows->nr_moves; i++) {
		const struct lm_row_move *m = &rows->moves[i];
		json_t *object = lm_json_object(), *parts = lm_json_array();

		lm_json_set(object, "unit", lm_json_text(m->unit));
		lm_json_set(object, "from_behind", lm_json_text(m->from));
		lm_json_set(object, "to_behind", lm_json_text(m->to));
		lm_json_set(object, "barrier", json_boolean(m->barrier));
		lm_json_set(object, "stays", json_boolean(m->stays));
		for (uint32_t j = 0; j < m->nr_pairs; j++)
			lm_json_push(parts, lm_json_whole(m->pairs[j]));
		lm_json_set(object, "parts", parts);
		lm_json_push(array, object);
	}
	return array;
}

static json_t *curve(const struct lm_rows *rows)
{
	json_t *array = lm_json_array();

	for (uint32_t i = 0; i < rows->nr_curve; i++) {
		const struct lm_row_point *c = &rows->curve[i];
		json_t *object = lm_json_object();

		lm_json_set(object, "moves", lm_json_whole(c->moves));
		lm_json_set(object, "barriers", lm_json_whole(c->barriers));
		lm_json_set(object, "any", json_boolean(c->any));
		lm_json_set(object, "chosen", json_boolean(c->chosen));
		lm_json_set(object, "transfers", json_real(c->transfers));
		lm_json_set(object, "transfers_under_change",
			    c->under_change < 0 ? json_null() : json_real(c->under_change));
		lm_json_set(object, "percent_of_possible", c->percent < 0 ? json_null() : json_real(c->percent));
		lm_json_push(array, object);
	}
	return array;
}

static json_t *bound(const struct lm_rows *rows)
{
	const struct lm_plan *plan = rows->story->plan;
	json_t *object = lm_json_object();

	if (rows->gap_percent < 0) {
		json_decref(object);
		return json_null();
	}
	lm_json_set(object, "transfers", json_real(plan->bound));
	lm_json_set(object, "proven", json_boolean(plan->bound_proven));
	lm_json_set(object, "gap_percent", json_real(rows->gap_percent));
	lm_json_set(object, "exhaustive", json_boolean(plan->exhaustive));
	return object;
}

static json_t *shared(const struct lm_rows *rows)
{
	json_t *object = lm_json_object(), *leaves = lm_json_array();

	lm_json_set(object, "transfers", json_real(rows->shared_transfers));
	lm_json_set(object, "percent_of_rest", json_real(rows->shared_percent));
	for (uint32_t i = 0; i < rows->nr_shared; i++) {
		json_t *leaf = lm_json_side(&rows->shared[i].side);

		lm_json_set(leaf, "transfers", json_real(rows->shared[i].transfers));
		lm_json_push(leaves, leaf);
	}
	lm_json_set(object, "leaves", leaves);
	return object;
}

static json_t *stability(const struct lm_rows *rows)
{
	const struct lm_stability *st = &rows->story->plan->stability;
	json_t *object = lm_json_object();

	lm_json_set(object, "perturbations", lm_json_whole(st->perturbations));
	lm_json_set(object, "meet_before", lm_json_whole(st->meet_before));
	lm_json_set(object, "meet_after", lm_json_whole(st->meet_after));
	return object;
}

static json_t *rules(const struct lm_rows *rows)
{
	json_t *array = lm_json_array();

	for (uint32_t i = 0; i < rows->nr_rules; i++) {
		json_t *object = lm_json_object();

		lm_json_set(object, "rule", lm_json_text(rows->rules[i].word));
		lm_json_set(object, "unit", lm_json_text(rows->rules[i].unit));
		lm_json_set(object, "other", lm_json_text(rows->rules[i].other));
		lm_json_set(object, "because", lm_json_text(rows->rules[i].because));
		lm_json_push(array, object);
	}
	return array;
}

static json_t *notes(const struct lm_rules *r)
{
	json_t *array = lm_json_array();

	for (uint32_t i = 0; i < r->nr_notes; i++)
		lm_json_push(array, lm_json_text(r->notes[i]));
	return array;
}

/* Adds samples, drops by reason, events. */
static void add_evidence(json_t *object, const struct lm_accesses *t)
{
	json_t *drops = lm_json_object(), *events = lm_json_array();
	uint32_t nr = t->events ? lm_strings_nr(t->events) : 0;

	for (uint32_t i = 0; i < nr; i++)
		lm_json_push(events, lm_json_text(lm_strings_get(t->events, i)));
	lm_json_set(object, "events", events);
	lm_json_set(object, "samples", lm_json_whole(t->samples));
	lm_json_set(object, "used", lm_json_whole(t->used));
	for (unsigned d = 0; d < LM_NR_DROPS; d++)
		if (t->drops[d])
			lm_json_set(drops, lm_drop_word((enum lm_drop)d), lm_json_whole(t->drops[d]));
	lm_json_set(object, "dropped", drops);
	lm_json_set(object, "unknown_op", lm_json_whole(t->unknown_op));
	lm_json_set(object, "unknown_element", lm_json_whole(t->unknown_element));
}

/* What became of the samples that a binary bound; null without one. */
static json_t *attribution(const struct lm_attribution *a)
{
	json_t *object, *outcomes;

	if (!a)
		return json_null();
	object = lm_json_object();
	outcomes = lm_json_object();
	lm_json_set(object, "samples", lm_json_whole(a->samples));
	lm_json_set(object, "objects", lm_json_whole(a->objects));
	lm_json_set(object, "kernel_slide", lm_json_whole(a->slide));
	for (int o = 0; o < LM_NR_OUTCOMES; o++)
		lm_json_set(outcomes, lm_outcome_word((enum lm_outcome)o), lm_json_whole(a->count[o]));
	lm_json_set(object, "outcomes", outcomes);
	return object;
}

static json_t *evidence(const struct lm_rows *rows)
{
	const struct lm_story *s = rows->story;
	json_t *object = lm_json_object(), *profiles = lm_json_array();

	for (size_t i = 0; i < s->nr_profiles; i++)
		lm_json_push(profiles, lm_json_text(s->profiles[i]));
	lm_json_set(object, "profiles", profiles);
	add_evidence(object, s->usage->accesses);
	lm_json_set(object, "class", lm_json_text(lm_evidence_word(s->usage->worst)));
	lm_json_set(object, "cpus", lm_json_whole(s->usage->nr_cpus));
	lm_json_set(object, "cpus_assumed", json_boolean(s->usage->cpus_assumed));
	lm_json_set(object, "objects", lm_json_whole(s->usage->nr_objects));
	lm_json_set(object, "placement", lm_json_text(rows->base_promise));
	lm_json_set(object, "placement_fixed", json_boolean(s->plan->base_fixed));
	lm_json_set(object, "unchecked_offsets", json_boolean(s->by_offset));
	lm_json_set(object, "binary", lm_json_text(s->binary));
	lm_json_set(object, "build_id", lm_json_text(s->build_id));
	lm_json_set(object, "attribution", attribution(s->attribution));
	lm_json_set(object, "perf_version", lm_json_text(s->perf_version));
	return object;
}

static json_t *verification(const struct lm_verified *v)
{
	json_t *object, *unspoken;

	if (!v)
		return json_null();
	object = lm_json_object();
	unspoken = lm_json_array();
	lm_json_set(object, "compilers", lm_json_text(v->compilers));
	lm_json_set(object, "compilations", lm_json_whole(v->nr_compilations));
	lm_json_set(object, "missing", lm_json_text(v->missing));
	for (uint32_t i = 0; i < v->nr_unspoken; i++) {
		json_t *one = lm_json_object();

		lm_json_set(one, "configuration", lm_json_text(v->unspoken[i].config));
		lm_json_set(one, "compiler", lm_json_text(v->unspoken[i].compiler));
		lm_json_set(one, "why", lm_json_text(v->unspoken[i].why));
		lm_json_push(unspoken, one);
	}
	lm_json_set(object, "not_compiled", unspoken);
	return object;
}

/* A header may hold bytes that are not UTF-8; then each byte becomes one character (Latin-1). */
static void add_diff(json_t *root, const char *diff, size_t len)
{
	struct lm_str s = { 0 };
	json_t *value = diff ? json_stringn(diff, len) : json_null();

	if (value) {
		lm_json_set(root, "diff", value);
		lm_json_set(root, "diff_encoding", lm_json_text("utf-8"));
		return;
	}
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)diff[i];

		if (c < 0x80) {
			lm_str_add_char(&s, (char)c);
		} else {
			lm_str_add_char(&s, (char)(0xc0 | c >> 6));
			lm_str_add_char(&s, (char)(0x80 | (c & 0x3f)));
		}
	}
	lm_json_set(root, "diff", json_stringn(lm_str_text(&s), s.len));
	lm_json_set(root, "diff_encoding", lm_json_text("latin-1"));
	lm_str_release(&s);
}

/* Records that hold this one, a list for each configuration; null where nobody looked. */
static json_t *holders(const struct lm_rows *rows)
{
	const struct lm_users *users = rows->story->users;
	json_t *all = users ? lm_json_array() : json_null();

	for (uint32_t v = 0; users && v < rows->nr_views; v++) {
		json_t *object = lm_json_object(), *list = lm_json_array();

		for (size_t i = 0; i < users[v].nr; i++) {
			json_t *user = lm_json_object();

			lm_json_set(user, "record", lm_json_text(users[v].rows[i].name));
			lm_json_set(user, "size_before", lm_json_whole(users[v].rows[i].before));
			lm_json_set(user, "size_after", lm_json_whole(users[v].rows[i].after));
			lm_json_push(list, user);
		}
		lm_json_set(object, "configuration", lm_json_text(rows->configs[v].name));
		lm_json_set(object, "records", list);
		lm_json_push(all, object);
	}
	return all;
}

static const char *verdict_word(enum lm_verdict verdict)
{
	switch (verdict) {
	case LM_VERDICT_MOVED:
		return "moved";
	case LM_VERDICT_KEPT:
		return "kept";
	case LM_VERDICT_REFUSED:
		return "refused";
	}
	return NULL;
}

static json_t *report(const struct lm_story *story)
{
	struct lm_arena arena = { 0 };
	json_t *root = lm_json_object();
	struct lm_rows rows;

	lm_rows_make(story, &arena, &rows);
	lm_json_set(root, "linemate", lm_json_text(LM_VERSION));
	lm_json_set(root, "record", lm_json_text(story->record));
	lm_json_set(root, "header", lm_json_text(story->header));
	lm_json_set(root, "verdict", lm_json_text(verdict_word(story->plan->verdict)));
	lm_json_set(root, "reason", lm_json_text(story->plan->verdict == LM_VERDICT_KEPT ?
						    lm_kept_text(story->plan->kept) : NULL));
	lm_json_set(root, "for_size", json_boolean(story->plan->for_size));
	lm_json_set(root, "line", lm_json_whole(story->opts->line));
	lm_json_set(root, "units", lm_json_whole(rows.nr_units));
	lm_json_set(root, "transfers_before", json_real(story->plan->transfers_before));
	lm_json_set(root, "transfers_after", json_real(story->plan->transfers_after));
	lm_json_set(root, "percent", json_real(rows.percent));
	lm_json_set(root, "configurations", configs(&rows));
	lm_json_set(root, "holders", holders(&rows));
	if (story->derived)
		lm_json_set(root, "derived", lm_derived_json(story->derived));
	lm_json_set(root, "pairs", pairs(rows.pairs, rows.nr_pairs, true));
	lm_json_set(root, "moves", moves(&rows));
	lm_json_set(root, "assertions", lm_json_whole(story->rewrite ? story->rewrite->nr_asserts : 0));
	lm_json_set(root, "curve", curve(&rows));
	lm_json_set(root, "bound", bound(&rows));
	lm_json_set(root, "new_pairs", pairs(rows.new_pairs, rows.nr_new_pairs, false));
	lm_json_set(root, "true_sharing", shared(&rows));
	lm_json_set(root, "stability", stability(&rows));
	lm_json_set(root, "rules", rules(&rows));
	lm_json_set(root, "notes", notes(story->rules));
	lm_json_set(root, "evidence", evidence(&rows));
	lm_json_set(root, "verification", verification(story->verified));
	add_diff(root, story->diff, story->diff_len);
	lm_arena_release(&arena);
	return root;
}

void lm_report_json(const struct lm_story *story, struct lm_str *out)
{
	lm_json_dump(report(story), out);
}

void lm_reports_json(const struct lm_story *const *stories, size_t nr, const char *diff, size_t diff_len,
		     struct lm_str *out)
{
	json_t *root = lm_json_object(), *records = lm_json_array();

	lm_json_set(root, "linemate", lm_json_text(LM_VERSION));
	for (size_t i = 0; i < nr; i++)
		lm_json_push(records, report(stories[i]));
	lm_json_set(root, "records", records);
	add_diff(root, diff, diff_len);
	lm_json_dump(root, out);
}

void lm_accesses_json(const struct lm_accesses *t, const struct lm_attribution *by_code, struct lm_str *out)
{
	json_t *root = lm_json_object(), *rows = lm_json_array();

	lm_json_set(root, "linemate", lm_json_text(LM_VERSION));
	lm_json_set(root, "record", lm_json_text(t->record == LM_NO_STRING ? NULL : lm_strings_get(t->strings, t->record)));
	add_evidence(root, t);
	lm_json_set(root, "attribution", attribution(by_code));
	for (size_t i = 0; i < t->nr; i++) {
		const struct lm_access *a = &t->rows[i];
		json_t *row = lm_json_object();

		lm_json_set(row, "function", lm_json_text(lm_strings_get(t->strings, a->site)));
		lm_json_set(row, "member", lm_json_text(lm_strings_get(t->strings, a->member)));
		lm_json_set(row, "offset", lm_json_whole(a->offset));
		lm_json_set(row, "size", lm_json_whole(a->size));
		lm_json_set(row, "cpu", a->cpu < 0 ? json_null() : json_integer(a->cpu));
		lm_json_set(row, "object", lm_json_whole(a->object));
		lm_json_set(row, "evidence", lm_json_text(lm_evidence_word(a->evidence)));
		lm_json_set(row, "reads", lm_json_whole(a->reads));
		lm_json_set(row, "writes", lm_json_whole(a->writes));
		lm_json_push(rows, row);
	}
	lm_json_set(root, "rows", rows);
	lm_json_dump(root, out);
}
