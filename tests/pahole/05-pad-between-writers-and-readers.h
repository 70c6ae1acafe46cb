#define CACHELINE_PADDING(name) struct cacheline_padding name

struct cacheline_padding {
	char x[0];
} __attribute__((__aligned__(64)));

/* The pad parts them already: nothing to do, and nothing may cross it. */
struct probe {
	unsigned long hits;
	unsigned long misses;

	CACHELINE_PADDING(_pad_);

	void *table;
	unsigned long limit;
};

/* access: count hits 0 8 0 0 20000 */
/* access: look_up table 0 8 0 90000 0 */
/* access: count hits 0 8 1 0 20001 */
/* access: look_up table 0 8 1 90001 0 */
/* access: count hits 0 8 2 0 20002 */
/* access: look_up table 0 8 2 90002 0 */
/* access: count hits 0 8 3 0 20003 */
/* access: look_up table 0 8 3 90003 0 */
/* expect: kept */
/* expect: segments hits misses | table limit */
