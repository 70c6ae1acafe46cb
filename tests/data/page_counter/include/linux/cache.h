#ifndef _LINUX_CACHE_H
#define _LINUX_CACHE_H

#define L1_CACHE_SHIFT	6
#define L1_CACHE_BYTES	(1 << L1_CACHE_SHIFT)
#define SMP_CACHE_BYTES	L1_CACHE_BYTES

#define ____cacheline_aligned __attribute__((__aligned__(SMP_CACHE_BYTES)))

#ifdef CONFIG_SMP
#define ____cacheline_aligned_in_smp ____cacheline_aligned
#define ____cacheline_internodealigned_in_smp ____cacheline_aligned
#else
#define ____cacheline_aligned_in_smp
#define ____cacheline_internodealigned_in_smp
#endif

/* A member of no size at which a new cache line begins */
#ifdef CONFIG_SMP
struct cacheline_padding {
	char x[0];
} ____cacheline_internodealigned_in_smp;
#define CACHELINE_PADDING(name)	struct cacheline_padding name
#else
#define CACHELINE_PADDING(name)
#endif

#endif
