/* pool.h - what all threads of the server share. */
#ifndef POOL_H
#define POOL_H

#include <stdalign.h>
#include <stdatomic.h>

struct backend {
	unsigned weight, port;
};

struct pool {
	/* Set once, when the configuration is read. */
	alignas(64) const struct backend *backends;
	unsigned nr_backends;
	unsigned retries;

	/* The acceptor counts every connection. */
	atomic_ulong accepted;
	atomic_ulong backlog;

	/* Set once, too: how long to wait for a backend. */
	unsigned connect_ms;
	unsigned read_ms;
	char name[40];

	/* Only the thread that reports touches these. */
	unsigned long reported, interval_ms;
	char path[64];
};

#endif
