/*
 * server.c - a lookup server on a Unix socket, one thread a connection.
 *
 *   server SOCKET
 *
 * A client sends a letter and then requests of two numbers, 32 bit each.  Of L
 * they are a first key and how many keys follow it, answered by the sum of the
 * values; of E a size and how many events of that size there were, answered by
 * the events counted so far.  Q ends the server.  Behind the last request of a
 * connection it says how many keys it looked up in a second.
 */
#include "service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { SLOTS = 1024, KEYS = 512 };

struct request {
	uint32_t what, nr;
};

static struct slot slots[SLOTS];
static _Alignas(64) struct service the_service;

static uint32_t hash(uint32_t key, uint32_t seed)
{
	key = (key ^ seed) * 0x9e3779b1u;
	return key ^ key >> 15;
}

static void build_index(struct service *s)
{
	s->mask = SLOTS - 1;
	s->seed = 0x5eed;
	s->max_probes = 16;
	for (uint32_t key = 1; key <= KEYS; key++) {
		uint32_t at = hash(key, s->seed) & s->mask;

		while (slots[at].key)
			at = (at + 1) & s->mask;
		slots[at] = (struct slot){ key, key * 7 + 1 };
	}
	s->slots = slots;
}

__attribute__((noinline)) static uint32_t look_up(const struct service *s, uint32_t key)
{
	uint32_t at = hash(key, s->seed);

	for (uint32_t i = 0; i < s->max_probes; i++, at++) {
		const struct slot *slot = &s->slots[at & s->mask];

		if (slot->key == key)
			return slot->value;
		if (!slot->key)
			break;
	}
	return 0;
}

__attribute__((noinline)) static void count_event(struct service *s, uint32_t size)
{
	__atomic_fetch_add(&s->events, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->event_bytes, size, __ATOMIC_RELAXED);
}

static int receive(int fd, void *to, size_t size)
{
	for (ssize_t n; size; size -= (size_t)n, to = (char *)to + n) {
		n = read(fd, to, size);
		if (n <= 0)
			return 0;
	}
	return 1;
}

static int answer(int fd, const void *from, size_t size)
{
	for (ssize_t n; size; size -= (size_t)n, from = (const char *)from + n) {
		n = send(fd, from, size, MSG_NOSIGNAL);
		if (n <= 0)
			return 0;
	}
	return 1;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Keys above the last one start anew. */
static uint64_t sum_of_values(const struct service *s, const struct request *r)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->nr; i++)
		sum += look_up(s, (r->what + i) % SLOTS);
	return sum;
}

/* Prints once, behind the work: counting in the shared state would be the next thing to share. */
static void serve_lookups(struct service *s, int fd)
{
	double busy = 0, looked_up = 0;
	struct request r;

	while (receive(fd, &r, sizeof(r))) {
		double start = cpu_seconds();
		uint64_t sum = sum_of_values(s, &r);

		busy += cpu_seconds() - start;
		looked_up += r.nr;
		if (!answer(fd, &sum, sizeof(sum)))
			break;
	}
	if (busy > 0)
		printf("%.0f lookups, %.0f a second\n", looked_up, looked_up / busy);
	fflush(stdout);
}

static void serve_events(struct service *s, int fd)
{
	struct request r;

	while (receive(fd, &r, sizeof(r))) {
		uint64_t events;

		for (uint32_t i = 0; i < r.nr; i++)
			count_event(s, r.what);
		events = __atomic_load_n(&s->events, __ATOMIC_RELAXED);
		if (!answer(fd, &events, sizeof(events)))
			break;
	}
}

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char kind;

	if (receive(fd, &kind, 1)) {
		if (kind == 'L')
			serve_lookups(&the_service, fd);
		else if (kind == 'E')
			serve_events(&the_service, fd);
		else if (kind == 'Q')
			exit(0);
	}
	close(fd);
	return NULL;
}

static void start(struct service *s, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	pthread_mutex_init(&s->start_lock, NULL);
	clock_gettime(CLOCK_REALTIME, &s->started);
	s->socket_path = path;
	snprintf(s->banner, sizeof(s->banner), "lookup server, %d keys", KEYS);
	build_index(s);
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	s->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&address, sizeof(address)) || listen(s->listener, 8)) {
		perror(path);
		exit(1);
	}
	puts(s->banner);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return fprintf(stderr, "usage: server SOCKET\n"), 2;
	start(&the_service, argv[1]);
	for (;;) {
		int fd = accept(the_service.listener, NULL, NULL);
		pthread_t thread;

		if (fd < 0 || pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd))
			return 1;
		pthread_detach(thread);
		the_service.connections++;
	}
}
