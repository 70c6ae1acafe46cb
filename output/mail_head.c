/* mail_head.c - the headers of a mail: whose it is, of when, and what it is about. */
#include "output/mail_parts.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

bool lm_mail_is_author(const char *from)
{
	const char *open = strrchr(from, '<'), *close = strrchr(from, '>'), *at = strrchr(from, '@');

	for (const char *p = from; *p; p++)
		if (iscntrl((unsigned char)*p))
			return false;
	return open && close && at && open > from + 1 && open[-1] == ' ' && at > open + 1 && close > at + 1 &&
	       !close[1] && strcspn(open + 1, " <>\"") == (size_t)(close - open - 1) && !memchr(from, '<', (size_t)(open - from));
}

bool lm_mail_is_trailer(const char *trailer)
{
	size_t word = 0;

	while (isalnum((unsigned char)trailer[word]) || (word && trailer[word] == '-'))
		word++;
	if (!word || !isalpha((unsigned char)trailer[0]) || trailer[word] != ':' || trailer[word + 1] != ' ' ||
	    !trailer[word + 2] || trailer[word + 2] == ' ')
		return false;
	for (const char *p = trailer; *p; p++)
		if (iscntrl((unsigned char)*p))
			return false;
	return true;
}

/* ---- From ---- */

static bool is_ascii(const char *text)
{
	while (*text && (unsigned char)*text < 0x80)
		text++;
	return !*text;
}

/* RFC 2047: what is no plain letter or digit as =NN. */
static void add_encoded(const char *text, size_t len, struct lm_str *out)
{
	lm_str_add(out, "=?UTF-8?q?");
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x80 && isalnum(c))
			lm_str_add_char(out, (char)c);
		else
			lm_str_addf(out, "=%02X", c);
	}
	lm_str_add(out, "?=");
}

/* A name as RFC 5322 has it: plain, quoted, or encoded. */
static void add_name(const char *name, size_t len, struct lm_str *out)
{
	bool plain = true;

	for (size_t i = 0; i < len; i++)
		plain = plain && (isalnum((unsigned char)name[i]) || strchr(" !#$%&'*+-/=?^_`{|}~", name[i]));
	if (plain) {
		lm_str_add_bytes(out, name, len);
		return;
	}
	lm_str_add_char(out, '"');
	for (size_t i = 0; i < len; i++) {
		if (name[i] == '"' || name[i] == '\\')
			lm_str_add_char(out, '\\');
		lm_str_add_char(out, name[i]);
	}
	lm_str_add_char(out, '"');
}

static void add_from(const char *from, struct lm_str *out)
{
	size_t len = (size_t)(strrchr(from, '<') - from);

	while (len && from[len - 1] == ' ')
		len--;
	lm_str_add(out, "From: ");
	if (is_ascii(from))
		add_name(from, len, out);
	else
		add_encoded(from, len, out);
	lm_str_addf(out, " %s\n", strrchr(from, '<'));
}

/* ---- Date ---- */

/* Names are written out: strftime() would ask the locale. */
static void add_date(int64_t seconds, struct lm_str *out)
{
	static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	time_t at = (time_t)seconds;
	struct tm tm = { 0 };

	gmtime_r(&at, &tm);
	lm_str_addf(out, "Date: %s, %d %s %d %02d:%02d:%02d +0000\n", days[tm.tm_wday], tm.tm_mday, months[tm.tm_mon],
		    tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

/* ---- Subject ---- */

/* Folders that say nothing of what a file is about. */
static bool is_dull(const char *name, size_t len)
{
	static const char *const names[] = { "include", "linux", "src", "lib", "source", "uapi", "asm-generic" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return true;
	return false;
}

/* "mm/slab.h" -> "mm: slab", "include/linux/memcontrol.h" -> "memcontrol" */
static const char *prefix_of_path(const struct lm_mail *m, const char *path)
{
	const char *name = strrchr(path, '/'), *dot;
	size_t folder = strcspn(path, "/");

	name = name ? name + 1 : path;
	while (path + folder + 1 < name && is_dull(path, folder)) {
		path += folder + 1;
		folder = strcspn(path, "/");
	}
	dot = strrchr(name, '.');
	if (path == name || is_dull(path, folder))
		return lm_arena_strndup(m->arena, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
	return lm_arena_printf(m->arena, "%.*s: %.*s", (int)folder, path, (int)(dot && dot > name ? dot - name :
										 (long)strlen(name)), name);
}

/* The member that a leaf lies in: "memory_events_local[8].counter" -> "memory_events_local". */
static const char *member_of(const struct lm_mail *m, const char *leaf)
{
	return lm_arena_strndup(m->arena, leaf, strcspn(leaf, ".["));
}

/* What the patch does, the most telling words first; NULL behind the last. */
static void subjects(const struct lm_mail *m, const char *words[4])
{
	const struct lm_rows *rows = m->rows;
	const struct lm_row_pair *pair = lm_mail_main_pair(rows);
	const char *record = rows->story->record;
	uint32_t nr = 0;

	if (rows->story->plan->for_size) {
		words[nr++] = lm_arena_printf(m->arena, "let %s take fewer cache lines", record);
		words[nr++] = "take fewer cache lines";
		words[nr] = NULL;
		return;
	}
	if (pair) {
		const char *a = member_of(m, pair->a.leaf), *b = member_of(m, pair->b.leaf);
		const struct lm_row_move *move = rows->nr_moves == 1 && !rows->moves[0].stays ? &rows->moves[0] : NULL;

		if (move && !strcmp(move->unit, a))
			words[nr++] = lm_arena_printf(m->arena, "move %s away from %s", a, b);
		else if (move && !strcmp(move->unit, b))
			words[nr++] = lm_arena_printf(m->arena, "move %s away from %s", b, a);
		else if (strcmp(a, b))
			words[nr++] = lm_arena_printf(m->arena, "take %s and %s apart", a, b);
	}
	words[nr++] = lm_arena_printf(m->arena, "take contended members of %s apart", record);
	words[nr++] = "take contended members apart";
	words[nr] = NULL;
}

static void add_subject(const struct lm_mail *m, const char *path, const char *prefix)
{
	const char *words[4], *subject = NULL;

	if (!prefix)
		prefix = prefix_of_path(m, path);
	subjects(m, words);
	for (uint32_t i = 0; words[i]; i++) {
		subject = lm_mail_ascii(m, lm_arena_printf(m->arena, "%s: %s", prefix, words[i]));
		if (strlen(subject) <= LM_MAIL_WIDTH)
			break;
	}
	lm_str_addf(m->out, "Subject: [PATCH] %s\n", subject);
}

/* The diff or a trailer may have bytes beyond ASCII; a diff that is no UTF-8 is no text of any one charset. */
static void add_encoding(const struct lm_mail *m, const struct lm_mail_head *head)
{
	const struct lm_story *s = m->rows->story;
	bool ascii = true;

	for (size_t i = 0; i < s->diff_len; i++)
		ascii = ascii && (unsigned char)s->diff[i] < 0x80;
	for (size_t i = 0; i < head->nr_trailers; i++)
		ascii = ascii && is_ascii(head->trailers[i]);
	if (!ascii)
		lm_str_add(m->out, "MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n"
				   "Content-Transfer-Encoding: 8bit\n");
}

void lm_mail_add_head(const struct lm_mail *m, const char *path, const struct lm_mail_head *head)
{
	/* The line that begins a mail in an mbox; git format-patch writes this date, too. */
	lm_str_add(m->out, "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n");
	add_from(head->from, m->out);
	add_date(head->time, m->out);
	add_subject(m, path, head->prefix);
	add_encoding(m, head);
	lm_str_add_char(m->out, '\n');
}
