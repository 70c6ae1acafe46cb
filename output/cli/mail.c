/* mail.c - who writes the mail of `linemate patch --mail`, and when. */
#include "output/cli/mail.h"

#include "output/git_habits.h"

#include <errno.h>
#include <stdlib.h>

enum { OPT_MAIL = 0x600, OPT_FROM, OPT_TRAILER };

/* 9999-12-31: years have four digits in mails. */
#define MAX_TIME 253402300799LL
/* Without git and SOURCE_DATE_EPOCH: the day that git format-patch writes above its mails. */
#define FIXED_TIME 1000684800

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "The patch as a mail:", 5 },
	{ "mail", OPT_MAIL, NULL, 0, "write a mail for git am: message with the evidence, diffstat, diff", 5 },
	{ "from", OPT_FROM, "NAME <ADDRESS>", 0, "the mail's author; default: user.name and user.email of git", 5 },
	{ "trailer", OPT_TRAILER, "LINE", 0, "end the message with \"Signed-off-by: ...\", \"Fixes: ...\" ...; repeatable", 5 },
	{ 0 },
};

static void check(const struct argp_state *state)
{
	const struct lm_options *o = state->input;

	if (o->mail && o->records.nr > 1)
		argp_error(state, "a mail tells of one record: with --mail give one --struct");
	if (o->mail && o->json)
		argp_error(state, "--mail and --json are two outputs: give one of them");
	if (!o->mail && (o->from || o->trailers.nr))
		argp_error(state, "%s is for a mail: give --mail, too", o->from ? "--from" : "--trailer");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct lm_options *o = state->input;

	switch (key) {
	case OPT_MAIL:
		o->mail = true;
		return 0;
	case OPT_FROM:
		if (!lm_mail_is_author(arg))
			argp_error(state, "--from wants an author such as 'A. Name <name@example.org>', not '%s'", arg);
		o->from = arg;
		return 0;
	case OPT_TRAILER:
		if (!lm_mail_is_trailer(arg))
			argp_error(state, "--trailer wants one line such as 'Signed-off-by: A. Name <name@example.org>', not '%s'",
				   arg);
		lm_options_add(o, &o->trailers, arg);
		return 0;
	case ARGP_KEY_END:
		check(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp lm_mail_argp = { .options = table, .parser = parse };

static struct lm_err *find_time(const struct lm_git_habits *habits, struct lm_mail_head *head)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	long long n;
	char *end;

	head->time = habits->has_time ? habits->time : FIXED_TIME;
	if (!epoch || !*epoch)
		return NULL;
	errno = 0;
	n = strtoll(epoch, &end, 10);
	if (epoch[0] < '0' || epoch[0] > '9' || *end || errno || n > MAX_TIME)
		return lm_err_new(LM_ERR_USAGE, "SOURCE_DATE_EPOCH is '%s', which is no number of seconds since 1970: set it "
				  "right, or unset it.", epoch);
	head->time = n;
	return NULL;
}

struct lm_err *lm_mail_head_make(const struct lm_options *o, const char *header, struct lm_arena *arena,
				 struct lm_mail_head *head)
{
	struct lm_git_habits habits;

	if (!o->mail)
		return NULL;
	lm_git_habits_find(header, arena, &habits);
	*head = (struct lm_mail_head){
		.from = o->from ? o->from : habits.author,
		.prefix = habits.prefix,
		.trailers = o->trailers.items,
		.nr_trailers = o->trailers.nr,
	};
	if (!head->from)
		return lm_err_new(LM_ERR_USAGE, "The mail has no author, since git has no user.name and user.email here: give "
				  "--from 'A. Name <name@example.org>'.");
	if (!lm_mail_is_author(head->from))
		return lm_err_new(LM_ERR_USAGE, "The mail's author by git's user.name and user.email is '%s', which is no name and "
				  "address: give --from 'A. Name <name@example.org>'.", head->from);
	return find_time(&habits, head);
}
