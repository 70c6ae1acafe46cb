/*
 * mail.c - the patch as a mail: what is wrong, what is done about it, the
 * evidence, blanks for what only a machine can give, trailers, the diff.
 *
 * Prints rows; computes nothing.  Every number of the message is also in the
 * JSON of the report.
 */
#include "output/diff.h"
#include "output/mail_parts.h"
#include "output/words.h"

#include <string.h>

const char *lm_mail_ascii(const struct lm_mail *m, const char *text)
{
	struct lm_str s = { 0 };
	const char *copy;

	for (; *text; text++)
		if ((unsigned char)*text < 0x80)
			lm_str_add_char(&s, *text);
		else
			lm_str_addf(&s, "\\x%02x", (unsigned char)*text);
	copy = lm_arena_strdup(m->arena, lm_str_text(&s));
	lm_str_release(&s);
	return copy;
}

void lm_mail_say(const struct lm_mail *m, unsigned first, unsigned rest, const char *fmt, ...)
{
	struct lm_str s = { 0 };
	va_list ap;

	va_start(ap, fmt);
	lm_str_vaddf(&s, fmt, ap);
	va_end(ap);
	lm_wrap_to(m->out, LM_MAIL_WIDTH, first, rest, lm_mail_ascii(m, lm_str_text(&s)));
	lm_str_release(&s);
}

const struct lm_row_pair *lm_mail_main_pair(const struct lm_rows *rows)
{
	for (uint32_t i = 0; i < rows->nr_pairs; i++)
		if (rows->pairs[i].apart && !rows->pairs[i].inside)
			return &rows->pairs[i];
	return NULL;
}

/* ---- what is wrong ---- */

static void add_problem(const struct lm_mail *m)
{
	const struct lm_rows *rows = m->rows;
	const struct lm_story *s = rows->story;
	const struct lm_row_pair *pair = lm_mail_main_pair(rows);

	if (s->plan->for_size) {
		lm_mail_say(m, 0, 0, "%s takes more cache lines than its members need. Another order gives bytes back, in no "
			    "configuration at the price of transfers.", s->record);
	} else if (!pair) {
		lm_mail_say(m, 0, 0, "CPUs contend for cache lines of %s that they need not share.", s->record);
	} else {
		const struct lm_row_side *a = &pair->a, *b = &pair->b;

		lm_mail_say(m, 0, 0, "In %s, %s and %s are on one cache line of %u bytes. Each time one CPU writes %s, "
			    "the line is taken from the CPUs that %s %s, although they share no data.", s->record, a->leaf,
			    b->leaf, s->opts->line, a->leaf, b->writes > b->reads ? "write" : "read", b->leaf);
	}
	lm_str_add_char(m->out, '\n');
}

/* ---- what is done ---- */

static const char *place(const struct lm_mail *m, const char *in_front)
{
	return in_front ? lm_arena_printf(m->arena, "behind %s", in_front) : "the start";
}

/* Is one of the moves of a member of the pair that the mail is about?  True if it is about no pair. */
static bool moves_a_side(const struct lm_mail *m)
{
	const struct lm_row_pair *pair = lm_mail_main_pair(m->rows);
	bool any = !pair;

	for (uint32_t i = 0; pair && i < m->rows->nr_moves; i++) {
		const char *unit = m->rows->moves[i].unit;
		size_t len = strlen(unit);

		any = any || (!strncmp(pair->a.leaf, unit, len) && strcspn(pair->a.leaf, ".[") == len) ||
		      (!strncmp(pair->b.leaf, unit, len) && strcspn(pair->b.leaf, ".[") == len);
	}
	return any;
}

static void add_moves(const struct lm_mail *m)
{
	const struct lm_rows *rows = m->rows;
	const struct lm_story *s = rows->story;

	for (uint32_t i = 0; i < rows->nr_moves; i++) {
		const struct lm_row_move *move = &rows->moves[i];

		if (move->stays)
			lm_mail_say(m, 0, 0, "Let %s, %s, start a cache line.", move->unit, place(m, move->from));
		else
			lm_mail_say(m, 0, 0, "Move %s from %s to %s%s.", move->unit, place(m, move->from), place(m, move->to),
				    move->barrier ? ", onto the start of a cache line" : "");
	}
	if (rows->nr_moves && !s->plan->for_size && !moves_a_side(m))
		lm_mail_say(m, 0, 0, "What this shifts takes the two apart.");
	lm_mail_say(m, 0, 0, "Transfers of cache lines between CPUs, as the profile's accesses let expect: %s before, %s "
		    "after (%s)%s.", lm_count(m->arena, s->plan->transfers_before),
		    lm_count(m->arena, s->plan->transfers_after), lm_percent(m->arena, rows->percent),
		    rows->nr_views > 1 ? ", summed over the configurations below" : "");
	lm_mail_say(m, 0, 0, "This follows from a model of the caches; it is no prediction of throughput%s.",
		    rows->sampled ? ", and as accesses were sampled, only proportions count" : "");
}

/* ---- blanks ---- */

static void add_blanks(const struct lm_mail *m)
{
	static const char *const blanks[] = {
		"machines (CPUs, sockets; two microarchitectures or more):",
		"command line, threads, number of runs:",
		"the contended workload, before / after, deviation:",
		"the same with one thread, before / after, deviation:",
		"workloads that should not change, before / after:",
	};

	for (size_t i = 0; i < sizeof(blanks) / sizeof(*blanks); i++)
		lm_str_addf(m->out, "measure: %s\n", blanks[i]);
	lm_str_add_char(m->out, '\n');
}

static struct lm_err *add_diff(const struct lm_mail *m, const struct lm_mail_head *head)
{
	const struct lm_story *s = m->rows->story;
	struct lm_err *err;

	for (size_t i = 0; i < head->nr_trailers; i++)
		lm_str_addf(m->out, "%s\n", head->trailers[i]);
	lm_str_add(m->out, "---\n");
	err = lm_diff_stat(s->diff, s->diff_len, m->out);
	lm_str_add_char(m->out, '\n');
	lm_str_add_bytes(m->out, s->diff, s->diff_len);
	/* The signature's line ends the last hunk for certain. */
	lm_str_addf(m->out, "-- \nlinemate %s\n\n", LM_VERSION);
	return err;
}

struct lm_err *lm_report_mail(const struct lm_story *story, const char *path, const struct lm_mail_head *head,
			      struct lm_str *out)
{
	struct lm_arena arena = { 0 };
	struct lm_rows rows;
	struct lm_mail m = { &rows, &arena, out };
	struct lm_err *err;

	lm_rows_make(story, &arena, &rows);
	lm_mail_add_head(&m, path, head);
	add_problem(&m);
	add_moves(&m);
	lm_mail_add_evidence(&m);
	add_blanks(&m);
	err = add_diff(&m, head);
	lm_arena_release(&arena);
	return err;
}
