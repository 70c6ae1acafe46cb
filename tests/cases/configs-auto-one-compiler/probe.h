struct probe {
	long hits;
	void *table;
#ifdef CONFIG_X
	long more;
#endif
	long cold[14];
};
#if defined(CONFIG_X) && !defined(__clang__)
#error for clang alone
#endif
