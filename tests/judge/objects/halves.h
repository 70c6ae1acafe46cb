#ifndef HALVES_H
#define HALVES_H

typedef unsigned long u64;
typedef unsigned int u32;

#define apart __attribute__((noinline))

struct conn;
struct stat { u64 packets, drops; };
struct window { u64 head, bytes; };
struct ops { void (*count)(struct conn *c); void (*drop)(struct conn *c); };
struct conn {
	u64 key;
	struct conn *next;
	const struct ops *ops;
	u64 hits;
	u32 window[2], state;
	struct window more;
};

extern struct conn first_conn, second_conn, many[8], second_table[4];
extern struct stat outside;	/* of nobody in an object file, of the linker's script in a program */
int elsewhere(u64 key);

void count(struct conn *c);
void drop(struct conn *c);
void poll(struct conn *c);
struct conn *find(u64 key);
u64 choose(struct conn *c, int how);
u64 total(void);
int start(u64 key);
void stop(void);

#endif
