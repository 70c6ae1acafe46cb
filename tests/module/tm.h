/* The record of the module.  Offsets that nothing else in the module has: the disassembly tells which member is meant. */
#ifndef TM_H
#define TM_H

struct tm_conn {
	char name[0x1100];
	unsigned long key;		/* 0x1100 */
	struct tm_conn *next;		/* 0x1108 */
	unsigned long hits;		/* 0x1110 */
	unsigned int window, state;	/* 0x1118, 0x111c */
	int closed, owner;		/* 0x1120, 0x1124 */
	unsigned long parts[4];		/* 0x1128 */
};

void tm_count(struct tm_conn *c);
void tm_poll(struct tm_conn *c);
struct tm_conn *tm_find(unsigned long key);

#endif
