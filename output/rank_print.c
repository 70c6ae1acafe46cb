/* rank_print.c - the ranking as text and as JSON. */
#include "output/json.h"
#include "output/rank.h"
#include "output/words.h"

/* "memory_events_local[8].counter and vmstats_percpu, line 17" */
static void row_text(const struct lm_rank_row *row, struct lm_arena *arena, struct lm_str *out)
{
	lm_str_addf(out, "  %10s %10s %10s %8llu %8s  %s", lm_count(arena, row->removable),
		    lm_count(arena, row->transfers), lm_count(arena, (double)row->accesses),
		    (unsigned long long)row->size, row->objects ? lm_count(arena, (double)row->objects) : "-",
		    lm_safe(arena, row->name));
	if (row->worst > 0)
		lm_str_addf(out, ": %s and %s, line %llu", lm_safe(arena, row->a), lm_safe(arena, row->b),
			    (unsigned long long)row->line);
	lm_str_add_char(out, '\n');
}

/* Where samples went that are no access to any record. */
static void lost_text(const struct lm_rank *r, struct lm_arena *arena, struct lm_str *out)
{
	uint64_t used = r->outcomes.count[LM_OUTCOME_FIELD] + r->outcomes.count[LM_OUTCOME_OBJECT];

	lm_wrapf(out, 0, 4, "%s of %s samples are accesses to a record", lm_count(arena, (double)used),
		 lm_count(arena, (double)r->outcomes.samples));
	for (int o = 0; o < LM_NR_OUTCOMES; o++)
		if (o != LM_OUTCOME_FIELD && o != LM_OUTCOME_OBJECT && r->outcomes.count[o])
			lm_wrapf(out, 2, 6, "%s: %s", lm_count(arena, (double)r->outcomes.count[o]),
				 lm_outcome_text((enum lm_outcome)o));
}

void lm_rank_text(const struct lm_rank *r, size_t top, struct lm_str *out)
{
	struct lm_arena arena = { 0 };
	size_t shown = 0, rest = 0;

	lm_str_addf(out, "  %10s %10s %10s %8s %8s  %s\n", "removable", "transfers", "accesses", "bytes", "objects",
		    "record: worst line mates");
	for (size_t i = 0; i < r->nr; i++) {
		bool hide = top && (shown == top || r->rows[i].transfers < 0.5);

		if (!hide)
			row_text(&r->rows[i], &arena, out);
		shown += !hide;
		rest += hide;
	}
	if (rest)
		lm_str_addf(out, "  %zu more records that cost less: -v\n", rest);
	lm_wrapf(out, 0, 4, "transfers: cache lines of %u bytes that these accesses let expect to move between CPUs; "
		 "removable: the most that another order of the members could save with the record no larger than it is; the "
		 "rest stays, most of it contention inside single members", r->line);
	lost_text(r, &arena, out);
	lm_arena_release(&arena);
}

static json_t *row_json(const struct lm_rank_row *row)
{
	json_t *o = lm_json_object(), *worst = row->worst > 0 ? lm_json_object() : json_null();

	lm_json_set(o, "record", lm_json_text(row->name));
	lm_json_set(o, "size", lm_json_whole(row->size));
	lm_json_set(o, "accesses", lm_json_whole(row->accesses));
	lm_json_set(o, "objects", lm_json_whole(row->objects));
	lm_json_set(o, "transfers", json_real(row->transfers));
	lm_json_set(o, "removable", json_real(row->removable));
	if (row->worst > 0) {
		lm_json_set(worst, "a", lm_json_text(row->a));
		lm_json_set(worst, "b", lm_json_text(row->b));
		lm_json_set(worst, "line", lm_json_whole(row->line));
		lm_json_set(worst, "excess_transfers", json_real(row->worst));
	}
	lm_json_set(o, "worst_pair", worst);
	return o;
}

void lm_rank_json(const struct lm_rank *r, struct lm_str *out)
{
	json_t *root = lm_json_object(), *rows = lm_json_array(), *outcomes = lm_json_object();

	lm_json_set(root, "linemate", lm_json_text(LM_VERSION));
	lm_json_set(root, "line", lm_json_whole(r->line));
	lm_json_set(root, "samples", lm_json_whole(r->outcomes.samples));
	for (int o = 0; o < LM_NR_OUTCOMES; o++)
		lm_json_set(outcomes, lm_outcome_word((enum lm_outcome)o), lm_json_whole(r->outcomes.count[o]));
	lm_json_set(root, "outcomes", outcomes);
	for (size_t i = 0; i < r->nr; i++)
		lm_json_push(rows, row_json(&r->rows[i]));
	lm_json_set(root, "records", rows);
	lm_json_dump(root, out);
}
