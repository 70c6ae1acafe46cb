/* A union is one block, of the size of its largest member. */
struct probe {
	union {
		void *table;
		unsigned long bits;
		char bytes[24];
	} u;
	unsigned long hits;
	union {
		int small;
		long large[3];
	};
	long cold[10];
};

/* args: --base-align 64 */
/* access: count hits 0 8 0 0 20000 */
/* access: look_up u 0 8 0 90000 0 */
/* access: count hits 0 8 1 0 20001 */
/* access: look_up u 0 8 1 90001 0 */
/* access: count hits 0 8 2 0 20002 */
/* access: look_up u 0 8 2 90002 0 */
/* access: count hits 0 8 3 0 20003 */
/* access: look_up u 0 8 3 90003 0 */
/* expect: moved */
/* expect: apart hits u */
