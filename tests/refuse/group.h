#define __cacheline_group_begin(GROUP) unsigned char __cacheline_group_begin__##GROUP[0]
#define __cacheline_group_end(GROUP) unsigned char __cacheline_group_end__##GROUP[0]

/* Members of a group stay in it. */
struct probe {
	__cacheline_group_begin(read_mostly);
	void *table;
	long limit;
	__cacheline_group_end(read_mostly);

	long hits;
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
/* expect: bound group table */
/* expect: bound group limit */
/* expect: segments table limit | hits cold */
/* expect: apart hits table */
