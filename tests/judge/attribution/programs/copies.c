/* Records copied whole, members taken by several at once, fields that are fractions. */
#include "common.h"

struct colour { float red, green, blue, alpha; };
struct sample { u32 left, right; };
struct place { double x, y, z; };
struct scene {
	u64 id;
	struct colour sky, ground;
	struct place eye, target;
	struct sample sound[16];
	u16 map[32];
	u64 seed[4];
	struct scene *next;
};

struct scene obj_first, obj_second;

apart void take(struct scene *to, const struct scene *from)
{
	to->sky = from->ground;
	to->eye = from->target;
	to->seed[0] = from->seed[1];
	to->seed[2] = from->seed[3];
}

apart float bright(const struct scene *s, float by)
{
	return (s->sky.red + s->sky.green + s->sky.blue) * by + s->ground.alpha;
}

apart void look(struct scene *s, double by)
{
	s->eye.x += by;
	s->eye.y -= s->target.y * by;
	s->target.z = s->eye.x / 3;
}

apart u64 mix(struct scene *s)
{
	u64 sum = 0;

	for (u32 i = 0; i < 16; i++) {
		sum += s->sound[i].left * 3u + s->sound[i].right;
		s->sound[i].left = s->sound[i].right;
	}
	for (u32 i = 0; i < 32; i++)
		s->map[i] = (u16)(s->map[i] * 5 + i);
	return sum;
}

apart void chain(struct scene *s, u64 n)
{
	for (; s; s = s->next) {
		s->id = n++;
		s->seed[n & 3] ^= s->id;
	}
}

apart struct place middle(const struct scene *s)
{
	return (struct place){ s->eye.x + s->target.x, s->eye.y + s->target.y, s->eye.z };
}

int run(int seed)
{
	u64 sum = 0;

	obj_first.next = &obj_second;
	for (int i = 0; i < 4; i++) {
		struct scene *s = i & 1 ? &obj_first : &obj_second;

		s->sky.red = (float)seed;
		s->sound[i].right = (u32)(i * seed);
		take(&obj_first, &obj_second);
		look(s, i);
		chain(&obj_first, (u64)i);
		s->target = middle(s);
		sum += mix(s) + (u64)bright(s, 2);
	}
	return (int)sum;
}
