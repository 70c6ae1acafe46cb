/* mail_parts.h - the paragraphs of a mail and its headers.  Private to mail*.c. */
#ifndef LM_OUTPUT_MAIL_PARTS_H
#define LM_OUTPUT_MAIL_PARTS_H

#include "output/mail.h"
#include "output/report_rows.h"

struct lm_mail {
	const struct lm_rows *rows;
	struct lm_arena *arena;
	struct lm_str *out;
};

/* Adds a sentence, ASCII, wrapped: its first line indented by first, the others by rest. */
void lm_mail_say(const struct lm_mail *m, unsigned first, unsigned rest, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Bytes that are not ASCII as \xNN; in arena. */
const char *lm_mail_ascii(const struct lm_mail *m, const char *text);

/* ---- mail_head.c ---- */

/* From, Date, Subject and the empty line. */
void lm_mail_add_head(const struct lm_mail *m, const char *path, const struct lm_mail_head *head);

/* ---- mail_evidence.c ---- */

/* What the profile, the compilers and the configurations say for the change. */
void lm_mail_add_evidence(const struct lm_mail *m);

/* The pair that costs most among those that the patch parts; NULL: none. */
const struct lm_row_pair *lm_mail_main_pair(const struct lm_rows *rows);

#endif
