/* Members come from a file that linemate does not patch. */
#ifdef PROBE_MEMBERS
long cold[14];
#else
struct probe {
	long hits;
#define PROBE_MEMBERS
#include "include-inside-the-record.h"
#undef PROBE_MEMBERS
	void *table;
};
#endif

/* access: count hits 0 8 0 0 20000 */
/* access: look_up table 0 8 0 90000 0 */
/* access: count hits 0 8 1 0 20001 */
/* access: look_up table 0 8 1 90001 0 */
/* access: count hits 0 8 2 0 20002 */
/* access: look_up table 0 8 2 90002 0 */
/* access: count hits 0 8 3 0 20003 */
/* access: look_up table 0 8 3 90003 0 */
/* expect: refused text | comes from outside the braces */
