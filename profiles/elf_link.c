/*
 * elf_link.c - the sections and symbols of an object file, given addresses.
 *
 * The copy is the file itself in a memfd, changed in place; debug sections that
 * were packed, and the table of sections with one more in it, are put behind its
 * end.  Nothing in the file is believed: each offset is checked against the
 * bytes there are, and what may be listed twice (relocations, symbols) is
 * counted against the file's length, so that no table costs more than its bytes.
 */
#include "profiles/elf_link.h"

#include "base/arena.h"
#include "base/parallel.h"
#include "profiles/elf_image.h"
#include "profiles/elf_link_private.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE UINT64_C(0x1000)
#define MAX_FILE (UINT64_C(4) << 30)	/* the largest modules with debug info have 1 GB */
#define MAX_SPAN (UINT64_C(1) << 40)	/* of all addresses */

enum {
	SHT_CREL_LLVM = 0x40000014,	/* clang's -Wa,--crel */
	MAX_NAME = 64,			/* of a section, in messages */
	WIDE_SLOT = 1 << 16,		/* room for what is defined elsewhere: its size is not known */
	NARROW_SLOT = 16,
	MAX_WIDE_SLOTS = 1 << 13,
};

struct section {
	const char *name;	/* in the copy, or "" */
	uint64_t flags, offset, size, align, addr;
	uint32_t type, link, info;
	uint32_t wide;		/* of symbols: the section with numbers of sections beyond 16 bits; 0: none */
	bool placed;		/* it has an address */
};

struct link {
	const char *path;
	enum lm_link_part part;
	int fd;
	uint8_t *bytes;		/* the copy */
	uint64_t len;
	uint8_t *headers;	/* of the sections, as they were */
	struct section *sections;
	uint64_t nr;
	uint64_t end;		/* first address that nobody has */
	uint64_t elsewhere;	/* where what is defined elsewhere lies, up to end */
	bool arm;
	struct lm_arena arena;
};

static struct lm_err *bad(const struct link *l, const char *what, const struct section *s)
{
	if (!s)
		return lm_err_new(LM_ERR_INPUT, "%s: damaged ELF file: %s; give the file as the compiler or the kernel's "
				  "build wrote it", l->path, what);
	return lm_err_new(LM_ERR_INPUT, "%s: damaged ELF file: %s (section %.*s); give the file as the compiler or the "
			  "kernel's build wrote it", l->path, what, MAX_NAME, s->name);
}

/* ---- the copy ---- */

#define GET(p, T, member) lm_le_get((p) + offsetof(Elf64_##T, member), sizeof(((Elf64_##T *)0)->member))
#define PUT(p, T, member, v) lm_le_put((p) + offsetof(Elf64_##T, member), sizeof(((Elf64_##T *)0)->member), v)

static bool read_all(int fd, uint8_t *to, uint64_t len)
{
	uint64_t at = 0;

	while (at < len) {
		ssize_t n = pread(fd, to + at, len - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += (uint64_t)n;
	}
	return true;
}

/* Room for more bytes behind the end, on a page of their own; bytes may move. */
static struct lm_err *extend(struct link *l, uint64_t more, uint64_t *ret)
{
	uint64_t at = (l->len + PAGE - 1) / PAGE * PAGE, len = at + more;
	uint8_t *bytes;

	if (more > MAX_FILE || len > MAX_FILE)
		return lm_err_new(LM_ERR_INPUT, "%s: needs more than %llu bytes of memory to be linked; no object file is "
				  "so large", l->path, (unsigned long long)MAX_FILE);
	if (ftruncate(l->fd, (off_t)len))
		return lm_err_new(LM_ERR_INPUT, "%s: there is no memory for a linked copy: %m", l->path);
	bytes = l->bytes ? mremap(l->bytes, l->len, len, MREMAP_MAYMOVE) :
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, l->fd, 0);
	if (bytes == MAP_FAILED)
		return lm_err_new(LM_ERR_INPUT, "%s: there is no memory for a linked copy: %m", l->path);
	l->bytes = bytes;
	l->len = len;
	*ret = at;
	return NULL;
}

static struct lm_err *copy_file(struct link *l, int from, uint64_t len)
{
	uint64_t at;
	struct lm_err *err;

	l->fd = memfd_create("linked", MFD_CLOEXEC);
	if (l->fd < 0)
		return lm_err_new(LM_ERR_INPUT, "%s: there is no memory for a linked copy: %m", l->path);
	err = extend(l, len, &at);
	if (!err && !read_all(from, l->bytes, len))
		err = lm_err_new(LM_ERR_INPUT, "%s: cannot be read to its end; give a file that nothing changes meanwhile",
				 l->path);
	return err;
}

/* True for an object file of a machine whose relocations are known here. */
static bool is_ours(const uint8_t *header, bool *arm)
{
	uint64_t machine = GET(header, Ehdr, e_machine);

	*arm = machine == EM_AARCH64;
	return !memcmp(header, ELFMAG, SELFMAG) && header[EI_CLASS] == ELFCLASS64 && header[EI_DATA] == ELFDATA2LSB &&
		GET(header, Ehdr, e_type) == ET_REL && (machine == EM_X86_64 || machine == EM_AARCH64);
}

/* ---- the table of sections ---- */

static bool has_bytes(const struct section *s)
{
	return s->type != SHT_NOBITS && s->type != SHT_NULL;
}

static bool is_debug(const struct section *s)
{
	return !strncmp(s->name, ".debug_", 7) || !strncmp(s->name, ".zdebug_", 8);
}

static struct lm_err *read_section(struct link *l, uint64_t i, const uint8_t *p)
{
	struct section *s = &l->sections[i];

	*s = (struct section){
		.name = "", .type = (uint32_t)GET(p, Shdr, sh_type), .flags = GET(p, Shdr, sh_flags),
		.offset = GET(p, Shdr, sh_offset), .size = GET(p, Shdr, sh_size), .align = GET(p, Shdr, sh_addralign),
		.link = (uint32_t)GET(p, Shdr, sh_link), .info = (uint32_t)GET(p, Shdr, sh_info),
	};
	if (!i)
		s->type = SHT_NULL;	/* holds the numbers that did not fit the header */
	if (has_bytes(s) && (s->offset > l->len || s->size > l->len - s->offset))
		return bad(l, "a section lies outside the file", NULL);
	return NULL;
}

/* Names that are none, or do not end, are "". */
static void read_names(struct link *l, uint64_t names)
{
	const struct section *s = names < l->nr ? &l->sections[names] : NULL;

	for (uint64_t i = 1; i < l->nr && s && has_bytes(s); i++) {
		uint64_t at = GET(l->headers + i * sizeof(Elf64_Shdr), Shdr, sh_name);

		if (at >= s->size || !memchr(l->bytes + s->offset + at, 0, s->size - at))
			continue;
		/* The copy may move. */
		l->sections[i].name = lm_arena_strdup(&l->arena, (const char *)l->bytes + s->offset + at);
	}
}

static struct lm_err *read_sections(struct link *l)
{
	uint64_t at, names, room;
	struct lm_err *err = NULL;

	at = GET(l->bytes, Ehdr, e_shoff);
	l->nr = GET(l->bytes, Ehdr, e_shnum);
	names = GET(l->bytes, Ehdr, e_shstrndx);
	if (!at || at > l->len || l->len - at < sizeof(Elf64_Shdr) ||
	    GET(l->bytes, Ehdr, e_shentsize) != sizeof(Elf64_Shdr))
		return bad(l, "its section table lies outside the file", NULL);
	room = (l->len - at) / sizeof(Elf64_Shdr);
	if (!l->nr)
		l->nr = GET(l->bytes + at, Shdr, sh_size);
	if (names == SHN_XINDEX)
		names = GET(l->bytes + at, Shdr, sh_link);
	if (l->nr > room)
		return bad(l, "its section table lies outside the file", NULL);
	/* Relocations of a damaged file may write over the table itself. */
	l->headers = lm_arena_alloc(&l->arena, l->nr * sizeof(Elf64_Shdr) + 1);
	memcpy(l->headers, l->bytes + at, l->nr * sizeof(Elf64_Shdr));
	l->sections = LM_ARENA_ARRAY(&l->arena, struct section, l->nr + 1);
	for (uint64_t i = 0; i < l->nr && !err; i++)
		err = read_section(l, i, l->headers + i * sizeof(Elf64_Shdr));
	if (err)
		return err;
	for (uint32_t i = 1; i < l->nr; i++)
		if (l->sections[i].type == SHT_SYMTAB_SHNDX && l->sections[i].link < l->nr)
			l->sections[l->sections[i].link].wide = i;
	read_names(l, names);
	return NULL;
}

/* ---- addresses ---- */

/* Bounds that keep every sum below 64 bits. */
static struct lm_err *place(struct link *l, struct section *s)
{
	uint64_t align = s->align ? s->align : 1;

	if (align & (align - 1) || align > LM_LINK_TEXT)
		return bad(l, "a section has an alignment that no memory has", s);
	l->end = (l->end + align - 1) & ~(align - 1);
	if (s->size > MAX_SPAN || l->end + s->size > MAX_SPAN)
		return bad(l, "its sections are larger than memory", s);
	s->addr = l->end;
	s->placed = true;
	l->end += s->size;
	return NULL;
}

/* The kernel's classes of sections, in its order; it takes a section at the first that fits. */
enum class { CORE_TEXT, CORE_READ, CORE_AFTER_INIT, CORE_DATA, INIT_TEXT, INIT_READ, INIT_DATA, APART, NR_CLASSES };

/*
 * .modinfo and __versions are read while loading, per-CPU data is allocated
 * with the other per-CPU data.  Code that runs at unloading (.exit*) stays with
 * the rest where modules can be unloaded at all, which is everywhere.
 */
static enum class class_of(const struct section *s)
{
	bool init = !strncmp(s->name, ".init", 5), writable = s->flags & SHF_WRITE;

	if (!strcmp(s->name, ".data..percpu") || !strcmp(s->name, ".modinfo") || !strcmp(s->name, "__versions") ||
	    (s->flags & SHF_TLS))
		return APART;
	if (s->flags & SHF_EXECINSTR)
		return init ? INIT_TEXT : CORE_TEXT;
	if (!writable)
		return init ? INIT_READ : CORE_READ;
	if (!strcmp(s->name, ".data..ro_after_init") || !strcmp(s->name, "__jump_table"))
		return init ? INIT_DATA : CORE_AFTER_INIT;
	return init ? INIT_DATA : CORE_DATA;
}

static struct lm_err *place_sections(struct link *l)
{
	uint64_t total = 0;
	struct lm_err *err = NULL;

	/* No two have the same bytes: who walks over all of them walks over the file once. */
	for (uint64_t i = 1; i < l->nr; i++) {
		if ((l->sections[i].flags & SHF_ALLOC) && has_bytes(&l->sections[i]))
			total += l->sections[i].size;
		if (total > l->len)
			return bad(l, "its sections are longer than the file", &l->sections[i]);
	}
	l->end = LM_LINK_TEXT;
	for (int class = 0; class < NR_CLASSES && !err; class++) {
		for (uint64_t i = 1; i < l->nr && !err; i++) {
			struct section *s = &l->sections[i];

			if ((s->flags & SHF_ALLOC) && s->type != SHT_NULL && (int)class_of(s) == class)
				err = place(l, s);
		}
		l->end = (l->end + PAGE - 1) & ~(PAGE - 1);
	}
	return err;
}

/* ---- symbols ---- */

struct symbols {
	const struct section *table, *wide;	/* wide: numbers of sections beyond 16 bits */
	uint64_t nr;
};

static struct symbols symbols_of(const struct link *l, uint64_t index)
{
	const struct section *s = &l->sections[index];

	return (struct symbols){ s, s->wide ? &l->sections[s->wide] : NULL, s->size / sizeof(Elf64_Sym) };
}

/* The section of the i-th symbol; SHN_UNDEF: it is defined elsewhere. */
static uint64_t section_of(const struct link *l, const struct symbols *t, uint64_t i, const uint8_t *sym)
{
	uint64_t index = GET(sym, Sym, st_shndx);

	if (index == SHN_XINDEX && t->wide && i < t->wide->size / 4)
		return lm_le_get(l->bytes + t->wide->offset + 4 * i, 4);
	/* What a live patch takes from the kernel has a number of its own. */
	return index >= SHN_LORESERVE && index != SHN_ABS && index != SHN_COMMON ? SHN_UNDEF : index;
}

/*
 * A place among what is defined elsewhere, or by nobody yet (SHN_COMMON).  The
 * sizes are not known: a symbol gets room enough that what lies behind it is
 * taken for no other one, as long as there are not too many of them.
 */
static void place_elsewhere(struct link *l, uint8_t *sym, uint64_t nr)
{
	uint64_t slot = nr <= MAX_WIDE_SLOTS ? WIDE_SLOT : NARROW_SLOT, size = GET(sym, Sym, st_size);

	PUT(sym, Sym, st_value, l->end);
	/* A file without room for one more section keeps it undefined. */
	if (l->nr + 1 < SHN_LORESERVE)
		PUT(sym, Sym, st_shndx, l->nr);
	if (size < MAX_FILE && size > slot)
		slot = (size + slot - 1) / slot * slot;
	if (l->end < MAX_SPAN)
		l->end += slot;
}

static struct lm_err *place_symbols(struct link *l, uint64_t index)
{
	struct symbols t = symbols_of(l, index);

	for (uint64_t i = 1; i < t.nr; i++) {
		uint8_t *sym = l->bytes + t.table->offset + i * sizeof(Elf64_Sym);
		uint64_t section = section_of(l, &t, i, sym), value = GET(sym, Sym, st_value);

		if (section == SHN_UNDEF || section == SHN_COMMON)
			place_elsewhere(l, sym, t.nr);
		else if (section != SHN_ABS && section >= l->nr)
			return bad(l, "a symbol lies in no section", t.table);
		/* A thread's own data has no address. */
		else if (section != SHN_ABS && !(l->sections[section].flags & SHF_TLS))
			PUT(sym, Sym, st_value, value + l->sections[section].addr);
	}
	return NULL;
}

static struct lm_err *place_all_symbols(struct link *l)
{
	uint64_t total = 0;
	struct lm_err *err = NULL;

	l->end = (l->end + WIDE_SLOT - 1) & ~(uint64_t)(WIDE_SLOT - 1);
	l->elsewhere = l->end;
	for (uint64_t i = 1; i < l->nr && !err; i++) {
		if (l->sections[i].type != SHT_SYMTAB)
			continue;
		total += l->sections[i].size;
		err = total > l->len ? bad(l, "its symbols are longer than the file", NULL) : place_symbols(l, i);
	}
	return err;
}

/* ---- relocations ---- */

static struct lm_err *relocate(struct link *l, const struct section *list, const struct section *target,
			       const struct symbols *t, uint64_t i)
{
	const uint8_t *p = l->bytes + list->offset + i * sizeof(Elf64_Rela);
	uint64_t info = GET(p, Rela, r_info), symbol = ELF64_R_SYM(info);
	const uint8_t *sym = l->bytes + t->table->offset + symbol * sizeof(Elf64_Sym);
	struct lm_reloc r = {
		.bytes = l->bytes + target->offset, .size = target->size, .offset = GET(p, Rela, r_offset),
		.addend = (int64_t)GET(p, Rela, r_addend), .kind = (uint32_t)ELF64_R_TYPE(info),
	};

	if (symbol >= t->nr)
		return bad(l, "a relocation names no symbol", list);
	if (r.offset >= r.size)
		return r.kind ? bad(l, "a relocation lies outside its section", list) : NULL;
	r.place = target->addr + r.offset;
	r.value = (symbol ? GET(sym, Sym, st_value) : 0) + (uint64_t)r.addend;
	r.symbol_size = symbol ? GET(sym, Sym, st_size) : 0;
	switch (l->arm ? lm_reloc_arm64(&r) : lm_reloc_x86(&r)) {
	case LM_RELOC_DONE:
	case LM_RELOC_LEFT:
		return NULL;
	case LM_RELOC_OUTSIDE:
		return bad(l, "a relocation lies outside its section", list);
	case LM_RELOC_UNKNOWN:
		break;
	}
	return lm_err_new(LM_ERR_INPUT, "%s: relocation of kind %u in section %.*s is not known here; give the linked "
			  "program, or a file of a compiler in use", l->path, r.kind, MAX_NAME, list->name);
}

/* Where the kernel's tracer finds functions: left open, for who looks for uses of a function's address is misled by it. */
static bool is_tracers(const struct section *s)
{
	return !strcmp(s->name, "__mcount_loc") || !strcmp(s->name, "__patchable_function_entries");
}

/* True if what a list of relocations changes is asked for. */
static bool is_wanted(const struct link *l, const struct section *list)
{
	const struct section *target = list->info < l->nr ? &l->sections[list->info] : NULL;

	if ((list->type != SHT_RELA && list->type != SHT_REL && list->type != SHT_CREL_LLVM) || !target ||
	    !has_bytes(target) || is_tracers(target))
		return false;
	return target->placed || (l->part == LM_LINK_ALL && is_debug(target));
}

static struct lm_err *relocate_section(struct link *l, const struct section *list)
{
	const struct section *target = &l->sections[list->info];
	struct lm_err *err = NULL;
	struct symbols t;

	if (list->type != SHT_RELA)
		return bad(l, "its relocations are of a form that this machine does not use", list);
	if (list->link >= l->nr || l->sections[list->link].type != SHT_SYMTAB)
		return bad(l, "its relocations have no symbols", list);
	if (!strncmp(target->name, ".zdebug_", 8))
		return lm_err_new(LM_ERR_INPUT, "%s: its debug info is compressed in an old way; unpack it with objcopy "
				  "--decompress-debug-sections", l->path);
	t = symbols_of(l, list->link);
	for (uint64_t i = 0; i < list->size / sizeof(Elf64_Rela) && !err; i++)
		err = relocate(l, list, target, &t, i);
	return err;
}

static struct lm_err *relocate_all(struct link *l)
{
	uint64_t total = 0;
	struct lm_err *err = NULL;

	for (uint64_t i = 1; i < l->nr && !err; i++) {
		const struct section *s = &l->sections[i];

		if (i % 64 == 0 || s->size > PAGE)
			lm_progress("linking the object file", i, l->nr);
		if (!is_wanted(l, s))
			continue;
		total += s->size;
		err = total > l->len ? bad(l, "its relocations are longer than the file", NULL) : relocate_section(l, s);
	}
	lm_progress("linking the object file", l->nr, l->nr);
	return err;
}

/* ---- packed debug sections ---- */

static struct lm_err *unpack(struct link *l, uint64_t index)
{
	struct section *s = &l->sections[index];
	struct lm_arena arena = { 0 };
	const uint8_t *data;
	size_t len;
	uint64_t at;
	struct lm_err *err = lm_image_section_nr(l->path, index, &arena, &data, &len);

	if (!err && !len)
		err = bad(l, "a packed section cannot be unpacked", s);
	if (!err)
		err = extend(l, len, &at);
	if (!err) {
		memcpy(l->bytes + at, data, len);
		s->offset = at;
		s->size = len;
		s->flags &= ~(uint64_t)SHF_COMPRESSED;
	}
	lm_arena_release(&arena);
	return err;
}

static struct lm_err *unpack_all(struct link *l)
{
	struct lm_err *err = NULL;

	for (uint64_t i = 1; i < l->nr && !err && l->part == LM_LINK_ALL; i++)
		if ((l->sections[i].flags & SHF_COMPRESSED) && has_bytes(&l->sections[i]) && is_debug(&l->sections[i]))
			err = unpack(l, i);
	return err;
}

/* ---- writing ---- */

/* Lists of relocations are done with; libdwarf would find them by their names. */
static void write_section(uint8_t *p, const struct section *s)
{
	PUT(p, Shdr, sh_addr, s->addr);
	PUT(p, Shdr, sh_offset, s->offset);
	PUT(p, Shdr, sh_size, s->size);
	PUT(p, Shdr, sh_flags, s->flags);
	if (s->type == SHT_RELA || s->type == SHT_REL)
		memset(p, 0, sizeof(Elf64_Shdr));
}

static void write_elsewhere(const struct link *l, uint8_t *p)
{
	memset(p, 0, sizeof(Elf64_Shdr));
	PUT(p, Shdr, sh_type, SHT_NOBITS);
	PUT(p, Shdr, sh_flags, SHF_ALLOC);
	PUT(p, Shdr, sh_addr, l->elsewhere);
	PUT(p, Shdr, sh_size, l->end - l->elsewhere);
}

/* A new table behind the end, with one section more. */
static struct lm_err *write_table(struct link *l)
{
	uint64_t at, nr = l->nr + 1 < SHN_LORESERVE ? l->nr + 1 : l->nr;
	struct lm_err *err = extend(l, nr * sizeof(Elf64_Shdr), &at);
	uint8_t *table;

	if (err)
		return err;
	table = l->bytes + at;
	memcpy(table, l->headers, l->nr * sizeof(Elf64_Shdr));
	for (uint64_t i = 1; i < l->nr; i++)
		write_section(table + i * sizeof(Elf64_Shdr), &l->sections[i]);
	if (nr > l->nr) {
		write_elsewhere(l, table + l->nr * sizeof(Elf64_Shdr));
		PUT(l->bytes, Ehdr, e_shnum, nr);
	}
	PUT(l->bytes, Ehdr, e_shoff, at);
	PUT(l->bytes, Ehdr, e_type, ET_EXEC);
	PUT(l->bytes, Ehdr, e_phoff, 0);
	PUT(l->bytes, Ehdr, e_phnum, 0);
	return NULL;
}

static struct lm_err *make_copy(struct link *l, int from, uint64_t len)
{
	struct lm_err *err = copy_file(l, from, len);

	if (!err)
		err = read_sections(l);
	if (!err)
		err = place_sections(l);
	if (!err)
		err = place_all_symbols(l);
	if (!err)
		err = unpack_all(l);
	if (!err)
		err = relocate_all(l);
	return err ? err : write_table(l);
}

struct lm_err *lm_elf_link(const char *path, enum lm_link_part part, int *ret)
{
	struct link l = { .path = path, .part = part, .fd = -1 };
	uint8_t header[sizeof(Elf64_Ehdr)];
	int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct lm_err *err = NULL;
	struct stat st;

	if (from < 0)
		return lm_err_new(LM_ERR_INPUT, "%s: cannot be opened: %m", path);
	if (!fstat(from, &st) && S_ISREG(st.st_mode) && read_all(from, header, sizeof(header)) &&
	    is_ours(header, &l.arm))
		err = make_copy(&l, from, (uint64_t)st.st_size);
	close(from);
	if (l.bytes)
		munmap(l.bytes, l.len);
	if (err && l.fd >= 0)
		close(l.fd);
	if (!err)
		*ret = l.fd;
	lm_arena_release(&l.arena);
	return err;
}
