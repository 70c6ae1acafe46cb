/* test_compare.c - two versions of a record: who moved, who was shifted, whose line mates came and went; guesses. */
#include "header_fixture.h"

#include "optimizer/compare.h"
#include "optimizer/guess.h"

struct two {
	struct fixture before, after;
	struct lm_arena arena;
	struct lm_comparison cmp;
};

static void compare(struct two *t, const char *before, const char *after)
{
	*t = (struct two){ 0 };
	fixture_open(&t->before, before);
	fixture_open(&t->after, after);
	assert_null(fixture_try(&t->before, "s"));
	assert_null(fixture_try(&t->after, "s"));
	lm_compare(&t->before.sources[0].record, &t->after.sources[0].record, 64, &t->arena, &t->cmp);
}

static void done(struct two *t)
{
	fixture_close(&t->before);
	fixture_close(&t->after);
	lm_arena_release(&t->arena);
}

static const struct lm_compared *member(const struct two *t, const char *name)
{
	for (uint32_t i = 0; i < t->cmp.nr_members; i++)
		if (!strcmp(t->cmp.members[i].name, name))
			return &t->cmp.members[i];
	fail_msg("no member %s", name);
	return NULL;
}

static bool are_mates(const struct two *t, const struct lm_mates *mates, uint32_t nr, const char *a, const char *b)
{
	for (uint32_t i = 0; i < nr; i++) {
		const char *x = t->cmp.members[mates[i].a].name, *y = t->cmp.members[mates[i].b].name;

		if ((!strcmp(x, a) && !strcmp(y, b)) || (!strcmp(x, b) && !strcmp(y, a)))
			return true;
	}
	return false;
}

static void same_is_unchanged(void **state)
{
	struct two t;

	(void)state;
	compare(&t, "struct s { int a; union { long b; int c; }; unsigned d:3, :5, e:2; char f[]; };",
		"struct s { int a; union { long b; int c; };\n/* text */ unsigned d:3, :5, e:2; char f[]; };");
	assert_false(t.cmp.changed);
	assert_false(t.cmp.renamed);
	assert_int_equal(t.cmp.nr_members, 5);
	assert_int_equal(t.cmp.nr_came + t.cmp.nr_went, 0);
	done(&t);
}

static void one_moves_and_the_others_shift(void **state)
{
	struct two t;

	(void)state;
	compare(&t, "struct s { long a, b, c, d, e; };", "struct s { long a, d, b, c, e; };");
	assert_true(t.cmp.changed);
	assert_int_equal(member(&t, "d")->fate, LM_FATE_MOVED);
	assert_int_equal(member(&t, "a")->fate, LM_FATE_STAYS);
	assert_int_equal(member(&t, "b")->fate, LM_FATE_SHIFTED);
	assert_int_equal(member(&t, "c")->fate, LM_FATE_SHIFTED);
	assert_int_equal(member(&t, "e")->fate, LM_FATE_STAYS);
	done(&t);
}

static void a_nested_record_shrinks(void **state)
{
	struct two t;

	(void)state;
	compare(&t, "struct n { char x[60]; }; struct s { long a; struct n n; long b, c; };",
		"struct n { char x[40]; }; struct s { long a; struct n n; long b, c; };");
	assert_true(t.cmp.changed);
	assert_true(member(&t, "n")->resized);
	assert_int_equal(member(&t, "n")->fate, LM_FATE_STAYS);
	assert_int_equal(member(&t, "b")->fate, LM_FATE_SHIFTED);
	/* n reached into line 1, where b and c lay. */
	assert_true(are_mates(&t, t.cmp.came, t.cmp.nr_came, "a", "b"));
	assert_false(are_mates(&t, t.cmp.came, t.cmp.nr_came, "n", "b"));
	assert_false(are_mates(&t, t.cmp.came, t.cmp.nr_came, "b", "c"));
	assert_int_equal(t.cmp.nr_went, 0);
	done(&t);
}

static void mates_of_members_that_come_and_go(void **state)
{
	struct two t;

	(void)state;
	compare(&t, "struct s { long a, gone; char pad[48]; long b; };", "struct s { long a, fresh, more; char pad[48]; long b; };");
	assert_int_equal(member(&t, "more")->fate, LM_FATE_ADDED);
	/* fresh lies where gone lay: another name. */
	assert_string_equal(member(&t, "fresh")->was, "gone");
	assert_true(t.cmp.renamed);
	assert_true(are_mates(&t, t.cmp.came, t.cmp.nr_came, "a", "more"));
	assert_true(are_mates(&t, t.cmp.came, t.cmp.nr_came, "pad", "b"));
	assert_false(are_mates(&t, t.cmp.came, t.cmp.nr_came, "a", "fresh"));
	done(&t);
	compare(&t, "struct s { long a; char gone; long b; };", "struct s { long a; long b; };");
	assert_int_equal(member(&t, "gone")->fate, LM_FATE_REMOVED);
	assert_true(are_mates(&t, t.cmp.went, t.cmp.nr_went, "a", "gone"));
	done(&t);
}

static void names_alone_are_no_change(void **state)
{
	struct two t;

	(void)state;
	compare(&t, "struct n { int x, y; }; struct s { struct n n; int a; };",
		"struct n { int x, z; }; struct s { struct n n; int b; };");
	assert_false(t.cmp.changed);
	assert_true(t.cmp.renamed);
	done(&t);
}

static void swapped_inside_a_nested_record(void **state)
{
	struct two t;

	(void)state;
	compare(&t, "struct n { int x, y; }; struct s { struct n n; };", "struct n { int y, x; }; struct s { struct n n; };");
	assert_true(t.cmp.changed);
	done(&t);
}

static void other_alignment_is_a_change(void **state)
{
	struct two t;

	(void)state;
	compare(&t, "struct s { long a[8]; };", "struct s { long a[8]; } __attribute__((aligned(64)));");
	assert_true(t.cmp.changed);
	done(&t);
	compare(&t, "struct s { char c; int d; };", "struct s { char c; int d __attribute__((aligned(4))); };");
	assert_true(member(&t, "d")->resized);
	done(&t);
}

static void paths_meet(void **state)
{
	static const char text[] = "struct n { long x, y[10]; }; struct s { struct n n; long z; long w[20]; unsigned b:3, c:2; };";
	const struct lm_record *rec;
	struct fixture f;
	bool known;
	uint64_t at;

	(void)state;
	fixture_open(&f, text);
	assert_null(fixture_try(&f, "s"));
	rec = &f.sources[0].record;
	/* n: 0-88 (x 0, y 8-88), z: 88, w: 96-256, b and c: 256. */
	assert_true(lm_paths_meet(rec, "n", "z", 64, &at, &known));
	assert_true(known);
	assert_int_equal(at, 1);
	assert_false(lm_paths_meet(rec, "n.x", "z", 64, &at, NULL));
	assert_true(lm_paths_meet(rec, "n.y", "z", 64, &at, NULL));
	assert_false(lm_paths_meet(rec, "n.y[6]", "z", 64, &at, NULL));
	assert_true(lm_paths_meet(rec, "n.y[7]", "z", 64, &at, NULL));
	assert_true(lm_paths_meet(rec, "w[3]", "n", 64, &at, NULL));
	assert_false(lm_paths_meet(rec, "w[4]", "n", 64, &at, NULL));
	assert_true(lm_paths_meet(rec, "b", "c", 64, &at, NULL));
	assert_int_equal(at, 4);
	assert_false(lm_paths_meet(rec, "w", "c", 64, NULL, NULL));
	assert_false(lm_paths_meet(rec, "w", "nosuch", 64, NULL, &known));
	assert_false(known);
	fixture_close(&f);
}

static enum lm_guess guess(const struct lm_record *rec, const char *path)
{
	const char *why;

	for (uint32_t i = 0; i < rec->nr_leaves; i++)
		if (!strcmp(rec->leaves[i].path, path))
			return lm_guess_leaf(rec, i, &why);
	fail_msg("no leaf %s", path);
	return LM_GUESS_UNKNOWN;
}

static void guesses(void **state)
{
	static const char text[] =
		"typedef struct { int counter; } atomic_t; struct list_head { struct list_head *next, *prev; };\n"
		"typedef struct { int v; } spinlock_t; struct ops;\n"
		"struct s { atomic_t users; struct list_head list; spinlock_t guard; const struct ops *ops; long nr_pages;\n"
		"int max; _Bool on; const int fixed; int thing; spinlock_t *other; int sr_lock; _Atomic int a; };";
	const struct lm_record *rec;
	struct fixture f;

	(void)state;
	fixture_open(&f, text);
	assert_null(fixture_try(&f, "s"));
	rec = &f.sources[0].record;
	assert_int_equal(guess(rec, "users.counter"), LM_GUESS_WRITTEN);
	assert_int_equal(guess(rec, "list.next"), LM_GUESS_WRITTEN);
	assert_int_equal(guess(rec, "guard.v"), LM_GUESS_WRITTEN);
	assert_int_equal(guess(rec, "ops"), LM_GUESS_READ);
	assert_int_equal(guess(rec, "nr_pages"), LM_GUESS_WRITTEN);
	assert_int_equal(guess(rec, "max"), LM_GUESS_READ);
	assert_int_equal(guess(rec, "on"), LM_GUESS_READ);
	assert_int_equal(guess(rec, "fixed"), LM_GUESS_READ);
	assert_int_equal(guess(rec, "thing"), LM_GUESS_UNKNOWN);
	assert_int_equal(guess(rec, "other"), LM_GUESS_READ);
	assert_int_equal(guess(rec, "sr_lock"), LM_GUESS_WRITTEN);
	assert_int_equal(guess(rec, "a"), LM_GUESS_WRITTEN);
	fixture_close(&f);
}

static void guessed_pairs_are_new_ones(void **state)
{
	struct lm_guessed *pairs;
	struct two t;
	uint32_t nr;

	(void)state;
	compare(&t, "struct s { _Atomic long a; char pad[56]; void *p; void *q; };",
		"struct s { _Atomic long a; char pad[48]; void *p; void *q; };");
	lm_guess_new_pairs(t.cmp.before, t.cmp.after, 64, &t.arena, &pairs, &nr);
	assert_int_equal(nr, 1);
	assert_string_equal(t.cmp.after->leaves[pairs[0].read].path, "p");
	assert_int_equal(pairs[0].line, 0);
	lm_guess_new_pairs(t.cmp.after, t.cmp.before, 64, &t.arena, &pairs, &nr);
	assert_int_equal(nr, 0);
	done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_is_unchanged),
		cmocka_unit_test(one_moves_and_the_others_shift),
		cmocka_unit_test(a_nested_record_shrinks),
		cmocka_unit_test(mates_of_members_that_come_and_go),
		cmocka_unit_test(names_alone_are_no_change),
		cmocka_unit_test(swapped_inside_a_nested_record),
		cmocka_unit_test(other_alignment_is_a_change),
		cmocka_unit_test(paths_meet),
		cmocka_unit_test(guesses),
		cmocka_unit_test(guessed_pairs_are_new_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
