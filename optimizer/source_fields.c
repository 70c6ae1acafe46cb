/* source_fields.c - the fields and leaves of a record, as clang lays them out.  Door to libclang. */
#include <clang-c/Index.h>

#include "optimizer/source_parts.h"

#include "optimizer/constant.h"
#include "optimizer/layout.h"
#include "optimizer/scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/*
 * Arrays of records are listed element by element while the record stays below
 * MAX_LEAVES; HARD_MAX_LEAVES ends what types nested in types can multiply to.
 */
enum { MAX_LEAVES = 4096, HARD_MAX_LEAVES = 65536 };

struct collect {
	struct lm_arena *arena;
	struct lm_cursors *cursors;
};

static enum CXVisitorResult collect_field(CXCursor c, CXClientData data)
{
	struct collect *to = data;

	*LM_ARENA_PUSH(to->arena, to->cursors->items, to->cursors->nr, to->cursors->cap) = c;
	return CXVisit_Continue;
}

struct lm_cursors lm_parse_fields(const struct lm_parse *p, CXType record)
{
	struct lm_cursors cursors = { 0 };
	struct collect to = { p->arena, &cursors };

	clang_Type_visitFields(record, collect_field, &to);
	return cursors;
}

static bool is_record(CXType t)
{
	return clang_getCanonicalType(t).kind == CXType_Record;
}

static bool is_array(CXType canonical)
{
	return canonical.kind == CXType_ConstantArray || canonical.kind == CXType_IncompleteArray;
}

/* Behind all levels of array; canonical. */
static CXType innermost(CXType t)
{
	t = clang_getCanonicalType(t);
	while (is_array(t))
		t = clang_getCanonicalType(clang_getArrayElementType(t));
	return t;
}

static bool is_pointer(CXType canonical)
{
	return canonical.kind == CXType_Pointer || canonical.kind == CXType_BlockPointer;
}

static uint64_t size_of(CXType t)
{
	long long n = clang_Type_getSizeOf(t);

	return n > 0 ? (uint64_t)n : 0;	/* incomplete arrays: negative */
}

/*
 * The name; "" for unnamed bit-fields and anonymous members.  libclang 19 calls
 * an anonymous member by its type, which is no identifier.
 */
static const char *name_of(struct lm_arena *arena, CXCursor field)
{
	char *name = lm_parse_text(arena, clang_getCursorSpelling(field));

	return lm_scan_is_name(name, strlen(name), 0) && lm_scan_token(name, strlen(name), 0) == strlen(name) ? name : "";
}

/* Behind ":LINE:COLUMN)" in a type's name, or NULL. */
static char *behind_place(char *text)
{
	for (char *end = strchr(text, ')'); end; end = strchr(end + 1, ')')) {
		char *digit = end;

		while (digit > text && isdigit((unsigned char)digit[-1]))
			digit--;
		if (digit < end && digit > text && digit[-1] == ':')
			return end + 1;
	}
	return NULL;
}

/* As clang spells it, but without the place of an unnamed type: it would change with every machine. */
static const char *type_text(struct lm_arena *arena, CXType t)
{
	char *text = lm_parse_text(arena, clang_getTypeSpelling(t));
	char *at = strstr(text, "(unnamed");

	if (!at)
		at = strstr(text, "(anonymous");
	if (!at)
		return text;

	char *rest = behind_place(at), *kind = at;

	while (kind > text && kind[-1] != ' ')
		kind--;
	return lm_arena_printf(arena, "%.*s{...}%s", (int)(kind - text), text, rest ? rest : "");
}

/* Attributes of a field or record: packed, whether there is an aligned to evaluate, or one libclang has no kind for. */
struct attributes {
	bool packed, aligned, other;
};

static enum CXChildVisitResult see_attribute(CXCursor c, CXCursor parent, CXClientData data)
{
	struct attributes *a = data;
	enum CXCursorKind kind = clang_getCursorKind(c);

	(void)parent;
	a->packed |= kind == CXCursor_PackedAttr;
	a->aligned |= kind == CXCursor_AlignedAttr;
	a->other |= kind == CXCursor_UnexposedAttr;
	return CXChildVisit_Continue;
}

static struct attributes attributes_of(CXCursor c)
{
	struct attributes a = { 0 };

	clang_visitChildren(c, see_attribute, &a);
	return a;
}

/* One alignment attribute as clang prints it. */
struct alignment {
	uint32_t *to;		/* where the largest value goes */
	const char *expr;	/* "" for a bare aligned */
	bool alignas;
};

struct alignments {
	struct alignment *items;
	size_t nr, cap;
};

/* True if text[begin .. end) names an alignment attribute and not, say, a variable called so. */
static bool is_alignment(const char *text, size_t begin, size_t end, bool *alignas)
{
	size_t n = end - begin;
	const char *word = text + begin;

	*alignas = (n == 8 && !memcmp(word, "_Alignas", n)) || (n == 7 && !memcmp(word, "alignas", n));
	if (*alignas)
		return true;
	if (begin < 2 || !((n == 7 && !memcmp(word, "aligned", n)) || (n == 5 && !memcmp(word, "align", n))))
		return false;
	return !memcmp(word - 2, "((", 2) || !memcmp(word - 2, "::", 2) || !memcmp(word - 2, "c(", 2);
}

/* Finds aligned, aligned(EXPR) and _Alignas(EXPR) in what clang prints for a field or record. */
static void alignments_in(struct lm_arena *arena, struct alignments *all, const char *text, uint32_t *to)
{
	size_t len = strlen(text), end;
	bool alignas;

	for (size_t at = lm_scan_blank(text, len, 0); at < len; at = lm_scan_blank(text, len, end)) {
		end = lm_scan_token(text, len, at);
		if (!is_alignment(text, at, end, &alignas))
			continue;

		size_t open = end, close = end;

		if (open < len && text[open] == '(')
			close = lm_scan_parens(text, len, open);
		*LM_ARENA_PUSH(arena, all->items, all->nr, all->cap) = (struct alignment){
			.to = to,
			.expr = close > open ? lm_arena_strndup(arena, text + open + 1, close - open - 2) : "",
			.alignas = alignas,
		};
		end = close;
	}
}

static char *print_decl(struct lm_arena *arena, CXCursor c)
{
	CXPrintingPolicy policy = clang_getCursorPrintingPolicy(c);

	clang_PrintingPolicy_setProperty(policy, CXPrintingPolicy_TerseOutput, 1);

	char *text = lm_parse_text(arena, clang_getCursorPrettyPrinted(c, policy));

	clang_PrintingPolicy_dispose(policy);
	return text;
}

static void raise_to(const struct alignment *a, uint64_t value)
{
	if (value <= UINT32_MAX && value > *a->to)
		*a->to = (uint32_t)value;
}

/* The types whose sizes the unit was asked for, by the name that clang gives them. */
static struct lm_constant_type *basic_types(const struct lm_parse *p, size_t *nr)
{
	struct lm_cursors members = lm_parse_fields(p, clang_getCursorType(p->types));
	struct lm_constant_type *types = LM_ARENA_ARRAY(p->arena, struct lm_constant_type, members.nr);

	for (size_t i = 0; i < members.nr; i++) {
		CXType t = clang_getCursorType(members.items[i]);

		types[i].name = lm_parse_text(p->arena, clang_getTypeSpelling(t));
		types[i].size = size_of(t);
		types[i].align = (uint32_t)clang_Type_getAlignOf(t);
	}
	*nr = members.nr;
	return types;
}

/* Without clang, where that is certain. */
static bool alignment_easy(const struct lm_parse *p, const struct alignment *a, const struct lm_constant_type *types,
			   size_t nr_types)
{
	int64_t value;

	if (!*a->expr) {
		raise_to(a, (uint64_t)clang_Type_getAlignOf(clang_getCursorType(p->default_align)));
		return true;
	}
	if (lm_constant_eval(a->expr, strlen(a->expr), types, nr_types, &value)) {
		raise_to(a, value > 0 ? (uint64_t)value : 0);
		return true;
	}
	for (size_t i = 0; a->alignas && i < nr_types; i++) {
		if (!strcmp(types[i].name, a->expr)) {
			raise_to(a, types[i].align);
			return true;
		}
	}
	return false;
}

static struct lm_err *alignments_resolve(const struct lm_parse *p, const struct alignments *all)
{
	struct alignments hard = { 0 };
	size_t nr_types = 0;
	const struct lm_constant_type *types = all->nr ? basic_types(p, &nr_types) : NULL;

	for (size_t i = 0; i < all->nr; i++)
		if (!alignment_easy(p, &all->items[i], types, nr_types))
			*LM_ARENA_PUSH(p->arena, hard.items, hard.nr, hard.cap) = all->items[i];
	if (!hard.nr)
		return NULL;

	const char **attributes = LM_ARENA_ARRAY(p->arena, const char *, hard.nr);
	uint32_t *values = LM_ARENA_ARRAY(p->arena, uint32_t, hard.nr);

	for (size_t i = 0; i < hard.nr; i++)
		attributes[i] = lm_arena_printf(p->arena, hard.items[i].alignas ? "_Alignas(%s)" :
						"__attribute__((__aligned__(%s)))", hard.items[i].expr);

	struct lm_err *err = lm_parse_alignments(p, attributes, hard.nr, values);

	for (size_t i = 0; !err && i < hard.nr; i++)
		raise_to(&hard.items[i], values[i]);
	return err;
}

/* The leaves of one record while they are listed. */
struct leaves {
	const struct lm_parse *p;
	struct lm_leaf *items;
	size_t nr, cap;
	uint32_t field;
};

static void leaf_add(struct leaves *l, CXType t, const char *path, uint64_t offset, uint64_t size)
{
	CXType inner = innermost(t);

	*LM_ARENA_PUSH(l->p->arena, l->items, l->nr, l->cap) = (struct lm_leaf){
		.path = path,
		.type = type_text(l->p->arena, t),
		.offset = offset,
		.size = size,
		.elem_size = is_array(clang_getCanonicalType(t)) ? size_of(inner) : 0,
		.field = l->field,
		.is_pointer = is_pointer(inner),
	};
}

/* How many leaves t has; anything above limit once there are more than that. */
static uint64_t count_leaves(const struct lm_parse *p, CXType t, uint64_t limit)
{
	uint64_t nr = 0;

	t = clang_getCanonicalType(t);
	if (t.kind == CXType_ConstantArray) {
		uint64_t elems = (uint64_t)clang_getArraySize(t);

		if (!is_record(innermost(t)))
			return 1;
		nr = count_leaves(p, clang_getArrayElementType(t), limit);
		return elems && nr > (limit + 1) / elems ? limit + 1 : nr * elems;
	}
	if (t.kind != CXType_Record)
		return 1;

	struct lm_cursors members = lm_parse_fields(p, t);

	for (size_t i = 0; i < members.nr && nr <= limit; i++)
		nr += count_leaves(p, clang_getCursorType(members.items[i]), limit);
	return nr;
}

static void walk_type(struct leaves *l, CXType t, const char *path, uint64_t offset);

static void walk_record(struct leaves *l, CXType t, const char *path, uint64_t offset)
{
	struct lm_cursors members = lm_parse_fields(l->p, t);
	struct lm_arena *arena = l->p->arena;

	for (size_t i = 0; i < members.nr; i++) {
		CXCursor c = members.items[i];
		CXType type = clang_getCursorType(c);
		const char *name = name_of(arena, c);
		long long bit = clang_Cursor_getOffsetOfField(c);
		const char *sub = !*name ? path : *path ? lm_arena_printf(arena, "%s.%s", path, name) : name;
		uint64_t at = bit > 0 ? (uint64_t)bit : 0;

		if (!clang_Cursor_isBitField(c))
			walk_type(l, type, sub, offset + at / 8);
		else if (*name)
			leaf_add(l, type, sub, offset + at / 8,
				 (at % 8 + (unsigned)clang_getFieldDeclBitWidth(c) + 7) / 8);
	}
}

static void walk_array(struct leaves *l, CXType t, const char *path, uint64_t offset)
{
	CXType elem = clang_getArrayElementType(t);
	uint64_t nr = (uint64_t)clang_getArraySize(t), size = size_of(elem);
	uint64_t room = l->nr < MAX_LEAVES ? MAX_LEAVES - l->nr : 0;
	uint64_t leaves = count_leaves(l->p, t, room);

	if (leaves > room) {
		leaf_add(l, t, path, offset, size_of(t));
		return;
	}
	for (uint64_t i = 0; leaves && i < nr; i++)
		walk_type(l, elem, lm_arena_printf(l->p->arena, "%s[%llu]", path, (unsigned long long)i),
			  offset + i * size);
}

static void walk_type(struct leaves *l, CXType declared, const char *path, uint64_t offset)
{
	CXType t = clang_getCanonicalType(declared);

	if (t.kind == CXType_Record && l->nr < HARD_MAX_LEAVES)
		walk_record(l, t, path, offset);
	else if (t.kind == CXType_ConstantArray && is_record(innermost(t)))
		walk_array(l, t, path, offset);
	else
		leaf_add(l, declared, path, offset, size_of(t));
}

static void field_leaves(struct leaves *l, struct lm_field *f, uint32_t index, CXType t)
{
	l->field = index;
	f->first_leaf = (uint32_t)l->nr;
	if (f->bits == LM_NOT_BITS)
		walk_type(l, t, f->name, 0);
	else if (*f->name)
		leaf_add(l, t, f->name, 0, (f->bit_offset % 8 + f->bits + 7) / 8);
	f->nr_leaves = (uint32_t)l->nr - f->first_leaf;
}

/* True if t ends in an array without a size, or of size 0 as it was done before C99: it has to stay last. */
static bool ends_flexible(const struct lm_parse *p, CXType t)
{
	t = clang_getCanonicalType(t);
	if (is_array(t) && size_of(t) == 0 && (t.kind == CXType_IncompleteArray || clang_getArraySize(t) == 0))
		return true;
	if (t.kind != CXType_Record)
		return false;

	struct lm_cursors members = lm_parse_fields(p, t);
	bool is_union = clang_getCursorKind(clang_getTypeDeclaration(t)) == CXCursor_UnionDecl;

	for (size_t i = is_union || !members.nr ? 0 : members.nr - 1; i < members.nr; i++)
		if (ends_flexible(p, clang_getCursorType(members.items[i])))
			return true;
	return false;
}

/* Where a range stands in the header: macros count as the place where they are used. */
static bool extent(const struct lm_parse *p, CXSourceRange range, size_t *begin, size_t *end)
{
	CXFile file, end_file, arg_file;
	unsigned from, to, arg;

	clang_getExpansionLocation(clang_getRangeStart(range), &file, NULL, NULL, &from);
	clang_getExpansionLocation(clang_getRangeEnd(range), &end_file, NULL, NULL, &to);
	clang_getFileLocation(clang_getRangeEnd(range), &arg_file, NULL, NULL, &arg);
	*begin = from;
	*end = to;
	/* The last token is an argument of a macro: clang then names the macro's start. */
	if (clang_File_isEqual(end_file, p->header) && (arg != to || !clang_File_isEqual(arg_file, end_file)) &&
	    to < p->req->len)
		*end = lm_scan_invocation(p->req->text, p->req->len, to);
	return clang_File_isEqual(file, p->header) && clang_File_isEqual(end_file, p->header) && *begin < *end &&
	       *end <= p->req->len;
}

static void field_extent(const struct lm_parse *p, struct lm_field *f, CXCursor c)
{
	size_t begin, end;

	f->in_header = extent(p, clang_getCursorExtent(c), &f->begin, &f->end);
	if (!f->anonymous)
		return;
	/* Of an anonymous member clang reports the word "union" only; its type goes to the brace. */
	if (extent(p, clang_getCursorExtent(clang_getTypeDeclaration(clang_getCursorType(c))), &begin, &end) &&
	    begin >= f->begin && end > f->end)
		f->end = end;
}

/* The first named member inside an anonymous one. */
static const char *key_inside(const struct lm_parse *p, CXType t)
{
	struct lm_cursors members = lm_parse_fields(p, t);

	for (size_t i = 0; i < members.nr; i++) {
		const char *name = name_of(p->arena, members.items[i]);

		if (!*name && is_record(clang_getCursorType(members.items[i])))
			name = key_inside(p, clang_getCursorType(members.items[i]));
		if (*name)
			return name;
	}
	return "";
}

static struct lm_err *field_fill(const struct lm_parse *p, struct lm_field *f, CXCursor c, struct alignments *all)
{
	CXType t = clang_getCursorType(c), canonical = clang_getCanonicalType(t), inner = innermost(t);
	struct attributes attributes = attributes_of(c);
	long long bit = clang_Cursor_getOffsetOfField(c), align = clang_Type_getAlignOf(t);

	f->name = name_of(p->arena, c);
	if (bit < 0 || align <= 0)
		return lm_err_new(LM_ERR_INPUT, "%s: clang gives no layout for member \"%s\" of %s in configuration "
				  "\"%s\": its type is incomplete.", p->req->configs->header, f->name,
				  p->out->record.name, p->config->name);
	f->type = type_text(p->arena, t);
	f->size = size_of(t);
	f->is_array = is_array(canonical);
	f->elem_size = f->is_array ? size_of(inner) : 0;
	f->type_align = (uint32_t)align;
	f->bits = clang_Cursor_isBitField(c) ? (uint32_t)clang_getFieldDeclBitWidth(c) : LM_NOT_BITS;
	f->packed = attributes.packed;
	f->is_record = is_record(inner);
	f->is_pointer = is_pointer(canonical);
	f->flexible = canonical.kind == CXType_IncompleteArray;
	f->anonymous = !*f->name && canonical.kind == CXType_Record;
	f->key = f->anonymous ? key_inside(p, t) : f->name;
	f->bit_offset = (uint64_t)bit;
	field_extent(p, f, c);
	if (attributes.aligned)
		alignments_in(p->arena, all, print_decl(p->arena, c), &f->attr_align);
	return NULL;
}

static struct lm_err *fill_fields(struct lm_parse *p)
{
	struct lm_record *rec = &p->out->record;
	struct attributes attributes = attributes_of(p->record);
	struct alignments all = { 0 };
	struct lm_err *err = NULL;

	rec->packed = attributes.packed;
	if (attributes.aligned || attributes.other) {
		const char *text = print_decl(p->arena, p->record);

		alignments_in(p->arena, &all, text, &rec->attr_align);
		rec->randomized |= lm_scan_has_word(text, 0, strlen(text), "randomize_layout");
	}
	for (size_t i = 0; !err && i < p->fields.nr; i++)
		err = field_fill(p, &rec->fields[i], p->fields.items[i], &all);
	if (err)
		return err;
	if (rec->nr_fields) {
		struct lm_field *last = &rec->fields[rec->nr_fields - 1];

		/* The kernel's group markers are arrays of size 0, but no tails. */
		if (strncmp(last->name, "__cacheline_group", strlen("__cacheline_group")))
			last->flexible |= ends_flexible(p, clang_getCursorType(p->fields.items[rec->nr_fields - 1]));
	}
	return alignments_resolve(p, &all);
}

/* True if layout.c, given this value of #pragma pack, comes to clang's offsets. */
static bool pack_fits(struct lm_record *rec, uint32_t pack, const uint32_t *order, uint64_t *bits)
{
	struct lm_layout layout = { .bit_offset = bits };

	rec->pack = pack;
	lm_layout_fields(rec, order, NULL, 64, NULL, &layout);
	for (uint32_t i = 0; i < rec->nr_fields; i++)
		if (bits[i] != rec->fields[i].bit_offset)
			return false;
	return layout.size == rec->size && layout.align == rec->align;
}

/* -fpack-struct[=N] among the flags: what holds where no pragma does. */
static uint32_t pack_flag(const struct lm_config *config)
{
	static const char flag[] = "-fpack-struct";
	uint32_t pack = 0;

	for (size_t i = 0; i < config->nr_clang_args; i++) {
		const char *arg = config->clang_args[i];

		if (!strncmp(arg, flag, strlen(flag)))
			pack = arg[strlen(flag)] == '=' ? (uint32_t)strtoul(arg + strlen(flag) + 1, NULL, 10) : 1;
		else if (!strcmp(arg, "-fno-pack-struct"))
			pack = 0;
	}
	return pack;
}

/*
 * libclang does not tell #pragma pack.  The header's text does, unless a macro
 * or another header set it, or a conditional leaves it out: so that reading is
 * tried first, then all others, and the first that explains clang's offsets is
 * taken.  (If none does, the layout check will say so.)
 */
static void find_pack(struct lm_parse *p)
{
	struct lm_record *rec = &p->out->record;
	uint32_t flag = pack_flag(p->config), scan = lm_scan_pack(p->req->text, rec->open, flag);
	const uint32_t tries[] = { scan, flag, 0, 1, 2, 4, 8, 16 };
	uint32_t *order = LM_ARENA_ARRAY(p->arena, uint32_t, rec->nr_fields);
	uint64_t *bits = LM_ARENA_ARRAY(p->arena, uint64_t, rec->nr_fields);

	for (uint32_t i = 0; i < rec->nr_fields; i++)
		order[i] = i;
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
		if (pack_fits(rec, tries[i], order, bits))
			return;
	rec->pack = scan;
}

struct lm_err *lm_source_fields(struct lm_parse *p)
{
	struct lm_record *rec = &p->out->record;
	CXType t = clang_getCursorType(p->record);
	struct leaves leaves = { .p = p };

	rec->size = size_of(t);
	rec->align = (uint32_t)clang_Type_getAlignOf(t);
	p->fields = lm_parse_fields(p, t);
	rec->nr_fields = (uint32_t)p->fields.nr;
	rec->fields = LM_ARENA_ARRAY(p->arena, struct lm_field, p->fields.nr);

	struct lm_err *err = fill_fields(p);

	if (err)
		return err;
	for (uint32_t i = 0; i < rec->nr_fields; i++)
		field_leaves(&leaves, &rec->fields[i], i, clang_getCursorType(p->fields.items[i]));
	rec->leaves = leaves.items;
	rec->nr_leaves = (uint32_t)leaves.nr;
	find_pack(p);
	return NULL;
}
