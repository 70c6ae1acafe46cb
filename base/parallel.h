/* parallel.h - the same work on many items, on all processors. */
#ifndef LM_BASE_PARALLEL_H
#define LM_BASE_PARALLEL_H

#include <stddef.h>

/*
 * Calls work(arg, i) once for each i in 0 .. nr - 1, on up to as many threads
 * as there are processors; returns when all are done.  Items are handed out in
 * order.  work must touch only item i's data.
 */
void lm_parallel(size_t nr, void (*work)(void *arg, size_t i), void *arg);

/* Processors of this machine, at least 1. */
size_t lm_processors(void);

/*
 * Progress of a long stage: one line on stderr that rewrites itself, only
 * where stderr is a terminal and lm_progress_enable(true) was called; else
 * nothing.  done == total removes the line.  Thread-safe.
 */
void lm_progress_enable(int on);
void lm_progress(const char *stage, size_t done, size_t total);

#endif
