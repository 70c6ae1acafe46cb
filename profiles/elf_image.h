/*
 * elf_image.h - the bytes and symbols of an ELF file by address.  The only
 * door to libelf.
 */
#ifndef LM_PROFILES_ELF_IMAGE_H
#define LM_PROFILES_ELF_IMAGE_H

#include "base/err.h"
#include "profiles/insn.h"

struct lm_arena;
struct lm_image;

/* The bytes of a section by name, unpacked if they are compressed, in arena; *len 0: there is none. */
struct lm_err *lm_image_section(const char *path, const char *name, struct lm_arena *arena, const uint8_t **data,
				size_t *len) LM_MUST_CHECK;

/* The same by number, which no other section has. */
struct lm_err *lm_image_section_nr(const char *path, size_t index, struct lm_arena *arena, const uint8_t **data,
				   size_t *len) LM_MUST_CHECK;

/* A file whose sections are handed out as they lie in it, not copied: for large ones. */
struct lm_sections;

struct lm_err *lm_sections_open(const char *path, struct lm_sections **ret) LM_MUST_CHECK;
void lm_sections_close(struct lm_sections *s);	/* NULL is fine */

/* The bytes of a section by name, unpacked if they are compressed, until it is closed; NULL: there is none. */
const uint8_t *lm_sections_get(struct lm_sections *s, const char *name, size_t *len);

/*
 * An object file is linked first (elf_link.h), so that every address is one
 * place.  LM_ERR_INPUT: not readable, damaged, or for a machine whose
 * instructions are not known here.
 */
struct lm_err *lm_image_open(const char *path, struct lm_image **ret) LM_MUST_CHECK;
void lm_image_close(struct lm_image *image);	/* NULL is fine */

enum lm_machine lm_image_machine(const struct lm_image *image);

/* True if it was an object file: a kernel module, or one file of a program. */
bool lm_image_relocatable(const struct lm_image *image);

/* False if no code is in the file, as in one that debug info was split off to. */
bool lm_image_has_code(const struct lm_image *image);

/* The bytes from address to the end of its section, *len of them; NULL where the file has none. */
const uint8_t *lm_image_bytes(const struct lm_image *image, uint64_t address, size_t *len);

/* A section that is in memory: its bytes are the file's (NULL: it has none there). */
struct lm_image_part {
	uint64_t addr;
	const uint8_t *bytes;
	size_t len;
	bool code;		/* it is executed */
};

/* The n-th one, n from 0; false behind the last. */
bool lm_image_part(const struct lm_image *image, size_t n, struct lm_image_part *ret);

/*
 * True if other files may use what starts at address by its name: a symbol for
 * the dynamic linker, or a global one of an object file.  What a kernel or a
 * module exports is in its __ksymtab instead.
 */
bool lm_image_exports(const struct lm_image *image, uint64_t address);

/* The symbol that address lies in (or that starts last before it, if sizes are missing); "" none. */
const char *lm_image_symbol(const struct lm_image *image, uint64_t address, uint64_t *start);

/* The n-th other symbol that starts where address is the start of one, n from 0; NULL: no more. */
const char *lm_image_alias(const struct lm_image *image, uint64_t address, size_t n);

/* The address of a symbol by name; false: none. */
bool lm_image_find(const struct lm_image *image, const char *name, uint64_t *address);

/* The same for those of one name, functions of several files, by address: the n-th, n from 0. */
bool lm_image_find_nth(const struct lm_image *image, const char *name, size_t n, uint64_t *address);

/* The address at which a byte of the file is loaded; false: it is not loaded. */
bool lm_image_address(const struct lm_image *image, uint64_t file_offset, uint64_t *address);

#endif
