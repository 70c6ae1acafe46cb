struct lock {
	int owner;
	int waiters;
};

struct queue {
	struct lock lock;
	unsigned long pushed;
	char name[40];
	void *limit;
	int flags, depth;
} __attribute__((aligned(64)));
