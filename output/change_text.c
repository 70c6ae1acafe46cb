/* change_text.c - what a change did to a layout, in words.  Prints rows; computes nothing. */
#include "output/change.h"
#include "output/change_parts.h"
#include "output/sheet.h"
#include "output/words.h"

#include <string.h>

#define PAIRS_SHOWN 5
#define BRIEF_PAIRS 3
#define GUESSES_SHOWN 10
#define LAYOUTS_SHOWN 3
/* Pairs that account for less than this share of the largest difference are shown with -v only. */
#define SMALL_SHARE 0.05
#define AS_IF ", if the object starts on a line"

struct printer {
	const struct lm_change *c;
	struct lm_sheet sheet;
	struct lm_arena *arena;
	struct lm_str *out;
};

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* ---- the verdict ---- */

/* "all 7 configurations", "base, v1" */
static const char *where(const struct printer *p, const char *list)
{
	uint32_t nr = *list != 0;

	if (p->c->nr_configs == 1)
		return "";
	for (const char *at = list; (at = strstr(at, ", ")); at++)
		nr++;
	if (nr == p->c->nr_configs)
		return lm_arena_printf(p->arena, " in all %u configurations", nr);
	return lm_arena_printf(p->arena, " in %s", list);
}

/* The configuration with the largest change of the transfers in that direction. */
static const struct lm_change_config *extreme(const struct lm_change *c, int turn)
{
	const struct lm_change_config *best = NULL;

	for (uint32_t v = 0; v < c->nr_configs; v++) {
		const struct lm_change_config *x = &c->configs[v];
		double by = turn * (x->after.transfers - x->before.transfers);

		if (x->turn == turn && (!best || by > turn * (best->after.transfers - best->before.transfers)))
			best = x;
	}
	return best;
}

static const char *transfers(const struct printer *p, const struct lm_change_config *x)
{
	return lm_arena_printf(p->arena, "expected transfers %s -> %s (%s)%s", lm_count(p->arena, x->before.transfers),
			       lm_count(p->arena, x->after.transfers), lm_percent(p->arena, x->percent),
			       p->c->nr_configs > 1 ? lm_arena_printf(p->arena, " in %s", x->name) : "");
}

static const char *unchanged(const struct printer *p)
{
	const struct lm_change *c = p->c;

	return lm_arena_printf(p->arena, "the layout of %s is unchanged%s%s", c->title,
			       c->nr_configs > 1 ? lm_arena_printf(p->arena, " in all %u configurations", c->nr_configs) : "",
			       c->renamed ? "; only names are others" : "");
}

static const char *verdict(const struct printer *p)
{
	const struct lm_change *c = p->c;

	switch (c->verdict) {
	case LM_CHANGE_NONE:
		return unchanged(p);
	case LM_CHANGE_ADDED:
		if (!c->priced)
			return lm_arena_printf(p->arena, "%s: the layout changed%s; %u new pair%s of line mates look%s "
					       "contended, by a guess", c->title, where(p, c->changed_in),
					       c->nr_guesses, plural(c->nr_guesses), c->nr_guesses == 1 ? "s" : "");
		return lm_arena_printf(p->arena, "%s: contention was added%s; %s", c->title, where(p, c->worse_in),
				       transfers(p, extreme(c, 1)));
	case LM_CHANGE_LESS:
		return lm_arena_printf(p->arena, "%s: less contention%s; %s", c->title, where(p, c->better_in),
				       transfers(p, extreme(c, -1)));
	case LM_CHANGE_NEUTRAL:
		break;
	}
	return lm_arena_printf(p->arena, "%s: the layout changed%s; %s", c->title, where(p, c->changed_in),
			       c->priced ? "by this profile no contention was added" :
			       "no new line mates look contended, by a guess");
}

/* The configurations that have the comparison of v in common. */
static const char *alike(const struct printer *p, uint32_t v)
{
	const char *list = NULL;

	for (uint32_t k = v; k < p->c->nr_configs; k++)
		if (p->c->configs[k].same_as == v)
			list = lm_change_list(list, p->c->configs[k].name, p->arena);
	return list;
}

/* Other names where nothing else changed. */
static void print_renames(const struct printer *p)
{
	const struct lm_change *c = p->c;

	for (uint32_t v = 0; v < c->nr_configs; v++)
		for (uint32_t i = 0; c->configs[v].same_as == v && i < c->configs[v].cmp.nr_members; i++) {
			const struct lm_compared *m = &c->configs[v].cmp.members[i];

			if (m->was)
				lm_wrapf(p->out, 2, 6, "renamed: %s -> %s%s", lm_safe(p->arena, m->was),
					 lm_safe(p->arena, m->name), where(p, alike(p, v)));
		}
}

static void print_verdict(const struct printer *p)
{
	const struct lm_change *c = p->c;
	const char *dress = c->verdict == LM_CHANGE_ADDED ? LM_RED : c->verdict == LM_CHANGE_LESS ? LM_GREEN : LM_BOLD;

	lm_sheet_painted(&p->sheet, dress, 0, verdict(p));
	lm_wrapf(p->out, 2, 6, "from %s%s", lm_safe(p->arena, c->before->label),
		 c->before->note ? lm_safe(p->arena, c->before->note) : "");
	lm_wrapf(p->out, 2, 6, "to %s%s", lm_safe(p->arena, c->after->label),
		 c->after->note ? lm_safe(p->arena, c->after->note) : "");
	if (c->before->old_name)
		lm_wrapf(p->out, 2, 6, "the header was called %s before", lm_safe(p->arena, c->before->old_name));
	if (c->after->old_name)
		lm_wrapf(p->out, 2, 6, "the header is called %s after", lm_safe(p->arena, c->after->old_name));
	if (c->verdict == LM_CHANGE_NONE)
		print_renames(p);
	if (c->verdict == LM_CHANGE_NONE)
		lm_wrap(p->out, 2, 6, "if it runs slower, the cause is another one than this record's layout");
	else if (c->verdict == LM_CHANGE_ADDED && c->priced && *c->better_in)
		lm_wrapf(p->out, 2, 6, "less contention%s", where(p, c->better_in));
	if (c->priced && c->before->usage.total != c->after->usage.total)
		lm_wrapf(p->out, 2, 6, "of the profile's accesses, %s are to members that %s has, %s to members that %s has: "
			 "what only one of them has cannot be compared", lm_count(p->arena, (double)c->before->usage.total),
			 lm_safe(p->arena, c->before->label), lm_count(p->arena, (double)c->after->usage.total),
			 lm_safe(p->arena, c->after->label));
	if (c->verdict != LM_CHANGE_NONE && !c->priced)
		lm_wrap(p->out, 2, 6, "no profile was given: who writes and who reads is guessed from types and names; "
			"--profile says it");
}

/* ---- what changed ---- */

static const char *resize_text(const struct printer *p, const struct lm_change_resize *r)
{
	const char *sizes = r->before == r->after ?
		lm_arena_printf(p->arena, "aligned to %u -> %u bytes", r->align_before, r->align_after) :
		lm_arena_printf(p->arena, "%llu -> %llu bytes", (unsigned long long)r->before, (unsigned long long)r->after);

	if (r->is_record)
		return lm_arena_printf(p->arena, "nested %s (%s): %s%s", r->member, r->type, sizes, where(p, r->configs));
	return lm_arena_printf(p->arena, "%s: %s%s", r->member, sizes, where(p, r->configs));
}

/* "64 bytes larger in v1, nowb" for each difference, in order of appearance. */
static void print_growth(const struct printer *p)
{
	const struct lm_change *c = p->c;

	for (uint32_t v = 0; v < c->nr_configs; v++) {
		int64_t by = (int64_t)(c->configs[v].after.size - c->configs[v].before.size);
		const char *list = NULL;
		bool said = !by;

		for (uint32_t k = 0; k < c->nr_configs; k++) {
			if ((int64_t)(c->configs[k].after.size - c->configs[k].before.size) != by)
				continue;
			said |= k < v;
			list = lm_change_list(list, c->configs[k].name, p->arena);
		}
		if (!said)
			lm_wrapf(p->out, 2, 6, "%s is %lld byte%s %s%s", c->title, (long long)(by < 0 ? -by : by),
				 by == 1 || by == -1 ? "" : "s", by < 0 ? "smaller" : "larger", where(p, list));
	}
}

static void print_causes(const struct printer *p)
{
	const struct lm_change *c = p->c;

	lm_sheet_heading(&p->sheet, "What changed");
	if (c->same_text)
		lm_wrapf(p->out, 2, 6, "the text of %s itself is the same in both", c->title);
	for (uint32_t i = 0; i < c->nr_resizes; i++)
		lm_wrap(p->out, 2, 6, resize_text(p, &c->resizes[i]));
	print_growth(p);
	if (c->same_text && !c->nr_resizes)
		lm_wrap(p->out, 2, 6, "something inside a member lies elsewhere now");
}

/* ---- configurations ---- */

static const char *arrow(const struct printer *p, uint64_t before, uint64_t after)
{
	if (before == after)
		return lm_arena_printf(p->arena, "%llu", (unsigned long long)before);
	return lm_arena_printf(p->arena, "%llu -> %llu", (unsigned long long)before, (unsigned long long)after);
}

static const char *gaps(const struct printer *p, const struct lm_view_figures *b, const struct lm_view_figures *a)
{
	const char *before = lm_arena_printf(p->arena, "%u (%llu)", b->holes, (unsigned long long)b->hole_bytes);
	const char *after = lm_arena_printf(p->arena, "%u (%llu)", a->holes, (unsigned long long)a->hole_bytes);

	return strcmp(before, after) ? lm_arena_printf(p->arena, "%s -> %s", before, after) : before;
}

static const char *costs(const struct printer *p, const struct lm_change_config *x)
{
	const char *before = lm_count(p->arena, x->before.transfers), *after = lm_count(p->arena, x->after.transfers);

	return strcmp(before, after) ? lm_arena_printf(p->arena, "%s -> %s", before, after) : before;
}

#define COLUMNS 6
static void print_configs(const struct printer *p)
{
	const struct lm_change *c = p->c;
	const char *(*cells)[COLUMNS] = lm_arena_array(p->arena, c->nr_configs + 1u, sizeof(*cells));

	lm_sheet_heading(&p->sheet, "Configurations");
	memcpy(cells[0], (const char *[]){ "", "bytes", "lines", "holes (bytes)", c->priced ? "expected transfers" : "", "" },
	       sizeof(*cells));
	for (uint32_t v = 0; v < c->nr_configs; v++) {
		const struct lm_change_config *x = &c->configs[v];

		memcpy(cells[v + 1], (const char *[]){
			x->name, arrow(p, x->before.size, x->after.size), arrow(p, x->before.lines, x->after.lines),
			gaps(p, &x->before, &x->after), c->priced ? costs(p, x) : "",
			!x->cmp.changed ? "unchanged" : c->priced ? lm_percent(p->arena, x->percent) : "",
		}, sizeof(*cells));
	}
	lm_sheet_table(&p->sheet, &cells[0][0], c->nr_configs + 1, COLUMNS);
	for (uint32_t v = 0; v < c->nr_configs; v++)
		if (*c->configs[v].spec)
			lm_wrapf(p->out, 2, 6, "%s is base with %s", c->configs[v].name, c->configs[v].spec);
}

/* ---- pairs ---- */

static void print_pair(const struct printer *p, uint32_t nr, const struct lm_change_pair *x, bool came)
{
	const struct lm_change *c = p->c;

	lm_sheet_painted(&p->sheet, came ? LM_RED : LM_GREEN, 2,
			 lm_arena_printf(p->arena, "%u. %s and %s%s", nr, x->a.leaf, x->b.leaf, where(p, x->configs)));
	lm_wrapf(p->out, 6, 10, "%sline %llu (%s%s): %s transfers more than if they were apart", came ? "" : "was: ",
		 (unsigned long long)x->line, x->config, c->base_fixed ? "" : AS_IF, lm_count(p->arena, x->excess));
	if (x->other_excess > 0)
		lm_wrapf(p->out, 6, 10, "%s: line mates too, %s transfers more", came ? "before" : "now",
			 lm_count(p->arena, x->other_excess));
	else
		lm_wrapf(p->out, 6, 10, "%s: %s and %s", came ? "before" : "now", x->other_a, x->other_b);
	if (x->inside)
		lm_wrapf(p->out, 6, 10, "both are inside %s: only its own place decides", x->inside);
	lm_sheet_side(&p->sheet, "", &x->a);
	lm_sheet_side(&p->sheet, "", &x->b);
}

static double difference(const struct lm_change_pair *rows, uint32_t nr, uint32_t i)
{
	return i < nr ? rows[i].excess - rows[i].other_excess : 0;
}

/* Rows are sorted: how many of them are worth a look?  Those that came explain added contention, however little. */
static uint32_t main_pairs(const struct printer *p, const struct lm_change_pair *rows, uint32_t nr)
{
	const struct lm_change *c = p->c;
	double came = difference(c->came, c->nr_came, 0), went = difference(c->went, c->nr_went, 0);
	bool own = rows == c->came && c->verdict == LM_CHANGE_ADDED;
	double least = SMALL_SHARE * (own || came > went ? came : went);
	uint32_t shown = 0;

	if (p->sheet.opts->verbose > 0)
		return nr;
	while (shown < nr && shown < PAIRS_SHOWN && difference(rows, nr, shown) >= least)
		shown++;
	return shown;
}

static void print_pairs(const struct printer *p, const char *heading, const struct lm_change_pair *rows, uint32_t nr,
			bool came)
{
	uint32_t shown = main_pairs(p, rows, nr);

	if (!shown)
		return;
	lm_sheet_heading(&p->sheet, heading);
	for (uint32_t i = 0; i < shown; i++)
		print_pair(p, i + 1, &rows[i], came);
	if (shown < nr)
		lm_str_addf(p->out, "  %u more that cost less: -v\n", nr - shown);
}

static void print_guesses(const struct printer *p)
{
	const struct lm_change *c = p->c;
	uint32_t shown = p->sheet.opts->verbose > 0 || c->nr_guesses < GUESSES_SHOWN ? c->nr_guesses : GUESSES_SHOWN;

	if (!c->nr_guesses)
		return;
	lm_sheet_heading(&p->sheet, "New line mates that look contended (a guess from types and names)");
	for (uint32_t i = 0; i < shown; i++) {
		const struct lm_change_guess *g = &c->guesses[i];

		lm_wrapf(p->out, 2, 6, "%s (%s: written?) and %s (%s: read?) on line %llu%s", g->written, g->why_written,
			 g->read, g->why_read, (unsigned long long)g->line, where(p, g->configs));
	}
	if (shown < c->nr_guesses)
		lm_str_addf(p->out, "  %u more: -v\n", c->nr_guesses - shown);
}

/* ---- members ---- */

static int64_t shift_of(const struct lm_comparison *cmp, const struct lm_compared *m)
{
	return (int64_t)(lm_change_offset(cmp->after, m->after) - lm_change_offset(cmp->before, m->before));
}

static const char *safe(const struct printer *p, const char *text)
{
	return lm_safe(p->arena, text);
}

/* "vmstats 880 -> 792" */
static void add_shift(const struct printer *p, const struct lm_comparison *cmp, const struct lm_compared *m,
		      struct lm_str *s)
{
	lm_str_addf(s, " %s %llu -> %llu", safe(p, m->name),
		    (unsigned long long)lm_change_offset(cmp->before, m->before),
		    (unsigned long long)lm_change_offset(cmp->after, m->after));
}

/* Runs of members that were shifted alike. */
static void print_shifted(const struct printer *p, const struct lm_comparison *cmp)
{
	struct lm_str s = { 0 };
	int64_t by = 0;

	for (uint32_t i = 0; i < cmp->nr_members; i++) {
		const struct lm_compared *m = &cmp->members[i];

		if (m->fate != LM_FATE_SHIFTED)
			continue;
		if (s.len && shift_of(cmp, m) != by) {
			lm_wrap(p->out, 2, 6, lm_str_text(&s));
			lm_str_clear(&s);
		}
		by = shift_of(cmp, m);
		if (s.len)
			lm_str_add_char(&s, ',');
		else
			lm_str_addf(&s, "shifted by %+lld byte%s:", (long long)by, by == 1 || by == -1 ? "" : "s");
		add_shift(p, cmp, m, &s);
	}
	if (s.len)
		lm_wrap(p->out, 2, 6, lm_str_text(&s));
	lm_str_release(&s);
}

static void print_added(const struct printer *p, const struct lm_record *rec, uint32_t field, const char *word)
{
	const struct lm_field *f = &rec->fields[field];
	uint64_t first, last;

	lm_field_lines(f, p->c->line, &first, &last);
	lm_wrapf(p->out, 2, 6, "%s: %s, %llu byte%s at %llu (line %llu)", word, safe(p, f->key),
		 (unsigned long long)f->size, plural(f->size), (unsigned long long)(f->bit_offset / 8),
		 (unsigned long long)first);
}

static void print_fates(const struct printer *p, const struct lm_comparison *cmp)
{
	for (uint32_t i = 0; i < cmp->nr_members; i++) {
		const struct lm_compared *m = &cmp->members[i];

		if (m->fate == LM_FATE_ADDED)
			print_added(p, cmp->after, m->after, "added");
		else if (m->fate == LM_FATE_REMOVED)
			print_added(p, cmp->before, m->before, "removed");
		else if (m->fate == LM_FATE_MOVED)
			lm_wrapf(p->out, 2, 6, "moved: %s %llu -> %llu", safe(p, m->name),
				 (unsigned long long)lm_change_offset(cmp->before, m->before),
				 (unsigned long long)lm_change_offset(cmp->after, m->after));
		if (m->was)
			lm_wrapf(p->out, 2, 6, "renamed: %s -> %s", safe(p, m->was), safe(p, m->name));
	}
	print_shifted(p, cmp);
}

/* "line mates that came (3): a with b, c; d with e" */
static void print_mates(const struct printer *p, const struct lm_comparison *cmp, const char *word,
			const struct lm_mates *mates, uint32_t nr)
{
	struct lm_str s = { 0 };

	if (!nr)
		return;
	lm_str_addf(&s, "line mates that %s (%u):", word, nr);
	for (uint32_t i = 0; i < nr; i++) {
		const char *a = safe(p, cmp->members[mates[i].a].name), *b = safe(p, cmp->members[mates[i].b].name);

		if (i && mates[i - 1].a == mates[i].a)
			lm_str_addf(&s, ", %s", b);
		else
			lm_str_addf(&s, "%s %s with %s", i ? ";" : "", a, b);
	}
	lm_wrap(p->out, 2, 6, lm_str_text(&s));
	lm_str_release(&s);
}

static void print_layout(const struct printer *p, uint32_t v)
{
	const struct lm_comparison *cmp = &p->c->configs[v].cmp;

	lm_sheet_heading(&p->sheet, lm_arena_printf(p->arena, "Members in %s (offset before -> after)", alike(p, v)));
	print_fates(p, cmp);
	print_mates(p, cmp, "came", cmp->came, cmp->nr_came);
	print_mates(p, cmp, "went", cmp->went, cmp->nr_went);
}

/* Those in which contention was added first: with many configurations, the others are much alike. */
static void print_layouts(const struct printer *p)
{
	const struct lm_change *c = p->c;
	uint32_t shown = 0, left = 0;

	for (int worse = 1; worse >= 0; worse--)
		for (uint32_t v = 0; v < c->nr_configs; v++) {
			const struct lm_change_config *x = &c->configs[v];

			if (x->same_as != v || !x->cmp.changed || (x->turn > 0) != worse)
				continue;
			if (shown++ < LAYOUTS_SHOWN || p->sheet.opts->verbose > 0)
				print_layout(p, v);
			else
				left++;
		}
	if (left)
		lm_str_addf(p->out, "\n%u more configuration%s with other offsets: -v\n", left, plural(left));
}

void lm_change_text(const struct lm_change *c, const struct lm_print_opts *opts, struct lm_str *out)
{
	struct lm_arena arena = { 0 };
	struct printer p = { .c = c, .sheet = { out, &arena, opts }, .arena = &arena, .out = out };

	print_verdict(&p);
	if (c->verdict != LM_CHANGE_NONE && opts->verbose >= 0) {
		print_causes(&p);
		print_configs(&p);
		print_pairs(&p, "Line mates that came and cost", c->came, c->nr_came, true);
		print_pairs(&p, "Line mates that went and had cost", c->went, c->nr_went, false);
		print_guesses(&p);
		print_layouts(&p);
	}
	lm_arena_release(&arena);
}

/* ---- in brief ---- */

static uint32_t count(const struct lm_comparison *cmp, enum lm_fate fate)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < cmp->nr_members; i++)
		nr += cmp->members[i].fate == fate;
	return nr;
}

static void add_count(struct lm_str *s, const struct lm_comparison *cmp, enum lm_fate fate, const char *word)
{
	uint32_t nr = count(cmp, fate);

	if (nr)
		lm_str_addf(s, "%s%u member%s %s", s->len ? ", " : "", nr, plural(nr), word);
}

/* Broken anew: this paragraph stands further in. */
static void brief_mates(const struct printer *p, const struct lm_comparison *cmp, unsigned indent)
{
	struct lm_str mates = { 0 };
	struct printer to = *p;

	to.out = &mates;
	print_mates(&to, cmp, "came", cmp->came, cmp->nr_came);
	for (size_t i = 0; i < mates.len; i++)
		mates.text[i] = mates.text[i] == '\n' ? ' ' : mates.text[i];
	if (mates.len)
		lm_wrap(p->out, indent + 2, indent + 6, mates.text + strspn(mates.text, " "));
	lm_str_release(&mates);
}

static void brief_config(const struct printer *p, uint32_t v, const char *list, unsigned indent)
{
	const struct lm_comparison *cmp = &p->c->configs[v].cmp;
	struct lm_str s = { 0 };

	add_count(&s, cmp, LM_FATE_ADDED, "added");
	add_count(&s, cmp, LM_FATE_REMOVED, "removed");
	add_count(&s, cmp, LM_FATE_MOVED, "moved");
	add_count(&s, cmp, LM_FATE_SHIFTED, "shifted");
	lm_wrapf(p->out, indent, indent + 4, "%s: %s bytes%s%s", list, arrow(p, cmp->before->size, cmp->after->size),
		 s.len ? "; " : "", lm_str_text(&s));
	lm_str_release(&s);
	brief_mates(p, cmp, indent);
}

void lm_change_brief(const struct lm_change *c, const struct lm_print_opts *opts, unsigned indent, struct lm_str *out)
{
	struct lm_arena arena = { 0 };
	struct printer p = { .c = c, .sheet = { out, &arena, opts }, .arena = &arena, .out = out };
	uint32_t left = 0;

	lm_sheet_painted(&p.sheet, c->verdict == LM_CHANGE_ADDED && c->priced ? LM_RED : LM_BOLD, indent, verdict(&p));
	for (uint32_t i = 0; i < c->nr_resizes; i++)
		lm_wrap(out, indent, indent + 4, resize_text(&p, &c->resizes[i]));
	for (uint32_t v = 0, shown = 0; v < c->nr_configs; v++) {
		if (c->configs[v].same_as != v || !c->configs[v].cmp.changed)
			continue;
		if (shown++ < LAYOUTS_SHOWN || opts->verbose > 0)
			brief_config(&p, v, alike(&p, v), indent);
		else
			left++;
	}
	if (left)
		lm_wrapf(out, indent, indent, "%u more configuration%s with other offsets: -v", left, plural(left));
	for (uint32_t i = 0, nr = main_pairs(&p, c->came, c->nr_came); i < nr && i < BRIEF_PAIRS; i++)
		lm_wrapf(out, indent, indent + 4, "came: %s and %s on line %llu (%s), %s transfers", c->came[i].a.leaf,
			 c->came[i].b.leaf, (unsigned long long)c->came[i].line, c->came[i].configs,
			 lm_count(&arena, c->came[i].excess - c->came[i].other_excess));
	lm_arena_release(&arena);
}
