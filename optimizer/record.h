/* record.h - a struct as the compiler sees it in one configuration. */
#ifndef LM_OPTIMIZER_RECORD_H
#define LM_OPTIMIZER_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LM_NOT_BITS UINT32_MAX
#define LM_NONE UINT32_MAX

/*
 * A field: a direct member, in declared order.  Known by its index in
 * lm_record.fields.  Anonymous structs and unions are one field.
 */
struct lm_field {
	const char *name;	/* "" for unnamed bit-fields and anonymous members */
	const char *key;	/* name; for an anonymous member the name of its first named member; else "" */
	const char *type;	/* as clang spells it, e.g. "struct list_head", "int (*)(int)" */
	uint64_t size;		/* bytes, of the declared type; 0 for a flexible array */
	uint64_t elem_size;	/* bytes of one element if an array (innermost), else 0 */
	uint32_t type_align;	/* bytes: alignment of the declared type */
	uint32_t attr_align;	/* bytes: from aligned() or _Alignas on the member; 0 none */
	uint32_t bits;		/* bit-field width, or LM_NOT_BITS */
	bool packed;		/* packed attribute on the member itself */
	bool flexible;		/* T name[]; */
	bool anonymous;		/* anonymous struct or union */
	bool is_record;		/* struct or union (or array of) by value */
	bool is_array;
	bool is_pointer;
	size_t begin, end;	/* bytes of the header: the declaration, or the macro that makes it (expansion) */
	bool in_header;		/* begin, end lie in the header itself (false: made by an #include inside the body) */
	uint64_t bit_offset;	/* clang's answer for the declared order, from the record's start */
	uint32_t first_leaf, nr_leaves;
};

/* A leaf: a scalar (or array of scalars) inside a field.  A scalar field is its own leaf. */
struct lm_leaf {
	const char *path;	/* dotted, from the record: "css.refcnt.data"; anonymous levels left out */
	const char *type;
	uint64_t offset;	/* bytes from its field's start (bit-fields: rounded down) */
	uint64_t size;		/* bytes; bit-field: bytes it reaches into, at least 1 */
	uint64_t elem_size;	/* bytes of one element if an array, else 0 */
	uint32_t field;		/* index of its field */
	bool is_pointer;
};

/* Read-only once built.  Everything lives in the source's arena. */
struct lm_record {
	const char *name;	/* tag, or the typedef's name if untagged */
	bool is_typedef_name;	/* spelled without "struct" */
	bool is_union;
	uint64_t size;		/* bytes */
	uint32_t align;		/* bytes; constant under any order of the same fields */
	uint32_t attr_align;	/* bytes: aligned(n) on the record; 0 none */
	bool packed;		/* packed attribute on the record */
	uint32_t pack;		/* bytes: #pragma pack(n) in force; 0 none */
	bool randomized;	/* randomize_layout attribute */
	size_t open, close;	/* byte offsets in the header of '{' and '}' */
	uint32_t line;		/* of the '{', from 1 */
	size_t end;		/* byte offset behind the declaration's attributes (before ';' or declarator) */
	struct lm_field *fields;
	uint32_t nr_fields;
	struct lm_leaf *leaves;
	uint32_t nr_leaves;
};

#endif
