#ifndef _LINUX_WORKQUEUE_H
#define _LINUX_WORKQUEUE_H

#include <linux/types.h>

struct workqueue_struct;
struct work_struct;

struct work_struct {
	atomic_long_t data;
	struct list_head entry;
	void (*func)(struct work_struct *work);
};

struct rcu_work {
	struct work_struct work;
	struct rcu_head rcu;
	struct workqueue_struct *wq;
};

struct timer_list {
	struct hlist_node entry;
	unsigned long expires;
	void (*function)(struct timer_list *timer);
	u32 flags;
};

#endif
