/* fuzz_trace.c - any bytes as accesses in order: one outcome each, and every step has its kind and CPU. */
#include "fuzz_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lm_lines src = { .name = "fuzz", .data = (const char *)data, .end = size, .fd = -1, .eof = true };
	struct lm_trace trace = { 0 };
	struct lm_reader_opts opts = { .record = "rec", .record_size = size % 2 ? 4096 : 0, .trace = &trace };
	struct lm_accesses t;
	struct lm_err *err;

	fuzz_profile(data, size, lm_read_trace);
	lm_accesses_init(&t);
	err = lm_read_trace(&src, &opts, &t);
	check(!err);
	check_adds_up(&t);
	check(trace.nr == t.used);
	lm_trace_settle(&trace, size % 3 == 0);
	check(trace.nr == t.used);
	for (size_t i = 0; i < trace.nr; i++)
		check(trace.steps[i].kind < trace.nr_kinds && trace.steps[i].cpu < trace.nr_cpus);
	for (size_t i = 1; i < trace.nr_cpus; i++)
		check(trace.cpus[i - 1] < trace.cpus[i]);
	lm_trace_release(&trace);
	lm_accesses_release(&t);
	return 0;
}
