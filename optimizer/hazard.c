/*
 * hazard.c - code that depends on the order of fields.  Door to libclang.
 *
 * Only what stands at file level is seen: function bodies are skipped.
 */
#include <clang-c/Index.h>

#include "optimizer/source_parts.h"

#include <string.h>

struct search {
	struct lm_parse *p;
	size_t cap;
	CXCursor place;		/* the variable or assertion that is looked at */
};

static void hazard_add(struct search *s, enum lm_hazard_kind kind, CXCursor at, const char *member)
{
	struct lm_source *out = s->p->out;
	CXFile file;
	unsigned line;

	clang_getExpansionLocation(clang_getCursorLocation(at), &file, &line, NULL, NULL);

	struct lm_hazard h = { .kind = kind, .line = line, .member = member };

	h.file = lm_parse_path(s->p, file);
	for (size_t i = 0; i < out->nr_hazards; i++) {
		const struct lm_hazard *o = &out->hazards[i];

		if (o->kind == kind && o->line == line && !strcmp(o->file, h.file) &&
		    (o->member == member || (o->member && member && !strcmp(o->member, member))))
			return;
	}
	*LM_ARENA_PUSH(s->p->arena, out->hazards, out->nr_hazards, s->cap) = h;
}

static enum CXChildVisitResult first_child(CXCursor c, CXCursor parent, CXClientData data)
{
	(void)parent;
	*(CXCursor *)data = c;
	return CXChildVisit_Break;
}

/* .member = value: libclang shows the member's reference first.  (offsetof shows the type before it.) */
static bool is_designated(CXCursor c)
{
	CXCursor child = clang_getNullCursor();

	if (clang_getCursorKind(c) != CXCursor_UnexposedExpr)
		return false;
	clang_visitChildren(c, first_child, &child);
	return clang_getCursorKind(child) == CXCursor_MemberRef;
}

/* 0, (void *)0, {0}, {}: zero whichever member comes first. */
static bool is_zero(CXCursor c)
{
	CXCursor child = clang_getNullCursor();
	enum CXCursorKind kind = clang_getCursorKind(c);

	if (kind == CXCursor_IntegerLiteral || kind == CXCursor_FloatingLiteral || kind == CXCursor_CharacterLiteral) {
		CXEvalResult value = clang_Cursor_Evaluate(c);
		bool zero = value && (clang_EvalResult_getKind(value) == CXEval_Int ?
				      clang_EvalResult_getAsLongLong(value) == 0 :
				      clang_EvalResult_getKind(value) == CXEval_Float &&
				      clang_EvalResult_getAsDouble(value) == 0);

		clang_EvalResult_dispose(value);
		return zero;
	}
	if (kind != CXCursor_InitListExpr && kind != CXCursor_ParenExpr && kind != CXCursor_CStyleCastExpr &&
	    kind != CXCursor_UnexposedExpr)
		return false;
	clang_visitChildren(c, first_child, &child);
	return clang_Cursor_isNull(child) ? kind == CXCursor_InitListExpr : is_zero(child);
}

struct values {
	size_t nr, positional;
	bool zero;		/* the last one */
};

static enum CXChildVisitResult see_value(CXCursor c, CXCursor parent, CXClientData data)
{
	struct values *v = data;

	(void)parent;
	v->nr++;
	if (!is_designated(c)) {
		v->positional++;
		v->zero = is_zero(c);
	}
	return CXChildVisit_Continue;
}

static bool is_ours(const struct search *s, CXType t)
{
	CXCursor decl = clang_getTypeDeclaration(clang_getCanonicalType(t));

	return clang_equalCursors(clang_getCanonicalCursor(decl), clang_getCanonicalCursor(s->p->record));
}

static void check_list(struct search *s, CXCursor list)
{
	struct values v = { 0 };

	if (!is_ours(s, clang_getCursorType(list)))
		return;
	clang_visitChildren(list, see_value, &v);
	if (v.positional && !(v.nr == 1 && v.zero))
		hazard_add(s, LM_HAZARD_POSITIONAL_INIT, list, NULL);
}

static enum CXChildVisitResult see_initialiser(CXCursor c, CXCursor parent, CXClientData data)
{
	(void)parent;
	if (clang_getCursorKind(c) == CXCursor_InitListExpr)
		check_list(data, c);
	return CXChildVisit_Recurse;
}

/* The key of the record's direct member that holds this field; NULL if it is a field of another record. */
static const char *member_key(const struct search *s, CXCursor field)
{
	const struct lm_parse *p = s->p;
	CXCursor at = clang_getCanonicalCursor(field);

	for (unsigned depth = 0; depth < 64; depth++) {
		CXCursor parent = clang_getCursorSemanticParent(at);

		if (clang_Cursor_isNull(parent) || clang_getCursorKind(parent) == CXCursor_TranslationUnit)
			return NULL;
		if (clang_equalCursors(parent, p->record))
			break;
		at = parent;
	}
	for (size_t i = 0; i < p->fields.nr; i++) {
		CXCursor f = p->fields.items[i];

		if (clang_equalCursors(f, at) ||
		    clang_equalCursors(clang_getTypeDeclaration(clang_getCursorType(f)), at))
			return p->out->record.fields[i].key;
	}
	return NULL;
}

/* offsetof in both forms: __builtin_offsetof(T, member), &((T *)0)->member. */
static enum CXChildVisitResult see_assertion(CXCursor c, CXCursor parent, CXClientData data)
{
	struct search *s = data;
	enum CXCursorKind kind = clang_getCursorKind(c);

	(void)parent;
	if (kind == CXCursor_UnaryExpr)		/* sizeof and alignof of a member: the same wherever it is */
		return CXChildVisit_Continue;
	if (kind == CXCursor_MemberRef || kind == CXCursor_MemberRefExpr) {
		const char *key = member_key(s, clang_getCursorReferenced(c));

		if (key)
			hazard_add(s, LM_HAZARD_OFFSET_ASSERT, s->place, key);
	}
	return CXChildVisit_Recurse;
}

static bool seed_flag(const struct lm_config *config)
{
	for (size_t i = 0; i < config->nr_clang_args; i++)
		if (!strncmp(config->clang_args[i], "-frandomize-layout-seed", strlen("-frandomize-layout-seed")))
			return true;
	return false;
}

void lm_source_hazards(struct lm_parse *p)
{
	struct search s = { .p = p };

	if (p->out->record.randomized && (p->randstruct || seed_flag(p->config)))
		hazard_add(&s, LM_HAZARD_RANDSTRUCT, p->record, NULL);
	for (size_t i = 0; i < p->code.nr; i++) {
		s.place = p->code.items[i];
		if (clang_getCursorKind(s.place) == CXCursor_StaticAssert)
			clang_visitChildren(s.place, see_assertion, &s);
		else
			clang_visitChildren(s.place, see_initialiser, &s);
	}
}
