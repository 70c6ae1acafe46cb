struct clock {
#ifdef HAVE_CLOCK
	long seconds;
#endif
	int ticks;
};

struct log {
	struct clock at;
#ifdef WITH_LOG
	char line[80];
#ifdef WITH_COLOR
	int color;
#endif
#endif
};
