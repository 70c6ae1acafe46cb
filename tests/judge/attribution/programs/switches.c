/* Dense switches, which become tables of addresses or distances; arms that go on into others. */
#include "common.h"

struct gauge { u32 level; u16 low, high; u64 changed; };
struct pump { u64 id; struct gauge in, out; struct pump *next; u8 kind; };
struct valve { struct gauge *gauge; u32 open, closed; struct pump *pump; };
struct plant { u32 step; struct pump pumps[2]; struct valve valve; u64 log[4]; };

struct plant obj_plant;
struct pump obj_pump;

apart void tick(struct gauge *g)
{
	g->changed++;
}

apart void step(struct plant *p, u32 what)
{
	struct gauge *g = &p->pumps[0].in;
	struct pump *pump = &p->pumps[1];

	switch (what) {
	case 0: p->step++; break;
	case 1: g = p->valve.gauge; g->level += 3; break;
	case 2: pump = p->valve.pump; pump->id ^= 5; break;
	case 3: g = &pump->out; g->high = 7; /* fall through */
	case 4: g->low = (u16)p->step; break;
	case 5: p->log[p->step & 3] += what; break;
	case 6: pump = pump->next; pump->kind = 4; g = &pump->out; break;
	case 7: p->valve.open++; p->valve.closed = 0; break;
	case 8: p->valve.closed++; return;
	case 9: g->level = pump->in.level; break;
	case 10: pump->next = p->valve.pump; break;
	case 11: g = &p->valve.pump->in; g->level -= 2; break;
	default: p->log[0] = 0; break;
	}
	tick(g);
	pump->kind++;
}

apart u64 weigh(const struct pump *p, u32 how)
{
	switch (how) {
	case 0: return p->id;
	case 1: return p->in.level;
	case 2: return p->in.low + 3ul;
	case 3: return p->out.high;
	case 4: return p->out.changed * 5;
	case 5: return p->next ? p->next->id : 1;
	case 6: return p->kind;
	case 7: return p->in.changed ^ p->out.level;
	case 8: return p->out.low;
	default: return 0;
	}
}

apart u64 sum(struct plant *p, const u8 *order, u32 n)
{
	u64 sum = 0;

	for (u32 i = 0; i < n; i++) {
		switch (order[i]) {
		case 2: sum += p->valve.open; break;
		case 3: sum ^= p->valve.closed; break;
		case 4: sum += p->step; break;
		case 5: sum -= p->pumps[i & 1].kind; break;
		case 6: sum += p->valve.gauge->low; break;
		case 7: sum *= 3; break;
		case 8: p->log[1] += sum; break;
		default: p->log[2] = sum; break;
		}
	}
	return sum;
}

int run(int seed)
{
	static const u8 order[] = { 2, 5, 3, 8, 4, 7, 6, 5, 1 };
	u64 total = 0;

	obj_plant.valve.gauge = &obj_pump.out;
	obj_plant.valve.pump = &obj_pump;
	obj_plant.pumps[1].next = &obj_pump;
	obj_pump.next = &obj_plant.pumps[0];
	for (u32 i = 0; i < 14; i++) {
		step(&obj_plant, i);
		total += weigh(&obj_pump, i) + weigh(&obj_plant.pumps[1], (i * (u32)seed) % 9);
	}
	return (int)(total + sum(&obj_plant, order, sizeof(order)));
}
