/* guess.c - who looks written, who looks read. */
#include "optimizer/guess.h"

#include "optimizer/path.h"

#include <string.h>

struct word {
	const char *text, *why;
};

/* Parts of a member's type, most telling first. */
static const struct word written_types[] = {
	{ "percpu_counter", "a counter" }, { "percpu_ref", "a reference count" }, { "refcount", "a reference count" },
	{ "kref", "a reference count" }, { "lockref", "a lock" }, { "seqcount", "a sequence count" },
	{ "spinlock", "a lock" }, { "rwlock", "a lock" }, { "seqlock", "a lock" }, { "mutex", "a lock" },
	{ "semaphore", "a lock" }, { "_lock_t", "a lock" }, { "lock_t", "a lock" }, { "atomic", "an atomic" },
	{ "_Atomic", "an atomic" }, { "local_t", "a counter" }, { "local64_t", "a counter" },
	{ "hlist_node", "a list node" }, { "list_head", "a list head" }, { "llist_head", "a list head" },
	{ "hlist_head", "a list head" }, { "rb_root", "a tree" }, { "wait_queue", "a queue" },
	{ "work_struct", "queued work" }, { "delayed_work", "queued work" }, { "timer_list", "a timer" },
	{ "hrtimer", "a timer" }, { "completion", "a completion" }, { "pthread_cond_t", "a lock" },
};

/* Levels of a path inside a nested record. */
static const struct word written_levels[] = {
	{ "counter", "an atomic" }, { "refs", "a reference count" }, { "refcount", "a reference count" },
	{ "next", "a list node" }, { "prev", "a list node" }, { "pprev", "a list node" },
};

/* Words of any level of a path, between underscores. */
static const struct word lock_names[] = {
	{ "lock", "named like a lock" }, { "rlock", "named like a lock" }, { "spinlock", "named like a lock" },
	{ "mutex", "named like a lock" },
};

/* Words of names, between underscores. */
static const struct word written_names[] = {
	{ "count", "named like a counter" }, { "counts", "named like a counter" }, { "counter", "named like a counter" },
	{ "counters", "named like a counter" }, { "cnt", "named like a counter" }, { "nr", "named like a counter" },
	{ "stat", "named like a counter" }, { "stats", "named like a counter" }, { "hits", "named like a counter" },
	{ "misses", "named like a counter" }, { "events", "named like a counter" }, { "packets", "named like a counter" },
	{ "bytes", "named like a counter" }, { "dropped", "named like a counter" }, { "seq", "a sequence count" },
	{ "refs", "a reference count" }, { "refcnt", "a reference count" }, { "usage", "named like a counter" },
	{ "inflight", "named like a counter" }, { "pending", "named like a counter" },
};

static const struct word read_names[] = {
	{ "max", "named like a limit" }, { "min", "named like a limit" }, { "limit", "named like a limit" },
	{ "low", "named like a limit" }, { "high", "named like a limit" }, { "size", "named like a setting" },
	{ "mask", "named like a setting" }, { "shift", "named like a setting" }, { "ops", "named like operations" },
	{ "config", "named like a setting" }, { "enabled", "named like a setting" }, { "id", "named like a setting" },
	{ "mode", "named like a setting" }, { "order", "named like a setting" }, { "ratio", "named like a setting" },
	{ "timeout", "named like a setting" }, { "interval", "named like a setting" },
	{ "swappiness", "named like a setting" }, { "threshold", "named like a limit" },
};

#define NR(array) (sizeof(array) / sizeof(*(array)))

static const char *in_type(const char *type)
{
	for (size_t i = 0; i < NR(written_types); i++)
		if (strstr(type, written_types[i].text))
			return written_types[i].why;
	return NULL;
}

/* A part of text between separators that is one of the words. */
static const char *in_parts(const char *text, const char *separators, const struct word *words, size_t nr)
{
	while (*text) {
		size_t len = strcspn(text, separators);

		for (size_t i = 0; i < nr; i++)
			if (len == strlen(words[i].text) && !strncmp(text, words[i].text, len))
				return words[i].why;
		text += len;
		text += *text != 0;
	}
	return NULL;
}

static const char *last_name(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

/* A pointer by value (or array of them), to whatever: not what it points to. */
static bool is_pointer_type(const char *type)
{
	return strchr(type, '*') != NULL;
}

static const char *looks_written(const struct lm_field *f, const struct lm_leaf *leaf)
{
	const char *why = is_pointer_type(f->type) ? NULL : in_type(f->type), *below = strchr(leaf->path, '.');

	if (!why && !is_pointer_type(leaf->type))
		why = in_type(leaf->type);
	if (!why && below)
		why = in_parts(below + 1, ".[", written_levels, NR(written_levels));
	if (!why && !leaf->is_pointer)
		why = in_parts(leaf->path, "._[", lock_names, NR(lock_names));
	if (!why && !leaf->is_pointer)
		why = in_parts(last_name(leaf->path), "_[", written_names, NR(written_names));
	return why;
}

static const char *looks_read(const struct lm_leaf *leaf)
{
	if (leaf->is_pointer)
		return "a pointer";
	if (!strncmp(leaf->type, "const ", 6))
		return "const";
	if (!strcmp(leaf->type, "bool") || !strcmp(leaf->type, "_Bool"))
		return "a setting, on or off";
	return in_parts(last_name(leaf->path), "_[", read_names, NR(read_names));
}

enum lm_guess lm_guess_leaf(const struct lm_record *rec, uint32_t leaf, const char **why)
{
	const struct lm_leaf *l = &rec->leaves[leaf];

	*why = looks_written(&rec->fields[l->field], l);
	if (*why)
		return LM_GUESS_WRITTEN;
	*why = looks_read(l);
	return *why ? LM_GUESS_READ : LM_GUESS_UNKNOWN;
}

/* ---- pairs ---- */

/* A leaf with its guess and its lines in one version. */
struct place {
	enum lm_guess guess;
	const char *why;
	uint64_t first, last;
	uint32_t before;	/* the same leaf in the other version, or LM_NONE */
};

static void lines_of(const struct lm_record *rec, uint32_t leaf, uint32_t line, uint64_t *first, uint64_t *last)
{
	const struct lm_leaf *l = &rec->leaves[leaf];
	uint64_t begin = rec->fields[l->field].bit_offset / 8 + l->offset;

	*first = begin / line;
	*last = (begin + (l->size ? l->size - 1 : 0)) / line;
}

static bool were_mates(const struct lm_record *before, uint32_t a, uint32_t b, uint32_t line)
{
	uint64_t first_a, last_a, first_b, last_b;

	if (a == LM_NONE || b == LM_NONE)
		return false;
	lines_of(before, a, line, &first_a, &last_a);
	lines_of(before, b, line, &first_b, &last_b);
	return first_a <= last_b && first_b <= last_a;
}

static bool is_listed(const struct lm_record *rec, const struct lm_guessed *items, size_t nr, uint32_t w, uint32_t r)
{
	for (size_t i = 0; i < nr; i++)
		if (rec->leaves[items[i].written].field == rec->leaves[w].field &&
		    rec->leaves[items[i].read].field == rec->leaves[r].field)
			return true;
	return false;
}

void lm_guess_new_pairs(const struct lm_record *before, const struct lm_record *after, uint32_t line,
			struct lm_arena *arena, struct lm_guessed **items, uint32_t *nr)
{
	struct place *p = LM_ARENA_ARRAY(arena, struct place, after->nr_leaves + 1u);
	struct lm_guessed *out = NULL;
	size_t n = 0, cap = 0;

	for (uint32_t i = 0; i < after->nr_leaves; i++) {
		p[i].guess = lm_guess_leaf(after, i, &p[i].why);
		lines_of(after, i, line, &p[i].first, &p[i].last);
		p[i].before = lm_path_leaf(before, after->leaves[i].path);
	}
	for (uint32_t w = 0; w < after->nr_leaves; w++)
		for (uint32_t r = 0; p[w].guess == LM_GUESS_WRITTEN && r < after->nr_leaves; r++) {
			if (p[r].guess != LM_GUESS_READ || after->leaves[w].field == after->leaves[r].field ||
			    p[w].first > p[r].last || p[r].first > p[w].last ||
			    were_mates(before, p[w].before, p[r].before, line) || is_listed(after, out, n, w, r))
				continue;
			*LM_ARENA_PUSH(arena, out, n, cap) = (struct lm_guessed){
				.written = w, .read = r, .why_written = p[w].why, .why_read = p[r].why,
				.line = p[w].first > p[r].first ? p[w].first : p[r].first,
			};
		}
	*items = out;
	*nr = (uint32_t)n;
}
