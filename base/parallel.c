/* parallel.c - the same work on many items, on all processors. */
#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_THREADS = 64, STACK = 16 << 20 };

struct job {
	size_t nr;
	atomic_size_t next;
	void (*work)(void *arg, size_t i);
	void *arg;
};

static void *run(void *p)
{
	struct job *job = p;

	for (;;) {
		size_t i = atomic_fetch_add(&job->next, 1);

		if (i >= job->nr)
			return NULL;
		job->work(job->arg, i);
	}
}

size_t lm_processors(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus < 1 ? 1 : (size_t)cpus;
}

void lm_parallel(size_t nr, void (*work)(void *arg, size_t i), void *arg)
{
	struct job job = { .nr = nr, .work = work, .arg = arg };
	size_t want = lm_processors();
	pthread_t threads[MAX_THREADS];
	pthread_attr_t attr;
	size_t started = 0;

	want = want > nr ? nr : want;
	want = want > MAX_THREADS ? MAX_THREADS : want;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	while (started + 1 < want && !pthread_create(&threads[started], &attr, run, &job))
		started++;
	pthread_attr_destroy(&attr);
	run(&job);
	while (started)
		pthread_join(threads[--started], NULL);
}

static atomic_int progress_on;

void lm_progress_enable(int on)
{
	atomic_store(&progress_on, on && isatty(STDERR_FILENO));
}

void lm_progress(const char *stage, size_t done, size_t total)
{
	if (!atomic_load(&progress_on))
		return;
	if (done >= total)
		fprintf(stderr, "\r\033[K");
	else
		fprintf(stderr, "\r\033[K%s: %zu of %zu", stage, done, total);
	fflush(stderr);
}
