/* join.c - accesses meet the record. */
#include "optimizer/join.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEFAULT_CPUS = 4,
	MAX_CPUS = 8192,	/* more than any machine: the profile is broken */
	MAX_ACCESS = 4096,	/* bytes of one access; more is no single instruction's */
};

/* Where one row lies: the view that knew it first, and the place there. */
struct found {
	uint32_t view;		/* LM_NONE: nowhere */
	struct lm_place place;
};

static struct found find_row(const struct lm_subject *s, const char *path, uint64_t offset, bool *outside)
{
	struct found f = { .view = LM_NONE };

	for (uint32_t v = 0; v < s->nr_views; v++) {
		enum lm_path_result r = lm_path_find(s->views[v].rec, path, offset, &f.place);

		if (r == LM_PATH_OK) {
			f.view = v;
			return f;
		}
		*outside |= r == LM_PATH_OUTSIDE;
	}
	return f;
}

/* The place of another view's byte in view v, by leaf path; false if v has no such leaf. */
static bool translate(const struct lm_record *from, const struct lm_place *p, const struct lm_record *to,
		      struct lm_place *ret)
{
	if (from == to) {
		*ret = *p;
		return true;
	}
	if (p->leaf == LM_NONE)
		return lm_path_find(to, from->fields[p->field].key, p->offset, ret) == LM_PATH_OK;

	const struct lm_leaf *l = &from->leaves[p->leaf];
	uint32_t leaf = lm_path_leaf(to, l->path);

	if (leaf == LM_NONE)
		return false;
	ret->leaf = leaf;
	ret->field = to->leaves[leaf].field;
	ret->offset = to->leaves[leaf].offset + (p->offset - l->offset);
	return true;
}

bool lm_join_place(const struct lm_record *from, uint64_t offset, const struct lm_record *to, struct lm_place *ret)
{
	struct lm_place p;

	return lm_path_find(from, LM_WHOLE_RECORD, offset, &p) == LM_PATH_OK && translate(from, &p, to, ret);
}

/* Size cut so that it ends with its field. */
static uint32_t clip(const struct lm_field *f, uint64_t offset, uint32_t size)
{
	uint64_t left = f->flexible || f->bits != LM_NOT_BITS ? size : f->size - offset;

	if (!size)
		size = 1;
	size = size < MAX_ACCESS ? size : MAX_ACCESS;
	return left < size ? (uint32_t)left : size;
}

static int compare_cpu(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static uint32_t cpu_index(const struct lm_usage *u, int32_t cpu)
{
	const int32_t *p = bsearch(&cpu, u->cpu_ids, u->nr_cpus, sizeof(cpu), compare_cpu);

	assert(p);
	return (uint32_t)(p - u->cpu_ids);
}

/* The CPUs that rows name; where a row names none, as many as asked for. */
static void collect_cpus(const struct lm_accesses *t, uint32_t cpus, struct lm_arena *arena, struct lm_usage *out)
{
	int32_t *ids = LM_ARENA_ARRAY(arena, int32_t, t->nr + 1);
	size_t n = 0, nr = 0;

	for (size_t i = 0; i < t->nr; i++) {
		if (t->rows[i].cpu == LM_CPU_UNKNOWN)
			out->cpus_assumed = true;
		else
			ids[n++] = t->rows[i].cpu;
	}
	qsort(ids, n, sizeof(*ids), compare_cpu);
	for (size_t i = 0; i < n; i++)
		if (!nr || ids[nr - 1] != ids[i])
			ids[nr++] = ids[i];

	uint32_t want = cpus ? cpus : DEFAULT_CPUS;

	out->cpu_ids = ids;
	if (out->cpus_assumed && nr < want) {
		int32_t *all = LM_ARENA_ARRAY(arena, int32_t, nr + want);

		memcpy(all, ids, nr * sizeof(*ids));
		for (int32_t c = 0; nr < want; c++)
			if (!bsearch(&c, ids, n ? nr : 0, sizeof(c), compare_cpu))
				all[nr++] = c;
		qsort(all, nr, sizeof(*all), compare_cpu);
		out->cpu_ids = all;
	}
	out->nr_cpus = (uint32_t)nr;
}

static int compare_object(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Objects as dense numbers from 0: ids[i] is the i-th object number that rows use. */
static uint32_t *collect_objects(const struct lm_accesses *t, struct lm_arena *arena, uint32_t *nr)
{
	uint32_t *ids = LM_ARENA_ARRAY(arena, uint32_t, t->nr + 1);
	uint32_t n = 0;

	for (size_t i = 0; i < t->nr; i++)
		ids[i] = t->rows[i].object;
	qsort(ids, t->nr, sizeof(*ids), compare_object);
	for (size_t i = 0; i < t->nr; i++)
		if (!n || ids[n - 1] != ids[i])
			ids[n++] = ids[i];
	*nr = n;
	return ids;
}

struct joining {
	const struct lm_subject *s;
	struct lm_usage *out;
	struct lm_arena *arena;
	size_t *cap;		/* [nr_views] of out->touches */
	const uint32_t *objects;
};

static void add_touches(struct joining *j, uint32_t v, const struct lm_access *row, const struct lm_place *p)
{
	struct lm_usage *u = j->out;
	bool spread = row->cpu == LM_CPU_UNKNOWN;
	uint32_t first = spread ? 0 : cpu_index(u, row->cpu), n = spread ? u->nr_cpus : 1;
	const uint32_t *object = bsearch(&row->object, j->objects, u->nr_objects, sizeof(*object), compare_object);

	for (uint32_t c = first; c < first + n; c++) {
		struct lm_touch *t = LM_ARENA_PUSH(j->arena, u->touches[v], u->nr_touches[v], j->cap[v]);

		*t = (struct lm_touch){
			.site = row->site, .cpu = c, .object = (uint32_t)(object - j->objects), .field = p->field,
			.leaf = p->leaf, .offset = p->offset,
			.size = clip(&j->s->views[v].rec->fields[p->field], p->offset, row->size),
			.reads = (double)row->reads / n, .writes = (double)row->writes / n,
		};
	}
}

static void join_row(struct joining *j, const struct lm_access *row, const struct found *f)
{
	uint64_t n = row->reads + row->writes;

	if (f->view == 0)
		j->out->total += n;
	else
		j->out->absent += n;
	if (row->evidence > j->out->worst)
		j->out->worst = row->evidence;
	for (uint32_t v = 0; v < j->s->nr_views; v++) {
		struct lm_place p;

		if (translate(j->s->views[f->view].rec, &f->place, j->s->views[v].rec, &p))
			add_touches(j, v, row, &p);
	}
}

/* Removes the rows that fit nowhere, counting why; *first names the first of them. */
static void drop_strangers(const struct lm_subject *s, struct lm_accesses *t, struct found *places, const char **first)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->nr; i++) {
		struct lm_access *row = &t->rows[i];
		const char *path = lm_strings_get(t->strings, row->member);
		bool outside = false;
		struct found f = find_row(s, path, row->offset, &outside);
		uint64_t n = row->reads > row->writes ? row->reads : row->writes;

		if (f.view != LM_NONE) {
			places[kept] = f;
			t->rows[kept++] = *row;
			continue;
		}
		if (!*first)
			*first = path;
		n = n < t->used ? n : t->used;	/* weights and read-modify-writes make counts differ from samples */
		t->used -= n;
		t->drops[outside ? LM_DROP_OUTSIDE : LM_DROP_NO_MEMBER] += n;
	}
	t->nr = kept;
}

/* "struct mem_cgroup" and "mem_cgroup" are one name. */
static bool same_name(const char *a, const char *b)
{
	static const char *const words[] = { "struct ", "union " };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]);

		a += strncmp(a, words[i], n) ? 0 : n;
		b += strncmp(b, words[i], n) ? 0 : n;
	}
	return !strcmp(a, b);
}

struct lm_err *lm_join(const struct lm_subject *s, struct lm_accesses *t, const char *record, uint32_t cpus,
		       struct lm_arena *arena, struct lm_usage *out)
{
	const char *stranger = NULL;
	struct lm_usage u = { .accesses = t };

	if (t->record != LM_NO_STRING && !same_name(lm_strings_get(t->strings, t->record), record))
		return lm_err_new(LM_ERR_INPUT, "The profile is of record %s, not of %s: give the profile of the record "
				  "that you name with --struct.", lm_strings_get(t->strings, t->record), record);
	lm_accesses_sort(t);

	struct found *places = LM_ARENA_ARRAY(arena, struct found, t->nr + 1);

	drop_strangers(s, t, places, &stranger);
	if (!t->nr)
		return lm_err_new(LM_ERR_INPUT, "The profile is of another record: not one of its rows fits %s "
				  "(the first that does not: member %s); check --struct, --header and the flags.", record,
				  stranger ? stranger : "none");
	collect_cpus(t, cpus, arena, &u);
	if (u.nr_cpus > MAX_CPUS)
		return lm_err_new(LM_ERR_INPUT, "The profile names %u different CPUs, more than the %d of any machine: "
				  "its cpu column is broken.", u.nr_cpus, MAX_CPUS);

	struct joining j = { .s = s, .out = &u, .arena = arena, .cap = LM_ARENA_ARRAY(arena, size_t, s->nr_views) };

	j.objects = collect_objects(t, arena, &u.nr_objects);
	u.touches = LM_ARENA_ARRAY(arena, struct lm_touch *, s->nr_views);
	u.nr_touches = LM_ARENA_ARRAY(arena, size_t, s->nr_views);
	u.nr_sites = lm_strings_nr(t->strings);
	u.sites = LM_ARENA_ARRAY(arena, const char *, u.nr_sites);
	for (uint32_t i = 0; i < u.nr_sites; i++)
		u.sites[i] = lm_strings_get(t->strings, i);
	for (size_t i = 0; i < t->nr; i++)
		join_row(&j, &t->rows[i], &places[i]);
	*out = u;
	return NULL;
}

void lm_join_name_rows(const struct lm_subject *s, struct lm_accesses *t)
{
	const struct lm_record *rec = s->views[0].rec;
	struct lm_accesses named;

	lm_accesses_init(&named);
	named.record = t->record;
	for (size_t i = 0; i < t->nr; i++) {
		struct lm_access row = t->rows[i];
		const char *path = lm_strings_get(t->strings, row.member);
		struct lm_place p;

		if (!strcmp(path, LM_WHOLE_RECORD)) {
			if (lm_path_find(rec, path, row.offset, &p) != LM_PATH_OK) {
				uint64_t n = row.reads > row.writes ? row.reads : row.writes;

				n = n < t->used ? n : t->used;
				t->used -= n;
				t->drops[LM_DROP_OUTSIDE] += n;
				continue;
			}
			path = p.leaf != LM_NONE ? rec->leaves[p.leaf].path : rec->fields[p.field].key;
			row.offset = p.offset - (p.leaf != LM_NONE ? rec->leaves[p.leaf].offset : 0);
			row.member = lm_strings_add(t->strings, path, strlen(path));
		}
		lm_accesses_add(&named, row);
	}
	/* Same string table, new rows: swap the row storage only. */
	struct lm_access *rows = t->rows;
	void *index = t->index;
	size_t nr = t->nr, cap = t->cap;

	t->rows = named.rows;
	t->index = named.index;
	t->nr = named.nr;
	t->cap = named.cap;
	named.rows = rows;
	named.index = index;
	named.nr = nr;
	named.cap = cap;
	lm_accesses_release(&named);
}

static const struct lm_dbg_member *find_member(const struct lm_dbg_record *rec, const char *key, uint64_t bit_offset)
{
	const struct lm_dbg_member *found = NULL;

	for (uint32_t i = 0; i < rec->nr_members; i++) {
		const struct lm_dbg_member *m = &rec->members[i];

		if (strcmp(m->key, key))
			continue;
		if (m->bit_offset == bit_offset)
			return m;
		found = m;
	}
	return found;
}

struct lm_err *lm_join_binary(const struct lm_view *view, const struct lm_dbg_record *rec, const char *binary)
{
	static const char what[] = "the header and flags are not those that the program was built with";
	uint32_t named = 0, there = 0;

	for (uint32_t i = 0; i < view->rec->nr_fields; i++) {
		const struct lm_field *f = &view->rec->fields[i];

		if (!f->key[0])
			continue;	/* unnamed bit-field */
		named++;

		const struct lm_dbg_member *m = find_member(rec, f->key, f->bit_offset);

		if (!m)
			return lm_err_new(LM_ERR_INPUT, "%s: its %s has no member %s, the header's has: %s.", binary,
					  view->rec->name, f->key, what);
		if (m->bit_offset != f->bit_offset)
			return lm_err_new(LM_ERR_INPUT, "%s: in its %s, member %s is at byte %" PRIu64
					  ", in the header's at %" PRIu64 ": %s.", binary, view->rec->name, f->key,
					  m->bit_offset / 8, f->bit_offset / 8, what);
		if ((m->bits == UINT32_MAX && m->size != f->size) || m->bits != f->bits)
			return lm_err_new(LM_ERR_INPUT, "%s: in its %s, member %s has another size or width than in "
					  "the header's (%" PRIu64 " against %" PRIu64 " bytes): %s.", binary,
					  view->rec->name, f->key, m->size, f->size, what);
	}
	for (uint32_t i = 0; i < rec->nr_members; i++)
		there += rec->members[i].key[0] != 0;
	if (there != named)
		return lm_err_new(LM_ERR_INPUT, "%s: its %s has %u members, the header's has %u: %s.", binary,
				  view->rec->name, there, named, what);
	if (rec->size != view->rec->size)
		return lm_err_new(LM_ERR_INPUT, "%s: its %s is %" PRIu64 " bytes large, the header's %" PRIu64 ": %s.",
				  binary, view->rec->name, rec->size, view->rec->size, what);
	return NULL;
}
