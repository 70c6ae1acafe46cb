#ifndef _LINUX_PAGE_COUNTER_H
#define _LINUX_PAGE_COUNTER_H

#include <linux/cache.h>
#include <linux/types.h>

/* Pages in use at one level of a hierarchy, and how many there may be. */
struct page_counter {
	/*
	 * Written at every charge on every CPU: nothing that a charge only
	 * reads belongs on this line.
	 */
	atomic_long_t usage;
	unsigned long failcnt;	/* v1 only, rare */

	CACHELINE_PADDING(_pad1_);

	/* protection as seen from the top */
	unsigned long emin;
	atomic_long_t min_usage;
	atomic_long_t children_min_usage;

	unsigned long elow;
	atomic_long_t low_usage;
	atomic_long_t children_low_usage;

	unsigned long watermark;
	unsigned long local_watermark;

	/* written by an administrator, read at every charge */
	bool protection_support;
	bool track_failcnt;
	unsigned long min;
	unsigned long low;
	unsigned long high;
	unsigned long max;
	struct page_counter *parent;
} ____cacheline_internodealigned_in_smp;

#endif
