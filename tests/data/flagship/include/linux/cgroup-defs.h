#ifndef _LINUX_CGROUP_DEFS_H
#define _LINUX_CGROUP_DEFS_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct cgroup;
struct cgroup_subsys;
struct css_rstat_cpu;
struct kernfs_node;
struct percpu_ref_data;

struct percpu_ref {
	unsigned long percpu_count_ptr;	/* low bits: mode */
	struct percpu_ref_data *data;
};

/* One controller's part of one cgroup */
struct cgroup_subsys_state {
	/* set once, read by everybody */
	struct cgroup *cgroup;
	struct cgroup_subsys *ss;

	struct percpu_ref refcnt;

	struct css_rstat_cpu __percpu *rstat_cpu;

	/* tree of the same controller, under the cgroup mutex */
	struct list_head sibling;
	struct list_head children;

	int id;
	u32 flags;
	u64 serial_nr;
	atomic_t online_cnt;

	/* the way out */
	struct work_struct destroy_work;
	struct rcu_work destroy_rwork;

	struct cgroup_subsys_state *parent;

	int nr_descendants;
	int nr_online;
	int nr_dying;

	/* chain of states that the flusher has to visit */
	struct cgroup_subsys_state *flush_next;
	struct list_head flush_node;
	u64 flush_seq;
	atomic_long_t nr_flushed;
};

/* A file of a cgroup that tells its readers when it changes, at most so often */
struct cgroup_file {
	struct kernfs_node *kn;
	unsigned long notified_at;
	struct timer_list notify_timer;
	spinlock_t lock;
};

#endif
