/*
 * config.h - a configuration: how to compile the header, once.
 *
 * Everything that decides a layout beside the header's text: compiler flags
 * from the person (after --, -p, --kbuild, --kernel-headers) plus the options
 * that this configuration turns on or off.
 */
#ifndef LM_OPTIMIZER_CONFIG_H
#define LM_OPTIMIZER_CONFIG_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct lm_arena;

struct lm_config {
	const char *name;	/* "base", or as given: "v1" */
	const char *spec;	/* as given behind the colon; "" for base */
	const char *dir;	/* working directory of the compilation, absolute */
	/* Flags for libclang and clang, for gcc; NULL-terminated; no source file, no -o, no -c. */
	const char **clang_args;
	size_t nr_clang_args;
	const char **gcc_args;
	size_t nr_gcc_args;
	/*
	 * Text of the file that turns options on and off (#undef and #define
	 * lines), "" if there is none.  The flags mention it by edits_path in an
	 * -include; the file is virtual: parsers map it, compilers get a real one.
	 */
	const char *edits;
	const char *edits_path;
	bool derived;		/* by linemate: nobody says that it is a configuration of the project */
	const char *dropped;	/* flags clang does not take and that change no layout, for -v; "" */
};

/* What was asked for on the command line. */
struct lm_config_request {
	const char *header;	/* path as given */
	const char *source;	/* path as given, or NULL */
	const char *const *flags; /* after -- */
	size_t nr_flags;
	const char *compile_db;	/* -p DIR, or NULL */
	const char *kbuild;	/* --kbuild DIR, or NULL */
	const char *kernel_headers; /* --kernel-headers DIR; "" = newest installed; or NULL */
	const char *const *specs; /* --config NAME:+A,-B,... in the order given */
	size_t nr_specs;
	const char *const *kconfigs; /* --kconfig FILE, in the order given */
	size_t nr_kconfigs;
	const char *root;	/* --root DIR, or NULL */
	const char *directory;	/* where paths in flags begin; NULL: the working directory */
};

struct lm_configs {
	struct lm_config *items; /* [0] is base; then those of --config, of --kconfig, derived ones */
	size_t nr;
	const char *header;	/* absolute path of the header */
	const char *source;	/* absolute path of the translation unit, NULL: one that only includes the header */
	const char *root;	/* absolute directory that the patch's paths are relative to */
	const char *header_in_root; /* header's path relative to root */
	bool kernel;		/* Linux kernel flags: -D__KERNEL__ */
};

/*
 * Works out every configuration.  All strings live in arena.
 *
 * LM_ERR_USAGE: contradictory options, malformed --config.  LM_ERR_INPUT:
 * missing header, source, database, .cmd file or headers package; a flag that
 * would change layouts and clang does not have (-fpack-struct=... is known to
 * clang; an unknown -f that can change a layout is refused by name).
 */
struct lm_err *lm_configs_make(const struct lm_config_request *req, struct lm_arena *arena,
			       struct lm_configs *out) LM_MUST_CHECK;

/*
 * One more configuration: base with edits (lines of #undef and #define).  name
 * and spec are for people; path is what edits_path becomes, unique.  All
 * borrowed but for the flags, which are in arena.
 */
struct lm_config lm_config_derive(const struct lm_config *base, const char *name, const char *spec, const char *edits,
				  const char *path, struct lm_arena *arena);

/* The text of the main file to parse: includes source or header (absolute path). In arena. */
char *lm_config_main_text(const struct lm_configs *configs, struct lm_arena *arena);

#endif
