/* Code casts between struct probe * and struct head *. */
struct head {
	void *next;
	long state;
};

struct probe {
	struct head head;
	long hits;
	void *table;
	long cold[14];
};

/* args: --base-align 64 */
/* access: count hits 0 8 0 0 20000 */
/* access: look_up head 0 8 0 90000 0 */
/* access: count hits 0 8 1 0 20001 */
/* access: look_up head 0 8 1 90001 0 */
/* access: count hits 0 8 2 0 20002 */
/* access: look_up head 0 8 2 90002 0 */
/* access: count hits 0 8 3 0 20003 */
/* access: look_up head 0 8 3 90003 0 */
/* expect: bound first-member head */
/* expect: in-place head */
/* expect: apart hits head */
/* expect: moved */
