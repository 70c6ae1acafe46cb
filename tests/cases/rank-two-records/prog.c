/* One record with a counter beside what others read, and one that is only read. */
struct conn { long id, hits; long *table; char name[112]; } conn;
struct conf { long size, limit; } conf;
__attribute__((noinline)) void count(struct conn *c) { c->hits++; }
__attribute__((noinline)) long *look_up(struct conn *c) { return c->table; }
__attribute__((noinline)) long limit(struct conf *c) { return c->limit; }
int main(void) { count(&conn); return look_up(&conn) != 0 && limit(&conf); }
