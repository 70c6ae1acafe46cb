#define HAVE_CLOCK 1
#ifndef WITH_STATS
#define WITH_STATS 0
#endif
