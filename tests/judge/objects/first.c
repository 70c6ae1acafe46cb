/* One half of a module: its own data, per-CPU data, what is defined in the other half, and code in four sections. */
#include "halves.h"

#define init_code __attribute__((noinline, section(".init.text")))
#define exit_code __attribute__((noinline, section(".exit.text")))
#define cold_code __attribute__((noinline, cold))

static struct conn *table[64];
static struct stat here;
static struct stat per_cpu __attribute__((section(".data..percpu")));
struct conn first_conn, many[8];
static const struct ops first_ops = { count, drop };

apart void count(struct conn *c)
{
	c->hits++;
	here.packets += 2;
	per_cpu.packets++;
}

apart struct conn *find(u64 key)
{
	struct conn *c = table[key % 64];

	while (c && c->key != key)
		c = c->next;
	return c;
}

cold_code void drop(struct conn *c)
{
	here.drops++;
	c->ops = &first_ops;
	if (c->key > 12)
		second_conn.state = (u32)c->key;
	__builtin_memset(&c->window, 0, sizeof(c->window));
}

apart u64 choose(struct conn *c, int how)
{
	switch (how) {
	case 0: return c->key;
	case 1: return c->hits;
	case 2: return c->window[0];
	case 3: return c->next ? c->next->key : 0;
	case 4: c->state = 4; return find(1)->hits;
	case 5: return many[c->state & 7].hits;
	case 6: second_table[c->state & 3].key = 7; return 9;
	}
	return outside.packets + first_conn.key;
}

init_code int start(u64 key)
{
	struct conn *c = find(key);

	if (!c)
		return elsewhere(key);
	c->ops = &first_ops;
	c->next = table[key % 64];
	table[key % 64] = c;
	poll(c);
	return (int)choose(c, (int)key);
}

exit_code void stop(void)
{
	for (unsigned i = 0; i < 64; i++)
		while (table[i]) {
			struct conn *c = table[i];

			table[i] = c->next;
			c->ops->drop(c);
			elsewhere(c->key);
			c->state = 0;
		}
}
