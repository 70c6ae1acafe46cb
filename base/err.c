/* err.c - error values. */
#include "base/err.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lm_err *lm_err_new(enum lm_errc code, const char *fmt, ...)
{
	struct lm_str raw = { 0 }, safe = { 0 };
	va_list ap;

	va_start(ap, fmt);
	lm_str_vaddf(&raw, fmt, ap);
	va_end(ap);
	lm_str_escape(&safe, lm_str_text(&raw), raw.len);

	struct lm_err *err = malloc(sizeof(*err) + safe.len + 1);

	if (!err)
		lm_oom();
	err->code = code;
	memcpy(err->msg, lm_str_text(&safe), safe.len + 1);
	lm_str_release(&raw);
	lm_str_release(&safe);
	return err;
}

void lm_err_free(struct lm_err *err)
{
	free(err);
}

void lm_oom(void)
{
	static const char text[] = "linemate: out of memory\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(LM_ERR_LIMIT);
	_exit(LM_ERR_LIMIT);
}
