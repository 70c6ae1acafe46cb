struct s {
	unsigned long hits;
	unsigned long table;
	unsigned long cold[5];
	unsigned long state;		/* linemate: apart hits; together table */
	unsigned long more[16];
} __attribute__((aligned(64)));
