/* trace.h - the traces of valgrind's lackey and of qemu_trace.c, one run of an instruction after the other. */
#ifndef TRACE_H
#define TRACE_H

#include "profiles/elf_image.h"

/* What was touched: kind L, S or, for both, M. */
struct trace_access { uint64_t addr; uint32_t size; char kind; };

/*
 * Calls run for each run of an instruction of image that touches memory.  qemu
 * splits accesses: pieces that follow each other are one again, up to the size of
 * the instruction's operand.  Ends the program if path cannot be read.
 */
void trace_each(const char *path, const struct lm_image *image,
		void (*run)(void *arg, uint64_t ip, const struct trace_access *seen, size_t nr), void *arg);

#endif
