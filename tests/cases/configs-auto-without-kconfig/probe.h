#include "config.h"
#include "inner.h"

struct probe {
	struct log log[2];
#if WITH_STATS
	long reads, writes;
#endif
#if LEVEL > 1
	int level;
#endif
#ifdef __linux__
	int fd;
#endif
};
