/*
 * asserts.c - `linemate patch --asserts`: finds out by parsing which words the
 * project has for an assertion at this place of its header.
 */
#include "output/cli/asserts.h"

#include "output/asserts.h"
#include "output/promise_plan.h"

/* A header must not lean on what one of its users happens to include first: it is parsed alone. */
static bool compiles(struct lm_job *job, const char *text, size_t len)
{
	struct lm_configs configs = job->configs;
	struct lm_source_request request = { .configs = &configs, .record = job->o->record, .text = text, .len = len };
	struct lm_source *sources = LM_ARENA_ARRAY(&job->arena, struct lm_source, configs.nr);
	struct lm_err *err;

	configs.source = NULL;
	err = lm_source_parse_all(&request, sources);
	for (size_t i = 0; i < configs.nr; i++)
		lm_source_release(&sources[i]);
	lm_err_free(err);
	return !err;
}

/* A macro that means another line than this run does asserts something else. */
static bool lines_agree(const struct lm_job *job)
{
	for (size_t i = 0; i < job->configs.nr; i++)
		if (job->sources[i].line_size != job->o->line)
			return false;
	return true;
}

static void choose(struct lm_job *job, const struct lm_story *story, const struct lm_promises *p,
		   const struct lm_rewrite *rewrite, struct lm_asserts *a)
{
	size_t at = rewrite->len - (job->body.len - a->at);

	for (int m = 0; m < LM_NR_ASSERT_MANNERS; m++) {
		enum lm_assert_manner manner = (enum lm_assert_manner)m;

		if (manner < LM_ASSERT_C11 && !lines_agree(job))
			continue;
		lm_asserts_make(story, p, manner, &job->arena, a);
		if (manner == LM_ASSERT_PLAIN || !a->nr ||
		    compiles(job, lm_asserts_insert(a, rewrite->text, rewrite->len, at, &job->arena), rewrite->len + a->len))
			return;
	}
}

struct lm_err *lm_job_add_asserts(struct lm_job *job, const struct lm_story *story, struct lm_rewrite *rewrite)
{
	struct lm_promises p = { 0 };
	struct lm_asserts a = { 0 };
	struct lm_err *err;

	if (!job->o->asserts)
		return NULL;
	err = lm_asserts_place(job->o->header, &job->body, job->subject.views[0].rec, &job->arena, &a.at);
	if (!err)
		err = lm_promises_of_plan(story, &job->arena, &p);
	if (err)
		return err;
	choose(job, story, &p, rewrite, &a);
	if (a.nr)
		lm_asserts_append(&a, &job->body, &job->arena, rewrite);
	return NULL;
}
