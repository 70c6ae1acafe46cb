/*
 * source_text.c - where the record stands in the header's text: its braces and
 * the attributes behind them, which libclang does not report.  Door to libclang.
 */
#include <clang-c/Index.h>

#include "optimizer/source_parts.h"

#include "optimizer/scan.h"

static uint32_t line_at(const char *text, size_t at)
{
	uint32_t line = 1;

	for (size_t i = 0; i < at; i++)
		line += text[i] == '\n';
	return line;
}

struct declarator {
	const struct lm_parse *p;
	size_t at;
	bool found;
};

static enum CXChildVisitResult see_declarator(CXCursor c, CXCursor parent, CXClientData data)
{
	struct declarator *d = data;
	enum CXCursorKind kind = clang_getCursorKind(c);
	bool is_record = kind == CXCursor_StructDecl || kind == CXCursor_UnionDecl;
	unsigned at;

	(void)parent;
	if (!is_record && kind != CXCursor_VarDecl && kind != CXCursor_TypedefDecl && kind != CXCursor_FieldDecl)
		return CXChildVisit_Continue;
	if (!lm_parse_in_header(d->p, c))
		return CXChildVisit_Continue;
	if (is_record)
		return CXChildVisit_Recurse;
	clang_getExpansionLocation(clang_getCursorLocation(c), NULL, NULL, NULL, &at);
	d->found = at == d->at;
	return d->found ? CXChildVisit_Break : CXChildVisit_Continue;
}

/* True if the name at `at` is what is declared behind the braces, not an attribute's macro. */
static bool is_declarator(const struct lm_parse *p, size_t at)
{
	struct declarator d = { .p = p, .at = at };

	clang_visitChildren(clang_getTranslationUnitCursor(p->tu), see_declarator, &d);
	return d.found;
}

/* Behind the attributes that follow the closing brace. */
static size_t attributes_end(const struct lm_parse *p, size_t at)
{
	const char *text = p->req->text;
	size_t len = p->req->len, end = at;

	for (;;) {
		size_t next = lm_scan_blank(text, len, end);

		if (!lm_scan_is_name(text, len, next) || is_declarator(p, next))
			return end;
		end = lm_scan_invocation(text, len, next);
	}
}

struct lm_err *lm_source_braces(struct lm_parse *p)
{
	struct lm_record *rec = &p->out->record;
	CXSourceRange range = clang_getCursorExtent(p->record);
	const char *text = p->req->text;
	size_t len = p->req->len;
	unsigned from, to, line;
	CXFile file, to_file;

	clang_getExpansionLocation(clang_getRangeStart(range), &file, &line, NULL, &from);
	clang_getExpansionLocation(clang_getRangeEnd(range), &to_file, NULL, NULL, &to);
	if (file && to_file && clang_File_isEqual(file, to_file) && from < to && to <= len) {
		rec->open = lm_scan_open(text, to, from);
		rec->close = to - 1;
	}
	if (rec->open >= rec->close || text[rec->open] != '{' || text[rec->close] != '}')
		return lm_err_new(LM_ERR_REFUSED, "%s:%u: record \"%s\" is made by a macro; there is no text that could be "
				  "rearranged.", p->req->configs->header, line, rec->name);
	rec->line = line_at(text, rec->open);
	rec->end = attributes_end(p, rec->close + 1);
	rec->is_typedef_name = !lm_scan_has_word(text, from, rec->open, rec->name);
	for (size_t i = 0; i < 2; i++) {
		size_t begin = i ? rec->close + 1 : from, end = i ? rec->end : rec->open;

		rec->randomized |= lm_scan_has_word(text, begin, end, "__randomize_layout") ||
				   lm_scan_has_word(text, begin, end, "randomize_layout");
	}
	return NULL;
}
