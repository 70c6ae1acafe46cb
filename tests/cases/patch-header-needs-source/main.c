struct list {
	struct list *next, *prev;
};

#include "queue.h"

void push(struct queue *q)
{
	q->pushed++;
}
