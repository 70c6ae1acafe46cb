/* after.c - the record as another text of its header has it. */
#include "output/cli/after.h"

#include "base/file.h"

#define MAX_HEADER (16u << 20)

struct lm_err *lm_after_parse(struct lm_after *after, struct lm_job *job, const char *path)
{
	struct lm_version *versions[] = { &after->version };
	struct lm_err *err;
	char *text;
	size_t len;

	err = lm_file_read(path, "header", MAX_HEADER, &job->arena, &text, &len);
	if (err)
		return err;
	lm_version_of_text(&job->configs, path, path, text, len, &after->version);
	return lm_versions_parse(versions, 1, job->o->record);
}

struct lm_err *lm_after_join(struct lm_after *after, struct lm_job *job)
{
	lm_accesses_init(&after->accesses);
	after->has_accesses = true;
	/* By member, never by offset: offsets are those of the version that ran. */
	lm_join_name_rows(&job->subject, &job->accesses);
	lm_accesses_merge(&after->accesses, &job->accesses, 1.0);
	return lm_version_join(&after->version, &after->accesses, job->o->record, job->o->cpus);
}

void lm_after_release(struct lm_after *after)
{
	lm_version_release(&after->version);
	if (after->has_accesses)
		lm_accesses_release(&after->accesses);
}
