/* Guards travel with what they guard; each configuration keeps its members. */
struct probe {
	unsigned long hits;
#ifdef CONFIG_DEBUG
	unsigned long magic;	/* first thing to look at in a dump */
#endif
	void *table;
#if defined(CONFIG_LARGE)
	long more[8];
#else
	int few[2];
#endif
	/* cold from here on */
	long cold[10];
#ifdef CONFIG_DEBUG
	char last[8];
#endif
};

/* args: --base-align 64 */
/* config: debug:+CONFIG_DEBUG */
/* config: large:+CONFIG_LARGE */
/* config: both:+CONFIG_DEBUG,+CONFIG_LARGE */
/* access: count hits 0 8 0 0 20000 */
/* access: look_up table 0 8 0 90000 0 */
/* access: count hits 0 8 1 0 20001 */
/* access: look_up table 0 8 1 90001 0 */
/* access: count hits 0 8 2 0 20002 */
/* access: look_up table 0 8 2 90002 0 */
/* access: count hits 0 8 3 0 20003 */
/* access: look_up table 0 8 3 90003 0 */
/* expect: moved */
/* expect: apart hits table */
