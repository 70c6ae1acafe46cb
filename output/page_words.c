/* page_words.c - small pieces that several sections of the page use. */
#include "output/page.h"
#include "output/words.h"

#include <string.h>

const char *lm_page_times(const struct lm_page *p, double n, const char *word)
{
	const char *count = lm_count(p->arena, n);

	return lm_arena_printf(p->arena, "%s %s%s", count, word, strcmp(count, "1") ? "s" : "");
}

static void site(const struct lm_page *p, const struct lm_row_site *s, bool with_cpus)
{
	lm_html(p->out, "<li><code>%s</code> <span class=\"by\">", s->name);
	if (s->reads > 0)
		lm_html(p->out, "%s", lm_page_times(p, s->reads, "read"));
	lm_str_add(p->out, s->reads > 0 && s->writes > 0 ? ", " : "");
	if (s->writes > 0)
		lm_html(p->out, "%s", lm_page_times(p, s->writes, "write"));
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

void lm_page_spec(const struct lm_page *p, const char *spec)
{
	lm_str_add(p->out, *spec ? " <span class=\"by\">base with" : "");
	for (const char *at = spec; *at;) {
		size_t len = strcspn(at, ",");

		lm_str_add(p->out, " <span class=\"option\">");
		lm_html_bytes(p->out, at, len);
		lm_str_add(p->out, "</span>");
		at += len;
		at += *at == ',';
	}
	lm_str_add(p->out, *spec ? "</span>" : "");
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
