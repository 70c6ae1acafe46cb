/*
 * access.c - the access table: rows kept added up, and their text form.
 *
 * The index is an open-addressing table of row numbers: a profile of ten
 * million lines asks for a row per line, and most of them are the same few
 * hundred rows.  It never decides an order; rows stand in the order in which
 * they first appeared until lm_accesses_sort().
 *
 * A merge weighs the counts of reads and writes only.  What was read, used and
 * dropped is told as it was: it says how good the profile is, not how heavy.
 */
#include "profiles/access.h"

#include "base/str.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct index {
	size_t mask;		/* slots - 1; slots are a power of two */
	uint32_t slots[];	/* row + 1; 0 is free */
};

static const char *const evidence_words[] = {
#define X(name, word, text) word,
	LM_EVIDENCE(X)
#undef X
};

static const char *const evidence_texts[] = {
#define X(name, word, text) text,
	LM_EVIDENCE(X)
#undef X
};

static const char *const drop_words[] = {
#define X(name, word, text) word,
	LM_DROPS(X)
#undef X
};

static const char *const drop_texts[] = {
#define X(name, word, text) text,
	LM_DROPS(X)
#undef X
};

const char *lm_evidence_word(enum lm_evidence e)
{
	return evidence_words[e];
}

const char *lm_evidence_text(enum lm_evidence e)
{
	return evidence_texts[e];
}

const char *lm_drop_word(enum lm_drop d)
{
	return drop_words[d];
}

const char *lm_drop_text(enum lm_drop d)
{
	return drop_texts[d];
}

void lm_accesses_init(struct lm_accesses *t)
{
	*t = (struct lm_accesses){
		.strings = lm_strings_new(),
		.events = lm_strings_new(),
		.record = LM_NO_STRING,
	};
}

void lm_accesses_release(struct lm_accesses *t)
{
	lm_strings_free(t->strings);
	lm_strings_free(t->events);
	free(t->rows);
	free(t->index);
	*t = (struct lm_accesses){ .record = LM_NO_STRING };
}

/* ---- the index ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 32);
}

static size_t hash_key(const struct lm_access *a)
{
	uint64_t h = mix(((uint64_t)a->site << 32) | a->member, a->offset);

	h = mix(h, ((uint64_t)a->size << 32) | (uint32_t)a->cpu);
	return (size_t)mix(h, ((uint64_t)a->object << 8) | (uint64_t)a->evidence);
}

static bool same_key(const struct lm_access *a, const struct lm_access *b)
{
	return a->site == b->site && a->member == b->member && a->offset == b->offset && a->size == b->size &&
	       a->cpu == b->cpu && a->object == b->object && a->evidence == b->evidence;
}

/* The slot of key: free, or holding its row. */
static size_t find_slot(const struct lm_accesses *t, const struct lm_access *key)
{
	const struct index *ix = t->index;
	size_t at = hash_key(key) & ix->mask;

	while (ix->slots[at] && !same_key(&t->rows[ix->slots[at] - 1], key))
		at = (at + 1) & ix->mask;
	return at;
}

/* Makes an index with room for twice the rows there are, and one more. */
static void rebuild_index(struct lm_accesses *t)
{
	size_t slots = 64, bytes;
	struct index *ix;

	while (slots / 4 < t->nr + 1)
		slots *= 2;
	if (__builtin_mul_overflow(slots, sizeof(ix->slots[0]), &bytes))
		lm_oom();
	free(t->index);
	ix = calloc(1, sizeof(*ix) + bytes);
	if (!ix)
		lm_oom();
	ix->mask = slots - 1;
	t->index = ix;
	for (size_t i = 0; i < t->nr; i++)
		ix->slots[find_slot(t, &t->rows[i])] = (uint32_t)i + 1;
}

static void add_saturating(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static void push_row(struct lm_accesses *t, struct lm_access row)
{
	if (t->nr == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 64;

		if (cap >= UINT32_MAX || cap > SIZE_MAX / sizeof(*t->rows))
			lm_oom();
		t->rows = realloc(t->rows, cap * sizeof(*t->rows));
		if (!t->rows)
			lm_oom();
		t->cap = cap;
	}
	t->rows[t->nr++] = row;
}

void lm_accesses_add(struct lm_accesses *t, struct lm_access row)
{
	struct index *ix = t->index;
	size_t slot;

	if (!ix || t->nr + 1 > (ix->mask + 1) / 2) {
		rebuild_index(t);
		ix = t->index;
	}
	slot = find_slot(t, &row);
	if (ix->slots[slot]) {
		struct lm_access *old = &t->rows[ix->slots[slot] - 1];

		add_saturating(&old->reads, row.reads);
		add_saturating(&old->writes, row.writes);
		return;
	}
	push_row(t, row);
	ix->slots[slot] = (uint32_t)t->nr;
}

/* ---- merging ---- */

static uint64_t weigh(uint64_t count, double weight)
{
	double product = (double)count * weight + 0.5;

	if (!count || weight == 1.0)
		return count;
	if (product >= 18446744073709551615.0)
		return UINT64_MAX;
	return product < 1.0 ? 1 : (uint64_t)product;
}

static uint32_t copy_string(struct lm_strings *to, const struct lm_strings *from, uint32_t id)
{
	const char *text = lm_strings_get(from, id);

	return lm_strings_add(to, text, strlen(text));
}

static void merge_counts(struct lm_accesses *t, const struct lm_accesses *from)
{
	add_saturating(&t->samples, from->samples);
	add_saturating(&t->used, from->used);
	add_saturating(&t->unknown_op, from->unknown_op);
	add_saturating(&t->unknown_element, from->unknown_element);
	for (size_t i = 0; i < LM_NR_DROPS; i++)
		add_saturating(&t->drops[i], from->drops[i]);
}

void lm_accesses_merge(struct lm_accesses *t, const struct lm_accesses *from, double weight)
{
	for (size_t i = 0; i < from->nr; i++) {
		struct lm_access row = from->rows[i];

		row.site = copy_string(t->strings, from->strings, row.site);
		row.member = copy_string(t->strings, from->strings, row.member);
		row.reads = weigh(row.reads, weight);
		row.writes = weigh(row.writes, weight);
		lm_accesses_add(t, row);
	}
	if (t->record == LM_NO_STRING && from->record != LM_NO_STRING)
		t->record = copy_string(t->strings, from->strings, from->record);
	for (uint32_t i = 0; i < lm_strings_nr(from->events); i++)
		copy_string(t->events, from->events, i);
	merge_counts(t, from);
}

/* ---- order ---- */

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_names(const struct lm_strings *s, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(lm_strings_get(s, a), lm_strings_get(s, b));
}

static int compare_rows(const void *left, const void *right, void *arg)
{
	const struct lm_access *a = left, *b = right;
	int d = compare_names(arg, a->site, b->site);

	if (!d)
		d = compare_names(arg, a->member, b->member);
	if (!d)
		d = compare_u64(a->offset, b->offset);
	if (!d)
		d = compare_u64(a->size, b->size);
	if (!d)
		d = (a->cpu > b->cpu) - (a->cpu < b->cpu);
	if (!d)
		d = compare_u64(a->object, b->object);
	return d ? d : compare_u64(a->evidence, b->evidence);
}

void lm_accesses_sort(struct lm_accesses *t)
{
	if (!t->nr)
		return;
	qsort_r(t->rows, t->nr, sizeof(*t->rows), compare_rows, t->strings);
	rebuild_index(t);
}

/* ---- the access file ---- */

/* Writes a name so that it stays one field of one line, and its line no comment. */
static void print_name(struct lm_str *out, const char *name)
{
	for (const char *p = name; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '\t')
			lm_str_add(out, "\\t");
		else if (c == '\n')
			lm_str_add(out, "\\n");
		else if (c == '\\')
			lm_str_add(out, "\\\\");
		else if (c < 0x20 || c == 0x7f || (c == '#' && p == name))
			lm_str_addf(out, "\\x%02x", c);
		else
			lm_str_add_char(out, *p);
	}
}

static void print_head(const struct lm_accesses *t, struct lm_str *out)
{
	lm_str_add(out, "#linemate-access 1\n");
	if (t->record != LM_NO_STRING) {
		lm_str_add(out, "#record\t");
		print_name(out, lm_strings_get(t->strings, t->record));
		lm_str_add_char(out, '\n');
	}
	for (uint32_t i = 0; i < lm_strings_nr(t->events); i++) {
		lm_str_add(out, "#event\t");
		print_name(out, lm_strings_get(t->events, i));
		lm_str_add_char(out, '\n');
	}
	lm_str_addf(out, "#samples\t%" PRIu64 "\n", t->samples);
	for (size_t i = 0; i < LM_NR_DROPS; i++)
		if (t->drops[i])
			lm_str_addf(out, "#dropped\t%s\t%" PRIu64 "\n", drop_words[i], t->drops[i]);
	if (t->unknown_op)
		lm_str_addf(out, "#unknown-op\t%" PRIu64 "\n", t->unknown_op);
	if (t->unknown_element)
		lm_str_addf(out, "#unknown-element\t%" PRIu64 "\n", t->unknown_element);
	lm_str_add(out, "#site\tmember\toffset\tsize\tcpu\treads\twrites\tobject\tevidence\n");
}

static void print_row(const struct lm_accesses *t, const struct lm_access *row, struct lm_str *out)
{
	print_name(out, lm_strings_get(t->strings, row->site));
	lm_str_add_char(out, '\t');
	print_name(out, lm_strings_get(t->strings, row->member));
	lm_str_addf(out, "\t%" PRIu64 "\t%" PRIu32 "\t", row->offset, row->size);
	if (row->cpu == LM_CPU_UNKNOWN)
		lm_str_add_char(out, '-');
	else
		lm_str_addf(out, "%" PRId32, row->cpu);
	lm_str_addf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 "\t%s\n", row->reads, row->writes, row->object,
		    evidence_words[row->evidence]);
}

void lm_accesses_print(const struct lm_accesses *t, struct lm_str *out)
{
	print_head(t, out);
	for (size_t i = 0; i < t->nr; i++)
		print_row(t, &t->rows[i], out);
}
