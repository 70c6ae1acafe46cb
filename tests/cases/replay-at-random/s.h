struct s {
	long hits;
	long *table;
	char name[112];
};
