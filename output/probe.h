/*
 * probe.h - one compilation of the unit, to ask the compiler's debug info
 * where it put the members of a record.
 */
#ifndef LM_OUTPUT_PROBE_H
#define LM_OUTPUT_PROBE_H

#include "base/arena.h"
#include "base/err.h"
#include "optimizer/config.h"
#include "optimizer/record.h"
#include "output/mirror.h"
#include "profiles/debuginfo.h"

#include <stdbool.h>

struct lm_probe_request {
	const struct lm_configs *configs;
	const struct lm_config *config;
	const struct lm_record *record;	/* its name and kind */
	const char *compiler;		/* "gcc", "clang-19": found in PATH */
	bool is_clang;			/* takes clang_args */
	const struct lm_mirror *mirror;	/* NULL: the tree as it is */
	const char *dir;		/* for temporary files */
	const char *edits;		/* real file that stands for config->edits_path, or NULL */
	const char *name;		/* of the temporary files, unique in dir */
	bool header_alone;		/* compile just the header, with the source's flags */
};

struct lm_probe {
	int status;			/* the compiler's exit code, as lm_run() */
	const char *complaint;		/* its first error line, in the tree's own paths; "" */
	struct lm_debuginfo *bin;	/* close it; NULL unless compiled */
	const struct lm_dbg_record *record; /* NULL unless compiled; owned by bin */
};

/*
 * Compiles.  A compiler that fails is no error but a status.  LM_ERR_INPUT:
 * temporary files cannot be written.  LM_ERR_BUG: the object has no such
 * record.  Strings in arena.
 */
struct lm_err *lm_probe_run(const struct lm_probe_request *req, struct lm_arena *arena,
			    struct lm_probe *out) LM_MUST_CHECK;

/* The first version number in DW_AT_producer: "12.2.0"; "" if it has none. */
char *lm_probe_version(const char *producer, struct lm_arena *arena);

#endif
