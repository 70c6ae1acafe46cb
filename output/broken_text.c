/* broken_text.c - broken promises as text for people. */
#include "output/broken.h"
#include "output/words.h"

#include <string.h>

#define BYTES(n) (unsigned long long)(n), (n) == 1 ? "" : "s"

/* "memory_events_local at 1048 to 1127" */
static void add_side(const struct lm_breach_side *s, struct lm_str *out)
{
	lm_str_addf(out, "%s at %llu", s->member, (unsigned long long)s->begin);
	if (s->end - s->begin > 1)
		lm_str_addf(out, " to %llu", (unsigned long long)s->end - 1);
	if (s->leaf && strcmp(s->leaf, s->member))
		lm_str_addf(out, " (there: %s)", s->leaf);
}

static void add_pair(const struct lm_checked *c, const struct lm_breach *b, struct lm_str *out)
{
	if (c->base_fixed)
		lm_str_addf(out, "both are on line %llu: ", (unsigned long long)b->line);
	else
		lm_str_add(out, "they may be on one line: ");
	add_side(&b->a, out);
	lm_str_add(out, ", ");
	add_side(&b->b, out);
	lm_str_addf(out, "; they must get %llu byte%s further apart", BYTES(b->bytes));
}

static void add_together(const struct lm_breach *b, struct lm_str *out)
{
	lm_str_add(out, "not on one line: ");
	add_side(&b->a, out);
	if (b->b.member != b->a.member) {
		lm_str_add(out, ", ");
		add_side(&b->b, out);
	}
	lm_str_addf(out, "; %llu byte%s reach over the line's end", BYTES(b->bytes));
}

static void add_start(const struct lm_checked *c, const struct lm_breach *b, struct lm_str *out)
{
	if (!b->bytes) {
		lm_str_addf(out, "%s is at %llu, but nothing promises that objects start on a line", b->a.member,
			    (unsigned long long)b->a.begin);
		return;
	}
	lm_str_addf(out, "%s is at %llu, %llu byte%s behind the start of line %llu of %u bytes", b->a.member,
		    (unsigned long long)b->a.begin, BYTES(b->bytes), (unsigned long long)b->line, c->line);
}

static void add_breach(const struct lm_checked *c, const struct lm_broken *b, const struct lm_breach *breach,
		       struct lm_str *out)
{
	switch (b->promise->kind) {
	case LM_PROMISE_APART:
	case LM_PROMISE_WRITE_HOT:
	case LM_PROMISE_READ_MOSTLY:
		add_pair(c, breach, out);
		break;
	case LM_PROMISE_TOGETHER:
		add_together(breach, out);
		break;
	case LM_PROMISE_MAX_SIZE:
		lm_str_addf(out, "%s has %llu bytes, %llu too many", c->record, (unsigned long long)breach->size,
			    (unsigned long long)breach->bytes);
		if (breach->least > b->promise->bytes)
			lm_str_addf(out, "; no order helps, its members alone have %llu",
				    (unsigned long long)breach->least);
		break;
	case LM_PROMISE_LINE_START:
		add_start(c, breach, out);
		break;
	case LM_PROMISE_FIRST:
		lm_str_addf(out, "%s is at %llu", breach->a.member, (unsigned long long)breach->a.begin);
		break;
	case LM_NR_PROMISES:
		break;
	}
}

void lm_broken_sentence(const struct lm_checked *c, const struct lm_broken *b, struct lm_str *out)
{
	const struct lm_breach *first = &b->breaches[0];

	if (b->other) {
		lm_str_addf(out, "write-hot %s, read-mostly %s (%s:%u)", first->a.member, first->b.member, b->other->file,
			    b->other->line);
	} else {
		struct lm_promise p = *b->promise;

		/* The configurations follow in words. */
		p.nr_configs = 0;
		lm_promise_print(&p, out);
	}
	lm_str_addf(out, ": broken in %s: ", c->subject->views[first->view].config);
	add_breach(c, b, first, out);
	for (uint32_t i = 1; i < b->nr_breaches; i++)
		lm_str_addf(out, "%s%s", i == 1 ? "; also in " : ", ", c->subject->views[b->breaches[i].view].config);
}

uint32_t lm_broken_line(const struct lm_checked *c, const struct lm_breach *breach)
{
	const struct lm_view *view = &c->subject->views[breach->view];
	const struct lm_breach_side *s = breach->b.member ? &breach->b : &breach->a;

	return s->member ? c->subject->body->units[view->field_unit[s->field]].line : view->rec->line;
}

void lm_broken_text(const struct lm_checked *checked, size_t nr, struct lm_str *out)
{
	for (size_t i = 0; i < nr; i++) {
		for (size_t b = 0; b < checked[i].verdict->nr; b++) {
			const struct lm_broken *broken = &checked[i].verdict->broken[b];
			struct lm_str s = { 0 };

			lm_str_addf(&s, "%s:%u: ", broken->promise->file, broken->promise->line);
			lm_broken_sentence(&checked[i], broken, &s);
			lm_str_escape(out, lm_str_text(&s), s.len);
			lm_str_add(out, ".\n");
			lm_str_release(&s);
		}
	}
}

void lm_broken_summary(const struct lm_checked *checked, size_t nr, struct lm_str *out)
{
	for (size_t i = 0; i < nr; i++) {
		const struct lm_checked *c = &checked[i];
		uint32_t views = c->subject->nr_views;
		struct lm_arena arena = { 0 };

		lm_str_addf(out, "%s: %zu of %zu promise%s of %s hold%s in %u configuration%s\n",
			    lm_safe(&arena, c->path ? c->path : c->header), c->verdict->nr_kept, c->verdict->nr_promises,
			    c->verdict->nr_promises == 1 ? "" : "s", c->record, c->verdict->nr_promises == 1 ? "s" : "", views,
			    views == 1 ? "" : "s");
		lm_arena_release(&arena);
	}
}
