/* file.c - whole files in, whole files out, programs run and waited for. */
#include "base/file.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct lm_err *read_fd(int fd, const char *path, const char *what, size_t max, struct lm_arena *arena,
			      char **text, size_t *len)
{
	struct stat st;

	if (fstat(fd, &st))
		return lm_err_new(LM_ERR_INPUT, "%s: cannot be read: %s.", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return lm_err_new(LM_ERR_INPUT, "%s: is not a regular file; give the path of a %s.", path, what);
	if ((uintmax_t)st.st_size > max)
		return lm_err_new(LM_ERR_INPUT, "%s: is %jd bytes large, more than the %zu that a %s may have.", path,
				  (intmax_t)st.st_size, max, what);

	char *buf = lm_arena_alloc(arena, (size_t)st.st_size + 1);
	size_t got = 0;

	while (got < (size_t)st.st_size) {
		ssize_t n = read(fd, buf + got, (size_t)st.st_size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return lm_err_new(LM_ERR_INPUT, "%s: cannot be read: %s.", path, strerror(errno));
		if (n == 0)
			break;
		got += (size_t)n;
	}
	buf[got] = 0;
	*text = buf;
	*len = got;
	return NULL;
}

struct lm_err *lm_file_read(const char *path, const char *what, size_t max, struct lm_arena *arena, char **text,
			    size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return lm_err_new(LM_ERR_INPUT, "%s: cannot open this %s: %s.", path, what, strerror(errno));

	struct lm_err *err = read_fd(fd, path, what, max, arena, text, len);

	close(fd);
	return err;
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

struct lm_err *lm_file_write(const char *path, const char *text, size_t len)
{
	struct lm_str tmp = { 0 };
	struct lm_err *err = NULL;
	struct stat st;
	int fd;

	if (!strcmp(path, "-")) {
		if (write_all(STDOUT_FILENO, text, len))
			return lm_err_new(LM_ERR_INPUT, "Standard output cannot be written: %s.", strerror(errno));
		return NULL;
	}
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {	/* /dev/null, a pipe */
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write_all(fd, text, len))
			err = lm_err_new(LM_ERR_INPUT, "%s: cannot be written: %s.", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return err;
	}
	lm_str_addf(&tmp, "%s.XXXXXX", path);
	fd = mkostemp(tmp.text, O_CLOEXEC);
	if (fd < 0) {
		err = lm_err_new(LM_ERR_INPUT, "%s: cannot be written: %s.", path, strerror(errno));
	} else {
		mode_t mask = umask(0);

		umask(mask);
		bool bad = fchmod(fd, 0666 & ~mask) || write_all(fd, text, len) || fsync(fd);

		bad |= close(fd) != 0;
		if (bad || rename(tmp.text, path)) {
			err = lm_err_new(LM_ERR_INPUT, "%s: cannot be written: %s.", path, strerror(errno));
			unlink(tmp.text);
		}
	}
	lm_str_release(&tmp);
	return err;
}

bool lm_is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool lm_is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

char *lm_real_path(const char *path, struct lm_arena *arena)
{
	char *real = realpath(path, NULL), *copy = NULL;

	if (real)
		copy = lm_arena_strdup(arena, real);
	free(real);
	return copy;
}

struct lm_err *lm_temp_dir(struct lm_arena *arena, char **path)
{
	const char *base = getenv("TMPDIR");
	/* Absolute: compilers run elsewhere. */
	char *parent = lm_real_path(base && *base ? base : "/tmp", arena);
	char *dir = parent ? lm_temp_name(parent, arena) : NULL;

	if (!dir || !mkdtemp(dir))
		return lm_err_new(LM_ERR_INPUT, "%s: cannot make a temporary directory: %s; set TMPDIR to a writable one.",
				  dir ? dir : base && *base ? base : "/tmp", strerror(errno));
	*path = dir;
	return NULL;
}

char *lm_temp_name(const char *parent, struct lm_arena *arena)
{
	return lm_arena_printf(arena, "%s/linemate.%jd.XXXXXX", parent, (intmax_t)getpid());
}

void lm_remove_temp_dirs(const char *parent)
{
	struct lm_str pattern = { 0 };
	glob_t found;
	struct stat st;

	lm_str_addf(&pattern, "%s/linemate.%jd.*", parent, (intmax_t)getpid());
	if (!glob(lm_str_text(&pattern), GLOB_NOSORT, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			/* Anybody may make a directory of that name: only ours are ours to remove. */
			if (!lstat(found.gl_pathv[i], &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid())
				lm_remove_tree(found.gl_pathv[i]);
		globfree(&found);
	}
	lm_str_release(&pattern);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	remove(path);
	return 0;
}

void lm_remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

struct lm_err *lm_make_dirs(const char *dir)
{
	char *copy = strdup(dir);
	struct lm_err *err = NULL;

	if (!copy)
		lm_oom();
	for (char *p = copy + 1; !err; p++) {
		char c = *p;

		if (c != '/' && c)
			continue;
		*p = 0;
		if (mkdir(copy, 0777) && errno != EEXIST)
			err = lm_err_new(LM_ERR_INPUT, "%s: cannot make this directory: %s.", copy, strerror(errno));
		*p = c;
		if (!c)
			break;
	}
	free(copy);
	return err;
}

extern char **environ;

static pid_t start(char *const argv[], const char *cwd, int err_fd)
{
	posix_spawn_file_actions_t act;
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid = -1;

	posix_spawn_file_actions_init(&act);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setpgroup(&attr, 0);
	if (cwd)
		posix_spawn_file_actions_addchdir_np(&act, cwd);
	posix_spawn_file_actions_addopen(&act, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&act, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&act, err_fd, 2);
	if (posix_spawnp(&pid, argv[0], &act, &attr, argv, environ))
		pid = -1;
	posix_spawn_file_actions_destroy(&act);
	posix_spawnattr_destroy(&attr);
	return pid;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Collects stderr until it closes; false when the time is over. */
static bool drain(int fd, double end, size_t limit, struct lm_str *errors)
{
	char buf[4096];

	for (;;) {
		double left = end - now();
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (left <= 0)
			return false;
		if (poll(&p, 1, left > 1 ? 1000 : (int)(left * 1000) + 1) <= 0)
			continue;

		ssize_t n = read(fd, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return true;

		size_t room = errors->len < limit ? limit - errors->len : 0;

		lm_str_add_bytes(errors, buf, (size_t)n < room ? (size_t)n : room);
	}
}

void lm_run(char *const argv[], const char *cwd, unsigned seconds, size_t limit, struct lm_str *errors, int *status)
{
	int pipe_fd[2], code = 0;

	*status = 127;
	if (pipe2(pipe_fd, O_CLOEXEC))
		return;

	pid_t pid = start(argv, cwd, pipe_fd[1]);

	close(pipe_fd[1]);
	if (pid > 0) {
		bool in_time = drain(pipe_fd[0], now() + seconds, limit, errors);

		if (!in_time)
			kill(-pid, SIGKILL);
		while (waitpid(pid, &code, 0) < 0 && errno == EINTR)
			;
		*status = !in_time ? 124 : WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
	}
	close(pipe_fd[0]);
}

bool lm_in_path(const char *name)
{
	const char *path = getenv("PATH");
	struct lm_str full = { 0 };
	bool found = false;

	if (strchr(name, '/'))
		return access(name, X_OK) == 0;
	while (path && *path && !found) {
		size_t n = strcspn(path, ":");

		lm_str_clear(&full);
		lm_str_addf(&full, "%.*s/%s", (int)n, path, name);
		found = access(full.text, X_OK) == 0 && lm_is_file(full.text);
		path += n + (path[n] == ':');
	}
	lm_str_release(&full);
	return found;
}
