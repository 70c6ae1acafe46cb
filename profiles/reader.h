/*
 * reader.h - any perf output or access file -> access table or sample table.
 *
 * The format is told by content, never by name.  One file a format behind this
 * interface: reader_data.c, reader_script.c, reader_c2c.c, and so on.
 */
#ifndef LM_PROFILES_READER_H
#define LM_PROFILES_READER_H

#include "profiles/access.h"
#include "profiles/sample.h"

struct lm_reader_opts {
	const char *record;	/* tag or typedef name the user asked for; may be NULL */
	const uint64_t *objects; /* base addresses; a data address in [base, base + record_size) is bound */
	size_t nr_objects;
	uint64_t record_size;	/* bytes; 0: not known, then 1 MiB or up to the next object */
	struct lm_trace *trace;	/* not NULL: also remember the order of the accesses, as far as the format tells it */
};

/*
 * Reads path ("-": stdin) to the end, streaming, and adds what it says to t.
 *
 * Every line has one outcome: used, or counted under a reason.  LM_ERR_INPUT:
 * cannot be read; is empty; is of no known format (says what was expected);
 * nothing in it can be used (the sentence names the main reason and what to
 * do, for example which perf script -F fields to ask for); an access file with
 * a malformed row (file:line).  t is untouched on failure.
 */
struct lm_err *lm_profile_read(const char *path, const struct lm_reader_opts *opts,
			       struct lm_accesses *t) LM_MUST_CHECK;

/*
 * The same for attribution: adds the samples of path to t, with or without data
 * address; objects and record of opts are not used.  perf.data, perf script
 * text (of ips only, too), c2c, perf mem report -D, lackey and perf stat text
 * have samples.  LM_ERR_INPUT as above, and for a format that names members
 * already: perf annotate --data-type, perf report -s type,typeoff, a sweep, an
 * access file.
 */
struct lm_err *lm_profile_read_samples(const char *path, const struct lm_reader_opts *opts,
				       struct lm_samples *t) LM_MUST_CHECK;

/*
 * Whichever of the two the format has: samples if it has them, else accesses.
 * *has_samples tells which table was added to.
 */
struct lm_err *lm_profile_read_any(const char *path, const struct lm_reader_opts *opts, struct lm_accesses *accesses,
				   struct lm_samples *samples, bool *has_samples) LM_MUST_CHECK;

#endif
