/*
 * source_parts.h - what the eight files at the door to libclang share: source.c
 * (the record found), source_unit.c (a unit parsed), source_ahead.c (a unit
 * parsed before the change of its header is known), source_text.c (the
 * record's braces), source_guards.c (conditions around members),
 * source_fields.c (its fields and leaves), source_users.c (what holds it) and
 * hazard.c (code that depends on their order).
 *
 * Private to them; each includes <clang-c/Index.h> before this.
 */
#ifndef LM_OPTIMIZER_SOURCE_PARTS_H
#define LM_OPTIMIZER_SOURCE_PARTS_H

#include "optimizer/source.h"

/* A growing array of cursors; in the arena of the source. */
struct lm_cursors {
	CXCursor *items;
	size_t nr, cap;
};

/* One configuration while it is being read. */
struct lm_parse {
	const struct lm_source_request *req;
	const struct lm_config *config;
	struct lm_source *out;
	struct lm_arena *arena;		/* &out->arena */
	CXIndex index;
	CXTranslationUnit tu;
	CXFile header;
	CXCursor record;		/* the definition */
	struct lm_cursors fields;	/* of the record; the same indices as record.fields */
	CXCursor types;			/* struct linemate_types: sizes of basic types */
	CXCursor default_align;		/* struct linemate_default_align */
	struct lm_cursors code;		/* variables, assertions and typedefs at file level, if hazards are wanted */
	bool randstruct;		/* CONFIG_RANDSTRUCT */
};

/* Text of a CXString in arena; disposes of it. */
char *lm_parse_text(struct lm_arena *arena, CXString s);

/* Where a file is, absolute where clang knows it: -I./include would leave its dot in the name. */
const char *lm_parse_path(const struct lm_parse *p, CXFile file);

/* True if the cursor stands in the header itself (macros: where they are used). */
bool lm_parse_in_header(const struct lm_parse *p, CXCursor c);

/*
 * Parses the unit of p->config with text behind the header; lm_unit_close() in
 * any case.  LM_ERR_INPUT: it does not compile, the first error.
 */
struct lm_err *lm_unit_open(struct lm_parse *p, const char *behind) LM_MUST_CHECK;
void lm_unit_close(struct lm_parse *p);

/* The flags of p->config, for libclang. */
const char **lm_unit_args(const struct lm_parse *p, int *nr);

/* The first thing that clang cannot compile in an opened unit, as an error; NULL if there is none. */
struct lm_err *lm_unit_first_error(const struct lm_parse *p);

/* What stands behind the header: what source.c asks of clang, and extra. */
const char *lm_unit_probes(const struct lm_parse *p, const char *extra);

/* Reads the record of an opened unit into p->out; as lm_source_parse(). */
struct lm_err *lm_source_read(struct lm_parse *p) LM_MUST_CHECK;

/*
 * The alignments that nr attributes ("_Alignas(X)", "__attribute__((aligned(X)))")
 * ask for, by parsing the unit once more with a probe for each at its end.
 */
struct lm_err *lm_parse_alignments(const struct lm_parse *p, const char *const *attributes, size_t nr,
				   uint32_t *values) LM_MUST_CHECK;

/* All fields of a record type, in declared order, anonymous ones included. */
struct lm_cursors lm_parse_fields(const struct lm_parse *p, CXType record);

/*
 * Fills open, close, line, end, randomized and is_typedef_name of out->record;
 * its name is known.  LM_ERR_REFUSED if a macro makes the record.
 */
struct lm_err *lm_source_braces(struct lm_parse *p) LM_MUST_CHECK;

/* Fills everything in out->record from fields on, and what attributes say; open, close and end are known. */
struct lm_err *lm_source_fields(struct lm_parse *p) LM_MUST_CHECK;

/* Fills out->users; the record is known. */
void lm_source_users(struct lm_parse *p);

/* Fills out->guarded and out->tested; the braces are known. */
void lm_source_guards(struct lm_parse *p);

/* Fills out->hazards; record and fields are complete. */
void lm_source_hazards(struct lm_parse *p);

/* Fills out->files; the unit was parsed, with or without errors (source_includes.c). */
void lm_source_includes(struct lm_parse *p);

#endif
