struct conn {
	long id;
	long hits;
	void *table;
	long cold[13];
} __attribute__((aligned(64)));
