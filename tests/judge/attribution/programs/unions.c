/* Unions, bit-fields, packed records, records by value, pointers in variables on the stack. */
#include "common.h"

struct point { s64 x, y; };
union word { u64 all; u32 half[2]; struct { u16 a, b; u32 c; } parts; };
struct header { u32 kind : 4, length : 12, urgent : 1; u8 version; u64 sum; };
struct packed { u8 tag; u32 value; u64 more; } __attribute__((packed));
struct message {
	struct header header;
	union word word;
	union { struct point where; u64 raw[2]; };
	struct packed packed;
	struct message *reply;
};

struct message obj_message, obj_reply;

apart void head(struct message *m, u32 kind)
{
	m->header.kind = kind & 15;
	m->header.length += 3;
	m->header.urgent = m->header.length > 9;
	m->header.version++;
}

apart u64 words(union word *w, u32 n)
{
	w->half[1] += n;
	w->parts.b ^= (u16)n;
	return w->all;
}

apart struct point middle(struct point a, struct point b)
{
	return (struct point){ (a.x + b.x) / 2, (a.y + b.y) / 2 };
}

apart void move(struct message *m, s64 by)
{
	m->where.x += by;
	m->where.y -= by;
	m->packed.value = (u32)by;
	m->packed.more += m->packed.tag;
}

apart void swap(struct message **a, struct message **b)
{
	struct message *t = *a;

	*a = *b;
	*b = t;
}

apart u64 volley(struct message *m, int n)
{
	struct message *a = m, *b = m->reply;
	u64 sum = 0;

	for (int i = 0; i < n; i++) {
		swap(&a, &b);
		a->header.sum += (u64)i;
		sum += b->header.sum + b->raw[1];
	}
	return sum;
}

int run(int seed)
{
	u64 sum = 0;

	obj_message.reply = &obj_reply;
	obj_reply.packed.tag = 7;
	for (int i = 0; i < 5; i++) {
		head(&obj_message, (u32)(seed + i));
		head(obj_message.reply, (u32)i);
		sum += words(&obj_reply.word, (u32)i);
		move(i & 1 ? &obj_message : &obj_reply, i);
		obj_message.where = middle(obj_message.where, obj_reply.where);
	}
	return (int)(sum + volley(&obj_message, 4));
}
