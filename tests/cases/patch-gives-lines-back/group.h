#define ALIGNED __attribute__((aligned(64)))
struct cacheline_padding { char x[0]; } ALIGNED;
#define CACHELINE_PADDING(name) struct cacheline_padding name
#define __cacheline_group_begin(g) char __begin_##g[0] ALIGNED

struct s {
	long hits;
	__cacheline_group_begin(one);
	long a, b, c, d, e, f, g, h;
	long rare;
	__cacheline_group_begin(two);
	long table[8];
} ALIGNED;
