#define CACHELINE_PADDING(name) struct cacheline_padding name

struct cacheline_padding {
	char x[0];
} __attribute__((__aligned__(64)));

/* A pad of no size at the end of a line that is full, one at the very end, and an empty array. */
struct probe {
	unsigned long hits;
	void *table;
	long first[7];
	int empty[0];
	long cold[6];
	CACHELINE_PADDING(_pad1_);
	unsigned long stamp;
	long idle[7];
	CACHELINE_PADDING(_pad2_);
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
/* expect: segments hits table first | empty cold | _pad1_ stamp idle | _pad2_ */
/* expect: in-place empty cold stamp idle */
