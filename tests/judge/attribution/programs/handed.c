/*
 * Functions that are handed a part of a record: always the same one, one of
 * several, of several records, through others, through pointers.
 */
#include "common.h"

struct part { u64 hits; u32 kind, flags; };
struct shelf {
	u64 id;
	struct part first;
	u64 between[3];
	struct part second, spare;
	u64 last;
};
struct crate { u32 size, used; struct part only; u64 tail; };

struct shelf obj_shelf, obj_shelves[3];
struct crate obj_crate;
struct part obj_part;

typedef void visit(struct part *p);

/* Only ever the first part of a shelf. */
apart void count_first(struct part *p)
{
	p->hits += 3;
	p->kind ^= 1;
}

/* The same, through one that passes it on. */
apart void deeper(struct part *p)
{
	p->flags++;
}

apart void pass_on(struct part *p, u32 n)
{
	p->kind += n;
	deeper(p);
}

/* Both parts of a shelf. */
apart void either(struct part *p)
{
	p->hits += p->kind;
}

/* Often a shelf's, seldom a crate's. */
apart void mostly(struct part *p)
{
	p->hits++;
}

/* Parts of two records, as often. */
apart void both(struct part *p)
{
	p->flags |= 4;
}

/* Called directly for shelves, through a pointer for all. */
apart void visited(struct part *p)
{
	p->kind++;
}

/* Its own caller. */
apart u64 again(struct part *p, u32 n)
{
	p->hits += n;
	return n ? again(p, n - 1) + p->kind : 0;
}

/* The part is the second argument; the first is a number. */
apart u64 second_argument(u64 n, struct part *p)
{
	p->hits -= n;
	return p->hits;
}

/* Either what came in or another one. */
apart void chosen(struct shelf *s, struct part *p)
{
	struct part *q = s->id & 1 ? p : &s->spare;

	q->flags = 7;
	either(q);
}

visit *volatile volatile_visit = visited;

apart void use_shelf(struct shelf *s)
{
	s->id++;
	count_first(&s->first);
	pass_on(&s->second, 2);
	either(&s->first);
	either(&s->second);
	mostly(&s->spare);
	both(&s->spare);
	visited(&s->first);
	again(&s->first, 3);
	s->last += second_argument(s->id, &s->second);
	chosen(s, &s->first);
}

apart void use_crate(struct crate *c)
{
	c->used++;
	both(&c->only);
	volatile_visit(&c->only);
}

apart void seldom(struct crate *c)
{
	c->size++;
	mostly(&c->only);
}

int run(int seed)
{
	for (u32 i = 0; i < 400; i++) {
		use_shelf(&obj_shelf);
		use_shelf(&obj_shelves[i % 3]);
		use_crate(&obj_crate);
	}
	seldom(&obj_crate);
	volatile_visit(&obj_part);
	obj_part.hits++;
	return seed;
}
