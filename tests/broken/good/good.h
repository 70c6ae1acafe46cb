/* Nothing is wrong with this one: what is broken is in the case. */
struct probe {
	long hits;
	void *table;
	long cold[14];
};
