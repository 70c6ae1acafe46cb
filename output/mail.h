/*
 * mail.h - a patch as a mail for `git am`: headers, a message with the evidence
 * that reviewers of layout patches ask for, trailers, diffstat, diff.
 *
 * The message is printed from the rows of the report, ASCII, at most
 * LM_MAIL_WIDTH columns (a name that is longer stays whole).  What only a
 * machine can tell is left as a line that begins with "measure:"; no throughput
 * is ever predicted.
 */
#ifndef LM_OUTPUT_MAIL_H
#define LM_OUTPUT_MAIL_H

#include "base/err.h"
#include "output/report.h"

#define LM_MAIL_WIDTH 75

struct lm_mail_head {
	const char *from;	/* "Name <address>", UTF-8 */
	int64_t time;		/* the Date: header, in seconds since 1970; written in UTC */
	const char *prefix;	/* what the subject begins with, without its last colon; NULL: taken from the path */
	const char *const *trailers;	/* "Signed-off-by: ...", as they shall stand; UTF-8 */
	size_t nr_trailers;
};

/* Is this "Name <user@host>", on one line? */
bool lm_mail_is_author(const char *from);

/* Is this "Word-word: text", on one line? */
bool lm_mail_is_trailer(const char *trailer);

/* The mail of a story with a diff.  path is the header's, from the tree's root. */
struct lm_err *lm_report_mail(const struct lm_story *story, const char *path, const struct lm_mail_head *head,
			      struct lm_str *out) LM_MUST_CHECK;

#endif
