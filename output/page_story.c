/* page_story.c - the page: what is wrong, what moves, what it brings. */
#include "output/page.h"
#include "output/words.h"

#include <string.h>

#define SITES_SHOWN 3

/* ---- the verdict ---- */

static void tile(const struct lm_page *p, const char *what, const char *figure, const char *more)
{
	lm_html(p->out, "<div><dt>%s</dt><dd><b>%s</b> <span>%s</span></dd></div>\n", what, figure, more);
}

/* A change that saves bytes, not transfers. */
static void given_back(const struct lm_page *p)
{
	const struct lm_row_config *base = &p->rows->configs[0];
	uint64_t lines = base->before->lines - base->after->lines;

	lm_html(p->out, "<p>It gives %llu bytes back (%llu line%s of %u) and costs no more transfers. For transfers alone no "
		"change is worth making: %s.</p>\n", (unsigned long long)(base->before->size - base->after->size),
		(unsigned long long)lines, lines == 1 ? "" : "s", p->story->opts->line, lm_kept_text(p->story->plan->kept));
}

/* The point of the curve that this patch is; NULL if none is marked. */
static const struct lm_row_point *chosen(const struct lm_rows *rows)
{
	for (uint32_t i = 0; i < rows->nr_curve; i++)
		if (rows->curve[i].chosen)
			return &rows->curve[i];
	return NULL;
}

static void size_tile(const struct lm_page *p)
{
	const struct lm_rows *rows = p->rows;
	uint32_t grown = 0, shrunk = 0;

	for (uint32_t v = 0; v < rows->nr_views; v++) {
		grown += rows->configs[v].after->size > rows->configs[v].before->size;
		shrunk += rows->configs[v].after->size < rows->configs[v].before->size;
	}
	tile(p, "Size", grown ? "grows" : shrunk ? "shrinks" : "unchanged",
	     rows->nr_views == 1 ? "in the one configuration given"
				 : lm_arena_printf(p->arena, "in %s%u configurations",
						   grown || shrunk ? "some of " : "all ", rows->nr_views));
}

static void tiles(const struct lm_page *p)
{
	const struct lm_rows *rows = p->rows;
	const struct lm_row_point *point = chosen(rows);

	lm_str_add(p->out, "<dl class=\"tiles\">\n");
	tile(p, "Expected transfers", lm_percent(p->arena, rows->percent),
	     lm_arena_printf(p->arena, "%s \u2192 %s", lm_count(p->arena, p->story->plan->transfers_before),
			     lm_count(p->arena, p->story->plan->transfers_after)));
	if (rows->nr_moved)
		tile(p, "Members moved", lm_arena_printf(p->arena, "%u", rows->nr_moved),
		     lm_arena_printf(p->arena, "of %u%s", rows->nr_units,
				     rows->nr_barriers ? ", and line starts forced" : ""));
	else
		tile(p, "Line starts forced", lm_arena_printf(p->arena, "%u", rows->nr_barriers), "no member moves");
	size_tile(p);
	if (point && point->percent >= 0)
		tile(p, "Of the possible gain", lm_arena_printf(p->arena, "%.1f %%", point->percent),
		     p->story->plan->bound > 0 ? "as far as the bound tells" : "of the best order seen");
	lm_str_add(p->out, "</dl>\n");
}

void lm_page_verdict(const struct lm_page *p)
{
	const struct lm_rows *rows = p->rows;

	lm_html(p->out,
		"<header>\n<p class=\"kicker\">linemate report</p>\n<h1><code>%s</code></h1>\n<p "
		"class=\"path\"><code>%s</code></p>\n",
		p->story->record, p->story->header);
	if (rows->moved)
		lm_html(p->out, "<p class=\"verdict\">Patch: %s.</p>\n", lm_rows_what_to_do(rows, p->arena));
	else
		lm_html(p->out, "<p class=\"verdict\">No change worth making: %s.</p>\n",
			lm_kept_text(p->story->plan->kept));
	if (p->story->plan->for_size)
		given_back(p);
	if (rows->moved)
		tiles(p);
	else
		lm_html(p->out, "<p>Expected transfers: %s%s.</p>\n",
			lm_count(p->arena, p->story->plan->transfers_before),
			rows->nr_views > 1 ? lm_arena_printf(p->arena, " over %u configurations", rows->nr_views) : "");
	lm_html(p->out,
		"<p class=\"note\">A transfer is one cache line of %u bytes moved between CPUs, as this profile's "
		"accesses let expect%s.%s</p>\n</header>\n",
		p->story->opts->line,
		rows->sampled ? "; they were sampled, so figures are in samples and only their proportions count" : "",
		rows->nr_views > 1 ? lm_arena_printf(p->arena, " Sums are over %u configurations.", rows->nr_views)
				   : "");
}

/* ---- pairs ---- */

static void pair_side(const struct lm_page *p, const struct lm_row_side *side)
{
	lm_html(p->out,
		"<div class=\"half\"><h4><code>%s</code></h4><p><b class=\"w\">%s</b> writes, <b class=\"r\">%s</b> "
		"reads</p>",
		side->leaf, lm_count(p->arena, side->writes), lm_count(p->arena, side->reads));
	lm_page_sites(p, side, SITES_SHOWN);
	lm_str_add(p->out, "</div>\n");
}

static const char *fate(const struct lm_page *p, const struct lm_row_pair *pair)
{
	bool many = p->rows->nr_views > 1;

	if (!pair->apart)
		return lm_arena_printf(p->arena, "After: still line mates%s%s.", many ? " in " : "", many ? pair->together : "");
	return lm_arena_printf(p->arena, "After: apart%s, %lld bytes of slack.", many ? " in every configuration" : "",
			       (long long)pair->slack);
}

static void pair_card(const struct lm_page *p, const struct lm_row_pair *pair, const char *badge, bool with_fate)
{
	lm_html(p->out,
		"<article class=\"pair\">\n<h3><span class=\"badge\">%s</span> <code>%s</code> and "
		"<code>%s</code></h3>\n",
		badge, pair->a.leaf, pair->b.leaf);
	lm_html(p->out, "<p>On line %llu (%s%s) they cost <b>%s transfers</b> more than if they were apart.",
		(unsigned long long)pair->line, pair->config,
		p->story->plan->base_fixed ? "" : ", if the object starts on a line", lm_count(p->arena, pair->excess));
	if (pair->inside)
		lm_html(p->out,
			" Both are inside <code>%s</code>: only its own place decides, not the order around it.",
			pair->inside);
	if (with_fate)
		lm_html(p->out, " <b class=\"%s\">%s</b>", pair->apart ? "good" : "stays", fate(p, pair));
	lm_str_add(p->out, "</p>\n<div class=\"halves\">\n");
	pair_side(p, &pair->a);
	pair_side(p, &pair->b);
	lm_str_add(p->out, "</div>\n</article>\n");
}

static void small_pairs(const struct lm_page *p, uint32_t from)
{
	const struct lm_rows *rows = p->rows;

	if (from >= rows->nr_pairs)
		return;
	lm_html(p->out, "<details><summary>%u more that cost%s less</summary>\n", rows->nr_pairs - from,
		rows->nr_pairs - from == 1 ? "s" : "");
	lm_page_table_begin(p, "Line mates that cost less",
			    rows->moved ? LM_HEADS("Written", "Its line mate", "Line", "Transfers", "After") :
					  LM_HEADS("Written", "Its line mate", "Line", "Transfers"));
	for (uint32_t i = from; i < rows->nr_pairs; i++) {
		const struct lm_row_pair *pair = &rows->pairs[i];

		lm_html(p->out, "<tr><th scope=\"row\"><code>%s</code></th><td><code>%s</code></td>", pair->a.leaf,
			pair->b.leaf);
		lm_page_number(p, lm_arena_printf(p->arena, "%llu (%s)", (unsigned long long)pair->line, pair->config));
		lm_page_number(p, lm_count(p->arena, pair->excess));
		if (rows->moved)
			lm_html(p->out, "<td>%s</td>", pair->apart ? "apart" : "still line mates");
		lm_str_add(p->out, "</tr>\n");
	}
	lm_page_table_end(p);
	lm_str_add(p->out, "</details>\n");
}

static const char *place(const struct lm_page *p, const char *in_front)
{
	return in_front ? lm_arena_printf(p->arena, "behind %s", in_front) : "the start";
}

static void moves(const struct lm_page *p)
{
	const struct lm_rows *rows = p->rows;

	lm_str_add(p->out, "<h3>What moves</h3>\n<ul class=\"moves\">\n");
	for (uint32_t i = 0; i < rows->nr_moves; i++) {
		const struct lm_row_move *m = &rows->moves[i];

		if (m->stays)
			lm_html(p->out, "<li><code>%s</code> stays %s and starts a line now (barrier)", m->unit,
				place(p, m->from));
		else
			lm_html(p->out, "<li><code>%s</code> goes from %s to %s%s", m->unit, place(p, m->from),
				place(p, m->to), m->barrier ? ", onto the start of a line (barrier)" : "");
		for (uint32_t j = 0; j < m->nr_pairs; j++)
			if (m->pairs[j] < rows->nr_main_pairs)
				lm_html(p->out, "%s pair %u", j ? " and" : "; it parts", m->pairs[j] + 1);
		lm_str_add(p->out, "</li>\n");
	}
	for (uint32_t i = 0; i < rows->nr_shift_pairs; i++)
		if (rows->shift_pairs[i] < rows->nr_main_pairs)
			lm_html(p->out, "<li>what they shift parts pair %u</li>\n", rows->shift_pairs[i] + 1);
	if (p->story->rewrite && p->story->rewrite->nr_asserts)
		lm_html(p->out, "<li>%u assertion%s behind the record: true in the configurations below; no other was compiled</li>\n",
			p->story->rewrite->nr_asserts, p->story->rewrite->nr_asserts == 1 ? "" : "s");
	lm_str_add(p->out, "</ul>\n");
}

void lm_page_pairs(const struct lm_page *p)
{
	const struct lm_rows *rows = p->rows;

	lm_html(p->out, "<section id=\"pairs\" aria-labelledby=\"pairs-h\">\n<h2 id=\"pairs-h\">%s</h2>\n",
		rows->moved ? "Line mates that cost most, before" : "Line mates that cost most");
	if (!rows->nr_pairs)
		lm_str_add(p->out, "<p>None: no two members of one line fight.</p>\n");
	for (uint32_t i = 0; i < rows->nr_main_pairs; i++)
		pair_card(p, &rows->pairs[i], lm_arena_printf(p->arena, "%u", i + 1), rows->moved);
	small_pairs(p, rows->nr_main_pairs);
	if (rows->moved)
		moves(p);
	if (rows->moved && rows->nr_new_pairs) {
		lm_str_add(p->out, "<h3>New line mates that fight</h3>\n");
		for (uint32_t i = 0; i < rows->nr_new_pairs; i++)
			pair_card(p, &rows->new_pairs[i], lm_arena_printf(p->arena, "N%u", i + 1), false);
	}
	lm_str_add(p->out, "</section>\n");
}

/* ---- the diff ---- */

static const char *line_class(const char *line, size_t len)
{
	if (!strncmp(line, "diff ", 5) || !strncmp(line, "index ", 6) || !strncmp(line, "--- ", 4) ||
	    !strncmp(line, "+++ ", 4))
		return "file";
	if (!strncmp(line, "@@", 2))
		return "hunk";
	return !len ? "" : line[0] == '+' ? "add" : line[0] == '-' ? "del" : "";
}

/* The bytes of the diff as they are, whatever they are, to be saved by the browser. */
static void diff_link(const struct lm_page *p)
{
	const char *name = strrchr(p->story->record, ' ') ? strrchr(p->story->record, ' ') + 1 : p->story->record;

	lm_str_add(p->out, "<p><a class=\"save\" download=\"");
	lm_html(p->out, "%s.patch\" href=\"data:text/x-patch,", name);
	for (size_t i = 0; i < p->story->diff_len; i++) {
		unsigned char c = (unsigned char)p->story->diff[i];

		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
			lm_str_add_char(p->out, (char)c);
		else
			lm_str_addf(p->out, "%%%02X", c);
	}
	lm_html(p->out, "\">Save %s.patch</a> for <code>git apply</code> or <code>patch -p1</code>.</p>\n", name);
}

void lm_page_diff(const struct lm_page *p)
{
	const char *line = p->story->diff, *end = line ? line + p->story->diff_len : NULL;

	if (!line)
		return;
	lm_str_add(p->out, "<section id=\"patch\" aria-labelledby=\"patch-h\">\n<h2 id=\"patch-h\">The patch</h2>\n");
	diff_link(p);
	lm_str_add(p->out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Unified diff\"><pre "
			   "class=\"diff\">");
	while (line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t len = (size_t)((stop ? stop : end) - line);

		lm_html(p->out, "<span class=\"%s\">", line_class(line, len));
		lm_html_bytes(p->out, line, len);
		lm_str_add(p->out, "\n</span>");
		line += len + (stop != NULL);
	}
	lm_str_add(p->out, "</pre></div>\n</section>\n");
}

/* ---- the curve ---- */

/* Per cent of the plot's height; the top is the dearest order. */
static double height(const struct lm_page *p, double transfers)
{
	double top = 0;

	for (uint32_t i = 0; i < p->rows->nr_curve; i++)
		top = p->rows->curve[i].transfers > top ? p->rows->curve[i].transfers : top;
	return top > 0 ? 100 * transfers / top : 0;
}

static double across(const struct lm_page *p, uint32_t i)
{
	return 100 * (i + 0.5) / p->rows->nr_curve;
}

/* The line is stretched to the width there is; points and words are not, so they are no part of the drawing. */
static void plot(const struct lm_page *p)
{
	const struct lm_rows *rows = p->rows;
	const struct lm_plan *plan = p->story->plan;

	lm_str_add(
		p->out,
		"<div class=\"plot\" role=\"img\" aria-label=\"Expected transfers by number of moves; the table below "
		"has the same figures\">\n<svg viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" "
		"aria-hidden=\"true\">");
	if (rows->gap_percent >= 0)
		lm_html(p->out,
			"<rect class=\"floor\" x=\"0\" y=\"%.2f\" width=\"100\" height=\"%.2f\"/><line class=\"bound\" "
			"x1=\"0\" x2=\"100\" y1=\"%.2f\" y2=\"%.2f\"/>",
			100 - height(p, plan->bound), height(p, plan->bound), 100 - height(p, plan->bound),
			100 - height(p, plan->bound));
	lm_str_add(p->out, "<polyline points=\"");
	for (uint32_t i = 0; i < rows->nr_curve; i++)
		lm_html(p->out, "%.2f,%.2f ", across(p, i), 100 - height(p, rows->curve[i].transfers));
	lm_str_add(p->out, "\"/></svg>\n");
	if (rows->gap_percent >= 0)
		lm_html(p->out,
			"<span class=\"floor-word\" style=\"bottom:%.2f%%\">no order costs less than %s%s</span>\n",
			height(p, plan->bound), lm_count(p->arena, plan->bound), plan->bound_proven ? " (proven)" : "");
	for (uint32_t i = 0; i < rows->nr_curve; i++) {
		const struct lm_row_point *c = &rows->curve[i];

		lm_html(p->out, "<span class=\"dot%s\" style=\"left:%.2f%%;bottom:%.2f%%\"></span>",
			c->chosen ? " chosen" : "", across(p, i), height(p, c->transfers));
		lm_html(p->out, "<span class=\"value\" style=\"left:%.2f%%;bottom:%.2f%%\">%s</span>", across(p, i),
			height(p, c->transfers), lm_count(p->arena, c->transfers));
		lm_html(p->out, "<span class=\"tick\" style=\"left:%.2f%%;width:%.2f%%\">%s", across(p, i),
			100.0 / rows->nr_curve, lm_row_point_name(c, p->arena));
		lm_str_add(p->out, !c->chosen ? "" : rows->moved ? "<b>this patch</b>" : "<b>kept</b>");
		lm_str_add(p->out, "</span>\n");
	}
	lm_str_add(p->out, "</div>\n");
}

static void curve_table(const struct lm_page *p)
{
	const struct lm_rows *rows = p->rows;

	lm_page_table_begin(p, "What more or fewer moves would bring",
			    LM_HEADS("Order", "Transfers", "Of the possible gain", "Under change"));
	for (uint32_t i = 0; i < rows->nr_curve; i++) {
		const struct lm_row_point *c = &rows->curve[i];

		lm_str_add(p->out, c->chosen ? "<tr class=\"chosen\">" : "<tr>");
		lm_html(p->out, "<th scope=\"row\">%s%s</th>", lm_row_point_name(c, p->arena),
			!c->chosen ? "" : rows->moved ? " (this patch)" : " (kept)");
		lm_page_number(p, lm_count(p->arena, c->transfers));
		lm_page_number(p, c->percent < 0 ? "?" : lm_arena_printf(p->arena, "%.1f %%", c->percent));
		lm_page_number(p, c->under_change < 0 ? "breaks a rule" : lm_count(p->arena, c->under_change));
		lm_str_add(p->out, "</tr>\n");
	}
	lm_page_table_end(p);
}

void lm_page_curve(const struct lm_page *p)
{
	const struct lm_rows *rows = p->rows;

	if (rows->nr_curve < 2)
		return;
	lm_str_add(p->out, "<section id=\"curve\" aria-labelledby=\"curve-h\">\n"
			   "<h2 id=\"curve-h\">What more or fewer moves would bring</h2>\n");
	plot(p);
	curve_table(p);
	lm_str_add(p->out, "<p class=\"note\">Under change: the mean when nested records and arrays grow or shrink a "
			   "little; orders "
			   "are chosen by it.");
	if (rows->gap_percent >= 0)
		lm_html(p->out, " No order that keeps the rules costs less than %s (%s); gap: %.1f %%.",
			lm_count(p->arena, p->story->plan->bound), p->story->plan->bound_proven ? "proven" :
			"a valid bound, but the search for a better one was cut short", rows->gap_percent);
	if (p->story->plan->exhaustive)
		lm_str_add(p->out, " Every order was tried: none that keeps the rules is better than the last.");
	else if (rows->gap_percent < 0)
		lm_str_add(p->out, " No bound was found: the last point is the best order seen, not proven best.");
	lm_str_add(p->out, "</p>\n</section>\n");
}
