/*
 * server.c - the heart of a small server: workers answer requests by the pool's
 * configuration, an acceptor counts the connections.
 *
 * server WORKERS REQUESTS [CONNECTIONS] - as many requests on each worker,
 * while the acceptor takes connections: as many as given, or until the workers
 * are done.  Prints how many requests a second were answered.
 */
#include "pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_WORKERS = 64 };

static const struct backend backends[] = { { 3, 8001 }, { 1, 8002 }, { 2, 8003 }, { 2, 8004 } };
static struct pool pool = { .backends = backends, .nr_backends = 4, .retries = 2, .connect_ms = 50, .read_ms = 200 };
static unsigned long nr_requests, nr_connections;
static atomic_bool done;

static unsigned long answer(const struct pool *p, unsigned long key)
{
	unsigned long waited = 0;

	for (unsigned attempt = 0; attempt <= p->retries; attempt++) {
		const struct backend *b = &p->backends[(key + attempt) % p->nr_backends];

		waited += b->weight * p->connect_ms + p->read_ms;
		/* A real one waits for the backend here: nothing that was read may be kept. */
		atomic_signal_fence(memory_order_seq_cst);
	}
	return waited;
}

static void *work(void *arg)
{
	unsigned long key = (unsigned long)(size_t)arg;

	for (unsigned long i = 0; i < nr_requests; i++)
		key = key * 6364136223846793005UL + answer(&pool, key >> 33);
	return (void *)(size_t)key;
}

static void *take(void *arg)
{
	struct pool *p = arg;

	for (unsigned long i = 0; nr_connections ? i < nr_connections : !atomic_load(&done); i++) {
		atomic_fetch_add(&p->accepted, 1);
		atomic_store(&p->backlog, i % 128);
	}
	return NULL;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	unsigned nr = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	pthread_t workers[MAX_WORKERS], acceptor;
	double start = now();

	nr = nr > MAX_WORKERS ? MAX_WORKERS : nr;
	nr_requests = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	nr_connections = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	pthread_create(&acceptor, NULL, take, &pool);
	for (unsigned i = 0; i < nr; i++)
		pthread_create(&workers[i], NULL, work, (void *)(size_t)(i + 1));
	for (unsigned i = 0; i < nr; i++)
		pthread_join(workers[i], NULL);
	printf("%lu requests, %.0f a second\n", nr * nr_requests, (double)(nr * nr_requests) / (now() - start));
	atomic_store(&done, true);
	pthread_join(acceptor, NULL);
	return 0;
}
