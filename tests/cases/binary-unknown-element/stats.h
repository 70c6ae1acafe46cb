struct stats {
	const char *name;
	long flags;
	long limits[4];

	/* by kind of event */
	long events[10];

	/* set once, read by everybody */
	long *per_cpu;
	long spare[7];
};
