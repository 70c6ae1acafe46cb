/*
 * elf_image.c - sections and symbols, by libelf.
 */
#include "profiles/elf_image.h"

#include "base/arena.h"
#include "profiles/elf_link.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_HEADERS = 1 << 16 };

struct symbol {
	uint64_t addr, size;
	const char *name;
	uint32_t order;		/* in the file: the last key of the sort */
	bool code;
};

struct part {	/* a section that is in memory */
	uint64_t addr, size;
	const uint8_t *bytes;	/* NULL: .bss */
	bool code;
};

struct load { uint64_t addr, offset, size; };

struct lm_image {
	Elf *elf;
	int fd;
	enum lm_machine machine;
	bool relocatable, has_code;
	struct lm_arena arena;
	struct part *parts;
	size_t nr_parts, cap_parts;
	struct symbol *symbols;	/* sorted by address */
	size_t nr_symbols, cap_symbols;
	struct load *loads;
	size_t nr_loads, cap_loads;
	uint64_t *exports;	/* addresses, sorted */
	size_t nr_exports, cap_exports;
};

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	/* The largest last: it is found first. */
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->order > y->order ? -1 : x->order < y->order;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void add_part(struct lm_image *image, Elf_Scn *scn, const GElf_Shdr *h)
{
	struct part p = { .addr = h->sh_addr, .size = h->sh_size, .code = h->sh_flags & SHF_EXECINSTR };
	Elf_Data *data = h->sh_type == SHT_NOBITS ? NULL : elf_rawdata(scn, NULL);

	if (data && data->d_buf) {
		p.bytes = data->d_buf;
		p.size = data->d_size;
		image->has_code |= p.size && (h->sh_flags & SHF_EXECINSTR);
	}
	if (p.size && p.addr <= UINT64_MAX - p.size)
		*LM_ARENA_PUSH(&image->arena, image->parts, image->nr_parts, image->cap_parts) = p;
}

static void add_symbols(struct lm_image *image, Elf_Scn *scn, const GElf_Shdr *h)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t nr = data && h->sh_entsize ? data->d_size / h->sh_entsize : 0;

	for (size_t i = 0; i < nr && i < INT32_MAX; i++) {
		GElf_Sym sym;
		const char *name;
		unsigned type;

		if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF || sym.st_shndx == SHN_ABS)
			continue;
		type = GELF_ST_TYPE(sym.st_info);
		name = elf_strptr(image->elf, h->sh_link, sym.st_name);
		if (!name || !*name || type == STT_SECTION || type == STT_FILE || type == STT_TLS)
			continue;
		*LM_ARENA_PUSH(&image->arena, image->symbols, image->nr_symbols, image->cap_symbols) =
			(struct symbol){ sym.st_value, sym.st_size, name, (uint32_t)image->nr_symbols,
					 type == STT_FUNC };
	}
}

static void add_exports(struct lm_image *image, Elf_Scn *scn, const GElf_Shdr *h)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t nr = data && h->sh_entsize ? data->d_size / h->sh_entsize : 0;

	for (size_t i = 0; i < nr && i < INT32_MAX; i++) {
		GElf_Sym sym;

		if (gelf_getsym(data, (int)i, &sym) && sym.st_shndx != SHN_UNDEF && GELF_ST_BIND(sym.st_info) != STB_LOCAL)
			*LM_ARENA_PUSH(&image->arena, image->exports, image->nr_exports, image->cap_exports) =
				sym.st_value;
	}
	if (image->nr_exports)
		qsort(image->exports, image->nr_exports, sizeof(*image->exports), by_value);
}

static Elf_Scn *section_by_name(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr h;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *this = gelf_getshdr(scn, &h) ? elf_strptr(elf, names, h.sh_name) : NULL;

		if (this && !strcmp(this, name) && h.sh_type != SHT_NOBITS)
			return scn;
	}
	return NULL;
}

/* What other files may use by its name: what is global in a file that is still to be linked; of a module, nothing is. */
static void note_exports(struct lm_image *image, Elf_Scn *symbols, Elf_Scn *dynamic)
{
	GElf_Shdr h;

	if (image->relocatable)
		dynamic = section_by_name(image->elf, ".gnu.linkonce.this_module") ? NULL : symbols;
	if (dynamic && gelf_getshdr(dynamic, &h))
		add_exports(image, dynamic, &h);
}

static void read_sections(struct lm_image *image)
{
	Elf_Scn *scn = NULL, *dynamic = NULL, *symbols = NULL;
	GElf_Shdr h;

	while ((scn = elf_nextscn(image->elf, scn))) {
		if (!gelf_getshdr(scn, &h))
			continue;
		if ((h.sh_flags & SHF_ALLOC) && !(h.sh_flags & SHF_TLS))
			add_part(image, scn, &h);
		if (h.sh_type == SHT_SYMTAB) {
			add_symbols(image, scn, &h);
			symbols = scn;
		} else if (h.sh_type == SHT_DYNSYM) {
			dynamic = scn;
		}
	}
	if (dynamic && !image->nr_symbols && gelf_getshdr(dynamic, &h))
		add_symbols(image, dynamic, &h);
	note_exports(image, symbols, dynamic);
	if (image->nr_symbols)
		qsort(image->symbols, image->nr_symbols, sizeof(*image->symbols), by_address);
}

static void read_loads(struct lm_image *image)
{
	size_t nr = 0;

	if (elf_getphdrnum(image->elf, &nr))
		return;
	for (size_t i = 0; i < nr && i < MAX_HEADERS; i++) {
		GElf_Phdr h;

		if (gelf_getphdr(image->elf, (int)i, &h) && h.p_type == PT_LOAD)
			*LM_ARENA_PUSH(&image->arena, image->loads, image->nr_loads, image->cap_loads) =
				(struct load){ h.p_vaddr, h.p_offset, h.p_filesz };
	}
}

static struct lm_err *read_image(struct lm_image *image, const char *path)
{
	GElf_Ehdr h;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return lm_err_new(LM_ERR_INPUT, "%s: libelf is too old for it; install a newer one", path);
	image->elf = elf_begin(image->fd, ELF_C_READ_MMAP, NULL);
	if (!image->elf || !gelf_getehdr(image->elf, &h))
		return lm_err_new(LM_ERR_INPUT, "%s: is no ELF file that can be read: %s", path, elf_errmsg(-1));
	if ((h.e_machine != EM_X86_64 && h.e_machine != EM_AARCH64) || h.e_ident[EI_CLASS] != ELFCLASS64 ||
	    h.e_ident[EI_DATA] != ELFDATA2LSB)
		return lm_err_new(LM_ERR_INPUT, "%s: is for machine %u; only 64-bit x86 and little-endian Arm code can "
				  "be read: give a profile with data addresses and --object instead", path, h.e_machine);
	image->machine = h.e_machine == EM_X86_64 ? LM_X86_64 : LM_ARM64;
	read_sections(image);
	read_loads(image);
	return NULL;
}

struct lm_err *lm_image_open(const char *path, struct lm_image **ret)
{
	struct lm_image *image = calloc(1, sizeof(*image));
	struct lm_err *err;

	if (!image)
		lm_oom();
	image->fd = -1;
	err = lm_elf_link(path, LM_LINK_CODE, &image->fd);
	image->relocatable = image->fd >= 0;
	if (!err && !image->relocatable)
		image->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!err && image->fd < 0)
		err = lm_err_new(LM_ERR_INPUT, "%s: cannot be opened: %m", path);
	if (!err)
		err = read_image(image, path);
	if (!err)
		*ret = image;
	else
		lm_image_close(image);
	return err;
}

void lm_image_close(struct lm_image *image)
{
	if (!image)
		return;
	if (image->elf)
		elf_end(image->elf);
	if (image->fd >= 0)
		close(image->fd);
	lm_arena_release(&image->arena);
	free(image);
}

enum lm_machine lm_image_machine(const struct lm_image *image)
{
	return image->machine;
}

bool lm_image_relocatable(const struct lm_image *image)
{
	return image->relocatable;
}

bool lm_image_has_code(const struct lm_image *image)
{
	return image->has_code;
}

static const struct part *find_part(const struct lm_image *image, uint64_t address)
{
	for (size_t i = 0; i < image->nr_parts; i++)
		if (address >= image->parts[i].addr && address - image->parts[i].addr < image->parts[i].size)
			return &image->parts[i];
	return NULL;
}

const uint8_t *lm_image_bytes(const struct lm_image *image, uint64_t address, size_t *len)
{
	const struct part *p = find_part(image, address);

	if (!p || !p->bytes)
		return NULL;
	*len = p->size - (address - p->addr);
	return p->bytes + (address - p->addr);
}

bool lm_image_part(const struct lm_image *image, size_t n, struct lm_image_part *ret)
{
	if (n >= image->nr_parts)
		return false;
	*ret = (struct lm_image_part){ image->parts[n].addr, image->parts[n].bytes, image->parts[n].size,
				       image->parts[n].code };
	return true;
}

bool lm_image_exports(const struct lm_image *image, uint64_t address)
{
	return image->nr_exports &&
		bsearch(&address, image->exports, image->nr_exports, sizeof(*image->exports), by_value);
}

const char *lm_image_symbol(const struct lm_image *image, uint64_t address, uint64_t *start)
{
	size_t lo = 0, hi = image->nr_symbols;

	*start = 0;
	if (!find_part(image, address))
		return "";
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (image->symbols[mid].addr <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t back = 0; lo-- > 0 && back < 64; back++) {
		const struct symbol *s = &image->symbols[lo];

		if (s->size ? address - s->addr < s->size : back == 0) {
			*start = s->addr;
			return s->name;
		}
	}
	return "";
}

const char *lm_image_alias(const struct lm_image *image, uint64_t address, size_t n)
{
	size_t lo = 0, hi = image->nr_symbols;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (image->symbols[mid].addr < address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (n >= image->nr_symbols - lo || image->symbols[lo + n].addr != address)
		return NULL;
	return image->symbols[lo + n].name;
}

bool lm_image_find(const struct lm_image *image, const char *name, uint64_t *address)
{
	return lm_image_find_nth(image, name, 0, address);
}

bool lm_image_find_nth(const struct lm_image *image, const char *name, size_t n, uint64_t *address)
{
	for (size_t i = 0; i < image->nr_symbols; i++) {
		if (!strcmp(image->symbols[i].name, name) && n-- == 0) {
			*address = image->symbols[i].addr;
			return true;
		}
	}
	return false;
}

bool lm_image_address(const struct lm_image *image, uint64_t file_offset, uint64_t *address)
{
	for (size_t i = 0; i < image->nr_loads; i++) {
		const struct load *l = &image->loads[i];

		if (file_offset >= l->offset && file_offset - l->offset < l->size) {
			*address = l->addr + (file_offset - l->offset);
			return true;
		}
	}
	return false;
}

/* Old compressed sections (.zdebug_NAME, "ZLIB" and the size) are left out: nothing has written them for years. */
static Elf_Data *unpacked(Elf_Scn *scn)
{
	GElf_Shdr h;

	if (!scn || !gelf_getshdr(scn, &h) || h.sh_type == SHT_NOBITS)
		return NULL;
	if ((h.sh_flags & SHF_COMPRESSED) && elf_compress(scn, 0, 0) < 0)
		return NULL;
	return elf_rawdata(scn, NULL);
}

struct lm_sections {
	Elf *elf;
	int fd;
};

struct lm_err *lm_sections_open(const char *path, struct lm_sections **ret)
{
	struct lm_sections *s;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return lm_err_new(LM_ERR_INPUT, "%s: cannot be opened: %m", path);
	s = calloc(1, sizeof(*s));
	if (!s)
		lm_oom();
	s->fd = fd;
	s->elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	*ret = s;
	return NULL;
}

void lm_sections_close(struct lm_sections *s)
{
	if (!s)
		return;
	elf_end(s->elf);
	close(s->fd);
	free(s);
}

/* By name, or where that is NULL by number. */
static const uint8_t *get(struct lm_sections *s, const char *name, size_t index, size_t *len)
{
	Elf_Data *found = NULL;

	*len = 0;
	if (s->elf)
		found = unpacked(name ? section_by_name(s->elf, name) : elf_getscn(s->elf, index));
	if (!found || !found->d_buf || !found->d_size)
		return NULL;
	*len = found->d_size;
	return found->d_buf;
}

const uint8_t *lm_sections_get(struct lm_sections *s, const char *name, size_t *len)
{
	return get(s, name, 0, len);
}

static struct lm_err *read_section(const char *path, const char *name, size_t index, struct lm_arena *arena,
				   const uint8_t **data, size_t *len)
{
	struct lm_sections *s;
	const uint8_t *found;
	struct lm_err *err = lm_sections_open(path, &s);

	*data = NULL;
	*len = 0;
	if (err)
		return err;
	found = get(s, name, index, len);
	if (found) {
		uint8_t *copy = lm_arena_alloc(arena, *len);

		memcpy(copy, found, *len);
		*data = copy;
	}
	lm_sections_close(s);
	return NULL;
}

struct lm_err *lm_image_section(const char *path, const char *name, struct lm_arena *arena, const uint8_t **data,
				size_t *len)
{
	return read_section(path, name, 0, arena, data, len);
}

struct lm_err *lm_image_section_nr(const char *path, size_t index, struct lm_arena *arena, const uint8_t **data,
				   size_t *len)
{
	return read_section(path, NULL, index, arena, data, len);
}
