/*
 * promise.c - `linemate patch --promise FILE`: the plan's promises, and what
 * check needs to read the record again: the options of this run, with paths
 * that begin where this run did, told from the file's own place.
 */
#include "output/cli/promise.h"

#include "base/file.h"
#include "output/promise_plan.h"

#include <string.h>

static const char *directory_of(struct lm_arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? lm_arena_strndup(arena, path, (size_t)(slash - path) + 1) : ".";
}

/* From one absolute directory to another. */
static const char *relative(struct lm_arena *arena, const char *from, const char *to)
{
	struct lm_str s = { 0 };
	size_t same = 0, i = 0;
	const char *text;

	while (from[i] && from[i] == to[i])
		if (from[i++] == '/')
			same = i;
	if ((!from[i] || from[i] == '/') && (!to[i] || to[i] == '/'))
		same = i + (from[i] == '/' || to[i] == '/');
	for (const char *p = strlen(from) > same ? from + same : ""; *p; p += strspn(p, "/")) {
		p += strcspn(p, "/");
		lm_str_add(&s, s.len ? "/.." : "..");
	}
	if (strlen(to) > same)
		lm_str_addf(&s, "%s%s", s.len ? "/" : "", to + same);
	text = lm_arena_strdup(arena, s.len ? lm_str_text(&s) : ".");
	lm_str_release(&s);
	return text;
}

static struct lm_err *fill_head(struct lm_job *job, struct lm_promises *p)
{
	const struct lm_options *o = job->o;
	const char *dir = directory_of(&job->arena, o->promise);
	const char *from = lm_real_path(dir, &job->arena), *to = lm_real_path(".", &job->arena);

	if (!from || !to)
		return lm_err_new(LM_ERR_INPUT, "%s: this directory for --promise does not exist.", dir);
	p->path = o->promise;
	p->record = o->record;
	p->directory = relative(&job->arena, from, to);
	if (!strcmp(p->directory, "."))
		p->directory = NULL;
	p->header = o->header;
	p->source = o->source;
	p->compile_db = o->compile_db;
	p->kbuild = o->kbuild;
	p->kernel_headers = o->kernel_headers;
	p->root = o->root;
	p->line = o->line;
	p->base_align = o->base_align;
	for (size_t i = 0; i < o->nr_flags; i++)
		*LM_ARENA_PUSH(&job->arena, p->flags, p->nr_flags, p->flags_cap) = o->flags[i];
	for (size_t i = 0; i < o->kconfigs.nr; i++)
		*LM_ARENA_PUSH(&job->arena, p->kconfigs, p->nr_kconfigs, p->kconfigs_cap) = o->kconfigs.items[i];
	return NULL;
}

/* Is the name that of another configuration, or of one in front of number i as the file calls it? */
static bool is_taken(const struct lm_job *job, const char *const *names, size_t i, const char *name)
{
	for (size_t k = 0; k < job->configs.nr; k++)
		if (k != i && (!strcmp(job->configs.items[k].name, name) || (k < i && !strcmp(names[k], name))))
			return true;
	return false;
}

/* "-ZSWAP +MEMCG_V1" of a derived configuration as a name that --config takes: "no-ZSWAP.MEMCG_V1". */
static const char *file_name(struct lm_job *job, const char *const *names, size_t i)
{
	const char *name = job->configs.items[i].name, *unique;
	struct lm_str s = { 0 };

	if (!strpbrk(name, "+ ,=:") && *name != '-')
		return name;
	for (; *name; name++) {
		if (*name == '-' && (s.len == 0 || strchr(" ,", name[-1])))
			lm_str_add(&s, "no-");
		else if (*name == ' ' || *name == ',' || *name == '=' || *name == ':')
			lm_str_add_char(&s, '.');
		else if (*name != '+')
			lm_str_add_char(&s, *name);
	}
	unique = lm_arena_strdup(&job->arena, lm_str_text(&s));
	for (unsigned n = 2; is_taken(job, names, i, unique); n++)
		unique = lm_arena_printf(&job->arena, "%s-%u", lm_str_text(&s), n);
	lm_str_release(&s);
	return unique;
}

/* Writes the configurations by names that can stand in the file, and lets the promises call them so. */
static void name_configs(struct lm_job *job, struct lm_promises *p)
{
	const char **names = LM_ARENA_ARRAY(&job->arena, const char *, job->configs.nr);

	for (size_t i = 0; i < job->configs.nr; i++) {
		const struct lm_config *c = &job->configs.items[i];

		names[i] = file_name(job, names, i);
		if (i && (i <= job->o->configs.nr || c->derived))
			*LM_ARENA_PUSH(&job->arena, p->configs, p->nr_configs, p->configs_cap) =
				lm_arena_printf(&job->arena, "%s:%s", names[i], c->spec);
		for (size_t n = 0; n < p->nr; n++)
			for (uint32_t k = 0; k < p->items[n].nr_configs; k++)
				if (p->items[n].configs[k] == c->name)
					p->items[n].configs[k] = names[i];
	}
}

struct lm_err *lm_job_write_promises(struct lm_job *job, const struct lm_story *story)
{
	struct lm_promises p = { 0 };
	struct lm_str out = { 0 };
	struct lm_err *err;

	if (!job->o->promise)
		return NULL;
	err = fill_head(job, &p);
	if (!err)
		err = lm_promises_of_plan(story, &job->arena, &p);
	if (err)
		return err;
	name_configs(job, &p);
	lm_promises_print(&p, &out);
	err = lm_file_write(job->o->promise, out.text, out.len);
	lm_str_release(&out);
	return err;
}
