/*
 * promise.h - what a record's layout must keep to, written down: the promise
 * file and comments in the header.
 *
 * The promise file is text for people, kept beside the code.  One statement a
 * line, its words separated by blanks or tabs; a word that starts with '#'
 * begins a comment; a word in double quotes may hold blanks (\" and \\ inside).
 *
 *   #linemate-promise 1
 *   record mem_cgroup
 *   directory ../..                     paths below are relative to it; it is
 *                                       relative to the file; default: .
 *   header include/linux/memcontrol.h
 *   source mm/memcontrol.c              as --source, -p, --kbuild, --kernel-headers, --root
 *   compile-db build
 *   kbuild .
 *   kernel-headers                      or with a directory
 *   root .
 *   flags -Iinclude -D__KERNEL__        as behind --; repeated lines add up
 *   config v1:+CONFIG_MEMCG_V1          as --config
 *   kconfig configs/server              as --kconfig
 *   line 64
 *   base-align 64
 *
 *   apart memory_events_local vmstats_percpu
 *   together lock owner
 *   max-size 1600 @base,nolru
 *   write-hot memory_events
 *   read-mostly css vmstats_percpu
 *   line-start vmstats_percpu
 *   first css
 *
 * A promise ends in @NAME,NAME if it is given in these configurations only.
 * Members are paths: usage, memory.usage, events[8].  In a configuration that
 * lacks a member, nothing is promised of it.
 *
 * In the header, a comment at a member promises the same of it:
 *
 *   atomic_long_t events[8];     / * linemate: apart table * /
 *
 * (apart, together, write-hot, read-mostly, line-start, first; max-size
 * anywhere in the record).  A promise there ends with its line or at a ';'.
 */
#ifndef LM_OPTIMIZER_PROMISE_H
#define LM_OPTIMIZER_PROMISE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "optimizer/body.h"

#include <stddef.h>
#include <stdint.h>

/* min, max: number of members that the statement names. */
#define LM_PROMISES(X) \
	X(APART, "apart", 2, 2, "no cache line holds bytes of both members") \
	X(TOGETHER, "together", 2, UINT32_MAX, "one cache line holds all of these members") \
	X(MAX_SIZE, "max-size", 0, 0, "the record is no larger than this") \
	X(WRITE_HOT, "write-hot", 1, UINT32_MAX, "no member that is read-mostly shares a cache line with these") \
	X(READ_MOSTLY, "read-mostly", 1, UINT32_MAX, "no member that is write-hot shares a cache line with these") \
	X(LINE_START, "line-start", 1, UINT32_MAX, "each of these members starts a cache line") \
	X(FIRST, "first", 1, 1, "the member is at the start of the record")

enum lm_promise_kind {
#define X(name, word, min, max, text) LM_PROMISE_##name,
	LM_PROMISES(X)
#undef X
	LM_NR_PROMISES
};

struct lm_promise {
	enum lm_promise_kind kind;
	const char **members;
	uint32_t nr_members;
	uint64_t bytes;			/* MAX_SIZE */
	const char **configs;		/* names; nr_configs 0: every configuration */
	uint32_t nr_configs;
	const char *file;		/* where it is written, as given */
	uint32_t line;			/* from 1 */
	const char *evidence;		/* for the printer: lines of a comment above it, or NULL */
};

struct lm_promises {
	const char *path;		/* of the file, as given */
	const char *record;		/* without "struct "; NULL if the file does not say; likewise below */
	uint32_t record_line;
	const char *directory;
	const char *header, *source, *compile_db, *kbuild, *root;
	const char *kernel_headers;	/* "": the newest */
	const char **flags;
	size_t nr_flags, flags_cap;
	const char **configs;		/* "NAME:+A,-B" */
	size_t nr_configs, configs_cap;
	const char **kconfigs;
	size_t nr_kconfigs, kconfigs_cap;
	uint32_t line, base_align;	/* 0: the file does not say */
	struct lm_promise *items;
	size_t nr, cap;
};

/*
 * Reads a promise file; path is for messages.  All in arena, text is not kept.
 * LM_ERR_INPUT with path:line: the first line that is not understood, a
 * statement twice, or promises that contradict each other whatever the record.
 */
struct lm_err *lm_promises_read(const char *path, const char *text, size_t len, struct lm_arena *arena,
				struct lm_promises *out) LM_MUST_CHECK;

/*
 * Adds the promises in the comments of a record's body; path is the header's.
 * LM_ERR_INPUT with path:line as above.
 */
struct lm_err *lm_promises_read_comments(const char *path, const struct lm_body *body, struct lm_arena *arena,
					 struct lm_promises *p) LM_MUST_CHECK;

/* LM_ERR_INPUT: two promises that cannot both hold.  (The readers call it.) */
struct lm_err *lm_promises_consistent(const struct lm_promises *p) LM_MUST_CHECK;

/* The file's text. */
void lm_promises_print(const struct lm_promises *p, struct lm_str *out);

/* One promise as it is written: "apart a b @v1". */
void lm_promise_print(const struct lm_promise *p, struct lm_str *out);

const char *lm_promise_word(enum lm_promise_kind kind);	/* "apart" */
const char *lm_promise_text(enum lm_promise_kind kind);	/* what it says, as a clause */

/* True if the promise is given in this configuration. */
bool lm_promise_in(const struct lm_promise *p, const char *config);

#endif
