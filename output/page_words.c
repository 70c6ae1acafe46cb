/* page_words.c - small pieces that several sections of the page use. */
#include "output/page.h"
#include "output/words.h"

#include <string.h>

static void site(const struct lm_page *p, const struct lm_row_site *s, bool with_cpus)
{
	lm_html(p->out, "<li><code>%s</code> <span class=\"by\">", s->name);
	if (s->reads > 0)
		lm_html(p->out, "%s reads", lm_count(p->arena, s->reads));
	lm_str_add(p->out, s->reads > 0 && s->writes > 0 ? ", " : "");
	if (s->writes > 0)
		lm_html(p->out, "%s writes", lm_count(p->arena, s->writes));
	if (with_cpus && *s->cpus)
		lm_html(p->out, ", CPU %s", s->cpus);
	lm_str_add(p->out, "</span></li>");
}

void lm_page_sites(const struct lm_page *p, const struct lm_row_side *side, uint32_t most)
{
	uint32_t nr = side->nr_sites < most ? side->nr_sites : most;

	if (!nr)
		return;
	lm_str_add(p->out, "<ul class=\"who\">");
	for (uint32_t i = 0; i < nr; i++)
		site(p, &side->sites[i], true);
	if (nr < side->nr_sites)
		lm_html(p->out, "<li class=\"by\">and %u more function%s</li>", side->nr_sites - nr,
			side->nr_sites - nr == 1 ? "" : "s");
	lm_str_add(p->out, "</ul>");
}

const char *lm_page_change(const struct lm_page *p, const char *before, const char *after)
{
	if (!p->rows->moved || !strcmp(before, after))
		return before;
	return lm_arena_printf(p->arena, "%s \u2192 %s", before, after);
}

void lm_page_table_begin(const struct lm_page *p, const char *label, const char *const *heads)
{
	lm_html(p->out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s\"><table>\n<thead><tr>",
		label);
	for (; *heads; heads++)
		lm_html(p->out, "<th scope=\"col\">%s</th>", *heads);
	lm_str_add(p->out, "</tr></thead><tbody>\n");
}

void lm_page_number(const struct lm_page *p, const char *text)
{
	lm_html(p->out, "<td class=\"num\">%s</td>", text);
}

void lm_page_table_end(const struct lm_page *p)
{
	lm_str_add(p->out, "</tbody></table></div>\n");
}
