/* Arrays of records, indexes in registers, two dimensions, an open end. */
#include "common.h"

struct entry { u64 key; u32 count; u16 tags[3]; };
struct table {
	u32 used;
	struct entry entries[8];
	u64 sums[4][6];
	u64 events[10], local[10];
	struct table *next;
	u64 tail[];
};

struct table obj_table;
u64 tail_of_table[4];
struct entry obj_entries[6];

apart void count(struct table *t, u32 i)
{
	t->events[i]++;
	t->local[i] += i;
}

apart u64 total(const struct table *t)
{
	u64 sum = 0;

	for (u32 i = 0; i < t->used; i++)
		sum += t->entries[i].key * t->entries[i].count;
	for (u32 i = 0; i < 10; i++)
		sum += t->events[i];
	return sum;
}

apart void cell(struct table *t, u32 row, u32 column, u64 by)
{
	t->sums[row][column] += by;
}

apart u32 tag(struct entry *e, u32 n, u32 which)
{
	u32 sum = 0;

	for (struct entry *end = e + n; e < end; e++) {
		e->tags[which]++;
		sum += e->count;
	}
	return sum;
}

apart void put(struct table *t, u64 key)
{
	struct entry *e = &t->entries[t->used++ & 7];

	e->key = key;
	e->count = (u32)key / 3;
	e->tags[1] = (u16)key;
}

apart void clear(struct table *t)
{
	for (u32 i = 0; i < 10; i++)
		t->local[i] = 0;
}

int run(int seed)
{
	u64 sum = 0;

	for (u32 i = 0; i < 8; i++) {
		put(&obj_table, (u64)seed + i);
		count(&obj_table, (i * 3) % 10);
		cell(&obj_table, i % 4, i % 6, i);
		obj_entries[i % 6].count += i;
		sum += total(&obj_table);
	}
	sum += tag(obj_entries, 6, 2) + tag(obj_table.entries, 8, 0);
	clear(&obj_table);
	return (int)sum;
}
