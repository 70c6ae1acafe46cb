#ifdef WITH_PAIR
struct pair {
	int a;
#ifdef LEFT
	int left;
#endif
#ifdef RIGHT
	int right;
#endif
#ifdef WITH_PAIR
	int both;
#endif
};
#endif
#if defined(LEFT) != defined(RIGHT)
#error LEFT and RIGHT need each other
#endif
