#define __cacheline_group_begin(GROUP) unsigned char __cacheline_group_begin__##GROUP[0]
#define __cacheline_group_end(GROUP) unsigned char __cacheline_group_end__##GROUP[0]

/* A group is never emptied; nothing that is written much enters it. */
struct probe {
	__cacheline_group_begin(fast);
	void *table;
	unsigned long limit;
	unsigned long mask;
	__cacheline_group_end(fast);
	unsigned long hits;
	unsigned long misses;
	long cold[14];
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
/* access: count misses 0 8 0 0 5000 */
/* access: count misses 0 8 1 0 5000 */
/* access: count misses 0 8 2 0 5000 */
/* access: count misses 0 8 3 0 5000 */
/* expect: moved */
/* expect: bound group table */
/* expect: segments table limit mask | hits misses cold */
/* expect: apart hits table */
