/* version.c - a record as one version of its sources has it. */
#include "output/version.h"

#include "base/file.h"
#include "base/parallel.h"
#include "optimizer/compare.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HEADER (16u << 20)

/* ---- messages ---- */

static char *replace_all(const char *text, const char *old, const char *new, struct lm_arena *arena)
{
	struct lm_str s = { 0 };
	const char *at;
	char *copy;

	for (; *old && (at = strstr(text, old)); text = at + strlen(old)) {
		lm_str_add_bytes(&s, text, (size_t)(at - text));
		lm_str_add(&s, new);
	}
	lm_str_add(&s, text);
	copy = lm_arena_strdup(arena, lm_str_text(&s));
	lm_str_release(&s);
	return copy;
}

/* An error with paths that the person knows: "HEAD~1:include/x.h:3:1: ...". */
static struct lm_err *in_its_words(struct lm_version *v, struct lm_err *err)
{
	struct lm_arena *arena = &v->arena;
	enum lm_errc code = err->code;
	const char *text = err->msg;

	if (v->tree)
		text = replace_all(text, lm_arena_printf(arena, "%s/", v->tree->mirror.dir),
				   lm_arena_printf(arena, "%s:", v->label), arena);
	else
		text = replace_all(text, v->configs.header, v->shown, arena);
	if (v->absent)
		text = lm_arena_printf(arena, "The record is not in %s: %s", v->label, text);
	else if (text == err->msg || !strstr(text, v->label))
		text = lm_arena_printf(arena, "%s: %s", v->label, text);

	struct lm_err *new = lm_err_new(code, "%s", text);

	lm_err_free(err);
	return new;
}

/* ---- made ---- */

void lm_version_of_text(const struct lm_configs *configs, const char *label, const char *shown, const char *text,
			size_t len, struct lm_version *out)
{
	out->label = label;
	out->shown = shown;
	out->configs = *configs;
	out->text = text;
	out->len = len;
}

static const char **map_args(const struct lm_mirror *m, const char **args, size_t nr, struct lm_arena *arena)
{
	const char **out = LM_ARENA_ARRAY(arena, const char *, nr + 1);

	for (size_t i = 0; i < nr; i++)
		out[i] = lm_mirror_path(m, args[i], arena);
	return out;
}

/* The same configurations, in the mirror. */
static void map_configs(struct lm_version *v, const struct lm_configs *from)
{
	const struct lm_mirror *m = &v->tree->mirror;

	v->configs = *from;
	v->configs.items = LM_ARENA_ARRAY(&v->arena, struct lm_config, from->nr);
	v->configs.header = lm_mirror_path(m, from->header, &v->arena);
	v->configs.source = from->source ? lm_mirror_path(m, from->source, &v->arena) : NULL;
	v->configs.root = lm_mirror_path(m, from->root, &v->arena);
	for (size_t i = 0; i < from->nr; i++) {
		struct lm_config *c = &v->configs.items[i];

		*c = from->items[i];
		c->dir = lm_mirror_path(m, c->dir, &v->arena);
		c->clang_args = map_args(m, c->clang_args, c->nr_clang_args, &v->arena);
	}
}

/* Finds the header under another name if the revision has it so. */
static struct lm_err *find_header(struct lm_version *v, const struct lm_configs *from)
{
	const char *rel = lm_tree_below(v->tree, from->header);
	struct lm_err *err = NULL;

	if (!rel)
		return lm_err_new(LM_ERR_INPUT, "%s: lies outside the git work tree %s; give a header of it.", from->header,
				  v->tree->mirror.root);
	if (lm_is_file(v->configs.header))
		return NULL;
	err = lm_git_old_name(v->tree->git, v->tree->rev, rel, &v->arena, &v->old_name);
	if (!err && !v->old_name)
		err = lm_err_new(LM_ERR_INPUT, "%s:%s: this version has no such header; give one that both have.", v->label,
				 rel);
	if (!err)
		v->configs.header = lm_arena_printf(&v->arena, "%s/%s", v->tree->mirror.dir, v->old_name);
	return err;
}

struct lm_err *lm_version_of_tree(const struct lm_configs *configs, const char *label, struct lm_tree *tree,
				  struct lm_version *out)
{
	struct lm_err *err;
	char *text;

	out->label = label;
	out->tree = tree;
	map_configs(out, configs);
	err = find_header(out, configs);
	if (err)
		return err;
	if (out->configs.source && !lm_is_file(out->configs.source))
		return lm_err_new(LM_ERR_INPUT, "%s:%s: this version has no such source; give one that both have.", label,
				  lm_tree_below(tree, out->configs.source));
	err = lm_file_read(out->configs.header, "header", MAX_HEADER, &out->arena, &text, &out->len);
	if (err)
		return in_its_words(out, err);
	out->text = text;
	return NULL;
}

/* ---- parsed ---- */

static struct lm_source_request request_of(const struct lm_version *v, const char *record)
{
	return (struct lm_source_request){
		.configs = &v->configs, .record = record, .text = v->text, .len = v->len,
		.want_files = v->tree != NULL,
	};
}

/* What makes the parsed sources a version: units, layouts, the name. */
static struct lm_err *complete(struct lm_version *v)
{
	const struct lm_record *rec;
	struct lm_err *err = lm_subject_make(v->configs.header, v->text, v->len, v->sources, v->configs.nr, &v->arena,
					     &v->body, &v->subject);

	if (err)
		return err;
	v->layouts = LM_ARENA_ARRAY(&v->arena, struct lm_layout, v->subject.nr_views);
	for (uint32_t i = 0; i < v->subject.nr_views; i++) {
		struct lm_layout *l = &v->layouts[i];

		rec = v->subject.views[i].rec;
		l->size = rec->size;
		l->align = rec->align;
		l->bit_offset = LM_ARENA_ARRAY(&v->arena, uint64_t, rec->nr_fields + 1u);
		for (uint32_t f = 0; f < rec->nr_fields; f++)
			l->bit_offset[f] = rec->fields[f].bit_offset;
	}
	rec = v->subject.views[0].rec;
	v->title = rec->is_typedef_name ? rec->name :
		   lm_arena_printf(&v->arena, "%s %s", rec->is_union ? "union" : "struct", rec->name);
	return NULL;
}

/*
 * A file of the work tree that was read although the version has another one:
 * "dir/../x.h" leads out of the mirror where dir is a link.  NULL if there is
 * none.
 */
static const char *led_around(const struct lm_version *v, struct lm_arena *arena)
{
	size_t len = strlen(v->tree->mirror.dir);

	for (size_t i = 0; i < v->configs.nr; i++)
		for (size_t k = 0; k < v->sources[i].nr_files; k++) {
			const char *file = v->sources[i].files[k], *real, *rel;

			if (!strncmp(file, v->tree->mirror.dir, len) && !strstr(file, "/../"))
				continue;
			real = lm_real_path(file, arena);
			rel = real && strncmp(real, v->tree->mirror.dir, len) ? lm_tree_below(v->tree, real) : NULL;
			if (rel && lm_tree_touched(v->tree, rel))
				return file;
		}
	return NULL;
}

/* Forgets what was parsed, if anything. */
static void begin_parse(struct lm_version *v)
{
	for (size_t i = 0; v->sources && i < v->configs.nr; i++)
		lm_source_release(&v->sources[i]);
	v->sources = LM_ARENA_ARRAY(&v->arena, struct lm_source, v->configs.nr);
}

static struct lm_err *parse_once(struct lm_version *v, const char *record)
{
	struct lm_source_request req = request_of(v, record);
	struct lm_err *err = NULL;

	begin_parse(v);
	for (size_t i = 0; !err && i < v->configs.nr; i++)
		err = lm_source_parse(&req, i, &v->sources[i]);
	return err;
}

/* Makes the directory real that led out of the mirror; false if it is none of the mirror's. */
static bool close_way_out(struct lm_version *v, const char *file)
{
	size_t len = strlen(v->tree->mirror.dir);
	const char *dots = strstr(file, "/../");
	struct lm_err *err;

	if (!dots || strncmp(file, v->tree->mirror.dir, len) || file[len] != '/' || dots <= file + len)
		return false;
	err = lm_mirror_make_real(&v->tree->mirror,
				  lm_arena_strndup(&v->arena, file + len + 1, (size_t)(dots - file) - len - 1), &v->arena);
	lm_err_free(err);
	return !err;
}

/* The source whose error it is: fields come last. */
static const struct lm_source *first_failed(const struct lm_version *v)
{
	size_t i = 0;

	while (i + 1 < v->configs.nr && v->sources[i].record.fields)
		i++;
	return &v->sources[i];
}

/* Every configuration was parsed, with err: what is left to do. */
static struct lm_err *end_parse(struct lm_version *v, const char *record, struct lm_err *err)
{
	const char *file = v->tree ? led_around(v, &v->arena) : NULL, *last = NULL;

	while (file && (!last || strcmp(file, last)) && close_way_out(v, file)) {
		last = file;
		lm_err_free(err);
		err = parse_once(v, record);
		file = led_around(v, &v->arena);
	}
	if (file) {
		lm_err_free(err);
		return lm_err_new(LM_ERR_INPUT, "%s: the flags lead to %s of the work tree, which is another file in this "
				  "version; give them with paths below the tree.", v->label, file);
	}
	v->absent = err && first_failed(v)->absent;
	if (!err)
		err = complete(v);
	return err ? in_its_words(v, err) : NULL;
}

struct lm_err *lm_version_parse(struct lm_version *v, const char *record)
{
	return end_parse(v, record, parse_once(v, record));
}

/* One configuration of one version. */
struct task {
	struct lm_version *v;
	size_t config;
	struct lm_err *err;
};

struct all {
	struct task *tasks;
	const char *record;
	size_t nr;
	atomic_size_t done;
};

static void parse_task(void *arg, size_t i)
{
	struct all *all = arg;
	struct task *task = &all->tasks[i];
	struct lm_source_request req = request_of(task->v, all->record);

	task->err = lm_source_parse(&req, task->config, &task->v->sources[task->config]);
	lm_progress("parsing", atomic_fetch_add(&all->done, 1) + 1, all->nr);
}

/* The first error of a version; the others are freed. */
static struct lm_err *first_error(const struct all *all, const struct lm_version *v)
{
	struct lm_err *err = NULL;

	for (size_t i = 0; i < all->nr; i++) {
		if (all->tasks[i].v != v)
			continue;
		if (!err)
			err = all->tasks[i].err;
		else
			lm_err_free(all->tasks[i].err);
	}
	return err;
}

struct lm_err *lm_versions_parse(struct lm_version *const *versions, size_t nr, const char *record)
{
	struct all all = { .record = record };
	struct lm_err *err = NULL;

	for (size_t i = 0; i < nr; i++)
		all.nr += versions[i]->configs.nr;
	all.tasks = calloc(all.nr + 1, sizeof(*all.tasks));
	if (!all.tasks)
		lm_oom();
	for (size_t i = 0, n = 0; i < nr; i++) {
		begin_parse(versions[i]);
		for (size_t c = 0; c < versions[i]->configs.nr; c++)
			all.tasks[n++] = (struct task){ .v = versions[i], .config = c };
	}
	lm_progress("parsing", 0, all.nr);
	lm_parallel(all.nr, parse_task, &all);
	for (size_t i = 0; i < nr; i++) {
		struct lm_err *own = end_parse(versions[i], record, first_error(&all, versions[i]));

		if (!err)
			err = own;
		else
			lm_err_free(own);
	}
	free(all.tasks);
	return err;
}

void lm_version_files(const struct lm_version *v, struct lm_strings *files)
{
	struct lm_arena arena = { 0 };

	for (size_t i = 0; v->tree && v->sources && i < v->configs.nr; i++)
		for (size_t k = 0; k < v->sources[i].nr_files; k++) {
			const char *file = v->sources[i].files[k], *rel;

			if (strstr(file, "/../") || strstr(file, "/./"))
				file = lm_real_path(file, &arena);
			rel = file ? lm_tree_below(v->tree, file) : NULL;
			if (rel)
				lm_strings_add(files, rel, strlen(rel));
		}
	lm_arena_release(&arena);
}

/* Rows of member `from`, or of what is inside it, become rows of `to`. */
static void rename_rows(struct lm_accesses *t, const char *from, const char *to)
{
	size_t len = strlen(from);

	for (size_t i = 0; i < t->nr; i++) {
		const char *path = lm_strings_get(t->strings, t->rows[i].member);
		struct lm_str s = { 0 };

		if (strncmp(path, from, len) || (path[len] && path[len] != '.' && path[len] != '['))
			continue;
		lm_str_addf(&s, "%s%s", to, path + len);
		t->rows[i].member = lm_strings_add(t->strings, s.text, s.len);
		lm_str_release(&s);
	}
}

void lm_version_accesses(const struct lm_version *v, const struct lm_version *other, const struct lm_accesses *from,
			 struct lm_accesses *out)
{
	struct lm_arena arena = { 0 };

	lm_accesses_merge(out, from, 1);
	for (uint32_t i = 0; i < v->subject.nr_views; i++) {
		struct lm_comparison cmp;

		lm_compare(v->subject.views[i].rec, other->subject.views[i].rec, 64, &arena, &cmp);
		for (uint32_t k = 0; k < cmp.nr_members; k++)
			if (cmp.members[k].was)
				rename_rows(out, cmp.members[k].name, cmp.members[k].was);
	}
	lm_accesses_sort(out);
	lm_arena_release(&arena);
}

struct lm_err *lm_version_join(struct lm_version *v, struct lm_accesses *t, const char *record, uint32_t cpus)
{
	struct lm_err *err = lm_join(&v->subject, t, record, cpus, &v->arena, &v->usage);

	return err ? in_its_words(v, err) : NULL;
}

void lm_version_release(struct lm_version *v)
{
	for (size_t i = 0; v->sources && i < v->configs.nr; i++)
		lm_source_release(&v->sources[i]);
	lm_arena_release(&v->arena);
	*v = (struct lm_version){ 0 };
}
