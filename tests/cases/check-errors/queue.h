struct queue {
	unsigned long hits;	
	unsigned long spare[5];
#ifdef NAMED
	char name[32];
#endif

	/*
	 * The table of handlers.
	 */
	void **table;
	int state;		
	
};
