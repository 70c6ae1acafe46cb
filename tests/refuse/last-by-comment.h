/* The allocator clears all but the members at the end: the comment stands above the first of them. */
struct probe {
	void *next;
	long state;
	void *owner;
	long cold[13];
	long hits;
	/* These elements must be at the end, see the allocator for details. */
	long tail;
	long end;
	void *head;
};

/* args: --base-align 64 */
/* access: count hits 0 8 0 0 20000 */
/* access: look_up tail 0 8 0 90000 0 */
/* access: look_up end 0 8 0 90000 0 */
/* access: count hits 0 8 1 0 20001 */
/* access: look_up tail 0 8 1 90001 0 */
/* access: look_up end 0 8 1 90001 0 */
/* expect: bound group tail */
/* expect: segments next state owner cold hits | tail end head */
/* expect: moved */
