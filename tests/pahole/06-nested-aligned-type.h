/* The record takes the alignment of what it holds: its size is a multiple of 64. */
struct counter {
	unsigned long usage;
	unsigned long limit __attribute__((__aligned__(64)));
} __attribute__((__aligned__(64)));

struct probe {
	int state;
	struct counter counter;
	unsigned long hits;
	void *table;
	char name[20];
	long cold[9];
};

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
