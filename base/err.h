/* err.h - how every function that can fail says so. */
#ifndef LM_BASE_ERR_H
#define LM_BASE_ERR_H

#include <stdarg.h>

/* Also the process exit code: output/cli maps nothing, it returns these. */
enum lm_errc {
	LM_ERR_FOUND = 1,	/* no error: what was looked for was found, and has been told (its message is empty) */
	LM_ERR_USAGE = 2,	/* the command line */
	LM_ERR_INPUT = 3,	/* a header, binary or profile we cannot read */
	LM_ERR_REFUSED = 4,	/* a rule forbids it; the message is the reason */
	LM_ERR_LIMIT = 5,	/* time or size limit hit before any answer */
	LM_ERR_BUG = 70,	/* our own check failed: never trust the result */
};

/*
 * An error: a code to branch on, and one sentence, already complete with file
 * and line and what to do, to print as it is.  NULL means success.
 *
 * The receiver owns it: free it, or return it upwards.  Running out of memory
 * is not an error value; it ends the process in lm_oom().
 */
struct lm_err {
	enum lm_errc code;
	char msg[];
};

#define LM_MUST_CHECK __attribute__((warn_unused_result))

/*
 * Makes an error.  The text is escaped (lm_str_escape): what a hostile file
 * put into a name cannot reach the terminal as a control code.
 */
struct lm_err *lm_err_new(enum lm_errc code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull)) LM_MUST_CHECK;

/* Frees err; NULL is fine. */
void lm_err_free(struct lm_err *err);

/* Out of memory: one line on stderr, exit 5.  The only exit in a library. */
_Noreturn void lm_oom(void);

#endif
