/* json.c - jansson, with running out of memory taken care of. */
#include "output/json.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define DUMP_FLAGS (JSON_INDENT(2) | JSON_REAL_PRECISION(12))

static void must(int failed)
{
	if (failed)
		lm_oom();
}

void lm_json_set(json_t *object, const char *key, json_t *value)
{
	if (!value)
		lm_oom();
	must(json_object_set_new(object, key, value));
}

void lm_json_push(json_t *array, json_t *value)
{
	if (!value)
		lm_oom();
	must(json_array_append_new(array, value));
}

json_t *lm_json_object(void)
{
	json_t *object = json_object();

	if (!object)
		lm_oom();
	return object;
}

json_t *lm_json_array(void)
{
	json_t *array = json_array();

	if (!array)
		lm_oom();
	return array;
}

/* Text; null for NULL.  Foreign text is escaped where it is not UTF-8. */
json_t *lm_json_text(const char *s)
{
	struct lm_str safe = { 0 };
	json_t *value;

	if (!s)
		return json_null();
	value = json_string(s);
	if (value)
		return value;
	lm_str_escape(&safe, s, strlen(s));
	value = json_string(lm_str_text(&safe));
	lm_str_release(&safe);
	return value;
}

json_t *lm_json_whole(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

void lm_json_dump(json_t *root, struct lm_str *out)
{
	char *bytes = json_dumps(root, DUMP_FLAGS);

	if (!bytes)
		lm_oom();
	lm_str_add(out, bytes);
	lm_str_add_char(out, '\n');
	free(bytes);
	json_decref(root);
}
