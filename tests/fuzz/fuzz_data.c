/* fuzz_data.c - any bytes as a perf.data file. */
#include "fuzz_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_samples(data, size, lm_read_data);
}
