/*
 * Random bodies, random orders: for every combination of the guards' macros
 * the members come in the order that was asked for, and no token is lost.
 *
 * The judge is a small preprocessor of its own; test_rewrite.c lets the real
 * one judge, too.
 */
#include "base/str.h"
#include "optimizer/body.h"
#include "output/rewrite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NR_MACROS = 4, CASES = 500, MAX_NAMES = 256 };

/* ---- random numbers, the same in every run ---- */

static uint32_t next_random(uint64_t *state, uint32_t limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)((*state >> 20) % limit);
}

/* ---- random bodies ---- */

struct maker {
	uint64_t seed;
	struct lm_str s;
	const char *newline;
	unsigned name;
	bool airy;		/* blank lines between paragraphs */
};

static uint32_t roll(struct maker *m, uint32_t limit)
{
	return next_random(&m->seed, limit);
}

static void line(struct maker *m, const char *text)
{
	lm_str_add(&m->s, text);
	lm_str_add(&m->s, m->newline);
}

static void add_condition(struct maker *m, bool chain)
{
	unsigned a = roll(m, NR_MACROS), b = roll(m, NR_MACROS);
	const char *word = chain ? "elif" : "if";

	switch (roll(m, 5)) {
	case 0:
		lm_str_addf(&m->s, "#%s defined(X%u) && !defined(X%u)", word, a, b);
		break;
	case 1:
		lm_str_addf(&m->s, "#%s defined X%u || \\%s\tdefined(X%u)", word, a, m->newline, b);
		break;
	case 2:
		lm_str_addf(&m->s, "# %s !defined(X%u) /* not X%u */", word, a, a);
		break;
	case 3:
		lm_str_addf(&m->s, chain ? "#elif defined(X%u)" : "#ifndef X%u", a);
		break;
	default:
		lm_str_addf(&m->s, chain ? "#elif defined(X%u)" : "#ifdef X%u", a);
		break;
	}
	line(m, "");
}

static void add_union(struct maker *m)
{
	line(m, "\tunion {");
	lm_str_addf(&m->s, "\t\tint m%u;%s", m->name++, m->newline);
	add_condition(m, false);
	lm_str_addf(&m->s, "\t\tlong m%u;%s#else%s", m->name++, m->newline, m->newline);
	lm_str_addf(&m->s, "\t\tchar m%u;%s#endif%s\t};", m->name++, m->newline, m->newline);
}

static void add_declaration(struct maker *m)
{
	unsigned n = m->name++;

	switch (roll(m, 10)) {
	case 0:
		lm_str_addf(&m->s, "\tunsigned m%u : 3;", n);
		break;
	case 1:
		lm_str_addf(&m->s, "\tint m%u; long *m%u;", n, m->name++);
		break;
	case 2:
		lm_str_addf(&m->s, "\tint m%u, *m%u;", n, m->name++);
		break;
	case 3:
		lm_str_addf(&m->s, "\tvoid (*m%u)(int a, char *b[2]);", n);
		break;
	case 4:
		lm_str_addf(&m->s, "\tDECLARE_BITMAP(m%u, 3);", n);
		break;
	case 5:
		lm_str_addf(&m->s, "\tRES(m%u)", n);
		break;
	case 6:
		m->name--;
		add_union(m);
		break;
	default:
		lm_str_addf(&m->s, "\tstruct s m%u[2] __attribute__((aligned(8)));", n);
		break;
	}
}

static void add_unit(struct maker *m)
{
	unsigned id = m->name;

	if (roll(m, 3) == 0)
		lm_str_addf(&m->s, "\t/* above c%u; */%s", id, m->newline);
	else if (roll(m, 6) == 0)
		lm_str_addf(&m->s, "\t/*%s\t * c%u, { \"of two\"%s\t */%s", m->newline, id, m->newline, m->newline);
	add_declaration(m);
	if (roll(m, 4) == 0)
		lm_str_addf(&m->s, "\t/* behind c%u */", id);
	else if (roll(m, 8) == 0)
		lm_str_addf(&m->s, "\t// behind c%u%s\t\t\t\t\t\t\t\t\t\t// and on", id, m->newline);
	line(m, "");
}

static void add_blank(struct maker *m)
{
	if (m->airy)
		line(m, "");
}

static void add_items(struct maker *m, unsigned nr, unsigned depth);

static void add_guard(struct maker *m, unsigned depth)
{
	if (roll(m, 8) == 0)
		line(m, "\t/* on a guard */");
	add_condition(m, false);
	add_items(m, 1 + roll(m, 3), depth + 1);
	while (roll(m, 3) == 0) {
		add_condition(m, true);
		add_items(m, 1 + roll(m, 2), depth + 1);
	}
	if (roll(m, 3) == 0) {
		line(m, "#else");
		add_items(m, 1 + roll(m, 2), depth + 1);
	}
	line(m, roll(m, 2) ? "#endif" : "#endif /* of it */");
}

static void add_items(struct maker *m, unsigned nr, unsigned depth)
{
	for (unsigned i = 0; i < nr; i++) {
		if (i && roll(m, 3) == 0)
			add_blank(m);
		if (depth < 3 && roll(m, 4) == 0) {
			add_guard(m, depth);
		} else {
			if (!depth && m->airy && i && roll(m, 8) == 0)
				lm_str_addf(&m->s, "%s\t/* section %u */%s%s", m->s.text[m->s.len - 2] == ';' ?
					    m->newline : "", m->name, m->newline, m->newline);
			add_unit(m);
		}
	}
}

static void make_body(struct maker *m)
{
	m->newline = roll(m, 5) ? "\n" : "\r\n";
	m->airy = roll(m, 3) != 0;
	line(m, roll(m, 4) ? "struct s {" : "struct s { /* of all */");
	add_items(m, 3 + roll(m, 8), 0);
	line(m, "};");
}

/* ---- a small preprocessor ---- */

struct name {
	unsigned id;
	size_t at;
};

struct names {
	struct name items[MAX_NAMES];
	size_t nr;
};

static void skip_blanks(const char **p)
{
	while (**p == ' ' || **p == '\t' || **p == '\\' || **p == '\r' || **p == '\n')
		++*p;
}

static bool parse_or(const char **p, unsigned mask);

static bool parse_not(const char **p, unsigned mask)
{
	skip_blanks(p);
	if (**p == '!') {
		++*p;
		return !parse_not(p, mask);
	}
	if (**p == '(') {
		++*p;

		bool v = parse_or(p, mask);

		skip_blanks(p);
		assert_int_equal(**p, ')');
		++*p;
		return v;
	}
	assert_memory_equal(*p, "defined", 7);
	*p += 7;

	bool paren = **p == '(';

	*p += paren;
	skip_blanks(p);
	assert_int_equal(**p, 'X');

	bool v = mask >> ((*p)[1] - '0') & 1;

	*p += 2;
	if (paren)
		assert_int_equal(*(*p)++, ')');
	return v;
}

static bool parse_and(const char **p, unsigned mask)
{
	bool v = parse_not(p, mask);

	for (skip_blanks(p); !strncmp(*p, "&&", 2); skip_blanks(p)) {
		*p += 2;
		v &= parse_not(p, mask);
	}
	return v;
}

static bool parse_or(const char **p, unsigned mask)
{
	bool v = parse_and(p, mask);

	for (skip_blanks(p); !strncmp(*p, "||", 2); skip_blanks(p)) {
		*p += 2;
		v |= parse_and(p, mask);
	}
	return v;
}

struct level {
	bool outer, taken;
};

/* The condition of an #if, #ifdef, #ifndef, #elif or #else; p is behind the '#'. */
static bool condition(const char *p, unsigned mask)
{
	if (!strncmp(p, "ifdef ", 6))
		return mask >> (p[7] - '0') & 1;
	if (!strncmp(p, "ifndef ", 7))
		return !(mask >> (p[8] - '0') & 1);
	if (!strncmp(p, "else", 4))
		return true;
	p += *p == 'i' ? 2 : 4;
	return parse_or(&p, mask);
}

/* Runs the directive at p; true if the text behind it is compiled. */
static bool directive(const char *p, unsigned mask, struct level *levels, unsigned *depth, bool on)
{
	p++;
	skip_blanks(&p);
	if (!strncmp(p, "if", 2)) {
		assert_true(*depth < 16);
		levels[(*depth)++] = (struct level){ .outer = on };
	}
	assert_true(*depth > 0);

	struct level *l = &levels[*depth - 1];

	if (!strncmp(p, "endif", 5)) {
		--*depth;
		return l->outer;
	}

	bool value = condition(p, mask), now = l->outer && !l->taken && value;

	l->taken |= value;
	return now;
}

/* The member names that the preprocessor leaves, in order. */
static void preprocess(const char *text, size_t begin, size_t end, unsigned mask, struct names *out)
{
	struct level levels[16];
	unsigned depth = 0;
	bool on = true, fresh = true;

	out->nr = 0;
	for (size_t i = begin; i < end;) {
		if (!strncmp(text + i, "/*", 2)) {
			i = (size_t)(strstr(text + i, "*/") - text) + 2;
		} else if (!strncmp(text + i, "//", 2)) {
			i += strcspn(text + i, "\n");
		} else if (text[i] == '#' && fresh) {
			on = directive(text + i, mask, levels, &depth, on);
			while (text[i] != '\n' || text[i - 1] == '\\' || (text[i - 1] == '\r' && text[i - 2] == '\\'))
				i += !strncmp(text + i, "/*", 2) ? (size_t)(strstr(text + i, "*/") - text) - i : 1;
		} else if (text[i] == 'm' && text[i + 1] >= '0' && text[i + 1] <= '9') {
			if (on) {
				assert_true(out->nr < MAX_NAMES);
				out->items[out->nr++] = (struct name){ (unsigned)atoi(text + i + 1), i };
			}
			fresh = false;
			i++;
		} else {
			fresh = text[i] == '\n' || (fresh && (text[i] == ' ' || text[i] == '\t'));
			i++;
		}
	}
	assert_int_equal(depth, 0);
}

/* ---- one case ---- */

struct trial {
	struct lm_arena arena;
	struct lm_body body;
	struct lm_order order;
	struct lm_rewrite made;
};

/* cmocka's own message has room for a line only. */
static void fail_case(const struct trial *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void fail_case(const struct trial *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "---- before\n%s---- after\n%s---- ", t->body.text, t->made.text);
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	fail();
}

static size_t closing_brace(const char *text, size_t len)
{
	while (text[len - 1] != '}')
		len--;
	return len - 1;
}

static void read_body(const char *text, size_t len, struct lm_arena *arena, struct lm_body *out)
{
	struct lm_err *err = lm_body_read("t.h", text, len, (size_t)(strchr(text, '{') - text),
					  closing_brace(text, len), NULL, 0, arena, out);

	if (err)
		fail_msg("%s\n%s", err->msg, text);
}

static void check_tiles(const struct lm_body *b)
{
	size_t at = b->begin;
	uint32_t units = 0;

	for (uint32_t p = 0; p < b->nr_pieces; p++) {
		assert_int_equal(b->pieces[p].begin, at);
		assert_true(b->pieces[p].end > at);
		at = b->pieces[p].end;
		if (b->pieces[p].kind == LM_PIECE_UNIT)
			assert_int_equal(b->pieces[p].unit, units++);
	}
	assert_int_equal(at, b->end);
	assert_int_equal(units, b->nr_units);
}

static void check_order(const struct trial *t, unsigned mask)
{
	struct names before, after;
	size_t n = 0;

	preprocess(t->body.text, t->body.begin, t->body.end, mask, &before);
	preprocess(t->made.text, t->body.begin, closing_brace(t->made.text, t->made.len), mask, &after);
	if (before.nr != after.nr)
		fail_case(t, "%zu members became %zu (%x)", before.nr, after.nr, mask);
	for (uint32_t i = 0; i < t->body.nr_units; i++)
		for (size_t k = 0; k < before.nr; k++) {
			if (lm_body_unit_at(&t->body, before.items[k].at) != t->order.units[i])
				continue;
			if (after.items[n].id != before.items[k].id)
				fail_case(t, "m%u instead of m%u (%x)", after.items[n].id, before.items[k].id, mask);
			n++;
		}
	assert_int_equal(n, before.nr);
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* all == some + more, as multisets; `all` is sorted. */
static void check_sum(struct trial *t, const char **all, size_t nr_all, const char **some, size_t nr_some,
		      const char **more, size_t nr_more)
{
	const char **sum = LM_ARENA_ARRAY(&t->arena, const char *, nr_some + nr_more + 1);

	assert_int_equal(nr_all, nr_some + nr_more);
	for (size_t i = 0; i < nr_all; i++)
		sum[i] = i < nr_some ? some[i] : more[i - nr_some];
	qsort(sum, nr_all, sizeof(*sum), by_bytes);
	for (size_t i = 0; i < nr_all; i++)
		if (strcmp(sum[i], all[i]))
			fail_case(t, "'%s' is not '%s'", sum[i], all[i]);
}

static void check_tokens(struct trial *t)
{
	const struct lm_rewrite *m = &t->made;
	struct lm_tokens old, new;

	lm_body_tokens(t->body.text, t->body.begin, t->body.end, &t->arena, &old);
	lm_body_tokens(m->text, t->body.begin, closing_brace(m->text, m->len), &t->arena, &new);
	check_sum(t, new.items, new.nr, old.items, old.nr, m->added_tokens, m->nr_added_tokens);

	const char **with = LM_ARENA_ARRAY(&t->arena, const char *, new.nr_directives + m->nr_removed_directives + 1);
	size_t n = 0;

	for (size_t i = 0; i < new.nr_directives; i++)
		with[n++] = new.directives[i];
	for (size_t i = 0; i < m->nr_removed_directives; i++)
		with[n++] = m->removed_directives[i];
	qsort(with, n, sizeof(*with), by_bytes);
	check_sum(t, with, n, old.directives, old.nr_directives, m->added_directives, m->nr_added_directives);
}

/* No doubled blank lines, none at the braces, one kind of newline, lines that end. */
static void check_looks(const struct trial *t, const char *newline)
{
	char doubled[8], opened[8], closed[8];

	snprintf(doubled, sizeof(doubled), "%s%s%s", newline, newline, newline);
	snprintf(opened, sizeof(opened), "{%s%s", newline, newline);
	snprintf(closed, sizeof(closed), "%s%s};", newline, newline);
	if (strstr(t->made.text, doubled) || strstr(t->made.text, opened) || strstr(t->made.text, closed))
		fail_case(t, "blank lines");
	for (const char *p = t->made.text; (p = strchr(p, '\n')); p++)
		assert_int_equal(p[-1] == '\r', newline[0] == '\r');
}

static void copy_trimmed(struct lm_str *s, const struct lm_body *b, uint32_t unit)
{
	size_t begin = b->units[unit].begin, end = b->units[unit].end;

	while (strchr(" \t\r\n", b->text[begin]))
		begin++;
	while (strchr(" \t\r\n", b->text[end - 1]))
		end--;
	lm_str_clear(s);
	lm_str_add_bytes(s, b->text + begin, end - begin);
}

/* Read again, the units are the same bytes in the new order (unless bit-fields met and became one). */
static bool check_again(struct trial *t)
{
	struct lm_body again;
	struct lm_str a = { 0 }, b = { 0 };

	read_body(t->made.text, t->made.len, &t->arena, &again);
	check_tiles(&again);
	if (again.nr_units != t->body.nr_units)
		return false;
	for (uint32_t i = 0; i < again.nr_units; i++) {
		copy_trimmed(&a, &t->body, t->order.units[i]);
		copy_trimmed(&b, &again, i);

		/* The comment of a guard that is gone stands above its first unit. */
		const char *tail = b.len > a.len && !strncmp(b.text, "/* on a guard */", 16) ? b.text + b.len - a.len :
											     b.text;

		if (strcmp(a.text, tail))
			fail_case(t, "'%s' became '%s'", a.text, b.text);
	}
	lm_str_release(&a);
	lm_str_release(&b);
	return true;
}

static void shuffle(struct trial *t, uint64_t *seed)
{
	uint32_t nr = t->body.nr_units, swaps = next_random(seed, 3) ? 1 + next_random(seed, 2) : nr;

	/* Mostly one or two moves, as plans have; at times all is turned around. */
	for (uint32_t i = 0; i < swaps && nr; i++) {
		uint32_t from = next_random(seed, nr), to = next_random(seed, nr), u = t->order.units[from];

		memmove(&t->order.units[from], &t->order.units[from + 1], (nr - from - 1) * sizeof(u));
		memmove(&t->order.units[to + 1], &t->order.units[to], (nr - to - 1) * sizeof(u));
		t->order.units[to] = u;
	}
	if (next_random(seed, 4) == 0 && nr)
		t->order.barrier[next_random(seed, nr)] = 1;
}

static bool run_case(uint64_t seed)
{
	struct maker m = { .seed = seed * 0x9e3779b97f4a7c15u + 1 };
	struct trial t = { 0 };
	struct lm_rewrite_opts opts = { .barrier = "CACHELINE_PADDING" };

	for (int i = 0; i < 8; i++)
		roll(&m, 2);
	make_body(&m);
	read_body(m.s.text, m.s.len, &t.arena, &t.body);
	assert_null(t.body.refusal);
	check_tiles(&t.body);

	struct lm_subject subject = { .body = &t.body };

	t.order = lm_order_identity(&subject, &t.arena);
	assert_null(lm_rewrite(&t.body, &t.order, &opts, &t.arena, &t.made));
	assert_int_equal(t.made.len, m.s.len);
	assert_memory_equal(t.made.text, m.s.text, m.s.len);
	shuffle(&t, &m.seed);
	assert_null(lm_rewrite(&t.body, &t.order, &opts, &t.arena, &t.made));
	for (unsigned mask = 0; mask < 1u << NR_MACROS; mask++)
		check_order(&t, mask);
	check_tokens(&t);
	check_looks(&t, m.newline);

	bool same = t.made.nr_added_tokens || check_again(&t);

	lm_arena_release(&t.arena);
	lm_str_release(&m.s);
	return same;
}

static void random_bodies_keep_their_order_and_tokens(void **state)
{
	const char *more = getenv("LM_REWRITE_CASES");
	unsigned cases = more ? (unsigned)atoi(more) : CASES, same = 0;

	(void)state;
	for (unsigned i = 0; i < cases; i++)
		same += run_case(i);
	/* The comparison of units byte by byte must not be the exception. */
	assert_true(same > cases / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_bodies_keep_their_order_and_tokens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
