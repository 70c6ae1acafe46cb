/* flags.c - compiler command lines, taken apart and made fit for clang and for gcc. */
#include "optimizer/flags.h"

#include <string.h>

void lm_flags_add(struct lm_flags *f, struct lm_arena *arena, const char *arg)
{
	*LM_ARENA_PUSH(arena, f->items, f->nr, f->cap) = arg;
	*LM_ARENA_PUSH(arena, f->items, f->nr, f->cap) = NULL;
	f->nr--;
}

/* One word of a command from *at on; false at the end of the command. */
static bool next_word(const char **at, struct lm_str *word)
{
	const char *p = *at + strspn(*at, " \t");
	char quote = 0;

	lm_str_clear(word);
	if (!*p || strchr(";|&\n\r", *p))
		return false;
	for (; *p && (quote || !strchr(" \t;|&\n\r", *p)); p++) {
		if (*p == '\\' && quote != '\'' && p[1])
			lm_str_add_char(word, *++p);
		else if (quote ? *p == quote : *p == '"' || *p == '\'')
			quote = quote ? 0 : *p;
		else
			lm_str_add_char(word, *p);
	}
	*at = p;
	return true;
}

void lm_flags_split(struct lm_flags *f, struct lm_arena *arena, const char *command)
{
	struct lm_str word = { 0 };

	while (next_word(&command, &word))
		lm_flags_add(f, arena, lm_arena_strdup(arena, lm_str_text(&word)));
	lm_str_release(&word);
}

/* Patterns are whole flags, or with '*' at the end beginnings. */
static bool matches(const char *arg, const char *pattern)
{
	size_t n = strlen(pattern);

	return pattern[n - 1] == '*' ? !strncmp(arg, pattern, n - 1) : !strcmp(arg, pattern);
}

static bool in_table(const char *arg, const char *const *table)
{
	for (; *table; table++)
		if (matches(arg, *table))
			return true;
	return false;
}

/* Flags whose value is the next word. */
static const char *const with_value[] = {
	"-I", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-isysroot", "--sysroot", "-x",
	"-iprefix", "-iwithprefix", "-iwithprefixbefore", "-imultilib", "-target", "-arch", "-Xclang", "-mllvm",
	"--param", "-Xpreprocessor", "-Xassembler", "-Xlinker", "-L", "-T", "-u", "-z", "-B", "-aux-info", "-wrapper",
	"-o", "-MF", "-MT", "-MQ", "-l", "-dumpbase", "-dumpdir", NULL,
};

/* What concerns the compilation of one file, the link, debug info or messages: never the layout. */
static const char *const not_the_record[] = {
	"-c", "-S", "-E", "-", "-pipe", "-v", "-M", "-MM", "-MD", "-MMD", "-MP", "-MG", "-MF*", "-MT*", "-MQ*", "-o*",
	"-Wp,-MD*", "-Wp,-MMD*", "-Wl,*", "-Wa,*", "-l*", "-L*", "-T*", "-u", "-z", "-Xlinker", "-Xassembler", "-shared",
	"-static", "-static-*", "-rdynamic", "-pie", "-no-pie", "-s", "-r", "-nostdlib", "-nostartfiles", "-nodefaultlibs",
	"-g", "-g0", "-g1", "-g2", "-g3", "-ggdb*", "-gdwarf*", "-gz*", "-gsplit-dwarf*", "-gstrict-dwarf", "-gno-*",
	"-gcolumn-info", "-gline-tables-only", "-gpubnames", "-grecord-gcc-switches", "-gsimple-template-names*",
	"-fdebug-*", "-fno-debug-*", "-femit-struct-debug-*", "-feliminate-unused-debug-*", "-fno-eliminate-unused-debug-*",
	"-pedantic-errors", "-fsyntax-only", "-fmax-errors=*", "-fdiagnostics-*", "-fno-diagnostics-*", "-save-temps*",
	"-fdump-*", "-fcallgraph-info*", "-fstack-usage", "-ftime-report*", "-fverbose-asm", "-aux-info", "-wrapper",
	"-dumpbase", "-dumpdir", "--coverage", "-fprofile-*", "-fno-profile-*", "-ftest-coverage", "-fauto-profile*",
	"-flto*", "-fno-lto", "-ffat-lto-objects", "-fno-fat-lto-objects", "-fuse-linker-plugin", "-fuse-ld=*",
	"-fwhole-program", "-fanalyzer", "-fcrash-diagnostics*", NULL,
};

/* -Wall and the like, -Werror; -Wno-x stays: it may take back what newer compilers treat as an error. */
static bool is_warning(const char *arg)
{
	return !strncmp(arg, "-W", 2) && strncmp(arg, "-Wno-", 5) && strncmp(arg, "-Wp,", 4);
}

void lm_flags_strip(struct lm_flags *f, struct lm_arena *arena, const char *const *args, size_t nr, const char **file)
{
	*file = NULL;
	for (size_t i = 0; i < nr; i++) {
		const char *arg = args[i];
		bool value = in_table(arg, with_value) && i + 1 < nr;
		bool drop = in_table(arg, not_the_record) || is_warning(arg) || !strncmp(arg, "-Wno-error", 10);

		if (!strcmp(arg, "--")) {	/* what follows are files */
			*file = *file ? *file : i + 1 < nr ? args[i + 1] : NULL;
			return;
		}
		if (arg[0] != '-' && arg[0] != '@') {
			*file = *file ? *file : arg;
			continue;
		}
		if (!drop)
			lm_flags_add(f, arena, arg);
		if (value && !drop)
			lm_flags_add(f, arena, args[i + 1]);
		i += value;
	}
}

void lm_flags_strip_command(struct lm_flags *f, struct lm_arena *arena, const struct lm_flags *command)
{
	static const char *const launchers[] = { "ccache", "distcc", "sccache", "icecc", "env", NULL };
	const char *file;
	size_t i = 0;

	for (; i < command->nr; i++) {
		const char *slash = strrchr(command->items[i], '/');

		if (!in_table(slash ? slash + 1 : command->items[i], launchers) && !strchr(command->items[i], '='))
			break;
	}
	if (i < command->nr)
		lm_flags_strip(f, arena, command->items + i + 1, command->nr - i - 1, &file);
}

/*
 * GCC's flags about the code it generates.  Clang does not know them, or knows
 * some only in newer versions or with another flag; none touches a layout.
 */
static const char *const gcc_only[] = {
	"-mpreferred-stack-boundary=*", "-mincoming-stack-boundary=*", "-mindirect-branch*", "-mfunction-return*",
	"-mrecord-mcount", "-mnop-mcount", "-mno-fp-ret-in-387", "-mskip-rax-setup", "-maccumulate-outgoing-args",
	"-mno-accumulate-outgoing-args", "-mstack-protector-guard*", "-mharden-sls=*", "-mtune=*", "-mbranch-cost=*",
	"-mno-align-stringops", "-malign-stringops", "-minline-all-stringops", "-mno-direct-extern-access",
	"-fno-allow-store-data-races", "-fallow-store-data-races", "--param*", "--param=*", "-fconserve-stack",
	"-fno-conserve-stack", "-fplugin*", "-fno-ipa*", "-fipa*", "-fvar-tracking*", "-fno-var-tracking*",
	"-fno-tree-*", "-ftree-*", "-fno-guess-branch-probability", "-fno-reorder-*", "-freorder-*", "-fno-gcse*", "-fgcse*",
	"-fno-partial-inlining", "-fno-inline-small-functions", "-fno-inline-functions-called-once",
	"-finline-limit=*", "-fno-code-hoisting", "-fno-crossjumping", "-fno-cse-follow-jumps", "-fno-if-conversion*",
	"-fno-toplevel-reorder", "-ftoplevel-reorder", "-fno-section-anchors", "-fsection-anchors", "-fno-schedule-*",
	"-fschedule-*", "-fno-shrink-wrap*", "-fno-caller-saves", "-fno-ira-*", "-fira-*", "-fno-dce", "-fno-dse",
	"-fno-early-inlining", "-fearly-inlining", "-fno-expensive-optimizations", "-fno-forward-propagate",
	"-fno-move-loop-*", "-fno-peephole*", "-fno-prefetch-loop-arrays", "-fno-rename-registers", "-fno-web",
	"-fno-split-*", "-fsplit-*", "-funswitch-loops", "-fno-unswitch-loops", "-flive-patching=*", "-fmin-function-alignment=*",
	"-falign-functions*", "-falign-jumps*", "-falign-loops*", "-falign-labels*", "-fno-align-*",
	"-fstrict-flex-arrays*", "-ftrivial-auto-var-init=*", "-fzero-init-padding-bits=*", "-fzero-call-used-regs=*",
	"-fpatchable-function-entry*", "-fno-canonical-system-headers", "-fsanitize=bounds-strict", "-fharden-*",
	"-fno-stack-clash-protection", "-fstack-clash-protection", "-flarge-source-files", "-fno-jump-tables",
	"-fno-sched-*", "-fsched-*", "-fno-prefetch-*", "-fno-stack-check", "-fno-dwarf2-cfi-asm", "-fmerge-*",
	"-fno-printf-return-value", "-fno-optimize-sibling-calls", NULL,
};

/* The same for clang's flags, when gcc checks a tree that clang builds. */
static const char *const clang_only[] = {
	"--target=*", "-target", "-Xclang", "-mllvm", "-fintegrated-as", "-no-integrated-as", "-fno-integrated-as",
	"-fintegrated-cc1", "-Qunused-arguments", "-Wno-everything", "-fcolor-diagnostics", "-fno-color-diagnostics",
	"-mretpoline*", "-mno-retpoline*", "-mstack-alignment=*", "-fexperimental*", "-fno-experimental*",
	"-fsanitize=kcfi*", "-fsanitize=cfi*", "-fsanitize-*", "-fno-sanitize-*", "-fno-spell-checking", "-resource-dir*",
	"-fsplit-lto-unit", "-fno-split-lto-unit", "-fmacro-backtrace-limit=*", "-ferror-limit=*", "--gcc-toolchain=*",
	"-fallow-editor-placeholders", "-fstrict-flex-arrays*", "-ftrivial-auto-var-init=*",
	"-fno-discard-value-names", "-mno-global-merge", "-meabi*", "-fvirtual-*", "-fno-virtual-*", NULL,
};

static void filter(struct lm_flags *f, struct lm_arena *arena, const struct lm_flags *from, const char *const *table,
		   struct lm_str *dropped)
{
	for (size_t i = 0; i < from->nr; i++) {
		const char *arg = from->items[i];
		bool value = in_table(arg, with_value) && i + 1 < from->nr, drop = in_table(arg, table);

		if (drop && dropped)
			lm_str_addf(dropped, "%s%s", dropped->len ? " " : "", arg);
		if (!drop)
			lm_flags_add(f, arena, arg);
		if (!drop && value)
			lm_flags_add(f, arena, from->items[i + 1]);
		i += value;
	}
}

void lm_flags_for_clang(struct lm_flags *f, struct lm_arena *arena, const struct lm_flags *from, struct lm_str *dropped)
{
	filter(f, arena, from, gcc_only, dropped);
}

void lm_flags_for_gcc(struct lm_flags *f, struct lm_arena *arena, const struct lm_flags *from)
{
	filter(f, arena, from, clang_only, NULL);
}

bool lm_flags_incomplete(const char *const *args, size_t nr)
{
	bool value = false;

	for (size_t i = 0; i < nr; i++)
		value = !value && in_table(args[i], with_value);
	return value;
}

bool lm_flags_have(const struct lm_flags *f, const char *arg)
{
	for (size_t i = 0; i < f->nr; i++)
		if (!strcmp(f->items[i], arg))
			return true;
	return false;
}
