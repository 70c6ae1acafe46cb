#ifdef WORDS
#include <assert.h>
#include <stddef.h>
#define L1_CACHE_BYTES 64
#endif

struct s {
	int state;
#ifdef COUNT
	unsigned long hits[4];
#endif
	unsigned long table;
	unsigned long cold[6];
	char name[60];
} __attribute__((aligned(64)));	/* one for each
				   queue */
