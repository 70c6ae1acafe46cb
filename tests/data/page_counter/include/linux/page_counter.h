#ifndef _LINUX_PAGE_COUNTER_H
#define _LINUX_PAGE_COUNTER_H

#include <linux/cache.h>
#include <linux/types.h>

/* Pages in use at one level of a hierarchy, and how many there may be. */
struct page_counter {
	/* written at every charge, on every CPU */
	atomic_long_t usage;

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
	unsigned long failcnt;	/* v1 only, rare */

	/* written by an administrator, read at every charge */
	CACHELINE_PADDING(_pad2_);

	bool protection_support;
	unsigned long min;
	unsigned long low;
	unsigned long high;
	unsigned long max;
	struct page_counter *parent;
} ____cacheline_internodealigned_in_smp;

#endif
