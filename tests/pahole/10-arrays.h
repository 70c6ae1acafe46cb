/* Only one element is written; what shares its line is what counts. */
struct probe {
	unsigned long events[10];
	void *table;
	short codes[3][5];
	char name[17];
	long cold[8];
};

/* args: --base-align 64 */
/* access: count events 72 8 0 0 20000 */
/* access: look_up table 0 8 0 90000 0 */
/* access: count events 72 8 1 0 20001 */
/* access: look_up table 0 8 1 90001 0 */
/* access: count events 72 8 2 0 20002 */
/* access: look_up table 0 8 2 90002 0 */
/* access: count events 72 8 3 0 20003 */
/* access: look_up table 0 8 3 90003 0 */
/* expect: moved */
