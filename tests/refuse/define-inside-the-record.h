/* Moved before the definition, the array would have no length; and a guard is in between. */
struct probe {
	long hits;
	void *table;
#define NR_COLD 7
#ifdef CONFIG_LARGE
	long cold[NR_COLD];
#endif
	long colder[14];
};

/* access: count hits 0 8 0 0 20000 */
/* access: look_up table 0 8 0 90000 0 */
/* access: count hits 0 8 1 0 20001 */
/* access: look_up table 0 8 1 90001 0 */
/* access: count hits 0 8 2 0 20002 */
/* access: look_up table 0 8 2 90002 0 */
/* access: count hits 0 8 3 0 20003 */
/* access: look_up table 0 8 3 90003 0 */
/* expect: refused text | is not rearranged: a macro defined at line 5 */
