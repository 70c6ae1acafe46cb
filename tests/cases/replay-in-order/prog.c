#include "s.h"
__attribute__((noinline)) void count(struct s *s) { s->hits++; }
__attribute__((noinline)) long *look_up(struct s *s) { return s->table; }
int main(void) { static struct s s; count(&s); return look_up(&s) != 0; }
