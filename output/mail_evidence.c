/* mail_evidence.c - what a reviewer asks for, filled in from the rows of the report. */
#include "output/mail_parts.h"
#include "output/words.h"

#include <string.h>

/* A message is read by people: tables end where they would stop. */
enum { MAX_PAIRS = 3, MAX_SITES = 3, MAX_SHIFTS = 16, MAX_SHARED = 4, MAX_USERS = 6, MAX_COLUMNS = 5 };

static void heading(const struct lm_mail *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void heading(const struct lm_mail *m, const char *fmt, ...)
{
	struct lm_str s = { 0 };
	va_list ap;

	lm_str_add_char(m->out, '\n');
	va_start(ap, fmt);
	lm_str_vaddf(&s, fmt, ap);
	va_end(ap);
	lm_mail_say(m, 0, 0, "%s", lm_str_text(&s));
	lm_str_release(&s);
}

static const char *count(const struct lm_mail *m, double n)
{
	return lm_count(m->arena, n);
}

static const char *whole(const struct lm_mail *m, uint64_t n)
{
	return lm_arena_printf(m->arena, "%llu", (unsigned long long)n);
}

static const char *arrow(const struct lm_mail *m, const char *before, const char *after)
{
	return strcmp(before, after) ? lm_arena_printf(m->arena, "%s -> %s", before, after) : before;
}

/* ---- tables ---- */

/* Rows of cells, the first row is the head; the first column to the left, others to the right. */
struct table {
	const char *(*cells)[MAX_COLUMNS];
	uint32_t rows;
	int columns, width[MAX_COLUMNS];
};

static int measure(const struct lm_mail *m, struct table *t)
{
	int all = 0;

	for (int c = 0; c < t->columns; c++) {
		for (uint32_t r = 0; r < t->rows; r++) {
			t->cells[r][c] = lm_mail_ascii(m, t->cells[r][c]);
			if ((int)strlen(t->cells[r][c]) > t->width[c])
				t->width[c] = (int)strlen(t->cells[r][c]);
		}
		all += t->width[c] + 2;
	}
	return all;
}

/* A row that does not fit is a sentence: "v1: bytes 1920, lines 30, ...". */
static void add_sentence(const struct lm_mail *m, const struct table *t, uint32_t row)
{
	struct lm_str s = { 0 };

	for (int c = 0; c < t->columns; c++)
		if (*t->cells[row][c])
			lm_str_addf(&s, "%s%s%s%s", c > 1 ? ", " : c ? ": " : "", t->cells[0][c],
				    c && *t->cells[0][c] ? " " : "", t->cells[row][c]);
	lm_mail_say(m, 2, 6, "%s", lm_str_text(&s));
	lm_str_release(&s);
}

static void add_table(const struct lm_mail *m, const char *(*cells)[MAX_COLUMNS], uint32_t rows, int columns)
{
	struct table t = { .cells = cells, .rows = rows, .columns = columns };
	bool fits = measure(m, &t) <= LM_MAIL_WIDTH;

	for (uint32_t r = !fits; r < rows; r++) {
		if (!fits) {
			add_sentence(m, &t, r);
			continue;
		}
		lm_str_addf(m->out, "  %-*s", t.width[0], cells[r][0]);
		for (int c = 1; c < columns; c++)
			lm_str_addf(m->out, "  %*s", t.width[c], cells[r][c]);
		while (m->out->text[m->out->len - 1] == ' ')
			m->out->text[--m->out->len] = 0;
		lm_str_add_char(m->out, '\n');
	}
}

/* ---- who fights ---- */

static void add_side(const struct lm_mail *m, const char *figure, const struct lm_row_side *side)
{
	uint32_t nr = side->nr_main < MAX_SITES ? side->nr_main : MAX_SITES;
	struct lm_str s = { 0 };

	lm_str_addf(&s, "%s%s: %s reads, %s writes", figure, side->leaf, count(m, side->reads), count(m, side->writes));
	for (uint32_t i = 0; i < nr; i++) {
		const struct lm_row_site *site = &side->sites[i];

		lm_str_addf(&s, "%s%s()", i ? ", " : " by ", site->name);
		if (*site->cpus && !side->same_cpus)
			lm_str_addf(&s, " on CPU %s", site->cpus);
	}
	if (nr < side->nr_sites)
		lm_str_add(&s, " and others");
	if (side->same_cpus)
		lm_str_addf(&s, "; CPU %s", side->sites[0].cpus);
	lm_mail_say(m, 4, 6, "%s", lm_str_text(&s));
	lm_str_release(&s);
}

static void add_pair(const struct lm_mail *m, const struct lm_row_pair *pair, bool before)
{
	const struct lm_rows *rows = m->rows;

	lm_mail_say(m, 2, 4, "%s and %s, line %llu (%s%s): %s transfers more than if they were apart", pair->a.leaf,
		    pair->b.leaf, (unsigned long long)pair->line, pair->config,
		    rows->story->plan->base_fixed ? "" : ", if the object starts on a line", count(m, pair->excess));
	if (pair->inside)
		lm_mail_say(m, 4, 6, "both are inside %s", pair->inside);
	add_side(m, "", &pair->a);
	add_side(m, "", &pair->b);
	if (before && pair->apart)
		lm_mail_say(m, 4, 6, "now apart%s, with %lld bytes of slack",
			    rows->nr_views > 1 ? " in every configuration" : "", (long long)pair->slack);
	else if (before)
		lm_mail_say(m, 4, 6, "still line mates%s%s", rows->nr_views > 1 ? " in " : "",
			    rows->nr_views > 1 ? pair->together : "");
}

static void add_pairs(const struct lm_mail *m)
{
	const struct lm_rows *rows = m->rows;
	uint32_t nr = rows->nr_main_pairs < MAX_PAIRS ? rows->nr_main_pairs : MAX_PAIRS;

	heading(m, "Line mates that cost most, before:");
	if (!nr)
		lm_mail_say(m, 2, 4, "none");
	for (uint32_t i = 0; i < nr; i++)
		add_pair(m, &rows->pairs[i], true);
	if (nr < rows->nr_pairs)
		lm_mail_say(m, 2, 4, "others cost less");
	nr = rows->nr_new_pairs < MAX_PAIRS ? rows->nr_new_pairs : MAX_PAIRS;
	heading(m, "Line mates that fight after and were none before:%s", nr ? "" : " none.");
	for (uint32_t i = 0; i < nr; i++)
		add_pair(m, &rows->new_pairs[i], false);
	if (nr < rows->nr_new_pairs)
		lm_mail_say(m, 2, 4, "others cost less");
}

/* ---- layout ---- */

static void add_configs(const struct lm_mail *m)
{
	const struct lm_rows *rows = m->rows;

	for (uint32_t i = 0; i < rows->nr_views; i++)
		if (*rows->configs[i].spec)
			lm_mail_say(m, 2, 6, "%s is base with %s", rows->configs[i].name, rows->configs[i].spec);
}

static const char *gaps(const struct lm_mail *m, const struct lm_view_figures *f)
{
	return lm_arena_printf(m->arena, "%u (%llu)", f->holes, (unsigned long long)f->hole_bytes);
}

static void add_layout(const struct lm_mail *m)
{
	const struct lm_rows *rows = m->rows;
	const char *(*cells)[MAX_COLUMNS] = lm_arena_array(m->arena, rows->nr_views + 1, sizeof(*cells));

	heading(m, "Layout, before -> after where it changes:");
	memcpy(cells[0], (const char *[]){ "", "size", "cachelines", "holes (sum)", "last padding" }, sizeof(*cells));
	for (uint32_t i = 0; i < rows->nr_views; i++) {
		const struct lm_view_figures *b = rows->configs[i].before, *a = rows->configs[i].after;

		cells[i + 1][0] = rows->configs[i].name;
		cells[i + 1][1] = arrow(m, whole(m, b->size), whole(m, a->size));
		cells[i + 1][2] = arrow(m, whole(m, b->lines), whole(m, a->lines));
		cells[i + 1][3] = arrow(m, gaps(m, b), gaps(m, a));
		cells[i + 1][4] = arrow(m, whole(m, b->tail_bytes), whole(m, a->tail_bytes));
	}
	add_table(m, cells, rows->nr_views + 1, 5);
	add_configs(m);
}

static void add_allocator(const struct lm_mail *m)
{
	const struct lm_rows *rows = m->rows;
	bool same = true;

	if (!rows->story->kernel)
		return;
	heading(m, "Allocator:");
	for (uint32_t v = 0; v < rows->nr_views; v++) {
		const struct lm_row_config *c = &rows->configs[v];

		same = same && c->same_step;
		if (!c->same_step)
			lm_mail_say(m, 2, 6, "%s: %s -> %s", c->name, c->step_before, c->step_after);
	}
	if (same)
		lm_mail_say(m, 2, 6, "unchanged%s; base: %s", rows->nr_views > 1 ? " in every configuration" : "",
			    rows->configs[0].step_after);
}

/* What holds the record by value becomes smaller with it, or stays as it is. */
static void add_users(const struct lm_mail *m)
{
	const struct lm_users *users = m->rows->story->users;
	bool any = false;

	for (uint32_t v = 0; users && v < m->rows->nr_views; v++) {
		struct lm_str s = { 0 };

		for (size_t i = 0; i < users[v].nr && i < MAX_USERS; i++) {
			const struct lm_users_row *u = &users[v].rows[i];

			lm_str_addf(&s, "%s%s %s bytes", i ? ", " : "", lm_safe(m->arena, u->name),
				    arrow(m, whole(m, u->before), whole(m, u->after)));
		}
		if (users[v].nr > MAX_USERS)
			lm_str_add(&s, " and others");
		if (s.len && !any)
			heading(m, "Records that hold it:");
		any |= s.len > 0;
		if (s.len)
			lm_mail_say(m, 2, 4, "%s: %s", m->rows->configs[v].name, lm_str_text(&s));
		lm_str_release(&s);
	}
}

static const char *lines(const struct lm_mail *m, uint64_t first, uint64_t last)
{
	return first == last ? whole(m, first) : lm_arena_printf(m->arena, "%llu-%llu", (unsigned long long)first,
								  (unsigned long long)last);
}

static void add_shifts(const struct lm_mail *m)
{
	const struct lm_rows *rows = m->rows;

	heading(m, "Fields whose line changes:");
	for (uint32_t v = 0; v < rows->nr_views; v++) {
		const struct lm_row_shifts *shifts = &rows->shifts[v];
		struct lm_str s = { 0 };

		for (uint32_t i = 0; !shifts->same_as && i < shifts->nr && i < MAX_SHIFTS; i++) {
			const struct lm_row_shift *f = &shifts->items[i];

			lm_str_addf(&s, "%s %s %s->%s", i ? "," : "", f->field, lines(m, f->line_before, f->last_before),
				    lines(m, f->line_after, f->last_after));
		}
		if (!shifts->nr)
			lm_str_add(&s, " none");
		else if (shifts->same_as)
			lm_str_addf(&s, " as in %s", shifts->same_as);
		else if (shifts->nr > MAX_SHIFTS)
			lm_str_add(&s, " and others");
		lm_mail_say(m, 2, 4, "%s:%s", shifts->config, lm_str_text(&s));
		lm_str_release(&s);
	}
}

/* ---- transfers ---- */

static void add_transfers(const struct lm_mail *m)
{
	const struct lm_rows *rows = m->rows;
	const char *(*cells)[MAX_COLUMNS] = lm_arena_array(m->arena, rows->nr_views + 1, sizeof(*cells));

	heading(m, "Expected transfers by configuration:");
	memcpy(cells[0], (const char *[]){ "", "before", "after", "", "" }, sizeof(*cells));
	for (uint32_t i = 0; i < rows->nr_views; i++) {
		const struct lm_row_config *c = &rows->configs[i];

		cells[i + 1][0] = c->name;
		cells[i + 1][1] = count(m, c->before->transfers);
		cells[i + 1][2] = count(m, c->after->transfers);
		cells[i + 1][3] = lm_percent(m->arena, c->percent);
	}
	add_table(m, cells, rows->nr_views + 1, 4);
}

static const char *point_name(const struct lm_mail *m, const struct lm_row_point *c)
{
	const char *name = lm_arena_printf(m->arena, "%s%u move%s", c->any ? "any: " : "", c->moves, c->moves == 1 ? "" : "s");

	return c->barriers ? lm_arena_printf(m->arena, "%s, %u line start%s", name, c->barriers,
					     c->barriers == 1 ? "" : "s") : name;
}

static void add_curve(const struct lm_mail *m)
{
	const struct lm_rows *rows = m->rows;
	const char *(*cells)[MAX_COLUMNS] = lm_arena_array(m->arena, rows->nr_curve + 1, sizeof(*cells));

	heading(m, "What more or fewer moves would bring:");
	memcpy(cells[0], (const char *[]){ "", "transfers", "of the possible gain", "", "" }, sizeof(*cells));
	for (uint32_t i = 0; i < rows->nr_curve; i++) {
		const struct lm_row_point *c = &rows->curve[i];

		cells[i + 1][0] = point_name(m, c);
		cells[i + 1][1] = count(m, c->transfers);
		cells[i + 1][2] = c->percent < 0 ? "?" : lm_arena_printf(m->arena, "%.1f %%", c->percent);
		cells[i + 1][3] = c->chosen ? "this patch" : "";
	}
	add_table(m, cells, rows->nr_curve + 1, 4);
	if (rows->gap_percent >= 0)
		lm_mail_say(m, 2, 4, "No order that keeps the rules costs less than %s (%s).",
			    count(m, rows->story->plan->bound),
			    rows->story->plan->bound_proven ? "proven" : "a valid bound; the search for a better one was cut short");
}

static void add_shared(const struct lm_mail *m)
{
	const struct lm_rows *rows = m->rows;
	uint32_t nr = rows->nr_main_shared < MAX_SHARED ? rows->nr_main_shared : MAX_SHARED;

	if (!nr) {
		heading(m, "Left as true sharing: none.");
		return;
	}
	heading(m, "Left as true sharing, which no layout removes (base): %s of %s transfers.",
		count(m, rows->shared_transfers), count(m, rows->configs[0].after->transfers));
	for (uint32_t i = 0; i < nr; i++)
		add_side(m, lm_arena_printf(m->arena, "%s in ", count(m, rows->shared[i].transfers)), &rows->shared[i].side);
}

static void add_stability(const struct lm_mail *m)
{
	const struct lm_stability *st = &m->rows->story->plan->stability;

	if (!st->perturbations)
		return;
	heading(m, "When nested records and arrays grow or shrink, one at a time (%s such changes), a parted pair shares a line "
		"in %s with the old order, in %s with the new one.", count(m, (double)st->perturbations),
		count(m, (double)st->meet_before), count(m, (double)st->meet_after));
}

/* ---- profile and verification ---- */

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void add_samples(const struct lm_mail *m)
{
	const struct lm_accesses *t = m->rows->story->usage->accesses;
	struct lm_str s = { 0 };

	lm_str_addf(&s, "samples or accesses: %s read, %s used", count(m, (double)t->samples), count(m, (double)t->used));
	for (unsigned d = 0; d < LM_NR_DROPS; d++)
		if (t->drops[d])
			lm_str_addf(&s, ", %s dropped (%s)", count(m, (double)t->drops[d]), lm_drop_word((enum lm_drop)d));
	if (t->unknown_op)
		lm_str_addf(&s, ", %s taken as reads", count(m, (double)t->unknown_op));
	if (t->unknown_element)
		lm_str_addf(&s, ", %s of arrays whose element is not known", count(m, (double)t->unknown_element));
	lm_mail_say(m, 2, 4, "%s", lm_str_text(&s));
	lm_str_release(&s);
}

static void add_events(const struct lm_mail *m)
{
	const struct lm_accesses *t = m->rows->story->usage->accesses;
	uint32_t nr = t->events ? lm_strings_nr(t->events) : 0;
	struct lm_str s = { 0 };

	for (uint32_t i = 0; i < nr; i++)
		lm_str_addf(&s, "%s%s", i ? ", " : "events: ", lm_safe(m->arena, lm_strings_get(t->events, i)));
	if (nr)
		lm_mail_say(m, 2, 4, "%s", lm_str_text(&s));
	lm_str_release(&s);
}

static void add_outcomes(const struct lm_mail *m)
{
	const struct lm_attribution *a = m->rows->story->attribution;
	struct lm_str s = { 0 };

	if (!a)
		return;
	lm_str_addf(&s, "bound to members by the program's code: %s samples", count(m, (double)a->samples));
	for (int o = 0; o < LM_NR_OUTCOMES; o++)
		if (a->count[o])
			lm_str_addf(&s, ", %s %s", count(m, (double)a->count[o]), lm_outcome_word((enum lm_outcome)o));
	lm_mail_say(m, 2, 4, "%s", lm_str_text(&s));
	lm_str_release(&s);
}

static void add_profile(const struct lm_mail *m)
{
	const struct lm_story *s = m->rows->story;
	const struct lm_usage *u = s->usage;

	heading(m, "Profile:");
	for (size_t i = 0; i < s->nr_profiles; i++)
		lm_mail_say(m, 2, 4, "%s", lm_safe(m->arena, file_name(s->profiles[i])));
	add_events(m);
	if (s->perf_version && *s->perf_version)
		lm_mail_say(m, 2, 4, "perf version: %s", lm_safe(m->arena, s->perf_version));
	add_samples(m);
	add_outcomes(m);
	lm_mail_say(m, 2, 4, "evidence: %s (%s)", lm_evidence_word(u->worst), lm_evidence_text(u->worst));
	lm_mail_say(m, 2, 4, u->cpus_assumed ? "the profile names no CPUs; %u were assumed" : "CPUs: %u", u->nr_cpus);
	/* Hex digits alone would pass for a commit. */
	if (s->binary)
		lm_mail_say(m, 2, 4, "binary: %s, build id <%s>; its record is the one of the header",
			    lm_safe(m->arena, file_name(s->binary)), s->build_id && *s->build_id ? s->build_id : "none");
	else
		lm_mail_say(m, 2, 4, "binary: not given%s", s->by_offset ? "; members follow from offsets in base" : "");
	lm_mail_say(m, 2, 4, "placement: %s", m->rows->base_promise);
}

static void add_verification(const struct lm_mail *m)
{
	const struct lm_story *s = m->rows->story;
	const struct lm_verified *v = s->verified;

	heading(m, "Verified:");
	if (v)
		lm_mail_say(m, 2, 4, "parsed again in every configuration above and compiled with %s (compilations: %u); offsets in the debug info "
			    "are the planned ones", v->compilers, v->nr_compilations);
	for (uint32_t i = 0; v && i < v->nr_unspoken; i++)
		lm_mail_say(m, 2, 4, "configuration %s not compiled with %s: %s", lm_safe(m->arena, v->unspoken[i].config),
			    v->unspoken[i].compiler, lm_safe(m->arena, v->unspoken[i].why));
	if (v && v->missing)
		lm_mail_say(m, 2, 4, "not with %s, which is not installed", v->missing);
	if (s->kernel && !s->subject->views[0].rec->randomized)
		lm_mail_say(m, 2, 4, "RANDSTRUCT does not shuffle this record, which is not marked for it");
	for (uint32_t i = 0; i < s->rules->nr_notes; i++)
		lm_mail_say(m, 2, 4, "note: %s", lm_safe(m->arena, s->rules->notes[i]));
	lm_str_add_char(m->out, '\n');
}

void lm_mail_add_evidence(const struct lm_mail *m)
{
	add_pairs(m);
	add_layout(m);
	add_users(m);
	add_shifts(m);
	add_transfers(m);
	if (m->rows->nr_curve > 1)
		add_curve(m);
	add_shared(m);
	add_stability(m);
	add_allocator(m);
	add_profile(m);
	add_verification(m);
}
