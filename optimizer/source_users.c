/*
 * source_users.c - which records of the unit hold the record by value, at any
 * depth.  Door to libclang.
 *
 * C wants a member's type complete before it is used, so one walk in the order
 * of the text finds them all: what holds the record, and what holds one of
 * those.  Records defined inside another one are looked into on the way.
 */
#include <clang-c/Index.h>

#include "optimizer/source_parts.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 32 };

struct walk {
	struct lm_parse *p;
	struct lm_cursors holders;	/* the record itself, then what holds it */
	size_t cap;			/* of p->out->users */
	unsigned depth;
	bool begun;			/* the record's definition is behind us */
	bool found;			/* while the members of one record are looked at */
};

static bool is_holder(const struct walk *w, CXCursor decl)
{
	for (size_t i = 0; i < w->holders.nr; i++)
		if (clang_equalCursors(w->holders.items[i], decl))
			return true;
	return false;
}

static bool holds(struct walk *w, CXType record);

static enum CXVisitorResult see_member(CXCursor c, CXClientData data)
{
	struct walk *w = data;
	CXType t = clang_getCanonicalType(clang_getCursorType(c));

	while (t.kind == CXType_ConstantArray)
		t = clang_getCanonicalType(clang_getArrayElementType(t));
	if (t.kind != CXType_Record)
		return CXVisit_Continue;

	CXCursor decl = clang_getTypeDeclaration(t);
	enum CXCursorKind parent = clang_getCursorKind(clang_getCursorSemanticParent(decl));
	bool inside = parent == CXCursor_StructDecl || parent == CXCursor_UnionDecl;

	w->found = is_holder(w, decl) || ((clang_Cursor_isAnonymous(decl) || inside) && holds(w, t));
	return w->found ? CXVisit_Break : CXVisit_Continue;
}

static bool holds(struct walk *w, CXType record)
{
	bool outer = w->found, found;

	if (w->depth == MAX_DEPTH)
		return false;
	w->depth++;
	w->found = false;
	clang_Type_visitFields(record, see_member, w);
	w->depth--;
	found = w->found;
	w->found = outer;
	return found;
}

/* "struct mem_cgroup"; a record without a tag by its typedef, or "" if nobody can name it. */
static const char *name_of(const struct walk *w, CXType t)
{
	const char *text = lm_parse_text(w->p->arena, clang_getTypeSpelling(t));

	return strchr(text, '(') ? "" : text;
}

static void look_at(struct walk *w, CXCursor c)
{
	struct lm_source *out = w->p->out;
	CXType t = clang_getCursorType(c);
	long long size = clang_Type_getSizeOf(t);

	if (size < 0 || !holds(w, t))
		return;
	*LM_ARENA_PUSH(w->p->arena, w->holders.items, w->holders.nr, w->holders.cap) = c;

	const char *name = name_of(w, t);

	if (*name)
		*LM_ARENA_PUSH(w->p->arena, out->users, out->nr_users, w->cap) =
			(struct lm_user){ .name = name, .size = (uint64_t)size };
}

static enum CXChildVisitResult see(CXCursor c, CXCursor parent, CXClientData data)
{
	struct walk *w = data;
	enum CXCursorKind kind = clang_getCursorKind(c);

	(void)parent;
	if ((kind != CXCursor_StructDecl && kind != CXCursor_UnionDecl) || !clang_isCursorDefinition(c))
		return CXChildVisit_Continue;
	if (clang_equalCursors(c, w->p->record))
		w->begun = true;
	else if (w->begun)
		look_at(w, c);
	return w->begun ? CXChildVisit_Continue : CXChildVisit_Recurse;
}

void lm_source_users(struct lm_parse *p)
{
	struct walk w = { .p = p };

	*LM_ARENA_PUSH(p->arena, w.holders.items, w.holders.nr, w.holders.cap) = p->record;
	clang_visitChildren(clang_getTranslationUnitCursor(p->tu), see, &w);
}
