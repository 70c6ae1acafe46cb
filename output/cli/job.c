/* job.c - the steps that the commands share. */
#include "output/cli/job.h"

#include "base/file.h"
#include "output/words.h"
#include "profiles/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HEADER (16u << 20)

void lm_job_start(struct lm_job *job, const struct lm_options *o)
{
	memset(job, 0, sizeof(*job));
	job->o = o;
	job->plan_opts = (struct lm_plan_opts){
		.line = o->line,
		.base_align = o->base_align,
		.moves = o->moves,
		.seconds = o->seconds,
		.allow_barriers = !o->no_barriers,
	};
}

/* With -v: where flags come from, and which were left out. */
static void say_flags(const struct lm_job *job)
{
	struct lm_str s = { 0 };

	for (size_t i = 0; i < job->configs.nr; i++)
		if (job->configs.items[i].dropped && *job->configs.items[i].dropped)
			lm_wrapf(&s, 0, 4, "configuration %s: %s", job->configs.items[i].name,
				 job->configs.items[i].dropped);
	if (job->o->verbose > 0 && !job->o->json)
		lm_job_say(job, &s);
	lm_str_release(&s);
}

struct lm_err *lm_job_read_header(struct lm_job *job)
{
	const struct lm_options *o = job->o;
	struct lm_config_request request = {
		.header = o->header,
		.source = o->source,
		.flags = o->flags,
		.nr_flags = o->nr_flags,
		.compile_db = o->compile_db,
		.kbuild = o->kbuild,
		.kernel_headers = o->kernel_headers,
		.specs = o->configs.items,
		.nr_specs = o->configs.nr,
		.kconfigs = o->kconfigs.items,
		.nr_kconfigs = o->kconfigs.nr,
		.root = o->root,
		.directory = o->directory,
	};
	struct lm_err *err = lm_configs_make(&request, &job->arena, &job->configs);

	if (err)
		return err;
	say_flags(job);
	return lm_file_read(job->configs.header, "header", MAX_HEADER, &job->arena, &job->text, &job->len);
}

static struct lm_source_request source_request(const struct lm_job *job)
{
	return (struct lm_source_request){
		.configs = &job->configs, .record = job->o->record, .text = job->text, .len = job->len,
	};
}

void lm_job_parse_ahead(struct lm_job *job)
{
	struct lm_source_request request = source_request(job);

	job->want_ahead = job->o->auto_configs;
	if (!job->want_ahead)
		job->ahead = lm_source_ahead_start(&request);
}

/* Every configuration parsed; with --configs auto there are more of them then. */
static struct lm_err *parse_all(struct lm_job *job, bool to_patch)
{
	struct lm_source_request request = source_request(job);
	struct lm_err *err;

	request.want_hazards = request.want_users = to_patch;
	if (!job->o->auto_configs) {
		job->sources = LM_ARENA_ARRAY(&job->arena, struct lm_source, job->configs.nr);
		return lm_source_parse_all(&request, job->sources);
	}
	/* What will be compiled is to be known to compile. */
	request.want_bodies = job->want_ahead;
	err = lm_derive(&request, &job->configs, &job->arena, &job->sources, &job->derived);
	request = source_request(job);
	if (!err && job->want_ahead)
		job->ahead = lm_source_ahead_start(&request);
	return err;
}

struct lm_err *lm_job_parse(struct lm_job *job, bool to_patch)
{
	const struct lm_record *rec;
	struct lm_err *err = parse_all(job, to_patch);

	if (err)
		return err;
	err = lm_subject_make(job->o->header, job->text, job->len, job->sources, job->configs.nr, &job->arena,
			      &job->body, &job->subject);
	if (err)
		return err;
	rec = job->subject.views[0].rec;
	job->title = rec->is_typedef_name ? rec->name :
		     lm_arena_printf(&job->arena, "%s %s", rec->is_union ? "union" : "struct", rec->name);
	return NULL;
}

struct lm_err *lm_job_derive(struct lm_job *job)
{
	return job->o->auto_configs ? lm_job_parse(job, false) : NULL;
}

struct lm_err *lm_job_open_binary(struct lm_job *job)
{
	const struct lm_options *o = job->o;
	struct lm_err *err;

	if (!o->binary)
		return NULL;
	err = lm_debuginfo_open(o->binary, &job->binary);
	if (err || !o->record)
		return err;
	err = lm_debuginfo_record(job->binary, o->record, &job->binary_record);
	if (err)
		return err;
	if (!job->binary_record)
		return lm_err_new(LM_ERR_INPUT,
				  "%s: its debug info has no complete definition of %s: give the program that was profiled",
				  o->binary, o->record);
	return job->subject.nr_views ? lm_join_binary(&job->subject.views[0], job->binary_record, o->binary) : NULL;
}

/* Bytes of one object, to tell its addresses from others; 0 if neither header nor binary says it. */
static uint64_t record_size(const struct lm_job *job)
{
	if (job->subject.nr_views)
		return job->subject.views[0].rec->size;
	return job->binary_record ? job->binary_record->size : 0;
}

/* Samples, bound to members by the program's debug info and code. */
static struct lm_err *attribute(struct lm_job *job, struct lm_samples *samples, struct lm_accesses *t,
				uint64_t **bases, size_t *nr_bases)
{
	const struct lm_attribution_opts opts = {
		.record = job->o->record,
		.objects = job->o->objects,
		.nr_objects = job->o->nr_objects,
		.force = job->o->force,
		.bases = bases,
	};
	struct lm_attribution one;
	struct lm_err *err = lm_attribute(job->binary, samples, &opts, t, &one);

	if (err)
		return err;
	*nr_bases = one.objects;
	job->has_attribution = true;
	job->attribution.samples += one.samples;
	job->attribution.objects += one.objects;
	job->attribution.slide = one.slide;
	for (int o = 0; o < LM_NR_OUTCOMES; o++)
		job->attribution.count[o] += one.count[o];
	if (!t->used)
		return lm_err_new(LM_ERR_INPUT, "None of the profile's %" PRIu64 " samples is an access to %s: %" PRIu64
				  " went elsewhere, %" PRIu64 " are in no function of %s; profile what uses the record, "
				  "or give its program as --binary.", one.samples, job->o->record,
				  one.count[LM_OUTCOME_ELSEWHERE], one.count[LM_OUTCOME_NO_FUNCTION], job->o->binary);
	return NULL;
}

/*
 * The sample table has no order: where one is wanted, the file is read again,
 * for the objects that its code has shown.
 */
static struct lm_err *read_order(const struct lm_job *job, const char *path, const uint64_t *bases, size_t nr_bases)
{
	const struct lm_reader_opts opts = {
		.record = job->o->record, .objects = bases, .nr_objects = nr_bases, .record_size = record_size(job),
		.trace = job->trace,
	};
	struct lm_accesses again;
	struct lm_err *err;

	if (!job->trace || !nr_bases || !lm_is_file(path))
		return NULL;
	lm_accesses_init(&again);
	err = lm_profile_read(path, &opts, &again);
	lm_accesses_release(&again);
	return err;
}

/* With a binary, samples need no --object: their instructions say what they touch. */
static struct lm_err *read_with_binary(struct lm_job *job, size_t i, const struct lm_reader_opts *opts,
				       struct lm_accesses *t)
{
	struct lm_samples samples;
	bool has_samples = false;
	uint64_t *bases = NULL;
	size_t nr_bases = 0;
	struct lm_err *err;

	lm_samples_init(&samples);
	err = lm_profile_read_any(job->o->profiles.items[i], opts, t, &samples, &has_samples);
	if (!err && has_samples)
		err = attribute(job, &samples, t, &bases, &nr_bases);
	if (!err && has_samples)
		err = read_order(job, job->o->profiles.items[i], bases, nr_bases);
	lm_samples_release(&samples);
	free(bases);
	return err;
}

static struct lm_err *read_profile(struct lm_job *job, size_t i)
{
	struct lm_reader_opts opts = {
		.record = job->o->record,
		.objects = job->o->objects,
		.nr_objects = job->o->nr_objects,
		.record_size = record_size(job),
		.trace = job->trace,
	};
	struct lm_accesses one;
	struct lm_err *err;

	lm_accesses_init(&one);
	if (job->binary && job->o->record)
		err = read_with_binary(job, i, &opts, &one);
	else
		err = lm_profile_read(job->o->profiles.items[i], &opts, &one);
	if (!err)
		lm_accesses_merge(&job->accesses, &one, job->o->weights[i]);
	lm_accesses_release(&one);
	return err;
}

static bool has_whole_rows(const struct lm_accesses *t)
{
	uint32_t whole = lm_strings_find(t->strings, LM_WHOLE_RECORD, strlen(LM_WHOLE_RECORD));

	for (size_t i = 0; whole != LM_NO_STRING && i < t->nr; i++)
		if (t->rows[i].member == whole)
			return true;
	return false;
}

/* Of several records each has its profiles: is this access file, by its head, of another one of them? */
static bool is_of_another(const struct lm_job *job, const char *path)
{
	const struct lm_list *records = &job->o->records;
	char head[4096];
	FILE *file = records->nr > 1 && lm_is_file(path) ? fopen(path, "r") : NULL;
	size_t len = file ? fread(head, 1, sizeof(head) - 1, file) : 0;
	const char *name;

	if (file)
		fclose(file);
	head[len] = 0;
	name = strncmp(head, "#linemate-access ", 17) ? NULL : strstr(head, "\n#record\t");
	if (!name)
		return false;
	name += strlen("\n#record\t");
	for (size_t i = 0; i < records->nr; i++)
		if (strlen(records->items[i]) == strcspn(name, "\r\n") &&
		    !strncmp(records->items[i], name, strlen(records->items[i])))
			return strcmp(records->items[i], job->o->record) != 0;
	return false;
}

struct lm_err *lm_job_read_profiles(struct lm_job *job)
{
	struct lm_err *err = NULL;
	size_t nr = 0;

	if (!job->o->profiles.nr)
		return NULL;
	lm_accesses_init(&job->accesses);
	job->has_accesses = true;
	for (size_t i = 0; !err && i < job->o->profiles.nr; i++) {
		if (is_of_another(job, job->o->profiles.items[i]))
			continue;
		err = read_profile(job, i);
		nr++;
	}
	if (err)
		return err;
	if (!nr)
		return lm_err_new(LM_ERR_INPUT, "None of the profiles is of %s: give one, or leave its --struct out.",
				  job->o->record);
	lm_accesses_sort(&job->accesses);
	job->by_offset = job->subject.nr_views && !job->binary_record && has_whole_rows(&job->accesses);
	return NULL;
}

struct lm_err *lm_job_join(struct lm_job *job)
{
	if (!job->has_accesses)
		return NULL;
	return lm_join(&job->subject, &job->accesses, job->o->record, job->o->cpus, &job->arena, &job->usage);
}

struct lm_story lm_job_story(const struct lm_job *job)
{
	return (struct lm_story){
		.record = job->title,
		.header = job->o->header,
		.subject = &job->subject,
		.sources = job->sources,
		.usage = job->usage.touches ? &job->usage : NULL,
		.opts = &job->plan_opts,
		.binary = job->o->binary,
		.build_id = job->binary ? lm_debuginfo_build_id(job->binary) : NULL,
		.profiles = job->o->profiles.items,
		.nr_profiles = job->o->profiles.nr,
		.attribution = job->has_attribution ? &job->attribution : NULL,
		.by_offset = job->by_offset,
		.derived = job->o->auto_configs ? &job->derived : NULL,
		.kernel = job->configs.kernel,
	};
}

void lm_job_say(const struct lm_job *job, const struct lm_str *words)
{
	if (job->o->verbose >= 0)
		fputs(lm_str_text(words), stderr);
}

void lm_job_release(struct lm_job *job)
{
	lm_source_ahead_end(job->ahead);
	for (size_t i = 0; job->sources && i < job->configs.nr; i++)
		lm_source_release(&job->sources[i]);
	if (job->has_accesses)
		lm_accesses_release(&job->accesses);
	lm_debuginfo_close(job->binary);
	lm_arena_release(&job->arena);
}
