/* fuzz_c2c.c - any bytes as perf c2c report text. */
#include "fuzz_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_samples(data, size, lm_read_c2c);
}
