/* report_text.c - the report in words, for a terminal.  Prints rows; computes nothing. */
#include "output/report.h"
#include "output/report_rows.h"
#include "output/sheet.h"
#include "output/words.h"

#include <string.h>

#define RULES_SHOWN 12
#define SHIFTS_SHOWN 20
#define USERS_SHOWN 8
/* Behind a line number where the object may start anywhere in a line. */
#define AS_IF ", if the object starts on a line"

struct printer {
	const struct lm_rows *rows;
	const struct lm_print_opts *opts;
	struct lm_arena *arena;
	struct lm_str *out;
};

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static struct lm_sheet sheet_of(const struct printer *p)
{
	return (struct lm_sheet){ p->out, p->arena, p->opts };
}

static void painted(const struct printer *p, const char *dress, unsigned indent, const char *text)
{
	struct lm_sheet sheet = sheet_of(p);

	lm_sheet_painted(&sheet, dress, indent, text);
}

static void heading(const struct printer *p, const char *text)
{
	struct lm_sheet sheet = sheet_of(p);

	lm_sheet_heading(&sheet, text);
}

#define COLUMNS 5
static void print_table(const struct printer *p, const char *const (*cells)[COLUMNS], uint32_t nr)
{
	struct lm_sheet sheet = sheet_of(p);

	lm_sheet_table(&sheet, &cells[0][0], nr, COLUMNS);
}

static void print_sites(const struct printer *p, const char *figure, const struct lm_row_side *side)
{
	struct lm_sheet sheet = sheet_of(p);

	lm_sheet_side(&sheet, figure, side);
}

/* How many of nr rows to show: the main ones, and no more than fit; with -v all. */
static uint32_t top(const struct printer *p, uint32_t nr, uint32_t nr_main)
{
	uint32_t most = p->opts->top ? p->opts->top : 10;

	if (p->opts->verbose > 0)
		return nr;
	return nr_main < most ? nr_main : most;
}

/* ---- 1: the verdict ---- */

static void print_given_back(const struct printer *p)
{
	const struct lm_row_config *base = &p->rows->configs[0];
	uint64_t bytes = base->before->size - base->after->size, nr = base->before->lines - base->after->lines;

	lm_wrapf(p->out, 0, 0, "It gives %llu bytes back (%llu line%s of %u) and costs no more transfers. For transfers alone no "
		 "change is worth making: %s.", (unsigned long long)bytes, (unsigned long long)nr, nr == 1 ? "" : "s",
		 p->rows->story->opts->line, lm_kept_text(p->rows->story->plan->kept));
}

static void print_verdict(const struct printer *p)
{
	const struct lm_rows *rows = p->rows;
	const struct lm_story *s = rows->story;
	struct lm_str line = { 0 };

	if (rows->moved)
		lm_str_addf(&line, "%s: %s; ", s->record, lm_rows_what_to_do(rows, p->arena));
	else
		lm_str_addf(&line, "%s: no change worth making; ", s->record);
	lm_str_addf(&line, "expected transfers %s", lm_count(p->arena, s->plan->transfers_before));
	if (rows->moved)
		lm_str_addf(&line, " -> %s (%s)", lm_count(p->arena, s->plan->transfers_after),
			    lm_percent(p->arena, rows->percent));
	if (rows->nr_views > 1)
		lm_str_addf(&line, " over %u configurations", rows->nr_views);
	painted(p, LM_BOLD, 0, lm_str_text(&line));
	lm_str_release(&line);
	if (s->plan->for_size)
		print_given_back(p);
	if (!rows->moved)
		lm_wrapf(p->out, 0, 0, "Kept as it is: %s. No diff was written.", lm_kept_text(s->plan->kept));
	lm_wrapf(p->out, 0, 0,
		 "A transfer is one cache line of %u bytes moved between CPUs, as this profile's accesses let expect%s.",
		 s->opts->line,
		 rows->sampled ? " (they were sampled: figures are in samples, only their proportions count)" : "");
}

/* ---- 2: configurations ---- */

static const char *arrow(const struct printer *p, const char *before, const char *after)
{
	return !p->rows->moved || !strcmp(before, after) ? before : lm_arena_printf(p->arena, "%s -> %s", before, after);
}

static const char *whole(const struct printer *p, uint64_t n)
{
	return lm_arena_printf(p->arena, "%llu", (unsigned long long)n);
}

static const char *gaps(const struct printer *p, const struct lm_view_figures *f)
{
	return lm_arena_printf(p->arena, "%u (%llu)", f->holes, (unsigned long long)f->hole_bytes);
}

static const char *moves_of(const struct printer *p, double before, double after)
{
	return arrow(p, lm_count(p->arena, before), lm_count(p->arena, after));
}

/* "+A, -B": lines can be broken there. */
static const char *spaced(const struct printer *p, const char *spec)
{
	struct lm_str s = { 0 };

	for (; *spec; spec++) {
		lm_str_add_char(&s, *spec);
		if (*spec == ',')
			lm_str_add_char(&s, ' ');
	}

	const char *text = lm_arena_strdup(p->arena, lm_str_text(&s));

	lm_str_release(&s);
	return text;
}

static void print_configs(const struct printer *p)
{
	const struct lm_rows *rows = p->rows;
	const char *(*cells)[COLUMNS] = lm_arena_array(p->arena, rows->nr_views + 1, sizeof(*cells));
	uint32_t line = rows->story->opts->line;

	heading(p, "Configurations");
	memcpy(cells[0], (const char *[]){ "", "bytes", "lines", "holes (bytes)", "tail (bytes)" }, sizeof(*cells));
	for (uint32_t i = 0; i < rows->nr_views; i++) {
		const struct lm_view_figures *b = rows->configs[i].before, *a = rows->configs[i].after;

		cells[i + 1][0] = rows->configs[i].name;
		cells[i + 1][1] = arrow(p, whole(p, b->size), whole(p, a->size));
		cells[i + 1][2] = arrow(p, whole(p, b->lines), whole(p, a->lines));
		cells[i + 1][3] = arrow(p, gaps(p, b), gaps(p, a));
		cells[i + 1][4] = arrow(p, whole(p, b->tail_bytes), whole(p, a->tail_bytes));
	}
	print_table(p, (const char *const(*)[COLUMNS])cells, rows->nr_views + 1);
	for (uint32_t i = 0; i < rows->nr_views; i++)
		if (*rows->configs[i].spec && !rows->configs[i].spec_is_name)
			lm_wrapf(p->out, 2, 6, "%s is base with %s", rows->configs[i].name,
				 spaced(p, rows->configs[i].spec));
	heading(p, "Expected transfers");
	memcpy(cells[0], (const char *[]){ "", lm_arena_printf(p->arena, "%u-byte lines", line), "",
					   lm_arena_printf(p->arena, "%u-byte lines", 2 * line), "" }, sizeof(*cells));
	for (uint32_t i = 0; i < rows->nr_views; i++) {
		const struct lm_row_config *c = &rows->configs[i];

		cells[i + 1][1] = moves_of(p, c->before->transfers, c->after->transfers);
		cells[i + 1][2] = rows->moved ? lm_percent(p->arena, c->percent) : "";
		cells[i + 1][3] = moves_of(p, c->before->transfers_double, c->after->transfers_double);
		cells[i + 1][4] = rows->moved ? lm_percent(p->arena, c->percent_double) : "";
	}
	print_table(p, (const char *const(*)[COLUMNS])cells, rows->nr_views + 1);
}

/* ---- 3 and 7: pairs ---- */

static void print_pair(const struct printer *p, uint32_t nr, const struct lm_row_pair *pair)
{
	painted(p, LM_RED, 2, lm_arena_printf(p->arena, "%u. %s and %s", nr, pair->a.leaf, pair->b.leaf));
	lm_wrapf(p->out, 6, 10, "line %llu (%s%s): %s transfers more than if they were apart",
		 (unsigned long long)pair->line, pair->config, p->rows->story->plan->base_fixed ? "" : AS_IF,
		 lm_count(p->arena, pair->excess));
	if (pair->inside)
		lm_wrapf(p->out, 6, 10, "both are inside %s: only its own place decides, not the order around it",
			 pair->inside);
	print_sites(p, "", &pair->a);
	print_sites(p, "", &pair->b);
}

static void print_pairs(const struct printer *p)
{
	const struct lm_rows *rows = p->rows;
	uint32_t nr = top(p, rows->nr_pairs, rows->nr_main_pairs);

	heading(p, rows->moved ? "Line mates that cost most, before" : "Line mates that cost most");
	if (!nr)
		lm_str_add(p->out, "  none: no two members of one line fight\n");
	for (uint32_t i = 0; i < nr; i++) {
		const struct lm_row_pair *pair = &rows->pairs[i];

		print_pair(p, i + 1, pair);
		if (rows->moved && pair->apart)
			lm_wrapf(p->out, 6, 10, "after: apart%s, %lld bytes of slack",
				 rows->nr_views > 1 ? " in every configuration" : "", (long long)pair->slack);
		else if (rows->moved)
			lm_wrapf(p->out, 6, 10, "after: still line mates%s%s", rows->nr_views > 1 ? " in " : "",
				 rows->nr_views > 1 ? pair->together : "");
	}
	if (nr < rows->nr_pairs)
		lm_str_addf(p->out, "  %u more that cost less: -v\n", rows->nr_pairs - nr);
}

static void print_new_pairs(const struct printer *p)
{
	const struct lm_rows *rows = p->rows;
	uint32_t nr = top(p, rows->nr_new_pairs, rows->nr_new_pairs);

	heading(p, "New line mates that fight");
	if (!nr)
		lm_str_add(p->out, "  none\n");
	for (uint32_t i = 0; i < nr; i++)
		print_pair(p, i + 1, &rows->new_pairs[i]);
	if (nr < rows->nr_new_pairs)
		lm_str_addf(p->out, "  %u more that cost less: -v\n", rows->nr_new_pairs - nr);
}

/* ---- 4 and 5: moves and the curve ---- */

static const char *place(const struct printer *p, const char *in_front)
{
	return in_front ? lm_arena_printf(p->arena, "behind %s", in_front) : "the start";
}

/* Only of pairs that the table above shows. */
static void print_parted(const struct printer *p, unsigned indent, const char *what, uint32_t pair)
{
	const struct lm_rows *rows = p->rows;

	if (pair < top(p, rows->nr_pairs, rows->nr_main_pairs))
		lm_wrapf(p->out, indent, indent + 4, "%s %s and %s", what, rows->pairs[pair].a.leaf,
			 rows->pairs[pair].b.leaf);
}

static void print_moves(const struct printer *p)
{
	const struct lm_rows *rows = p->rows;

	heading(p, "What moves");
	for (uint32_t i = 0; i < rows->nr_moves; i++) {
		const struct lm_row_move *m = &rows->moves[i];

		if (m->stays)
			lm_wrapf(p->out, 2, 6, "%s: stays %s, now at the start of a line (barrier)", m->unit,
				 place(p, m->from));
		else
			lm_wrapf(p->out, 2, 6, "%s: from %s to %s%s", m->unit, place(p, m->from), place(p, m->to),
				 m->barrier ? ", onto the start of a line (barrier)" : "");
		for (uint32_t j = 0; j < m->nr_pairs; j++)
			print_parted(p, 6, "parts", m->pairs[j]);
	}
	for (uint32_t i = 0; i < rows->nr_shift_pairs; i++)
		print_parted(p, 2, "what they shift parts", rows->shift_pairs[i]);
	if (rows->story->rewrite && rows->story->rewrite->nr_asserts)
		lm_wrapf(p->out, 2, 6, "%u assertion%s behind the record: true in the configurations above; no other was "
			 "compiled", rows->story->rewrite->nr_asserts, plural(rows->story->rewrite->nr_asserts));
}

static void print_curve(const struct printer *p)
{
	const struct lm_rows *rows = p->rows;
	const struct lm_plan *plan = rows->story->plan;
	const char *(*cells)[COLUMNS] = lm_arena_array(p->arena, rows->nr_curve + 1, sizeof(*cells));

	heading(p, "What more or fewer moves would bring");
	memcpy(cells[0], (const char *[]){ "", "transfers", "of the possible gain", "under change", "" }, sizeof(*cells));
	for (uint32_t i = 0; i < rows->nr_curve; i++) {
		const struct lm_row_point *c = &rows->curve[i];

		cells[i + 1][0] = lm_row_point_name(c, p->arena);
		cells[i + 1][1] = lm_count(p->arena, c->transfers);
		cells[i + 1][2] = c->percent < 0 ? "?" : lm_arena_printf(p->arena, "%.1f %%", c->percent);
		cells[i + 1][3] = c->under_change < 0 ? "breaks a rule" : lm_count(p->arena, c->under_change);
		cells[i + 1][4] = !c->chosen ? "" : rows->moved ? "<- this patch" : "<- kept";
	}
	print_table(p, (const char *const(*)[COLUMNS])cells, rows->nr_curve + 1);
	lm_wrap(p->out, 2, 6, "Under change: the mean when nested records and arrays grow or shrink as Stability says below; "
			      "orders are chosen by it.");
	if (rows->gap_percent >= 0)
		lm_wrapf(p->out, 2, 6, "No order that keeps the rules costs less than %s (%s); gap: %.1f %%.",
			 lm_count(p->arena, plan->bound),
			 plan->bound_proven ? "proven" : "a valid bound, but the search for a better one was cut short",
			 rows->gap_percent);
	if (plan->exhaustive)
		lm_wrap(p->out, 2, 6, "Every order was tried: none that keeps the rules is better than the last.");
	else if (rows->gap_percent < 0)
		lm_wrap(p->out, 2, 6, "No bound was found: the last line is the best order seen, not proven best.");
}

/* ---- 6: changed lines ---- */

/* "12", or "12-14" for a field on several lines. */
static const char *lines(const struct printer *p, uint64_t first, uint64_t last)
{
	if (first == last)
		return lm_arena_printf(p->arena, "%llu", (unsigned long long)first);
	return lm_arena_printf(p->arena, "%llu-%llu", (unsigned long long)first, (unsigned long long)last);
}

static void print_shift_list(const struct printer *p, const struct lm_row_shifts *shifts)
{
	struct lm_str s = { 0 };

	lm_str_addf(&s, "%s, %u field%s:", shifts->config, shifts->nr, plural(shifts->nr));
	for (uint32_t i = 0; i < shifts->nr; i++) {
		const struct lm_row_shift *f = &shifts->items[i];

		lm_str_addf(&s, "%s %s %s->%s", i ? "," : "", f->field, lines(p, f->line_before, f->last_before),
			    lines(p, f->line_after, f->last_after));
	}
	lm_wrap(p->out, 2, 6, lm_str_text(&s));
	lm_str_release(&s);
}

static void print_shifts(const struct printer *p)
{
	const struct lm_rows *rows = p->rows;

	heading(p, lm_arena_printf(p->arena, "Fields whose line changes (line before -> after%s)",
				   rows->story->plan->base_fixed ? "" : AS_IF));
	for (uint32_t v = 0; v < rows->nr_views; v++) {
		const struct lm_row_shifts *shifts = &rows->shifts[v];

		if (!shifts->nr)
			lm_wrapf(p->out, 2, 6, "%s: none", shifts->config);
		else if (shifts->same_as && p->opts->verbose <= 0)
			lm_wrapf(p->out, 2, 6, "%s, %u field%s: as in %s", shifts->config, shifts->nr,
				 plural(shifts->nr), shifts->same_as);
		else if (v && shifts->nr > SHIFTS_SHOWN && p->opts->verbose <= 0)
			lm_wrapf(p->out, 2, 6, "%s, %u fields (-v lists them)", shifts->config, shifts->nr);
		else
			print_shift_list(p, shifts);
	}
}

/* ---- 8 and 9: true sharing, stability ---- */

static const char *shared_share(const struct printer *p)
{
	const char *rest = p->rows->moved ? "what remains" : "what there is";

	if (p->rows->shared_percent > 99.5)
		return lm_arena_printf(p->arena, "nearly all of %s", rest);
	return lm_arena_printf(p->arena, "%.0f %% of %s", p->rows->shared_percent, rest);
}

static void print_shared(const struct printer *p)
{
	const struct lm_rows *rows = p->rows;
	uint32_t nr = top(p, rows->nr_shared, rows->nr_main_shared);

	heading(p, "True sharing that stays (base)");
	if (!nr) {
		lm_str_add(p->out, "  none: no single field is contended\n");
		return;
	}
	lm_wrapf(p->out, 2, 2, "%s%s (%s of %s transfers) is contention inside single members, which no order of members removes. It "
		 "takes another data structure: per-CPU counters, or striping.",
		 rows->shared_percent > 50 ? "Most of the rest is true sharing: " : "", shared_share(p),
		 lm_count(p->arena, rows->shared_transfers), lm_count(p->arena, rows->configs[0].after->transfers));
	for (uint32_t i = 0; i < nr; i++)
		print_sites(p, lm_arena_printf(p->arena, "%s transfers in ", lm_count(p->arena, rows->shared[i].transfers)),
			    &rows->shared[i].side);
	if (nr < rows->nr_shared)
		lm_str_addf(p->out, "      %u more that cost less: -v\n", rows->nr_shared - nr);
}

static void print_stability(const struct printer *p)
{
	const struct lm_rows *rows = p->rows;
	const struct lm_stability *st = &rows->story->plan->stability;

	if (!st->perturbations)
		return;
	heading(p, "Stability");
	lm_wrapf(p->out, 2, 2,
		 "With one nested record or array at a time made up to 32 bytes smaller or 64 bytes larger (%s such "
		 "changes%s), a separated pair is on one line in %.1f %% with the old order, in %.1f %% with the new one.",
		 lm_count(p->arena, (double)st->perturbations), rows->nr_views > 1 ? " over all configurations" : "",
		 rows->meet_before, rows->meet_after);
}

/* ---- 10: the allocator ---- */

static void print_allocator(const struct printer *p)
{
	const struct lm_rows *rows = p->rows;
	bool same = true;

	if (!rows->story->kernel)
		return;
	heading(p, "Allocator");
	for (uint32_t v = 0; v < rows->nr_views; v++) {
		const struct lm_row_config *c = &rows->configs[v];

		same = same && c->same_step;
		if (!c->same_step)
			lm_wrapf(p->out, 2, 6, "%s: %s -> %s", c->name, c->step_before, c->step_after);
	}
	if (same)
		lm_wrapf(p->out, 2, 6, "unchanged%s; base, by sizeof: %s",
			 rows->nr_views > 1 ? " in every configuration" : "", rows->configs[0].step_after);
}

/* What holds the record by value, in each configuration that differs from those before. */
static void print_users(const struct printer *p)
{
	const struct lm_rows *rows = p->rows;
	const struct lm_users *users = rows->story->users;
	bool any = false;

	for (uint32_t v = 0; users && v < rows->nr_views; v++) {
		struct lm_str s = { 0 };

		for (size_t i = 0; i < users[v].nr; i++) {
			const struct lm_users_row *u = &users[v].rows[i];

			if (i == USERS_SHOWN && p->opts->verbose <= 0) {
				lm_str_addf(&s, " and %zu more (-v lists them)", users[v].nr - i);
				break;
			}

			lm_str_addf(&s, "%s%s %s bytes", i ? ", " : "", lm_safe(p->arena, u->name),
				    arrow(p, whole(p, u->before), whole(p, u->after)));
		}
		if (s.len && !any)
			heading(p, "Records that hold it");
		any |= s.len > 0;
		if (s.len)
			lm_wrapf(p->out, 2, 6, "%s: %s", rows->configs[v].name, lm_str_text(&s));
		lm_str_release(&s);
	}
}

/* ---- 11: evidence ---- */

static void print_rules(const struct printer *p)
{
	const struct lm_rows *rows = p->rows;
	const struct lm_rules *rules = rows->story->rules;
	uint32_t nr = p->opts->verbose > 0 || rows->nr_rules <= RULES_SHOWN ? rows->nr_rules : RULES_SHOWN;

	heading(p, "Rules that bind members");
	if (!nr)
		lm_str_add(p->out, "  none\n");
	for (uint32_t i = 0; i < nr; i++) {
		const struct lm_row_rule *r = &rows->rules[i];

		lm_wrapf(p->out, 2, 6, "%s%s%s %s%s%s", r->unit, r->other ? " and " : "", r->other ? r->other : "",
			 r->text, *r->because ? "; " : "", r->because);
	}
	if (nr < rows->nr_rules)
		lm_str_addf(p->out, "  %u more: -v\n", rows->nr_rules - nr);
	for (uint32_t i = 0; i < rules->nr_notes; i++)
		lm_wrapf(p->out, 2, 6, "note: %s", lm_safe(p->arena, rules->notes[i]));
}

static void print_verification(const struct printer *p)
{
	const struct lm_story *s = p->rows->story;
	const struct lm_verified *v = s->verified;

	if (s->binary)
		lm_wrapf(p->out, 2, 6, "binary: %s, build id %s: its %s is the one of the header", lm_safe(p->arena, s->binary),
			 s->build_id && *s->build_id ? s->build_id : "none", s->record);
	if (!v)
		return;
	lm_wrapf(p->out, 2, 6,
		 "verified: the new header was parsed again in %u configuration%s and compiled with %s (%u "
		 "compilation%s); every offset in the debug info is the planned one",
		 p->rows->nr_views, plural(p->rows->nr_views), v->compilers, v->nr_compilations,
		 plural(v->nr_compilations));
	for (uint32_t i = 0; i < v->nr_unspoken; i++)
		lm_wrapf(p->out, 2, 6, "configuration %s not compiled with %s: %s", lm_safe(p->arena, v->unspoken[i].config),
			 v->unspoken[i].compiler, lm_safe(p->arena, v->unspoken[i].why));
	if (v->missing)
		lm_wrapf(p->out, 2, 6, "not verified with %s: it is not installed", v->missing);
}

static void print_evidence(const struct printer *p)
{
	const struct lm_story *s = p->rows->story;
	const struct lm_usage *u = s->usage;

	heading(p, "Evidence");
	for (size_t i = 0; i < s->nr_profiles; i++)
		lm_wrapf(p->out, 2, 6, "profile: %s", lm_safe(p->arena, s->profiles[i]));
	lm_evidence_report(u->accesses, s->attribution, s->by_offset, p->out);
	if (u->cpus_assumed)
		lm_wrapf(p->out, 2, 6, "CPUs: the profile names none; rates were split evenly over %u CPUs", u->nr_cpus);
	else
		lm_wrapf(p->out, 2, 6, "CPUs: %u%s", u->nr_cpus, u->nr_objects > 1 ?
			 lm_arena_printf(p->arena, "; objects: %u, which share no line", u->nr_objects) : "");
	if (u->absent)
		lm_wrapf(p->out, 2, 6, "%s accesses are to members that base does not have; they count where they exist",
			 lm_count(p->arena, (double)u->absent));
	lm_wrapf(p->out, 2, 6, "placement: %s.", p->rows->base_promise);
	lm_wrap(p->out, 2, 6, "model: accesses are taken as independent in time, so that what is written under one lock is "
			      "overstated; nothing is said of throughput.");
	print_verification(p);
}

/* Every sample has one outcome; they add up. */
static void print_outcomes(const struct lm_attribution *a, struct lm_arena *arena, struct lm_str *out)
{
	lm_wrapf(out, 2, 6, "attributed by the program's code: %s samples, %s object%s of the record",
		 lm_count(arena, (double)a->samples), lm_count(arena, (double)a->objects), a->objects == 1 ? "" : "s");
	for (int o = 0; o < LM_NR_OUTCOMES; o++)
		if (a->count[o])
			lm_wrapf(out, 4, 8, "%s %s", lm_count(arena, (double)a->count[o]),
				 lm_outcome_text((enum lm_outcome)o));
}

void lm_evidence_report(const struct lm_accesses *t, const struct lm_attribution *attribution, bool by_offset,
			struct lm_str *out)
{
	struct lm_arena arena = { 0 };
	enum lm_evidence worst = LM_EVIDENCE_EXACT;
	struct lm_str s = { 0 };
	uint32_t nr = t->events ? lm_strings_nr(t->events) : 0;

	for (uint32_t i = 0; i < nr; i++)
		lm_str_addf(&s, "%s%s", i ? ", " : "events: ", lm_safe(&arena, lm_strings_get(t->events, i)));
	if (nr)
		lm_wrap(out, 2, 6, lm_str_text(&s));
	lm_wrapf(out, 2, 6, "samples or lines: %s read, %s used", lm_count(&arena, (double)t->samples),
		 lm_count(&arena, (double)t->used));
	if (attribution)
		print_outcomes(attribution, &arena, out);
	for (unsigned d = 0; d < LM_NR_DROPS; d++)
		if (t->drops[d])
			lm_wrapf(out, 4, 8, "%s not used: %s", lm_count(&arena, (double)t->drops[d]),
				 lm_drop_text((enum lm_drop)d));
	if (t->unknown_op)
		lm_wrapf(out, 4, 8, "%s did not say whether they read or wrote: taken as reads",
			 lm_count(&arena, (double)t->unknown_op));
	if (t->unknown_element)
		lm_wrapf(out, 4, 8, "%s touched an element of an array that their index does not tell: spread evenly over all",
			 lm_count(&arena, (double)t->unknown_element));
	for (size_t i = 0; i < t->nr; i++)
		if (t->rows[i].evidence > worst)
			worst = t->rows[i].evidence;
	lm_wrapf(out, 2, 6, "evidence: %s (%s)", lm_evidence_word(worst), lm_evidence_text(worst));
	if (by_offset)
		lm_wrap(out, 2, 6, "binding: data addresses became members by their offset in the base configuration: it must "
			"be the one of the profiled program, or members are wrong (--binary checks it)");
	lm_str_release(&s);
	lm_arena_release(&arena);
}

void lm_report_text(const struct lm_story *story, const struct lm_print_opts *opts, struct lm_str *out)
{
	struct lm_arena arena = { 0 };
	struct lm_rows rows;
	struct printer p = { .rows = &rows, .opts = opts, .arena = &arena, .out = out };

	lm_rows_make(story, &arena, &rows);
	print_verdict(&p);
	print_configs(&p);
	if (story->derived) {
		lm_str_add_char(out, '\n');
		lm_derived_report(story->derived, opts, out);
	}
	print_pairs(&p);
	if (rows.moved)
		print_moves(&p);
	if (rows.nr_curve > 1)
		print_curve(&p);
	if (rows.moved) {
		print_shifts(&p);
		print_new_pairs(&p);
	}
	print_shared(&p);
	if (rows.moved)
		print_stability(&p);
	if (rows.moved)
		print_allocator(&p);
	if (rows.moved)
		print_users(&p);
	print_rules(&p);
	print_evidence(&p);
	lm_arena_release(&arena);
}
