/*
 * elf_facts.c - the section table of an ELF file, read by hand.
 *
 * libdwarf answers "no entry" to a stripped file, to a text file and to a
 * missing one; people need to know which.  It also believes the sizes that a
 * section claims, packed and unpacked.  So the few facts needed are read here,
 * with every offset checked against the file, for both classes and byte orders.
 */
#include "profiles/elf_facts.h"

#include "base/str.h"
#include "profiles/elf_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINK = 4096, MAX_BUILD_ID = 64, MAX_NOTES = 1 << 16, MAX_SECTION_NAME = 64 };

/* zlib packs at most 1032 to 1 (zlib's technical notes). */
#define MAX_RATIO 1032
/* More than any debug section in use; libdwarf keeps an unpacked section in memory. */
#define MAX_UNPACKED (UINT64_C(16) << 30)

struct elf {
	int fd;
	const char *path;	/* for people */
	const char *file;	/* to be read */
	uint64_t len;
	bool wide, big;
	uint8_t *table;		/* section headers */
	uint64_t nr, entry;	/* sections; bytes of a header */
	char *names;		/* NUL behind the end */
	uint64_t names_len;
};

struct section {
	const char *name;
	uint64_t type, flags, offset, size, entry;
};

static struct lm_err *bad(const struct elf *e, const char *what)
{
	return lm_err_new(LM_ERR_INPUT, "%s: damaged ELF file: %s; give the file as the linker wrote it", e->path, what);
}

static bool read_at(const struct elf *e, uint64_t offset, void *to, uint64_t len)
{
	uint8_t *at = to;

	if (offset > e->len || len > e->len - offset)
		return false;
	while (len) {
		ssize_t n = pread(e->fd, at, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		offset += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return true;
}

static uint64_t number(const struct elf *e, const uint8_t *at, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | at[e->big ? i : bytes - 1 - i];
	return value;
}

/* A member of Elf32_T or Elf64_T at p. */
#define GET(e, p, T, member) \
	((e)->wide ? number(e, (p) + offsetof(Elf64_##T, member), sizeof(((Elf64_##T *)0)->member)) : \
		     number(e, (p) + offsetof(Elf32_##T, member), sizeof(((Elf32_##T *)0)->member)))

static struct section section_at(const struct elf *e, uint64_t i)
{
	const uint8_t *p = e->table + i * e->entry;
	uint64_t name = GET(e, p, Shdr, sh_name);

	return (struct section){
		.name = name < e->names_len ? e->names + name : "",
		.type = GET(e, p, Shdr, sh_type), .flags = GET(e, p, Shdr, sh_flags),
		.offset = GET(e, p, Shdr, sh_offset), .size = GET(e, p, Shdr, sh_size),
		.entry = GET(e, p, Shdr, sh_entsize),
	};
}

/* Loads the section headers and their names. */
static struct lm_err *load_table(struct elf *e, const uint8_t *header)
{
	uint64_t at = GET(e, header, Ehdr, e_shoff), names = GET(e, header, Ehdr, e_shstrndx);
	uint8_t first[sizeof(Elf64_Shdr)];

	e->nr = GET(e, header, Ehdr, e_shnum);
	e->entry = e->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	if (!at)
		return NULL;
	if (GET(e, header, Ehdr, e_shentsize) != e->entry || !read_at(e, at, first, e->entry))
		return bad(e, "its section table lies outside the file");
	/* More than 65279 sections: the real numbers are in the first header. */
	if (!e->nr)
		e->nr = GET(e, first, Shdr, sh_size);
	if (names == SHN_XINDEX)
		names = GET(e, first, Shdr, sh_link);
	if (e->nr > e->len / e->entry)
		return bad(e, "its section table lies outside the file");
	e->table = malloc(e->nr * e->entry + 1);
	if (!e->table)
		lm_oom();
	if (!read_at(e, at, e->table, e->nr * e->entry))
		return bad(e, "its section table lies outside the file");
	if (names >= e->nr)
		return bad(e, "it has no section names");

	struct section s = section_at(e, names);

	if (s.size > e->len || s.offset > e->len - s.size)
		return bad(e, "its section names lie outside the file");
	e->names = calloc(1, s.size + 1);
	if (!e->names)
		lm_oom();
	if (!read_at(e, s.offset, e->names, s.size))
		return bad(e, "its section names lie outside the file");
	e->names_len = s.size;
	return NULL;
}

static struct lm_err *check_ratio(const struct elf *e, const struct section *s, uint64_t unpacked)
{
	if (unpacked <= MAX_UNPACKED && unpacked / MAX_RATIO <= s->size)
		return NULL;
	return lm_err_new(LM_ERR_INPUT, "%s: damaged ELF file: section %.*s says that %llu bytes unpack to %llu",
			  e->path, MAX_SECTION_NAME, s->name, (unsigned long long)s->size,
			  (unsigned long long)unpacked);
}

/* A compressed section must be of a kind that libdwarf reads, and of a believable size. */
static struct lm_err *check_packing(const struct elf *e, const struct section *s)
{
	uint8_t head[sizeof(Elf64_Chdr)];
	uint64_t len = e->wide ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);

	if (!strcmp(s->name, ".zdebug_rnglists") || !strcmp(s->name, ".zdebug_loclists"))
		return bad(e, "a list of ranges or locations of DWARF 5 is packed as before DWARF 5");
	if (!strncmp(s->name, ".zdebug", 7)) {
		if (!read_at(e, s->offset, head, 12) || memcmp(head, "ZLIB", 4))
			return bad(e, "a .zdebug section does not start with ZLIB");
		uint64_t unpacked = 0;

		for (int i = 4; i < 12; i++)
			unpacked = unpacked << 8 | head[i];
		return check_ratio(e, s, unpacked);
	}
	if (!(s->flags & SHF_COMPRESSED))
		return NULL;
	if (s->size < len || !read_at(e, s->offset, head, len))
		return bad(e, "a compressed section is cut off");
	if (GET(e, head, Chdr, ch_type) != ELFCOMPRESS_ZLIB)
		return lm_err_new(LM_ERR_INPUT, "%s: its debug info is compressed, but not with zlib; unpack it with "
				  "objcopy --decompress-debug-sections", e->path);
	return check_ratio(e, s, GET(e, head, Chdr, ch_size));
}

/* The file name at the start of a .gnu_debuglink or .gnu_debugaltlink. */
static const char *link_name(const struct elf *e, const struct section *s, struct lm_arena *arena)
{
	char name[MAX_LINK + 1];
	uint64_t len = s->size < MAX_LINK ? s->size : MAX_LINK;

	if (!read_at(e, s->offset, name, len))
		return "(unreadable)";
	name[len] = 0;
	return *name ? lm_arena_strdup(arena, name) : "(unnamed)";
}

static const char *hex(const uint8_t *bytes, uint64_t len, struct lm_arena *arena)
{
	char *text = lm_arena_alloc(arena, 2 * len + 1);

	for (uint64_t i = 0; i < len; i++) {
		text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
		text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
	}
	return text;
}

/* Notes are name size, descriptor size, type, then both padded to 4 bytes. */
static const char *build_id(const struct elf *e, const struct section *s, struct lm_arena *arena)
{
	uint64_t len = s->size < MAX_NOTES ? s->size : MAX_NOTES, at = 0;
	uint8_t *notes = malloc(len + 1);
	const char *found = "";

	if (!notes)
		lm_oom();
	if (!read_at(e, s->offset, notes, len))
		len = 0;
	while (!*found && len - at >= 12) {
		uint64_t name = number(e, notes + at, 4), desc = number(e, notes + at + 4, 4);
		uint64_t type = number(e, notes + at + 8, 4), desc_at = at + 12 + (name + 3) / 4 * 4;
		uint64_t next = desc_at + (desc + 3) / 4 * 4;

		if (desc_at > len || desc > len - desc_at)
			break;
		if (type == NT_GNU_BUILD_ID && name == 4 && !memcmp(notes + at + 12, "GNU", 4) && desc <= MAX_BUILD_ID)
			found = hex(notes + desc_at, desc, arena);
		at = next < len ? next : len;
	}
	free(notes);
	return found;
}

/*
 * .debug_rnglists and .debug_loclists are a chain of tables (DWARF 5, 7.28 and
 * 7.29).  libdwarf 20210528 frees the first ones twice when it finds a bad one
 * behind them, so the headers are looked at first.
 */
static struct lm_err *check_tables(const struct elf *e, const struct section *s, const uint8_t *unpacked)
{
	uint64_t at = 0;

	while (at < s->size) {
		uint8_t head[20] = { 0 };
		uint64_t left = s->size - at, some = left < 20 ? left : 20, wide, len, rest;

		if (unpacked)
			memcpy(head, unpacked + at, some);
		if (left < 12 || (!unpacked && !read_at(e, s->offset + at, head, some)))
			return bad(e, "its list of ranges or locations is cut off");
		wide = number(e, head, 4) == UINT32_MAX ? 8 : 0;
		len = wide ? number(e, head + 4, 8) : number(e, head, 4);
		at += wide ? 12 : 4;
		if (at > s->size || len > s->size - at || len < 8)
			return bad(e, "its list of ranges or locations is longer than its section");
		rest = len - 8;
		if (number(e, head + (wide ? 12 : 4), 2) != 5 || head[wide ? 15 : 7] != 0 ||
		    (head[wide ? 14 : 6] != 8 && head[wide ? 14 : 6] != 4) ||
		    number(e, head + (wide ? 16 : 8), 4) > rest / (wide ? 8 : 4))
			return bad(e, "its list of ranges or locations has a header that is none");
		at += len;
	}
	return NULL;
}

static struct lm_err *check_lists(const struct elf *e, const struct section *s, struct lm_arena *arena)
{
	struct section unpacked = *s;
	const uint8_t *bytes;
	struct lm_err *err;
	size_t len;

	if (!(s->flags & SHF_COMPRESSED))
		return check_tables(e, s, NULL);
	err = lm_image_section(e->file, s->name, arena, &bytes, &len);
	if (!err && !len)
		return bad(e, "a packed list of ranges or locations cannot be unpacked");
	unpacked.size = len;
	return err ? err : check_tables(e, &unpacked, bytes);
}

static bool is_lists(const char *name)
{
	return !strcmp(name, ".debug_rnglists") || !strcmp(name, ".debug_loclists");
}

static bool is_debug(const char *name)
{
	return !strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8);
}

static struct lm_err *note_section(const struct elf *e, const struct section *s, struct lm_arena *arena,
				   struct lm_elf_facts *facts)
{
	struct lm_err *err;

	/* libdwarf goes by the names alone. */
	if (is_debug(s->name) && s->type == SHT_NULL)
		return bad(e, "a debug section has no type");
	if (s->type == SHT_NOBITS || s->type == SHT_NULL)
		return NULL;
	/* libdwarf allocates what these say before it looks. */
	if (s->size > e->len || s->offset > e->len - s->size || s->entry > e->len)
		return bad(e, "a section lies outside the file");
	if (!strcmp(s->name, ".debug_info") || !strcmp(s->name, ".zdebug_info"))
		facts->has_info |= s->size > 0;
	else if (!strcmp(s->name, ".debug_info.dwo") || !strcmp(s->name, ".zdebug_info.dwo"))
		facts->has_dwo = true;
	else if (!strcmp(s->name, ".gnu_debuglink"))
		facts->debug_link = link_name(e, s, arena);
	else if (!strcmp(s->name, ".gnu_debugaltlink"))
		facts->alt_link = link_name(e, s, arena);
	else if (s->type == SHT_NOTE && !*facts->build_id)
		facts->build_id = build_id(e, s, arena);
	err = is_debug(s->name) ? check_packing(e, s) : NULL;
	return err || !is_lists(s->name) ? err : check_lists(e, s, arena);
}

/* How distributions pack kernel modules (kmod's index of them, and perf's). */
static struct lm_err *check_packed_file(const struct elf *e)
{
	static const struct {
		const char *magic, *name, *command;
		uint64_t len;
	} kinds[] = {
		{ "\xfd" "7zXZ", "xz", "xz -dk", 6 },
		{ "\x28\xb5\x2f\xfd", "zstd", "zstd -dk", 4 },
		{ "\x1f\x8b", "gzip", "gzip -dk", 2 },
		{ "\x04\x22\x4d\x18", "lz4", "lz4 -dk", 4 },
	};
	uint8_t start[6] = { 0 };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (read_at(e, 0, start, kinds[i].len) && !memcmp(start, kinds[i].magic, kinds[i].len))
			return lm_err_new(LM_ERR_INPUT, "%s: is packed by %s; unpack it with %s and give what comes out",
					  e->path, kinds[i].name, kinds[i].command);
	return NULL;
}

static struct lm_err *read_facts(struct elf *e, struct lm_arena *arena, struct lm_elf_facts *facts)
{
	uint8_t header[sizeof(Elf64_Ehdr)] = { 0 };
	struct lm_err *err = check_packed_file(e);

	if (err)
		return err;
	if (!read_at(e, 0, header, EI_NIDENT) || memcmp(header, ELFMAG, SELFMAG))
		return lm_err_new(LM_ERR_INPUT, "%s: is not an ELF file; give a program, library, kernel (vmlinux), "
				  "kernel module or object file built with -g", e->path);
	if ((header[EI_CLASS] != ELFCLASS32 && header[EI_CLASS] != ELFCLASS64) ||
	    (header[EI_DATA] != ELFDATA2LSB && header[EI_DATA] != ELFDATA2MSB))
		return bad(e, "its header names no class or byte order");
	e->wide = header[EI_CLASS] == ELFCLASS64;
	e->big = header[EI_DATA] == ELFDATA2MSB;
	if (!read_at(e, 0, header, e->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
		return bad(e, "its header is cut off");
	err = load_table(e, header);
	if (err)
		return err;
	facts->big_endian = e->big;
	for (uint64_t i = 1; i < e->nr && e->table; i++) {
		struct section s = section_at(e, i);

		err = note_section(e, &s, arena, facts);
		if (err)
			return err;
	}
	return NULL;
}

struct lm_err *lm_elf_facts_read(const char *path, const char *file, struct lm_arena *arena, struct lm_elf_facts *out)
{
	struct lm_elf_facts facts = { .build_id = "", .debug_link = "", .alt_link = "" };
	struct elf e = { .fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK), .path = path, .file = file };
	struct lm_err *err;
	struct stat st;

	if (e.fd < 0)
		return lm_err_new(LM_ERR_INPUT, "%s: cannot open the binary: %s", path, strerror(errno));
	if (fstat(e.fd, &st) || !S_ISREG(st.st_mode)) {
		close(e.fd);
		return lm_err_new(LM_ERR_INPUT, "%s: is not a regular file; give an ELF file built with -g", path);
	}
	e.len = (uint64_t)st.st_size;
	err = read_facts(&e, arena, &facts);
	if (!err)
		*out = facts;
	free(e.table);
	free(e.names);
	close(e.fd);
	return err;
}

struct lm_err *lm_elf_facts_check(const char *path, const struct lm_elf_facts *f)
{
	if (f->has_info && *f->alt_link)
		return lm_err_new(LM_ERR_INPUT, "%s: part of its debug info was moved to %s (.gnu_debugaltlink, by dwz), "
				  "which is not followed; give the file as it was before dwz", path, f->alt_link);
	if (f->has_info)
		return NULL;
	if (f->has_dwo)
		return lm_err_new(LM_ERR_INPUT, "%s: is a split-DWARF part (.debug_info.dwo); give the linked program, "
				  "built without -gsplit-dwarf", path);
	if (*f->debug_link)
		return lm_err_new(LM_ERR_INPUT, "%s: has no debug info of its own; it is in %s (.gnu_debuglink): give that "
				  "file", path, f->debug_link);
	return lm_err_new(LM_ERR_INPUT, "%s: has no debug info: build it with -g", path);
}
