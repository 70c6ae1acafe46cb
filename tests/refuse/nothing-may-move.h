/* The head stays first, the array stays last. */
struct head {
	void *next;
	long hits;
};

struct probe {
	struct head head;
	long tail[];
};

/* access: count head 8 8 0 0 20000 */
/* access: look_up head 0 8 0 90000 0 */
/* access: count head 8 8 1 0 20001 */
/* access: look_up head 0 8 1 90001 0 */
/* access: count head 8 8 2 0 20002 */
/* access: look_up head 0 8 2 90002 0 */
/* access: count head 8 8 3 0 20003 */
/* access: look_up head 0 8 3 90003 0 */
/* expect: refused too-few-members */
