/* The same with the plugin on: the range is one anonymous struct, and stays as it is. */
#define randomized_struct_fields_start	struct {
#define randomized_struct_fields_end	};

struct probe {
	long first;
	randomized_struct_fields_start
	long hits;
	void *table;
	randomized_struct_fields_end
	long cold[14];
};

/* args: --base-align 64 */
/* access: count hits 0 8 0 0 20000 */
/* access: look_up table 0 8 0 90000 0 */
/* access: count hits 0 8 1 0 20001 */
/* access: look_up table 0 8 1 90001 0 */
/* access: count hits 0 8 2 0 20002 */
/* access: look_up table 0 8 2 90002 0 */
/* access: count hits 0 8 3 0 20003 */
/* access: look_up table 0 8 3 90003 0 */
/* expect: kept */
