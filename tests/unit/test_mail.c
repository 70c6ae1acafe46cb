/* Who may write a mail, what may end it, and how its subject begins. */
#include "base/arena.h"
#include "output/git_habits.h"
#include "output/mail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void prefixes_are_places(void **state)
{
	static const struct {
		const char *subject, *prefix;
	} rows[] = {
		{ "mm: memcontrol: keep it apart", "mm: memcontrol" },
		{ "mm, memcg: keep it apart", "mm, memcg" },
		{ "net/ipv4: tcp_input: x", "net/ipv4: tcp_input" },
		{ "mm: memcontrol: fix this: or that", "mm: memcontrol" },
		{ "x86/mm/64: y", "x86/mm/64" },
		{ "s390/{qdio,cio}: y", "s390/{qdio,cio}" },
		{ "Revert \"mm: memcontrol: keep it apart\"", NULL },
		{ "Merge branch 'x' of y: z", NULL },
		{ "a sentence: not a place", NULL },
		{ "no colon", NULL },
		{ ": empty", NULL },
		{ "mm:no blank behind it", NULL },
		{ "a_place_that_is_longer_than_any_subject_can_bear: x", NULL },
		{ "", NULL },
	};
	struct lm_arena arena = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *prefix = lm_git_prefix_of(rows[i].subject, &arena);

		if (!rows[i].prefix)
			assert_null(prefix);
		else
			assert_string_equal(prefix, rows[i].prefix);
	}
	lm_arena_release(&arena);
}

static void authors_have_a_name_and_an_address(void **state)
{
	static const char *const good[] = { "A <a@b>", "J\xc3\xbcrgen J. Persson <jp@example.org>", "\"A, B\" <a@b.c>" };
	static const char *const bad[] = { "", "A", "a@b", "<a@b>", "A <a@b", "A <a@b> ", "A <>", "A <@b>", "A <a@>", "A <a b@c>",
					   "A\n <a@b>", "A\r <a@b>", "A <a@b>\n", "A<a@b>", "A <x> <a@b>" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		if (!lm_mail_is_author(good[i]))
			fail_msg("%s is no author", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (lm_mail_is_author(bad[i]))
			fail_msg("%s is an author", bad[i]);
}

static void trailers_are_one_line(void **state)
{
	static const char *const good[] = { "Signed-off-by: A <a@b>", "Fixes: 0123456789ab (\"x: y\")", "Link: https://a/b" };
	static const char *const bad[] = { "", "Signed-off-by", "Signed-off-by:", "Signed-off-by: ", "Signed off: x", ": x", "-A: x",
					   "A:x", "A:  x", "A: b\nB: c", "A: b\r", "A: \033[0m" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		if (!lm_mail_is_trailer(good[i]))
			fail_msg("%s is no trailer", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (lm_mail_is_trailer(bad[i]))
			fail_msg("%s is a trailer", bad[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefixes_are_places),
		cmocka_unit_test(authors_have_a_name_and_an_address),
		cmocka_unit_test(trailers_are_one_line),
	};

	return cmocka_run_group_tests_name("mail", tests, NULL, NULL);
}
