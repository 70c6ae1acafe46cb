#if __SIZEOF_POINTER__ == 8
typedef long word;
#else
typedef int word;
#endif

struct probe {
	word a;
#if __SIZEOF_POINTER__ == 8
	int fills;
#endif
#ifdef CONFIG_COMMENT
	/* nothing but words */
#endif
	int b;
};
