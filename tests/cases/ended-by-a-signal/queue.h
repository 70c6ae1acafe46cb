#ifndef QUEUE_H
#define QUEUE_H

struct queue {
	void *list[2];
	unsigned long pushed;
	unsigned long pops;
	void *limit;
	unsigned char name[80];
	int flags;
} __attribute__((aligned(64)));

#endif
