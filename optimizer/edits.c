/* edits.c - --config NAME:+CONFIG_A,-CONFIG_B: what one configuration changes in the base. */
#include "optimizer/edits.h"

#include "base/str.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool is_option(const char *name)
{
	return !strncmp(name, "CONFIG_", strlen("CONFIG_"));
}

static bool is_identifier(const char *name)
{
	if (!*name || isdigit((unsigned char)*name))
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
	return true;
}

static void undef(struct lm_str *s, const char *name)
{
	lm_str_addf(s, "#undef %s\n", name);
	if (is_option(name))
		lm_str_addf(s, "#undef %s_MODULE\n", name);
}

static void define(struct lm_str *s, const char *name, const char *value)
{
	undef(s, name);
	if (is_option(name) && !strcmp(value, "m"))
		lm_str_addf(s, "#define %s_MODULE 1\n", name);
	else
		lm_str_addf(s, "#define %s %s\n", name, is_option(name) && !strcmp(value, "y") ? "1" : value);
}

/* One item: false if it is none. */
static bool item(struct lm_str *s, char *text)
{
	bool on = text[0] == '+' || !strncmp(text, "-D", 2);
	char *value = on ? strchr(text, '=') : NULL;
	const char *name;

	if (text[0] != '+' && text[0] != '-')
		return false;
	name = text[0] == '-' && (text[1] == 'D' || text[1] == 'U') ? text + 2 : text + 1;
	if (value)
		*value++ = 0;
	if (!is_identifier(name) || (value && strpbrk(value, "\r\n")))
		return false;
	if (on)
		define(s, name, value ? value : "1");
	else
		undef(s, name);
	return true;
}

static struct lm_err *edit_text(const char *spec, const char *items, struct lm_arena *arena, struct lm_str *s)
{
	while (*items) {
		size_t n = strcspn(items, ",");
		char *one = lm_arena_strndup(arena, items, n);

		if (!item(s, lm_arena_strdup(arena, one)))
			return lm_err_new(LM_ERR_USAGE, "--config %s: \"%s\" is not understood; write +CONFIG_X, +CONFIG_X=VALUE, "
					  "-CONFIG_X, -DX, -DX=VALUE or -UX.", spec, one);
		items += n;
		if (*items == ',' && !*++items)
			return lm_err_new(LM_ERR_USAGE, "--config %s: nothing follows the last comma.", spec);
	}
	return NULL;
}

static bool is_name(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_.-", name[i]))
			return false;
	return len && name[0] != '.' && name[0] != '-';
}

struct lm_err *lm_edits_parse(const char *spec, struct lm_arena *arena, const char **name, const char **items,
			      const char **text)
{
	const char *colon = strchr(spec, ':');
	struct lm_str s = { 0 };

	if (!colon || !is_name(spec, (size_t)(colon - spec)))
		return lm_err_new(LM_ERR_USAGE, "--config %s: write NAME:+CONFIG_A,-CONFIG_B with a name of letters, digits, "
				  "'_', '.' and '-'.", spec);
	if (!colon[1])
		return lm_err_new(LM_ERR_USAGE, "--config %s: nothing follows the colon; write what differs from the base, "
				  "as in NAME:+CONFIG_A,-CONFIG_B.", spec);

	struct lm_err *err = edit_text(spec, colon + 1, arena, &s);

	if (!err) {
		*name = lm_arena_strndup(arena, spec, (size_t)(colon - spec));
		*items = lm_arena_strdup(arena, colon + 1);
		*text = lm_arena_strdup(arena, lm_str_text(&s));
	}
	lm_str_release(&s);
	return err;
}
