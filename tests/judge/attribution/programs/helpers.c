/* Inlined helpers, tail calls, calls through pointers, many live pointers. */
#include "common.h"

struct ops;
struct queue { u32 head, tail; u64 bytes; };
struct device {
	const struct ops *ops;
	u64 state;
	struct queue in, out;
	struct device *peer;
	u32 errors;
};
struct ops { int (*send)(struct device *d, u32 n); void (*reset)(struct device *d); };

struct device obj_one, obj_two;

inline_always void push(struct queue *q, u32 n)
{
	q->tail += n;
	q->bytes += n * 4ul;
}

inline_always u32 level(const struct queue *q)
{
	return q->tail - q->head;
}

inline_always struct queue *out_of(struct device *d)
{
	return &d->out;
}

apart void fail(struct device *d)
{
	d->errors++;
	d->state = 9;
}

apart int last(struct device *d, u32 n)
{
	if (n > 3)
		fail(d);
	return (int)d->in.tail;
}

apart int deliver(struct device *d, u32 n)
{
	push(&d->in, n);
	return last(d, n);
}

apart int send(struct device *d, u32 n)
{
	struct queue *q = out_of(d);

	push(q, n);
	if (level(q) > 12)
		q->head = q->tail;
	return deliver(d->peer, n);
}

apart void reset(struct device *d)
{
	d->state = 0;
	d->in.head = d->in.tail;
}

static const struct ops ops = { send, reset };

apart u64 mix(struct device *a, struct device *b, u64 n)
{
	struct queue *p = &a->in, *q = &b->in, *r = &a->out, *s = &b->out;
	u64 sum = 0;

	for (u64 i = 0; i < n; i++) {
		p->bytes ^= i;
		q->bytes += p->bytes;
		r->head += (u32)q->bytes & 1;
		s->head += r->tail;
		a->state += b->errors;
		b->state += a->errors;
		sum += s->bytes + (u64)last(i & 1 ? a : b, (u32)i);
	}
	return sum;
}

apart u32 depth(struct device *d, u32 n)
{
	return n ? depth(d->peer, n - 1) + d->errors : 0;
}

int run(int seed)
{
	int sum = 0;

	obj_one.ops = obj_two.ops = &ops;
	obj_one.peer = &obj_two;
	obj_two.peer = &obj_one;
	for (u32 i = 0; i < 6; i++) {
		struct device *d = i & 1 ? &obj_one : &obj_two;

		sum += d->ops->send(d, i + (u32)seed);
		if (i == 4)
			d->ops->reset(d);
	}
	return sum + (int)mix(&obj_one, &obj_two, 5) + (int)depth(&obj_one, 4);
}
