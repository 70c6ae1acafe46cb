/* Locks and atomics, on members and through pointers to them. */
#include "common.h"

struct lock { u32 value; u32 owner; };
struct counter { s64 usage, min, low, high; struct counter *parent; };
struct account {
	u64 id;
	struct lock lock;
	struct counter memory, swap;
	u32 flags;
	u64 events[6];
	struct counter *current;
};

struct account obj_root, obj_child;

apart void take(struct lock *l, u32 who)
{
	u32 free = 0;

	while (!__atomic_compare_exchange_n(&l->value, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		free = 0;
	l->owner = who;
}

apart void give(struct lock *l)
{
	l->owner = 0;
	__atomic_store_n(&l->value, 0, __ATOMIC_RELEASE);
}

apart int charge(struct counter *counter, s64 n)
{
	for (struct counter *c = counter; c; c = c->parent) {
		s64 now = __atomic_add_fetch(&c->usage, n, __ATOMIC_SEQ_CST);

		if (now > c->high) {
			__atomic_sub_fetch(&c->usage, n, __ATOMIC_SEQ_CST);
			return 0;
		}
		if (now < c->low)
			__atomic_exchange_n(&c->low, now, __ATOMIC_RELAXED);
	}
	return 1;
}

apart void event(struct account *a, u32 which)
{
	__atomic_fetch_add(&a->events[which], 1, __ATOMIC_RELAXED);
	__atomic_fetch_or(&a->flags, 1u << which, __ATOMIC_RELAXED);
}

apart int both(struct account *a, s64 n, int swap)
{
	struct counter *c = swap ? &a->swap : &a->memory;
	int ok;

	take(&a->lock, (u32)n);
	ok = charge(c, n);
	if (!ok)
		event(a, (u32)n % 6);
	a->current = c;
	give(&a->lock);
	return ok;
}

int run(int seed)
{
	int sum = 0;

	obj_root.memory.high = obj_root.swap.high = 20;
	obj_child.memory.high = obj_child.swap.high = 10;
	obj_child.memory.parent = &obj_root.memory;
	obj_child.swap.parent = &obj_root.swap;
	for (int i = 0; i < 12; i++)
		sum += both(i & 4 ? &obj_root : &obj_child, seed + i, i & 1);
	return sum + (int)obj_root.flags;
}
