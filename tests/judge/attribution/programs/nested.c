/* Nested records, lists, container_of. */
#include "common.h"

struct link { struct link *next, *prev; };
struct stamp { u64 when; u16 cpu, kind; };
struct part { u32 weight; struct stamp made, used; struct link link; };
struct whole {
	u64 name;
	struct part first, second;
	struct link parts;
	struct { u32 hits; struct { u64 misses; u8 last; }; };
	struct whole *next;
};

struct whole obj_a, obj_b;
struct link obj_list;

apart void add(struct link *l, struct link *to)
{
	l->next = to->next;
	l->prev = to;
	to->next->prev = l;
	to->next = l;
}

inline_always void touch(struct stamp *s, u64 now)
{
	s->when = now;
	s->cpu++;
	s->kind |= (u16)now;
}

apart void use(struct part *p, u64 now)
{
	touch(&p->used, now);
	if (p->weight < 7)
		p->weight += 2;
}

apart u64 walk(struct link *list)
{
	u64 sum = 0;

	for (struct link *l = list->next; l != list; l = l->next) {
		struct part *p = container_of(l, struct part, link);

		sum += p->weight + p->made.when;
		use(p, sum);
	}
	return sum;
}

apart void miss(struct whole *w, u8 what)
{
	for (; w; w = w->next) {
		w->misses++;
		w->last = what;
		w->hits += w->first.used.cpu;
		touch(&w->second.made, w->name);
	}
}

apart struct whole *of(struct part *p)
{
	return container_of(p, struct whole, second);
}

int run(int seed)
{
	obj_list.next = obj_list.prev = &obj_list;
	obj_a.next = &obj_b;
	obj_a.name = 5;
	add(&obj_a.first.link, &obj_list);
	add(&obj_b.second.link, &obj_list);
	for (int i = 0; i < 5; i++) {
		obj_b.name += walk(&obj_list);
		miss(&obj_a, (u8)(seed + i));
		of(&obj_b.second)->first.weight += 3;
	}
	return (int)(obj_a.misses + obj_b.hits);
}
