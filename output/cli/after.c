/* after.c - the record as another version of its header has it. */
#include "output/cli/after.h"

#include "base/file.h"

#define MAX_HEADER (16u << 20)

/* The parser names the file that the new text stands for. */
static struct lm_err *in_place_of(struct lm_err *err, const char *path, const char *header)
{
	struct lm_err *whole;

	if (!err)
		return NULL;
	whole = lm_err_new(err->code, "With %s in the place of %s: %s", path, header, err->msg);
	lm_err_free(err);
	return whole;
}

struct lm_err *lm_after_parse(struct lm_after *after, struct lm_job *job, const char *path)
{
	struct lm_source_request request = { .configs = &job->configs, .record = job->o->record };
	struct lm_err *err;
	char *text;
	size_t len;

	err = lm_file_read(path, "header", MAX_HEADER, &job->arena, &text, &len);
	if (err)
		return err;
	request.text = text;
	request.len = len;
	after->nr = job->configs.nr;
	after->sources = LM_ARENA_ARRAY(&job->arena, struct lm_source, after->nr);
	err = lm_source_parse_all(&request, after->sources);
	if (!err)
		err = lm_subject_make(job->o->header, text, len, after->sources, after->nr, &job->arena, &after->body,
				      &after->subject);
	return in_place_of(err, path, job->o->header);
}

struct lm_err *lm_after_join(struct lm_after *after, struct lm_job *job)
{
	lm_accesses_init(&after->accesses);
	after->has_accesses = true;
	/* By member, never by offset: offsets are those of the version that ran. */
	lm_join_name_rows(&job->subject, &job->accesses);
	lm_accesses_merge(&after->accesses, &job->accesses, 1.0);
	return lm_join(&after->subject, &after->accesses, job->o->record, job->o->cpus, &job->arena, &after->usage);
}

void lm_after_release(struct lm_after *after)
{
	for (size_t i = 0; i < after->nr; i++)
		lm_source_release(&after->sources[i]);
	if (after->has_accesses)
		lm_accesses_release(&after->accesses);
}
