/* fuzz_typeoff.c - any bytes as perf report -s type,typeoff text. */
#include "fuzz_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_profile(data, size, lm_read_typeoff);
}
