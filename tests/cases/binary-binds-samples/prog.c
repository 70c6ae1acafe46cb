#include "conn.h"

struct conn conns[4];

__attribute__((noinline)) void count(struct conn *c)
{
	__atomic_fetch_add(&c->hits, 1, __ATOMIC_RELAXED);
}

__attribute__((noinline)) void *look_up(struct conn *c)
{
	return c->table;
}

int main(void)
{
	count(&conns[1]);
	return look_up(&conns[1]) != 0;
}
