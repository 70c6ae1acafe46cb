/* lexer.c - bytes of C -> lexemes. */
#include "optimizer/lexer.h"

#include "base/str.h"

#include <string.h>

struct cursor {
	const char *text;
	size_t at, end;
	uint32_t line;
	bool unclosed;		/* the comment just read has no end */
};

bool lm_lex_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool lm_lex_word_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

static char peek(const struct cursor *c, size_t ahead)
{
	return ahead < c->end - c->at ? c->text[c->at + ahead] : 0;
}

static void step(struct cursor *c)
{
	if (c->text[c->at++] == '\n')
		c->line++;
}

/* Bytes of a backslash-newline at the cursor: 2 or 3, 0 if there is none. */
static size_t splice_len(const struct cursor *c)
{
	if (peek(c, 0) != '\\')
		return 0;
	if (peek(c, 1) == '\n')
		return 2;
	return peek(c, 1) == '\r' && peek(c, 2) == '\n' ? 3 : 0;
}

static bool at_line_end(const struct cursor *c)
{
	return c->at >= c->end || peek(c, 0) == '\n' || (peek(c, 0) == '\r' && peek(c, 1) == '\n');
}

/* Over one byte, or over a spliced line end. */
static void step_spliced(struct cursor *c)
{
	for (size_t n = splice_len(c); n > 1; n--)
		step(c);
	step(c);
}

static void read_block_comment(struct cursor *c)
{
	c->at += 2;
	while (c->at < c->end && !(peek(c, 0) == '*' && peek(c, 1) == '/'))
		step(c);
	c->unclosed = c->at >= c->end;
	c->at = c->unclosed ? c->end : c->at + 2;
}

static void read_line_comment(struct cursor *c)
{
	while (!at_line_end(c))
		step_spliced(c);
}

static void read_literal(struct cursor *c)
{
	char quote = peek(c, 0);

	c->at++;
	while (!at_line_end(c)) {
		if (peek(c, 0) == quote) {
			c->at++;
			return;
		}
		if (peek(c, 0) == '\\' && !splice_len(c) && c->at + 1 < c->end && peek(c, 1) != '\n' &&
		    peek(c, 1) != '\r')
			c->at++;
		step_spliced(c);
	}
	c->unclosed = true;
}

static void read_number(struct cursor *c)
{
	while (c->at < c->end && (lm_lex_word_byte(peek(c, 0)) || peek(c, 0) == '.')) {
		char exponent = (char)(peek(c, 0) | 0x20);

		c->at++;
		if ((exponent == 'e' || exponent == 'p') && (peek(c, 0) == '+' || peek(c, 0) == '-'))
			c->at++;
	}
}

static bool at_comment(const struct cursor *c)
{
	return peek(c, 0) == '/' && (peek(c, 1) == '*' || peek(c, 1) == '/');
}

static void read_comment(struct cursor *c)
{
	if (peek(c, 1) == '*')
		read_block_comment(c);
	else
		read_line_comment(c);
}

/* "#error don't" is no open literal: only a comment can reach out of a directive. */
static void read_directive(struct cursor *c)
{
	bool open_comment = false;

	while (!at_line_end(c)) {
		if (at_comment(c)) {
			read_comment(c);
			open_comment |= c->unclosed;
		} else if (peek(c, 0) == '"' || peek(c, 0) == '\'') {
			read_literal(c);
		} else {
			step_spliced(c);
		}
	}
	c->unclosed = open_comment;
}

/* Reads one lexeme other than a directive. */
static enum lm_lex_kind read_lexeme(struct cursor *c)
{
	char first = peek(c, 0);

	if (at_comment(c)) {
		read_comment(c);
		return LM_LEX_COMMENT;
	}
	if (first == '"' || first == '\'') {
		read_literal(c);
		return LM_LEX_LITERAL;
	}
	if (is_digit(first) || (first == '.' && is_digit(peek(c, 1)))) {
		read_number(c);
		return LM_LEX_NUMBER;
	}
	if (lm_lex_word_byte(first)) {
		while (c->at < c->end && lm_lex_word_byte(peek(c, 0)))
			c->at++;
		return LM_LEX_WORD;
	}
	step(c);
	return LM_LEX_PUNCT;
}

/* Over white space; true if a line began on the way. */
static bool skip_space(struct cursor *c)
{
	uint32_t line = c->line;
	bool fresh = false;

	while (c->at < c->end && (lm_lex_space(peek(c, 0)) || splice_len(c))) {
		bool splice = splice_len(c) != 0;

		step_spliced(c);
		fresh |= c->line != line && !splice;
		line = c->line;
	}
	return fresh;
}

void lm_lex(const char *text, size_t begin, size_t end, uint32_t line, struct lm_arena *arena,
	    struct lm_lexemes *out)
{
	struct cursor c = { .text = text, .at = begin, .end = end, .line = line };
	bool fresh = begin == 0 || text[begin - 1] == '\n';
	size_t cap = 0;

	*out = (struct lm_lexemes){ .unclosed = LM_LEX_FINE };
	for (;;) {
		fresh |= skip_space(&c);
		if (c.at >= end)
			return;

		struct lm_lexeme x = { .begin = c.at, .line = c.line };

		if (fresh && peek(&c, 0) == '#') {
			read_directive(&c);
			x.kind = LM_LEX_DIRECTIVE;
		} else {
			x.kind = read_lexeme(&c);
		}
		/* A comment in front of it does not stop a '#' from starting a directive. */
		fresh = fresh && x.kind == LM_LEX_COMMENT;
		x.end = c.at;
		x.last_line = c.line;
		if (c.unclosed && out->unclosed == LM_LEX_FINE)
			out->unclosed = out->nr;
		*LM_ARENA_PUSH(arena, out->items, out->nr, cap) = x;
	}
}

uint32_t lm_lex_line(const char *text, size_t at)
{
	uint32_t line = 1;

	for (size_t i = 0; i < at; i++)
		line += text[i] == '\n';
	return line;
}

bool lm_lex_is(const char *text, const struct lm_lexeme *x, const char *word)
{
	size_t len = strlen(word);

	return x->end - x->begin == len && !memcmp(text + x->begin, word, len);
}

bool lm_lex_punct(const char *text, const struct lm_lexeme *x, char c)
{
	return x->kind == LM_LEX_PUNCT && text[x->begin] == c;
}

const char *lm_lex_fold(const char *text, size_t begin, size_t end, struct lm_arena *arena)
{
	struct cursor c = { .text = text, .at = begin, .end = end, .line = 1 };
	char *out = lm_arena_alloc(arena, end - begin + 1);
	size_t n = 0;

	while (c.at < end) {
		if (lm_lex_space(peek(&c, 0)) || splice_len(&c)) {
			skip_space(&c);
			if (n && c.at < end)
				out[n++] = ' ';
		} else {
			out[n++] = text[c.at++];
		}
	}
	return out;
}

static const char *const directive_words[] = {
	[LM_DIR_IF] = "if",	      [LM_DIR_IFDEF] = "ifdef",	    [LM_DIR_IFNDEF] = "ifndef",
	[LM_DIR_ELIF] = "elif",	      [LM_DIR_ELIFDEF] = "elifdef", [LM_DIR_ELIFNDEF] = "elifndef",
	[LM_DIR_ELSE] = "else",	      [LM_DIR_ENDIF] = "endif",	    [LM_DIR_DEFINE] = "define",
	[LM_DIR_UNDEF] = "undef",     [LM_DIR_NULL] = "",
};

static enum lm_directive_kind directive_kind(const char *word)
{
	for (int k = LM_DIR_IF; k < LM_DIR_OTHER; k++)
		if (!strcmp(word, directive_words[k]))
			return (enum lm_directive_kind)k;
	return LM_DIR_OTHER;
}

/* Adds lexeme i and what must follow it, keeping blanks where the source has any. */
static size_t add_condition_part(const char *text, const struct lm_lexemes *all, size_t i, struct lm_str *s)
{
	const struct lm_lexeme *x = &all->items[i];

	lm_str_add_bytes(s, text + x->begin, x->end - x->begin);
	if (!lm_lex_is(text, x, "defined") || i + 1 >= all->nr || all->items[i + 1].kind != LM_LEX_WORD)
		return i + 1;

	const struct lm_lexeme *name = &all->items[i + 1];

	lm_str_add_char(s, '(');
	lm_str_add_bytes(s, text + name->begin, name->end - name->begin);
	lm_str_add_char(s, ')');
	return i + 2;
}

void lm_lex_directive(const char *text, const struct lm_lexeme *x, struct lm_arena *arena, struct lm_directive *out)
{
	struct lm_lexemes all;
	struct lm_str rest = { 0 };
	size_t i = 0;

	/* Behind the '#' nothing is a directive again: its start is no start of a line. */
	lm_lex(text, x->begin + 1, x->end, 1, arena, &all);
	while (i < all.nr && all.items[i].kind == LM_LEX_COMMENT)
		i++;
	out->word = "";
	if (i < all.nr) {
		out->word = lm_arena_strndup(arena, text + all.items[i].begin,
					     all.items[i].end - all.items[i].begin);
		i++;
	}
	out->kind = directive_kind(out->word);
	for (size_t last = 0; i < all.nr;) {
		if (all.items[i].kind == LM_LEX_COMMENT) {
			i++;
			continue;
		}
		if (rest.len && all.items[i].begin > last)
			lm_str_add_char(&rest, ' ');
		i = add_condition_part(text, &all, i, &rest);
		last = all.items[i - 1].end;
	}
	out->rest = lm_arena_strndup(arena, lm_str_text(&rest), rest.len);
	lm_str_release(&rest);
}
