/* mail.h - `linemate patch --mail`: its options, and who writes. */
#ifndef LM_OUTPUT_CLI_MAIL_H
#define LM_OUTPUT_CLI_MAIL_H

#include "output/cli/options.h"
#include "output/mail.h"

/* A child of patch's options; its input is the struct lm_options. */
extern const struct argp lm_mail_argp;

/*
 * Author, date and manner of the mail: from the command line, SOURCE_DATE_EPOCH
 * and the git tree of header.  Nothing without --mail.  Lives as long as o and
 * arena.  LM_ERR_USAGE: nobody is named as author, or SOURCE_DATE_EPOCH is no
 * number.
 */
struct lm_err *lm_mail_head_make(const struct lm_options *o, const char *header, struct lm_arena *arena,
				 struct lm_mail_head *head) LM_MUST_CHECK;

#endif
