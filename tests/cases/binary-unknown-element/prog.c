#include "stats.h"

struct stats stats __attribute__((aligned(64)));

__attribute__((noinline)) void count(struct stats *s, unsigned kind)
{
	s->events[kind]++;
}

__attribute__((noinline)) long *look_up(struct stats *s)
{
	return s->per_cpu;
}

int main(int argc, char **argv)
{
	(void)argv;
	count(&stats, (unsigned)argc);
	return look_up(&stats) != 0;
}
