/* page_picture.c - the page: the cache lines as rows, and the same as a table of fields. */
#include "output/page.h"
#include "output/words.h"

#include <string.h>

/* Rows of lines over all pictures of a page: what keeps a page of many configurations small. */
#define ROWS_OF_LINES 1600
#define MOST_LINES 300
#define LEAST_LINES 24
/* Fields with all their functions, over all tables; in larger pages each names fewer. */
#define FIELDS_IN_FULL 500
#define SITES_IN_FULL 6
#define SITES_IN_SHORT 2

struct side_words {
	char letter;		/* 'b' or 'a': part of ids */
	const char *word;
	bool is_after;
};

/* ---- words ---- */

/* "17", or "17-19" for a field on several lines. */
static const char *lines(const struct lm_page *p, uint64_t first, uint64_t last)
{
	if (first == last)
		return lm_arena_printf(p->arena, "%llu", (unsigned long long)first);
	return lm_arena_printf(p->arena, "%llu-%llu", (unsigned long long)first, (unsigned long long)last);
}

static const char *whole(const struct lm_page *p, uint64_t n)
{
	return lm_arena_printf(p->arena, "%llu", (unsigned long long)n);
}

static const char *name_of(const struct lm_show_field *show)
{
	return *show->name ? show->name : "(unnamed)";
}

/* The number on a pair's members: as in the list of pairs. */
static const char *badge(const struct lm_page *p, const struct lm_pic_pair *pair)
{
	return lm_arena_printf(p->arena, "%s%u", pair->fresh ? "N" : "", pair->pair + 1);
}

static const struct lm_row_pair *row_of(const struct lm_page *p, const struct lm_pic_pair *pair)
{
	return pair->fresh ? &p->rows->new_pairs[pair->pair] : &p->rows->pairs[pair->pair];
}

/* ---- one line ---- */

static double percent(const struct lm_picture *pic, uint32_t bits)
{
	return 100.0 * bits / (8.0 * pic->line);
}

static void span(const struct lm_page *p, const struct lm_picture *pic, uint32_t begin, uint32_t end)
{
	lm_html(p->out, "style=\"left:%.3f%%;width:%.3f%%\"", percent(pic, begin), percent(pic, end - begin));
}

static bool is_of(const struct lm_pic_pair *pair, uint32_t field)
{
	return pair->field_a == field || pair->field_b == field;
}

/* For who does not see the picture: all of it in words. */
static void cell_words(const struct lm_page *p, const struct lm_picture *pic, const struct side_words *side,
		       const struct lm_pic_side *drawn, const struct lm_pic_field *f)
{
	const struct lm_show_field *show = f->show;
	uint64_t line = side->is_after ? f->line_after : f->line_before,
		 last = side->is_after ? f->last_after : f->last_before;

	lm_html(p->out, " aria-label=\"%s, line %s, %s, %s", name_of(show), lines(p, line, last),
		lm_page_times(p, show->reads, "read"), lm_page_times(p, show->writes, "write"));
	if (p->rows->moved && f->line_before != f->line_after)
		lm_html(p->out, side->is_after ? ", came from line %s" : ", goes to line %s",
			lines(p, side->is_after ? f->line_before : f->line_after,
			      side->is_after ? f->last_before : f->last_after));
	for (uint32_t i = 0; i < drawn->nr_pairs; i++)
		if (is_of(&drawn->pairs[i], (uint32_t)(f - pic->fields)))
			lm_html(p->out, ", of pair %s", badge(p, &drawn->pairs[i]));
	lm_str_add(p->out, "\"");
}

static void cell(const struct lm_page *p, uint32_t v, const struct lm_picture *pic, const struct side_words *side,
		 const struct lm_pic_side *drawn, const struct lm_pic_stretch *s)
{
	const struct lm_pic_field *f = &pic->fields[s->field];

	lm_html(p->out, "<button type=\"button\" class=\"cell%s%s%s%s%s\" data-f=\"%u-%u\"",
		f->link && s->label ? " link" : "", f->moves ? " moves" : "", s->first ? "" : " goes-on",
		s->last ? "" : " not-all", s->label ? " label" : "", v, s->field);
	span(p, pic, s->begin, s->end);
	cell_words(p, pic, side, drawn, f);
	lm_str_add(p->out, ">");
	for (uint32_t i = 0; i < s->nr_heat; i++) {
		const struct lm_pic_heat *h = &s->heat[i];
		uint32_t width = s->end - s->begin;

		lm_html(p->out, "<i class=\"w%u r%u\" style=\"left:%.2f%%;width:%.2f%%\"></i>", h->writes, h->reads,
			100.0 * (h->begin - s->begin) / width, 100.0 * (h->end - h->begin) / width);
	}
	lm_html(p->out, "<span>%s%s</span>", s->first ? "" : "\u2026\u00a0", name_of(f->show));
	lm_str_add(p->out, "</button>");
}

/* The bracket that joins the two, from the middle of one to the middle of the other; several hang below each other. */
static void bracket(const struct lm_page *p, const struct lm_picture *pic, const struct lm_pic_pair *pair,
		    uint32_t depth)
{
	uint32_t a = (pair->begin_a + pair->end_a) / 2, b = (pair->begin_b + pair->end_b) / 2;

	lm_html(p->out,
		"<div class=\"bracket\" data-pair=\"%s\" style=\"left:%.3f%%;width:%.3f%%;--depth:%u\"><b "
		"class=\"badge\">%s</b></div>",
		badge(p, pair), percent(pic, a < b ? a : b), percent(pic, a < b ? b - a : a - b), depth,
		badge(p, pair));
}

/* One of two that no longer meet. */
static void lone_badge(const struct lm_page *p, const struct lm_picture *pic, const struct lm_pic_pair *pair,
		       uint32_t begin, uint32_t end)
{
	lm_html(p->out, "<b class=\"badge lone\" style=\"left:%.3f%%\">%s</b>", percent(pic, (begin + end) / 2),
		badge(p, pair));
}

/* Under the bar: what joins pairs on this line, or marks one of a pair. */
static void brackets(const struct lm_page *p, const struct lm_picture *pic, const struct lm_pic_side *drawn,
		     const struct lm_pic_line *line)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < drawn->nr_pairs; i++)
		depth += drawn->pairs[i].joined && drawn->pairs[i].line_a == line->number;
	lm_html(p->out, "<div class=\"brackets\" style=\"--deep:%u\">", depth);
	depth = 0;
	for (uint32_t i = 0; i < drawn->nr_pairs; i++) {
		const struct lm_pic_pair *pair = &drawn->pairs[i];

		if (pair->joined && pair->line_a == line->number)
			bracket(p, pic, pair, ++depth);
		if (!pair->joined && pair->line_a == line->number)
			lone_badge(p, pic, pair, pair->begin_a, pair->end_a);
		if (!pair->joined && pair->line_b == line->number)
			lone_badge(p, pic, pair, pair->begin_b, pair->end_b);
	}
	lm_str_add(p->out, "</div>");
}

static void pair_note(const struct lm_page *p, const struct lm_picture *pic, const struct side_words *side,
		      const struct lm_pic_pair *pair)
{
	const struct lm_row_pair *row = row_of(p, pair);

	lm_html(p->out,
		"<p class=\"joined\"><b class=\"badge\">%s</b> <code>%s</code> is written, <code>%s</code> is beside "
		"it",
		badge(p, pair), row->a.leaf, row->b.leaf);
	if (side->is_after == pair->fresh && !strcmp(row->config, pic->config))
		lm_html(p->out, ": %s transfers", lm_count(p->arena, row->excess));
	lm_str_add(p->out, "</p>");
}

static void move_note(const struct lm_page *p, const struct side_words *side, const struct lm_pic_field *f)
{
	lm_html(p->out, "<p class=\"moved\"><code>%s</code> ", name_of(f->show));
	if (f->line_before == f->line_after)
		lm_str_add(p->out, f->moves && f->before == f->after ? "starts a line" : "moves within this line");
	else if (side->is_after)
		lm_html(p->out, "comes from line %llu", (unsigned long long)f->line_before);
	else
		lm_html(p->out, "goes to line %llu", (unsigned long long)f->line_after);
	lm_str_add(p->out, "</p>");
}

/* Below a line: who meets on it, what leaves or comes. */
static void notes(const struct lm_page *p, const struct lm_picture *pic, const struct side_words *side,
		  const struct lm_pic_side *drawn, const struct lm_pic_line *line)
{
	brackets(p, pic, drawn, line);
	lm_str_add(p->out, "<div class=\"notes\">");
	for (uint32_t i = 0; i < drawn->nr_pairs; i++)
		if (drawn->pairs[i].joined && drawn->pairs[i].line_a == line->number)
			pair_note(p, pic, side, &drawn->pairs[i]);
	for (uint32_t i = 0; p->rows->moved && i < line->nr_items; i++)
		if (line->items[i].first && pic->fields[line->items[i].field].link)
			move_note(p, side, &pic->fields[line->items[i].field]);
	lm_str_add(p->out, "</div>");
}

static void folded(const struct lm_page *p, const struct lm_pic_line *line)
{
	lm_html(p->out, "<li class=\"folded\">lines %llu-%llu: nothing to see", (unsigned long long)line->number,
		(unsigned long long)(line->number + line->nr - 1));
	if (line->transfers >= 0.5)
		lm_html(p->out, ", %s transfers in all", lm_count(p->arena, line->transfers));
	lm_str_add(p->out, "</li>\n");
}

static void line_row(const struct lm_page *p, uint32_t v, const struct lm_picture *pic, const struct side_words *side,
		     const struct lm_pic_side *drawn, const struct lm_pic_line *line)
{
	if (line->nr > 1) {
		folded(p, line);
		return;
	}
	lm_html(p->out,
		"<li class=\"line%s\"><span class=\"nr\"><span class=\"sr\">line </span>%llu</span><div class=\"bar\">",
		line->loud ? " loud" : "", (unsigned long long)line->number);
	lm_html(p->out, "<div class=\"ground\" style=\"width:%.3f%%\"></div>", percent(pic, line->used));
	for (uint32_t i = 0; i < line->nr_items; i++)
		cell(p, v, pic, side, drawn, &line->items[i]);
	lm_str_add(p->out, "</div>");
	if (line->transfers >= 0.5)
		lm_html(p->out,
			"<span class=\"cost\" style=\"--share:%.2f%%\">%s<span class=\"sr\"> transfers</span></span>",
			drawn->transfers > 0 ? 100 * line->transfers / drawn->transfers : 0,
			lm_count(p->arena, line->transfers));
	else
		lm_str_add(p->out, "<span class=\"cost\"></span>");
	if (line->loud)
		notes(p, pic, side, drawn, line);
	lm_str_add(p->out, "</li>\n");
}

/* ---- one side, one view ---- */

/* Of the largest line number. */
static unsigned digits(const struct lm_pic_side *drawn)
{
	unsigned nr = 1;

	for (uint64_t n = drawn->nr_lines ? drawn->lines[drawn->nr_lines - 1].number : 0; n >= 10; n /= 10)
		nr++;
	return nr > 2 ? nr : 2;
}

static void one_side(const struct lm_page *p, uint32_t v, const struct lm_picture *pic, const struct side_words *side)
{
	const struct lm_pic_side *drawn = side->is_after ? &pic->after : &pic->before;
	const struct lm_row_config *c = &p->rows->configs[v];
	const struct lm_view_figures *f = side->is_after ? c->after : c->before;

	lm_str_addf(p->out, "<div class=\"side\" id=\"v%u-%c\" data-side=\"%c\">\n", v, side->letter, side->letter);
	lm_html(p->out, "<h4>%s <span>%llu bytes, %s transfers%s</span></h4>\n", side->word,
		(unsigned long long)f->size, lm_count(p->arena, f->transfers),
		side->is_after ? lm_arena_printf(p->arena, " (%s)", lm_percent(p->arena, c->percent)) : "");
	lm_html(p->out, "<ol class=\"lines\" style=\"--digits:%u\" aria-label=\"Cache lines of %s, %s\">\n",
		digits(drawn), pic->config, side->word);
	for (uint32_t i = 0; i < drawn->nr_lines; i++)
		line_row(p, v, pic, side, drawn, &drawn->lines[i]);
	if (drawn->nr_hidden)
		lm_html(p->out, "<li class=\"folded\">%llu more lines: <code>linemate show</code> lists them</li>\n",
			(unsigned long long)drawn->nr_hidden);
	lm_str_add(p->out, "</ol>\n</div>\n");
}

static void parts(const struct lm_page *p, const struct lm_pic_field *f)
{
	const struct lm_show_field *show = f->show;

	/* A scalar is its own only part. */
	if (!f->nr_hottest || (show->nr_parts == 1 && !strcmp(show->parts[0].name, show->name)))
		return;
	lm_str_add(p->out, "<ul class=\"who\">");
	for (uint32_t i = 0; i < f->nr_hottest; i++) {
		const struct lm_show_part *part = &show->parts[f->hottest[i]];

		lm_html(p->out, "<li><code>%s</code> <span class=\"by\">%s, %s</span></li>", part->name,
			lm_page_times(p, part->reads, "read"), lm_page_times(p, part->writes, "write"));
	}
	if (f->nr_hottest < show->nr_parts)
		lm_html(p->out, "<li class=\"by\">and %u touched less</li>", show->nr_parts - f->nr_hottest);
	lm_str_add(p->out, "</ul>");
}

static void field_row(const struct lm_page *p, uint32_t v, uint32_t index, const struct lm_pic_field *f, uint32_t sites)
{
	const struct lm_show_field *show = f->show;

	lm_html(p->out, "<tr id=\"f%u-%u\"", v, index);
	lm_str_add(p->out, f->moves ? " class=\"moves\">" : ">");
	lm_html(p->out, "<th scope=\"row\"><code>%s</code></th>", show->decl);
	lm_page_number(
		p, lm_page_change(p, lines(p, f->line_before, f->last_before), lines(p, f->line_after, f->last_after)));
	lm_page_number(p, lm_page_change(p, whole(p, f->before), whole(p, f->after)));
	lm_page_number(p, whole(p, show->size));
	lm_page_number(p, lm_count(p->arena, show->reads));
	lm_page_number(p, lm_count(p->arena, show->writes));
	lm_str_add(p->out, "<td>");
	parts(p, f);
	lm_str_add(p->out, "</td><td>");
	lm_page_sites(p, &f->who, sites);
	lm_str_add(p->out, "</td></tr>\n");
}

static void field_table(const struct lm_page *p, uint32_t v, const struct lm_picture *pic, uint32_t sites)
{
	lm_html(p->out,
		"<details class=\"fields\"><summary>The fields of %s as a table, with functions and CPUs</summary>\n",
		pic->config);
	lm_page_table_begin(
		p, lm_arena_printf(p->arena, "Fields of %s", pic->config),
		LM_HEADS("Field", "Line", "Offset", "Bytes", "Reads", "Writes", "Hottest inside", "Touched by"));
	for (uint32_t i = 0; i < pic->nr_fields; i++)
		field_row(p, v, pic->order_before[i], &pic->fields[pic->order_before[i]], sites);
	lm_page_table_end(p);
	lm_str_add(p->out, "</details>\n");
}

static void view(const struct lm_page *p, uint32_t v, uint32_t most_lines, uint32_t sites)
{
	static const struct side_words before = { 'b', "Before", false }, after = { 'a', "After", true },
				       only = { 'b', "As it is", false };
	struct lm_picture pic;

	lm_picture_make(p->rows, v, most_lines, p->arena, &pic);
	lm_html(p->out,
		"<section class=\"view\" id=\"v%u\" aria-labelledby=\"v%u-h\">\n<h3 id=\"v%u-h\">Configuration "
		"<code>%s</code>",
		v, v, v, pic.config);
	lm_page_spec(p, p->rows->configs[v].spec_is_name ? "" : p->rows->configs[v].spec);
	lm_str_add(p->out, p->rows->moved ? "</h3>\n<div class=\"stage two\">\n" : "</h3>\n<div class=\"stage\">\n");
	one_side(p, v, &pic, p->rows->moved ? &before : &only);
	if (p->rows->moved)
		one_side(p, v, &pic, &after);
	lm_str_add(p->out, "</div>\n");
	field_table(p, v, &pic, sites);
	lm_str_add(p->out, "</section>\n");
}

static void chooser(const struct lm_page *p)
{
	const struct lm_rows *rows = p->rows;

	if (rows->nr_views < 2)
		return;
	lm_str_add(p->out, "<fieldset class=\"chooser\" hidden><legend>Configuration</legend>\n");
	for (uint32_t v = 0; v < rows->nr_views; v++) {
		lm_html(p->out, "<label><input type=\"radio\" name=\"view\" value=\"v%u\"", v);
		lm_str_add(p->out, v ? ">" : " checked>");
		lm_html(p->out, "<span>%s%s%s</span></label>\n", rows->configs[v].name, rows->moved ? " " : "",
			rows->moved ? lm_percent(p->arena, rows->configs[v].percent) : "");
	}
	lm_str_add(p->out, "</fieldset>\n");
}

static void legend(const struct lm_page *p)
{
	lm_html(p->out,
		"<div class=\"legend\"><p>One row a line of %u bytes, fields to scale; the figure at its end is the "
		"line's expected transfers. The upper half of a field is as warm as it is <b class=\"w\">written</b>, "
		"the lower half as it is <b class=\"r\">read</b>; each step is ten times the one before.</p>\n<p "
		"class=\"ramps\" aria-hidden=\"true\">",
		p->story->opts->line);
	for (unsigned i = 1; i <= LM_HEAT_LEVELS; i++)
		lm_html(p->out, "<i class=\"w%u r%u\"></i>", i, i);
	lm_str_add(p->out, " few to many");
	if (p->rows->nr_main_pairs)
		lm_str_add(p->out, " <span><i class=\"key-pair\"></i> contended pair</span>");
	if (p->rows->moved)
		lm_str_add(p->out, " <span><i class=\"key-move\"></i> moved</span>");
	lm_str_add(p->out, " <span><i class=\"key-hole\"></i> padding</span></p>\n<p class=\"script-only\" "
			   "hidden>Point at, tap or tab to a "
			   "field for its functions and CPUs: arrow keys walk, Enter opens, Escape closes.</p>\n");
	if (!p->story->plan->base_fixed)
		lm_html(p->out, "<p class=\"note\">Drawn as if the object started on a line. The compiler %s.</p>\n",
			p->rows->base_promise);
	lm_str_add(p->out, "</div>\n");
}

void lm_page_picture(const struct lm_page *p)
{
	const struct lm_rows *rows = p->rows;
	uint32_t most = ROWS_OF_LINES / (2 * rows->nr_views), nr_fields = 0;

	most = most > MOST_LINES ? MOST_LINES : most < LEAST_LINES ? LEAST_LINES : most;
	for (uint32_t v = 0; v < rows->nr_views; v++)
		nr_fields += p->story->subject->views[v].rec->nr_fields;
	lm_html(p->out, "<section id=\"lines\" aria-labelledby=\"lines-h\">\n<h2 id=\"lines-h\">%s</h2>\n",
		rows->moved ? "Cache lines, before and after" : "Cache lines");
	legend(p);
	chooser(p);
	for (uint32_t v = 0; v < rows->nr_views; v++)
		view(p, v, most, nr_fields <= FIELDS_IN_FULL ? SITES_IN_FULL : SITES_IN_SHORT);
	lm_str_add(p->out, "</section>\n");
}
