#include <stddef.h>

#define L1_CACHE_BYTES 64
#define static_assert _Static_assert
#define __cacheline_group_begin(g) char __begin_##g[0]
#define __cacheline_group_end(g) char __end_##g[0]
#define CACHELINE_ASSERT_GROUP_MEMBER(T, G, M) \
	static_assert(offsetof(T, M) >= offsetof(T, __begin_##G) && offsetof(T, M) < offsetof(T, __end_##G), #M " is in " #G)

struct g {
	__cacheline_group_begin(hot);
	unsigned long hits;
	unsigned long a, b, c, d, e, f;
	__cacheline_group_end(hot);
	__cacheline_group_begin(read);
	unsigned long table;
	unsigned long cold[7];
	__cacheline_group_end(read);
	unsigned long more[9];
} __attribute__((aligned(64)));
