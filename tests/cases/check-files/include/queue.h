struct queue {
	unsigned long hits;	/* linemate: write-hot */
	unsigned long spare[5];
#ifdef NAMED
	char name[32];
#endif

	/*
	 * The table of handlers.
	 * linemate: pin
	 */
	void **table;
	int state;		/* linemate: together table @base */
	/* linemate: max-size 96 */
};
