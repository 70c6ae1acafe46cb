/* edits.h - --config NAME:+CONFIG_A,-CONFIG_B: what one configuration changes in the base. */
#ifndef LM_OPTIMIZER_EDITS_H
#define LM_OPTIMIZER_EDITS_H

#include "base/arena.h"
#include "base/err.h"

/*
 * Takes a specification apart: the name, what stands behind the colon, and the
 * text of #undef and #define lines that it means.  LM_ERR_USAGE if malformed.
 *
 *	+X, +X=V	on: X is 1 (V; of a CONFIG_ option y and m mean what they mean to Kconfig)
 *	-X		off: X and, of a CONFIG_ option, X_MODULE are not defined
 *	-DX, -DX=V, -UX	as for a compiler
 */
struct lm_err *lm_edits_parse(const char *spec, struct lm_arena *arena, const char **name, const char **items,
			      const char **text) LM_MUST_CHECK;

#endif
