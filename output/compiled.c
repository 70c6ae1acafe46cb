/* compiled.c - both compilers asked where they put the members of the rewritten record. */
#include "output/compiled.h"

#include "base/file.h"
#include "output/members.h"
#include "output/probe.h"
#include "output/scratch.h"

#include <string.h>
#include <sys/utsname.h>

enum { GCC, CLANG, NR_COMPILERS };

/* Its own memory, since others run at the same time. */
struct lm_compilation {
	struct lm_arena arena;
	const struct lm_verify_request *req;
	const struct lm_mirror *mirror;
	const char *dir, *edits, *compiler;
	uint32_t view;
	int kind;
	struct lm_err *err;
	const char *version;
	const char *unspoken;	/* why this compiler says nothing of this configuration, or NULL */
};

static struct lm_err *probe(struct lm_compilation *job, bool changed, bool header_alone, struct lm_probe *ret)
{
	const struct lm_config *config = &job->req->configs->items[job->view];
	const struct lm_probe_request req = {
		.configs = job->req->configs, .config = config,
		.record = job->req->subject->views[job->view].rec, .compiler = job->compiler,
		.is_clang = job->kind == CLANG, .mirror = changed ? job->mirror : NULL, .dir = job->dir,
		.edits = job->edits, .header_alone = header_alone,
		.name = lm_arena_printf(&job->arena, "%s-%u-%s", header_alone ? "alone" : changed ? "after" : "before",
					job->view, job->compiler),
	};

	return lm_probe_run(&req, &job->arena, ret);
}

/* The changed header did not compile: does the original? */
static struct lm_err *explain_failure(struct lm_compilation *job, const struct lm_probe *after)
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
	/* Nobody asked for a derived configuration: it is no reason to give no answer. */
	if (before.status && job->req->configs->items[job->view].derived) {
		job->unspoken = lm_arena_printf(&job->arena, "it does not compile the header there as it is: %s",
						before.complaint);
		return NULL;
	}
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
static struct lm_err *explain_difference(struct lm_compilation *job, const struct lm_members *after, const char *how)
{
	const char *config = job->req->configs->items[job->view].name;
	const struct lm_record *rec = job->req->subject->views[job->view].rec;
	struct lm_members want = lm_members_named(lm_members_of_record(rec, &job->arena), &job->arena);
	const char *before_how = NULL;
	struct lm_probe before;
	struct lm_err *err = probe(job, false, false, &before);

	if (err)
		return err;
	if (!before.status) {
		struct lm_members got = lm_members_of_debuginfo(before.record, &job->arena);

		before_how = lm_members_difference(&want, &got, 0, &job->arena);
	}
	lm_debuginfo_close(before.bin);
	if (before_how)
		return lm_err_new(LM_ERR_REFUSED, "Configuration \"%s\": %s and libclang do not agree on %s even before any "
				  "change (%s): there is no layout that is right for both.", config, job->compiler,
				  job->req->record, before_how);
	if (!lm_members_difference(&want, after, 0, &job->arena))
		return lm_err_new(LM_ERR_INPUT, "Configuration \"%s\": %s reads the header by a path that does not lead "
				  "through %s, so the change cannot be checked; give --root, or flags that name the header "
				  "below it.", config, job->compiler, job->mirror->root);
	return lm_err_new(LM_ERR_BUG, "%s: %s, compiled with %s after the change in configuration \"%s\": %s; nothing was "
			  "changed, please report this.", job->req->configs->header_in_root, job->req->record,
			  job->compiler, config, how);
}

/*
 * Compiles the rewritten header; *how is the first difference from the plan,
 * NULL if there is none.  The names in *got are after->bin's: close it last.
 */
static struct lm_err *compile_changed(struct lm_compilation *job, bool header_alone, struct lm_probe *after,
				      struct lm_members *got, const char **how)
{
	struct lm_members want = lm_members_named(lm_members_planned(job->req, job->view, &job->arena), &job->arena);
	struct lm_err *err = probe(job, true, header_alone, after);

	*how = NULL;
	if (err || after->status)
		return err;
	*got = lm_members_of_debuginfo(after->record, &job->arena);
	*how = lm_members_difference(&want, got, lm_members_barriers(job->req, job->view), &job->arena);
	job->version = lm_probe_version(after->record->producer, &job->arena);
	return NULL;
}

/*
 * A source's functions take most of the time and may be more than the compiler
 * can do (clang 19 has no code for some of the kernel's per-CPU accesses): the
 * header alone is tried first.  Where it needs what the source includes or
 * defines before it, the whole source decides.
 */
static struct lm_err *compile(struct lm_compilation *job)
{
	struct lm_probe after = { 0 };
	struct lm_members got;
	struct lm_err *err = NULL;
	const char *how = NULL;
	bool alone = job->req->configs->source;

	if (alone)
		err = compile_changed(job, true, &after, &got, &how);
	if (!alone || (!err && (after.status || how))) {
		lm_debuginfo_close(after.bin);
		after = (struct lm_probe){ 0 };
		err = compile_changed(job, false, &after, &got, &how);
		if (!err && after.status)
			err = explain_failure(job, &after);
		else if (!err && how)
			err = explain_difference(job, &got, how);
	}
	lm_debuginfo_close(after.bin);
	return err;
}

void lm_compilations_run(struct lm_compilations *c, size_t i)
{
	if (!c->items[i].unspoken)
		c->items[i].err = compile(&c->items[i]);
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

/* The machine that clang compiles for, if the flags say that it is another one; NULL. */
static const char *foreign_target(const struct lm_config *config)
{
	const char *target = NULL;
	struct utsname here;

	for (size_t i = 0; i < config->nr_clang_args; i++) {
		const char *arg = config->clang_args[i];

		if (!strncmp(arg, "--target=", 9))
			target = arg + 9;
		else if (!strcmp(arg, "-target") && i + 1 < config->nr_clang_args)
			target = config->clang_args[i + 1];
	}
	if (!target || uname(&here))
		return NULL;

	size_t n = strcspn(target, "-");

	return n == strlen(here.machine) && !strncmp(target, here.machine, n) ? NULL : target;
}

/* gcc is one program for each machine: arm-linux-gnueabi-gcc. */
static void find_gcc(struct lm_compilation *job, struct lm_arena *arena)
{
	const char *target = foreign_target(&job->req->configs->items[job->view]);
	const char *cross = target ? lm_arena_printf(arena, "%s-gcc", target) : NULL;

	if (!target)
		return;
	job->compiler = cross;
	if (!lm_in_path(cross))
		job->unspoken = lm_arena_printf(arena, "%s is not installed", cross);
}

/* Each configuration with each compiler found. */
static struct lm_err *list(struct lm_compilations *c, const char *const found[NR_COMPILERS], struct lm_arena *arena)
{
	const struct lm_verify_request *req = c->req;

	c->items = LM_ARENA_ARRAY(arena, struct lm_compilation, (size_t)NR_COMPILERS * req->subject->nr_views);
	for (uint32_t v = 0; v < req->subject->nr_views; v++) {
		const char *edits;
		struct lm_err *err = write_edits(&req->configs->items[v], v, c->dir, arena, &edits);

		if (err)
			return err;
		for (int kind = 0; kind < NR_COMPILERS; kind++) {
			if (!found[kind])
				continue;
			c->items[c->nr] = (struct lm_compilation){
				.req = req, .mirror = &c->mirror, .dir = c->dir, .edits = edits,
				.compiler = found[kind], .view = v, .kind = kind,
			};
			if (kind == GCC)
				find_gcc(&c->items[c->nr], arena);
			c->nr++;
		}
	}
	return NULL;
}

struct lm_err *lm_compilations_prepare(const struct lm_verify_request *req, struct lm_arena *arena,
				       struct lm_compilations *out)
{
	const char *found[NR_COMPILERS];
	struct lm_err *err;

	out->req = req;
	find_compilers(found);
	if (!found[GCC] && !found[CLANG])
		return lm_err_new(LM_ERR_INPUT, "There is neither gcc nor clang in PATH to check the change with; install one "
				  "of them, best both.");
	err = lm_temp_dir(arena, &out->dir);
	if (!err)
		err = lm_scratch_dir(arena, &out->links);
	if (!err)
		err = make_mirror(req, out->links, arena, &out->mirror);
	if (!err)
		err = list(out, found, arena);
	return err;
}

struct lm_err *lm_compilations_collect(struct lm_compilations *c, struct lm_arena *arena, struct lm_verified *out)
{
	const char *version[NR_COMPILERS] = { NULL };

	out->unspoken = LM_ARENA_ARRAY(arena, struct lm_unspoken, c->nr + 1);
	out->nr_unspoken = 0;
	for (size_t i = 0; i < c->nr; i++) {
		struct lm_err *err = c->items[i].err;

		c->items[i].err = NULL;
		if (err)
			return err;
		if (c->items[i].version)
			version[c->items[i].kind] = lm_arena_strdup(arena, c->items[i].version);
		if (c->items[i].unspoken)
			out->unspoken[out->nr_unspoken++] = (struct lm_unspoken){
				c->req->configs->items[c->items[i].view].name, c->items[i].kind == GCC ? "gcc" : "clang",
				lm_arena_strdup(arena, c->items[i].unspoken),
			};
	}
	name_compilers(version, arena, out);
	out->nr_compilations = (uint32_t)c->nr - out->nr_unspoken;
	return NULL;
}

void lm_compilations_remove(struct lm_compilations *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		lm_err_free(c->items[i].err);
		lm_arena_release(&c->items[i].arena);
	}
	if (c->dir)
		lm_remove_tree(c->dir);
	if (c->links)
		lm_remove_tree(c->links);
}
