// ELF files, images that are loaded from them, and symbols of other images.

#ifndef LEAKTRACE_ELF_IMAGE_H
#define LEAKTRACE_ELF_IMAGE_H

#include "check.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// --- files -----------------------------------------------------------------------------------------------------------

// A mapped ELF file for this processor. It has sections and symbols that are not mapped when the image is loaded.

struct lt_elf_file {
  const uint8_t *bytes; ///< the whole file, mapped
  size_t size;
  const ElfW(Ehdr) *header;
  const ElfW(Shdr) *sections; ///< `e_shnum` section headers, all within the file
};

/// A symbol's address and size in bytes. Both are 0 if there is no such symbol.
struct lt_symbol {
  uint64_t address, size;
};

/// Maps the file. False if the file cannot be read or is no such ELF file. After success, the caller must call
/// lt_elf_close.
bool lt_elf_open(const char *path, struct lt_elf_file *file);
void lt_elf_close(struct lt_elf_file *file);
/// Looks up `count` names in .symtab. Found addresses are link-time addresses. False if there is no .symtab. Takes
/// linear time in the length of .symtab.
bool lt_elf_find_symbols(const struct lt_elf_file *file, const char *const names[], struct lt_symbol found[],
                         int count);
/// Calls `visit` for the defined symbols of .symtab, or of .dynsym if there is no .symtab. The names are valid until
/// the file is closed.
void lt_elf_visit_symbols(const struct lt_elf_file *file,
                          void (*visit)(void *context, const ElfW(Sym) *symbol, const char *name), void *context);
bool lt_elf_has_section(const struct lt_elf_file *file, const char *name);
/// True if the image whose ELF header is mapped at `base` was loaded from this file. Compares the ELF headers and the
/// program headers.
bool lt_elf_is_image(const struct lt_elf_file *file, uintptr_t base);

// --- loaded images ---------------------------------------------------------------------------------------------------

// An image that the loader has mapped: its addresses, and the symbols that are mapped with it.
//
// These functions make no calls into the loader. So they can read an image while the loader works on it, before or
// after its relocation.

struct lt_loaded_image {
  uintptr_t bias, start, end; ///< [start, end) contains all segments and is not empty
  const ElfW(Phdr) *programHeaders;
  uint32_t programHeaderCount;
  ElfW(Dyn) *dynamic; ///< not NULL
  const char *path;   ///< the path that the loader uses; for the executable, /proc/self/exe
  bool isExecutable;  ///< the program itself
};

struct dl_phdr_info; // <link.h> has it only with _GNU_SOURCE

/// Fills in the image from the information of dl_iterate_phdr. False if the image has no segments or no dynamic
/// section.
bool lt_loaded_image_from_info(const struct dl_phdr_info *info, struct lt_loaded_image *image);
/// Fills in the image from the loader's list of images. False if the image's ELF header is not mapped at its start.
bool lt_loaded_image_from_map(const struct link_map *map, struct lt_loaded_image *image);

/// Looks up a symbol that the image exports, and returns its run-time address and size. False if there is none. Takes
/// constant time with a GNU hash table.
bool lt_loaded_image_symbol(const struct lt_loaded_image *image, const char *name, struct lt_symbol *found);
/// True if the image imports a symbol whose name begins with `prefix`.
bool lt_loaded_image_imports(const struct lt_loaded_image *image, const char *prefix);
/// True if the image refers to data of another image, and if this data lies in [start, end). The loader resolves these
/// references when it loads the image. Takes linear time in the number of the image's relocations.
bool lt_loaded_image_refers(const struct lt_loaded_image *image, uintptr_t start, uintptr_t end);
/// True if the loader has relocated the image. Judges by the first word that relocation makes an address in the image
/// itself. Also true if there is no such word.
bool lt_loaded_image_is_relocated(const struct lt_loaded_image *image);

/// A word of an image that the loader sets to the address of a symbol.
struct lt_reference {
  const char *name; ///< name of the symbol
  void **place;
  bool isCall;      ///< used only by calls; other references may be compared, or copied elsewhere
  bool isUnsettled; ///< the call was not made yet, so the word still leads to the loader
};
/// Calls `visit` for all references to symbols of a relocated image. Takes linear time in the number of relocations.
void lt_loaded_image_show_references(const struct lt_loaded_image *image,
                                     void (*visit)(const struct lt_reference *reference, void *context), void *context);
/// Changes the word of a reference. If the loader made the word's page read-only, makes it read-only again.
void lt_loaded_image_replace(const struct lt_loaded_image *image, void **place, void *address);

/// Makes the image's references to these symbols lead to other addresses. The image must be relocated. If the loader
/// made pages read-only, makes them read-only again.
void lt_loaded_image_bind(const struct lt_loaded_image *image, const char *const names[], void *const addresses[],
                          int count);
/// Redirects an image's calls of the function `name` from `from` to `to`. This includes calls not yet made, which the
/// loader would bind to the first definition of `name`. Pointers to the function stay unchanged, because a program may
/// compare them. The image must be relocated.
void lt_loaded_image_rebind_calls(const struct lt_loaded_image *image, const char *name, void *from, void *to);
/// Returns the first entry with this tag in the dynamic section, or NULL.
ElfW(Dyn) *lt_loaded_image_entry(const struct lt_loaded_image *image, ElfW(Sxword) tag);
/// True if an address is in a segment that is loaded as writable.
bool lt_loaded_image_is_writable(const struct lt_loaded_image *image, uintptr_t address);

static inline bool lt_loaded_image_covers(const struct lt_loaded_image *image, uintptr_t address) {
  return address >= image->start && address < image->end;
}

// --- symbols of other images -----------------------------------------------------------------------------------------

// Looks up functions of other images by name, with any glibc from 2.31 on.
//
// This library must also load in processes with an older glibc than the build machine's. Before 2.34, glibc has dlsym
// in a separate library, libdl.so.2, which few C programs load.

/// Returns the definition of `name` that follows this library in the loader's order. If there is none, returns the
/// first one before this library, or NULL.
void *lt_next_symbol(const char *name);

/// True if no image before this library defines `name`.
bool lt_symbol_is_first_here(const char *name);

/// True if both addresses are in the same image.
bool lt_are_in_one_image(uintptr_t one, uintptr_t other);

#endif
