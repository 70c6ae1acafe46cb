/* Where ways meet: switches, pointers chosen by conditions, loops that change them. */
#include "common.h"

struct leafy { u64 n; u32 kind; };
struct tree { struct tree *left, *right; u64 key; struct leafy leafy; u32 height; };
struct other { u64 first; struct leafy one, two; struct tree *tree; };

struct tree obj_nodes[7];
struct other obj_other;

apart struct tree *insert(struct tree *root, struct tree *node)
{
	struct tree **at = &root;

	while (*at) {
		struct tree *t = *at;

		t->height++;
		at = node->key < t->key ? &t->left : &t->right;
	}
	*at = node;
	return root;
}

apart u64 find(struct tree *t, u64 key)
{
	while (t && t->key != key)
		t = key < t->key ? t->left : t->right;
	return t ? t->leafy.n : 0;
}

apart void bump(struct leafy *l)
{
	l->n++;
	l->kind ^= 5;
}

apart u64 pick(struct other *o, int which)
{
	struct leafy *l;

	switch (which) {
	case 0: l = &o->one; break;
	case 1: l = &o->two; break;
	case 2: l = &o->tree->leafy; break;
	case 3: o->first += 3; l = &o->one; break;
	case 4: o->first ^= 9; return o->first;
	case 5: l = o->tree->left ? &o->tree->left->leafy : &o->two; break;
	default: return 0;
	}
	bump(l);
	return l->n;
}

apart u64 sum(const struct tree *t)
{
	return t ? t->key + sum(t->left) + sum(t->right) + t->leafy.kind : 0;
}

int run(int seed)
{
	static const u8 keys[7] = { 4, 2, 6, 1, 3, 5, 7 };
	u64 total = 0;

	for (int i = 0; i < 7; i++) {
		obj_nodes[i].key = keys[i] * (u64)seed;
		obj_nodes[i].leafy.n = (u64)i;
		if (i)
			insert(&obj_nodes[0], &obj_nodes[i]);
	}
	obj_other.tree = &obj_nodes[0];
	for (int i = 0; i < 8; i++)
		total += pick(&obj_other, i) + find(&obj_nodes[0], (u64)(i * seed));
	return (int)(total + sum(&obj_nodes[0]));
}
