enum color { RED, GREEN };

struct probe {
	long hits;
	void *table;
#ifdef WIDE
	long wide;
#endif
	enum color color;
	long long cold[15];
};
