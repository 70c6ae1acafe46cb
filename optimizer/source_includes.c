/* source_includes.c - the files that a unit was read from.  Door to libclang. */
#include <clang-c/Index.h>

#include "optimizer/source_parts.h"

#include "base/table.h"

#include <string.h>

struct files {
	struct lm_parse *p;
	struct lm_strings *seen;
};

static void see_file(CXFile file, CXSourceLocation *stack, unsigned depth, CXClientData data)
{
	struct files *files = data;
	CXString s = clang_getFileName(file);
	const char *name = clang_getCString(s);

	(void)stack;
	(void)depth;
	if (name && *name == '/')
		lm_strings_add(files->seen, name, strlen(name));
	else if (name && *name) {
		const char *whole = lm_arena_printf(files->p->arena, "%s/%s", files->p->config->dir, name);

		lm_strings_add(files->seen, whole, strlen(whole));
	}
	clang_disposeString(s);
}

void lm_source_includes(struct lm_parse *p)
{
	struct files files = { .p = p, .seen = lm_strings_new() };
	struct lm_source *out = p->out;

	clang_getInclusions(p->tu, see_file, &files);
	out->nr_files = lm_strings_nr(files.seen);
	out->files = LM_ARENA_ARRAY(p->arena, const char *, out->nr_files + 1);
	for (uint32_t i = 0; i < out->nr_files; i++)
		out->files[i] = lm_arena_strdup(p->arena, lm_strings_get(files.seen, i));
	lm_strings_free(files.seen);
}
