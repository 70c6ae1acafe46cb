/* fuzz_csv.c - any bytes as perf mem report -D text. */
#include "fuzz_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_samples(data, size, lm_read_csv);
}
