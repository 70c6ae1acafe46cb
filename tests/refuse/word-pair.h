/* May be read as one word with its neighbour (cmpxchg of 16 bytes). */
struct probe {
	long hits;
	void *freelist __attribute__((__aligned__(16)));
	long counters;
	long cold[13];
};

/* args: --base-align 64 */
/* access: count hits 0 8 0 0 20000 */
/* access: look_up freelist 0 8 0 90000 0 */
/* access: count hits 0 8 1 0 20001 */
/* access: look_up freelist 0 8 1 90001 0 */
/* access: count hits 0 8 2 0 20002 */
/* access: look_up freelist 0 8 2 90002 0 */
/* access: count hits 0 8 3 0 20003 */
/* access: look_up freelist 0 8 3 90003 0 */
/* expect: bound word-pair freelist counters */
/* expect: in-order freelist counters */
/* expect: together freelist counters */
/* expect: apart hits freelist */
