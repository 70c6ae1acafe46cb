struct cacheline_padding {
	char x[0];
} __attribute__((__aligned__(64)));
#define CACHELINE_PADDING(name) struct cacheline_padding name

/* What was put behind the padding on purpose stays there. */
struct probe {
	long hits;
	void *table;
	long cold[14];

	CACHELINE_PADDING(_pad1_);

	long lonely;
	long friend;
	long idle[14];
};

/* access: count hits 0 8 0 0 20000 */
/* access: look_up table 0 8 0 90000 0 */
/* access: count hits 0 8 1 0 20001 */
/* access: look_up table 0 8 1 90001 0 */
/* access: count hits 0 8 2 0 20002 */
/* access: look_up table 0 8 2 90002 0 */
/* access: count hits 0 8 3 0 20003 */
/* access: look_up table 0 8 3 90003 0 */
/* access: count lonely 0 8 0 0 20000 */
/* access: look_up table 0 8 0 90000 0 */
/* access: count lonely 0 8 1 0 20001 */
/* access: look_up table 0 8 1 90001 0 */
/* access: count lonely 0 8 2 0 20002 */
/* access: look_up table 0 8 2 90002 0 */
/* access: count lonely 0 8 3 0 20003 */
/* access: look_up table 0 8 3 90003 0 */
/* expect: bound fence _pad1_ */
/* expect: in-place lonely friend idle */
/* expect: segments hits table cold | lonely friend idle */
/* expect: apart hits table */
