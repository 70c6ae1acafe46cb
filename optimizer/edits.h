/* edits.h - --config NAME:+CONFIG_A,-CONFIG_B: what one configuration changes in the base. */
#ifndef LM_OPTIMIZER_EDITS_H
#define LM_OPTIMIZER_EDITS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct lm_edits {
	const char *name;	/* of the configuration */
	const char *items;	/* as given behind the colon */
	const char *text;	/* #undef and #define lines; "" if no option is edited */
	const char **flags;	/* compiler flags besides */
	size_t nr_flags;
};

/*
 * Takes a specification apart.  LM_ERR_USAGE if malformed.
 *
 *	+X, +X=V	on: X is 1 (V; of a CONFIG_ option y and m mean what they mean to Kconfig)
 *	-X		off: X and, of a CONFIG_ option, X_MODULE are not defined
 *	-DX, -DX=V, -UX	as for a compiler
 *	-m32, --target=arm64, -fshort-enums, -std=gnu99, -I...	a compiler flag: no option starts like these
 */
struct lm_err *lm_edits_parse(const char *spec, struct lm_arena *arena, struct lm_edits *out) LM_MUST_CHECK;

/* The lines that turn one option on (value NULL: 1) or off; value as for +X=V. */
void lm_edits_on(struct lm_str *text, const char *option, const char *value);
void lm_edits_off(struct lm_str *text, const char *option);

/*
 * A .config file of the kernel as a configuration: what it sets is set, what it
 * does not set is not defined; autoconf is the base's autoconf.h, whose other
 * options go, too ("" if it has none).  The name is the file's, or its folder's
 * for ".config".  LM_ERR_INPUT: a line that no .config has, or nothing set.
 */
struct lm_err *lm_edits_kconfig(const char *path, const char *autoconf, struct lm_arena *arena,
				struct lm_edits *out) LM_MUST_CHECK;

#endif
