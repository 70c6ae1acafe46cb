#ifndef QUEUE_H
#define QUEUE_H

struct lock {
	int owner;
	int waiters;
};

struct queue {
	struct lock lock;
	unsigned long pushed[4];
#ifdef WITH_NAME
	char name[24];
#endif
	void *limit;
	int flags;
} __attribute__((aligned(64)));

#endif
