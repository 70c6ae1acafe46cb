/* every kind of declarator that show has to spell */
#ifndef KINDS_H
#define KINDS_H

struct kinds {
	long first;
	long row[4];
	int grid[2][3];
	void (*call)(int);
	int (*table[2])(void);
	char (*window)[8];
	const char *const name;
	unsigned low : 3, high : 5;
	union {
		int whole;
		struct {
			short left, right;
		};
	};
	struct {
		int x, y;
	} point;
	char line_start __attribute__((aligned(64)));
	short tail[];
};

#endif
