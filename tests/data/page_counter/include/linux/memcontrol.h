#ifndef _LINUX_MEMCONTROL_H
#define _LINUX_MEMCONTROL_H

#include <linux/page_counter.h>
#include <linux/types.h>

/* What else a cgroup that accounts memory is made of, by size only. */
struct memcg_head {
	unsigned long words[24];
};

struct memcg_rest {
	unsigned long words[128];
};

struct memcg_rest_v1 {
	unsigned long words[24];
};

/* One for each cgroup that accounts memory. */
struct mem_cgroup {
	struct memcg_head head;

	/* Accounted resources */
	struct page_counter memory;		/* v1 and v2 */

	union {
		struct page_counter swap;	/* v2 only */
		struct page_counter memsw;	/* v1 only */
	};

	struct memcg_rest rest;

#ifdef CONFIG_MEMCG_V1
	/* Resources of the old interface */
	struct page_counter kmem;		/* v1 only */
	struct page_counter tcpmem;		/* v1 only */

	struct memcg_rest_v1 v1;
#endif
};

/* Reaches the counters through a pointer: no matter how large they are. */
struct memcg_iterator {
	struct mem_cgroup *at;
	struct page_counter *counter;
};

struct hugetlb_cgroup {
	struct memcg_head head;
	struct page_counter hugepage[2];
	struct page_counter rsvd_hugepage[2];
};

#endif
