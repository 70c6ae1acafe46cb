/* tell_samples.c FILE - how many samples of each evidence a profile gives to attribution. */
#include "profiles/reader.h"

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	uint64_t sums[LM_NR_EVIDENCE] = { 0 };
	struct lm_samples t;
	struct lm_err *err;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE\n", argv[0]);
		return 2;
	}
	lm_samples_init(&t);
	err = lm_profile_read_samples(argv[1], &(struct lm_reader_opts){ 0 }, &t);
	if (err)
		fprintf(stderr, "%s\n", err->msg);
	for (size_t i = 0; i < t.nr; i++)
		sums[t.rows[i].evidence] += t.rows[i].count;
	for (int e = 0; e < LM_NR_EVIDENCE; e++)
		if (sums[e])
			printf("%s %" PRIu64 "\n", lm_evidence_word((enum lm_evidence)e), sums[e]);
	lm_samples_release(&t);
	lm_err_free(err);
	return err != NULL;
}
