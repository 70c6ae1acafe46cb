/*
 * broken_sarif.c - broken promises in the Static Analysis Results Interchange
 * Format, SARIF 2.1.0 (OASIS Standard, March 2020).
 *
 * A result stands at the member's declaration, where a reviewer sees it beside
 * the change; the promise itself is its related location.  Places are relative
 * to the root of the tree, as code scanning services want them.
 */
#include "output/broken.h"
#include "output/json.h"

#include "base/file.h"

#include <string.h>

#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"

static json_t *message(const char *text)
{
	json_t *object = lm_json_object();

	lm_json_set(object, "text", lm_json_text(text));
	return object;
}

static json_t *rules(void)
{
	json_t *array = lm_json_array();

	for (int k = 0; k < LM_NR_PROMISES; k++) {
		json_t *rule = lm_json_object();

		lm_json_set(rule, "id", lm_json_text(lm_promise_word((enum lm_promise_kind)k)));
		lm_json_set(rule, "shortDescription", message(lm_promise_text((enum lm_promise_kind)k)));
		lm_json_push(array, rule);
	}
	return array;
}

/* Bytes that a URI reference cannot hold become %XX (RFC 3986). */
static json_t *uri(const char *path)
{
	struct lm_str s = { 0 };
	json_t *value;

	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || strchr("/._-~+,=@", c))
			lm_str_add_char(&s, *path);
		else
			lm_str_addf(&s, "%%%02X", c);
	}
	value = lm_json_text(lm_str_text(&s));
	lm_str_release(&s);
	return value;
}

/* path relative to the root of the tree, if it lies in there. */
static const char *in_root(const struct lm_checked *c, const char *path, struct lm_arena *arena)
{
	const char *real = lm_real_path(path, arena), *root = c->configs->root;
	size_t len = strcmp(root, "/") ? strlen(root) : 0;

	if (real && !strncmp(real, root, len) && real[len] == '/')
		return real + len + 1;
	return path;
}

static json_t *location(const struct lm_checked *c, const char *path, uint32_t line, const char *text)
{
	json_t *object = lm_json_object(), *physical = lm_json_object(), *artifact = lm_json_object();
	json_t *region = lm_json_object();
	struct lm_arena arena = { 0 };

	lm_json_set(artifact, "uri", uri(in_root(c, path, &arena)));
	lm_json_set(region, "startLine", lm_json_whole(line));
	lm_json_set(physical, "artifactLocation", artifact);
	lm_json_set(physical, "region", region);
	lm_json_set(object, "physicalLocation", physical);
	if (text)
		lm_json_set(object, "message", message(text));
	lm_arena_release(&arena);
	return object;
}

/* The promise's own words: the same breach stays the same while lines move. */
static json_t *fingerprint(const struct lm_broken *b)
{
	json_t *object = lm_json_object();
	struct lm_str s = { 0 };

	if (b->other)
		lm_str_addf(&s, "write-hot %s read-mostly %s", b->breaches[0].a.member, b->breaches[0].b.member);
	else
		lm_promise_print(b->promise, &s);
	lm_json_set(object, "linematePromise/v1", lm_json_text(lm_str_text(&s)));
	lm_str_release(&s);
	return object;
}

static json_t *result(const struct lm_checked *c, const struct lm_broken *b)
{
	json_t *object = lm_json_object(), *at = lm_json_array(), *related = lm_json_array();
	struct lm_str text = { 0 };

	lm_str_addf(&text, "%s: ", c->record);
	lm_broken_sentence(c, b, &text);
	lm_str_add_char(&text, '.');
	lm_json_set(object, "ruleId", lm_json_text(lm_promise_word(b->promise->kind)));
	lm_json_set(object, "ruleIndex", lm_json_whole(b->promise->kind));
	lm_json_set(object, "level", lm_json_text("error"));
	lm_json_set(object, "message", message(lm_str_text(&text)));
	lm_json_push(at, location(c, c->configs->header, lm_broken_line(c, &b->breaches[0]), NULL));
	lm_json_set(object, "locations", at);
	lm_json_push(related, location(c, b->promise->file, b->promise->line, "the promise"));
	if (b->other)
		lm_json_push(related, location(c, b->other->file, b->other->line, "the other half of the promise"));
	lm_json_set(object, "relatedLocations", related);
	lm_json_set(object, "partialFingerprints", fingerprint(b));
	lm_str_release(&text);
	return object;
}

static json_t *tool(void)
{
	json_t *object = lm_json_object(), *driver = lm_json_object();

	lm_json_set(driver, "name", lm_json_text("linemate"));
	lm_json_set(driver, "version", lm_json_text(LM_VERSION));
	lm_json_set(driver, "rules", rules());
	lm_json_set(object, "driver", driver);
	return object;
}

void lm_broken_sarif(const struct lm_checked *checked, size_t nr, struct lm_str *out)
{
	json_t *root = lm_json_object(), *runs = lm_json_array(), *run = lm_json_object(), *results = lm_json_array();

	for (size_t i = 0; i < nr; i++)
		for (size_t b = 0; b < checked[i].verdict->nr; b++)
			lm_json_push(results, result(&checked[i], &checked[i].verdict->broken[b]));
	lm_json_set(run, "tool", tool());
	lm_json_set(run, "columnKind", lm_json_text("utf16CodeUnits"));
	lm_json_set(run, "results", results);
	lm_json_push(runs, run);
	lm_json_set(root, "$schema", lm_json_text(SCHEMA));
	lm_json_set(root, "version", lm_json_text("2.1.0"));
	lm_json_set(root, "runs", runs);
	lm_json_dump(root, out);
}
