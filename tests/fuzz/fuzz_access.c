/* fuzz_access.c - any bytes as access files. */
#include "fuzz_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_profile(data, size, lm_read_access);
}
