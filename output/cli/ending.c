/* ending.c - what must be done when the program is told to end, or ends in the C library. */
#include "output/cli/commands.h"

#include "base/file.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

/* A thread, not a handler: removing directories is nothing that a handler may do. */
static void *wait_for_signal(void *arg)
{
	const char *temp = getenv("TMPDIR");
	sigset_t blocked, set;
	int number;

	/* The creator's mask was inherited.  Nothing of its stack is used: main() may return first. */
	(void)arg;
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (sigismember(&blocked, ends[i]))
			sigaddset(&set, ends[i]);
	if (sigwait(&set, &number))
		return NULL;
	lm_remove_temp_dirs("/dev/shm");
	lm_remove_temp_dirs(temp && *temp ? temp : "/tmp");
	/* Who started us shall see which signal it was. */
	signal(number, SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
	return NULL;
}

void lm_clean_up_on_signals(sigset_t *set)
{
	pthread_t thread;
	pthread_attr_t attr;

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		struct sigaction old;

		/* What is ignored (nohup, a job in the background) stays so. */
		if (!sigaction(ends[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaddset(set, ends[i]);
	}
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_BLOCK, set, NULL);
	if (pthread_create(&thread, &attr, wait_for_signal, NULL))
		pthread_sigmask(SIG_UNBLOCK, set, NULL);
	pthread_attr_destroy(&attr);
}

static void check_stdout(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return;
	fputs("Standard output cannot be written.\n", stderr);
	_exit(LM_ERR_INPUT);
}

/* --help and --version end inside the C library, which looks at no error. */
void lm_check_stdout_at_exit(void)
{
	if (atexit(check_stdout))
		lm_oom();
}
