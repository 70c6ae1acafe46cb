/* Bit-fields that share a word move together, and into no other run. */
struct probe {
	void *table;
	unsigned int ready : 1;
	unsigned int kind : 3;
	unsigned int : 4;
	unsigned int age : 8;
	long hits;
	long cold[14];
	unsigned int late : 5;
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
/* expect: in-order ready kind age */
/* expect: apart hits table */
/* expect: moved */
