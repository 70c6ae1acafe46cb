/*
 * report_html.c - the report as one page.  Prints rows; computes nothing.
 *
 * The order is that of a reader's questions: which pair, what moves, what does
 * the record look like before and after, is that the patch; then the figures
 * behind it.  Everything is in the markup, so that the page can be read, printed
 * and searched without its script, which only opens details and draws links.
 */
#include "output/page.h"
#include "output/report.h"
#include "output/words.h"

/* Nothing may be fetched, whatever a name in the page looks like. */
#define POLICY                                                                                                         \
	"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "  \
	"form-action 'none'"

static void head(const struct lm_page *p)
{
	lm_str_add(p->out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			   "<meta http-equiv=\"Content-Security-Policy\" content=\"" POLICY "\">\n"
			   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			   "<meta name=\"color-scheme\" content=\"light dark\">\n"
			   "<meta name=\"generator\" content=\"linemate " LM_VERSION "\">\n"
			   "<link rel=\"icon\" href=\"data:,\">\n");
	if (p->rows->moved)
		lm_html(p->out, "<title>%s: %s expected transfers - linemate</title>\n", p->story->record,
			lm_percent(p->arena, p->rows->percent));
	else
		lm_html(p->out, "<title>%s: no change worth making - linemate</title>\n", p->story->record);
	lm_str_add(p->out, "<style>\n");
	lm_str_add(p->out, (const char *)lm_page_css);
	lm_str_add(p->out, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the report</a>\n");
}

static void contents(const struct lm_page *p)
{
	lm_str_add(p->out, "<nav aria-label=\"Sections\"><ul>\n<li><a href=\"#pairs\">Line mates</a></li>\n"
			   "<li><a href=\"#lines\">Cache lines</a></li>\n");
	if (p->story->diff)
		lm_str_add(p->out, "<li><a href=\"#patch\">The patch</a></li>\n");
	if (p->rows->nr_curve > 1)
		lm_str_add(p->out, "<li><a href=\"#curve\">More or fewer moves</a></li>\n");
	lm_str_add(p->out,
		   "<li><a href=\"#configs\">Configurations</a></li>\n<li><a href=\"#rest\">What is left</a></li>\n"
		   "<li><a href=\"#evidence\">Evidence</a></li>\n</ul></nav>\n");
}

static void foot(const struct lm_page *p)
{
	lm_str_add(p->out,
		   "</main>\n<footer><p>Written by linemate " LM_VERSION ". The page is complete: it fetches nothing. "
		   "Expected transfers follow from the profile and are no prediction of throughput.</p></footer>\n"
		   "<aside id=\"card\" hidden tabindex=\"-1\" role=\"dialog\" aria-label=\"Field details\"></aside>\n"
		   "<script>\n");
	lm_str_add(p->out, (const char *)lm_page_js);
	lm_str_add(p->out, "</script>\n</body>\n</html>\n");
}

void lm_report_html(const struct lm_story *story, struct lm_str *out)
{
	struct lm_arena arena = { 0 };
	struct lm_rows rows;
	struct lm_page p = { .rows = &rows, .story = story, .arena = &arena, .out = out };

	lm_rows_make(story, &arena, &rows);
	head(&p);
	lm_page_verdict(&p);
	contents(&p);
	lm_str_add(out, "<main id=\"main\">\n");
	lm_page_pairs(&p);
	lm_page_picture(&p);
	lm_page_diff(&p);
	lm_page_curve(&p);
	lm_page_configs(&p);
	lm_page_rest(&p);
	lm_page_evidence(&p);
	foot(&p);
	lm_arena_release(&arena);
}
