/* promise_plan.c - a plan, its evidence and its layouts -> promises. */
#include "output/promise_plan.h"

#include "optimizer/path.h"
#include "optimizer/promise_check.h"
#include "output/report_rows.h"
#include "output/words.h"

#include <stdlib.h>
#include <string.h>

/* A member is hot if it has this share of all writes, or of all reads. */
#define HOT_SHARE 0.01
/* A member that is read is read-mostly if it is written less often than this share of its reads. */
#define FEW_WRITES 0.01

struct making {
	const struct lm_story *story;
	struct lm_arena *arena;
	struct lm_promises *p;
	struct lm_promise_opts opts;
};

static void push(struct making *m, struct lm_promise p)
{
	*LM_ARENA_PUSH(m->arena, m->p->items, m->p->nr, m->p->cap) = p;
}

static struct lm_promise promise_of(struct making *m, enum lm_promise_kind kind, const char *a, const char *b)
{
	struct lm_promise p = { .kind = kind, .members = LM_ARENA_ARRAY(m->arena, const char *, 2), .file = m->p->path };

	p.members[p.nr_members++] = a;
	if (b)
		p.members[p.nr_members++] = b;
	return p;
}

static bool has_all(const struct lm_promise *p, const struct lm_record *rec)
{
	uint32_t field;
	uint64_t begin, end;

	for (uint32_t i = 0; i < p->nr_members; i++)
		if (!lm_path_extent(rec, p->members[i], &field, &begin, &end))
			return false;
	return true;
}

/*
 * Restricts p to the configurations where it says something that holds; false
 * if that is none.  One that holds wherever it says something stays as it is.
 */
static bool restrict_to_kept(struct making *m, struct lm_promise *p)
{
	const struct lm_subject *s = m->story->subject;
	const char **configs = LM_ARENA_ARRAY(m->arena, const char *, s->nr_views + 1);
	uint32_t nr = 0, broken = 0;

	for (uint32_t v = 0; v < s->nr_views; v++) {
		if (!has_all(p, s->views[v].rec))
			continue;
		if (lm_promise_holds(p, s, v, &m->story->plan->after[v], &m->opts))
			configs[nr++] = s->views[v].config;
		else
			broken++;
	}
	if (nr && !broken)
		return true;
	p->configs = configs;
	p->nr_configs = nr;
	return nr > 0;
}

static bool holds_everywhere(struct making *m, const struct lm_promise *p)
{
	struct lm_promise copy = *p;

	return restrict_to_kept(m, &copy) && !copy.nr_configs;
}

static bool is_member(const struct making *m, const char *path)
{
	const struct lm_subject *s = m->story->subject;
	uint32_t field;
	uint64_t begin, end;

	for (uint32_t v = 0; v < s->nr_views; v++)
		if (lm_path_extent(s->views[v].rec, path, &field, &begin, &end))
			return true;
	return false;
}

/* The array as a whole: "events[8].counter" -> "events"; which element is hot depends on the workload. */
static const char *wide(struct making *m, const char *leaf)
{
	const char *bracket = strchr(leaf, '[');

	return bracket ? lm_arena_strndup(m->arena, leaf, (size_t)(bracket - leaf)) : leaf;
}

static bool have(const struct making *m, const struct lm_promise *p)
{
	for (size_t i = 0; i < m->p->nr; i++) {
		const struct lm_promise *q = &m->p->items[i];
		bool same = q->kind == p->kind && q->nr_members == p->nr_members;

		for (uint32_t k = 0; same && k < p->nr_members; k++)
			same = !strcmp(q->members[k], p->members[k]);
		if (!same && q->kind == p->kind && p->nr_members == 2 && q->nr_members == 2)
			same = !strcmp(q->members[0], p->members[1]) && !strcmp(q->members[1], p->members[0]);
		if (same)
			return true;
	}
	return false;
}

/* ---- pairs ---- */

static void add_side(struct making *m, const struct lm_row_side *side, struct lm_str *out)
{
	lm_str_addf(out, "#   %s: %s reads, %s writes", side->leaf, lm_count(m->arena, side->reads),
		    lm_count(m->arena, side->writes));
	if (side->nr_sites) {
		lm_str_addf(out, " by %s", side->sites[0].name);
		if (side->nr_sites > 1)
			lm_str_addf(out, " and %u more function%s", side->nr_sites - 1, side->nr_sites == 2 ? "" : "s");
		if (*side->sites[0].cpus)
			lm_str_addf(out, ", CPU %s", side->sites[0].cpus);
	}
	lm_str_add_char(out, '\n');
}

static const char *evidence(struct making *m, const struct lm_pair *pair, const struct lm_row_side *a,
			    const struct lm_row_side *b)
{
	struct lm_str s = { 0 };
	const char *text;

	lm_str_addf(&s, "# On one line they cost %s transfers more (%s).\n", lm_count(m->arena, pair->excess),
		    m->story->subject->views[pair->view].config);
	add_side(m, a, &s);
	add_side(m, b, &s);
	text = lm_arena_strdup(m->arena, lm_str_text(&s));
	lm_str_release(&s);
	return text;
}

/* The widest promise about the two that holds everywhere, else about the leaves wherever it holds. */
static bool choose_width(struct making *m, const char *a, const char *b, struct lm_promise *out)
{
	const char *wide_a = wide(m, a), *wide_b = wide(m, b);
	const char *const tries[][2] = { { wide_a, wide_b }, { wide_a, b }, { a, wide_b }, { a, b } };

	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		*out = promise_of(m, LM_PROMISE_APART, tries[i][0], tries[i][1]);
		if (strcmp(tries[i][0], tries[i][1]) && is_member(m, tries[i][0]) && is_member(m, tries[i][1]) &&
		    holds_everywhere(m, out))
			return true;
	}
	return is_member(m, a) && is_member(m, b) && restrict_to_kept(m, out);
}

static void add_pairs(struct making *m)
{
	const struct lm_plan *plan = m->story->plan;
	double least = HOT_SHARE * plan->transfers_before / m->story->subject->nr_views;

	for (uint32_t i = 0; i < plan->nr_pairs; i++) {
		const struct lm_pair *pair = &plan->pairs[i];
		struct lm_row_side a, b;
		struct lm_promise p;

		if (pair->inside || pair->excess < least)
			continue;
		lm_row_side_make(m->story, pair->view, pair->leaf_a, &plan->before[pair->view], LM_ANY_LINE, m->arena, &a);
		lm_row_side_make(m->story, pair->view, pair->leaf_b, &plan->before[pair->view], LM_ANY_LINE, m->arena, &b);
		if (!choose_width(m, a.leaf, b.leaf, &p) || have(m, &p))
			continue;
		p.evidence = evidence(m, pair, &a, &b);
		push(m, p);
	}
}

/* ---- the person's rules and line starts ---- */

static void add_rules(struct making *m)
{
	const struct lm_rules *r = m->story->rules;
	const struct lm_unit *units = m->story->subject->body->units;

	for (uint32_t i = 0; i < r->nr_rules; i++) {
		const struct lm_rule *rule = &r->rules[i];
		struct lm_promise p;

		if (rule->kind != LM_RULE_TOGETHER && rule->kind != LM_RULE_APART)
			continue;
		p = promise_of(m, rule->kind == LM_RULE_APART ? LM_PROMISE_APART : LM_PROMISE_TOGETHER,
			       units[rule->unit].name, units[rule->other].name);
		if (is_member(m, p.members[0]) && is_member(m, p.members[1]) && holds_everywhere(m, &p) && !have(m, &p))
			push(m, p);
	}
}

static void add_line_starts(struct making *m)
{
	const struct lm_plan *plan = m->story->plan;

	for (uint32_t i = 0; i < plan->nr_moves; i++) {
		const char *name = m->story->subject->body->units[plan->moves[i].unit].name;
		struct lm_promise p = promise_of(m, LM_PROMISE_LINE_START, name, NULL);

		if (plan->moves[i].barrier && is_member(m, name) && holds_everywhere(m, &p))
			push(m, p);
	}
}

/* ---- sizes ---- */

static void add_sizes(struct making *m)
{
	const struct lm_subject *s = m->story->subject;
	const struct lm_layout *after = m->story->plan->after;

	for (uint32_t v = 0; v < s->nr_views; v++) {
		struct lm_promise p = { .kind = LM_PROMISE_MAX_SIZE, .bytes = after[v].size, .file = m->p->path,
					.configs = LM_ARENA_ARRAY(m->arena, const char *, s->nr_views) };
		bool first = true;

		for (uint32_t w = 0; w < s->nr_views; w++) {
			if (after[w].size != after[v].size)
				continue;
			first &= w >= v;
			p.configs[p.nr_configs++] = s->views[w].config;
		}
		p.nr_configs = p.nr_configs == s->nr_views ? 0 : p.nr_configs;
		if (first && p.bytes)
			push(m, p);
	}
}

/* ---- what is hot ---- */

struct heat {
	const char *member;
	double reads, writes;
};

struct heats {
	struct heat *items;
	size_t nr, cap;
	double reads, writes;	/* of all */
};

static int by_member(const void *a, const void *b)
{
	return strcmp(((const struct heat *)a)->member, ((const struct heat *)b)->member);
}

static int by_writes(const void *a, const void *b)
{
	const struct heat *x = a, *y = b;

	if (x->writes != y->writes)
		return x->writes > y->writes ? -1 : 1;
	if (x->reads != y->reads)
		return x->reads > y->reads ? -1 : 1;
	return by_member(a, b);
}

static int by_reads(const void *a, const void *b)
{
	const struct heat *x = a, *y = b;

	if (x->reads != y->reads)
		return x->reads > y->reads ? -1 : 1;
	return by_member(a, b);
}

/* The members that the profile touches in base, arrays as a whole, added up. */
static void add_up(struct making *m, struct heats *h)
{
	const struct lm_usage *u = m->story->usage;
	const struct lm_record *rec = m->story->subject->views[0].rec;
	size_t kept = 0;

	for (size_t i = 0; i < u->nr_touches[0]; i++) {
		const struct lm_touch *t = &u->touches[0][i];
		const char *path = t->leaf == LM_NONE ? rec->fields[t->field].key : rec->leaves[t->leaf].path;

		*LM_ARENA_PUSH(m->arena, h->items, h->nr, h->cap) = (struct heat){ wide(m, path), t->reads, t->writes };
		h->reads += t->reads;
		h->writes += t->writes;
	}
	if (h->nr)
		qsort(h->items, h->nr, sizeof(*h->items), by_member);
	for (size_t i = 0; i < h->nr; i++) {
		if (kept && !strcmp(h->items[kept - 1].member, h->items[i].member)) {
			h->items[kept - 1].reads += h->items[i].reads;
			h->items[kept - 1].writes += h->items[i].writes;
		} else if (*h->items[i].member) {
			h->items[kept++] = h->items[i];
		}
	}
	h->nr = kept;
}

static bool is_written(const struct heats *all, const struct heat *h)
{
	return h->writes >= HOT_SHARE * all->writes && h->writes > FEW_WRITES * h->reads;
}

static bool is_read(const struct heats *all, const struct heat *h)
{
	return !is_written(all, h) && h->reads > 0 && h->reads >= HOT_SHARE * all->reads &&
	       h->writes <= FEW_WRITES * h->reads;
}

static const char *top_level(struct making *m, const char *path)
{
	return lm_arena_strndup(m->arena, path, strcspn(path, "."));
}

/* The whole member, unless what is read and what is written are both in it. */
static const char *name_of(struct making *m, const struct heats *all, const struct heat *h)
{
	const char *top = top_level(m, h->member);
	bool written = is_written(all, h);

	for (size_t i = 0; i < all->nr; i++)
		if (!strcmp(top_level(m, all->items[i].member), top) &&
		    (written ? is_read(all, &all->items[i]) : is_written(all, &all->items[i])))
			return h->member;
	return is_member(m, top) ? top : h->member;
}

/* Is the member apart from every write-hot promise so far, everywhere? */
static bool is_clear(struct making *m, const char *member)
{
	for (size_t i = 0; i < m->p->nr; i++) {
		struct lm_promise p;

		if (m->p->items[i].kind != LM_PROMISE_WRITE_HOT)
			continue;
		p = promise_of(m, LM_PROMISE_APART, m->p->items[i].members[0], member);
		for (uint32_t v = 0; v < m->story->subject->nr_views; v++)
			if (!lm_promise_holds(&p, m->story->subject, v, &m->story->plan->after[v], &m->opts))
				return false;
	}
	return true;
}

static void push_once(struct making *m, enum lm_promise_kind kind, const char *member)
{
	struct lm_promise p = promise_of(m, kind, member, NULL);

	if (is_member(m, member) && !have(m, &p))
		push(m, p);
}

static void add_heat(struct making *m)
{
	struct heats h = { 0 };

	add_up(m, &h);
	if (h.nr)
		qsort(h.items, h.nr, sizeof(*h.items), by_writes);
	for (size_t i = 0; i < h.nr; i++)
		if (is_written(&h, &h.items[i]))
			push_once(m, LM_PROMISE_WRITE_HOT, name_of(m, &h, &h.items[i]));
	if (h.nr)
		qsort(h.items, h.nr, sizeof(*h.items), by_reads);
	for (size_t i = 0; i < h.nr; i++) {
		const char *name = is_read(&h, &h.items[i]) ? name_of(m, &h, &h.items[i]) : NULL;

		/* The member as a whole may reach to where its hot part does not. */
		if (name && !is_clear(m, name))
			name = h.items[i].member;
		if (name && is_clear(m, name))
			push_once(m, LM_PROMISE_READ_MOSTLY, name);
	}
}

/* ---- all of it ---- */

/* What is written must be readable, and hold. */
static struct lm_err *check(struct making *m)
{
	struct lm_promise_verdict verdict;
	struct lm_err *err = lm_promises_consistent(m->p), *bug;

	if (!err)
		err = lm_promises_judge(m->p, m->story->subject, m->story->plan->after, &m->opts, m->arena, &verdict);
	if (!err && verdict.nr)
		return lm_err_new(LM_ERR_BUG, "The promises of %s do not hold under its own plan; nothing was written, please "
				  "report this.", m->story->record);
	if (!err)
		return NULL;
	bug = lm_err_new(LM_ERR_BUG, "The promises of %s make no sense: %s; nothing was written, please report this.",
			 m->story->record, err->msg);
	lm_err_free(err);
	return bug;
}

struct lm_err *lm_promises_of_plan(const struct lm_story *story, struct lm_arena *arena, struct lm_promises *p)
{
	struct making m = { story, arena, p, { story->opts->line, story->opts->base_align } };

	add_pairs(&m);
	add_rules(&m);
	add_line_starts(&m);
	add_sizes(&m);
	add_heat(&m);
	return check(&m);
}
