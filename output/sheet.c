/* sheet.c - headings, tables, and who touches a member. */
#include "output/sheet.h"

#include "output/words.h"

#include <string.h>

#define SITES_SHOWN 3

void lm_sheet_painted(const struct lm_sheet *s, const char *dress, unsigned indent, const char *text)
{
	struct lm_str line = { 0 };

	lm_wrap(&line, indent, indent + 4, text);
	line.text[--line.len] = 0;
	lm_paint(s->out, s->opts->color, dress, line.text);
	lm_str_add_char(s->out, '\n');
	lm_str_release(&line);
}

void lm_sheet_heading(const struct lm_sheet *s, const char *text)
{
	lm_str_add_char(s->out, '\n');
	lm_paint(s->out, s->opts->color, LM_BOLD, text);
	lm_str_add_char(s->out, '\n');
}

static void print_row(const struct lm_sheet *s, const char *const *cells, const int *width, uint32_t columns)
{
	lm_str_addf(s->out, "  %-*s", width[0], cells[0]);
	for (uint32_t c = 1; c < columns && (c < columns - 1 || *cells[c]); c++) {
		const char *cell = cells[c];
		bool better = cell[0] == '-' && cell[1] && cell[strlen(cell) - 1] == '%';

		if (!width[c])
			continue;
		lm_str_addf(s->out, "%*s", width[c] - (int)strlen(cell) + (c > 1 ? 3 : 2), "");
		lm_paint(s->out, s->opts->color && better, LM_GREEN, cell);
	}
	lm_str_add_char(s->out, '\n');
}

void lm_sheet_table(const struct lm_sheet *s, const char *const *cells, uint32_t nr, uint32_t columns)
{
	int *width = LM_ARENA_ARRAY(s->arena, int, columns);

	for (uint32_t i = 0; i < nr * columns; i++)
		if ((int)strlen(cells[i]) > width[i % columns])
			width[i % columns] = (int)strlen(cells[i]);
	for (uint32_t r = 0; r < nr; r++)
		print_row(s, cells + (size_t)r * columns, width, columns);
}

void lm_sheet_side(const struct lm_sheet *s, const char *figure, const struct lm_row_side *side)
{
	uint32_t most = side->nr_main < SITES_SHOWN ? side->nr_main : SITES_SHOWN;
	uint32_t nr = s->opts->verbose > 0 ? side->nr_sites : most;
	struct lm_str text = { 0 };

	lm_str_addf(&text, "%s%s: %s reads, %s writes", figure, side->leaf, lm_count(s->arena, side->reads),
		    lm_count(s->arena, side->writes));
	for (uint32_t i = 0; i < nr; i++) {
		const struct lm_row_site *site = &side->sites[i];

		lm_str_addf(&text, "%s%s", i ? ", " : " by ", site->name);
		if (nr > 1)
			lm_str_addf(&text, " %s", lm_count(s->arena, site->reads + site->writes));
		if (*site->cpus && !side->same_cpus)
			lm_str_addf(&text, " (CPU %s)", site->cpus);
	}
	if (nr < side->nr_sites)
		lm_str_addf(&text, " and %u more function%s", side->nr_sites - nr, side->nr_sites - nr == 1 ? "" : "s");
	if (side->same_cpus)
		lm_str_addf(&text, ", CPU %s", side->sites[0].cpus);
	lm_wrap(s->out, 6, 10, lm_str_text(&text));
	lm_str_release(&text);
}
