/*
 * options.h - what all commands understand, so that a person who learned one
 * knows them all.
 */
#ifndef LM_OUTPUT_CLI_OPTIONS_H
#define LM_OUTPUT_CLI_OPTIONS_H

#include "base/arena.h"
#include "base/err.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes: the help and the man page say the same. */
#define LM_EXITS(X) \
	X(0, "an answer was given; \"no change worth making\" is one") \
	X(LM_ERR_FOUND, "diff: contention was added; check: a promise is broken") \
	X(LM_ERR_USAGE, "wrong use") \
	X(LM_ERR_INPUT, "an input cannot be read, or contradicts another") \
	X(LM_ERR_REFUSED, "refused by a rule; the reason is on stderr") \
	X(LM_ERR_LIMIT, "a limit of time or size was reached before any answer") \
	X(LM_ERR_BUG, "our own check failed: nothing was written, please report it")

struct lm_list {
	const char **items;
	size_t nr, cap;
};

enum lm_color { LM_COLOR_AUTO, LM_COLOR_ALWAYS, LM_COLOR_NEVER };

struct lm_options {
	const char *record;		/* without "struct "; of several, the first */
	struct lm_list records;
	bool several;			/* the command takes more than one */
	const char *header, *source;
	const char *compile_db, *kbuild, *kernel_headers, *root; /* kernel_headers "": newest installed */
	const char *const *flags;	/* behind -- */
	size_t nr_flags;
	struct lm_list configs, kconfigs;
	bool auto_configs;
	struct lm_list profiles;	/* paths, the weight cut off */
	double *weights;		/* [profiles.nr] */
	size_t weights_cap;
	uint64_t *objects;
	size_t nr_objects, objects_cap;
	const char *binary;
	bool force;			/* take the profile of another build */
	uint32_t line, cpus, base_align; /* cpus, base_align: 0 not given */
	bool line_given;
	const char *directory;		/* where paths in flags begin; NULL: here.  No option: promise files say it */
	struct lm_list promises;	/* check: the files */
	bool sarif;			/* check */
	const char *promise;		/* patch: the file to write, or NULL */
	bool asserts;			/* patch */
	struct lm_list pins, together, apart;
	int moves;			/* as in lm_plan_opts */
	double seconds;			/* 0: not given */
	bool no_barriers;
	const char *output;		/* "-": stdout */
	bool json;
	int verbose;			/* -1, 0, 1 */
	enum lm_color color;
	struct lm_arena arena;		/* owns the lists */
};

/* The table that every command's argp has as its child; its input is the struct lm_options. */
extern const struct argp lm_common_argp;

/*
 * Reads the command line of one verb into o (defaults are set first).  Wrong
 * use ends the process: one sentence and a hint on stderr, exit 2; --help and
 * --version print and exit 0.  argv[0] becomes "linemate VERB" for messages.
 */
void lm_options_parse(const struct argp *argp, const char *verb, int argc, char **argv, struct lm_options *o);

/* For a verb's parser: the input of child 0 is its own.  Call at ARGP_KEY_INIT. */
void lm_options_init(struct argp_state *state);

/* For a verb's parser at ARGP_KEY_END: ends with a sentence that says what to give. */
void lm_options_need_record(const struct argp_state *state);
void lm_options_need_profile(const struct argp_state *state);

/* A pair "F,G" as --keep-together and --apart take it; ends with a sentence if it is none. */
void lm_options_add_pair(const struct argp_state *state, struct lm_list *list, const char *option, const char *arg);
void lm_options_add(struct lm_options *o, struct lm_list *list, const char *item);

/* A whole number in [min, max]; ends with a sentence that names the option if arg is none. */
uint32_t lm_options_number(const struct argp_state *state, const char *option, const char *arg, uint32_t min,
			   uint32_t max);

/* True if colours go to this file descriptor under o->color, NO_COLOR and what it is. */
bool lm_options_color(const struct lm_options *o, int fd);

/* For argp.help_filter: puts the exit codes behind the options. */
char *lm_options_help(int key, const char *text, void *input);

void lm_options_release(struct lm_options *o);

#endif
