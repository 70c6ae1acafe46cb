/*
 * judge_layout.c - random records: does layout.c place them as gcc and clang do?
 *
 *   gen_records.py ... | judge_layout [--orders N] [--seed N]
 *
 * Each record is parsed through source.c and cut into units; layout.c predicts
 * it in the declared order and in N random orders of its units.  The record's
 * text in each order is then compiled by both compilers, hundreds in a unit.
 * Size, alignment and offsetof come back as the sizes of arrays, bit-fields by
 * debuginfo.c, which is thereby judged too: the two must agree.
 *
 * Exit 0: no difference.  A layout on which the compilers disagree has no right
 * answer: it is counted, and more than 2 in 100 are a failure of the generator.
 */
#include "base/file.h"
#include "base/parallel.h"
#include "optimizer/layout.h"
#include "profiles/debuginfo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GCC, CLANG, NR_COMPILERS, BATCH = 200, MAX_SHOWN = 20 };

/* One record in one order. */
struct layout_case {
	const struct subject *of;
	uint32_t order;			/* 0: as declared */
	char *text;			/* C, self-contained but for the prelude */
	uint32_t *fields;		/* named ones, in the new order */
	uint32_t nr_fields;
	struct lm_layout predicted;
};

/* A record with all its orders. */
struct subject {
	struct lm_arena arena;
	const char *number, *text;
	struct lm_source source;
	struct lm_body body;
	struct lm_subject subject;
	struct layout_case *cases;
	struct lm_err *err;
};

/* What a compiler says of a case. */
struct answer {
	uint64_t size, align;
	uint64_t *bit_offset;		/* [nr_fields] */
	const char *complaint;		/* instead of an answer, or where two ways of asking differ */
};

struct batch {
	struct lm_arena arena;
	const struct layout_case *const *cases;
	size_t nr, index;
	int compiler;
	struct answer *answers;		/* [nr] */
	const char *dir;
	struct lm_err *err;
};

struct judge {
	struct lm_arena arena;
	struct lm_configs configs;
	struct subject *subjects;
	size_t nr_subjects;
	uint32_t orders;
	uint64_t seed;
	const struct layout_case **cases;
	size_t nr_cases;
	char *dir;
};

static const char *const compilers[NR_COMPILERS][8] = {
	{ "gcc" },
	{ "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14", "clang" },
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "judge_layout: %s\n", what);
	exit(2);
}

static void must(struct lm_err *err)
{
	if (err)
		die(err->msg);
}

static const char *compiler(int kind)
{
	for (size_t i = 0; i < 8 && compilers[kind][i]; i++)
		if (lm_in_path(compilers[kind][i]))
			return compilers[kind][i];
	die("gcc and clang are both needed");
}

/* splitmix64: the next random number of *state. */
static uint64_t roll(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* ---- predicting ---- */

static bool is_last(const struct lm_view *view, uint32_t unit)
{
	return view->nr_fields[unit] && view->rec->fields[view->first_field[unit]].flexible;
}

/* A random order; a flexible array stays last. */
static void shuffle(const struct subject *s, uint32_t *units, uint64_t *state)
{
	uint32_t nr = s->body.nr_units;

	if (nr && is_last(&s->subject.views[0], nr - 1))
		nr--;
	for (uint32_t i = nr; i > 1; i--) {
		uint32_t k = (uint32_t)(roll(state) % i), swap = units[i - 1];

		units[i - 1] = units[k];
		units[k] = swap;
	}
}

static const char *tag_word(const struct lm_record *rec)
{
	return rec->is_typedef_name ? "" : "struct ";
}

/* The record's text in an order, under its own name, and a record of what the compiler says about it. */
static char *case_text(struct subject *s, struct layout_case *c, const uint32_t *units)
{
	const struct lm_record *rec = &s->source.record;
	const char *text = s->body.text, *tag = tag_word(rec);
	struct lm_str out = { 0 };
	char *copy;

	lm_str_addf(&out, "#define judged r%s_%u\n", s->number, c->order);
	lm_str_add_bytes(&out, text, s->body.begin);
	lm_str_add(&out, "\n");
	for (uint32_t i = 0; i < s->body.nr_units; i++) {
		const struct lm_unit *u = &s->body.units[units[i]];

		lm_str_add_bytes(&out, text + u->begin, u->end - u->begin);
		lm_str_add(&out, "\n");
	}
	lm_str_add_bytes(&out, text + s->body.end, s->body.len - s->body.end);
	lm_str_addf(&out, "\n%sjudged *v%s_%u;\nstruct f%s_%u {\n\tchar size[sizeof(%sjudged)];\n"
		    "\tchar align[_Alignof(%sjudged)];\n", tag, s->number, c->order, s->number, c->order, tag, tag);
	for (uint32_t i = 0; i < c->nr_fields; i++) {
		const struct lm_field *f = &rec->fields[c->fields[i]];

		if (*f->name && f->bits == LM_NOT_BITS)
			lm_str_addf(&out, "\tchar %s[__builtin_offsetof(%sjudged, %s) + 1];\n", f->name, tag, f->name);
	}
	lm_str_addf(&out, "} *w%s_%u;\n#undef judged\n", s->number, c->order);
	copy = lm_arena_strdup(&s->arena, lm_str_text(&out));
	lm_str_release(&out);
	return copy;
}

static void predict(struct subject *s, struct layout_case *c, uint64_t *state)
{
	const struct lm_view *view = &s->subject.views[0];
	struct lm_order order = lm_order_identity(&s->subject, &s->arena);

	if (c->order)
		shuffle(s, order.units, state);
	c->fields = LM_ARENA_ARRAY(&s->arena, uint32_t, view->rec->nr_fields + 1u);
	c->predicted.bit_offset = LM_ARENA_ARRAY(&s->arena, uint64_t, view->rec->nr_fields + 1u);
	lm_layout_units(view, s->body.nr_units, &order, 64, NULL, &c->predicted);
	for (uint32_t i = 0; i < s->body.nr_units; i++) {
		uint32_t unit = order.units[i];

		for (uint32_t k = 0; k < view->nr_fields[unit]; k++) {
			uint32_t f = view->first_field[unit] + k;

			/* Debug info is silent on unnamed bit-fields. */
			if (*view->rec->fields[f].name || view->rec->fields[f].bits == LM_NOT_BITS)
				c->fields[c->nr_fields++] = f;
		}
	}
	c->text = case_text(s, c, order.units);
}

/* The declared order needs no compiler: libclang has said where everything is. */
static struct lm_err *check_declared(const struct subject *s)
{
	const struct lm_record *rec = &s->source.record;
	const struct lm_layout *lay = &s->cases[0].predicted;

	for (uint32_t f = 0; f < rec->nr_fields; f++)
		if (lay->bit_offset[f] != rec->fields[f].bit_offset)
			return lm_err_new(LM_ERR_BUG, "field %u (%s) predicted at bit %llu, libclang says %llu", f,
					  rec->fields[f].name, (unsigned long long)lay->bit_offset[f],
					  (unsigned long long)rec->fields[f].bit_offset);
	if (lay->size != rec->size || lay->align != rec->align)
		return lm_err_new(LM_ERR_BUG, "size %llu align %u predicted, libclang says %llu and %u",
				  (unsigned long long)lay->size, lay->align, (unsigned long long)rec->size, rec->align);
	return NULL;
}

static void run_subject(void *arg, size_t i)
{
	struct judge *j = arg;
	struct subject *s = &j->subjects[i];
	uint64_t state = j->seed * 0x100000001b3u + i;
	const struct lm_source_request req = {
		.configs = &j->configs, .record = "judged", .text = s->text, .len = strlen(s->text),
	};

	s->err = lm_source_parse(&req, 0, &s->source);
	if (!s->err)
		s->err = lm_subject_make(j->configs.header, s->text, req.len, &s->source, 1, &s->arena, &s->body,
					 &s->subject);
	if (s->err)
		return;
	s->cases = LM_ARENA_ARRAY(&s->arena, struct layout_case, j->orders + 1u);
	for (uint32_t k = 0; k <= j->orders; k++) {
		s->cases[k].of = s;
		s->cases[k].order = k;
		predict(s, &s->cases[k], &state);
	}
	s->err = check_declared(s);
}

/* ---- asking ---- */

static const char *read_fields(const struct layout_case *c, const struct lm_dbg_record *rec, struct answer *a)
{
	const struct lm_record *of = &c->of->source.record;

	if (rec->nr_members != c->nr_fields)
		return "debug info has another number of members";
	for (uint32_t i = 0; i < c->nr_fields; i++) {
		const struct lm_field *f = &of->fields[c->fields[i]];
		const struct lm_dbg_member *m = &rec->members[i];

		if (strcmp(m->name, f->name) || strcmp(m->key, f->key) || m->size != f->size || m->bits != f->bits)
			return "debug info describes a member otherwise than libclang";
		a->bit_offset[i] = m->bit_offset;
	}
	return NULL;
}

/* Debug info against sizeof and offsetof. */
static const char *cross_check(const struct layout_case *c, const struct lm_dbg_record *rec,
			       const struct lm_dbg_record *facts, struct answer *a)
{
	const struct lm_record *of = &c->of->source.record;
	uint32_t at = 2;

	a->size = facts->members[0].size;
	a->align = facts->members[1].size;
	if (a->size != rec->size)
		return "debug info and sizeof differ";
	for (uint32_t i = 0; i < c->nr_fields; i++) {
		const struct lm_field *f = &of->fields[c->fields[i]];

		if (!*f->name || f->bits != LM_NOT_BITS)
			continue;
		if (at >= facts->nr_members || 8 * (facts->members[at++].size - 1) != a->bit_offset[i])
			return "debug info and offsetof differ";
	}
	return NULL;
}

static struct lm_err *read_answer(struct batch *b, struct lm_debuginfo *bin, size_t i)
{
	const struct layout_case *c = b->cases[i];
	struct answer *a = &b->answers[i];
	const struct lm_dbg_record *rec = NULL, *facts = NULL;
	struct lm_err *err;

	a->bit_offset = LM_ARENA_ARRAY(&b->arena, uint64_t, c->nr_fields + 1u);
	err = lm_debuginfo_record(bin, lm_arena_printf(&b->arena, "r%s_%u", c->of->number, c->order), &rec);
	if (!err)
		err = lm_debuginfo_record(bin, lm_arena_printf(&b->arena, "f%s_%u", c->of->number, c->order), &facts);
	if (err)
		return err;
	a->complaint = !rec || !facts || facts->nr_members < 2 ? "debug info does not have it" : read_fields(c, rec, a);
	if (!a->complaint)
		a->complaint = cross_check(c, rec, facts, a);
	return NULL;
}

static struct lm_err *compile(struct batch *b, const char *object)
{
	char *source = lm_arena_printf(&b->arena, "%s.c", object);
	char *cc = lm_arena_strdup(&b->arena, compiler(b->compiler)), *out = lm_arena_strdup(&b->arena, object);
	char std[] = "-std=gnu17", w[] = "-w", g[] = "-g", f[] = "-c", o[] = "-o";
	char full[] = "-fno-eliminate-unused-debug-types";
	char *argv[] = { cc, std, w, g, full, f, source, o, out, NULL };
	struct lm_str text = { 0 }, errors = { 0 };
	struct lm_err *err;
	int status;

	for (size_t i = 0; i < b->nr; i++)
		lm_str_add(&text, b->cases[i]->text);
	err = lm_file_write(source, lm_str_text(&text), text.len);
	if (!err) {
		lm_run(argv, NULL, 300, 2000, &errors, &status);
		if (status)
			err = lm_err_new(LM_ERR_INPUT, "%s says: %s", cc, lm_str_text(&errors));
	}
	lm_str_release(&text);
	lm_str_release(&errors);
	return err;
}

static void run_batch(void *arg, size_t i)
{
	struct batch *b = (struct batch *)arg + i;
	char *object = lm_arena_printf(&b->arena, "%s/%zu-%d.o", b->dir, b->index, b->compiler);
	struct lm_debuginfo *bin = NULL;

	b->answers = LM_ARENA_ARRAY(&b->arena, struct answer, b->nr + 1);
	b->err = compile(b, object);
	if (!b->err)
		b->err = lm_debuginfo_open(object, &bin);
	for (size_t k = 0; k < b->nr && !b->err; k++)
		b->err = read_answer(b, bin, k);
	lm_debuginfo_close(bin);
}

/* ---- judging ---- */

static bool same_answer(const struct layout_case *c, const struct answer *a, const struct answer *b)
{
	return a->size == b->size && a->align == b->align &&
	       !memcmp(a->bit_offset, b->bit_offset, c->nr_fields * sizeof(*a->bit_offset));
}

static bool as_predicted(const struct layout_case *c, const struct answer *a)
{
	for (uint32_t i = 0; i < c->nr_fields; i++)
		if (a->bit_offset[i] != c->predicted.bit_offset[c->fields[i]])
			return false;
	return a->size == c->predicted.size && a->align == c->predicted.align;
}

static void print_case(const struct layout_case *c, const char *what, const struct answer *gcc,
		       const struct answer *clang)
{
	const struct lm_record *rec = &c->of->source.record;

	printf("record %s, order %u: %s\n%s", c->of->number, c->order, what, c->text);
	printf("    size %llu %llu %llu, align %u %llu %llu (predicted, gcc, clang)\n",
	       (unsigned long long)c->predicted.size, (unsigned long long)gcc->size, (unsigned long long)clang->size,
	       c->predicted.align, (unsigned long long)gcc->align, (unsigned long long)clang->align);
	for (uint32_t i = 0; i < c->nr_fields; i++)
		printf("    %s at bit %llu %llu %llu\n", rec->fields[c->fields[i]].key,
		       (unsigned long long)c->predicted.bit_offset[c->fields[i]],
		       (unsigned long long)gcc->bit_offset[i], (unsigned long long)clang->bit_offset[i]);
}

struct tally {
	size_t layouts, wrong, disputed;
};

static void judge_case(const struct layout_case *c, const struct answer *gcc, const struct answer *clang,
		       struct tally *t)
{
	const char *what = gcc->complaint ? gcc->complaint : clang->complaint;

	t->layouts++;
	if (!what && !same_answer(c, gcc, clang)) {
		t->disputed++;
		if (t->disputed <= 3)
			print_case(c, "gcc and clang disagree", gcc, clang);
		return;
	}
	if (!what && !as_predicted(c, gcc))
		what = "predicted otherwise than compiled";
	if (!what)
		return;
	if (t->wrong++ < MAX_SHOWN)
		print_case(c, what, gcc, clang);
}

/* Compiles all cases with both compilers, batch by batch, and compares. */
static void judge_cases(struct judge *j, struct tally *t)
{
	size_t nr = (j->nr_cases + BATCH - 1) / BATCH;
	struct batch *batches = calloc(nr * NR_COMPILERS + 1, sizeof(*batches));

	if (!batches)
		lm_oom();
	for (size_t i = 0; i < nr * NR_COMPILERS; i++) {
		struct batch *b = &batches[i];

		b->index = i / NR_COMPILERS;
		b->compiler = (int)(i % NR_COMPILERS);
		b->cases = j->cases + b->index * BATCH;
		b->nr = b->index + 1 < nr ? BATCH : j->nr_cases - b->index * BATCH;
		b->dir = j->dir;
	}
	lm_parallel(nr * NR_COMPILERS, run_batch, batches);
	for (size_t i = 0; i < nr; i++) {
		struct batch *gcc = &batches[NR_COMPILERS * i + GCC], *clang = &batches[NR_COMPILERS * i + CLANG];

		if (gcc->err || clang->err) {
			lm_remove_tree(j->dir);
			die(gcc->err ? gcc->err->msg : clang->err->msg);
		}
		for (size_t k = 0; k < gcc->nr; k++)
			judge_case(gcc->cases[k], &gcc->answers[k], &clang->answers[k], t);
	}
	for (size_t i = 0; i < nr * NR_COMPILERS; i++)
		lm_arena_release(&batches[i].arena);
	free(batches);
}

/* ---- in and out ---- */

/* Cuts the input at its "//@ NUMBER" lines. */
static void read_records(struct judge *j)
{
	struct lm_str in = { 0 };
	char buf[1 << 16], *at, *next;
	size_t n, cap = 0;

	while ((n = fread(buf, 1, sizeof(buf), stdin)) > 0)
		lm_str_add_bytes(&in, buf, n);
	for (at = in.text ? strstr(in.text, "//@ ") : NULL; at && strncmp(at, "//@ end", 7); at = next) {
		char *line = strchr(at, '\n');
		struct subject *s = LM_ARENA_PUSH(&j->arena, j->subjects, j->nr_subjects, cap);

		next = line ? strstr(line, "\n//@ ") : NULL;
		if (!next)
			die("the input does not end in \"//@ end\"");
		*s = (struct subject){ .number = lm_arena_strndup(&j->arena, at + 4, (size_t)(line - at - 4)),
				       .text = lm_arena_strndup(&j->arena, line + 1, (size_t)(next - line)) };
		next++;
	}
	lm_str_release(&in);
	if (!j->nr_subjects)
		die("no records on standard input");
}

static size_t collect_cases(struct judge *j)
{
	size_t wrong = 0;

	j->cases = LM_ARENA_ARRAY(&j->arena, const struct layout_case *, j->nr_subjects * (j->orders + 1) + 1);
	for (size_t i = 0; i < j->nr_subjects; i++) {
		const struct subject *s = &j->subjects[i];

		if (s->err && wrong++ < MAX_SHOWN)
			printf("record %s: %s\n%s", s->number, s->err->msg, s->text);
		for (uint32_t k = 0; s->cases && k <= j->orders; k++)
			j->cases[j->nr_cases++] = &s->cases[k];
	}
	return wrong;
}

static void release(struct judge *j)
{
	for (size_t i = 0; i < j->nr_subjects; i++) {
		lm_err_free(j->subjects[i].err);
		lm_source_release(&j->subjects[i].source);
		lm_arena_release(&j->subjects[i].arena);
	}
	lm_remove_tree(j->dir);
	lm_arena_release(&j->arena);
}

static void set_up(struct judge *j)
{
	char *header;

	must(lm_temp_dir(&j->arena, &j->dir));
	header = lm_arena_printf(&j->arena, "%s/judged.h", j->dir);
	must(lm_file_write(header, "", 0));
	must(lm_configs_make(&(struct lm_config_request){ .header = header, .root = j->dir }, &j->arena, &j->configs));
}

int main(int argc, char **argv)
{
	struct judge j = { .orders = 2, .seed = 1 };
	struct tally t = { 0 };
	size_t wrong;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--orders"))
			j.orders = (uint32_t)strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--seed"))
			j.seed = strtoull(argv[i + 1], NULL, 10);
		else
			die("usage: judge_layout [--orders N] [--seed N] <records");
	}
	read_records(&j);
	set_up(&j);
	lm_parallel(j.nr_subjects, run_subject, &j);
	wrong = collect_cases(&j);
	judge_cases(&j, &t);
	printf("%zu records, %zu layouts compiled with %s and %s: %zu records and %zu layouts wrong; the compilers "
	       "disagree on %zu\n", j.nr_subjects, t.layouts, compiler(GCC), compiler(CLANG), wrong, t.wrong, t.disputed);
	if (t.disputed * 50 > t.layouts)
		printf("that is more than 2 in 100: keep what they disagree on out of gen_records.py\n");
	release(&j);
	return wrong || t.wrong || t.disputed * 50 > t.layouts;
}
