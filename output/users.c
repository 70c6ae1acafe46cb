/* users.c - records that hold the record by value, before and after. */
#include "output/users.h"

#include "base/parallel.h"

#include <string.h>

struct comparing {
	const struct lm_users_request *req;
	struct lm_source_request again;
	struct lm_source *sources;	/* [configs->nr], of the new header */
	struct lm_err **errors;
};

static bool resized(const struct lm_users_request *req, size_t v)
{
	const struct lm_layout *before = &req->plan->before[v], *after = &req->plan->after[v];

	return req->rewrite && req->sources[v].nr_users && (before->size != after->size || before->align != after->align);
}

static void parse_one(void *arg, size_t v)
{
	struct comparing *c = arg;

	if (resized(c->req, v))
		c->errors[v] = lm_source_parse(&c->again, v, &c->sources[v]);
}

static struct lm_err *compare(const struct comparing *c, size_t v, struct lm_arena *arena, struct lm_users *users)
{
	const struct lm_source *old = &c->req->sources[v], *now = &c->sources[v];
	bool again = resized(c->req, v);

	if (again && now->nr_users != old->nr_users)
		return lm_err_new(LM_ERR_BUG, "The rewritten %s has %zu records that hold %s, not %zu; nothing was changed, please "
				  "report this.", c->req->configs->header_in_root, now->nr_users, c->req->record, old->nr_users);
	users->nr = old->nr_users;
	users->rows = LM_ARENA_ARRAY(arena, struct lm_users_row, users->nr + 1);
	for (size_t i = 0; i < users->nr; i++) {
		const struct lm_user *u = &old->users[i];

		users->rows[i] = (struct lm_users_row){ u->name, u->size, again ? now->users[i].size : u->size };
		if (users->rows[i].after > u->size)
			return lm_err_new(LM_ERR_REFUSED, "The new layout of %s would make %s larger in configuration \"%s\" (%llu -> "
					  "%llu bytes); pin what must stay with --pin.", c->req->record, u->name,
					  c->req->configs->items[v].name, (unsigned long long)u->size,
					  (unsigned long long)users->rows[i].after);
	}
	return NULL;
}

/* The original was parsed before: what goes wrong now is ours. */
static struct lm_err *as_bug(const struct comparing *c, struct lm_err *err)
{
	struct lm_err *bug = lm_err_new(LM_ERR_BUG, "The rewritten %s cannot be read any more: %s; nothing was changed, "
					"please report this.", c->req->configs->header_in_root, err->msg);

	lm_err_free(err);
	return bug;
}

struct lm_err *lm_users_compare(const struct lm_users_request *req, struct lm_arena *arena, struct lm_users *users)
{
	size_t nr = req->configs->nr;
	struct comparing c = {
		.req = req,
		.again = { .configs = req->configs, .record = req->record, .want_users = true,
			   .text = req->rewrite ? req->rewrite->text : NULL, .len = req->rewrite ? req->rewrite->len : 0 },
		.sources = LM_ARENA_ARRAY(arena, struct lm_source, nr),
		.errors = LM_ARENA_ARRAY(arena, struct lm_err *, nr),
	};
	struct lm_err *err = NULL;

	lm_parallel(nr, parse_one, &c);
	for (size_t v = 0; v < nr; v++) {
		if (err)
			lm_err_free(c.errors[v]);
		else if (c.errors[v])
			err = as_bug(&c, c.errors[v]);
		else
			err = compare(&c, v, arena, &users[v]);
	}
	for (size_t v = 0; v < nr; v++)
		lm_source_release(&c.sources[v]);
	return err;
}
