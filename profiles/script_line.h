/*
 * script_line.h - one line of perf script text, taken apart.  No file, no
 * state, no memory: spans point into the line.
 *
 * The columns, all optional, in the order in which perf 4.4 to 7.x prints them
 * (tools/perf/builtin-script.c, process_event):
 *
 *   comm [pid/]tid [cpu] [misc] time: period event: addr sym (dso) data_src text
 *   weight ins_lat retire_lat cgroup ip sym+0xoff (dso) phys_addr page sizes
 */
#ifndef LM_PROFILES_SCRIPT_LINE_H
#define LM_PROFILES_SCRIPT_LINE_H

#include "profiles/reader_private.h"

enum lm_script_kind {
	LM_SCRIPT_SAMPLE,
	LM_SCRIPT_FRAME,	/* of a call chain: ip and symbol only */
	LM_SCRIPT_SRCLINE,	/* "  file.c:28" behind a sample or frame */
	LM_SCRIPT_RECORD,	/* PERF_RECORD_..., from --show-mmap-events and the like */
	LM_SCRIPT_MESSAGE,	/* without time and event: a warning */
	LM_SCRIPT_BAD,		/* has a time, but no event or nothing at all behind it */
};

struct lm_script_line {
	struct lm_span head;	/* comm, pid, tid, cpu, time */
	struct lm_span event;	/* without the colon */
	struct lm_span symbol;	/* of the ip, without offset; empty if there is none */
	struct lm_span behind;	/* what follows the symbol: its offset, the file */
	uint64_t addr, ip, data_src;
	uint64_t time;		/* ns */
	int32_t cpu;		/* LM_CPU_UNKNOWN if not printed */
	bool has_time, has_addr, has_ip, has_data_src;
	bool lone;		/* one number only, in addr: a data address if frames follow, else the ip */
	bool traced;		/* text behind the event, no number: a tracepoint */
	bool tab;		/* a frame behind a tab: of a call chain for sure */
};

enum lm_script_kind lm_script_parse(const char *text, size_t len, struct lm_script_line *ret);

/* The file of the ip, without the parentheses; empty if there is none. */
struct lm_span lm_script_dso(const struct lm_script_line *line);

/* A frame of a call that the compiler put into another function, whose frame follows with the same ip. */
bool lm_script_inlined(const struct lm_script_line *line);

/* The address where the function of the ip starts, from "symbol+0x12"; false: no offset was printed. */
bool lm_script_start(const struct lm_script_line *line, uint64_t *ret);

/* A PERF_RECORD_MMAP or MMAP2 line, as --show-mmap-events prints it. */
struct lm_script_mmap {
	struct lm_span name;
	struct lm_span build_id;	/* hexadecimal digits; empty if there is none */
	int32_t pid;			/* -1: kernel */
	uint64_t start, len, pgoff;
};

/* False if the line is another record. */
bool lm_script_mmap(const char *text, size_t len, struct lm_script_mmap *ret);

#endif
