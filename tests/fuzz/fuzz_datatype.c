/* fuzz_datatype.c - any bytes as perf annotate --data-type text. */
#include "fuzz_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_profile(data, size, lm_read_datatype);
}
