/*
 * rules.h - what must not move, or only as a block, with the reason.
 *
 * Collected once from the record, the text, hazards and the person's options.
 * Either a refusal, or rules that any order of units can be tested against.
 */
#ifndef LM_OPTIMIZER_RULES_H
#define LM_OPTIMIZER_RULES_H

#include "base/arena.h"
#include "base/err.h"
#include "optimizer/layout.h"
#include "optimizer/promise.h"
#include "optimizer/source.h"
#include "optimizer/subject.h"

/* Reasons for a refusal.  The word is what `expect:` lines in tests/refuse/ name. */
#define LM_REFUSALS(X) \
	X(UNION, "union", "it is a union: all members share the same bytes") \
	X(PACKED, "packed", "it is packed: its layout is an interface") \
	X(UAPI, "uapi", "it is part of the user-space interface (uapi)") \
	X(RANDSTRUCT, "randstruct", "the compiler shuffles it (randomize_layout with RANDSTRUCT on)") \
	X(POSITIONAL, "positional-initialiser", "an initialiser lists its values by position and would silently change meaning") \
	X(TEXT, "text", "its text cannot be rearranged") \
	X(NO_UNITS, "too-few-members", "it has fewer than two members that may move") \
	X(CONFIGS, "configurations-disagree", "its configurations cannot be brought together")

enum lm_refusal {
#define X(name, word, text) LM_REFUSAL_##name,
	LM_REFUSALS(X)
#undef X
	LM_NR_REFUSALS,
};

/* Reasons why a unit is bound. */
#define LM_RULES(X) \
	X(FIRST, "first-member", "stays first: code may cast the record to it") \
	X(FLEXIBLE, "flexible-array", "stays last: its array ends the record") \
	X(TAIL, "variable-tail", "stays last: it ends in a flexible array") \
	X(FENCE, "fence", "cache-line machinery: stays where it is, its group stays around it") \
	X(GROUP, "group", "belongs to a group that a fence or marker holds together") \
	X(ALIGNED, "aligned-member", "is aligned on purpose: heads its group") \
	X(WORD_PAIR, "word-pair", "is aligned below a line: may be read with its neighbour as one word") \
	X(OFFSET, "offset-assert", "a static assertion fixes its offset") \
	X(RANDOM, "randomized-range", "marks a range for structure randomisation") \
	X(PINNED, "pin", "pinned by the person") \
	X(TOGETHER, "keep-together", "kept on one line with another by the person") \
	X(APART, "apart", "kept off another's line by the person")

enum lm_rule_kind {
#define X(name, word, text) LM_RULE_##name,
	LM_RULES(X)
#undef X
	LM_NR_RULES
};

struct lm_rule {
	enum lm_rule_kind kind;
	uint32_t unit;
	uint32_t other;		/* TOGETHER, APART: the other unit; else LM_NONE */
	const char *because;	/* one clause, with file:line where there is one */
};

struct lm_rules {
	bool refused;
	enum lm_refusal refusal;
	const char *refusal_text; /* complete sentence with file:line */
	struct lm_rule *rules;
	uint32_t nr_rules;
	/* Derived; [nr_units] each. */
	uint8_t *fixed;		/* may not move: keeps its place in the order relative to every other fixed unit */
	uint8_t *fixed_offset;	/* its offset must not change in any configuration (first, pin, offset assert) */
	uint32_t *segment;	/* units stay in their segment; segments stay in order */
	uint8_t *padding;	/* heads a segment, but only pads: may be passed where that makes the record smaller */
	uint32_t *block;	/* units of one block move as one, in their order; a block is named by its first unit */
	const char **notes;	/* things to say although nothing is bound (RANDSTRUCT possible, comment speaks of layout) */
	uint32_t nr_notes;
};

struct lm_rules_opts {
	const char *const *pins;
	size_t nr_pins;
	const char *const *together;	/* "F,G" */
	size_t nr_together;
	const char *const *apart;	/* "F,G" */
	size_t nr_apart;
	const struct lm_promises *promises; /* of the header's comments: apart and together are rules, too; may be NULL */
	uint32_t line;
	const char *path;		/* of the header, for messages */
};

/* LM_ERR_USAGE: an option names a member that no configuration has, or contradicts another. */
struct lm_err *lm_rules_collect(const struct lm_subject *s, const struct lm_source *sources,
				const struct lm_rules_opts *opts, struct lm_arena *arena,
				struct lm_rules *out) LM_MUST_CHECK;

/*
 * The same rules with the segments on both sides of a padding fence as one: for
 * members that are cold enough to fill up what the padding leaves free.  Borrows
 * from r, which must outlive it; the rest in arena.
 */
struct lm_rules lm_rules_past_padding(const struct lm_subject *s, const struct lm_rules *r, struct lm_arena *arena);

/* Does the order keep every rule that concerns order alone (fixed, segment, block)? */
bool lm_rules_order_ok(const struct lm_subject *s, const struct lm_rules *r, const struct lm_order *o);

/*
 * Does the layout of view v keep the rules that concern offsets (fixed
 * offsets, together, apart), and not outgrow `before`?
 */
bool lm_rules_layout_ok(const struct lm_subject *s, const struct lm_rules *r, uint32_t v,
			const struct lm_layout *before, const struct lm_layout *after, uint32_t line,
			bool base_fixed);

#endif
