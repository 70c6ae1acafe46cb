/*
 * judge_profile.c - a whole trace as a profile of instruction addresses, once
 * for each record of which there is an object.
 *
 *	valgrind --tool=lackey --trace-mem=yes BINARY 2>TRACE
 *	judge_profile BINARY TRACE
 *
 * Objects are the variables called obj_NAME.  Each pair of an instruction and a
 * data address is a row of the profile, without the data address; a row that is
 * said to be a member of the record is right if its data address is that member
 * of such a record in an object.  Prints "named wrong callers likely
 * likely-wrong", in samples: callers and likely are part of named.
 */
#include "base/arena.h"
#include "base/str.h"
#include "profiles/attribution.h"
#include "profiles/elf_image.h"
#include "profiles/typing.h"
#include "trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PLACES = 64 };

struct row { uint64_t ip, addr, count; uint32_t size; bool write; };

struct judge {
	struct lm_debuginfo *bin;
	struct lm_image *image;
	struct lm_arena arena;
	struct lm_strings *seen;
	struct row *rows;		/* by string id of seen */
	size_t nr_rows, cap_rows;
	struct lm_strings *records;	/* names */
	uint64_t named, wrong, callers, likely, likely_wrong;
	bool tell;
};

static void check(struct lm_err *err)
{
	if (!err)
		return;
	fprintf(stderr, "%s\n", err->msg);
	exit(2);
}

static void add_row(struct judge *j, struct row row)
{
	uint64_t key[3] = { row.ip, row.addr, row.write };
	uint32_t id = lm_strings_add(j->seen, (const char *)key, sizeof(key));

	if (id == j->nr_rows)
		*LM_ARENA_PUSH(&j->arena, j->rows, j->nr_rows, j->cap_rows) = row;
	else
		j->rows[id].count++;
}

static void add_run(void *arg, uint64_t ip, const struct trace_access *seen, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		add_row(arg, (struct row){ ip, seen[i].addr, 1, seen[i].size, seen[i].kind != 'L' });
}

/* The object that holds addr, for the unit of the code at ip. */
static bool object_at(struct judge *j, const struct row *row, struct lm_typing *t, struct lm_reach *truth)
{
	const struct lm_function *f;
	uint64_t start, from;
	const char *name = lm_image_symbol(j->image, row->addr, &start);
	uint32_t type;

	if (strncmp(name, "obj_", 4))
		return false;
	check(lm_debuginfo_function(j->bin, row->ip, &f));
	if (!f)
		return false;
	*t = (struct lm_typing){ j->bin, f->unit };
	check(lm_debuginfo_global(j->bin, f->unit, row->addr, name, start, &type, &from));
	*truth = (struct lm_reach){ type, (int64_t)(row->addr - from), 0, true };
	return type != LM_NO_TYPE;
}

/* The element of an array of objects. */
static void into_element(const struct lm_typing *t, struct lm_reach *truth)
{
	struct lm_type type, element;

	check(lm_typing_complete(t, truth->type, &type, &truth->type));
	while (type.kind == LM_TYPE_ARRAY) {
		check(lm_typing_complete(t, type.target, &element, &truth->type));
		truth->offset %= (int64_t)element.size;
		type = element;
	}
}

/* The records of all objects that were touched. */
static void list_records(struct judge *j)
{
	for (size_t i = 0; i < j->nr_rows; i++) {
		struct lm_typing t;
		struct lm_reach truth;
		struct lm_type type;

		if (!object_at(j, &j->rows[i], &t, &truth))
			continue;
		into_element(&t, &truth);
		check(lm_debuginfo_type(j->bin, truth.type, &type));
		if (type.kind == LM_TYPE_RECORD && *type.name)
			lm_strings_add(j->records, type.name, strlen(type.name));
	}
}

/* Is that member, of a record at that place, what the bytes at offset of the record are? */
static bool is_member(const struct lm_typing *t, uint32_t record, int64_t offset, uint32_t size, const char *member,
		      uint64_t rest)
{
	struct lm_type_leaf leaf;
	struct lm_str path = { 0 };
	size_t len = strlen(member);
	uint64_t at;
	bool found, same;

	check(lm_typing_leaf(t, (struct lm_reach){ record, offset, 0, true }, size, &path, &at, &leaf, &found));
	same = found && ((!strcmp(lm_str_text(&path), member) && at == rest) ||
			 (!strncmp(lm_str_text(&path), member, len) && lm_str_text(&path)[len] == '['));
	lm_str_release(&path);
	return same || !strcmp(member, LM_WHOLE_RECORD);
}

static bool is_right(struct judge *j, uint32_t record, const struct row *row, const char *member, uint64_t rest)
{
	struct lm_typing t;
	struct lm_reach truth;
	struct lm_type type;
	uint64_t places[MAX_PLACES] = { 0 };
	size_t nr = 0;
	bool same;

	if (!object_at(j, row, &t, &truth))
		return false;
	into_element(&t, &truth);
	check(lm_typing_same(&t, truth.type, record, &same));
	if (same)
		return is_member(&t, record, truth.offset, row->size, member, rest);
	check(lm_debuginfo_type(j->bin, record, &type));
	check(lm_typing_parts(&t, truth.type, record, places, MAX_PLACES, &nr));
	for (size_t i = 0; i < nr && i < MAX_PLACES; i++) {
		int64_t inside = truth.offset - (int64_t)places[i];

		/* Elements but the first of arrays of the record are not listed. */
		if (inside >= 0 && is_member(&t, record, inside % (int64_t)type.size, row->size, member, rest))
			return true;
	}
	return false;
}

/* One record: each row of the trace is a CPU of its own, so that what is said of it comes back. */
static void judge_record(struct judge *j, const char *name)
{
	const struct lm_dbg_record *rec;
	struct lm_samples t;
	struct lm_accesses out;
	struct lm_attribution a;
	struct lm_attribution_opts opts = { .record = name, .open_elements = true };
	uint64_t wrong = 0;
	uint32_t record;

	lm_samples_init(&t);
	lm_accesses_init(&out);
	for (size_t i = 0; i < j->nr_rows; i++) {
		lm_samples_add(&t, (struct lm_sample){ .ip = j->rows[i].ip, .symbol = LM_NO_STRING, .dso = LM_NO_STRING,
						       .cpu = (int32_t)i, .evidence = LM_EVIDENCE_PRECISE,
						       .op = j->rows[i].write ? LM_OP_WRITE : LM_OP_READ,
						       .count = j->rows[i].count });
		t.samples += j->rows[i].count;
	}
	check(lm_attribute(j->bin, &t, &opts, &out, &a));
	check(lm_debuginfo_record(j->bin, name, &rec));
	check(lm_debuginfo_type_of_record(j->bin, rec, &record));
	for (size_t i = 0; i < out.nr; i++) {
		const struct lm_access *r = &out.rows[i];
		const char *member = lm_strings_get(out.strings, r->member);
		const struct row *row = &j->rows[r->cpu];

		j->named += r->reads + r->writes;
		if (is_right(j, record, row, member, r->offset))
			continue;
		wrong += r->reads + r->writes;
		if (j->tell)
			printf("wrong %" PRIx64 " %s: %s.%s + %" PRIu64 ", %" PRIu64 " times\n", row->ip,
			       lm_strings_get(out.strings, r->site), name, member, r->offset, r->reads + r->writes);
	}
	j->callers += a.count[LM_OUTCOME_CALLERS];
	j->likely += a.count[LM_OUTCOME_LIKELY];
	/* What is only likely may be wrong, one time in a hundred. */
	if (wrong <= a.count[LM_OUTCOME_LIKELY] / 100)
		j->likely_wrong += wrong;
	else
		j->wrong += wrong;
	lm_accesses_release(&out);
	lm_samples_release(&t);
}

int main(int argc, char **argv)
{
	struct judge j = { .seen = lm_strings_new(), .records = lm_strings_new(), .tell = argc > 3 };

	if (argc < 3) {
		fprintf(stderr, "usage: judge_profile BINARY TRACE [tell]\n");
		return 2;
	}
	check(lm_debuginfo_open(argv[1], &j.bin));
	check(lm_image_open(argv[1], &j.image));
	trace_each(argv[2], j.image, add_run, &j);
	list_records(&j);
	for (uint32_t i = 0; i < lm_strings_nr(j.records); i++)
		judge_record(&j, lm_strings_get(j.records, i));
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", j.named, j.wrong, j.callers, j.likely,
	       j.likely_wrong);
	lm_image_close(j.image);
	lm_debuginfo_close(j.bin);
	lm_arena_release(&j.arena);
	lm_strings_free(j.seen);
	lm_strings_free(j.records);
	return 0;
}
