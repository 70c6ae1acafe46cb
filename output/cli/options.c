/* options.c - the options common to all commands: table, checks, defaults. */
#include "output/cli/options.h"

#include "base/file.h"
#include "base/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_CPUS 4096
#define MAX_ALIGN (1 << 20)
#define MAX_WEIGHT 1e6

enum {
	OPT_STRUCT = 0x100, OPT_HEADER, OPT_SOURCE, OPT_KBUILD, OPT_KERNEL_HEADERS, OPT_CONFIG, OPT_CONFIGS, OPT_KCONFIG, OPT_ROOT, OPT_PROFILE,
	OPT_BINARY, OPT_FORCE, OPT_OBJECT, OPT_LINE, OPT_CPUS, OPT_BASE_ALIGN, OPT_JSON, OPT_COLOR,
};

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "The record and how it is compiled (compiler flags may also follow behind --):", 1 },
	{ "struct", OPT_STRUCT, "NAME", 0, "tag or typedef name of the record", 1 },
	{ "header", OPT_HEADER, "FILE", 0, "the header that defines it", 1 },
	{ "source", OPT_SOURCE, "FILE", 0, "the translation unit to parse; default: one that only includes the header", 1 },
	{ NULL, 'p', "DIR", 0, "take the flags from DIR/compile_commands.json", 1 },
	{ "kbuild", OPT_KBUILD, "DIR", 0, "take the flags from a built kernel tree (the .cmd file of the source's object)", 1 },
	{ "kernel-headers", OPT_KERNEL_HEADERS, "DIR", OPTION_ARG_OPTIONAL,
	  "make the flags from an installed kernel headers package; default: the newest one", 1 },
	{ "config", OPT_CONFIG, "NAME:+A,-B", 0,
	  "one more configuration: base with option A on and B off (also -DX, -UX, -m32, ...); repeatable", 1 },
	{ "configs", OPT_CONFIGS, "auto", 0,
	  "derive configurations from the guards inside the record and the records in it: each option on and off, each "
	  "pair in all combinations", 1 },
	{ "kconfig", OPT_KCONFIG, "FILE", 0, "one more configuration: the options of a kernel's .config file; repeatable", 1 },
	{ "root", OPT_ROOT, "DIR", 0, "root of the tree that paths in the diff start from; default: the git work tree", 1 },
	{ NULL, 0, NULL, 0, "The profile:", 2 },
	{ "profile", OPT_PROFILE, "FILE[:WEIGHT]", 0,
	  "perf.data, perf script or c2c text, any other output that the manual names, or an access file; "
	  "repeatable: they add up", 2 },
	{ "binary", OPT_BINARY, "FILE", 0,
	  "the profiled program, kernel or kernel module with DWARF: checks that its record is the header's, and binds samples to members without "
	  "--object", 2 },
	{ "force", OPT_FORCE, NULL, 0, "take a profile of another build than --binary; its evidence counts less", 2 },
	{ "object", OPT_OBJECT, "ADDR", 0, "address of one object of the record (decimal, or hex); repeatable", 2 },
	{ "line", OPT_LINE, "N", 0, "bytes of a cache line: 32, 64, 128 or 256; default: 64", 2 },
	{ "cpus", OPT_CPUS, "N", 0, "CPUs to assume where the profile names none", 2 },
	{ "base-align", OPT_BASE_ALIGN, "N", 0, "alignment in bytes that the allocator guarantees", 2 },
	{ NULL, 0, NULL, 0, "Output:", 4 },
	{ NULL, 'o', "FILE", 0, "write to FILE, whole or not at all; default: stdout", 4 },
	{ "json", OPT_JSON, NULL, 0, "write JSON instead", 4 },
	{ NULL, 'q', NULL, 0, "no words on stderr but errors", 4 },
	{ NULL, 'v', NULL, 0, "more words, and every row of each table", 4 },
	{ "color", OPT_COLOR, "WHEN", 0, "auto (default), always or never", 4 },
	{ 0 },
};

void lm_options_add(struct lm_options *o, struct lm_list *list, const char *item)
{
	*LM_ARENA_PUSH(&o->arena, list->items, list->nr, list->cap) = item;
}

uint32_t lm_options_number(const struct argp_state *state, const char *option, const char *arg, uint32_t min,
			   uint32_t max)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(arg, &end, 10);
	if (arg[0] < '0' || arg[0] > '9' || *end || errno || n < min || n > max)
		argp_error(state, "%s wants a whole number from %u to %u, not '%s'", option, min, max, arg);
	return (uint32_t)n;
}

static uint32_t power_of_two(const struct argp_state *state, const char *option, const char *arg, uint32_t min,
			     uint32_t max)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(arg, &end, 10);
	if (arg[0] < '0' || arg[0] > '9' || *end || errno || n < min || n > max || (n & (n - 1)))
		argp_error(state, "%s wants a power of two from %u to %u, not '%s'", option, min, max, arg);
	return (uint32_t)n;
}

/* 0x1f, 31, or hex digits as perf prints them: bare digits are decimal. */
static void add_object(const struct argp_state *state, struct lm_options *o, const char *arg)
{
	const char *digits = arg;
	unsigned long long n;
	int base = 10;
	char *end;

	if (arg[0] == '0' && (arg[1] == 'x' || arg[1] == 'X'))
		digits += 2;
	if (digits != arg || strpbrk(arg, "abcdefABCDEF"))
		base = 16;
	errno = 0;
	n = strtoull(digits, &end, base);
	if (!*digits || strspn(digits, "0123456789abcdefABCDEF") != strlen(digits) || *end || errno)
		argp_error(state, "--object wants an address such as 0xffff888100dca000, not '%s'", arg);
	*LM_ARENA_PUSH(&o->arena, o->objects, o->nr_objects, o->objects_cap) = n;
}

/* FILE or FILE:WEIGHT; a file of that whole name is that file. */
static void add_profile(const struct argp_state *state, struct lm_options *o, const char *arg)
{
	const char *colon = strrchr(arg, ':');
	const char *path = arg;
	double weight = 1;
	size_t nr = o->profiles.nr;
	char *end;

	if (!*arg)
		argp_error(state, "--profile wants a file, not an empty name");
	if (colon && colon > arg && colon[1] && strspn(colon + 1, "0123456789.-+eE") == strlen(colon + 1) &&
	    !lm_is_file(arg)) {
		weight = strtod(colon + 1, &end);
		if (*end || !isfinite(weight) || weight <= 0 || weight > MAX_WEIGHT)
			argp_error(state, "--profile %s: the weight must be a number above 0 and at most %.0f", arg, MAX_WEIGHT);
		path = lm_arena_strndup(&o->arena, arg, (size_t)(colon - arg));
	}
	*LM_ARENA_PUSH(&o->arena, o->weights, nr, o->weights_cap) = weight;
	lm_options_add(o, &o->profiles, path);
}

void lm_options_add_pair(const struct argp_state *state, struct lm_list *list, const char *option, const char *arg)
{
	const char *comma = strchr(arg, ',');

	if (!comma || comma == arg || !comma[1] || strchr(comma + 1, ','))
		argp_error(state, "%s wants two members as F,G, not '%s'", option, arg);
	lm_options_add(state->input, list, arg);
}

static enum lm_color color_word(const struct argp_state *state, const char *arg)
{
	if (!strcmp(arg, "auto"))
		return LM_COLOR_AUTO;
	if (!strcmp(arg, "always"))
		return LM_COLOR_ALWAYS;
	if (strcmp(arg, "never"))
		argp_error(state, "--color wants auto, always or never, not '%s'", arg);
	return LM_COLOR_NEVER;
}

static const char *record_name(const struct argp_state *state, const char *arg)
{
	if (!strncmp(arg, "struct ", 7))
		arg += 7;
	if (!*arg)
		argp_error(state, "--struct wants the name of a record");
	return arg;
}

static int parse_record(int key, char *arg, struct argp_state *state)
{
	struct lm_options *o = state->input;

	switch (key) {
	case OPT_STRUCT:
		if (!o->several)
			o->records.nr = 0;	/* the last one counts, as everywhere */
		lm_options_add(o, &o->records, record_name(state, arg));
		o->record = o->records.items[0];
		return 0;
	case OPT_HEADER:
		o->header = arg;
		return 0;
	case OPT_SOURCE:
		o->source = arg;
		return 0;
	case 'p':
		o->compile_db = arg;
		return 0;
	case OPT_KBUILD:
		o->kbuild = arg;
		return 0;
	case OPT_KERNEL_HEADERS:
		o->kernel_headers = arg ? arg : "";
		return 0;
	case OPT_CONFIG:
		lm_options_add(o, &o->configs, arg);
		return 0;
	case OPT_CONFIGS:
		if (strcmp(arg, "auto"))
			argp_error(state, "--configs wants auto, not '%s'; --config adds a single configuration", arg);
		o->auto_configs = true;
		return 0;
	case OPT_KCONFIG:
		lm_options_add(o, &o->kconfigs, arg);
		return 0;
	case OPT_ROOT:
		o->root = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int parse_profile(int key, char *arg, struct argp_state *state)
{
	struct lm_options *o = state->input;

	switch (key) {
	case OPT_PROFILE:
		add_profile(state, o, arg);
		return 0;
	case OPT_BINARY:
		o->binary = arg;
		return 0;
	case OPT_FORCE:
		o->force = true;
		return 0;
	case OPT_OBJECT:
		add_object(state, o, arg);
		return 0;
	case OPT_LINE:
		o->line = power_of_two(state, "--line", arg, 32, 256);
		return 0;
	case OPT_CPUS:
		o->cpus = lm_options_number(state, "--cpus", arg, 1, MAX_CPUS);
		return 0;
	case OPT_BASE_ALIGN:
		o->base_align = power_of_two(state, "--base-align", arg, 1, MAX_ALIGN);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int parse_output(int key, char *arg, struct argp_state *state)
{
	struct lm_options *o = state->input;

	switch (key) {
	case 'o':
		o->output = arg;
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	case 'q':
		o->verbose = -1;
		return 0;
	case 'v':
		o->verbose = 1;
		return 0;
	case OPT_COLOR:
		o->color = color_word(state, arg);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s': compiler flags go behind --", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* An empty path is a variable of a script that is not set: never what was meant. */
static void refuse_empty(int key, const char *arg, const struct argp_state *state)
{
	static const int keys[] = { OPT_HEADER, OPT_SOURCE, 'p', OPT_KBUILD, OPT_ROOT, OPT_BINARY, 'o' };

	for (size_t i = 0; arg && !*arg && i < sizeof(keys) / sizeof(*keys); i++)
		for (const struct argp_option *o = table; key == keys[i] && (o->name || o->key || o->doc); o++)
			if (o->key == key && o->name)
				argp_error(state, "--%s wants a path, not an empty one", o->name);
			else if (o->key == key)
				argp_error(state, "-%c wants a path, not an empty one", key);
}

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	refuse_empty(key, arg, state);
	if (!parse_record(key, arg, state) || !parse_profile(key, arg, state))
		return 0;
	return parse_output(key, arg, state);
}

const struct argp lm_common_argp = { .options = table, .parser = parse_common };

void lm_options_init(struct argp_state *state)
{
	state->child_inputs[0] = state->input;
}

void lm_options_need_record(const struct argp_state *state)
{
	const struct lm_options *o = state->input;

	if (!o->record)
		argp_error(state, "no record is named: give --struct NAME");
	if (!o->header)
		argp_error(state, "no header is named: give --header FILE, the file that defines %s", o->record);
}

void lm_options_need_profile(const struct argp_state *state)
{
	const struct lm_options *o = state->input;

	if (!o->profiles.nr)
		argp_error(state, "no profile is named: give --profile FILE, text from perf script, perf annotate "
				  "--data-type or linemate profile");
}

char *lm_options_help(int key, const char *text, void *input)
{
	struct lm_str s = { 0 };

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	if (text && *text)
		lm_str_addf(&s, "%s\n\n", text);
	lm_str_add(&s, "Exit codes:\n");
#define X(code, meaning) lm_str_addf(&s, "  %2d  %s\n", code, meaning);
	LM_EXITS(X)
#undef X
	return s.text;
}

bool lm_options_color(const struct lm_options *o, int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (o->color != LM_COLOR_AUTO)
		return o->color == LM_COLOR_ALWAYS;
	return isatty(fd) && !(no_color && *no_color) && !(term && !strcmp(term, "dumb"));
}

void lm_options_parse(const struct argp *argp, const char *verb, int argc, char **argv, struct lm_options *o)
{
	int nr = 1;

	memset(o, 0, sizeof(*o));
	o->output = "-";
	while (nr < argc && strcmp(argv[nr], "--"))
		nr++;
	if (nr < argc) {
		o->flags = (const char *const *)argv + nr + 1;
		o->nr_flags = (size_t)(argc - nr - 1);
		argv[nr] = NULL;
	}
	argv[0] = lm_arena_printf(&o->arena, "linemate %s", verb);
	argp_parse(argp, nr, argv, 0, NULL, o);
	o->line_given = o->line != 0;
	o->line = o->line ? o->line : 64;
}

void lm_options_release(struct lm_options *o)
{
	lm_arena_release(&o->arena);
}
