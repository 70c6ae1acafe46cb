/*
 * common.h - programs without a C library, so that a trace holds nothing but
 * their own accesses.  Objects that the judge knows are called obj_NAME.
 */
#ifndef COMMON_H
#define COMMON_H

typedef unsigned long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;
typedef long s64;

#define apart __attribute__((noinline))
#define inline_always static inline __attribute__((always_inline))
#define offset_of(type, member) __builtin_offsetof(type, member)
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offset_of(type, member)))

int run(int seed);

/* Sanctioned names: compilers call these where they find a copy or a fill. */
void *memset(void *to, int byte, u64 len);
void *memcpy(void *to, const void *from, u64 len);

__attribute__((weak, noinline)) void *memset(void *to, int byte, u64 len)
{
	volatile char *p = to;

	while (len--)
		*p++ = (char)byte;
	return to;
}

__attribute__((weak, noinline)) void *memcpy(void *to, const void *from, u64 len)
{
	volatile char *p = to;
	const volatile char *q = from;

	while (len--)
		*p++ = *q++;
	return to;
}

__attribute__((noreturn, used)) static void leave(int code)
{
#ifdef __aarch64__
	register u64 result __asm__("x0") = (u64)code & 0x7f, call __asm__("x8") = 93;

	for (;;)
		__asm__ volatile("svc #0" : : "r"(result), "r"(call) : "memory");
#else
	for (;;)
		__asm__ volatile("syscall" : : "a"(60), "D"(code & 0x7f) : "rcx", "r11", "memory");
#endif
}

__attribute__((noreturn, used)) static void begin(void)
{
	leave(run(3));
}

#ifdef __aarch64__
__asm__(".globl _start\n_start:\n\tmov x29, #0\n\tmov x30, #0\n\tbl begin\n");

/* libgcc asks the C library which atomics the processor has. */
__attribute__((weak)) u64 __getauxval(u64 which)
{
	(void)which;
	return 0;
}
#else
__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tand $-16, %rsp\n\tcall begin\n");
#endif

#endif
