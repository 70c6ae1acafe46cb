struct lock {
	int owner;
	int waiters;
};

struct queue {
	struct lock lock;
	unsigned long pushed;
	char name[48];
	void *limit;
	int flags;
} __attribute__((aligned(64)));
