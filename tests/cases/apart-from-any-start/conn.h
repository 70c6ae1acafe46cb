struct conn {
	long limit;
	long hits;
	int lock;
	char name[44];
	const char *peer;
};
