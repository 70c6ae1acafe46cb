/* The other half: calls into the first one, and its data. */
#include "halves.h"

struct conn second_conn, second_table[4];
static struct conn *last;

static inline void push(struct window *w, u64 n)
{
	w->head += n;
	w->bytes += 4 * n;
}

apart void poll(struct conn *c)
{
	struct conn *found = find(c->key + 1);

	push(&c->more, c->hits);
	last = c;
	if (found && found->state == 77) {
		found->state = 1;
		count(found);
	}
	outside.drops++;
	first_conn.next = c;
}

apart u64 total(void)
{
	u64 sum = last ? last->hits : 0;

	for (int i = 0; i < 8; i++)
		sum += many[i].hits + many[i].more.bytes;
	return sum + choose(last, 3);
}
