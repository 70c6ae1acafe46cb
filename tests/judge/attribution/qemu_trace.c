/*
 * qemu_trace.c - a plugin for qemu-user: what a program reads and writes, in
 * the words of valgrind's lackey, so that one judge reads both.
 *
 *	cc -shared -fPIC -DAPI=1 -o qemu_trace.so qemu_trace.c
 *	qemu-aarch64 -plugin ./qemu_trace.so,out=TRACE BINARY
 *
 * An instruction that touches memory gives "I  ADDRESS,4" each time it runs,
 * followed by " L ADDRESS,SIZE" or " S ADDRESS,SIZE" for each access, which qemu
 * splits as it likes: one of 16 bytes may be two of 8.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * The part of qemu's plugin API (include/qemu/qemu-plugin.h, not packaged)
 * that is used here; it is the same in all versions.  qemu before 9 takes
 * version 1, later ones 2 and up.
 */
#ifndef API
#define API 1
#endif
#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;
enum { NO_REGS = 0, READ_AND_WRITE = 3 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*call)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, void (*call)(unsigned, void *), int regs,
					    void *arg);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      void (*call)(unsigned, qemu_plugin_meminfo_t, uint64_t, void *), int regs, int rw,
				      void *arg);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*call)(qemu_plugin_id_t, void *), void *arg);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

EXPORT int qemu_plugin_version = API;

static FILE *out;
static bool told;	/* the instruction that runs is written down */

static void on_run(unsigned cpu, void *ip)
{
	(void)cpu;
	(void)ip;
	told = false;
}

static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t addr, void *ip)
{
	(void)cpu;
	if (!told)
		fprintf(out, "I  %" PRIxPTR ",4\n", (uintptr_t)ip);
	told = true;
	fprintf(out, " %c %" PRIx64 ",%u\n", qemu_plugin_mem_is_store(info) ? 'S' : 'L', addr,
		1u << qemu_plugin_mem_size_shift(info));
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		void *ip = (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn);

		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_run, NO_REGS, ip);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, NO_REGS, READ_AND_WRITE, ip);
	}
}

static void on_end(qemu_plugin_id_t id, void *arg)
{
	(void)id;
	(void)arg;
	fclose(out);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4)) {
		fprintf(stderr, "qemu_trace takes one argument: out=FILE\n");
		return 1;
	}
	out = fopen(argv[0] + 4, "w");
	if (!out) {
		perror(argv[0] + 4);
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
	return 0;
}
