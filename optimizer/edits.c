/* edits.c - --config NAME:+CONFIG_A,-CONFIG_B: what one configuration changes in the base. */
#include "optimizer/edits.h"

#include "base/file.h"
#include "base/str.h"
#include "base/table.h"

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

void lm_edits_off(struct lm_str *s, const char *name)
{
	lm_str_addf(s, "#undef %s\n", name);
	if (is_option(name))
		lm_str_addf(s, "#undef %s_MODULE\n", name);
}

void lm_edits_on(struct lm_str *s, const char *name, const char *value)
{
	value = value ? value : "1";
	lm_edits_off(s, name);
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
		lm_edits_on(s, name, value);
	else
		lm_edits_off(s, name);
	return true;
}

/*
 * A flag, and not an option to turn off: two dashes, an include path, or a
 * machine, language or code flag.  Options are not spelled in small letters;
 * -Um32 is there for one that is.
 */
static bool is_flag(const char *text)
{
	static const char *const starts[] = { "--", "-I/", "-I.", "-std=" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (!strncmp(text, starts[i], strlen(starts[i])))
			return true;
	if (strncmp(text, "-m", 2) && strncmp(text, "-f", 2))
		return false;
	return text[2] && strspn(text + 2, "abcdefghijklmnopqrstuvwxyz0123456789-=.+") == strlen(text + 2);
}

static struct lm_err *edit_text(const char *spec, const char *items, struct lm_arena *arena, struct lm_str *s,
				struct lm_edits *out)
{
	size_t cap = 0;

	while (*items) {
		size_t n = strcspn(items, ",");
		char *one = lm_arena_strndup(arena, items, n);

		if (is_flag(one))
			*LM_ARENA_PUSH(arena, out->flags, out->nr_flags, cap) = one;
		else if (!item(s, lm_arena_strdup(arena, one)))
			return lm_err_new(LM_ERR_USAGE, "--config %s: \"%s\" is not understood; write +CONFIG_X, +CONFIG_X=VALUE, "
					  "-CONFIG_X, -DX, -DX=VALUE, -UX or a compiler flag such as -m32.", spec, one);
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

struct lm_err *lm_edits_parse(const char *spec, struct lm_arena *arena, struct lm_edits *out)
{
	const char *colon = strchr(spec, ':');
	struct lm_edits edits = { .name = NULL };
	struct lm_str s = { 0 };

	if (!colon || !is_name(spec, (size_t)(colon - spec)))
		return lm_err_new(LM_ERR_USAGE, "--config %s: write NAME:+CONFIG_A,-CONFIG_B with a name of letters, digits, "
				  "'_', '.' and '-'.", spec);
	if (!colon[1])
		return lm_err_new(LM_ERR_USAGE, "--config %s: nothing follows the colon; write what differs from the base, "
				  "as in NAME:+CONFIG_A,-CONFIG_B.", spec);

	struct lm_err *err = edit_text(spec, colon + 1, arena, &s, &edits);

	if (!err) {
		edits.name = lm_arena_strndup(arena, spec, (size_t)(colon - spec));
		edits.items = lm_arena_strdup(arena, colon + 1);
		edits.text = lm_arena_strdup(arena, lm_str_text(&s));
		*out = edits;
	}
	lm_str_release(&s);
	return err;
}

/* ---- --kconfig ---- */

#define MAX_KCONFIG (16u << 20)

/* The options that a .config sets, and those that it names as off. */
struct kconfig {
	const char *path;
	struct lm_arena *arena;
	struct lm_strings *seen;
	struct lm_str text;
	size_t nr_set;
};

static size_t option_length(const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || text[n] == '_')
		n++;
	return is_option(text) && n > strlen("CONFIG_") ? n : 0;
}

/* One line without its newline: false if no .config has such a line. */
static bool kconfig_line(struct kconfig *k, char *line)
{
	static const char off[] = " is not set";
	bool comment = line[0] == '#';
	char *name = comment ? line + 1 + strspn(line + 1, " ") : line;
	size_t n = option_length(name);

	line[strcspn(line, "\r")] = 0;
	if (comment && n && !strcmp(name + n, off)) {
		lm_strings_add(k->seen, name, n);
		lm_edits_off(&k->text, lm_arena_strndup(k->arena, name, n));
		return true;
	}
	if (comment || !line[strspn(line, " \t")])
		return true;
	if (!n || name[n] != '=' || !name[n + 1])
		return false;
	lm_strings_add(k->seen, name, n);
	if (!strcmp(name + n + 1, "n"))
		lm_edits_off(&k->text, lm_arena_strndup(k->arena, name, n));
	else
		lm_edits_on(&k->text, lm_arena_strndup(k->arena, name, n), name + n + 1);
	k->nr_set++;
	return true;
}

/* What the base sets and the file does not even name, since what it depends on is off. */
static void undefine_others(struct kconfig *k, const char *autoconf)
{
	static const char define[] = "#define ";
	static const char module[] = "_MODULE";

	for (const char *at = autoconf; (at = strstr(at, define)) != NULL;) {
		size_t n;

		at += strlen(define);
		n = option_length(at);
		if (!n || lm_strings_find(k->seen, at, n) != LM_NO_STRING)
			continue;
		if (n > strlen(module) && !strncmp(at + n - strlen(module), module, strlen(module)) &&
		    lm_strings_find(k->seen, at, n - strlen(module)) != LM_NO_STRING)
			continue;
		lm_strings_add(k->seen, at, n);
		lm_str_addf(&k->text, "#undef %.*s\n", (int)n, at);
	}
}

/* "linux-6.1" for linux-6.1/.config, else the file's name; what no name may have becomes '-'. */
static const char *kconfig_name(const char *path, struct lm_arena *arena)
{
	char *whole = lm_arena_strdup(arena, path), *slash = strrchr(whole, '/');
	char *name = slash ? slash + 1 : whole;

	if (!strcmp(name, ".config") && slash) {
		*slash = 0;
		slash = strrchr(whole, '/');
		name = slash ? slash + 1 : whole;
	}
	name += strspn(name, ".-");
	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_.-", *c))
			*c = '-';
	return *name ? name : "kconfig";
}

struct lm_err *lm_edits_kconfig(const char *path, const char *autoconf, struct lm_arena *arena, struct lm_edits *out)
{
	struct kconfig k = { .path = path, .arena = arena, .seen = lm_strings_new() };
	size_t len = 0, number = 1;
	char *text = NULL;
	struct lm_err *err = lm_file_read(path, "--kconfig file", MAX_KCONFIG, arena, &text, &len);

	for (char *line = text, *next; !err && line && *line; line = next, number++) {
		next = line + strcspn(line, "\n");
		next += *next ? (*next = 0, 1) : 0;
		if (!kconfig_line(&k, line))
			err = lm_err_new(LM_ERR_INPUT, "%s:%zu: \"%.40s\" is no line of a .config file; give the .config of a "
					 "kernel build, or one from /boot.", path, number, line);
	}
	if (!err && !k.nr_set)
		err = lm_err_new(LM_ERR_INPUT, "%s: this file sets no CONFIG_ option; give the .config of a kernel build.", path);
	if (!err) {
		undefine_others(&k, autoconf);
		*out = (struct lm_edits){ .name = kconfig_name(path, arena), .items = lm_arena_printf(arena, "--kconfig %s", path),
					  .text = lm_arena_strdup(arena, lm_str_text(&k.text)) };
	}
	lm_strings_free(k.seen);
	lm_str_release(&k.text);
	return err;
}
