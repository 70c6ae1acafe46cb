/*
 * source_guards.c - the text of a record and of the records nested in it, what
 * their guards test, and where those macros come from.  Door to libclang.
 */
#include <clang-c/Index.h>

#include "optimizer/source_parts.h"

#include "base/table.h"
#include "optimizer/lexer.h"
#include "optimizer/scan.h"

#include <stdlib.h>
#include <string.h>

#define VIRTUAL "/linemate-virtual/"
#define PROBE "linemate_macro_"

/* ---- the records ---- */

static CXType innermost(CXType t)
{
	t = clang_getCanonicalType(t);
	while (t.kind == CXType_ConstantArray || t.kind == CXType_IncompleteArray)
		t = clang_getCanonicalType(clang_getArrayElementType(t));
	return t;
}

static bool is_seen(const struct lm_source *out, const char *path, size_t offset)
{
	for (size_t i = 0; i < out->nr_guarded; i++) {
		const struct lm_guarded *g = &out->guarded[i];

		if (!strcmp(g->path, path) && offset >= g->offset && offset < g->offset + g->len)
			return true;
	}
	return false;
}

/* The text between the braces of a definition; false if it is seen already, or made by a macro. */
static bool read_text(const struct lm_parse *p, CXCursor def, struct lm_guarded *g)
{
	CXSourceRange range = clang_getCursorExtent(def);
	unsigned from, to, line;
	CXFile file, to_file;
	const char *text;
	size_t len, open;

	clang_getExpansionLocation(clang_getRangeStart(range), &file, NULL, NULL, &from);
	clang_getExpansionLocation(clang_getRangeEnd(range), &to_file, &line, NULL, &to);
	if (!file || !to_file || !clang_File_isEqual(file, to_file))
		return false;
	text = clang_getFileContents(p->tu, file, &len);
	if (!text || from >= to || to > len || text[to - 1] != '}')
		return false;
	open = lm_scan_open(text, to, from) + 1;
	g->path = lm_parse_path(p, file);
	if (open >= to || is_seen(p->out, g->path, open))
		return false;
	g->record = lm_parse_text(p->arena, clang_getTypeSpelling(clang_getCursorType(def)));
	g->len = to - 1 - open;
	g->text = lm_arena_strndup(p->arena, text + open, g->len);
	g->offset = open;
	g->line = lm_lex_line(text, open);
	return true;
}

/* The record and all that are nested in it, each once. */
static void collect_records(struct lm_parse *p)
{
	struct lm_source *out = p->out;
	struct lm_strings *seen = lm_strings_new();
	struct lm_cursors stack = { 0 };
	size_t cap = 0;

	*LM_ARENA_PUSH(p->arena, stack.items, stack.nr, stack.cap) = p->record;
	for (size_t at = 0; at < stack.nr; at++) {
		CXType type = clang_getCursorType(stack.items[at]);
		struct lm_cursors fields;
		struct lm_guarded g;

		if (read_text(p, stack.items[at], &g))
			*LM_ARENA_PUSH(p->arena, out->guarded, out->nr_guarded, cap) = g;
		fields = lm_parse_fields(p, type);
		for (size_t i = 0; i < fields.nr; i++) {
			CXType inner = innermost(clang_getCursorType(fields.items[i]));
			CXCursor decl = clang_getTypeDeclaration(inner), def = clang_getCursorDefinition(decl);
			const char *usr;
			uint32_t known = lm_strings_nr(seen);

			if (inner.kind != CXType_Record || clang_Cursor_isNull(def))
				continue;
			usr = lm_parse_text(p->arena, clang_getCursorUSR(def));
			if (lm_strings_add(seen, usr, strlen(usr)) >= known)
				*LM_ARENA_PUSH(p->arena, stack.items, stack.nr, stack.cap) = def;
		}
	}
	lm_strings_free(seen);
}

/* ---- where macros are defined and mentioned ---- */

struct search {
	struct lm_parse *p;
	struct lm_strings *names;	/* ids are indices of tested */
	bool inside;			/* behind the forced includes */
};

static bool word_ends(const char *text, size_t len, size_t at)
{
	return at >= len || !lm_lex_word_byte(text[at]);
}

/* The length of the name at `at`. */
static size_t name_length(const char *text, size_t len, size_t at)
{
	size_t n = 0;

	while (at + n < len && lm_lex_word_byte(text[at + n]))
		n++;
	return n;
}

static size_t blanks(const char *text, size_t len, size_t at)
{
	while (at < len && (text[at] == ' ' || text[at] == '\t'))
		at++;
	return at;
}

/* True if the directive behind '#' at `at` is this word; *name: where what follows begins. */
static bool directive_is(const char *text, size_t len, size_t at, const char *word, size_t *name)
{
	size_t n = strlen(word), from = blanks(text, len, at + 1);

	if (from + n >= len || memcmp(text + from, word, n) || !word_ends(text, len, from + n))
		return false;
	*name = blanks(text, len, from + n);
	return true;
}

static struct lm_tested *find(const struct search *s, const char *name, size_t len)
{
	static const char suffix[] = "_MODULE";
	uint32_t id = lm_strings_find(s->names, name, len);

	if (id == LM_NO_STRING && len > 7 && !memcmp(name + len - 7, suffix, 7))
		id = lm_strings_find(s->names, name, len - 7);
	return id == LM_NO_STRING ? NULL : &s->p->out->tested.items[id];
}

/*
 * #define lines of one file.  A default ("#ifndef X", "#define X 0") does not
 * stand in the way of a flag.
 */
static void find_defines(struct search *s, const char *path, const char *text, size_t len)
{
	size_t before = len;	/* name behind the #ifndef that is the directive before */

	for (const char *hash = memchr(text, '#', len); hash; hash = memchr(hash + 1, '#', len - (size_t)(hash + 1 - text))) {
		size_t at = (size_t)(hash - text), start = at, name, n;
		struct lm_tested *t;

		while (start && (text[start - 1] == ' ' || text[start - 1] == '\t'))
			start--;
		if (start && text[start - 1] != '\n')
			continue;
		if (directive_is(text, len, at, "ifndef", &name)) {
			before = name;
			continue;
		}
		if (!directive_is(text, len, at, "define", &name)) {
			before = len;
			continue;
		}
		n = name_length(text, len, name);
		t = find(s, text + name, n);
		if (t && !t->defined_path) {
			t->defined_path = path;
			t->defined_line = lm_lex_line(text, at);
		}
		if (t && s->inside && !(before < len && name_length(text, len, before) == n &&
					!memcmp(text + before, text + name, n)))
			t->defined_inside = true;
		before = len;
	}
}

static bool on_define_line(const char *text, size_t at)
{
	size_t start = at, name;

	while (start && text[start - 1] != '\n')
		start--;
	start = blanks(text, at, start);
	return text[start] == '#' && (directive_is(text, at + 1, start, "define", &name) ||
				      directive_is(text, at + 1, start, "undef", &name)) && name == at;
}

/* Mentions of words that start with `start`, outside the records. */
static void find_mentions(struct search *s, const char *path, const char *text, size_t len, const char *start)
{
	const char *hit = text;

	while ((hit = memmem(hit, len - (size_t)(hit - text), start, strlen(start))) != NULL) {
		size_t at = (size_t)(hit - text), n = name_length(text, len, at);
		struct lm_tested *t = at && lm_lex_word_byte(text[at - 1]) ? NULL : find(s, hit, n);

		if (t && !t->elsewhere && !is_seen(s->p->out, path, at) && !on_define_line(text, at))
			t->elsewhere = true;
		hit += n ? n : 1;
	}
}

static void see_file(CXFile file, CXSourceLocation *stack, unsigned nr, CXClientData data)
{
	struct search *s = data;
	const struct lm_configs *configs = s->p->req->configs;
	const struct lm_tested_list *tested = &s->p->out->tested;
	const char *path = lm_parse_path(s->p, file), *text;
	bool options = false;
	size_t len;

	(void)stack;
	(void)nr;
	if (!strncmp(path, VIRTUAL, strlen(VIRTUAL)))
		return;
	s->inside |= !strcmp(path, configs->source ? configs->source : configs->header);
	text = clang_getFileContents(s->p->tu, file, &len);
	if (!text)
		return;
	find_defines(s, path, text, len);
	for (size_t i = 0; i < tested->nr; i++) {
		const struct lm_tested *t = &tested->items[i];
		bool option = !strncmp(t->name, "CONFIG_", 7);

		if (!option && !t->by_value && !t->elsewhere)
			find_mentions(s, path, text, len, t->name);
		options |= option;
	}
	if (options)
		find_mentions(s, path, text, len, "CONFIG_");
}

void lm_source_guards(struct lm_parse *p)
{
	struct lm_source *out = p->out;
	struct search s = { .p = p };

	collect_records(p);
	for (size_t i = 0; i < out->nr_guarded; i++)
		lm_guards_tested(&out->guarded[i], p->arena, &out->tested);
	if (!out->tested.nr)
		return;
	s.names = lm_strings_new();
	for (size_t i = 0; i < out->tested.nr; i++)
		lm_strings_add(s.names, out->tested.items[i].name, strlen(out->tested.items[i].name));
	clang_getInclusions(p->tu, see_file, &s);
	lm_strings_free(s.names);
}

/* ---- what macros are before the header ---- */

struct values {
	const struct lm_parse *p;
	size_t nr;
	const char **values;
	struct lm_arena *arena;
};

static enum CXChildVisitResult see_value(CXCursor c, CXCursor parent, CXClientData data)
{
	struct values *v = data;
	CXString string = clang_getCursorSpelling(c);
	const char *name = clang_getCString(string);

	(void)parent;
	if (clang_getCursorKind(c) == CXCursor_VarDecl && name && !strncmp(name, PROBE, strlen(PROBE))) {
		CXEvalResult value = clang_Cursor_Evaluate(c);
		size_t i = strtoul(name + strlen(PROBE), NULL, 10);

		if (i < v->nr && value && clang_EvalResult_getKind(value) == CXEval_StrLiteral)
			v->values[i] = lm_arena_strdup(v->arena, clang_EvalResult_getAsStr(value));
		clang_EvalResult_dispose(value);
	}
	clang_disposeString(string);
	return CXChildVisit_Continue;
}

struct lm_err *lm_source_macros(const struct lm_source_request *req, size_t i, const char *const *names, size_t nr,
				struct lm_arena *arena, const char **values)
{
	/* A unit of probes alone: only the flags and what they include speak. */
	struct lm_configs configs = *req->configs;
	struct lm_source_request alone = { .configs = &configs, .record = req->record, .text = "\n", .len = 1 };
	struct lm_source out = { 0 };
	struct lm_parse p = { .req = &alone, .config = &configs.items[i], .out = &out, .arena = &out.arena };
	struct values v = { .p = &p, .nr = nr, .values = values, .arena = arena };
	struct lm_str probes = { 0 };
	struct lm_err *err;

	configs.header = VIRTUAL "nothing.h";
	configs.source = NULL;
	lm_str_add(&probes, "#define LINEMATE_STRING_(...) #__VA_ARGS__\n"
		   "#define LINEMATE_STRING(...) LINEMATE_STRING_(__VA_ARGS__)\n");
	for (size_t k = 0; k < nr; k++) {
		values[k] = NULL;
		lm_str_addf(&probes, "#if defined(%s_MODULE) && !defined(%s)\n"
			    "static const char *const " PROBE "%zu = \"m\";\n#elif defined(%s)\n"
			    "static const char *const " PROBE "%zu = LINEMATE_STRING(%s);\n#endif\n",
			    names[k], names[k], k, names[k], k, names[k]);
	}
	err = lm_unit_open(&p, lm_str_text(&probes));
	lm_str_release(&probes);
	if (!err)
		clang_visitChildren(clang_getTranslationUnitCursor(p.tu), see_value, &v);
	lm_unit_close(&p);
	lm_arena_release(&out.arena);
	return err;
}
