/*
 * source_unit.c - a translation unit opened with libclang, and its complaints
 * as errors.
 *
 * The unit is one virtual file that includes the source or the header.
 */
#include <clang-c/Index.h>

#include "optimizer/source_parts.h"

#include <string.h>

#define MAIN_PATH "/linemate-virtual/main.c"

char *lm_parse_text(struct lm_arena *arena, CXString s)
{
	const char *text = clang_getCString(s);
	char *copy = lm_arena_strdup(arena, text ? text : "");

	clang_disposeString(s);
	return copy;
}

const char *lm_parse_path(const struct lm_parse *p, CXFile file)
{
	const char *path;

	if (!file)
		return p->req->configs->header;
	if (p->header && clang_File_isEqual(file, p->header))
		return p->req->configs->header;
	path = lm_parse_text(p->arena, clang_File_tryGetRealPathName(file));
	return *path ? path : lm_parse_text(p->arena, clang_getFileName(file));
}

bool lm_parse_in_header(const struct lm_parse *p, CXCursor c)
{
	CXFile file;

	clang_getExpansionLocation(clang_getCursorLocation(c), &file, NULL, NULL, NULL);
	return file && p->header && clang_File_isEqual(file, p->header);
}

const char **lm_unit_args(const struct lm_parse *p, int *nr)
{
	const struct lm_config *c = p->config;
	const char **args = LM_ARENA_ARRAY(p->arena, const char *, c->nr_clang_args + 4);
	size_t n = 0;

	args[n++] = "-xc";
	for (size_t i = 0; i < c->nr_clang_args; i++)
		args[n++] = c->clang_args[i];
	args[n++] = lm_arena_printf(p->arena, "-working-directory=%s", c->dir);
	*nr = (int)n;
	return args;
}

/* What to do about a complaint. */
static const char *advice(const struct lm_parse *p)
{
	return p->config == p->req->configs->items ? "check the header, and the flags after --" :
	       lm_arena_printf(p->arena, "check the flags, and what --config %s changes", p->config->name);
}

/* One complaint of clang as an error.  The virtual unit has no place that a person could look at. */
static struct lm_err *complaint(const struct lm_parse *p, CXDiagnostic d)
{
	const char *words = lm_parse_text(p->arena, clang_getDiagnosticSpelling(d)), *path = NULL;
	unsigned line = 0, column = 0;
	CXFile file;

	clang_getFileLocation(clang_getDiagnosticLocation(d), &file, &line, &column, NULL);
	if (file)
		path = lm_parse_path(p, file);
	if (!path || !strcmp(path, MAIN_PATH))
		return lm_err_new(LM_ERR_INPUT, "%s: clang says in configuration \"%s\": %s; %s.", p->req->configs->header,
				  p->config->name, words, advice(p));
	return lm_err_new(LM_ERR_INPUT, "%s:%u:%u: clang says in configuration \"%s\": %s; %s.", path, line, column,
			  p->config->name, words, advice(p));
}

struct lm_err *lm_unit_first_error(const struct lm_parse *p)
{
	unsigned nr = clang_getNumDiagnostics(p->tu);
	struct lm_err *err = NULL;

	for (unsigned i = 0; i < nr && !err; i++) {
		CXDiagnostic d = clang_getDiagnostic(p->tu, i);

		if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error)
			err = complaint(p, d);
		clang_disposeDiagnostic(d);
	}
	return err;
}

void lm_unit_close(struct lm_parse *p)
{
	if (p->tu)
		clang_disposeTranslationUnit(p->tu);
	if (p->index)
		clang_disposeIndex(p->index);
	p->tu = NULL;
	p->index = NULL;
}

struct lm_err *lm_unit_open(struct lm_parse *p, const char *behind)
{
	const struct lm_configs *configs = p->req->configs;
	const char *text = lm_arena_printf(p->arena, "%s%s", lm_config_main_text(configs, p->arena), behind);
	struct CXUnsavedFile files[] = {
		{ MAIN_PATH, text, strlen(text) },
		{ configs->header, p->req->text, p->req->len },
		{ p->config->edits_path, p->config->edits, strlen(p->config->edits) },
	};
	unsigned nr_files = *p->config->edits ? 3 : 2;
	int nr_args;
	const char **args = lm_unit_args(p, &nr_args);

	p->index = clang_createIndex(0, 0);

	enum CXErrorCode code = clang_parseTranslationUnit2(p->index, MAIN_PATH, args, nr_args, files, nr_files,
							    p->req->want_bodies ? CXTranslationUnit_None :
							    CXTranslationUnit_SkipFunctionBodies, &p->tu);

	if (code == CXError_Crashed)
		return lm_err_new(LM_ERR_INPUT, "%s: libclang crashed on this header in configuration \"%s\"; try another "
				  "version of it.", configs->header, p->config->name);
	if (code != CXError_Success || !p->tu)
		return lm_err_new(LM_ERR_INPUT, "%s: clang takes none of the flags of configuration \"%s\"; run clang "
				  "-fsyntax-only with them to see which one it is.", configs->header, p->config->name);
	p->header = clang_getFile(p->tu, configs->header);
	return lm_unit_first_error(p);
}
