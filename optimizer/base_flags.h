/*
 * base_flags.h - where the flags of the base configuration come from: an
 * installed kernel headers package, a built kernel tree, a compilation database.
 */
#ifndef LM_OPTIMIZER_BASE_FLAGS_H
#define LM_OPTIMIZER_BASE_FLAGS_H

#include "base/arena.h"
#include "base/err.h"
#include "optimizer/flags.h"

struct lm_base_flags {
	struct lm_flags flags;
	const char *dir;	/* working directory, absolute */
	const char *note;	/* where they are from, one phrase; "" if that is plain */
};

/* An installed headers package: common is the architecture-independent part, flavour the configured one. */
struct lm_kernel_headers {
	const char *common, *flavour;	/* absolute; may be the same */
};

/*
 * Finds the package; given is a directory of it (either part), "" the newest
 * below /usr/src.  LM_ERR_INPUT: there is none, or a part is missing.
 */
struct lm_err *lm_kernel_headers_find(const char *given, struct lm_arena *arena,
				      struct lm_kernel_headers *out) LM_MUST_CHECK;

/* The flags to compile a file of the kernel with it, anywhere: they are absolute; dir is to be the working directory. */
struct lm_err *lm_kernel_headers_flags(const struct lm_kernel_headers *h, const char *dir, struct lm_arena *arena,
				       struct lm_base_flags *out) LM_MUST_CHECK;

/*
 * A built kernel tree (absolute): the flags that Kbuild recorded for source
 * (absolute), or with source NULL for the object with the shortest path that
 * includes header (absolute), one named like the header first.
 */
struct lm_err *lm_kbuild_flags(const char *dir, const char *header, const char *source, struct lm_arena *arena,
			       struct lm_base_flags *out) LM_MUST_CHECK;

/*
 * compile_commands.json in (or at) path: the flags of source (absolute), or
 * with source NULL of the C file that lies closest to header (absolute), the
 * first of equals.
 */
struct lm_err *lm_compile_db_flags(const char *path, const char *header, const char *source, struct lm_arena *arena,
				   struct lm_base_flags *out) LM_MUST_CHECK;

#endif
