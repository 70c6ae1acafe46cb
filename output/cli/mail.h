/* mail.h - `linemate patch --mail` and --comment: their options, and who writes. */
#ifndef LM_OUTPUT_CLI_MAIL_H
#define LM_OUTPUT_CLI_MAIL_H

#include "output/cli/job.h"
#include "output/mail.h"

/* A child of patch's options; its input is the struct lm_options. */
extern const struct argp lm_mail_argp;

/*
 * Author, date and manner of the mail: from the command line, SOURCE_DATE_EPOCH
 * and the tree's git.  Nothing without --mail.  The header must have been read.
 * LM_ERR_USAGE: nobody is named as author, or SOURCE_DATE_EPOCH is no number.
 */
struct lm_err *lm_job_mail_head(struct lm_job *job, struct lm_mail_head *head) LM_MUST_CHECK;

#endif
