/* Move together or not at all. */
struct probe {
	unsigned long hits, misses;
	void *table, **buckets, *(*look_up)(struct probe *, int);
	int a, b[3], c;
	long cold[11];
};

/* args: --base-align 64 */
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
/* expect: in-order hits misses */
/* expect: in-order table buckets look_up */
/* expect: in-order a b c */
