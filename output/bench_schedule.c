/*
 * bench_schedule.c - rates into a sequence that a thread can repeat.
 *
 * A pass of a thread has a fixed number of slots.  Sites are drawn by
 * systematic sampling (one draw in each of n equal parts of the sum of rates),
 * so that what is rare is there as often as it should be, then shuffled from a
 * fixed seed.  A site's accesses stay together.
 */
#include "output/bench.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* One site on one CPU: touches [first, first + nr) of the order, played at rate. */
struct visit {
	uint32_t cpu;
	size_t first, nr;
	double rate;	/* the largest of its touches' */
	double ops;	/* accesses of one visit */
};

struct planning {
	const struct lm_view *view;
	const struct lm_touch *touches;
	uint32_t *order;	/* touches by CPU, site, object, place */
	size_t nr;
	struct visit *visits;
	size_t nr_visits;
	uint32_t nr_cpus;
	uint64_t random;
	struct lm_arena *arena;
};

static uint64_t next_random(struct planning *p)
{
	p->random ^= p->random >> 12;
	p->random ^= p->random << 25;
	p->random ^= p->random >> 27;
	return p->random * 0x2545f4914f6cdd1du;
}

static double unit_random(struct planning *p)
{
	return (double)(next_random(p) >> 11) * 0x1p-53;
}

/* ---- visits ---- */

static int compare_touches(const void *left, const void *right, void *arg)
{
	const struct lm_touch *touches = arg;
	uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
	const struct lm_touch *a = &touches[i], *b = &touches[k];

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->field != b->field)
		return a->field < b->field ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (i > k) - (i < k);
}

static double rate_of(const struct lm_touch *t)
{
	return t->reads > t->writes ? t->reads : t->writes;
}

static void collect_visits(struct planning *p)
{
	p->order = LM_ARENA_ARRAY(p->arena, uint32_t, p->nr);
	p->visits = LM_ARENA_ARRAY(p->arena, struct visit, p->nr);
	for (size_t i = 0; i < p->nr; i++)
		p->order[i] = (uint32_t)i;
	qsort_r(p->order, p->nr, sizeof(*p->order), compare_touches, (void *)p->touches);
	for (size_t i = 0; i < p->nr; i++) {
		const struct lm_touch *t = &p->touches[p->order[i]], *last = i ? &p->touches[p->order[i - 1]] : NULL;
		struct visit *v = p->nr_visits ? &p->visits[p->nr_visits - 1] : NULL;

		if (!last || last->cpu != t->cpu || last->site != t->site || last->object != t->object) {
			v = &p->visits[p->nr_visits++];
			*v = (struct visit){ .cpu = t->cpu, .first = i };
		}
		v->nr++;
		v->rate = rate_of(t) > v->rate ? rate_of(t) : v->rate;
	}
	for (size_t i = 0; i < p->nr_visits; i++)
		for (size_t k = 0; k < p->visits[i].nr; k++)
			p->visits[i].ops += rate_of(&p->touches[p->order[p->visits[i].first + k]]) / p->visits[i].rate;
}

/* ---- one player ---- */

static bool plays(const struct planning *p, uint32_t threads, uint32_t thread, uint32_t cpu)
{
	return threads < p->nr_cpus ? cpu % threads == thread : cpu == thread % p->nr_cpus;
}

/* Accesses in the profile that this thread plays. */
static double load_of(const struct planning *p, uint32_t threads, uint32_t thread)
{
	double sum = 0;

	for (size_t i = 0; i < p->nr_visits; i++)
		if (plays(p, threads, thread, p->visits[i].cpu))
			sum += p->visits[i].rate * p->visits[i].ops;
	return sum;
}

/* The kernel's atomic types have a counter; others say what they are. */
static bool is_atomic(const struct lm_record *rec, const struct lm_touch *t)
{
	const char *path = t->leaf != LM_NONE ? rec->leaves[t->leaf].path : "", *dot = strrchr(path, '.');

	return (dot && !strcmp(dot, ".counter")) || strcasestr(rec->fields[t->field].type, "atomic") ||
	       (t->leaf != LM_NONE && strcasestr(rec->leaves[t->leaf].type, "atomic"));
}

static uint32_t op_size(uint32_t size)
{
	return size >= 8 ? 8 : size >= 4 ? 4 : size >= 2 ? 2 : 1;
}

/* Loads, stores and read-modify-writes of a touch in proportion: those that read and write are one access. */
static enum lm_bench_op draw_op(struct planning *p, const struct lm_touch *t)
{
	double both = t->reads < t->writes ? t->reads : t->writes, x = unit_random(p) * rate_of(t);

	if (x < both)
		return LM_BENCH_ADD;
	if (t->reads > t->writes)
		return LM_BENCH_LOAD;
	return is_atomic(p->view->rec, t) ? LM_BENCH_ADD : LM_BENCH_STORE;
}

/* One visit's accesses, into at most room slots; how many. */
static size_t play_visit(struct planning *p, const struct visit *v, struct lm_bench_slot *slots, size_t room)
{
	size_t nr = 0;

	for (size_t k = 0; k < v->nr && nr < room; k++) {
		uint32_t i = p->order[v->first + k];
		const struct lm_touch *t = &p->touches[i];

		if (unit_random(p) * v->rate < rate_of(t))
			slots[nr++] = (struct lm_bench_slot){ draw_op(p, t), op_size(t->size), i };
	}
	return nr;
}

/* Visits of this thread, drawn by rate and shuffled; their number. */
static size_t draw_visits(struct planning *p, uint32_t threads, uint32_t thread, size_t nr, const struct visit **out)
{
	double sum = 0, step, next;
	size_t drawn = 0;

	for (size_t i = 0; i < p->nr_visits; i++)
		sum += plays(p, threads, thread, p->visits[i].cpu) ? p->visits[i].rate : 0;
	step = sum / (double)nr;
	next = step * unit_random(p);
	sum = 0;
	for (size_t i = 0; i < p->nr_visits; i++) {
		if (!plays(p, threads, thread, p->visits[i].cpu))
			continue;
		for (sum += p->visits[i].rate; next < sum && drawn < nr; next += step)
			out[drawn++] = &p->visits[i];
	}
	for (size_t i = drawn; i > 1; i--) {
		size_t k = (size_t)(next_random(p) % i);
		const struct visit *v = out[i - 1];

		out[i - 1] = out[k];
		out[k] = v;
	}
	return drawn;
}

static double ops_per_visit(const struct planning *p, uint32_t threads, uint32_t thread)
{
	double visits = 0;

	for (size_t i = 0; i < p->nr_visits; i++)
		visits += plays(p, threads, thread, p->visits[i].cpu) ? p->visits[i].rate : 0;
	return visits > 0 ? load_of(p, threads, thread) / visits : 0;
}

/* Spreads nr accesses evenly over all slots, idle ones in between. */
static void spread(struct lm_bench_player *player, const struct lm_bench_slot *slots, size_t nr)
{
	for (size_t i = 0; i < LM_BENCH_SLOTS; i++)
		player->slots[i] = (struct lm_bench_slot){ .op = LM_BENCH_IDLE };
	for (size_t i = 0; i < nr; i++)
		player->slots[i * LM_BENCH_SLOTS / nr] = slots[i];
	player->ops = (uint32_t)nr;
}

static void make_player(struct planning *p, uint32_t threads, uint32_t thread, double busiest,
			struct lm_bench_player *out)
{
	double share = busiest > 0 ? load_of(p, threads, thread) / busiest : 0;
	size_t want = (size_t)(share * LM_BENCH_SLOTS + 0.5), nr = 0, drawn;
	struct lm_bench_slot *slots = LM_ARENA_ARRAY(p->arena, struct lm_bench_slot, LM_BENCH_SLOTS);
	const struct visit **visits = LM_ARENA_ARRAY(p->arena, const struct visit *, LM_BENCH_SLOTS);
	double each = ops_per_visit(p, threads, thread);

	*out = (struct lm_bench_player){ .threads = threads, .thread = thread };
	out->slots = LM_ARENA_ARRAY(p->arena, struct lm_bench_slot, LM_BENCH_SLOTS);
	want = want > LM_BENCH_SLOTS ? LM_BENCH_SLOTS : want;
	if (want && each > 0) {
		size_t nr_visits = (size_t)((double)want / each + 0.999);

		nr_visits = nr_visits ? nr_visits : 1;
		drawn = draw_visits(p, threads, thread, nr_visits < LM_BENCH_SLOTS ? nr_visits : LM_BENCH_SLOTS, visits);
		for (size_t i = 0; i < drawn && nr < want; i++)
			nr += play_visit(p, visits[i], slots + nr, want - nr);
	}
	spread(out, slots, nr);
}

void lm_bench_schedule(const struct lm_view *view, const struct lm_usage *u, uint32_t v, uint32_t max_threads,
		       struct lm_arena *arena, struct lm_bench_schedule *out)
{
	struct planning p = { .view = view, .touches = u->touches[v], .nr = u->nr_touches[v], .nr_cpus = u->nr_cpus,
			      .random = 0x9e3779b97f4a7c15u, .arena = arena };
	size_t cap = 0;

	assert(max_threads && u->nr_cpus);
	*out = (struct lm_bench_schedule){ 0 };
	collect_visits(&p);
	for (uint32_t threads = 1; threads <= max_threads;
	     threads = threads == max_threads ? threads + 1 : threads * 2 < max_threads ? threads * 2 : max_threads) {
		double busiest = 0;

		for (uint32_t t = 0; t < threads; t++)
			busiest = load_of(&p, threads, t) > busiest ? load_of(&p, threads, t) : busiest;
		for (uint32_t t = 0; t < threads; t++)
			make_player(&p, threads, t, busiest, LM_ARENA_PUSH(arena, out->players, out->nr, cap));
	}
}
