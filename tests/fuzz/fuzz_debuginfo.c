/*
 * fuzz_debuginfo.c - any bytes as a binary: an error or a record, functions and
 * what flows through them, never a crash.
 */
#include "base/str.h"
#include "profiles/attribution_private.h"
#include "profiles/handed.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Names that the corpus defines, and one that nothing does: a walk over everything. */
static const char *const names[] = { "s", "anon_t", "no_such_record" };

static void ask(struct lm_debuginfo *bin, const char *name)
{
	const struct lm_dbg_record *rec = NULL;
	struct lm_err *err = lm_debuginfo_record(bin, name, &rec);
	size_t sum = 0;

	/* Touch all that was handed out, for the sanitizer. */
	for (uint32_t i = 0; !err && rec && i < rec->nr_members; i++)
		sum += strlen(rec->members[i].name) + strlen(rec->members[i].key);
	if (sum == SIZE_MAX)
		abort();
	lm_err_free(err);
}

enum { MAX_FUNCTIONS = 16 };

/* What a function is handed of the record, which some instruction reached before. */
static void ask_callers(struct lm_flow_source *from, const struct lm_function *f, uint32_t record)
{
	struct lm_handing *h = lm_handing_new(from, record);
	struct lm_err *err = NULL;

	for (unsigned n = 0; n < 2 && !err; n++) {
		struct lm_handed_list list;
		size_t places;

		err = lm_handed_places(h, f, n, &places);
		if (!err)
			err = lm_handed_to(h, f, n, false, &list);
		for (size_t i = 0; !err && i < list.nr; i++) {
			struct lm_shown shown;

			err = lm_handed_shows(h, list.items[i].by, true, true, &shown);
		}
	}
	lm_err_free(err);
	lm_handing_free(h);
}

static void follow(struct lm_flow_source *from, uint64_t at)
{
	const struct lm_function *f = NULL;
	struct lm_arena arena = { 0 };
	struct lm_flow flow;
	uint32_t record = LM_NO_TYPE;
	struct lm_err *err = lm_debuginfo_function(from->bin, at, &f);

	if (!err && f)
		err = lm_flow_run(from, f, &arena, &flow);
	for (size_t i = 0; !err && f && i < flow.nr; i++) {
		struct lm_typing t = { from->bin, f->unit };
		struct lm_type_leaf leaf;
		struct lm_str path = { 0 };
		uint64_t rest;
		bool found;

		if (flow.rows[i].insn.nr_mem && flow.rows[i].reach[0].type != LM_NO_TYPE)
			record = flow.rows[i].reach[0].type;
		if (flow.rows[i].insn.nr_mem && flow.rows[i].reach[0].type != LM_NO_TYPE)
			err = lm_typing_leaf(&t, flow.rows[i].reach[0], 8, &path, &rest, &leaf, &found);
		lm_str_release(&path);
	}
	if (!err && f && record != LM_NO_TYPE)
		ask_callers(from, f, record);
	lm_err_free(err);
	lm_arena_release(&arena);
}

static void walk(struct lm_debuginfo *bin, const char *path)
{
	struct lm_flow_source from = { .bin = bin };
	struct lm_image *image = NULL;
	struct lm_module *module = NULL;
	struct lm_err *err = lm_image_open(path, &image);
	bool found = true;

	if (!err)
		err = lm_module_open(&module, path);
	lm_module_close(module);
	if (!err) {
		from.image = image;
		from.disasm = lm_disasm_new(lm_image_machine(image));
		from.cache = lm_flow_cache_new();
	}
	for (uint32_t n = 0; !err && n < MAX_FUNCTIONS && found; n++) {
		uint64_t at = 0;

		err = lm_debuginfo_unit_code(bin, 0, n, &at, &found);
		if (!err && found)
			follow(&from, at);
	}
	lm_err_free(err);
	lm_disasm_free(from.disasm);
	lm_flow_cache_free(from.cache);
	lm_image_close(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lm_debuginfo *bin = NULL;
	struct lm_err *err;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = lm_debuginfo_open(path, &bin);
	for (size_t i = 0; !err && i < sizeof(names) / sizeof(*names); i++)
		ask(bin, names[i]);
	if (!err)
		walk(bin, path);
	lm_err_free(err);
	lm_debuginfo_close(bin);
	close(fd);
	return 0;
}
