/*
 * source.c - a translation unit in one configuration -> the record with
 * clang's offsets and extents.  Door to libclang.
 *
 * Probes behind the header tell which macros exist: a string of a macro's
 * expansion compiles whatever the macro is, and optimizer/constant.c reads
 * numbers out of it.
 */
#include <clang-c/Index.h>

#include "optimizer/source_parts.h"

#include "base/parallel.h"
#include "base/str.h"
#include "optimizer/constant.h"
#include "optimizer/scan.h"
#include "optimizer/similar.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PROBE "linemate_probe_"

/* What a macro of a project, if it is there, tells. */
static const struct macro {
	const char *name;
	enum { PADDING, ATTRIBUTE, LINE_SIZE, RANDOM } role;
} macros[] = {	/* of equal role: the first that exists counts */
	{ "CACHELINE_PADDING", PADDING },	/* Linux 6.1 and later */
	{ "MEMCG_PADDING", PADDING },		/* Linux before */
	{ "____cacheline_aligned_in_smp", ATTRIBUTE },
	{ "____cacheline_aligned", ATTRIBUTE },
	{ "__rte_cache_aligned", ATTRIBUTE },	/* DPDK */
	{ "L1_CACHE_BYTES", LINE_SIZE },
	{ "RTE_CACHE_LINE_SIZE", LINE_SIZE },
	{ "CONFIG_RANDSTRUCT", RANDOM },
	{ "CONFIG_GCC_PLUGIN_RANDSTRUCT", RANDOM },
};
enum { NR_MACROS = sizeof(macros) / sizeof(macros[0]) };

/* Sizes of basic types, and the alignment that a bare aligned asks for. */
static const char type_probes[] =
	"struct linemate_types { char a; signed char b; unsigned char c; short d; unsigned short e; int f;\n"
	"unsigned int g; long h; unsigned long i; long long j; unsigned long long k; float l; double m;\n"
	"long double n; void *o; };\n"
	"struct linemate_default_align { char c __attribute__((__aligned__)); };\n";

const char *lm_unit_probes(const struct lm_parse *p, const char *extra)
{
	struct lm_str s = { 0 };

	lm_str_add(&s, "\n#define LINEMATE_STRING_(...) #__VA_ARGS__\n"
		   "#define LINEMATE_STRING(...) LINEMATE_STRING_(__VA_ARGS__)\n");
	for (size_t i = 0; i < NR_MACROS; i++)
		lm_str_addf(&s, "#ifdef %s\nstatic const char *const " PROBE "%s = LINEMATE_STRING(%s);\n#endif\n",
			    macros[i].name, macros[i].name, macros[i].name);
	lm_str_add(&s, type_probes);
	lm_str_add(&s, extra);

	const char *text = lm_arena_strdup(p->arena, lm_str_text(&s));

	lm_str_release(&s);
	return text;
}

struct alignment_probes {
	const struct lm_parse *p;
	size_t nr;
	uint32_t *values;
};

static enum CXChildVisitResult see_alignment(CXCursor c, CXCursor parent, CXClientData data)
{
	static const char prefix[] = "struct linemate_align_";
	struct alignment_probes *probes = data;

	(void)parent;
	if (clang_getCursorKind(c) != CXCursor_StructDecl)
		return CXChildVisit_Continue;

	CXString s = clang_getTypeSpelling(clang_getCursorType(c));
	const char *name = clang_getCString(s);

	if (name && !strncmp(name, prefix, strlen(prefix))) {
		size_t i = strtoul(name + strlen(prefix), NULL, 10);
		long long align = clang_Type_getAlignOf(clang_getCursorType(c));

		if (i < probes->nr && align > 0)
			probes->values[i] = (uint32_t)align;
	}
	clang_disposeString(s);
	return CXChildVisit_Continue;
}

struct lm_err *lm_parse_alignments(const struct lm_parse *p, const char *const *attributes, size_t nr, uint32_t *values)
{
	struct lm_parse again = { .req = p->req, .config = p->config, .out = p->out, .arena = p->arena };
	struct alignment_probes probes = { .p = &again, .nr = nr, .values = values };
	struct lm_str extra = { 0 };

	for (size_t i = 0; i < nr; i++)
		lm_str_addf(&extra, "struct linemate_align_%zu { %s char c; };\n", i, attributes[i]);

	struct lm_err *err = lm_unit_open(&again, lm_unit_probes(p, lm_str_text(&extra)));

	lm_str_release(&extra);
	if (!err)
		clang_visitChildren(clang_getTranslationUnitCursor(again.tu), see_alignment, &probes);
	lm_unit_close(&again);
	return err;
}

/* What one walk over the file level finds. */
struct survey {
	struct lm_parse *p;
	const char *name;		/* of the record, without "struct" */
	CXCursor tag, alias, elsewhere;	/* null cursors until found */
	bool declared;			/* named somewhere, without a body */
	bool nested;			/* look inside records of the header too */
	const char *probes[NR_MACROS];	/* expansion, or NULL */
};

static bool spelled(CXCursor c, const char *name)
{
	CXString s = clang_getCursorSpelling(c);
	const char *text = clang_getCString(s);
	bool same = text && !strcmp(text, name);

	clang_disposeString(s);
	return same;
}

static void see_definition(struct survey *s, CXCursor c, CXCursor *to)
{
	CXCursor def = clang_getCursorDefinition(c);

	if (clang_Cursor_isNull(def))
		s->declared = true;
	else if (!lm_parse_in_header(s->p, def))
		s->elsewhere = def;
	else if (clang_Cursor_isNull(*to))
		*to = def;
}

static void see_typedef(struct survey *s, CXCursor c)
{
	CXType t = clang_getCanonicalType(clang_getTypedefDeclUnderlyingType(c));

	if (t.kind == CXType_Record)
		see_definition(s, clang_getTypeDeclaration(t), &s->alias);
}

/* The expansion that a probe variable holds. */
static void see_probe(struct survey *s, const char *name, CXCursor c)
{
	for (size_t i = 0; i < NR_MACROS; i++) {
		if (strcmp(name, macros[i].name))
			continue;

		CXEvalResult value = clang_Cursor_Evaluate(c);

		if (value && clang_EvalResult_getKind(value) == CXEval_StrLiteral)
			s->probes[i] = lm_arena_strdup(s->p->arena, clang_EvalResult_getAsStr(value));
		clang_EvalResult_dispose(value);
	}
}

static void see_variable(struct survey *s, CXCursor c)
{
	CXString string = clang_getCursorSpelling(c);
	const char *name = clang_getCString(string);

	if (name && !strncmp(name, PROBE, strlen(PROBE)))
		see_probe(s, name + strlen(PROBE), c);
	else if (s->p->req->want_hazards)
		*LM_ARENA_PUSH(s->p->arena, s->p->code.items, s->p->code.nr, s->p->code.cap) = c;
	clang_disposeString(string);
}

/* libclang 19 gives a struct without a tag the name of its typedef; its type it calls without "struct". */
static bool is_tagged(CXCursor c)
{
	CXString s = clang_getTypeSpelling(clang_getCursorType(c));
	const char *text = clang_getCString(s);
	bool tagged = text && (!strncmp(text, "struct ", 7) || !strncmp(text, "union ", 6));

	clang_disposeString(s);
	return tagged;
}

static void see_record(struct survey *s, CXCursor c)
{
	if (spelled(c, s->name) && is_tagged(c))
		see_definition(s, c, &s->tag);
	else if (spelled(c, "linemate_types"))
		s->p->types = c;
	else if (spelled(c, "linemate_default_align"))
		s->p->default_align = c;
}

static enum CXChildVisitResult see(CXCursor c, CXCursor parent, CXClientData data)
{
	struct survey *s = data;
	enum CXCursorKind kind = clang_getCursorKind(c);

	(void)parent;
	if (kind == CXCursor_StructDecl || kind == CXCursor_UnionDecl) {
		see_record(s, c);
		return s->nested && lm_parse_in_header(s->p, c) ? CXChildVisit_Recurse : CXChildVisit_Continue;
	}
	if (s->nested)
		return CXChildVisit_Continue;
	if (kind == CXCursor_TypedefDecl && spelled(c, s->name))
		see_typedef(s, c);
	else if (kind == CXCursor_VarDecl)
		see_variable(s, c);
	else if (kind == CXCursor_StaticAssert && s->p->req->want_hazards)
		*LM_ARENA_PUSH(s->p->arena, s->p->code.items, s->p->code.nr, s->p->code.cap) = c;
	return CXChildVisit_Continue;
}

/* "struct x" -> "x" */
static const char *bare_name(const char *name)
{
	if (!strncmp(name, "struct ", 7) || !strncmp(name, "union ", 6))
		name += strcspn(name, " ");
	return name + strspn(name, " ");
}

static void survey(struct survey *s, struct lm_parse *p)
{
	*s = (struct survey){
		.p = p, .name = bare_name(p->req->record),
		.tag = clang_getNullCursor(), .alias = clang_getNullCursor(), .elsewhere = clang_getNullCursor(),
	};
	clang_visitChildren(clang_getTranslationUnitCursor(p->tu), see, s);
	if (!clang_Cursor_isNull(s->tag) || !clang_Cursor_isNull(s->alias))
		return;
	s->nested = true;
	clang_visitChildren(clang_getTranslationUnitCursor(p->tu), see, s);
}

/* The names of all records of the header, for "did you mean". */
struct names {
	struct lm_parse *p;
	struct lm_similar *similar;
	bool any;
};

static enum CXChildVisitResult see_name(CXCursor c, CXCursor parent, CXClientData data)
{
	struct names *n = data;
	enum CXCursorKind kind = clang_getCursorKind(c);
	bool is_record = kind == CXCursor_StructDecl || kind == CXCursor_UnionDecl;

	(void)parent;
	if (!lm_parse_in_header(n->p, c))
		return CXChildVisit_Continue;
	n->any = true;
	if (is_record ? clang_isCursorDefinition(c) : kind == CXCursor_TypedefDecl &&
	    clang_getCanonicalType(clang_getTypedefDeclUnderlyingType(c)).kind == CXType_Record)
		lm_similar_add(n->similar, lm_parse_text(n->p->arena, clang_getCursorSpelling(c)));
	return is_record ? CXChildVisit_Recurse : CXChildVisit_Continue;
}

static struct lm_err *not_found(struct lm_parse *p, const struct survey *s)
{
	struct lm_similar similar = { .arena = p->arena, .name = s->name };
	struct names names = { .p = p, .similar = &similar };
	const struct lm_configs *configs = p->req->configs;
	CXFile file;
	unsigned line;

	p->out->absent = true;
	if (!clang_Cursor_isNull(s->elsewhere)) {
		clang_getExpansionLocation(clang_getCursorLocation(s->elsewhere), &file, &line, NULL, NULL);
		return lm_err_new(LM_ERR_INPUT, "%s: record \"%s\" is not defined here but at %s:%u; give that file as "
				  "--header.", configs->header, s->name, lm_parse_path(p, file), line);
	}
	clang_visitChildren(clang_getTranslationUnitCursor(p->tu), see_name, &names);
	if (!names.any && configs->source)
		return lm_err_new(LM_ERR_INPUT, "%s: %s does not include this header in configuration \"%s\"; give another "
				  "--source.", configs->header, configs->source, p->config->name);
	if (s->declared)
		return lm_err_new(LM_ERR_INPUT, "%s: record \"%s\" is declared but never defined in configuration \"%s\"; check "
				  "the flags, or give the header that defines it.", configs->header, s->name,
				  p->config->name);

	const char *list = lm_similar_list(&similar);

	return lm_err_new(LM_ERR_INPUT, "%s: no record \"%s\" is defined here in configuration \"%s\"; %s%s.", configs->header,
			  s->name, p->config->name, *list ? "it has " : "check --struct and the flags", list);
}

/* The record's name as people write it: the tag, else the typedef. */
static void name_record(struct lm_parse *p, const struct survey *s)
{
	struct lm_record *rec = &p->out->record;
	char *tag = lm_parse_text(p->arena, clang_getCursorSpelling(p->record));
	size_t len = strlen(tag);

	rec->name = lm_scan_is_name(tag, len, 0) && lm_scan_token(tag, len, 0) == len ? tag :
		    lm_arena_strdup(p->arena, s->name);
	rec->is_union = clang_getCursorKind(p->record) == CXCursor_UnionDecl;
}

static void take_probes(struct lm_parse *p, const struct survey *s)
{
	struct lm_source *out = p->out;
	int64_t value;

	for (size_t i = 0; i < NR_MACROS; i++) {
		const char *text = s->probes[i], *name = macros[i].name;

		if (!text)
			continue;
		/* A macro with parameters is not expanded without its arguments: the text is its own name. */
		bool function_like = !strcmp(text, name);

		switch (macros[i].role) {
		case PADDING:
			out->barrier = out->barrier || !function_like ? out->barrier : name;
			break;
		case ATTRIBUTE:
			if (out->barrier_attr || function_like)
				break;
			out->barrier_attr = name;
			out->barrier_text = text;
			break;
		case LINE_SIZE:
			if (!out->line_size && lm_constant_eval(text, strlen(text), NULL, 0, &value) && value > 0)
				out->line_size = (uint64_t)value;
			break;
		case RANDOM:
			p->randstruct = true;
			break;
		}
	}
}

struct lm_err *lm_source_read(struct lm_parse *p)
{
	struct survey s;
	struct lm_err *err;

	survey(&s, p);
	p->record = clang_Cursor_isNull(s.tag) ? s.alias : s.tag;
	if (clang_Cursor_isNull(p->record))
		return not_found(p, &s);
	name_record(p, &s);
	take_probes(p, &s);
	err = lm_source_braces(p);
	if (!err)
		err = lm_source_fields(p);
	if (!err && p->req->want_hazards)
		lm_source_hazards(p);
	if (!err && p->req->want_users)
		lm_source_users(p);
	if (!err && p->req->want_guards)
		lm_source_guards(p);
	return err;
}

static bool has_suffix(const char *text, const char *const *suffixes)
{
	size_t len = strlen(text);

	for (; *suffixes; suffixes++)
		if (len > strlen(*suffixes) && !strcmp(text + len - strlen(*suffixes), *suffixes))
			return true;
	return false;
}

static struct lm_err *refuse_cxx(const struct lm_configs *configs, const struct lm_config *config)
{
	static const char *const suffixes[] = { ".hpp", ".hh", ".hxx", ".cpp", ".cc", ".cxx", ".C", NULL };
	bool cxx = has_suffix(configs->header, suffixes) || (configs->source && has_suffix(configs->source, suffixes));

	for (size_t i = 0; i < config->nr_clang_args && !cxx; i++) {
		const char *arg = config->clang_args[i];
		const char *next = i + 1 < config->nr_clang_args ? config->clang_args[i + 1] : "";

		cxx = !strncmp(arg, "-xc++", 5) || (!strcmp(arg, "-x") && !strncmp(next, "c++", 3)) ||
		      !strncmp(arg, "-std=c++", 8) || !strncmp(arg, "-std=gnu++", 10);
	}
	return cxx ? lm_err_new(LM_ERR_REFUSED, "%s: this is C++, which linemate does not rearrange; give a header and flags "
				"of C.", configs->header) : NULL;
}

struct lm_err *lm_source_parse(const struct lm_source_request *req, size_t i, struct lm_source *out)
{
	struct lm_parse p = { .req = req, .config = &req->configs->items[i], .out = out, .arena = &out->arena };
	struct lm_err *err = refuse_cxx(req->configs, p.config);

	out->config = p.config;
	if (!err)
		err = lm_unit_open(&p, lm_unit_probes(&p, ""));
	if (!err)
		err = lm_source_read(&p);
	if (p.tu && req->want_files)
		lm_source_includes(&p);
	lm_unit_close(&p);
	return err;
}

struct parse_all {
	const struct lm_source_request *req;
	struct lm_source *out;
	struct lm_err **errors;
	atomic_size_t done;
};

static void parse_one(void *arg, size_t i)
{
	struct parse_all *all = arg;

	all->errors[i] = lm_source_parse(all->req, i, &all->out[i]);
	lm_progress("parsing", atomic_fetch_add(&all->done, 1) + 1, all->req->configs->nr);
}

struct lm_err *lm_source_parse_all(const struct lm_source_request *req, struct lm_source *out)
{
	size_t nr = req->configs->nr;
	struct lm_err *err = NULL;
	struct parse_all all = { .req = req, .out = out, .errors = calloc(nr ? nr : 1, sizeof(*all.errors)) };

	if (!all.errors)
		lm_oom();
	lm_progress("parsing", 0, nr);
	lm_parallel(nr, parse_one, &all);
	for (size_t i = 0; i < nr; i++) {
		if (!err)
			err = all.errors[i];
		else
			lm_err_free(all.errors[i]);
	}
	free(all.errors);
	return err;
}

void lm_source_release(struct lm_source *s)
{
	lm_arena_release(&s->arena);
	*s = (struct lm_source){ 0 };
}
