#ifndef _LINUX_SPINLOCK_H
#define _LINUX_SPINLOCK_H

#include <linux/types.h>

typedef struct raw_spinlock {
	union {
		atomic_t val;
		struct {
			u8 locked;
			u8 pending;
		};
		struct {
			u16 locked_pending;
			u16 tail;
		};
	};
} raw_spinlock_t;

typedef struct spinlock {
	struct raw_spinlock rlock;
} spinlock_t;

typedef struct {
	u32 sequence;
} seqcount_t;

typedef struct {
	seqcount_t seqcount;
	spinlock_t lock;
} seqlock_t;

/* Sleeping lock */
struct mutex {
	atomic_long_t owner;
	raw_spinlock_t wait_lock;
	atomic_t osq;		/* tail of the queue of spinners */
	struct list_head *waiters;
};

struct wait_queue_head {
	spinlock_t lock;
	struct list_head head;
};

#endif
