struct out {
	struct in {
		unsigned long hits;
		unsigned long table;
		unsigned long cold[15];
		char name[60];
	} __attribute__((aligned(64))) in;
};
