#define ALIGNED __attribute__((aligned(64)))

/* Counted by all, limited by few. */
struct counter {
	long usage;
	long limit;
	long rest[7];
} ALIGNED;

struct conn {
	void *ops;
	long state;
	struct counter counter;
	long cold[7];
	long errors;
} ALIGNED;
