#ifndef _LINUX_MEMCONTROL_H
#define _LINUX_MEMCONTROL_H

/*
 * The memory controller's record, in the shape in which a clean-up elsewhere
 * made a counter and a pointer line mates.
 */

#include <linux/cache.h>
#include <linux/cgroup-defs.h>
#include <linux/page_counter.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/vmpressure.h>
#include <linux/workqueue.h>
#include <linux/writeback.h>

struct mem_cgroup_per_node;
struct mem_cgroup_threshold_ary;
struct memcg1_events_percpu;
struct memcg_vmstats;
struct memcg_vmstats_percpu;

enum memcg_memory_event {
	MEMCG_LOW,
	MEMCG_HIGH,
	MEMCG_MAX,
	MEMCG_OOM,
	MEMCG_OOM_KILL,
	MEMCG_OOM_GROUP_KILL,
	MEMCG_SWAP_HIGH,
	MEMCG_SWAP_MAX,
	MEMCG_SWAP_FAIL,
	MEMCG_SOCK_THROTTLED,
	MEMCG_NR_MEMORY_EVENTS,
};

struct mem_cgroup_private_id {
	int id;
	refcount_t ref;
};

struct mem_cgroup_thresholds {
	struct mem_cgroup_threshold_ary *primary;
	struct mem_cgroup_threshold_ary *spare;	/* so that removing one never allocates */
};

/* Inodes that others write back for us: remembered, so that we can wait. */
#define MEMCG_CGWB_FRN_CNT 4

struct memcg_cgwb_frn {
	u64 bdi_id;
	int memcg_id;
	u64 at;			/* jiffies of the last dirtying */
	struct wb_completion done;
};

struct lru_gen_mm_list {
	struct list_head fifo;
	spinlock_t lock;
};

/*
 * One for each cgroup that accounts memory.  Charges, statistics and events
 * reach it from every CPU at once.
 */
struct mem_cgroup {
	struct cgroup_subsys_state css;

	/* Outlives the css while swap entries refer to it */
	struct mem_cgroup_private_id id;

	/* Accounted resources */
	struct page_counter memory;		/* v1 and v2 */

	union {
		struct page_counter swap;	/* v2 only */
		struct page_counter memsw;	/* v1 only */
	};

	/* readers that want to know their own peak */
	struct list_head memory_peaks;
	struct list_head swap_peaks;
	spinlock_t	 peaks_lock;

	/* Reclaim beyond memory.high, done later */
	struct work_struct high_work;

#ifdef CONFIG_ZSWAP
	unsigned long zswap_max;

	/* false: compressed pages stay in memory, whatever their age */
	bool zswap_writeback;
#endif

	/* pressure of reclaim on this subtree */
	struct vmpressure vmpressure;

	/* kill all of it or nothing */
	bool oom_group;

	/* files that tell user space of memory events */
	struct cgroup_file events_file;
	struct cgroup_file events_local_file;
	struct cgroup_file swap_events_file;	/* memory.swap.events */

	/* memory.stat */
	struct memcg_vmstats	*vmstats;

	/* memory.events: this group and all below it, then this group alone */
	atomic_long_t		memory_events[MEMCG_NR_MEMORY_EVENTS];
	atomic_long_t		memory_events_local[MEMCG_NR_MEMORY_EVENTS];

#if BITS_PER_LONG < 64
	seqlock_t		socket_pressure_seqlock;
#endif
	/* Sockets hold back until then (64-bit jiffies) */
	u64			socket_pressure;
	int kmemcg_id;

	struct memcg_vmstats_percpu __percpu *vmstats_percpu;

#ifdef CONFIG_CGROUP_WRITEBACK
	struct list_head cgwb_list;
	struct wb_domain cgwb_domain;
	struct memcg_cgwb_frn cgwb_frn[MEMCG_CGWB_FRN_CNT];
#endif

#ifdef CONFIG_LRU_GEN_WALKS_MMU
	/* address spaces to age */
	struct lru_gen_mm_list mm_list;
#endif

#ifdef CONFIG_MEMCG_V1
	/* Resources of the old interface */
	struct page_counter kmem;		/* v1 only */
	struct page_counter tcpmem;		/* v1 only */

	struct memcg1_events_percpu __percpu *events_percpu;

	unsigned long soft_limit;

	/* somebody handles an OOM in this subtree */
	bool oom_lock;
	int under_oom;

	/* the OOM killer is off; user space is told instead */
	int oom_kill_disable;

	/* protects both arrays below */
	struct mutex thresholds_lock;

	struct mem_cgroup_thresholds thresholds;
	struct mem_cgroup_thresholds memsw_thresholds;

	/* whom to wake at an OOM */
	struct list_head oom_notify;

	/* TCP memory, as the old interface counts it */
	bool tcpmem_active;
	int tcpmem_pressure;

	/* events of user space */
	struct list_head event_list;
	spinlock_t event_list_lock;

	int swappiness;
#endif /* CONFIG_MEMCG_V1 */

	struct mem_cgroup_per_node *nodeinfo[];
};

static inline struct mem_cgroup *mem_cgroup_from_css(struct cgroup_subsys_state *css)
{
	return css ? container_of(css, struct mem_cgroup, css) : (struct mem_cgroup *)0;
}

static inline struct mem_cgroup_per_node *mem_cgroup_node(struct mem_cgroup *memcg, int nid)
{
	return memcg->nodeinfo[nid];
}

#endif /* _LINUX_MEMCONTROL_H */
