/*
 * reader_data_map.c - which file does an ip lie in?
 *
 * The newest mapping of the process that covers the ip, as perf says; a process
 * that mapped nothing there has what its parent had.  Samples ask again and
 * again for the same few thousand ips, so answers are kept in a small table.
 */
#include "profiles/reader_data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_ANCESTORS = 16 };

struct lm_maps *lm_maps_new(void)
{
	struct lm_maps *m = calloc(1, sizeof(*m));

	if (!m)
		lm_oom();
	m->names = lm_strings_new();
	m->pids = lm_strings_new();
	m->generation = 1;
	return m;
}

void lm_maps_free(struct lm_maps *m)
{
	lm_strings_free(m->names);
	lm_strings_free(m->pids);
	lm_arena_release(&m->arena);
	free(m);
}

/* The process of a pid, made if new. */
static uint32_t process_of(struct lm_maps *m, uint32_t pid)
{
	char text[16];
	uint32_t id = lm_strings_add(m->pids, text, (size_t)snprintf(text, sizeof(text), "%" PRIu32, pid));

	while (id >= m->nr_processes)
		*LM_ARENA_PUSH(&m->arena, m->processes, m->nr_processes, m->cap_processes) = (struct lm_process){ 0 };
	return id;
}

void lm_maps_add(struct lm_maps *m, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff, struct lm_span name)
{
	uint32_t process = process_of(m, pid);
	struct lm_map map = {
		.start = start,
		.pgoff = pgoff,
		.dso = lm_strings_add(m->names, name.p, lm_span_len(name)),
		.older = m->processes[process].newest,
	};

	if (__builtin_add_overflow(start, len, &map.end))
		map.end = UINT64_MAX;
	*LM_ARENA_PUSH(&m->arena, m->items, m->nr, m->cap) = map;
	m->processes[process].newest = (uint32_t)m->nr;
	m->generation++;
}

void lm_maps_fork(struct lm_maps *m, uint32_t pid, uint32_t parent)
{
	uint32_t child;

	if (pid == parent)
		return;
	child = process_of(m, pid);
	m->processes[child] = (struct lm_process){ .parent = process_of(m, parent) + 1 };
	m->generation++;
}

static const struct lm_map *find_map(const struct lm_maps *m, uint32_t process, uint64_t ip)
{
	for (int i = 0; i < MAX_ANCESTORS; i++) {
		uint32_t at = m->processes[process].newest;

		for (; at; at = m->items[at - 1].older)
			if (ip >= m->items[at - 1].start && ip < m->items[at - 1].end)
				return &m->items[at - 1];
		if (!m->processes[process].parent)
			return NULL;
		process = m->processes[process].parent - 1;
	}
	return NULL;
}

struct lm_place lm_maps_find(struct lm_maps *m, uint32_t pid, uint64_t ip)
{
	uint64_t hash = (ip ^ (uint64_t)pid << 40) * 0x9e3779b97f4a7c15u;
	struct lm_cached *c = &m->cache[hash >> 52];
	const struct lm_map *map;

	if (c->generation == m->generation && c->ip == ip && c->pid == pid)
		return c->place;
	*c = (struct lm_cached){ .ip = ip, .pid = pid, .generation = m->generation, .place = { LM_NO_STRING, 0 } };
	map = find_map(m, process_of(m, pid), ip);
	if (map)
		c->place = (struct lm_place){ map->dso, ip - map->start + map->pgoff };
	return c->place;
}
