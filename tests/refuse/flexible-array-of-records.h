/* A flexible array of records has no size of its own, as padding has: but it ends the record. */
struct event {
	void *next;
	long data[3];
};

struct probe {
	void *list[2];
	int type;
	int id;
	int flags;
	void *owner;
	void *node[2];
	const void *ops;
	unsigned int elems;
	unsigned int first;
	unsigned int in_use;
	struct event events[];
};

/* args: --base-align 64 */
/* access: count flags 0 4 0 0 20000 */
/* access: look_up owner 0 8 0 90000 0 */
/* access: look_up elems 0 4 0 90000 0 */
/* access: count flags 0 4 1 0 20001 */
/* access: look_up owner 0 8 1 90001 0 */
/* access: look_up elems 0 4 1 90001 0 */
/* expect: bound flexible-array events */
/* expect: apart flags owner */
/* expect: moved */
