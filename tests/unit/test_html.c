/* test_html.c - HTML that hostile names cannot break. */
#include "output/html.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void check(const char *bytes, size_t len, const char *want)
{
	struct lm_str s = { 0 };

	lm_html_bytes(&s, bytes, len);
	assert_string_equal(lm_str_text(&s), want);
	lm_str_release(&s);
}

static void test_markup_becomes_text(void **state)
{
	(void)state;
	check("</script><b a=\"'\">&amp;", 23, "&lt;/script&gt;&lt;b a=&quot;&#39;&quot;&gt;&amp;amp;");
	check("", 0, "");
}

static void test_bytes_that_are_no_text_are_shown(void **state)
{
	(void)state;
	check("\033[2J\xff\xc3" "a\0b", 9, "\\x1b[2J\\xff\\xc3a\\x00b");
	check("\u202egnirts", 9, "\\xe2\\x80\\xaegnirts");
	check("caf\u00e9", 5, "caf\u00e9");
}

static void test_formats(void **state)
{
	struct lm_str s = { 0 };

	(void)state;
	lm_html(&s, "<i title=\"%s\">%u %llu %lld %.2f %.0f%%</i>%s", "\"><x>", 7u, 1ull << 40, -3ll, 1.239, 0.6, "&");
	assert_string_equal(lm_str_text(&s),
			    "<i title=\"&quot;&gt;&lt;x&gt;\">7 1099511627776 -3 1.24 1%</i>&amp;");
	lm_str_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_markup_becomes_text),
		cmocka_unit_test(test_bytes_that_are_no_text_are_shown),
		cmocka_unit_test(test_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
