/* offsetof(struct probe, __flags_offset) stands for the bit-fields behind it, which have no offset to ask for. */
struct probe {
	void *next;
	long state;
	void *owner;
	unsigned char __flags_offset[0];
	unsigned char cloned:1, nohdr:1, fclone:2;
	unsigned char type;
	long hits;
	long tail;
	long cold[12];
};

/* args: --base-align 64 */
/* access: count hits 0 8 0 0 20000 */
/* access: look_up type 0 1 0 90000 0 */
/* access: look_up tail 0 8 0 90000 0 */
/* access: count hits 0 8 1 0 20001 */
/* access: look_up type 0 1 1 90001 0 */
/* access: look_up tail 0 8 1 90001 0 */
/* expect: bound fence __flags_offset */
/* expect: in-place __flags_offset cloned nohdr fclone */
/* expect: moved */
