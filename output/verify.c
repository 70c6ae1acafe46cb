/*
 * verify.c - is the rewritten header what the plan says?
 *
 * Three judges that share nothing with the planner: the bytes, libclang, and
 * both compilers through their debug info.
 */
#include "output/verify.h"

#include "base/file.h"
#include "base/parallel.h"
#include "output/mirror.h"
#include "output/probe.h"
#include "output/scratch.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A member as planned, or as one of the judges sees it. */
struct member {
	const char *name, *key, *type;	/* type is NULL in debug info */
	uint64_t bit_offset, size;
	uint32_t bits;
};

struct members {
	struct member *items;
	size_t nr;
	uint64_t size;
	uint32_t align;		/* 0: not known */
};

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

/* Nothing outside the braces changed, and inside them nothing but what rewrite.h lists. */
static struct lm_err *check_text(const struct lm_verify_request *req, struct lm_arena *arena)
{
	const struct lm_body *body = req->subject->body;
	const struct lm_rewrite *rw = req->rewrite;
	size_t behind = body->len - body->end;
	struct lm_tokens old, now;
	struct lm_err *err;

	if (rw->len < body->begin + behind || memcmp(rw->text, body->text, body->begin) ||
	    memcmp(rw->text + rw->len - behind, body->text + body->end, behind))
		return lm_err_new(LM_ERR_BUG, "The rewritten header differs outside the braces of %s; nothing was changed, "
				  "please report this.", req->record);
	lm_body_tokens(body->text, body->begin, body->end, arena, &old);
	lm_body_tokens(rw->text, body->begin, rw->len - behind, arena, &now);
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

/* ---- what is planned, and what a judge sees ---- */

static struct member planned(const struct lm_field *f, uint64_t bit_offset)
{
	return (struct member){ f->name, f->key, f->type, bit_offset, f->size, f->bits };
}

/* View v's members in the planned order at the planned places. */
static struct members plan_members(const struct lm_verify_request *req, uint32_t v, struct lm_arena *arena)
{
	const struct lm_view *view = &req->subject->views[v];
	const struct lm_layout *lay = &req->after[v];
	struct members all = { .size = lay->size, .align = lay->align };

	all.items = LM_ARENA_ARRAY(arena, struct member, view->rec->nr_fields + 1u);
	for (uint32_t i = 0; i < req->subject->body->nr_units; i++) {
		uint32_t unit = req->order->units[i];

		for (uint32_t k = 0; k < view->nr_fields[unit]; k++) {
			uint32_t f = view->first_field[unit] + k;

			all.items[all.nr++] = planned(&view->rec->fields[f], lay->bit_offset[f]);
		}
	}
	return all;
}

static struct members record_members(const struct lm_record *rec, struct lm_arena *arena)
{
	struct members all = { .size = rec->size, .align = rec->align };

	all.items = LM_ARENA_ARRAY(arena, struct member, rec->nr_fields + 1u);
	for (uint32_t f = 0; f < rec->nr_fields; f++)
		all.items[all.nr++] = planned(&rec->fields[f], rec->fields[f].bit_offset);
	return all;
}

static struct members dwarf_members(const struct lm_dbg_record *rec, struct lm_arena *arena)
{
	struct members all = { .size = rec->size };

	all.items = LM_ARENA_ARRAY(arena, struct member, rec->nr_members + 1u);
	for (uint32_t i = 0; i < rec->nr_members; i++) {
		const struct lm_dbg_member *m = &rec->members[i];

		all.items[all.nr++] = (struct member){ m->name, m->key, NULL, m->bit_offset, m->size, m->bits };
	}
	return all;
}

/* Debug info does not mention unnamed bit-fields: take them out. */
static struct members without_unnamed_bits(struct members all, struct lm_arena *arena)
{
	struct members rest = all;

	rest.items = LM_ARENA_ARRAY(arena, struct member, all.nr + 1);
	rest.nr = 0;
	for (size_t i = 0; i < all.nr; i++)
		if (all.items[i].bits == LM_NOT_BITS || *all.items[i].name)
			rest.items[rest.nr++] = all.items[i];
	return rest;
}

/* Padding macros that were added make members without bytes: how many are there in view v? */
static size_t nr_barriers(const struct lm_verify_request *req, uint32_t v)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < req->subject->body->nr_units; i++)
		nr += req->order->barrier[i] && req->subject->views[v].nr_fields[req->order->units[i]];
	return nr;
}

/* ---- comparing ---- */

static const char *called(const struct member *m)
{
	return *m->name ? m->name : *m->key ? m->key : "an unnamed member";
}

static char *place(uint64_t bit_offset, struct lm_arena *arena)
{
	if (bit_offset % 8)
		return lm_arena_printf(arena, "byte %llu, bit %u", (unsigned long long)(bit_offset / 8),
				       (unsigned)(bit_offset % 8));
	return lm_arena_printf(arena, "byte %llu", (unsigned long long)(bit_offset / 8));
}

static char *whole(const struct members *m, struct lm_arena *arena)
{
	if (!m->align)
		return lm_arena_printf(arena, "%llu bytes", (unsigned long long)m->size);
	return lm_arena_printf(arena, "%llu bytes aligned to %u", (unsigned long long)m->size, m->align);
}

static bool same_member(const struct member *a, const struct member *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->key, b->key) && a->size == b->size && a->bits == b->bits &&
	       (!a->type || !b->type || !strcmp(a->type, b->type));
}

/* The first difference in words, NULL if there is none.  `spare` members without bytes may be extra in got. */
static const char *difference(const struct members *want, const struct members *got, size_t spare,
			      struct lm_arena *arena)
{
	size_t g = 0;

	for (size_t w = 0; w < want->nr; w++) {
		const struct member *a = &want->items[w];

		while (spare && g < got->nr && !got->items[g].size && !same_member(a, &got->items[g]))
			g++, spare--;
		if (g >= got->nr)
			return lm_arena_printf(arena, "%s is missing", called(a));

		const struct member *b = &got->items[g++];

		if (!same_member(a, b))
			return lm_arena_printf(arena, "%s stands where %s should", called(b), called(a));
		if (a->bit_offset != b->bit_offset)
			return lm_arena_printf(arena, "%s is at %s and should be at %s", called(a),
					       place(b->bit_offset, arena), place(a->bit_offset, arena));
	}
	while (spare && g < got->nr && !got->items[g].size)
		g++, spare--;
	if (g < got->nr)
		return lm_arena_printf(arena, "%s is unexpected", called(&got->items[g]));
	if (want->size != got->size || (want->align && got->align && want->align != got->align))
		return lm_arena_printf(arena, "it has %s and should have %s", whole(got, arena), whole(want, arena));
	return NULL;
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
		struct members want = plan_members(req, v, arena);
		struct members got = record_members(&sources[v].record, arena);
		const char *how = difference(&want, &got, nr_barriers(req, v), arena);

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

static struct lm_err *check_parse(const struct lm_verify_request *req, struct lm_arena *arena)
{
	const struct lm_source_request again = {
		.configs = req->configs, .record = req->record, .text = req->rewrite->text, .len = req->rewrite->len,
	};
	uint32_t nr = req->subject->nr_views;
	struct lm_source *sources = calloc(nr, sizeof(*sources));
	struct lm_subject subject;
	struct lm_body body;
	struct lm_err *err;

	if (!sources)
		lm_oom();
	err = lm_source_parse_all(&again, sources);
	if (!err)
		err = lm_subject_make(req->configs->header, again.text, again.len, sources, nr, arena, &body, &subject);
	if (err)
		err = as_bug(req, err);
	else
		err = compare_sources(req, sources, arena);
	for (uint32_t v = 0; v < nr; v++)
		lm_source_release(&sources[v]);
	free(sources);
	return err;
}

/* ---- the compilers ---- */

enum { GCC, CLANG, NR_COMPILERS };

/* One compilation; its own memory, since they run at the same time. */
struct job {
	struct lm_arena arena;
	const struct lm_verify_request *req;
	const struct lm_mirror *mirror;
	const char *dir, *edits, *compiler;
	uint32_t view;
	int kind;
	struct lm_err *err;
	const char *version;
	atomic_size_t *done;
	size_t total;
};

static struct lm_err *probe(struct job *job, bool changed, bool header_alone, struct lm_probe *ret)
{
	const struct lm_config *config = &job->req->configs->items[job->view];
	const struct lm_probe_request req = {
		.configs = job->req->configs, .config = config,
		.record = job->req->subject->views[job->view].rec, .compiler = job->compiler,
		.is_clang = job->kind == CLANG, .mirror = changed ? job->mirror : NULL, .dir = job->dir,
		.edits = job->edits, .header_alone = header_alone,
		.name = lm_arena_printf(&job->arena, "%s-%u-%s", changed ? "after" : "before", job->view, job->compiler),
	};

	return lm_probe_run(&req, &job->arena, ret);
}

/* The changed header did not compile: does the original? */
static struct lm_err *explain_failure(struct job *job, const struct lm_probe *after)
{
	const char *config = job->req->configs->items[job->view].name;
	struct lm_probe before;
	struct lm_err *err;

	if (after->status == 124)
		return lm_err_new(LM_ERR_LIMIT, "Configuration \"%s\": %s was not done after ten minutes.", config,
				  job->compiler);
	err = probe(job, false, false, &before);
	if (err)
		return err;
	lm_debuginfo_close(before.bin);
	if (before.status)
		return lm_err_new(LM_ERR_INPUT, "Configuration \"%s\": %s does not compile the header as it is, with or "
				  "without the change: %s; check the flags after --.", config, job->compiler,
				  *before.complaint ? before.complaint : "it says nothing");
	return lm_err_new(LM_ERR_BUG, "Configuration \"%s\": %s compiles the header, but not the rewritten one: %s; nothing "
			  "was changed, please report this.", config, job->compiler, after->complaint);
}

/*
 * The members lie elsewhere than planned.  That is our bug unless the original
 * shows that this compiler never agreed with clang's library about the record,
 * or that it did not read the changed header at all.
 */
static struct lm_err *explain_difference(struct job *job, const struct members *after, const char *how)
{
	const char *config = job->req->configs->items[job->view].name;
	struct members want = without_unnamed_bits(record_members(job->req->subject->views[job->view].rec, &job->arena),
						   &job->arena);
	const char *before_how = NULL;
	struct lm_probe before;
	struct lm_err *err = probe(job, false, false, &before);

	if (err)
		return err;
	if (!before.status) {
		struct members got = dwarf_members(before.record, &job->arena);

		before_how = difference(&want, &got, 0, &job->arena);
	}
	lm_debuginfo_close(before.bin);
	if (before_how)
		return lm_err_new(LM_ERR_REFUSED, "Configuration \"%s\": %s and libclang do not agree on %s even before any "
				  "change (%s): there is no layout that is right for both.", config, job->compiler,
				  job->req->record, before_how);
	if (!difference(&want, after, 0, &job->arena))
		return lm_err_new(LM_ERR_INPUT, "Configuration \"%s\": %s reads the header by a path that does not lead "
				  "through %s, so the change cannot be checked; give --root, or flags that name the header "
				  "below it.", config, job->compiler, job->mirror->root);
	return lm_err_new(LM_ERR_BUG, "%s: %s, compiled with %s after the change in configuration \"%s\": %s; nothing was "
			  "changed, please report this.", job->req->configs->header_in_root, job->req->record,
			  job->compiler, config, how);
}

/* Compiles the rewritten header; *how is the first difference from the plan, NULL if there is none. */
static struct lm_err *compile_changed(struct job *job, bool header_alone, struct lm_probe *after, struct members *got,
				      const char **how)
{
	struct members want = without_unnamed_bits(plan_members(job->req, job->view, &job->arena), &job->arena);
	struct lm_err *err = probe(job, true, header_alone, after);

	*how = NULL;
	if (err || after->status)
		return err;
	*got = dwarf_members(after->record, &job->arena);
	*how = difference(&want, got, nr_barriers(job->req, job->view), &job->arena);
	job->version = lm_probe_version(after->record->producer, &job->arena);
	lm_debuginfo_close(after->bin);
	return NULL;
}

/*
 * A source's functions take most of the time and may be more than the compiler
 * can do (clang 19 has no code for some of the kernel's per-CPU accesses): the
 * header alone is tried first.  Where it needs what the source includes or
 * defines before it, the whole source decides.
 */
static struct lm_err *compile(struct job *job)
{
	struct lm_probe after;
	struct members got;
	const char *how;
	struct lm_err *err;

	if (job->req->configs->source) {
		err = compile_changed(job, true, &after, &got, &how);
		if (err || (!after.status && !how))
			return err;
	}
	err = compile_changed(job, false, &after, &got, &how);
	if (err)
		return err;
	if (after.status)
		return explain_failure(job, &after);
	return how ? explain_difference(job, &got, how) : NULL;
}

static void run_job(void *arg, size_t i)
{
	struct job *job = (struct job *)arg + i;

	job->err = compile(job);
	lm_progress("compiling", atomic_fetch_add(job->done, 1) + 1, job->total);
}

static void find_compilers(const char *found[NR_COMPILERS])
{
	static const char *const clangs[] = {
		"clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14", "clang",
	};

	found[GCC] = lm_in_path("gcc") ? "gcc" : NULL;
	found[CLANG] = NULL;
	for (size_t i = 0; i < sizeof(clangs) / sizeof(*clangs) && !found[CLANG]; i++)
		found[CLANG] = lm_in_path(clangs[i]) ? clangs[i] : NULL;
}

/* The real file for a configuration's virtual one, or NULL. */
static struct lm_err *write_edits(const struct lm_config *config, uint32_t v, const char *dir, struct lm_arena *arena,
				  const char **ret)
{
	char *path = lm_arena_printf(arena, "%s/edits-%u.h", dir, v);

	*ret = *config->edits ? path : NULL;
	return *ret ? lm_scratch_write(path, config->edits, strlen(config->edits)) : NULL;
}

static struct lm_err *make_mirror(const struct lm_verify_request *req, const char *dir, struct lm_arena *arena,
				  struct lm_mirror *mirror)
{
	const struct lm_configs *configs = req->configs;
	const char **real = LM_ARENA_ARRAY(arena, const char *, configs->nr + 1);
	char *source_dir = lm_arena_strdup(arena, configs->source ? configs->source : configs->header);
	struct lm_mirror_request want = {
		.root = configs->root, .dir = lm_arena_printf(arena, "%s/tree", dir), .file = configs->header,
		.text = req->rewrite->text, .len = req->rewrite->len, .real = real, .nr_real = configs->nr + 1,
	};

	*strrchr(source_dir, '/') = 0;
	for (size_t i = 0; i < configs->nr; i++)
		real[i] = configs->items[i].dir;
	real[configs->nr] = source_dir;
	/* Links to everything below / would hide nothing from any flag: mirror the header's folder alone. */
	if (!strcmp(configs->root, "/")) {
		char *parent = lm_arena_strdup(arena, configs->header);

		*strrchr(parent, '/') = 0;
		want.root = parent;
	}
	return lm_mirror_make(&want, arena, mirror);
}

/* "gcc 12.2.0 and clang 19.1.7" */
static void name_compilers(const char *const version[NR_COMPILERS], struct lm_arena *arena, struct lm_verified *out)
{
	const char *both = version[GCC] && version[CLANG] ? " and " : "";

	out->compilers = lm_arena_printf(arena, "%s%s%s%s%s", version[GCC] ? "gcc " : "",
					 version[GCC] ? version[GCC] : "", both, version[CLANG] ? "clang " : "",
					 version[CLANG] ? version[CLANG] : "");
	out->missing = !version[GCC] ? "gcc" : !version[CLANG] ? "clang" : NULL;
}

/* Takes the results out of the jobs: the first error in order, the versions. */
static struct lm_err *collect(struct job *jobs, size_t nr, struct lm_arena *arena, struct lm_verified *out)
{
	const char *version[NR_COMPILERS] = { NULL };
	struct lm_err *err = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (err)
			lm_err_free(jobs[i].err);
		else
			err = jobs[i].err;
		if (jobs[i].version)
			version[jobs[i].kind] = lm_arena_strdup(arena, jobs[i].version);
		lm_arena_release(&jobs[i].arena);
	}
	if (err)
		return err;
	name_compilers(version, arena, out);
	out->nr_compilations = (uint32_t)nr;
	return NULL;
}

/* The jobs: each configuration with each compiler found. */
static struct lm_err *make_jobs(const struct job *model, const char *const found[NR_COMPILERS], struct lm_arena *arena,
				struct job *jobs, size_t *nr)
{
	for (uint32_t v = 0; v < model->req->subject->nr_views; v++) {
		const char *edits;
		struct lm_err *err = write_edits(&model->req->configs->items[v], v, model->dir, arena, &edits);

		if (err)
			return err;
		for (int kind = 0; kind < NR_COMPILERS; kind++) {
			if (!found[kind])
				continue;
			jobs[*nr] = *model;
			jobs[*nr].view = v;
			jobs[*nr].edits = edits;
			jobs[*nr].kind = kind;
			jobs[(*nr)++].compiler = found[kind];
		}
	}
	for (size_t i = 0; i < *nr; i++)
		jobs[i].total = *nr;
	return NULL;
}

static struct lm_err *check_compiled(const struct lm_verify_request *req, const char *dir, const char *links,
				     struct lm_arena *arena, struct lm_verified *out)
{
	struct job *jobs = LM_ARENA_ARRAY(arena, struct job, (size_t)NR_COMPILERS * req->subject->nr_views);
	const char *found[NR_COMPILERS];
	atomic_size_t done = 0;
	struct lm_mirror mirror;
	struct job model = { .req = req, .mirror = &mirror, .dir = dir, .done = &done };
	struct lm_err *err;
	size_t nr = 0;

	find_compilers(found);
	if (!found[GCC] && !found[CLANG])
		return lm_err_new(LM_ERR_INPUT, "There is neither gcc nor clang in PATH to check the change with; install one "
				  "of them, best both.");
	err = make_mirror(req, links, arena, &mirror);
	if (!err)
		err = make_jobs(&model, found, arena, jobs, &nr);
	if (err)
		return err;
	lm_parallel(nr, run_job, jobs);
	return collect(jobs, nr, arena, out);
}

static struct lm_err *check_in_temporary(const struct lm_verify_request *req, struct lm_arena *arena,
					 struct lm_verified *out)
{
	char *dir = NULL, *links = NULL;
	struct lm_err *err = lm_temp_dir(arena, &dir);

	if (!err)
		err = lm_scratch_dir(arena, &links);
	if (!err)
		err = check_compiled(req, dir, links, arena, out);
	if (dir)
		lm_remove_tree(dir);
	if (links)
		lm_remove_tree(links);
	return err;
}

struct lm_err *lm_verify(const struct lm_verify_request *req, struct lm_arena *arena, struct lm_verified *out)
{
	struct lm_verified verified = { .compilers = "" };
	struct lm_err *err = check_text(req, arena);

	if (!err)
		err = check_parse(req, arena);
	if (!err)
		err = check_in_temporary(req, arena, &verified);
	if (!err)
		*out = verified;
	return err;
}
