/*
 * bench_attribution.c - how much of a kernel's memory instructions gets its
 * field, how much of that is right, and how long it takes.
 *
 *	bench_attribution VMLINUX RECORD [TRUTH.tsv [SCRIPT.txt]]
 *	bench_attribution VMLINUX --instructions
 *
 * The second form prints the address of each instruction of the two files that
 * touches memory other than its own stack, and "w" where it writes.
 * TRUTH.tsv: ip, function, member, offset in it, offset in RECORD, size, store,
 * accesses - as recorded by an emulator.  Right: the pointer's type is one that
 * lies in RECORD at that distance, and the leaf is the same.  Then the same
 * instructions as one profile without data addresses: how much of it is named
 * as leaves of RECORD itself, and how much of that is wrong.
 */
#include "profiles/attribution.h"
#include "profiles/flow.h"

#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct bench {
	struct lm_flow_source src;
	struct lm_arena arena, flows;	/* flows: of the function at hand */
	const char *record;
	const struct lm_function *last;
	struct lm_flow flow;
};

struct verdict { bool resolved, right, own; };

static void check(struct lm_err *err)
{
	if (!err)
		return;
	fprintf(stderr, "%s\n", err->msg);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const struct lm_flow_row *row_at(struct bench *b, uint64_t ip)
{
	const struct lm_function *f;

	check(lm_debuginfo_function(b->src.bin, ip, &f));
	if (!f)
		return NULL;
	if (f != b->last) {
		lm_arena_release(&b->flows);
		b->flows = (struct lm_arena){ 0 };
		check(lm_flow_run(&b->src, f, &b->flows, &b->flow));
	}
	b->last = f;
	return lm_flow_at(&b->flow, ip);
}

static bool leaf_of(struct bench *b, struct lm_reach reach, uint32_t size, struct lm_type_leaf *leaf)
{
	struct lm_typing t = { b->src.bin, b->last->unit };
	bool found;

	check(lm_typing_leaf(&t, reach, size, NULL, NULL, leaf, &found));
	return found;
}

/* Is what we say compatible with the access to offset of the record? */
static bool is_right(struct bench *b, struct lm_reach ours, struct lm_type_leaf got, int64_t offset, uint32_t size,
		     uint32_t record)
{
	struct lm_typing t = { b->src.bin, b->last->unit };
	struct lm_reach base = { record, offset - ours.offset, 0, false };
	struct lm_type_leaf truth;
	bool yes = false, same = false;

	if (!leaf_of(b, (struct lm_reach){ record, offset, 0, false }, size, &truth))
		return false;
	if (got.indexed) {
		/* Any element: the distance must be a multiple of the stride. */
		struct lm_reach first = { record, ours.offset, ours.stride, false };
		struct lm_type_leaf at;

		check(lm_typing_same(&t, ours.type, record, &same));
		if (same)
			yes = (offset - ours.offset) % (int64_t)ours.stride == 0 && leaf_of(b, first, size, &at);
		else
			check(lm_typing_holds(&t, base, ours.type, &yes));
	} else {
		check(lm_typing_holds(&t, base, ours.type, &yes));
	}
	if (!yes)
		return false;
	check(lm_typing_same(&t, got.type, truth.type, &same));
	return same && !strcmp(got.member, truth.member);
}

static struct verdict judge(struct bench *b, uint64_t ip, int64_t offset, uint32_t size)
{
	const struct lm_flow_row *row = row_at(b, ip);
	struct verdict best = { false, false, false };
	uint32_t record;

	if (!row)
		return best;
	check(lm_debuginfo_type_by_name(b->src.bin, b->last->unit, b->record, &record));
	if (record == LM_NO_TYPE) {
		uint32_t unit;

		check(lm_debuginfo_unit(b->src.bin, "mm/memcontrol.c", &unit));
		check(lm_debuginfo_type_by_name(b->src.bin, unit, b->record, &record));
	}
	for (unsigned m = 0; m < row->insn.nr_mem; m++) {
		struct lm_typing t = { b->src.bin, b->last->unit };
		struct verdict v = { false, false, false };
		struct lm_type_leaf leaf;

		if (row->insn.mem[m].stack || row->reach[m].type == LM_NO_TYPE)
			continue;
		v.resolved = leaf_of(b, row->reach[m], row->insn.mem[m].size, &leaf);
		if (!v.resolved)
			continue;
		v.right = is_right(b, row->reach[m], leaf, offset, size, record);
		check(lm_typing_same(&t, row->reach[m].type, record, &v.own));
		if (!best.resolved || v.right)
			best = v;
	}
	return best;
}

static void truth(struct bench *b, const char *path)
{
	FILE *f = fopen(path, "r");
	char line[1024];
	uint64_t all = 0, right = 0, wrong = 0, own = 0, rows = 0;

	if (!f) {
		perror(path);
		exit(1);
	}
	while (fgets(line, sizeof(line), f)) {
		uint64_t ip, n;
		int64_t offset;
		uint32_t size;
		char where[256], member[256];
		struct verdict v;

		if (sscanf(line, "%" SCNx64 "\t%255s\t%255s\t%*s\t%" SCNd64 "\t%" SCNu32 "\t%*s\t%" SCNu64, &ip, where,
			   member, &offset, &size, &n) != 6)
			continue;
		v = judge(b, ip, offset, size);
		rows++;
		all += n;
		right += v.right ? n : 0;
		wrong += v.resolved && !v.right ? n : 0;
		own += v.right && v.own ? n : 0;
		if (!v.right || (getenv("LM_OPEN") && !v.own && n > 300))
			printf("  %s %" PRIx64 " %s (%s, byte %" PRId64 "): %" PRIu64 "\n",
			       v.right ? "part " : v.resolved ? "wrong" : "open ", ip, where, member, offset, n);
	}
	fclose(f);
	printf("%" PRIu64 " rows, %" PRIu64 " accesses: right %.3f %%, wrong %.3f %%, as %s itself %.2f %%\n", rows,
	       all,
	       100.0 * (double)right / (double)all, 100.0 * (double)wrong / (double)all, b->record,
	       100.0 * (double)own / (double)all);
}

/* ---- the truth as a profile of instruction addresses ---- */

struct leaf { uint64_t ip, n; int64_t offset; uint32_t size; bool store; };

struct leaves {
	struct leaf *items;
	size_t nr, cap;
};

static void read_leaves(struct bench *b, const char *path, struct leaves *l)
{
	FILE *f = fopen(path, "r");
	char line[1024];

	while (f && fgets(line, sizeof(line), f)) {
		struct leaf x;
		int store;

		if (sscanf(line, "%" SCNx64 "\t%*s\t%*s\t%*s\t%" SCNd64 "\t%" SCNu32 "\t%d\t%" SCNu64, &x.ip, &x.offset,
			   &x.size, &store, &x.n) != 5)
			continue;
		x.store = store;
		*LM_ARENA_PUSH(&b->arena, l->items, l->nr, l->cap) = x;
	}
	if (f)
		fclose(f);
}

/* Is the row's member the one that the emulator saw?  An array whose element is open stands for all of them. */
static bool names_leaf(struct bench *b, uint32_t record, const struct leaf *x, const char *member, uint64_t rest)
{
	struct lm_typing t = { b->src.bin, b->last->unit };
	struct lm_type_leaf leaf;
	struct lm_str path = { 0 };
	uint64_t at;
	bool found, same;
	size_t len = strlen(member);

	check(lm_typing_leaf(&t, (struct lm_reach){ record, x->offset, 0, true }, x->size, &path, &at, &leaf, &found));
	same = found && ((!strcmp(lm_str_text(&path), member) && at == rest) ||
			 (!strncmp(lm_str_text(&path), member, len) && lm_str_text(&path)[len] == '['));
	lm_str_release(&path);
	return same;
}

/* Each row of the truth is a CPU of its own, so that what is said of it comes back. */
static void profile(struct bench *b, const char *path)
{
	struct leaves l = { 0 };
	struct lm_samples t;
	struct lm_accesses out;
	struct lm_attribution a;
	struct lm_attribution_opts opts = { .record = b->record, .open_elements = true };
	uint64_t named = 0, wrong = 0, all = 0;
	const struct lm_dbg_record *rec;
	uint32_t record;

	read_leaves(b, path, &l);
	lm_samples_init(&t);
	lm_accesses_init(&out);
	for (size_t i = 0; i < l.nr; i++) {
		lm_samples_add(&t, (struct lm_sample){ .ip = l.items[i].ip, .symbol = LM_NO_STRING, .dso = LM_NO_STRING,
						       .cpu = (int32_t)i, .evidence = LM_EVIDENCE_PRECISE,
						       .op = l.items[i].store ? LM_OP_WRITE : LM_OP_READ,
						       .count = l.items[i].n });
		t.samples += l.items[i].n;
		all += l.items[i].n;
	}
	check(lm_attribute(b->src.bin, &t, &opts, &out, &a));
	check(lm_debuginfo_record(b->src.bin, b->record, &rec));
	check(lm_debuginfo_type_of_record(b->src.bin, rec, &record));
	for (size_t i = 0; i < out.nr; i++) {
		const struct lm_access *r = &out.rows[i];
		const char *member = lm_strings_get(out.strings, r->member);
		const struct leaf *x = &l.items[r->cpu];
		bool right = names_leaf(b, record, x, member, r->offset);

		named += r->reads + r->writes;
		wrong += right ? 0 : r->reads + r->writes;
		if (!right && getenv("LM_OPEN"))
			printf("  wrong %" PRIx64 " byte %" PRId64 ": %s + %" PRIu64 "\n", x->ip, x->offset, member, r->offset);
	}
	printf("as a profile without data addresses: %.2f %% named as leaves of %s, %.4f %% wrong\n",
	       100.0 * (double)named / (double)all, b->record, 100.0 * (double)wrong / (double)all);
	for (unsigned i = 0; i < LM_NR_OUTCOMES; i++)
		printf("  %8" PRIu64 "  %s\n", a.count[i], lm_outcome_text((enum lm_outcome)i));
	lm_accesses_release(&out);
	lm_samples_release(&t);
}

struct tally { unsigned all, stack, typed, open; };

static void count_row(struct bench *b, const struct lm_flow_row *row, struct tally *t)
{
	for (unsigned m = 0; m < row->insn.nr_mem; m++) {
		struct lm_type_leaf leaf;
		bool typed;

		if (row->insn.mem[m].stack)
			continue;
		typed = row->reach[m].type != LM_NO_TYPE && leaf_of(b, row->reach[m], row->insn.mem[m].size, &leaf);
		t->all++;
		t->typed += typed;
		t->stack += !typed && row->on_stack[m];
		t->open += !typed && !row->on_stack[m];
		if (!typed && !row->on_stack[m] && getenv("LM_OPEN")) {
			struct lm_type type = { .name = "?" };

			if (row->reach[m].type != LM_NO_TYPE)
				check(lm_debuginfo_type(b->src.bin, row->reach[m].type, &type));
			printf("  open %" PRIx64 " %s %s%+" PRId64 "*%" PRIu64 "\n", row->insn.addr, b->last->name,
			       type.name, row->reach[m].offset, row->reach[m].stride);
		}
	}
}

/* Prints a row of code that touches memory. */
static void print_row(const struct lm_flow_row *row)
{
	for (unsigned m = 0; m < row->insn.nr_mem; m++) {
		if (row->insn.mem[m].stack || row->on_stack[m])
			continue;
		printf("%" PRIx64 "%s\n", row->insn.addr, row->insn.mem[m].write ? " w" : "");
		return;
	}
}

/* t: NULL prints the addresses instead. */
static void whole_unit(struct bench *b, const char *name, struct tally *t)
{
	uint32_t unit;
	uint64_t at;
	bool found = true;

	check(lm_debuginfo_unit(b->src.bin, name, &unit));
	for (size_t i = 0; unit != LM_NO_UNIT && found; i++) {
		check(lm_debuginfo_unit_code(b->src.bin, unit, i, &at, &found));
		/* A second piece (cold) of a function: the first one stands for all. */
		if (!found || !row_at(b, at) || b->last->ranges[0].from != at)
			continue;
		for (size_t r = 0; r < b->flow.nr; r++) {
			if (t)
				count_row(b, &b->flow.rows[r], t);
			else
				print_row(&b->flow.rows[r]);
		}
	}
}

/* The fields of a line of perf script that the trace has: cpu, address, data_src, ip, symbol. */
static bool parse_line(const char *line, struct lm_samples *t)
{
	uint64_t addr, source, ip;
	char symbol[256];
	int cpu;
	const char *at = strchr(line, '['), *event = at ? strstr(at, "P: ") : NULL, *tail;
	struct lm_sample s = { .dso = LM_NO_STRING, .evidence = LM_EVIDENCE_PRECISE, .count = 1 };

	if (!event || sscanf(at, "[%d]", &cpu) != 1 || sscanf(event, "P: %" SCNx64 " %" SCNx64, &addr, &source) != 2)
		return false;
	tail = strstr(event, "BLK");
	if (!tail || sscanf(tail, "BLK %*s %*s %" SCNx64 " %255[^+ ]", &ip, symbol) != 2)
		return false;
	s.ip = ip;
	s.addr = addr;
	s.cpu = cpu;
	s.op = source & 4 ? LM_OP_WRITE : LM_OP_READ;
	s.symbol = lm_strings_add(t->strings, symbol, strlen(symbol));
	lm_samples_add(t, s);
	t->samples++;
	return true;
}

/* A trace with data addresses, of one object whose base is known: objects are found, not given. */
static void trace(struct lm_debuginfo *bin, const char *record, const char *path)
{
	FILE *f = fopen(path, "r");
	char line[1024];
	struct lm_samples t;
	struct lm_accesses out;
	struct lm_attribution a;
	struct lm_attribution_opts opts = { .record = record };

	if (!f) {
		perror(path);
		exit(1);
	}
	lm_samples_init(&t);
	lm_accesses_init(&out);
	while (fgets(line, sizeof(line), f))
		parse_line(line, &t);
	fclose(f);
	check(lm_attribute(bin, &t, &opts, &out, &a));
	printf("trace: %" PRIu64 " samples, %" PRIu64 " objects, slide %" PRIx64 "\n", a.samples, a.objects, a.slide);
	for (unsigned i = 0; i < LM_NR_OUTCOMES; i++)
		printf("  %8" PRIu64 "  %s\n", a.count[i], lm_outcome_text((enum lm_outcome)i));
	if (getenv("LM_OPEN")) {
		struct lm_str text = { 0 };

		lm_accesses_sort(&out);
		lm_accesses_print(&out, &text);
		fputs(lm_str_text(&text), stdout);
		lm_str_release(&text);
	}
	lm_accesses_release(&out);
	lm_samples_release(&t);
}

/* In MB; getrusage() would count what the caller had before it started us. */
static long peak_memory(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb = 0;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmHWM: %ld kB", &kb);
	if (f)
		fclose(f);
	return kb / 1024;
}

int main(int argc, char **argv)
{
	struct bench b = { .record = argc > 2 ? argv[2] : "" };
	struct lm_image *image;
	struct tally t = { 0 };
	double from = now();

	if (argc < 3) {
		fprintf(stderr, "usage: bench_attribution VMLINUX RECORD [TRUTH.tsv [SCRIPT.txt]] | VMLINUX --instructions\n");
		return 2;
	}
	check(lm_debuginfo_open(argv[1], &b.src.bin));
	check(lm_debuginfo_index(b.src.bin));
	if (strcmp(b.record, "--instructions"))
		printf("index: %.2f s\n", now() - from);
	check(lm_image_open(argv[1], &image));
	b.src.image = image;
	b.src.disasm = lm_disasm_new(lm_image_machine(image));
	b.src.cache = lm_flow_cache_new();
	from = now();
	if (argc > 3) {
		truth(&b, argv[3]);
		printf("attribution by instructions: %.2f s\n", now() - from);
		from = now();
		profile(&b, argv[3]);
		printf("attribution of the profile: %.2f s\n", now() - from);
	}
	from = now();
	if (!strcmp(b.record, "--instructions")) {
		whole_unit(&b, "mm/memcontrol.c", NULL);
		whole_unit(&b, "mm/page_counter.c", NULL);
		return 0;
	}
	whole_unit(&b, "mm/memcontrol.c", &t);
	whole_unit(&b, "mm/page_counter.c", &t);
	printf("%u memory operands in mm/memcontrol.c and mm/page_counter.c: typed %.2f %%, own stack %.2f %%, "
	       "open %.2f %%, %.2f s\n", t.all, 100.0 * t.typed / t.all, 100.0 * t.stack / t.all,
	       100.0 * t.open / t.all, now() - from);
	if (argc > 4) {
		from = now();
		trace(b.src.bin, b.record, argv[4]);
		printf("attribution of the trace: %.2f s\n", now() - from);
	}
	printf("peak memory: %ld MB\n", peak_memory());
	lm_disasm_free((struct lm_disasm *)b.src.disasm);
	lm_image_close(image);
	lm_flow_cache_free(b.src.cache);
	lm_debuginfo_close(b.src.bin);
	lm_arena_release(&b.flows);
	lm_arena_release(&b.arena);
	return 0;
}
