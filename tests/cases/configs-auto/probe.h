#ifdef CONFIG_LONG
#define L1_CACHE_BYTES 128
#else
#define L1_CACHE_BYTES 64
#endif
#define ____cacheline_aligned __attribute__((__aligned__(L1_CACHE_BYTES)))
struct inner {
	long a;
#ifdef CONFIG_IN
	long b[4];
#endif
};
struct probe {
	long hits;
	void *table;
#ifdef CONFIG_LONG
	long more[3];
#endif
#if WORDS > 2
	long words[WORDS];
#endif
#ifdef CONFIG_BAD
	long bad;
#endif
#if defined(CONFIG_NEEDS_IN)
	long needs;
#endif
	struct inner in;
	long cold[14];
};
#define WORDS 3
#ifdef CONFIG_BAD
#error not with this
#endif
#if defined(CONFIG_NEEDS_IN) && defined(CONFIG_IN)
#error not both
#endif
