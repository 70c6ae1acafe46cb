/* service.h - the state of a small lookup server: one for all of its threads. */
#ifndef SERVICE_H
#define SERVICE_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

struct slot {
	uint32_t key, value;
};

struct service {
	const char *socket_path;
	int listener;
	unsigned int nr_threads;

	/* the index: built once, then read for each key that is looked up */
	const struct slot *slots;
	uint32_t mask;
	uint32_t seed;

	/* counted for each event that comes in */
	uint64_t events;
	uint64_t event_bytes;

	/* keys that are looked for longer than this are not there */
	uint32_t max_probes;

	/* when it was started, and where it says so */
	struct timespec started;
	char banner[72];
	pthread_mutex_t start_lock;
	unsigned int connections;
};

#endif
