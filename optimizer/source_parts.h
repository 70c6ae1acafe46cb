/*
 * source_parts.h - what the four files at the door to libclang share: source.c
 * (a unit parsed, the record found), source_text.c (its braces),
 * source_fields.c (its fields and leaves) and hazard.c (code that depends on
 * their order).
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

/* Fills out->hazards; record and fields are complete. */
void lm_source_hazards(struct lm_parse *p);

/* Fills out->files; the unit was parsed, with or without errors (source_includes.c). */
void lm_source_includes(struct lm_parse *p);

#endif
