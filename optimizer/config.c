/* config.c - how to compile the header, once per configuration. */
#include "optimizer/config.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/str.h"
#include "optimizer/base_flags.h"
#include "optimizer/edits.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define VIRTUAL_DIR "/linemate-virtual"

/* What is worked out, in this order. */
struct making {
	const struct lm_config_request *req;
	struct lm_arena *arena;
	const char *cwd;
	struct lm_kernel_headers headers;	/* --kernel-headers */
	const char *kbuild;			/* --kbuild, absolute */
	const char *kbuild_source;		/* where its sources are: itself, or another tree */
	struct lm_base_flags base;
	struct lm_configs configs;
};

static struct lm_err *check_request(const struct lm_config_request *req)
{
	int nr = (req->compile_db != NULL) + (req->kbuild != NULL) + (req->kernel_headers != NULL);

	if (!req->header || !*req->header)
		return lm_err_new(LM_ERR_USAGE, "No header is given; say which file defines the record with --header FILE.");
	if (nr > 1)
		return lm_err_new(LM_ERR_USAGE, "Flags can come from one place only: give one of -p, --kbuild and "
				  "--kernel-headers.");
	return NULL;
}

static struct lm_err *find_trees(struct making *m)
{
	char cwd[4096];

	m->cwd = m->req->directory ? lm_real_path(m->req->directory, m->arena) :
		 lm_arena_strdup(m->arena, getcwd(cwd, sizeof(cwd)) ? cwd : "/");
	if (!m->cwd)
		return lm_err_new(LM_ERR_INPUT, "%s: this directory, in which the flags begin, does not exist.",
				  m->req->directory);
	if (m->req->kernel_headers)
		return lm_kernel_headers_find(m->req->kernel_headers, m->arena, &m->headers);
	if (!m->req->kbuild)
		return NULL;
	m->kbuild = lm_real_path(m->req->kbuild, m->arena);
	if (!m->kbuild || !lm_is_dir(m->kbuild))
		return lm_err_new(LM_ERR_INPUT, "%s: this kernel tree does not exist; give the directory where make ran.",
				  m->req->kbuild);

	char *link = lm_real_path(lm_arena_printf(m->arena, "%s/source", m->kbuild), m->arena);

	m->kbuild_source = link && lm_is_dir(link) ? link : m->kbuild;
	return NULL;
}

/* A file as given, or inside one of the trees of the kernel; absolute. */
static struct lm_err *find_file(const struct making *m, const char *given, const char *what, const char **out)
{
	const char *dirs[] = { m->headers.common, m->headers.flavour, m->kbuild_source, m->kbuild };
	const char *path = lm_is_file(given) ? given : NULL;
	int number = ENOENT;

	if (!path && access(given, R_OK))
		number = errno;
	for (size_t i = 0; !path && given[0] != '/' && i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		char *inside = dirs[i] ? lm_arena_printf(m->arena, "%s/%s", dirs[i], given) : NULL;

		path = inside && lm_is_file(inside) ? inside : NULL;
	}
	if (!path && !access(given, F_OK) && !lm_is_file(given))
		return lm_err_new(LM_ERR_INPUT, "%s: is not a regular file; give the path of a %s.", given, what);
	if (!path || !(*out = lm_real_path(path, m->arena)))
		return lm_err_new(LM_ERR_INPUT, "%s: cannot open this %s: %s.", given, what, strerror(number));
	if (strpbrk(*out, "\"\n\\"))
		return lm_err_new(LM_ERR_INPUT, "%s: a path with quotes, backslashes or line ends cannot be included by a "
				  "compiler; move the %s.", *out, what);
	return NULL;
}

static struct lm_err *find_base(struct making *m)
{
	const struct lm_config_request *req = m->req;
	const struct lm_configs *c = &m->configs;
	struct lm_err *err = NULL;
	const char *file = NULL;

	m->base = (struct lm_base_flags){ .dir = m->cwd, .note = "" };
	if (req->compile_db)
		err = lm_compile_db_flags(req->compile_db, c->header, c->source, m->arena, &m->base);
	else if (m->kbuild)
		err = lm_kbuild_flags(m->kbuild, c->header, c->source, m->arena, &m->base);
	else if (req->kernel_headers)
		err = lm_kernel_headers_flags(&m->headers, m->cwd, m->arena, &m->base);
	if (err)
		return err;
	if (lm_flags_incomplete(req->flags, req->nr_flags))
		return lm_err_new(LM_ERR_USAGE, "\"%s\" behind -- lacks its value.", req->flags[req->nr_flags - 1]);
	lm_flags_strip(&m->base.flags, m->arena, req->flags, req->nr_flags, &file);
	if (file)
		return lm_err_new(LM_ERR_USAGE, "\"%s\" behind -- is not a flag; give the file to parse as --source.", file);
	return NULL;
}

/* path lies in dir, which has no slash at its end unless it is "/". */
static bool is_inside(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strcmp(dir, "/") || (!strncmp(path, dir, n) && path[n] == '/');
}

static const char *parent_of(struct lm_arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == path ? "/" : lm_arena_strndup(arena, path, (size_t)(slash - path));
}

static bool has_git(struct lm_arena *arena, const char *dir)
{
	return access(lm_arena_printf(arena, "%s/.git", dir), F_OK) == 0;
}

/* The work tree that holds path, or NULL. */
static const char *git_root(struct lm_arena *arena, const char *path)
{
	const char *dir = path;

	do {
		dir = parent_of(arena, dir);
		if (has_git(arena, dir))
			return dir;
	} while (strcmp(dir, "/"));
	return NULL;
}

static const char *guess_root(const struct making *m)
{
	const char *header = m->configs.header, *git;
	const char *trees[] = { m->kbuild, m->kbuild_source, m->headers.common, m->headers.flavour };

	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
		if (trees[i] && is_inside(header, trees[i]))
			return trees[i];
	git = git_root(m->arena, header);
	if (git)
		return git;
	return is_inside(header, m->cwd) ? m->cwd : parent_of(m->arena, header);
}

static struct lm_err *find_root(struct making *m)
{
	struct lm_configs *c = &m->configs;

	if (m->req->root) {
		c->root = lm_real_path(m->req->root, m->arena);
		if (!c->root || !lm_is_dir(c->root))
			return lm_err_new(LM_ERR_INPUT, "%s: this --root directory does not exist.", m->req->root);
		if (!is_inside(c->header, c->root))
			return lm_err_new(LM_ERR_USAGE, "%s: the header is not inside --root %s; paths of the patch could not be "
					  "relative to it.", c->header, c->root);
	} else {
		c->root = guess_root(m);
	}
	c->header_in_root = c->header + strlen(c->root) + (strcmp(c->root, "/") ? 1 : 0);
	return NULL;
}

/* Where the edits of options go: right behind Kconfig's own header, else behind all flags. */
static size_t edits_place(const struct lm_flags *f)
{
	size_t place = f->nr;

	for (size_t i = 0; i < f->nr; i++) {
		const char *arg = f->items[i];
		bool apart = !strcmp(arg, "-include") && i + 1 < f->nr;
		const char *file = apart ? f->items[i + 1] : !strncmp(arg, "-include", 8) ? arg + 8 : NULL;
		const char *slash = file ? strrchr(file, '/') : NULL;
		const char *base = slash ? slash + 1 : file;

		if (base && (!strcmp(base, "kconfig.h") || !strcmp(base, "autoconf.h")))
			place = i + 1 + apart;
		i += apart;
	}
	return place;
}

/* The base's flags with the file of edits in their midst, and more flags behind them. */
static struct lm_flags insert_edits(const struct lm_flags *base, const struct lm_config *c,
				    const struct lm_edits *edits, struct lm_arena *arena)
{
	size_t place = edits_place(base);
	struct lm_flags out = { 0 };

	for (size_t i = 0; i <= base->nr; i++) {
		if (i == place && *c->edits) {
			lm_flags_add(&out, arena, "-include");
			lm_flags_add(&out, arena, c->edits_path);
		}
		if (i < base->nr)
			lm_flags_add(&out, arena, base->items[i]);
	}
	for (size_t i = 0; i < edits->nr_flags; i++)
		lm_flags_add(&out, arena, edits->flags[i]);
	lm_flags_add(&out, arena, "-w");
	return out;
}

static const char *dropped_text(const struct making *m, const struct lm_str *flags)
{
	if (!flags->len)
		return m->base.note;
	return lm_arena_printf(m->arena, "%s%snot for clang: %s", m->base.note, *m->base.note ? "; " : "",
			       lm_str_text(flags));
}

static void fill_config(const struct making *m, const struct lm_edits *edits, struct lm_config *c)
{
	struct lm_flags all, clang = { 0 }, gcc = { 0 };
	struct lm_str dropped = { 0 };

	*c = (struct lm_config){ .name = edits->name, .spec = edits->items, .edits = edits->text };
	c->dir = m->base.dir;
	c->edits_path = lm_arena_printf(m->arena, VIRTUAL_DIR "/%s.h", c->name);
	all = insert_edits(&m->base.flags, c, edits, m->arena);
	lm_flags_for_clang(&clang, m->arena, &all, &dropped);
	lm_flags_for_gcc(&gcc, m->arena, &all);
	c->clang_args = clang.items;
	c->nr_clang_args = clang.nr;
	c->gcc_args = gcc.items;
	c->nr_gcc_args = gcc.nr;
	c->dropped = dropped_text(m, &dropped);
	lm_str_release(&dropped);
}

/* A file that the flags name or that lies below one of their -I folders; in arena, or NULL. */
static const char *included(const struct making *m, const char *arg, const char *below)
{
	const char *path = *arg == '/' ? lm_arena_printf(m->arena, "%s%s", arg, below) :
			   lm_arena_printf(m->arena, "%s/%s%s", m->base.dir, arg, below);

	return lm_is_file(path) ? path : NULL;
}

/* The text of the base's autoconf.h; "" if it has none. */
static struct lm_err *read_autoconf(const struct making *m, const char **text)
{
	const struct lm_flags *f = &m->base.flags;
	const char *path = NULL;
	char *read = NULL;
	size_t len;

	for (size_t i = 0; i < f->nr && !path; i++) {
		const char *arg = f->items[i], *next = i + 1 < f->nr ? f->items[i + 1] : "";

		if (!strcmp(arg, "-include") && strlen(next) >= 10 && !strcmp(next + strlen(next) - 10, "autoconf.h"))
			path = included(m, next, "");
		else if (!strncmp(arg, "-I", 2))
			path = included(m, arg[2] ? arg + 2 : next, "/generated/autoconf.h");
	}
	*text = "";
	if (!path)
		return NULL;

	struct lm_err *err = lm_file_read(path, "autoconf.h", 16u << 20, m->arena, &read, &len);

	if (!err)
		*text = read;
	return err;
}

/* What each configuration changes, base first; two may have one name. */
static struct lm_err *read_edits(const struct making *m, struct lm_edits *edits)
{
	const struct lm_config_request *req = m->req;
	struct lm_err *err = NULL;
	const char *autoconf;

	edits[0] = (struct lm_edits){ .name = "base", .items = "", .text = "" };
	for (size_t i = 0; i < req->nr_specs && !err; i++)
		err = lm_edits_parse(req->specs[i], m->arena, &edits[i + 1]);
	if (!err && req->nr_kconfigs)
		err = read_autoconf(m, &autoconf);
	for (size_t i = 0; i < req->nr_kconfigs && !err; i++)
		err = lm_edits_kconfig(req->kconfigs[i], autoconf, m->arena, &edits[req->nr_specs + i + 1]);
	return err;
}

static bool is_taken(const struct lm_edits *edits, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(edits[i].name, name))
			return true;
	return false;
}

static struct lm_err *name_edits(const struct making *m, struct lm_edits *edits)
{
	const struct lm_config_request *req = m->req;

	for (size_t i = 1; i <= req->nr_specs; i++)
		if (is_taken(edits, i, edits[i].name))
			return lm_err_new(LM_ERR_USAGE, "--config %s: the name \"%s\" is already taken%s; give every "
					  "configuration its own.", req->specs[i - 1], edits[i].name,
					  strcmp(edits[i].name, "base") ? "" : " by the flags as they are");
	/* Nobody chose the name of a file: it is made different. */
	for (size_t i = req->nr_specs + 1; i <= req->nr_specs + req->nr_kconfigs; i++) {
		const char *name = edits[i].name;

		for (unsigned n = 2; is_taken(edits, i, edits[i].name); n++)
			edits[i].name = lm_arena_printf(m->arena, "%s-%u", name, n);
	}
	return NULL;
}

static struct lm_err *make_configs(struct making *m)
{
	struct lm_configs *all = &m->configs;
	size_t nr = 1 + m->req->nr_specs + m->req->nr_kconfigs;
	struct lm_edits *edits = LM_ARENA_ARRAY(m->arena, struct lm_edits, nr);
	struct lm_err *err = read_edits(m, edits);

	if (!err)
		err = name_edits(m, edits);
	if (err)
		return err;
	all->items = LM_ARENA_ARRAY(m->arena, struct lm_config, nr);
	all->nr = nr;
	for (size_t i = 0; i < nr; i++)
		fill_config(m, &edits[i], &all->items[i]);
	all->kernel = lm_flags_have(&m->base.flags, "-D__KERNEL__");
	return NULL;
}

/* The flags of one compiler, with the edits in their place. */
static struct lm_flags edited(const char **args, size_t nr, const char *path, struct lm_arena *arena)
{
	const struct lm_flags from = { .items = args, .nr = nr };
	size_t place = edits_place(&from);
	struct lm_flags out = { 0 };

	/* Behind all flags, the last of which is our own -w. */
	if (place == nr && nr)
		place = nr - 1;
	for (size_t i = 0; i < nr; i++) {
		if (i == place) {
			lm_flags_add(&out, arena, "-include");
			lm_flags_add(&out, arena, path);
		}
		lm_flags_add(&out, arena, args[i]);
	}
	return out;
}

struct lm_config lm_config_derive(const struct lm_config *base, const char *name, const char *spec, const char *edits,
				  const char *path, struct lm_arena *arena)
{
	struct lm_flags clang = edited(base->clang_args, base->nr_clang_args, path, arena);
	struct lm_flags gcc = edited(base->gcc_args, base->nr_gcc_args, path, arena);

	return (struct lm_config){
		.name = name, .spec = spec, .derived = true, .dir = base->dir, .edits = edits, .edits_path = path, .dropped = "",
		.clang_args = clang.items, .nr_clang_args = clang.nr, .gcc_args = gcc.items, .nr_gcc_args = gcc.nr,
	};
}

struct lm_err *lm_configs_make(const struct lm_config_request *req, struct lm_arena *arena, struct lm_configs *out)
{
	struct making m = { .req = req, .arena = arena };
	struct lm_err *err = check_request(req);

	if (!err)
		err = find_trees(&m);
	if (!err)
		err = find_file(&m, req->header, "header", &m.configs.header);
	if (!err && req->source)
		err = find_file(&m, req->source, "source", &m.configs.source);
	if (!err)
		err = find_base(&m);
	if (!err)
		err = find_root(&m);
	if (!err)
		err = make_configs(&m);
	if (!err)
		*out = m.configs;
	return err;
}

char *lm_config_main_text(const struct lm_configs *configs, struct lm_arena *arena)
{
	return lm_arena_printf(arena, "#include \"%s\"\n", configs->source ? configs->source : configs->header);
}
