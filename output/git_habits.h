/*
 * git_habits.h - what a git tree says about the mails that its people write:
 * who sends them, and how their subjects begin.  Door to libgit2 (with diff.c).
 *
 * Reads only; what git does not know stays unset, and is no error.
 */
#ifndef LM_OUTPUT_GIT_HABITS_H
#define LM_OUTPUT_GIT_HABITS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct lm_git_habits {
	const char *author;	/* "Name <address>": user.name and user.email; or NULL */
	const char *prefix;	/* what subjects of commits to the file begin with most often: "mm: memcontrol"; or NULL */
	bool has_time;
	int64_t time;		/* of HEAD's committer, in seconds since 1970 */
};

/*
 * The habits of the tree that holds header (an absolute path).  Outside of a
 * git tree only the person's own configuration is asked.
 *
 * The prefix is taken of the latest commits that changed the file, merges and
 * reverts left out; of equally frequent ones the latest.  All in arena.
 */
void lm_git_habits_find(const char *header, struct lm_arena *arena, struct lm_git_habits *out);

/*
 * The words in front of a subject's last ": " that name a place ("mm: memcg:
 * fix it" -> "mm: memcg"), in arena; NULL if there are none.
 */
const char *lm_git_prefix_of(const char *subject, struct lm_arena *arena);

#endif
