/* page_facts.c - the page: the tables behind the picture. */
#include "output/page.h"
#include "output/words.h"

#include <string.h>

#define SITES_SHOWN 3

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static const char *whole(const struct lm_page *p, uint64_t n)
{
	return lm_arena_printf(p->arena, "%llu", (unsigned long long)n);
}

/* ---- configurations ---- */

static const char *holes(const struct lm_page *p, const struct lm_view_figures *f)
{
	return lm_arena_printf(p->arena, "%u (%llu bytes)", f->holes, (unsigned long long)f->hole_bytes);
}

static void transfers(const struct lm_page *p, double before, double after, double percent)
{
	lm_html(p->out, "<td class=\"num\">%s",
		lm_page_change(p, lm_count(p->arena, before), lm_count(p->arena, after)));
	if (p->rows->moved)
		lm_html(p->out, " <b class=\"%s\">%s</b>", percent < 0 ? "good" : "", lm_percent(p->arena, percent));
	lm_str_add(p->out, "</td>");
}

static void config_row(const struct lm_page *p, const struct lm_row_config *c)
{
	const struct lm_view_figures *b = c->before, *a = c->after;

	lm_html(p->out, "<tr><th scope=\"row\"><code>%s</code>", c->name);
	lm_page_spec(p, c->spec_is_name ? "" : c->spec);
	lm_str_add(p->out, "</th>");
	lm_page_number(p, lm_page_change(p, whole(p, b->size), whole(p, a->size)));
	lm_page_number(p, lm_page_change(p, whole(p, b->lines), whole(p, a->lines)));
	lm_page_number(p, lm_page_change(p, holes(p, b), holes(p, a)));
	lm_page_number(p, lm_page_change(p, whole(p, b->tail_bytes), whole(p, a->tail_bytes)));
	transfers(p, b->transfers, a->transfers, c->percent);
	transfers(p, b->transfers_double, a->transfers_double, c->percent_double);
	lm_str_add(p->out, "</tr>\n");
}

/* In the words of the text report: sentences, not figures. */
static void derived(const struct lm_page *p)
{
	struct lm_print_opts opts = { .verbose = 1 };
	struct lm_str words = { 0 };

	if (!p->story->derived)
		return;
	lm_derived_report(p->story->derived, &opts, &words);
	lm_str_add(p->out, "<details><summary>How they were derived</summary>\n<pre class=\"words\">");
	lm_html_bytes(p->out, lm_str_text(&words), words.len);
	lm_str_add(p->out, "</pre></details>\n");
	lm_str_release(&words);
}

void lm_page_configs(const struct lm_page *p)
{
	uint32_t line = p->story->opts->line;

	lm_str_add(
		p->out,
		"<section id=\"configs\" aria-labelledby=\"configs-h\">\n<h2 id=\"configs-h\">Configurations</h2>\n");
	lm_page_table_begin(p, "Configurations", LM_HEADS("Configuration", "Bytes", "Lines", "Holes", "Tail bytes",
			    lm_arena_printf(p->arena, "Transfers, %u-byte lines", line),
			    lm_arena_printf(p->arena, "%u-byte lines", 2 * line)));
	for (uint32_t v = 0; v < p->rows->nr_views; v++)
		config_row(p, &p->rows->configs[v]);
	lm_page_table_end(p);
	derived(p);
	lm_str_add(p->out, "</section>\n");
}

/* ---- what is left ---- */

static void shared(const struct lm_page *p)
{
	const struct lm_rows *rows = p->rows;

	lm_str_add(p->out, "<h3>True sharing (base)</h3>\n");
	if (!rows->nr_shared) {
		lm_str_add(p->out, "<p>None: no single field is contended.</p>\n");
		return;
	}
	lm_html(p->out,
		"<p>%s of %s transfers (%s%.0f %%) are contention inside single members, which no order of members "
		"removes. It takes another data structure: per-CPU counters, or striping.</p>\n",
		lm_count(p->arena, rows->shared_transfers), lm_count(p->arena, rows->configs[0].after->transfers),
		rows->shared_percent > 99.5 && rows->shared_percent < 100 ? "nearly " : "", rows->shared_percent);
	lm_page_table_begin(p, "True sharing", LM_HEADS("Member", "Transfers", "Reads", "Writes", "Touched by"));
	for (uint32_t i = 0; i < rows->nr_shared; i++) {
		const struct lm_row_shared *s = &rows->shared[i];

		lm_html(p->out, "<tr><th scope=\"row\"><code>%s</code></th>", s->side.leaf);
		lm_page_number(p, lm_count(p->arena, s->transfers));
		lm_page_number(p, lm_count(p->arena, s->side.reads));
		lm_page_number(p, lm_count(p->arena, s->side.writes));
		lm_str_add(p->out, "<td>");
		lm_page_sites(p, &s->side, SITES_SHOWN);
		lm_str_add(p->out, "</td></tr>\n");
	}
	lm_page_table_end(p);
}

static void stability(const struct lm_page *p)
{
	const struct lm_rows *rows = p->rows;

	if (!rows->story->plan->stability.perturbations)
		return;
	lm_html(p->out,
		"<h3>Stability</h3>\n<p>With one nested record or array at a time made up to 32 bytes smaller or 64 "
		"bytes larger (%s such changes%s), a separated pair is on one line in <b>%.1f %%</b> with the old "
		"order, in <b>%.1f %%</b> with the new one.</p>\n",
		lm_count(p->arena, (double)rows->story->plan->stability.perturbations),
		rows->nr_views > 1 ? " over all configurations" : "", rows->meet_before, rows->meet_after);
}

static void allocator(const struct lm_page *p)
{
	const struct lm_rows *rows = p->rows;
	bool same = true;

	if (!p->story->kernel)
		return;
	lm_str_add(p->out, "<h3>Allocator</h3>\n<ul>\n");
	for (uint32_t v = 0; v < rows->nr_views; v++) {
		const struct lm_row_config *c = &rows->configs[v];

		same = same && c->same_step;
		if (!c->same_step)
			lm_html(p->out, "<li><code>%s</code>: %s \u2192 %s</li>\n", c->name, c->step_before,
				c->step_after);
	}
	if (same)
		lm_html(p->out, "<li>unchanged%s; base, by sizeof: %s</li>\n",
			rows->nr_views > 1 ? " in every configuration" : "", rows->configs[0].step_after);
	lm_str_add(p->out, "</ul>\n");
}

/* What holds the record by value. */
static void users(const struct lm_page *p)
{
	const struct lm_users *users = p->story->users;
	size_t nr = 0;

	for (uint32_t v = 0; users && v < p->rows->nr_views; v++)
		nr += users[v].nr;
	if (!nr)
		return;
	lm_str_add(p->out, "<h3>Records that hold it</h3>\n");
	lm_page_table_begin(p, "Records that hold it", LM_HEADS("Record", "Configuration", "Bytes"));
	for (uint32_t v = 0; v < p->rows->nr_views; v++)
		for (size_t i = 0; i < users[v].nr; i++) {
			lm_html(p->out, "<tr><th scope=\"row\"><code>%s</code></th><td><code>%s</code></td>", users[v].rows[i].name,
				p->rows->configs[v].name);
			lm_page_number(p, lm_page_change(p, whole(p, users[v].rows[i].before), whole(p, users[v].rows[i].after)));
			lm_str_add(p->out, "</tr>\n");
		}
	lm_page_table_end(p);
}

void lm_page_rest(const struct lm_page *p)
{
	lm_html(p->out, "<section id=\"rest\" aria-labelledby=\"rest-h\">\n<h2 id=\"rest-h\">%s</h2>\n",
		p->rows->moved ? "What is left" : "What there is");
	shared(p);
	if (p->rows->moved) {
		if (!p->rows->nr_new_pairs)
			lm_str_add(p->out, "<h3>New line mates that fight</h3>\n<p>None.</p>\n");
		stability(p);
		allocator(p);
		users(p);
	}
	lm_str_add(p->out, "</section>\n");
}

/* ---- evidence ---- */

static void fact(const struct lm_page *p, const char *what, const char *text)
{
	lm_html(p->out, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", what, text);
}

static void profile_facts(const struct lm_page *p)
{
	const struct lm_story *s = p->story;
	const struct lm_usage *u = s->usage;

	for (size_t i = 0; i < s->nr_profiles; i++)
		fact(p, "Profile", s->profiles[i]);
	for (uint32_t i = 0; u->accesses->events && i < lm_strings_nr(u->accesses->events); i++)
		fact(p, "Event", lm_strings_get(u->accesses->events, i));
	fact(p, "Evidence",
	     lm_arena_printf(p->arena, "%s: %s", lm_evidence_word(u->worst), lm_evidence_text(u->worst)));
	if (u->cpus_assumed)
		fact(p, "CPUs",
		     lm_arena_printf(p->arena, "the profile names none; rates were split evenly over %u", u->nr_cpus));
	else
		fact(p, "CPUs", whole(p, u->nr_cpus));
	if (u->nr_objects > 1)
		fact(p, "Objects", lm_arena_printf(p->arena, "%u, which share no line", u->nr_objects));
	if (u->absent)
		fact(p, "Not in base",
		     lm_arena_printf(p->arena,
				     "%s accesses are to members that base does not have; they count "
				     "where they exist",
				     lm_count(p->arena, (double)u->absent)));
	if (s->by_offset)
		fact(p, "Binding",
		     "data addresses became members by their offset in the base configuration: it must be the one of "
		     "the profiled program, or members are wrong (--binary checks it)");
}

static void check_facts(const struct lm_page *p)
{
	const struct lm_story *s = p->story;
	const struct lm_verified *v = s->verified;

	fact(p, "Placement", p->rows->base_promise);
	fact(p, "Model",
	     "accesses are taken as independent in time, so that what is written under one lock is overstated; nothing "
	     "is said of throughput");
	if (s->binary)
		fact(p, "Binary",
		     lm_arena_printf(p->arena, "%s, build id %s: its %s is the one of the header", s->binary,
				     s->build_id && *s->build_id ? s->build_id : "none", s->record));
	if (!v)
		return;
	fact(p, "Verified",
	     lm_arena_printf(p->arena,
			     "the new header was parsed again in %u configuration%s and compiled with %s "
			     "(%u compilation%s); every offset in the debug info is the planned one",
			     p->rows->nr_views, plural(p->rows->nr_views), v->compilers, v->nr_compilations,
			     plural(v->nr_compilations)));
	for (uint32_t i = 0; i < v->nr_unspoken; i++)
		fact(p, "Not compiled", lm_arena_printf(p->arena, "configuration %s with %s: %s", v->unspoken[i].config,
							v->unspoken[i].compiler, v->unspoken[i].why));
	if (v->missing)
		fact(p, "Not verified", lm_arena_printf(p->arena, "with %s: it is not installed", v->missing));
}

static void sample_row(const struct lm_page *p, const char *what, uint64_t nr)
{
	lm_html(p->out, "<tr><th scope=\"row\">%s</th><td class=\"num\">%s</td></tr>\n", what,
		lm_count(p->arena, (double)nr));
}

/* Every sample or line that was read, used or not, with the reason. */
static void samples(const struct lm_page *p)
{
	const struct lm_accesses *t = p->story->usage->accesses;
	const struct lm_attribution *a = p->story->attribution;

	lm_str_add(p->out, "<h3>Samples or lines, used and dropped</h3>\n");
	lm_page_table_begin(p, "Samples used and dropped", LM_HEADS("What became of them", "How many"));
	sample_row(p, "read", t->samples);
	sample_row(p, "used", t->used);
	for (unsigned d = 0; d < LM_NR_DROPS; d++)
		if (t->drops[d])
			sample_row(p, lm_arena_printf(p->arena, "dropped: %s", lm_drop_text((enum lm_drop)d)),
				   t->drops[d]);
	if (t->samples == t->used)
		sample_row(p, "dropped", 0);
	if (t->unknown_op)
		sample_row(p, "used, but did not say whether they read or wrote: taken as reads", t->unknown_op);
	if (t->unknown_element)
		sample_row(p, "used, but which element of an array they touched is not known: spread evenly over all",
			   t->unknown_element);
	for (int o = 0; a && o < LM_NR_OUTCOMES; o++)
		if (a->count[o])
			sample_row(p, lm_arena_printf(p->arena, "attributed by the program's code: %s",
						      lm_outcome_text((enum lm_outcome)o)), a->count[o]);
	lm_page_table_end(p);
}

static void rules(const struct lm_page *p)
{
	const struct lm_rows *rows = p->rows;
	const struct lm_rules *notes = p->story->rules;

	lm_str_add(p->out, "<h3>Rules that bind members</h3>\n");
	if (!rows->nr_rules)
		lm_str_add(p->out, "<p>None.</p>\n");
	lm_str_add(p->out, rows->nr_rules ? "<ul>\n" : "");
	for (uint32_t i = 0; i < rows->nr_rules; i++) {
		const struct lm_row_rule *r = &rows->rules[i];

		lm_html(p->out, "<li><code>%s</code>", r->unit);
		if (r->other)
			lm_html(p->out, " and <code>%s</code>", r->other);
		lm_html(p->out, " %s%s%s</li>\n", r->text, *r->because ? "; " : "", r->because);
	}
	lm_str_add(p->out, rows->nr_rules ? "</ul>\n" : "");
	for (uint32_t i = 0; i < notes->nr_notes; i++)
		lm_html(p->out, "<p class=\"note\">Note: %s</p>\n", notes->notes[i]);
}

void lm_page_evidence(const struct lm_page *p)
{
	lm_str_add(p->out,
		   "<section id=\"evidence\" aria-labelledby=\"evidence-h\">\n<h2 id=\"evidence-h\">Evidence</h2>\n");
	lm_page_table_begin(p, "Evidence", LM_HEADS("What", "Fact"));
	profile_facts(p);
	check_facts(p);
	lm_page_table_end(p);
	samples(p);
	rules(p);
	lm_str_add(p->out, "</section>\n");
}
