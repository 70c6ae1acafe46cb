/* commands.h - the verbs.  Each: one file, one option table, one function. */
#ifndef LM_OUTPUT_CLI_COMMANDS_H
#define LM_OUTPUT_CLI_COMMANDS_H

#include "base/err.h"

#include <signal.h>

#define LM_COMMANDS(X) \
	X(patch, "what should change? profile + header -> unified diff") \
	X(show, "what is the layout, and where is the heat?") \
	X(profile, "what did perf see, per field? any perf output -> access file") \
	X(diff, "what did a change do to the layout? new line mates, new cost") \
	X(log, "which commits changed the layout, or made two members line mates?") \
	X(check, "is the layout still good? exit 1 and a line per broken promise") \
	X(replay, "what does a layout cost? the accesses, played through caches") \
	X(bench, "what is the layout worth here? old and new, timed on this machine") \
	X(rank, "which records of a program are worth a look?") \
	X(report, "the whole story as text, JSON, or a page for a browser")

/* argv[0] is the verb.  The error's code is the exit code; wrong use exits by itself. */
#define X(verb, text) struct lm_err *lm_cmd_##verb(int argc, char **argv) LM_MUST_CHECK;
LM_COMMANDS(X)
#undef X

/* A signal to end removes our temporary directories first.  Before any other thread; set lives as long as main(). */
void lm_clean_up_on_signals(sigset_t *set);

/* Exits with LM_ERR_INPUT if what was printed cannot be written. */
void lm_check_stdout_at_exit(void);

#endif
