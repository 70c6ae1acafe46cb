#include "queue.h"

struct ring {
	struct queue queue[2];
	unsigned long head __attribute__((aligned(64)));
	unsigned long tail;
};
