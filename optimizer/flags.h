/*
 * flags.h - compiler command lines: taken apart, stripped of what concerns one
 * file's compilation, and made fit for clang and for gcc.
 *
 * The rule: what cannot change a layout may go; what can (-fpack-struct,
 * -fshort-enums, -fms-extensions, -m32, -malign-*) always stays, and a compiler
 * that does not know it says so.
 */
#ifndef LM_OPTIMIZER_FLAGS_H
#define LM_OPTIMIZER_FLAGS_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>

struct lm_flags {
	const char **items;	/* NULL-terminated once something was added */
	size_t nr, cap;
};

void lm_flags_add(struct lm_flags *f, struct lm_arena *arena, const char *arg);

/* Splits a shell command at blanks, quotes obeyed, up to the first ; | & or newline outside quotes. */
void lm_flags_split(struct lm_flags *f, struct lm_arena *arena, const char *command);

/*
 * Appends what of a whole command (compiler first) says how to compile: no
 * compiler, input, output, dependencies, debug info, warnings as errors.
 */
void lm_flags_strip_command(struct lm_flags *f, struct lm_arena *arena, const struct lm_flags *command);

/* The same of flags alone; *file is the first word that is no flag (NULL: none; it is left out). */
void lm_flags_strip(struct lm_flags *f, struct lm_arena *arena, const char *const *args, size_t nr,
		    const char **file);

/* Appends what the compiler takes; the names of what is left out go to dropped, "; " between (may be NULL). */
void lm_flags_for_clang(struct lm_flags *f, struct lm_arena *arena, const struct lm_flags *from,
			struct lm_str *dropped);
void lm_flags_for_gcc(struct lm_flags *f, struct lm_arena *arena, const struct lm_flags *from);

/* True if the last flag is one whose value should follow: "-I". */
bool lm_flags_incomplete(const char *const *args, size_t nr);

bool lm_flags_have(const struct lm_flags *f, const char *arg);

#endif
