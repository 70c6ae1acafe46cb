/*
 * kernel_headers.c - how to compile against an installed kernel headers
 * package, as Kbuild would (Makefile and arch/x86/Makefile of the kernel).
 *
 * Debian splits it in linux-headers-VERSION-common and -VERSION-FLAVOUR; other
 * distributions have all in one place.
 */
#include "optimizer/base_flags.h"

#include "base/file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define SYSTEM_DIR "/usr/src"
#define PREFIX "linux-headers-"
#define COMMON "-common"

static bool has(const char *dir, const char *file, struct lm_arena *arena)
{
	return lm_is_file(lm_arena_printf(arena, "%s/%s", dir, file));
}

static bool is_common(const char *dir, struct lm_arena *arena)
{
	return has(dir, "include/linux/kconfig.h", arena);
}

static bool is_flavour(const char *dir, struct lm_arena *arena)
{
	return has(dir, "include/generated/autoconf.h", arena);
}

struct names {
	const char **items;
	size_t nr, cap;
};

static int by_version(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* Entries of dir that start with prefix, sorted as versions. */
static struct names list(const char *dir, const char *prefix, struct lm_arena *arena)
{
	struct names names = { 0 };
	DIR *d = opendir(dir);

	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.' && !strncmp(e->d_name, prefix, strlen(prefix)))
			*LM_ARENA_PUSH(arena, names.items, names.nr, names.cap) = lm_arena_strdup(arena, e->d_name);
	if (d)
		closedir(d);
	if (names.nr)
		qsort(names.items, names.nr, sizeof(*names.items), by_version);
	return names;
}

static bool ends(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* The flavour that belongs to a -common directory: -amd64 first, then the first by name. */
static const char *flavour_of(const char *common, struct lm_arena *arena)
{
	const char *slash = strrchr(common, '/');
	char *parent = lm_arena_strndup(arena, common, (size_t)(slash - common));
	char *prefix = lm_arena_strndup(arena, slash + 1, strlen(slash + 1) - strlen("common"));
	char *amd64 = lm_arena_printf(arena, "%s/%samd64", parent, prefix);
	struct names names = list(parent, prefix, arena);

	if (is_flavour(amd64, arena))
		return amd64;
	for (size_t i = 0; i < names.nr; i++) {
		char *dir = lm_arena_printf(arena, "%s/%s", parent, names.items[i]);

		if (is_flavour(dir, arena))
			return dir;
	}
	return NULL;
}

/* The -common directory beside a flavour: the name up to one of its dashes, and "-common". */
static const char *common_of(const char *flavour, struct lm_arena *arena)
{
	for (size_t n = strlen(flavour); n && flavour[n] != '/'; n--) {
		char *dir;

		if (flavour[n] != '-')
			continue;
		dir = lm_arena_printf(arena, "%.*s" COMMON, (int)n, flavour);
		if (is_common(dir, arena))
			return dir;
	}
	return NULL;
}

static struct lm_err *find_newest(struct lm_arena *arena, struct lm_kernel_headers *out)
{
	struct names names = list(SYSTEM_DIR, PREFIX, arena);

	for (size_t i = names.nr; i-- > 0;) {
		char *dir = lm_arena_printf(arena, SYSTEM_DIR "/%s", names.items[i]);
		const char *flavour;

		if (ends(dir, COMMON) && is_common(dir, arena) && (flavour = flavour_of(dir, arena))) {
			*out = (struct lm_kernel_headers){ dir, flavour };
			return NULL;
		}
	}
	for (size_t i = names.nr; i-- > 0;) {	/* not Debian's way to split it */
		char *dir = lm_arena_printf(arena, SYSTEM_DIR "/%s", names.items[i]);

		if (is_common(dir, arena) && is_flavour(dir, arena)) {
			*out = (struct lm_kernel_headers){ dir, dir };
			return NULL;
		}
	}
	return lm_err_new(LM_ERR_INPUT, SYSTEM_DIR ": no kernel headers package is installed here; install one "
			  "(linux-headers-amd64) or give its directory.");
}

struct lm_err *lm_kernel_headers_find(const char *given, struct lm_arena *arena, struct lm_kernel_headers *out)
{
	const char *dir, *other;

	if (!*given)
		return find_newest(arena, out);
	dir = lm_real_path(given, arena);
	if (!dir || !lm_is_dir(dir))
		return lm_err_new(LM_ERR_INPUT, "%s: this directory of kernel headers does not exist.", given);
	if (is_common(dir, arena) && is_flavour(dir, arena)) {
		*out = (struct lm_kernel_headers){ dir, dir };
		return NULL;
	}
	if (is_common(dir, arena) && ends(dir, COMMON) && (other = flavour_of(dir, arena))) {
		*out = (struct lm_kernel_headers){ dir, other };
		return NULL;
	}
	if (is_flavour(dir, arena) && (other = common_of(dir, arena))) {
		*out = (struct lm_kernel_headers){ other, dir };
		return NULL;
	}
	return lm_err_new(LM_ERR_INPUT, "%s: this is not a complete kernel headers package: include/linux/kconfig.h and "
			  "include/generated/autoconf.h must be here or in the package beside it.", given);
}

/* The architecture that the flavour was configured for; NULL if none is found. */
static const char *architecture(const struct lm_kernel_headers *h, struct lm_arena *arena)
{
	char *dir = lm_arena_printf(arena, "%s/arch", h->flavour);
	struct names names = list(dir, "", arena);

	for (size_t i = 0; i < names.nr; i++)
		if (lm_is_dir(lm_arena_printf(arena, "%s/%s/include/generated", dir, names.items[i])))
			return names.items[i];
	return NULL;
}

static void add_includes(struct lm_flags *f, const struct lm_kernel_headers *h, const char *arch,
			 struct lm_arena *arena)
{
	lm_flags_add(f, arena, "-nostdinc");
	for (int uapi = 0; uapi < 2; uapi++) {
		const char *tail = uapi ? "/uapi" : "";

		lm_flags_add(f, arena, lm_arena_printf(arena, "-I%s/arch/%s/include%s", h->common, arch, tail));
		lm_flags_add(f, arena, lm_arena_printf(arena, "-I%s/arch/%s/include/generated%s", h->flavour, arch, tail));
		lm_flags_add(f, arena, lm_arena_printf(arena, "-I%s/include%s", h->common, tail));
		lm_flags_add(f, arena, lm_arena_printf(arena, "-I%s/include%s", h->flavour, uapi ? "/generated/uapi" : ""));
	}
}

static void add_forced(struct lm_flags *f, const struct lm_kernel_headers *h, struct lm_arena *arena)
{
	static const char *const forced[] = { "compiler-version.h", "kconfig.h", "compiler_types.h" };

	for (size_t i = 0; i < sizeof(forced) / sizeof(forced[0]); i++) {
		char *file = lm_arena_printf(arena, "%s/include/linux/%s", h->common, forced[i]);

		if (!lm_is_file(file))	/* compiler-version.h: since 5.14 */
			continue;
		lm_flags_add(f, arena, "-include");
		lm_flags_add(f, arena, file);
	}
}

struct lm_err *lm_kernel_headers_flags(const struct lm_kernel_headers *h, const char *dir, struct lm_arena *arena,
				       struct lm_base_flags *out)
{
	static const char general[] =
		"-D__KERNEL__ -std=gnu11 -fshort-wchar -funsigned-char -fno-common -fno-PIE -fno-strict-aliasing "
		"-DKBUILD_MODNAME='\"t\"' -DKBUILD_BASENAME='\"t\"' -O2";
	/* CC_USING_FENTRY: asm/ftrace.h wants to hear that the compiler has it. */
	static const char x86[] =
		"-m64 -mno-80387 -mcmodel=kernel -mno-sse -mno-mmx -mno-sse2 -DCC_USING_FENTRY";
	static const char arm64[] = "-mgeneral-regs-only -mlittle-endian";
	const char *arch = architecture(h, arena);

	if (!arch)
		return lm_err_new(LM_ERR_INPUT, "%s: arch/*/include/generated is missing; this is not a configured kernel "
				  "headers package.", h->flavour);
	*out = (struct lm_base_flags){ .dir = dir };
	add_includes(&out->flags, h, arch, arena);
	add_forced(&out->flags, h, arena);
	lm_flags_split(&out->flags, arena, general);
	if (!strcmp(arch, "x86"))
		lm_flags_split(&out->flags, arena, x86);
	else if (!strcmp(arch, "arm64"))
		lm_flags_split(&out->flags, arena, arm64);
	out->note = lm_arena_printf(arena, "flags for the kernel headers of %s", h->flavour);
	return NULL;
}
