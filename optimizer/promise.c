/*
 * promise.c - promise files and promises in comments -> promises, and back.
 *
 * Written by hand as often as by this program, so what is not understood is an
 * error with its place.
 */
#include "optimizer/promise.h"

#include "optimizer/lexer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
#define VERSION_LINE "#linemate-promise 1"

static const struct kind {
	const char *word;
	uint32_t min, max;
	const char *text;
} kinds[] = {
#define X(name, word, min, max, text) { word, min, max, text },
	LM_PROMISES(X)
#undef X
};

const char *lm_promise_word(enum lm_promise_kind kind)
{
	return kinds[kind].word;
}

const char *lm_promise_text(enum lm_promise_kind kind)
{
	return kinds[kind].text;
}

bool lm_promise_in(const struct lm_promise *p, const char *config)
{
	for (uint32_t i = 0; i < p->nr_configs; i++)
		if (!strcmp(p->configs[i], config))
			return true;
	return !p->nr_configs;
}

/* One line while it is read. */
struct reading {
	struct lm_promises *p;
	struct lm_arena *arena;
	const char *path;
	uint32_t line;
	const char **words;
	size_t nr, cap;
};

static struct lm_err *wrong(const struct reading *r, const char *what, const char *word)
{
	return lm_err_new(LM_ERR_INPUT, "%s:%u: %s \"%.60s\".", r->path, r->line, what, word);
}

/* ---- words ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* A word in quotes; *p is behind the first quote, and then behind the last.  NULL: it does not end. */
static char *quoted(struct reading *r, const char **p, const char *end)
{
	char *word = lm_arena_alloc(r->arena, (size_t)(end - *p) + 1), *to = word;

	for (; *p < end && **p != '"'; ++*p) {
		if (**p == '\\' && *p + 1 < end)
			++*p;
		*to++ = **p;
	}
	if (*p == end)
		return NULL;
	++*p;
	return word;
}

static struct lm_err *split(struct reading *r, const char *p, const char *end)
{
	r->nr = 0;
	for (;;) {
		const char *begin, *word;

		while (p < end && is_blank(*p))
			p++;
		if (p == end || *p == '#')
			return NULL;
		begin = p;
		if (*p == '"') {
			p++;
			word = quoted(r, &p, end);
			if (!word)
				return wrong(r, "a word in quotes does not end in this line:",
					     lm_arena_strndup(r->arena, begin, (size_t)(end - begin)));
		} else {
			while (p < end && !is_blank(*p))
				p++;
			word = lm_arena_strndup(r->arena, begin, (size_t)(p - begin));
		}
		*LM_ARENA_PUSH(r->arena, r->words, r->nr, r->cap) = word;
	}
}

static bool whole_number(const char *word, uint64_t max, uint64_t *ret)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(word, &end, 10);
	if (word[0] < '0' || word[0] > '9' || *end || errno || n > max)
		return false;
	*ret = n;
	return true;
}

/* ---- promises ---- */

/* "@v1,nowb" at the end. */
static struct lm_err *take_configs(struct reading *r, struct lm_promise *p)
{
	const char *list = r->nr > 1 ? r->words[r->nr - 1] : "";
	size_t cap = 0, nr = 0;

	if (*list != '@')
		return NULL;
	r->nr--;
	do {
		size_t len = strcspn(++list, ",");

		if (!len)
			return wrong(r, "a configuration's name is missing in", r->words[r->nr]);
		if (strspn(list, NAME_BYTES) < len)
			return wrong(r, "no configuration can have the name in", r->words[r->nr]);
		*LM_ARENA_PUSH(r->arena, p->configs, nr, cap) = lm_arena_strndup(r->arena, list, len);
		list += len;
	} while (*list);
	p->nr_configs = (uint32_t)nr;
	return NULL;
}

static struct lm_err *take_members(struct reading *r, const char *first, struct lm_promise *p)
{
	const struct kind *kind = &kinds[p->kind];
	size_t nr = r->nr - 1 + (first != NULL);

	if (nr < kind->min || nr > kind->max)
		return lm_err_new(LM_ERR_INPUT, "%s:%u: \"%s\" names %s%u member%s, not %zu; it says that %s.", r->path,
				  r->line, kind->word, kind->min == kind->max ? "" : "at least ", kind->min,
				  kind->min == 1 ? "" : "s", nr, kind->text);
	p->members = LM_ARENA_ARRAY(r->arena, const char *, nr + 1);
	if (first)
		p->members[p->nr_members++] = first;
	for (size_t i = 1; i < r->nr; i++)
		p->members[p->nr_members++] = r->words[i];
	for (uint32_t i = 0; i < p->nr_members; i++) {
		if (!lm_lex_word_byte(p->members[i][0]))
			return wrong(r, "this is no member's name:", p->members[i]);
		for (uint32_t k = 0; k < i; k++)
			if (!strcmp(p->members[i], p->members[k]))
				return wrong(r, "one promise names a member twice:", p->members[i]);
	}
	return NULL;
}

static struct lm_err *take_size(struct reading *r, struct lm_promise *p)
{
	if (r->nr != 2 || !whole_number(r->words[1], UINT64_MAX, &p->bytes) || !p->bytes)
		return wrong(r, "\"max-size\" wants one number of bytes, not", r->nr > 1 ? r->words[1] : "");
	return NULL;
}

static struct lm_err *add_promise(struct reading *r, enum lm_promise_kind kind, const char *first)
{
	struct lm_promise p = { .kind = kind, .file = r->path, .line = r->line };
	struct lm_err *err = take_configs(r, &p);

	if (!err)
		err = kind == LM_PROMISE_MAX_SIZE ? take_size(r, &p) : take_members(r, first, &p);
	if (!err)
		*LM_ARENA_PUSH(r->arena, r->p->items, r->p->nr, r->p->cap) = p;
	return err;
}

/* The kind of promise that a word stands for, or LM_NR_PROMISES. */
static enum lm_promise_kind kind_of(const char *word)
{
	enum lm_promise_kind kind = 0;

	while (kind < LM_NR_PROMISES && strcmp(word, kinds[kind].word))
		kind++;
	return kind;
}

/* ---- the head ---- */

/* A statement of one word that may stand once. */
static struct lm_err *set_word(struct reading *r, const char **to)
{
	if (r->nr != 2 || !*r->words[1])
		return lm_err_new(LM_ERR_INPUT, "%s:%u: \"%s\" wants one word behind it.", r->path, r->line, r->words[0]);
	if (*to)
		return wrong(r, "this is said a second time:", r->words[0]);
	*to = r->words[1];
	return NULL;
}

/* A statement of one word that may stand again. */
static struct lm_err *add_word(struct reading *r, const char ***items, size_t *nr, size_t *cap)
{
	const char *word = NULL;
	struct lm_err *err = set_word(r, &word);

	if (!err)
		*LM_ARENA_PUSH(r->arena, *items, *nr, *cap) = word;
	return err;
}

static struct lm_err *set_number(struct reading *r, uint64_t min, uint64_t max, uint32_t *to)
{
	const char *word = NULL;
	struct lm_err *err = set_word(r, &word);
	uint64_t n;

	if (err)
		return err;
	if (*to)
		return wrong(r, "this is said a second time:", r->words[0]);
	if (!whole_number(word, max, &n) || n < min || (n & (n - 1)))
		return lm_err_new(LM_ERR_INPUT, "%s:%u: \"%s\" wants a power of two from %u to %u, not \"%.60s\".", r->path,
				  r->line, r->words[0], (unsigned)min, (unsigned)max, word);
	*to = (uint32_t)n;
	return NULL;
}

static struct lm_err *set_record(struct reading *r)
{
	if (r->nr == 3 && (!strcmp(r->words[1], "struct") || !strcmp(r->words[1], "union"))) {
		r->words[1] = r->words[2];
		r->nr = 2;
	}
	r->p->record_line = r->line;
	return set_word(r, &r->p->record);
}

static struct lm_err *set_kernel_headers(struct reading *r)
{
	if (r->nr == 1)
		*LM_ARENA_PUSH(r->arena, r->words, r->nr, r->cap) = ".newest";
	struct lm_err *err = set_word(r, &r->p->kernel_headers);

	if (!err && !strcmp(r->p->kernel_headers, ".newest"))
		r->p->kernel_headers = "";
	return err;
}

static struct lm_err *read_words(struct reading *r)
{
	const char *word = r->words[0];
	struct lm_promises *p = r->p;
	const struct {
		const char *word, **to;
	} heads[] = { { "directory", &p->directory }, { "header", &p->header }, { "source", &p->source },
		      { "compile-db", &p->compile_db }, { "kbuild", &p->kbuild }, { "root", &p->root } };

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (!strcmp(word, heads[i].word))
			return set_word(r, heads[i].to);
	if (!strcmp(word, "record"))
		return set_record(r);
	if (!strcmp(word, "kernel-headers"))
		return set_kernel_headers(r);
	if (!strcmp(word, "line"))
		return set_number(r, 32, 256, &p->line);
	if (!strcmp(word, "base-align"))
		return set_number(r, 1, 1 << 20, &p->base_align);
	if (!strcmp(word, "config"))
		return add_word(r, &p->configs, &p->nr_configs, &p->configs_cap);
	if (!strcmp(word, "kconfig"))
		return add_word(r, &p->kconfigs, &p->nr_kconfigs, &p->kconfigs_cap);
	if (!strcmp(word, "flags")) {
		for (size_t i = 1; i < r->nr; i++)
			*LM_ARENA_PUSH(r->arena, p->flags, p->nr_flags, p->flags_cap) = r->words[i];
		return NULL;
	}
	if (kind_of(word) == LM_NR_PROMISES)
		return wrong(r, "no statement or promise begins with", word);
	return add_promise(r, kind_of(word), NULL);
}

struct lm_err *lm_promises_read(const char *path, const char *text, size_t len, struct lm_arena *arena,
				struct lm_promises *out)
{
	struct lm_promises p = { .path = path };
	struct reading r = { .p = &p, .arena = arena, .path = path };
	const char *end = text + len;
	struct lm_err *err = NULL;

	for (const char *at = text; !err && (at < end || !r.line); at++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t length;

		stop = stop ? stop : end;
		length = (size_t)(stop - at);
		length -= length && at[length - 1] == '\r';
		r.line++;
		if (r.line == 1 && (length != strlen(VERSION_LINE) || memcmp(at, VERSION_LINE, length)))
			return lm_err_new(LM_ERR_INPUT, "%s:1: is no promise file of a version that this program reads; its "
					  "first line must be " VERSION_LINE ".", path);
		if (memchr(at, 0, length))
			return lm_err_new(LM_ERR_INPUT, "%s:%u: has a zero byte; a promise file is text.", path, r.line);
		err = split(&r, at, at + length);
		if (!err && r.nr)
			err = read_words(&r);
		at = stop;
	}
	if (!err)
		err = lm_promises_consistent(&p);
	if (!err)
		*out = p;
	return err;
}

/* ---- comments ---- */

static struct lm_err *read_comment_words(struct reading *r, const struct lm_body *body, size_t at)
{
	enum lm_promise_kind kind = kind_of(r->words[0]);
	uint32_t unit = lm_body_unit_at(body, at);

	if (kind == LM_NR_PROMISES)
		return lm_err_new(LM_ERR_INPUT, "%s:%u: the comment \"linemate: %.60s\" is no promise: there are pin, apart, "
				  "together, max-size, write-hot, read-mostly, line-start and first.", r->path, r->line,
				  r->words[0]);
	if (kind != LM_PROMISE_MAX_SIZE && unit == LM_NONE)
		return lm_err_new(LM_ERR_INPUT, "%s:%u: the comment \"linemate: %s\" stands at no member; put it behind the "
				  "member's declaration, or right above it.", r->path, r->line, r->words[0]);
	return add_promise(r, kind, kind == LM_PROMISE_MAX_SIZE ? NULL : body->units[unit].name);
}

static struct lm_err *read_comment(struct reading *r, const struct lm_body *body, const struct lm_lexeme *x)
{
	static const char mark[] = "linemate:";
	const char *p = body->text + x->begin, *end = body->text + x->end;
	struct lm_err *err = NULL;

	r->line = x->line;
	if (end - p >= 4 && !memcmp(end - 2, "*/", 2))
		end -= 2;
	for (const char *at; !err && (at = memmem(p, (size_t)(end - p), mark, strlen(mark))) != NULL;) {
		const char *stop = at + strlen(mark);

		for (; p < at; p++)
			r->line += *p == '\n';
		p = stop;
		while (stop < end && *stop != '\n' && *stop != ';')
			stop++;
		err = split(r, p, stop);
		/* "pin" is a rule, which patch keeps; what follows it there has always been free text. */
		if (!err && r->nr && strncmp(r->words[0], "pin", 3))
			err = read_comment_words(r, body, x->begin);
		p = stop;
	}
	return err;
}

struct lm_err *lm_promises_read_comments(const char *path, const struct lm_body *body, struct lm_arena *arena,
					 struct lm_promises *p)
{
	struct lm_promises more = *p;
	struct reading r = { .p = &more, .arena = arena, .path = path };
	struct lm_lexemes lex;
	struct lm_err *err = NULL;

	/* The old array stays as it is if this fails. */
	more.cap = 0;
	more.items = NULL;
	more.nr = 0;
	for (size_t i = 0; i < p->nr; i++)
		*LM_ARENA_PUSH(arena, more.items, more.nr, more.cap) = p->items[i];
	lm_lex(body->text, body->begin, body->end, lm_lex_line(body->text, body->begin), arena, &lex);
	for (size_t i = 0; i < lex.nr && !err; i++)
		if (lex.items[i].kind == LM_LEX_COMMENT)
			err = read_comment(&r, body, &lex.items[i]);
	if (!err)
		err = lm_promises_consistent(&more);
	if (!err)
		*p = more;
	return err;
}

/* ---- contradictions ---- */

static bool names(const struct lm_promise *p, const char *member)
{
	for (uint32_t i = 0; i < p->nr_members; i++)
		if (!strcmp(p->members[i], member))
			return true;
	return false;
}

/* Is there a configuration in which both are given? */
static bool meet(const struct lm_promise *a, const struct lm_promise *b)
{
	if (!a->nr_configs || !b->nr_configs)
		return true;
	for (uint32_t i = 0; i < a->nr_configs; i++)
		if (lm_promise_in(b, a->configs[i]))
			return true;
	return false;
}

static struct lm_err *contradict(const struct lm_promise *a, const struct lm_promise *b, const char *how,
				 const char *m, const char *n)
{
	return lm_err_new(LM_ERR_INPUT, "%s:%u: contradicts %s:%u: %s and %s cannot be %s; take one of the promises out.",
			  b->file, b->line, a->file, a->line, m, n, how);
}

/* TOGETHER against what sets two of its members apart. */
static struct lm_err *against_together(const struct lm_promises *p, const struct lm_promise *t,
				       const struct lm_promise *b)
{
	if (b->kind == LM_PROMISE_APART && names(t, b->members[0]) && names(t, b->members[1]))
		return contradict(t, b, "both together and apart", b->members[0], b->members[1]);
	if (b->kind != LM_PROMISE_WRITE_HOT)
		return NULL;
	for (size_t i = 0; i < p->nr; i++) {
		const struct lm_promise *r = &p->items[i];

		if (r->kind != LM_PROMISE_READ_MOSTLY || !meet(r, b) || !meet(r, t))
			continue;
		for (uint32_t w = 0; w < b->nr_members; w++)
			for (uint32_t k = 0; k < r->nr_members; k++)
				if (names(t, b->members[w]) && names(t, r->members[k]))
					return contradict(t, b, "on one line while the first is write-hot and the second "
							  "read-mostly", b->members[w], r->members[k]);
	}
	return NULL;
}

static struct lm_err *two(const struct lm_promises *p, const struct lm_promise *a, const struct lm_promise *b)
{
	if (!meet(a, b))
		return NULL;
	if (a->kind == LM_PROMISE_TOGETHER)
		return against_together(p, a, b);
	if (a->kind == LM_PROMISE_FIRST && b->kind == LM_PROMISE_FIRST && b > a && strcmp(a->members[0], b->members[0]))
		return contradict(a, b, "both the first member", a->members[0], b->members[0]);
	if (a->kind != LM_PROMISE_WRITE_HOT || b->kind != LM_PROMISE_READ_MOSTLY)
		return NULL;
	for (uint32_t i = 0; i < a->nr_members; i++)
		if (names(b, a->members[i]))
			return lm_err_new(LM_ERR_INPUT, "%s:%u: contradicts %s:%u: %s cannot be both write-hot and read-mostly; "
					  "take it out of one.", b->file, b->line, a->file, a->line, a->members[i]);
	return NULL;
}

struct lm_err *lm_promises_consistent(const struct lm_promises *p)
{
	for (size_t i = 0; i < p->nr; i++)
		for (size_t k = 0; k < p->nr; k++) {
			struct lm_err *err = i == k ? NULL : two(p, &p->items[i], &p->items[k]);

			if (err)
				return err;
		}
	return NULL;
}

/* ---- printing ---- */

static void print_word(const char *word, struct lm_str *out)
{
	bool plain = *word && *word != '#' && *word != '"' && !strpbrk(word, " \t\r\n");

	lm_str_add_char(out, ' ');
	if (plain) {
		lm_str_add(out, word);
		return;
	}
	lm_str_add_char(out, '"');
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			lm_str_add_char(out, '\\');
		lm_str_add_char(out, *word);
	}
	lm_str_add_char(out, '"');
}

void lm_promise_print(const struct lm_promise *p, struct lm_str *out)
{
	lm_str_add(out, kinds[p->kind].word);
	if (p->kind == LM_PROMISE_MAX_SIZE)
		lm_str_addf(out, " %llu", (unsigned long long)p->bytes);
	for (uint32_t i = 0; i < p->nr_members; i++)
		print_word(p->members[i], out);
	for (uint32_t i = 0; i < p->nr_configs; i++)
		lm_str_addf(out, "%s%s", i ? "," : " @", p->configs[i]);
}

static void print_line(const char *key, const char *word, struct lm_str *out)
{
	if (!word)
		return;
	lm_str_add(out, key);
	if (*word)
		print_word(word, out);
	lm_str_add_char(out, '\n');
}

static void print_number(const char *key, uint32_t n, struct lm_str *out)
{
	if (n)
		lm_str_addf(out, "%s %u\n", key, n);
}

void lm_promises_print(const struct lm_promises *p, struct lm_str *out)
{
	lm_str_add(out, VERSION_LINE "\n");
	print_line("record", p->record, out);
	print_line("directory", p->directory, out);
	print_line("header", p->header, out);
	print_line("source", p->source, out);
	print_line("compile-db", p->compile_db, out);
	print_line("kbuild", p->kbuild, out);
	print_line("kernel-headers", p->kernel_headers, out);
	print_line("root", p->root, out);
	if (p->nr_flags) {
		lm_str_add(out, "flags");
		for (size_t i = 0; i < p->nr_flags; i++)
			print_word(p->flags[i], out);
		lm_str_add_char(out, '\n');
	}
	for (size_t i = 0; i < p->nr_configs; i++)
		print_line("config", p->configs[i], out);
	for (size_t i = 0; i < p->nr_kconfigs; i++)
		print_line("kconfig", p->kconfigs[i], out);
	print_number("line", p->line, out);
	print_number("base-align", p->base_align, out);
	for (size_t i = 0; i < p->nr; i++) {
		if (p->items[i].evidence)
			lm_str_addf(out, "\n%s", p->items[i].evidence);
		else if (!i || p->items[i].kind != p->items[i - 1].kind)
			lm_str_add_char(out, '\n');
		lm_promise_print(&p->items[i], out);
		lm_str_add_char(out, '\n');
	}
}
