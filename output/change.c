/* change.c - two versions of a record -> what changed, in rows. */
#include "output/change.h"

#include "optimizer/figures.h"
#include "optimizer/pairs.h"
#include "output/change_parts.h"
#include "output/words.h"

#include <string.h>

static const double worth_share = 0.01;		/* a smaller change of the transfers is no news */
static const double least_accesses = 0.001;	/* of all accesses: neither is this */
static const double least_samples = 10;		/* nor this many, where they are samples */

const char *lm_change_list(const char *list, const char *name, struct lm_arena *arena)
{
	return list && *list ? lm_arena_printf(arena, "%s, %s", list, name) : lm_arena_strdup(arena, name);
}

/* ---- figures ---- */

static void price(const struct lm_version *v, const struct lm_change_opts *opts, struct lm_view_figures *figures)
{
	if (opts->priced) {
		lm_figures_make(&v->subject, &v->usage, v->layouts, opts->line, opts->base_align, figures);
		return;
	}
	for (uint32_t i = 0; i < v->subject.nr_views; i++)
		lm_figures_shape(v->subject.views[i].rec, &v->layouts[i], opts->line, &figures[i]);
}

/* Did contention change in this configuration? */
static int turn_of(const struct lm_change *c, const struct lm_change_config *config)
{
	const struct lm_usage *u = &c->after->usage;
	double by = config->after.transfers - config->before.transfers, size = by < 0 ? -by : by;

	if (size <= worth_share * config->before.transfers || size <= least_accesses * (double)u->total ||
	    (c->sampled && size < least_samples))
		return 0;
	return by > 0 ? 1 : -1;
}

static bool same_members(const struct lm_comparison *a, const struct lm_comparison *b)
{
	if (a->nr_members != b->nr_members)
		return false;
	for (uint32_t i = 0; i < a->nr_members; i++) {
		const struct lm_compared *x = &a->members[i], *y = &b->members[i];

		if (strcmp(x->name, y->name) || x->fate != y->fate || x->resized != y->resized ||
		    lm_change_offset(a->before, x->before) != lm_change_offset(b->before, y->before) ||
		    lm_change_offset(a->after, x->after) != lm_change_offset(b->after, y->after))
			return false;
	}
	return true;
}

static bool same_mates(const struct lm_mates *a, uint32_t nr_a, const struct lm_mates *b, uint32_t nr_b)
{
	return nr_a == nr_b && (!nr_a || !memcmp(a, b, nr_a * sizeof(*a)));
}

static bool same_comparison(const struct lm_comparison *a, const struct lm_comparison *b)
{
	return a->changed == b->changed && a->before->size == b->before->size && a->after->size == b->after->size &&
	       same_members(a, b) && same_mates(a->came, a->nr_came, b->came, b->nr_came) &&
	       same_mates(a->went, a->nr_went, b->went, b->nr_went);
}

static void add_configs(struct lm_change *c, const struct lm_change_opts *opts, struct lm_arena *arena)
{
	struct lm_view_figures *before = LM_ARENA_ARRAY(arena, struct lm_view_figures, c->nr_configs);
	struct lm_view_figures *after = LM_ARENA_ARRAY(arena, struct lm_view_figures, c->nr_configs);

	price(c->before, opts, before);
	price(c->after, opts, after);
	c->configs = LM_ARENA_ARRAY(arena, struct lm_change_config, c->nr_configs);
	for (uint32_t v = 0; v < c->nr_configs; v++) {
		struct lm_change_config *row = &c->configs[v];

		row->name = lm_safe(arena, c->after->subject.views[v].config);
		row->spec = lm_safe(arena, c->after->configs.items[v].spec);
		row->before = before[v];
		row->after = after[v];
		lm_compare(c->before->subject.views[v].rec, c->after->subject.views[v].rec, opts->line, arena, &row->cmp);
		if (row->before.transfers > 0)
			row->percent = 100 * (row->after.transfers - row->before.transfers) / row->before.transfers;
		row->turn = opts->priced && row->cmp.changed ? turn_of(c, row) : 0;
		for (row->same_as = 0; row->same_as < v; row->same_as++)
			if (same_comparison(&c->configs[row->same_as].cmp, &row->cmp))
				break;
		c->renamed |= row->cmp.renamed;
		if (row->cmp.changed)
			c->changed_in = lm_change_list(c->changed_in, row->name, arena);
		if (row->turn > 0)
			c->worse_in = lm_change_list(c->worse_in, row->name, arena);
		if (row->turn < 0)
			c->better_in = lm_change_list(c->better_in, row->name, arena);
	}
}

/* ---- members of another size ---- */

static uint32_t alignment(const struct lm_field *f)
{
	return f->attr_align > f->type_align ? f->attr_align : f->type_align;
}

static void add_resize(struct lm_change *c, const struct lm_change_config *config, const struct lm_compared *m,
		       struct lm_arena *arena)
{
	const struct lm_field *b = &config->cmp.before->fields[m->before], *a = &config->cmp.after->fields[m->after];
	struct lm_change_resize *row;

	for (uint32_t i = 0; i < c->nr_resizes; i++) {
		row = &c->resizes[i];
		if (!strcmp(row->member, lm_safe(arena, m->name)) && row->before == b->size && row->after == a->size &&
		    row->align_before == alignment(b) && row->align_after == alignment(a)) {
			row->configs = lm_change_list(row->configs, config->name, arena);
			return;
		}
	}
	row = &c->resizes[c->nr_resizes++];
	*row = (struct lm_change_resize){
		.member = lm_safe(arena, m->name), .type = lm_safe(arena, a->type), .is_record = a->is_record,
		.before = b->size, .after = a->size, .align_before = alignment(b), .align_after = alignment(a),
		.configs = config->name,
	};
}

static void add_resizes(struct lm_change *c, struct lm_arena *arena)
{
	size_t most = 0;

	for (uint32_t v = 0; v < c->nr_configs; v++)
		most += c->configs[v].cmp.nr_members;
	c->resizes = LM_ARENA_ARRAY(arena, struct lm_change_resize, most + 1);
	for (uint32_t v = 0; v < c->nr_configs; v++)
		for (uint32_t i = 0; i < c->configs[v].cmp.nr_members; i++)
			if (c->configs[v].cmp.members[i].resized)
				add_resize(c, &c->configs[v], &c->configs[v].cmp.members[i], arena);
}

/* ---- guesses ---- */

static void add_guess(struct lm_change *c, const struct lm_change_config *config, const struct lm_guessed *g,
		      size_t *cap, struct lm_arena *arena)
{
	const struct lm_record *rec = config->cmp.after;
	const char *written = lm_safe(arena, rec->leaves[g->written].path);
	const char *read = lm_safe(arena, rec->leaves[g->read].path);
	size_t nr = c->nr_guesses;

	for (uint32_t i = 0; i < c->nr_guesses; i++)
		if (!strcmp(c->guesses[i].written, written) && !strcmp(c->guesses[i].read, read)) {
			c->guesses[i].configs = lm_change_list(c->guesses[i].configs, config->name, arena);
			return;
		}
	*LM_ARENA_PUSH(arena, c->guesses, nr, *cap) = (struct lm_change_guess){
		.written = written, .read = read, .why_written = g->why_written, .why_read = g->why_read,
		.config = config->name, .configs = config->name, .line = g->line,
	};
	c->nr_guesses = (uint32_t)nr;
}

static void add_guesses(struct lm_change *c, struct lm_arena *arena)
{
	size_t cap = 0;

	for (uint32_t v = 0; v < c->nr_configs; v++) {
		const struct lm_comparison *cmp = &c->configs[v].cmp;
		struct lm_guessed *found;
		uint32_t nr;

		if (!cmp->changed)
			continue;
		lm_guess_new_pairs(cmp->before, cmp->after, c->line, arena, &found, &nr);
		for (uint32_t i = 0; i < nr; i++)
			add_guess(c, &c->configs[v], &found[i], &cap, arena);
	}
}

/* ---- all together ---- */

static bool same_text(const struct lm_version *a, const struct lm_version *b)
{
	const struct lm_record *x = a->subject.views[0].rec, *y = b->subject.views[0].rec;
	size_t len = x->close - x->open;

	return y->close - y->open == len && !memcmp(a->text + x->open, b->text + y->open, len);
}

static enum lm_change_verdict verdict_of(const struct lm_change *c)
{
	if (!*c->changed_in)
		return LM_CHANGE_NONE;
	if (*c->worse_in || c->nr_guesses)
		return LM_CHANGE_ADDED;
	return *c->better_in ? LM_CHANGE_LESS : LM_CHANGE_NEUTRAL;
}

void lm_change_make(const struct lm_version *before, const struct lm_version *after, const struct lm_change_opts *opts,
		    struct lm_arena *arena, struct lm_change *out)
{
	struct lm_change c = {
		.before = before, .after = after, .title = lm_safe(arena, after->title), .line = opts->line,
		.priced = opts->priced, .sampled = opts->priced && after->usage.worst != LM_EVIDENCE_EXACT,
		.nr_configs = after->subject.nr_views, .changed_in = "", .worse_in = "", .better_in = "",
		.same_text = same_text(before, after), .base_fixed = true,
	};

	for (uint32_t v = 0; v < c.nr_configs; v++)
		c.base_fixed &= after->subject.views[v].rec->align >= opts->line || opts->base_align >= opts->line;
	add_configs(&c, opts, arena);
	add_resizes(&c, arena);
	if (*c.changed_in && opts->priced)
		lm_change_pairs(&c, opts, arena);
	else if (*c.changed_in)
		add_guesses(&c, arena);
	c.verdict = verdict_of(&c);
	*out = c;
}
