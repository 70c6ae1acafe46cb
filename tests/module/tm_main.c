#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "tm.h"

static struct tm_conn *table[64];
static DEFINE_PER_CPU(struct tm_conn, tm_own);
static int tm_key = 3;

module_param(tm_key, int, 0644);

noinline void tm_count(struct tm_conn *c)
{
	c->hits++;
	this_cpu_ptr(&tm_own)->parts[1]++;
	this_cpu_inc(tm_own.hits);
	c->owner = current->pid;
}

noinline struct tm_conn *tm_find(unsigned long key)
{
	struct tm_conn *c = table[key % 64];

	while (c && c->key != key)
		c = c->next;
	return c;
}

static noinline __cold int tm_give_up(struct tm_conn *c)
{
	c->state = jiffies;
	return -ENOENT;
}

static int tm_set(const char *text, const struct kernel_param *p)
{
	struct tm_conn *c = tm_find(tm_key);

	if (!c)
		return tm_give_up(table[0]);
	c->window++;
	return param_set_int(text, p);
}

static const struct kernel_param_ops tm_ops = { .set = tm_set, .get = param_get_int };

module_param_cb(other, &tm_ops, &tm_key, 0644);

static int __init tm_init(void)
{
	struct tm_conn *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	c->key = tm_key;
	c->next = table[tm_key % 64];
	table[tm_key % 64] = c;
	tm_poll(c);
	return 0;
}

static void __exit tm_exit(void)
{
	struct tm_conn *c, *next;

	for (int i = 0; i < 64; i++) {
		for (c = table[i]; c; c = next) {
			next = c->next;
			c->closed = 1;
			kfree(c);
		}
	}
}

module_init(tm_init);
module_exit(tm_exit);
MODULE_LICENSE("GPL");
