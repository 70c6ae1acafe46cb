/* main.c - linemate VERB ...: picks the command, prints its error, exits with its code. */
#include "output/cli/commands.h"
#include "output/cli/options.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command {
	const char *verb, *text;
	struct lm_err *(*run)(int argc, char **argv);
} commands[] = {
#define X(verb, text) { #verb, text, lm_cmd_##verb },
	LM_COMMANDS(X)
#undef X
};

#define NR_COMMANDS (sizeof(commands) / sizeof(*commands))

static const struct command *find(const char *verb)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i].verb, verb))
			return &commands[i];
	return NULL;
}

static char *help(int key, const char *text, void *input)
{
	char *exits = lm_options_help(key, text, input);
	struct lm_str s = { 0 };

	if (key != ARGP_KEY_HELP_POST_DOC)
		return exits;
	lm_str_add(&s, "Commands:\n");
	for (size_t i = 0; i < NR_COMMANDS; i++)
		lm_str_addf(&s, "  %-10s %s\n", commands[i].verb, commands[i].text);
	lm_str_add(&s, "\n`linemate help COMMAND' lists its options; `man linemate' tells the rest.\n\n");
	lm_str_add(&s, exits);
	free(exits);
	return s.text;
}

struct choice {
	const struct command *command;
	int at;		/* where its arguments begin in argv */
};

/* "patch, show and profile", in out. */
static const char *list_verbs(struct lm_str *out)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		lm_str_addf(out, "%s%s", !i ? "" : i + 1 < NR_COMMANDS ? ", " : " and ", commands[i].verb);
	return lm_str_text(out);
}

/* Stops at the first word: what follows is for the command. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct choice *choice = state->input;
	struct lm_str verbs = { 0 };

	switch (key) {
	case ARGP_KEY_ARG:
		choice->at = state->next - 1;
		if (!strcmp(arg, "help") && choice->at + 1 >= state->argc)
			argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		if (!strcmp(arg, "help"))
			arg = state->argv[choice->at + 1];
		choice->command = find(arg);
		if (!choice->command)
			argp_error(state, "'%s' is no command: there are %s", arg, list_verbs(&verbs));
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no command is named: there are %s", list_verbs(&verbs));
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	NULL, parse, "COMMAND ...",
	"Tells which fields of a struct share a cache line, and which should.\v", NULL, help, NULL,
};

/* The C library looks it up by name, so it must not be hidden as our other symbols are. */
__attribute__((visibility("default"))) const char *argp_program_version = "linemate " LM_VERSION;

int main(int argc, char **argv)
{
	struct choice choice = { 0 };
	sigset_t signals;
	char *ask[] = { NULL, (char *)"--help", NULL };
	struct lm_err *err;
	int code = 0;

	argp_err_exit_status = LM_ERR_USAGE;
	lm_clean_up_on_signals(&signals);
	lm_check_stdout_at_exit();
	if (argc)
		argv[0] = (char *)"linemate";
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &choice);
	if (!strcmp(argv[choice.at], "help"))
		err = choice.command->run(2, ask);
	else
		err = choice.command->run(argc - choice.at, argv + choice.at);
	if (err && *err->msg)
		fprintf(stderr, "%s\n", err->msg);
	if (err)
		code = err->code;
	lm_err_free(err);
	return code;
}
