struct queue {
	unsigned long hits;	/* linemate: write-hot; first */
	unsigned long spare[5];
#ifdef NAMED
	char name[32];
#endif

	/*
	 * The table of handlers.
	 * linemate: apart hits
	 */
	void **table;
	int state;		/* linemate: together table @base */
	/* linemate: max-size 96 */
};
