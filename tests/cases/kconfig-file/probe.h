struct probe {
	long always;
#ifdef CONFIG_A
	long a[2];
#endif
#ifdef CONFIG_B
	long b[CONFIG_B_NR];
#endif
#if defined(CONFIG_C) || defined(CONFIG_C_MODULE)
	long c[8];
#endif
};
