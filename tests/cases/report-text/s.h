#ifdef SMP
struct pad { char x[0]; } __attribute__((aligned(64)));
#else
struct pad { char x[0]; };
#endif
#define CACHELINE_PADDING(n) struct pad n
struct s {
	long hot;
	long ptr;
	char f1;
	char f2;
	char f3;
	char f4;
} __attribute__((aligned(128)));
