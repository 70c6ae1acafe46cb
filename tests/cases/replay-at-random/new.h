struct s {
	long *table;
	char name[112];
	long hits;
};
