/* fuzz_sweep.c - any bytes as a sweep of hardware breakpoints. */
#include "fuzz_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_profile(data, size, lm_read_sweep);
}
