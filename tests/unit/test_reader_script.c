/*
 * test_reader_script.c - perf script text.  The lines are written in the
 * manner of perf 4.4 to 7.x; what each must count as stands beside it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile_check.h"

#include <sys/mman.h>
#include <unistd.h>

#define LOAD "10268100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A "
#define STORE "5080144 |OP STORE|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A "
#define HEAD "  work 101 [003] 1.000000: "
#define LOADS HEAD " 400 cpu/mem-loads,ldlat=30/P: "
#define IP "ffffffff8119b0e4 "
#define K "([kernel.kallsyms])\n"

static const struct text_case ages[] = {
	{ "a load and a store of perf 7, times 1 each whatever their period",
	  "        work     101 [003]      1.000000:     400  cpu/mem-loads,ldlat=30/P: ffff88810000004c      "
	  "10268100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A       5    7    0 "
	  "ffffffff8119b0e4 charge+0x14 ([kernel.kallsyms])\n"
	  "        work     101 [003]      1.000400:   10007         cpu/mem-stores/P: ffff888100000050          "
	  "5080144 |OP STORE|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A       0 "
	  "ffffffff8119b0f4 charge+0x24 ([kernel.kallsyms])\n",
	  "charge .+76/1 cpu3 #0 1r 0w precise\ncharge .+80/1 cpu3 #0 0r 1w precise\n", "samples 2 used 2", NULL },
	{ "equal accesses are added up, CPUs and objects are kept apart",
	  LOADS "ffff888100000010 " LOAD "5 " IP "f+0x1 " K LOADS "ffff888100000010 " LOAD "9 " IP "f+0x1 " K
	  LOADS "ffff888200000010 " LOAD "5 " IP "f+0x1 " K
	  "  work 7 [000] 1.000000: 400 cpu/mem-loads,ldlat=30/P: ffff888100000010 " LOAD "5 " IP "f+0x1 " K,
	  "f .+16/1 cpu0 #0 1r 0w precise\nf .+16/1 cpu3 #0 2r 0w precise\nf .+16/1 cpu3 #1 1r 0w precise\n",
	  "samples 4 used 4", NULL },
	{ "perf 4.4, Ivy Bridge: no |OP, no cpu, data_src without lvlnum",
	  "  ls 204711   2699.250295:  317 cpu/mem-loads/pp: ffff888100000008  68100142 L1 hit|SNP None|TLB L1 or L2 "
	  "hit|LCK No  511 ffffffff811cb2e9 [unknown] ([kernel.kallsyms])\n",
	  "[unknown] .+8/1 cpu-1 #0 1r 0w precise\n", "samples 1 used 1", NULL },
	{ "perf 5.12 to 5.18: BLK but no OP",
	  "  ls 17753 [011]  1678.250400:  1  mem-loads: ffff888100000008  88000182 L1 miss|SNP N/A|TLB Walker "
	  "hit|LCK "
	  "No|BLK  N/A 12 ffffa7c22b4b4a00 f ([kernel.kallsyms])\n",
	  "f .+8/1 cpu11 #0 1r 0w precise\n", "samples 1 used 1", NULL },
	{ "perf 6.1 prints both level fields, and phys_addr and page size behind the dso",
	  "  ls 1 [001]  5.001607:  4000 cpu/mem-loads,ldlat=30/P: ffff888100000008  268100142 |OP LOAD|LVL L1 or L1 "
	  "hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A   35   38  4012d0 f+0x2 (/usr/bin/x)  2029ef040 4K\n",
	  "f .+8/1 cpu1 #0 1r 0w precise\n", "samples 1 used 1", NULL },
	{ "proposed 2025: |AFF, and a data_src of more digits",
	  LOADS "ffff888100000008 444000288100144 |OP STORE SIMD|LVL L1 hit|SNP None|TLB Walker hit|LCK No|BLK  "
	  "N/A|AFF "
	  "PRED SG   3 " IP "f+0x1 " K,
	  "f .+8/1 cpu3 #0 0r 1w precise\n", "samples 1 used 1", NULL },
	{ "text cut at 99 bytes in the middle of a tag",
	  LOADS "ffff888100000008 10268100142 |OP LOAD|LVL Remote Any cache hit|SNP HitM|TLB L1 or L2 hit|LCK Yes|BL "
	  "  "
	  "          3 " IP "f+0x1 " K,
	  "f .+8/1 cpu3 #0 1r 0w precise\n", "samples 1 used 1", NULL },
	{ "names with many colons, of libpfm",
	  "  reclaimer  4711 [028]  1717.250881: 10009 "
	  "MEM_TRANS_RETIRED.LOAD_LATENCY:ldlat=64:precise=2:mh:mg:pinned: "
	  "ffff88810000031c 1026a100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK Yes|BLK  N/A   81  0 "
	  "ffffffff8123452b g+0xb ([kernel.kallsyms])\n",
	  "g .+796/1 cpu28 #0 1r 1w precise\n", "samples 1 used 1", NULL },
	{ "hybrid names, a tab before the event, two blanks before the bar",
	  "  page-renderer-1   41572 [002]   4966.250384:      10000 \tcpu_core/MEM_UOPS_RETIRED.LOAD_LATENCY/: "
	  "ffff888100000020     10268100142  |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK    N/A    5   "
	  "7    "
	  "0   7fad7c47427d h (/usr/lib64/libglib-2.0.so.0.8000.3)\n",
	  "h .+32/1 cpu2 #0 1r 0w precise\n", "samples 1 used 1", NULL },
};

static const struct text_case operations[] = {
	{ "a locked load is a read and a write",
	  LOADS "ffff888100000010 6a100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK Yes|BLK  N/A 5 " IP
	  "f+0x1 " K,
	  "f .+16/1 cpu3 #0 1r 1w precise\n", "samples 1 used 1", NULL },
	{ "AMD says LOAD|STORE in hex, and LOAD in words: the hex counts",
	  HEAD "4000 ibs_op//: ffff888100000018 22a080146 |OP LOAD|LVL L1 hit|SNP N/A|TLB L1 hit|LCK Yes|BLK  N/A  0 "
	  "4012e7 f+0x1 (/bin/x)\n",
	  "f .+24/1 cpu3 #0 1r 1w precise\n", "samples 1 used 1", NULL },
	{ "prefetch, execution and not available are no data access",
	  LOADS "ffff888100000010 " LOAD "5 " IP "f+0x1 " K
	  HEAD "1 ibs_op//: ffff888100000018 28 |OP PFETCH|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A 0 4012e7 f+0x1 "
	  "(/x)\n"
	  HEAD "1 ibs_op//: ffff888100000018 30 |OP EXEC|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A 0 4012e7 f+0x1 "
	  "(/x)\n"
	  HEAD "1 ibs_op//: 0 5080021 |OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A 0 4012e7 f+0x1 (/x)\n",
	  "f .+16/1 cpu3 #0 1r 0w precise\n", "samples 4 used 1 not-memory 3", NULL },
	{ "not available counts by name where the name says it",
	  HEAD "1 cpu/mem-stores/P: ffff888100000018 5080021 |OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A 0 " IP
	  "f+0x1 " K
	  HEAD "1 cpu/mem-loads/P: ffff888100000018 1e05080021 |OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A 0 " IP
	  "f+0x1 " K,
	  "f .+24/1 cpu3 #0 1r 1w precise\n", "samples 2 used 2", NULL },
	{ "without data_src the name decides, or it is unknown and a read",
	  HEAD "1 cpu/mem-stores/P: ffff888100000018 " IP "f+0x1 " K HEAD
	  "1 mem_load_retired.l3_miss:pp: ffff888100000018 "
	  IP "f+0x1 " K HEAD "1 cycles:ppp: ffff888100000020 " IP "f+0x1 " K,
	  "f .+24/1 cpu3 #0 1r 1w precise\nf .+32/1 cpu3 #0 1r 0w precise\n", "samples 3 used 3 unknown 1", NULL },
	{ "the auxiliary event of Sapphire Rapids, page faults, clocks and tracepoints are no data access",
	  LOADS "ffff888100000010 " LOAD "5 " IP "f+0x1 " K
	  HEAD "1 cpu/mem-loads-aux/: ffff888100000018 " LOAD "5 " IP "f+0x1 " K
	  HEAD "page-faults:  ffff888100000018 [unknown]     7f42969f78ea clone3\n"
	  HEAD "250000 cpu-clock: 173aa80 [unknown]\n"
	  HEAD "sched:sched_switch: prev_comm=x prev_pid=1\n"
	  HEAD "probe_f:account: (4012d0) hit=1\n",
	  "f .+16/1 cpu3 #0 1r 0w precise\n", "samples 6 used 1 not-memory 5", NULL },
};

static const struct text_case breakpoints[] = {
	{ "a breakpoint is exact, its operation unknown and read",
	  "  perf 480 [001] 686.163282: mem:0xffff888100000448: ffff888100000448 ffffffff8168ebbb mod_state+0x3b\n",
	  "mod_state .+1096/1 cpu1 #0 1r 0w exact\n", "samples 1 used 1 unknown 1", NULL },
	{ "default output has the ip only: the name has the address",
	  "  perf 480 [001] 686.163282: 1 mem:0xffff888100000448: ffffffff8168ebbb mod_state+0x3b "
	  "([kernel.kallsyms])\n"
	  "  perf 480 686.163282: 1 mem:0xffff888100000448: \n\tffffffff8168ebbb g+0x3b ([kernel.kallsyms])\n\n",
	  "g .+1096/1 cpu-1 #0 1r 0w exact\nmod_state .+1096/1 cpu1 #0 1r 0w exact\n", "samples 2 used 2 unknown 2",
	  NULL },
	{ "length and kind where the name keeps them",
	  HEAD "mem:0xffff888100000448/8:w: ffff88810000044c ffffffff8168ebbb f+0x3b\n"
	  HEAD "mem:0xffff888100000448/4:rw:k: ffff888100000448 ffffffff8168ebbb f+0x3b\n"
	  HEAD "mem:0xffff888100000448/2:r:u: ffff888100000448 ffffffff8168ebbb f+0x3b\n"
	  HEAD "mem:0xffffffff8168ebb0/8:x: ffff888100000448 ffffffff8168ebbb f+0x3b\n",
	  "f .+1096/2 cpu3 #0 1r 0w exact\nf .+1096/4 cpu3 #0 1r 0w exact\nf .+1100/8 cpu3 #0 0r 1w exact\n",
	  "samples 4 used 3 unknown 1 not-memory 1", NULL },
	{ "data_src says nothing about a breakpoint",
	  HEAD "mem:0xffff888100000448: ffff888100000448 1e05080021 |OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A "
	  "ffffffff8168ebbb f+0x3b\n",
	  "f .+1096/1 cpu3 #0 1r 0w exact\n", "samples 1 used 1 unknown 1", NULL },
};

#define SPE "  sleep 49337 [004] 20133.731889: 1 "
#define SPE2 "  sleep 49337 [004] 20133.731890: 1 "
#define SPE_LOAD "88000142 |OP LOAD|LVL L1 hit|SNP N/A|TLB Walker hit|LCK No|BLK  N/A "

static const struct text_case spe[] = {
	{ "one operation under three events counts once",
	  SPE "l1d-access: ffff888100000970 " SPE_LOAD IP "f+0x1 " K SPE "tlb-access: ffff888100000970 " SPE_LOAD IP
	  "f+0x1 " K
	  SPE "memory: ffff888100000970 " SPE_LOAD IP "f+0x1 ([kernel.kallsyms])       153d19970\n",
	  "", "", "outside the record's objects" },
	{ "of two operations each counts once, whichever event comes first",
	  SPE "l1d-access: ffff888100000070 " SPE_LOAD IP "f+0x1 " K SPE "tlb-access: ffff888100000070 " SPE_LOAD IP
	  "f+0x1 " K
	  SPE "memory: ffff888100000070 " SPE_LOAD IP "f+0x1 " K
	  SPE2 "memory: ffff888100000070 " SPE_LOAD IP "f+0x1 " K SPE2 "l1d-access: ffff888100000070 " SPE_LOAD IP
	  "f+0x1 " K
	  SPE2 "branch: ffff888100000070 " IP "f+0x1 " K,
	  "f .+112/1 cpu4 #0 2r 0w precise\n", "samples 6 used 2 not-memory 1 duplicate 3", NULL },
	{ "the same event again is another operation, even at the same time",
	  SPE "l1d-access: ffff888100000070 " SPE_LOAD IP "f+0x1 " K SPE "memory: ffff888100000070 " SPE_LOAD IP
	  "f+0x1 " K
	  SPE "l1d-access: ffff888100000070 " SPE_LOAD IP "f+0x1 " K,
	  "f .+112/1 cpu4 #0 2r 0w precise\n", "samples 3 used 2 duplicate 1", NULL },
	{ "without data_src an operation is unknown",
	  SPE "memory: ffff888100000070 ffffcbebcde1d5b8 [unknown] ([unknown])       153d19970\n",
	  "[unknown] .+112/1 cpu4 #0 1r 0w precise\n", "samples 1 used 1 unknown 1", NULL },
	{ "without a time only memory counts",
	  "l1d-access: ffff888100000070 " SPE_LOAD IP "f+0x1 " K "memory: ffff888100000070 " SPE_LOAD IP "f+0x1 " K
	  "memory: ffff888100000070 " SPE_LOAD IP "f+0x1 " K,
	  "f .+112/1 cpu-1 #0 2r 0w precise\n", "samples 3 used 2 duplicate 1", NULL },
};

static const struct text_case columns[] = {
	{ "-F event,addr,data_src,ip,sym,symoff,dso",
	  "cpu/mem-loads,ldlat=30/P: ffff888100000008 " LOAD "   4012d0 f+0x2 (/usr/local/bin/fs)\n"
	  "        cpu/mem-stores/P: ffff888100000008 " STORE "   4012d0 f+0x2 (/usr/local/bin/fs)\n",
	  "f .+8/1 cpu-1 #0 1r 1w precise\n", "samples 2 used 2", NULL },
	{ "-F event,addr,ip,sym, and -F event,addr,ip",
	  "cpu/mem-loads,ldlat=30/P: ffff888100000008  ffffffff8119b0e4 f\n"
	  "cpu/mem-loads,ldlat=30/P: ffff888100000008  ffffffff8119b0e4\n",
	  "[unknown] .+8/1 cpu-1 #0 1r 0w precise\nf .+8/1 cpu-1 #0 1r 0w precise\n", "samples 2 used 2", NULL },
	{ "-F pid,tid, --ns, no period, misc",
	  "  work 500/501    [002] K 13166.196585123: cpu/mem-loads/P: ffff888100000008 " LOAD "0 " IP "f+0x2 " K,
	  "f .+8/1 cpu2 #0 1r 0w precise\n", "samples 1 used 1", NULL },
	{ "-F cpu,event,addr,ip,sym without time and with period",
	  "[002] 4000 cpu/mem-loads/P: ffff888100000008 ffffffff8119b0e4 f\n",
	  "f .+8/1 cpu2 #0 1r 0w precise\n", "samples 1 used 1", NULL },
	{ "a comm with blanks, colons, brackets and digits; a thread without name",
	  "  Web Co [9]: 1 101 [003] 1.000000: 4 cpu/mem-loads/P: ffff888100000008 " LOAD "0 " IP "f+0x2 " K
	  "  :-1    -1 [001] 1.000001: 4 cpu/mem-loads/P: ffff888100000008 " LOAD "0 " IP "f+0x2 " K
	  "  kworker/1:0-eve 12 [001] 1.000001: 4 cpu/mem-loads/P: ffff888100000008 " LOAD "0 " IP "f+0x2 " K,
	  "f .+8/1 cpu1 #0 2r 0w precise\nf .+8/1 cpu3 #0 1r 0w precise\n", "samples 3 used 3", NULL },
	{ "C++ symbols, operators, suffixes, no offset, a dso with a blank",
	  LOADS "ffff888100000008 " LOAD "0 " IP "ns::box<int, 4>::put(int const&) const+0x1c (/opt/my app/lib.so)\n"
	  LOADS "ffff888100000008 " LOAD "0 " IP "ns::operator|(ns::bits, ns::bits)+0x1 (/opt/x)\n"
	  LOADS "ffff888100000008 " LOAD "0 " IP "std::f(int (*)(char)) (/opt/x)\n"
	  LOADS "ffff888100000008 " LOAD "0 " IP "charge.constprop.0.isra.0+0x4 " K,
	  "charge.constprop.0.isra.0 .+8/1 cpu3 #0 1r 0w precise\n"
	  "ns::box<int, 4>::put(int const&) const .+8/1 cpu3 #0 1r 0w precise\n"
	  "ns::operator|(ns::bits, ns::bits) .+8/1 cpu3 #0 1r 0w precise\n"
	  "std::f(int (*)(char)) .+8/1 cpu3 #0 1r 0w precise\n", "samples 4 used 4", NULL },
	{ "functions whose names are hexadecimal letters",
	  LOADS "ffff888100000008 " LOAD "225 " IP "add (/bin/x)\n" LOADS "ffff888100000008 " LOAD
	  "225 401230 dead+0x4 (/bin/x)\n"
	  LOADS "ffff888100000008 " IP "fade\n",
	  "add .+8/1 cpu3 #0 1r 0w precise\ndead .+8/1 cpu3 #0 1r 0w precise\nfade .+8/1 cpu3 #0 1r 0w precise\n",
	  "samples 3 used 3", NULL },
	{ "a symbol of the data address, as for page faults; a cgroup; a dso offset",
	  HEAD "mem-loads: ffff888100000008 counter+0x8 ([kernel.kallsyms].data) ffffffff8119b0e4 f+0x1 " K
	  LOADS "ffff888100000008 " LOAD "5 7 0 /user.slice/a " IP "g+0x1 ([kernel.kallsyms]+0x12d0)\n",
	  "f .+8/1 cpu3 #0 1r 0w precise\ng .+8/1 cpu3 #0 1r 0w precise\n", "samples 2 used 2", NULL },
	{ "a physical address and page sizes behind the dso are no second ip",
	  LOADS "ffff888100000008 " IP "f+0x1 ([kernel.kallsyms])  153d19970 4K\n"
	  LOADS IP "f+0x1 ([kernel.kallsyms])  153d19970 4K\n" LOADS IP "f+0x1 ([kernel.kallsyms])  153d19970 N/A N/A\n",
	  "f .+8/1 cpu3 #0 1r 0w precise\n", "samples 3 used 1 no-address 2", NULL },
	{ "without a symbol the site is unknown",
	  LOADS "ffff888100000008 " LOAD "5 " IP K LOADS "ffff888100000008 " LOAD "5 " IP "[unknown] ([unknown])\n",
	  "[unknown] .+8/1 cpu3 #0 2r 0w precise\n", "samples 2 used 2", NULL },
	{ "the bytes of an object end where its record ends",
	  LOADS "ffff88810000087f " LOAD "5 " IP "f+0x1 " K LOADS "ffff888100000880 " LOAD "5 " IP "f+0x1 " K
	  LOADS "ffff8880ffffffff " LOAD "5 " IP "f+0x1 " K,
	  "f .+2175/1 cpu3 #0 1r 0w precise\n", "samples 3 used 1 other-object 2", NULL },
};

static const struct text_case chains[] = {
	{ "the first frame is the sample, the empty line ends it",
	  "work 101 [003] 1.000000: 400 cpu/mem-loads/P: ffff888100000008 " LOAD "   5   7 \n"
	  "\tffffffff8119b0e4 charge+0x14 ([kernel.kallsyms])\n\tffffffff8119b111 caller+0x1 ([kernel.kallsyms])\n"
	  "\t          4012d0 main+0x1 (/bin/x)\n\n"
	  "work 101 [003] 1.000400: 400 cpu/mem-stores/P: ffff888100000010 " STORE "\n"
	  "\tffffffff8119b0e4 other+0x14 ([kernel.kallsyms])\n\n",
	  "charge .+8/1 cpu3 #0 1r 0w precise\nother .+16/1 cpu3 #0 0r 1w precise\n", "samples 2 used 2", NULL },
	{ "without data_src the one number is the address, because frames follow",
	  "work 101 1.000000: 400 cpu/mem-stores/P: ffff888100000008\n\tffffffff8119b0e4 f+0x14 (x)\n\n"
	  "work 101 1.000000: 400 cpu/mem-stores/P: ffffffff8119b0e4 f+0x14 (x)\n",
	  "f .+8/1 cpu-1 #0 0r 1w precise\n", "samples 2 used 1 no-address 1", NULL },
	{ "source lines belong to their sample or frame",
	  LOADS "ffff888100000008 " LOAD "5 " IP "f+0x1 " K "  memcontrol.c:772\n"
	  LOADS "ffff888100000008 " LOAD "5 \n\tffffffff8119b0e4 g+0x14 (x)\n  memcontrol.c:77\n\tffffffff8119b0e4 h "
	  "(x)\n\n",
	  "f .+8/1 cpu3 #0 1r 0w precise\ng .+8/1 cpu3 #0 1r 0w precise\n", "samples 2 used 2", NULL },
	{ "a chain without frames, at the end of the file",
	  LOADS "ffff888100000008 " LOAD "5 \n\n" LOADS "ffff888100000010 " LOAD "5 \n",
	  "[unknown] .+8/1 cpu3 #0 1r 0w precise\n[unknown] .+16/1 cpu3 #0 1r 0w precise\n", "samples 2 used 2",
	  NULL },
	{ "a frame of a chain cut off takes its sample with it, later frames do not",
	  LOADS "ffff888100000008 " LOAD "5 \n\tffffffff8119b0e4 f+0x14 (x)\n\n"
	  LOADS "ffff888100000008 " LOAD "5 \n\tffffffff8119b0e4 g+0x1",
	  "f .+8/1 cpu3 #0 1r 0w precise\n", "samples 2 used 1 truncated 1", NULL },
};

#define GOOD LOADS "ffff888100000008 " LOAD "5 " IP "f+0x1 " K
#define GOOD_ROW "f .+8/1 cpu3 #0 1r 0w precise\n"

static const struct text_case damage[] = {
	{ "comments, mappings and warnings are no samples",
	  "# ========\n# captured on    : Mon Nov 30\n#\n"
	  "Warning:\nProcessed 123 events and lost 1 chunks!\n\n"
	  "No kallsyms or vmlinux with build-id 12ab was found\nFailed to open /proc/kcore: bad permissions\n"
	  "swapper     0 [000]     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffffa4200000(0xe013fa) @ 0]: x "
	  "[kernel]_text\n"
	  "swapper     0 PERF_RECORD_COMM: swapper:0/0\n" GOOD,
	  GOOD_ROW, "samples 10 used 1 not-a-sample 9", NULL },
	{ "a line with a time and no event cannot be read",
	  GOOD "  work 101 [003] 1.000000: ffff888100000008 ffffffff8119b0e4 f+0x1 (x)\n  work 101 [003] "
	  "1.000000:\n", GOOD_ROW,
	  "samples 3 used 1 unreadable 2", NULL },
	{ "a last line without newline is cut off, wherever",
	  GOOD "  work 101 [003] 1.000000:  400 cpu/mem-loads,ldlat=30/P: ffff888100000008 10268100142 |OP LOAD|LV",
	  GOOD_ROW,
	  "samples 2 used 1 truncated 1", NULL },
	{ "cut off in the head",
	  GOOD "  work 10", GOOD_ROW, "samples 2 used 1 truncated 1", NULL },
	{ "carriage returns of a mail",
	  "  work 101 [003] 1.000000: 400 cpu/mem-loads/P: ffff888100000008 " LOAD "5 " IP "f+0x1\r\n\r\n"
	  "  work 101 [003] 1.000000: 400 cpu/mem-loads/P: ffff888100000008 " LOAD "5 " IP "f+0x1 (x)\r\n",
	  "f .+8/1 cpu3 #0 2r 0w precise\n", "samples 2 used 2", NULL },
	{ "an address of zero, or none, says what to ask perf for",
	  LOADS "0 " LOAD "5 " IP "f+0x1 " K LOADS LOAD "5 " IP "f+0x1 " K, "", "",
	  "text: none of its 2 samples can be used; reason of 2: sample has no data address: record or print with "
	  "addr "
	  "(perf script -F +addr); record with perf mem record (or perf record -d) and print with perf script -F "
	  "+addr,+data_src." },
	{ "ips alone", "     7f6a1e04a4a2 init_cpu.constprop.0+0xe12 (/usr/lib/x)\n", "", "", "-F +addr,+data_src" },
	{ "clock samples say that they are no data access", HEAD "1 cpu-clock: 7f6a1e04a4a2 f+0x1 (x)\n", "", "",
	  "record data accesses, for example with perf mem record" },
	{ "a reason of few does not hide the reason of most",
	  "# comment\n# comment\n# comment\n" HEAD "1 cpu-clock: 7f6a1e04a4a2 f+0x1 (x)\n" LOADS "ffff800000000008 "
	  LOAD "5 " IP
	  "f+0x1 " K LOADS "ffff800000000008 " LOAD "5 " IP "f+0x1 " K, "", "",
	  "none of its 3 samples can be used; reason of 2: "
	  "data address lies outside the record's objects; check the addresses given with --object." },
};

static void check_all(const struct text_case *cases, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		check_text(&cases[i], &test_opts);
}

static void every_age_of_perf(void **state)
{
	(void)state;
	check_all(ages, NR(ages));
}

static void read_or_write(void **state)
{
	(void)state;
	check_all(operations, NR(operations));
}

static void hardware_breakpoints(void **state)
{
	(void)state;
	check_all(breakpoints, NR(breakpoints));
}

static void arm_spe(void **state)
{
	(void)state;
	check_all(spe, NR(spe));
}

static void optional_columns(void **state)
{
	(void)state;
	check_all(columns, NR(columns));
}

static void call_chains(void **state)
{
	(void)state;
	check_all(chains, NR(chains));
}

static void damaged_text(void **state)
{
	(void)state;
	check_all(damage, NR(damage));
}

static void without_objects(void **state)
{
	static const struct text_case c = { "no --object", GOOD, "", "",
	"give the address of an object with --object ADDR" };
	static const struct lm_reader_opts none = { .record = "rec" };

	(void)state;
	check_text(&c, &none);
}

static void size_of_the_record_unknown(void **state)
{
	static const uint64_t objects[] = { 0xffff888200000000u, 0xffff888100000000u, 0xffff888100000100u,
	0xffff888100000000u };
	static const struct lm_reader_opts opts = { .objects = objects, .nr_objects = 4 };
	static const struct text_case c = {
		"then an object ends at the next one, or after 1 MiB; an address given twice keeps its first number",
		LOADS "ffff8881000000ff " LOAD "5 " IP "f+0x1 " K LOADS "ffff888100000101 " LOAD "5 " IP "f+0x1 " K
		LOADS "ffff8882000fffff " LOAD "5 " IP "f+0x1 " K LOADS "ffff888200100000 " LOAD "5 " IP "f+0x1 " K,
		"f .+1/1 cpu3 #2 1r 0w precise\nf .+255/1 cpu3 #1 1r 0w precise\nf .+1048575/1 cpu3 #0 1r 0w "
		"precise\n",
		"samples 4 used 3 other-object 1", NULL };

	(void)state;
	check_text(&c, &opts);
}

static void bytes_that_are_no_text(void **state)
{
	static const char text[] = GOOD "  work 1 [003] 1.000000: 4 mem-loads: ffff888100000008 ffffffff8119b0e4 "
	"f\0g (x)\n" GOOD;
	struct lm_accesses t;
	uint64_t reads, writes;

	(void)state;
	lm_accesses_init(&t);
	assert_null(lm_profile_read_memory("text", text, sizeof(text) - 1, &test_opts, &t));
	check_adds_up(&t);
	sum_rows(&t, "f", ".", 8, &reads, &writes);
	assert_int_equal(reads, 2);
	assert_int_equal(t.drops[LM_DROP_UNREADABLE], 1);
	lm_accesses_release(&t);
}

static void lines_that_are_too_long(void **state)
{
	static const size_t lengths[] = { LM_LINE_MAX - 1, LM_LINE_MAX, LM_LINE_MAX + 1, 3 * LM_LINE_MAX, 40 *
	LM_LINE_MAX };
	int fd = memfd_create("script", 0);
	char name[64];

	(void)state;
	assert_true(fd >= 0);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	for (size_t i = 0; i < NR(lengths); i++) {
		struct lm_accesses t;
		uint64_t reads, writes;
		FILE *f = fopen(name, "w");

		assert_non_null(f);
		fputs(GOOD, f);
		fprintf(f, "%*s\n", (int)lengths[i], "x");
		fputs(GOOD, f);
		fclose(f);
		lm_accesses_init(&t);
		assert_null(lm_profile_read(name, &test_opts, &t));
		check_adds_up(&t);
		sum_rows(&t, "f", ".", 8, &reads, &writes);
		assert_int_equal(reads, 2);
		assert_int_equal(t.drops[LM_DROP_TOO_LONG], lengths[i] > LM_LINE_MAX);
		assert_int_equal(t.drops[LM_DROP_NOT_A_SAMPLE], lengths[i] <= LM_LINE_MAX);
		lm_accesses_release(&t);
	}
	close(fd);
}

/* ---- files ---- */

/*
 * awk '{print $5, $7, $3}' hwbp-mem_cgroup.txt | sort | uniq -c, offsets from 0xffff88811b71d800:
 * 59 samples at +1096, 1 at +320, which is page_counter_try_charge.
 */
static void breakpoints_of_a_live_kernel(void **state)
{
	static const uint64_t object = 0xffff88811b71d800u;
	static const struct lm_reader_opts opts = { .objects = &object, .nr_objects = 1, .record_size = 2176 };
	struct lm_accesses t;
	uint64_t reads, writes;

	(void)state;
	lm_accesses_init(&t);
	assert_null(read_data("hwbp-mem_cgroup.txt", &opts, &t));
	check_adds_up(&t);
	assert_int_equal(t.used, 60);
	assert_int_equal(t.unknown_op, 60);
	sum_rows(&t, NULL, ".", 1096, &reads, &writes);
	assert_int_equal(reads, 59);
	assert_int_equal(writes, 0);
	sum_rows(&t, "page_counter_try_charge", ".", 320, &reads, &writes);
	assert_int_equal(reads, 1);
	for (size_t i = 0; i < t.nr; i++)
		assert_int_equal(t.rows[i].evidence, LM_EVIDENCE_EXACT);
	lm_accesses_release(&t);
}

struct file_case {
	const char *name;
	uint64_t object, record_size;
	const char *counts;
	struct { uint64_t offset, reads, writes; } at[4];
};

/*
 * What perf 6.1 printed of samples that were invented.  Counted by hand from
 *
 *   awk '{ for (i = 1; i <= NF; i++) if ($i ~ /:$/ && $i !~ /^[0-9.]+:$/) print $(i + 1), $(i + 2) }' FILE |
 *	sort | uniq -c
 *
 * and the bits of data_src (op 2 load, 4 store, 6 both; bit 25 locked).
 */
static const struct file_case files[] = {
	{ "intel-mem.perf6.1.txt", 0xa9ef040, 96, "samples 120 used 95 other-object 25",
	  { { 0, 20, 0 }, { 16, 17, 0 }, { 24, 8, 38 }, { 32, 0, 1 } } },
	{ "ibs.perf6.1.txt", 0xa9ef040, 96, "samples 12 used 8 not-memory 4",
	  { { 0, 2, 0 }, { 16, 2, 0 }, { 24, 2, 2 }, { 40, 0, 2 } } },
	{ "spe-peer.perf6.1.txt", 0xa9ef040, 96, "samples 99 used 99",
	  { { 0, 9, 0 }, { 8, 20, 0 }, { 16, 40, 0 }, { 24, 0, 30 } } },
};

static void what_perf_printed(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR(files); i++) {
		const struct file_case *c = &files[i];
		const struct lm_reader_opts opts = { .objects = &c->object, .nr_objects = 1, .record_size =
		c->record_size };
		struct lm_str counts = { 0 };
		struct lm_accesses t;

		lm_accesses_init(&t);
		assert_null(read_data(c->name, &opts, &t));
		check_adds_up(&t);
		tell_counts(&t, &counts);
		assert_string_equal(lm_str_text(&counts), c->counts);
		for (size_t k = 0; k < NR(c->at); k++) {
			uint64_t reads, writes;

			sum_rows(&t, NULL, ".", c->at[k].offset, &reads, &writes);
			assert_int_equal(reads, c->at[k].reads);
			assert_int_equal(writes, c->at[k].writes);
		}
		lm_str_release(&counts);
		lm_accesses_release(&t);
	}
}

static void files_without_data_addresses(void **state)
{
	static const struct { const char *name, *says; } cases[] = {
		{ "ibs-without-addr.perf6.1.txt", "none of its 12 samples can be used; reason of 12: sample has no "
		  "data address" },
		{ "cpu-clock.txt", "none of its 40 samples can be used; reason of 40: sample is no data access" },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct lm_accesses t;
		struct lm_err *err;

		lm_accesses_init(&t);
		err = read_data(cases[i].name, &test_opts, &t);
		assert_non_null(err);
		assert_int_equal(err->code, LM_ERR_INPUT);
		assert_non_null(strstr(err->msg, cases[i].says));
		assert_int_equal(t.samples, 0);
		lm_err_free(err);
		lm_accesses_release(&t);
	}
}

/*
 * Memory is bounded by the distinct rows, and the samples of one op are found
 * in any block: 300,000 lines, over many blocks of the source, from a pipe.
 */
static void many_lines_from_a_pipe(void **state)
{
	enum { LINES = 300000 };
	char command[512], path[64];
	struct lm_accesses t;
	uint64_t reads, writes;
	FILE *pipe;

	(void)state;
	snprintf(command, sizeof(command), "awk 'BEGIN { for (i = 0; i < %d; i++) printf(\"%%16s %%5d [%%03d] "
	"%%d.000000: "
		 "%%d mem-loads: ffff8881000000%%02x %%16x |OP LOAD|LVL L1 hit|SNP None 7 ffffffff8119b0e4 f+0x1 "
		 "(x)\\n\", "
		 "\"work\", i, i %% 3, i, i, i %% 256, i %% 2 ? 2 : 4) }'", LINES);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(pipe));
	lm_accesses_init(&t);
	assert_null(lm_profile_read(path, &test_opts, &t));
	assert_int_equal(pclose(pipe), 0);
	check_adds_up(&t);
	assert_int_equal(t.used, LINES);
	/* i mod 256 and i mod 3 are one of 768; an even i stores. */
	assert_int_equal(t.nr, 768);
	sum_rows(&t, "f", ".", 0, &reads, &writes);
	assert_int_equal(reads, 0);
	assert_int_equal(writes, (LINES + 255) / 256);
	sum_rows(&t, "f", ".", 255, &reads, &writes);
	assert_int_equal(reads, LINES / 256);
	assert_int_equal(writes, 0);
	lm_accesses_release(&t);
}

/* Events are told in order of appearance, used or not, each once. */
static void events_are_named(void **state)
{
	static const char text[] = HEAD "1 page-faults: ffff888100000008 x 7f42969f78ea f\n" GOOD GOOD
				   HEAD "1 cpu/mem-stores/P: ffff888100000008 " IP "f+0x1 " K;
	struct lm_accesses t;

	(void)state;
	lm_accesses_init(&t);
	assert_null(lm_profile_read_memory("text", text, strlen(text), &test_opts, &t));
	assert_int_equal(lm_strings_nr(t.events), 3);
	assert_string_equal(lm_strings_get(t.events, 0), "page-faults");
	assert_string_equal(lm_strings_get(t.events, 1), "cpu/mem-loads,ldlat=30/P");
	assert_string_equal(lm_strings_get(t.events, 2), "cpu/mem-stores/P");
	assert_string_equal(lm_strings_get(t.strings, t.record), "rec");
	lm_accesses_release(&t);
}

/* Wherever a copy stopped: never a crash, never a sample made up, never one lost without a reason. */
static void cut_off_behind_every_byte(void **state)
{
	static const char text[] = GOOD "\n" LOADS "ffff888100000008 " LOAD "5 \n\tffffffff8119b0e4 g+0x14 (x)\n\n"
				   HEAD "mem:0xffff888100000448: ffff888100000448 ffffffff8168ebbb h+0x3b\n";

	(void)state;
	for (size_t len = 0; len < sizeof(text); len++) {
		struct lm_accesses t;
		struct lm_err *err;

		lm_accesses_init(&t);
		err = lm_profile_read_memory("text", text, len, &test_opts, &t);
		check_adds_up(&t);
		assert_true(t.used <= 3 && t.samples <= 4);
		assert_true(err ? !t.samples : t.used > 0);
		lm_err_free(err);
		lm_accesses_release(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_age_of_perf),
		cmocka_unit_test(read_or_write),
		cmocka_unit_test(hardware_breakpoints),
		cmocka_unit_test(arm_spe),
		cmocka_unit_test(optional_columns),
		cmocka_unit_test(call_chains),
		cmocka_unit_test(damaged_text),
		cmocka_unit_test(without_objects),
		cmocka_unit_test(size_of_the_record_unknown),
		cmocka_unit_test(bytes_that_are_no_text),
		cmocka_unit_test(lines_that_are_too_long),
		cmocka_unit_test(breakpoints_of_a_live_kernel),
		cmocka_unit_test(what_perf_printed),
		cmocka_unit_test(files_without_data_addresses),
		cmocka_unit_test(many_lines_from_a_pipe),
		cmocka_unit_test(events_are_named),
		cmocka_unit_test(cut_off_behind_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
