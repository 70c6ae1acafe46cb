struct s {
	char flag;
	long hits;
	long a, b, c, d, e, f;
	char rare;
} __attribute__((aligned(64)));
