/* history_text.c - a record's layout over a range of commits, in words. */
#include "output/history.h"
#include "output/sheet.h"
#include "output/words.h"

struct printer {
	const struct lm_history_request *req;
	const struct lm_history *h;
	struct lm_sheet sheet;
};

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static size_t count(const struct lm_history *h, enum lm_history_kind kind)
{
	size_t nr = 0;

	for (size_t i = 0; i < h->nr; i++)
		nr += h->commits[i].kind == kind;
	return nr;
}

/* ---- what it all comes to ---- */

static void print_sums(const struct printer *p)
{
	const struct lm_history *h = p->h;
	struct lm_str *out = p->sheet.out;
	size_t changed = count(h, LM_HISTORY_CHANGED), same = count(h, LM_HISTORY_SAME);
	size_t untouched = count(h, LM_HISTORY_UNTOUCHED), broken = count(h, LM_HISTORY_NO_LAYOUT);
	size_t merges = count(h, LM_HISTORY_MERGE);

	lm_sheet_painted(&p->sheet, LM_BOLD, 0,
			 lm_arena_printf(p->sheet.arena, "%s: %zu of %zu commit%s between %s and %s changed the layout", h->title,
					 changed, h->nr, plural(h->nr), lm_safe(p->sheet.arena, p->req->range->from_name),
					 lm_safe(p->sheet.arena, p->req->range->to_name)));
	lm_wrapf(out, 2, 6, "%zu touch%s no file that the record's unit includes; %zu touch%s one and change%s nothing",
		 untouched, untouched == 1 ? "es" : "", same, same == 1 ? "es" : "", same == 1 ? "s" : "");
	if (merges)
		lm_wrapf(out, 2, 6, "%zu merge%s only what a parent had", merges, plural(merges));
	if (broken)
		lm_wrapf(out, 2, 6, "%zu ha%s no layout: later commits are compared with the last one before that has", broken,
			 broken == 1 ? "s" : "ve");
}

/* The pair in a sentence. */
static void print_pair(const struct printer *p)
{
	const struct lm_history *h = p->h;
	const char *a = lm_safe(p->sheet.arena, p->req->pair_a), *b = lm_safe(p->sheet.arena, p->req->pair_b);
	size_t came = 0;

	for (size_t i = 0; i < h->nr; i++)
		came += *h->commits[i].came_in != 0;
	lm_wrapf(p->sheet.out, 2, 6, "%s and %s share a line %s%s at the start, %s%s at the end; %zu commit%s brought them "
		 "together", a, b, *h->together_before ? "in " : "in no configuration", h->together_before,
		 *h->together_after ? "in " : "in no configuration", h->together_after, came, plural(came));
}

/* ---- commits ---- */

static void print_head(const struct printer *p, const struct lm_history_commit *c)
{
	struct lm_str *out = p->sheet.out;

	lm_str_add_char(out, '\n');
	lm_paint(out, p->sheet.opts->color, LM_BOLD, lm_arena_printf(p->sheet.arena, "commit %.12s", c->commit.id));
	lm_str_addf(out, " %s %s\n", c->commit.date, lm_safe(p->sheet.arena, c->commit.author));
	lm_wrap(out, 2, 6, lm_safe(p->sheet.arena, c->commit.subject));
}

static void print_changed(const struct printer *p, const struct lm_history_commit *c)
{
	struct lm_str *out = p->sheet.out;

	if (p->req->pair_a && !*c->came_in && !*c->went_in && p->sheet.opts->verbose <= 0)
		return;
	print_head(p, c);
	if (*c->came_in)
		lm_sheet_painted(&p->sheet, LM_RED, 4,
				 lm_arena_printf(p->sheet.arena, "brought %s and %s together on line %llu in %s",
						 lm_safe(p->sheet.arena, p->req->pair_a), lm_safe(p->sheet.arena, p->req->pair_b),
						 (unsigned long long)c->came_line, c->came_in));
	if (*c->went_in)
		lm_wrapf(out, 4, 8, "parted %s and %s in %s", lm_safe(p->sheet.arena, p->req->pair_a),
			 lm_safe(p->sheet.arena, p->req->pair_b), c->went_in);
	lm_change_brief(&c->change, p->sheet.opts, 4, out);
}

static void print_commit(const struct printer *p, const struct lm_history_commit *c)
{
	bool all = p->sheet.opts->verbose > 0;
	const char *word = "no change";

	switch (c->kind) {
	case LM_HISTORY_CHANGED:
		print_changed(p, c);
		return;
	case LM_HISTORY_NO_LAYOUT:
		print_head(p, c);
		lm_wrapf(p->sheet.out, 4, 8, "no layout: %s", c->why ? lm_safe(p->sheet.arena, c->why) :
			 "there is none before it either");
		return;
	case LM_HISTORY_SAME:
		all |= c->touches_header && !p->req->pair_a;
		break;
	case LM_HISTORY_MERGE:
		word = "no change of its own";
		break;
	case LM_HISTORY_UNTOUCHED:
		break;
	}
	if (!all)
		return;
	print_head(p, c);
	lm_wrap(p->sheet.out, 4, 8, word);
}

void lm_history_text(const struct lm_history_request *req, const struct lm_history *h,
		     const struct lm_print_opts *opts, struct lm_str *out)
{
	struct lm_arena arena = { 0 };
	struct printer p = { req, h, { out, &arena, opts } };

	print_sums(&p);
	if (req->pair_a)
		print_pair(&p);
	for (size_t i = 0; i < h->nr; i++)
		print_commit(&p, &h->commits[i]);
	lm_arena_release(&arena);
}
