/* fuzz_script.c - any bytes as perf script text. */
#include "fuzz_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_samples(data, size, lm_read_script);
}
