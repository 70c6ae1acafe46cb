#ifndef _LINUX_VMPRESSURE_H
#define _LINUX_VMPRESSURE_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/* How hard reclaim finds it to free pages. */
struct vmpressure {
	unsigned long scanned;
	unsigned long reclaimed;
#ifdef CONFIG_MEMCG_V1
	unsigned long tree_scanned;
	unsigned long tree_reclaimed;
#endif
	spinlock_t sr_lock;	/* the counts above */

#ifdef CONFIG_MEMCG_V1
	struct list_head events;
	struct mutex events_lock;

	struct work_struct work;
#endif
};

#endif
