/* fuzz_lackey.c - any bytes as a valgrind lackey trace. */
#include "fuzz_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_samples(data, size, lm_read_lackey);
}
