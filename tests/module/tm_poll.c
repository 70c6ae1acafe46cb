#include <linux/spinlock.h>

#include "tm.h"

static DEFINE_SPINLOCK(tm_lock);

void tm_poll(struct tm_conn *c)
{
	struct tm_conn *other = tm_find(c->key + 1);

	spin_lock(&tm_lock);
	if (other && other->state == 77) {
		other->state = 1;
		tm_count(other);
	}
	tm_count(c);
	c->window += 2;
	spin_unlock(&tm_lock);
}
