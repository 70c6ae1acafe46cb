/*
 * verify.c - is the rewritten header what the plan says?
 *
 * Three judges that share nothing with the planner: the bytes, libclang, and
 * both compilers through their debug info.
 */
#include "output/verify.h"

#include "base/parallel.h"
#include "output/compiled.h"
#include "output/members.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- the bytes ---- */

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* a and more, sorted. */
static const char **sum(const char *const *a, size_t na, const char *const *more, size_t nr_more,
			struct lm_arena *arena)
{
	const char **all = LM_ARENA_ARRAY(arena, const char *, na + nr_more + 1);

	for (size_t i = 0; i < na; i++)
		all[i] = a[i];
	for (size_t i = 0; i < nr_more; i++)
		all[na + i] = more[i];
	qsort(all, na + nr_more, sizeof(*all), by_bytes);
	return all;
}

/* Sorted lists must be equal. */
static struct lm_err *same_words(const char *what, const char *const *want, size_t nr_want, const char *const *got,
				 size_t nr_got)
{
	for (size_t i = 0; i < nr_want || i < nr_got; i++) {
		int c = i >= nr_want ? 1 : i >= nr_got ? -1 : strcmp(want[i], got[i]);

		if (c)
			return lm_err_new(LM_ERR_BUG, "The rewritten record has %s %s \"%s\"; nothing was changed, please "
					  "report this.", c < 0 ? "lost the" : "an unexpected", what,
					  c < 0 ? want[i] : got[i]);
	}
	return NULL;
}

/* Behind the record every byte is the old one, but for the lines that rewrite.h says were put in. */
static bool same_behind(const struct lm_body *body, const struct lm_rewrite *rw, size_t behind)
{
	size_t before = rw->added_len ? rw->added_at - body->end : behind;
	const char *now = rw->text + rw->len - behind - rw->added_len, *old = body->text + body->end;

	return before <= behind && !memcmp(now, old, before) &&
	       (!rw->added_len || !memcmp(now + before, rw->added_text, rw->added_len)) &&
	       !memcmp(now + before + rw->added_len, old + before, behind - before);
}

/* Nothing outside the braces changed, and inside them nothing but what rewrite.h lists. */
static struct lm_err *check_text(const struct lm_verify_request *req, struct lm_arena *arena)
{
	const struct lm_body *body = req->subject->body;
	const struct lm_rewrite *rw = req->rewrite;
	size_t behind = body->len - body->end;
	struct lm_tokens old, now;
	struct lm_err *err;

	if (rw->len < body->begin + behind + rw->added_len || memcmp(rw->text, body->text, body->begin) ||
	    !same_behind(body, rw, behind))
		return lm_err_new(LM_ERR_BUG, "The rewritten header differs outside the braces of %s; nothing was changed, "
				  "please report this.", req->record);
	lm_body_tokens(body->text, body->begin, body->end, arena, &old);
	lm_body_tokens(rw->text, body->begin, rw->len - behind - rw->added_len, arena, &now);
	err = same_words("token", sum(old.items, old.nr, rw->added_tokens, rw->nr_added_tokens, arena),
			 old.nr + rw->nr_added_tokens, now.items, now.nr);
	if (err)
		return err;
	return same_words("directive", sum(old.directives, old.nr_directives, rw->added_directives,
					   rw->nr_added_directives, arena),
			  old.nr_directives + rw->nr_added_directives,
			  sum(now.directives, now.nr_directives, rw->removed_directives, rw->nr_removed_directives, arena),
			  now.nr_directives + rw->nr_removed_directives);
}

/* ---- libclang ---- */

static struct lm_err *parsed_wrong(const struct lm_verify_request *req, uint32_t v, const char *how)
{
	return lm_err_new(LM_ERR_BUG, "%s: %s, parsed again after the change in configuration \"%s\": %s; nothing was "
			  "changed, please report this.", req->configs->header_in_root, req->record,
			  req->configs->items[v].name, how);
}

static struct lm_err *compare_sources(const struct lm_verify_request *req, const struct lm_source *sources,
				      struct lm_arena *arena)
{
	for (uint32_t v = 0; v < req->subject->nr_views; v++) {
		struct lm_members want = lm_members_planned(req, v, arena);
		struct lm_members got = lm_members_of_record(&sources[v].record, arena);
		const char *how = lm_members_difference(&want, &got, lm_members_barriers(req, v), arena);

		if (how)
			return parsed_wrong(req, v, how);
	}
	return NULL;
}

/* An error of ours, whatever code it came with: the original was parsed before. */
static struct lm_err *as_bug(const struct lm_verify_request *req, struct lm_err *err)
{
	struct lm_err *bug = lm_err_new(LM_ERR_BUG, "The rewritten %s cannot be read any more: %s; nothing was changed, "
					"please report this.", req->configs->header_in_root, err->msg);

	lm_err_free(err);
	return bug;
}

/* ---- all at the same time ---- */

struct checks {
	const struct lm_verify_request *req;
	struct lm_source_request again;
	struct lm_source *sources;	/* [nr_views] */
	struct lm_err **errors;		/* [nr_views] */
	struct lm_compilations compilations;
	size_t total;
	atomic_size_t done;
};

/* Every configuration was parsed: is it what was planned? */
static struct lm_err *check_sources(struct checks *c, struct lm_arena *arena)
{
	const struct lm_verify_request *req = c->req;
	const struct lm_rewrite *rw = req->rewrite;
	const struct lm_source *sources = c->sources;
	struct lm_err **errors = c->errors;
	uint32_t nr = req->subject->nr_views;
	struct lm_subject subject;
	struct lm_body body;
	struct lm_err *err = NULL;

	for (uint32_t v = 0; v < nr; v++) {
		if (err)
			lm_err_free(errors[v]);
		else
			err = errors[v];
	}
	if (!err)
		err = lm_subject_make(req->configs->header, rw->text, rw->len, sources, nr, arena, &body, &subject);
	return err ? as_bug(req, err) : compare_sources(req, sources, arena);
}

static void parse_whole(void *arg, size_t v)
{
	struct checks *c = arg;

	lm_source_release(&c->sources[v]);
	c->errors[v] = lm_source_parse(&c->again, v, &c->sources[v]);
}

/* As main file of a unit parsed ahead, a header can mean something else: what is wrong there is parsed whole. */
static struct lm_err *check_parses(struct checks *c, struct lm_arena *arena)
{
	struct lm_err *err = check_sources(c, arena);

	if (!err || !c->req->ahead)
		return err;
	lm_err_free(err);
	lm_parallel(c->req->subject->nr_views, parse_whole, c);
	return check_sources(c, arena);
}

/* Compilations come first: they take longer. */
static void check_one(void *arg, size_t i)
{
	struct checks *c = arg;
	size_t v = i - c->compilations.nr;

	if (i < c->compilations.nr)
		lm_compilations_run(&c->compilations, i);
	else if (v == c->req->subject->nr_views)
		c->req->meanwhile(c->req->arg);
	else
		c->errors[v] = lm_source_parse_changed(c->req->ahead, &c->again, v, &c->sources[v]);
	lm_progress("checking", atomic_fetch_add(&c->done, 1) + 1, c->total);
}

static struct lm_err *check_meaning(const struct lm_verify_request *req, struct lm_arena *arena,
				    struct lm_verified *out)
{
	uint32_t nr = req->subject->nr_views;
	struct checks c = {
		.req = req,
		.again = { .configs = req->configs, .record = req->record, .text = req->rewrite->text,
			   .len = req->rewrite->len },
		.sources = LM_ARENA_ARRAY(arena, struct lm_source, nr),
		.errors = LM_ARENA_ARRAY(arena, struct lm_err *, nr),
	};
	struct lm_err *err = lm_compilations_prepare(req, arena, &c.compilations);

	if (!err) {
		c.total = c.compilations.nr + nr + !!req->meanwhile;
		lm_progress("checking", 0, c.total);
		lm_parallel(c.total, check_one, &c);
		err = check_parses(&c, arena);
	}
	if (!err)
		err = lm_compilations_collect(&c.compilations, arena, out);
	lm_compilations_remove(&c.compilations);
	for (uint32_t v = 0; v < nr; v++)
		lm_source_release(&c.sources[v]);
	return err;
}

struct lm_err *lm_verify(const struct lm_verify_request *req, struct lm_arena *arena, struct lm_verified *out)
{
	struct lm_verified verified = { .compilers = "" };
	struct lm_err *err = check_text(req, arena);

	if (!err)
		err = check_meaning(req, arena, &verified);
	if (!err)
		*out = verified;
	return err;
}
