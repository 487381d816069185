// ELF files, the images that are loaded from them, and symbols of other images.

#ifndef LEAKTRACE_ELF_IMAGE_H
#define LEAKTRACE_ELF_IMAGE_H

#include "check.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// --- files -----------------------------------------------------------------------------------------------------------

// An ELF file of this machine's kind, mapped to be read: its sections, and the symbols that are not mapped with an
// image.

struct lt_elf_file {
  const uint8_t *bytes; ///< the whole file, mapped
  size_t size;
  const ElfW(Ehdr) *header;
  const ElfW(Shdr) *sections; ///< `e_shnum` of them, all in the file
};

/// A symbol's address and the bytes it takes; 0, 0 where there is none of the name.
struct lt_symbol {
  uint64_t address, size;
};

/// Maps the file. False if it cannot be read or is not such a file; otherwise lt_elf_close must follow.
bool lt_elf_open(const char *path, struct lt_elf_file *file);
void lt_elf_close(struct lt_elf_file *file);
/// Looks up `count` names in .symtab. Addresses are link-time addresses. False without a .symtab. Linear in its length.
bool lt_elf_find_symbols(const struct lt_elf_file *file, const char *const names[], struct lt_symbol found[],
                         int count);
/// Calls `visit` for the defined symbols of .symtab, or of .dynsym if there is no .symtab. The names are owned by the
/// file.
void lt_elf_visit_symbols(const struct lt_elf_file *file,
                          void (*visit)(void *context, const ElfW(Sym) *symbol, const char *name), void *context);
bool lt_elf_has_section(const struct lt_elf_file *file, const char *name);
/// True if the image whose ELF header is mapped at `base` is this file: its program headers are the same bytes.
bool lt_elf_is_image(const struct lt_elf_file *file, uintptr_t base);

// --- loaded images ---------------------------------------------------------------------------------------------------

// An image that the loader has mapped: its addresses, and the symbols that are mapped with it.
//
// Makes no calls into the loader, so an image can be read while the loader works on it, relocated or not.

struct lt_loaded_image {
  uintptr_t bias, start, end; ///< [start, end) has all segments, and is not empty
  const ElfW(Phdr) *programHeaders;
  uint32_t programHeaderCount;
  ElfW(Dyn) *dynamic; ///< not NULL
  const char *path;   ///< the loader's; for the executable, the kernel's link to it
  bool isExecutable;  ///< the program itself
};

struct dl_phdr_info; // <link.h> has it only with _GNU_SOURCE

/// Fills in the image from the information of dl_iterate_phdr. False if it has no code or no dynamic section.
bool lt_loaded_image_from_info(const struct dl_phdr_info *info, struct lt_loaded_image *image);
/// Fills in the image from the loader's list of images. False if its ELF header is not mapped where the image begins.
bool lt_loaded_image_from_map(const struct link_map *map, struct lt_loaded_image *image);

/// The run-time address of a symbol that the image defines for others. False if there is none. Constant time with a GNU
/// hash table.
bool lt_loaded_image_symbol(const struct lt_loaded_image *image, const char *name, struct lt_symbol *found);
/// True if the image imports a symbol whose name begins with `prefix`.
bool lt_loaded_image_imports(const struct lt_loaded_image *image, const char *prefix);
/// True if one of the image's references to data of other images points into [start, end). The loader resolves these
/// when it loads the image. Linear in its relocations.
bool lt_loaded_image_refers(const struct lt_loaded_image *image, uintptr_t start, uintptr_t end);
/// True if the loader has relocated the image, judged by the first word that holds an address in the image itself. True
/// if there is none.
bool lt_loaded_image_is_relocated(const struct lt_loaded_image *image);

/// A word of an image that the loader sets to the address of a symbol.
struct lt_reference {
  const char *name; ///< of the symbol
  void **place;
  bool isCall;      ///< used only by calls; other references may be compared, and kept elsewhere
  bool isUnsettled; ///< a call that was not made yet, and still leads to the loader
};
/// Calls `visit` for all references to symbols of a relocated image. Linear in its relocations.
void lt_loaded_image_show_references(const struct lt_loaded_image *image,
                                     void (*visit)(const struct lt_reference *reference, void *context), void *context);
/// Changes the word of a reference. If the image's relocated part was made read-only, it is so again afterwards.
void lt_loaded_image_replace(const struct lt_loaded_image *image, void **place, void *address);

/// Makes the image's references to symbols of these names lead to other addresses. The image must be relocated. Parts
/// that were made read-only since are so again afterwards.
void lt_loaded_image_bind(const struct lt_loaded_image *image, const char *const names[], void *const addresses[],
                          int count);
/// Redirects an image's calls of the function `name` from `from` to `to`. This includes calls not yet made, which the
/// loader would bind to the first function of the name. Pointers to the function are unchanged: a program may compare
/// them. The image must be relocated.
void lt_loaded_image_rebind_calls(const struct lt_loaded_image *image, const char *name, void *from, void *to);
/// The entry of the dynamic section, or NULL.
ElfW(Dyn) *lt_loaded_image_entry(const struct lt_loaded_image *image, ElfW(Sxword) tag);
/// True if an address is in a segment that is loaded as writable.
bool lt_loaded_image_is_writable(const struct lt_loaded_image *image, uintptr_t address);

static inline bool lt_loaded_image_covers(const struct lt_loaded_image *image, uintptr_t address) {
  return address >= image->start && address < image->end;
}

// --- symbols of other images -----------------------------------------------------------------------------------------

// Functions of other images by name, with any glibc from 2.31 on.
//
// The library must load into processes with an older glibc than the build machine's. Until 2.33, glibc
// has dlsym in a library of its own, libdl.so.2, which few C programs load.

/// Returns the definition of `name` that follows this library's in the loader's order, else one before it. NULL if
/// there is none.
void *lt_next_symbol(const char *name);

/// Tells whether this library has the first definition of `name`, or no image has one.
bool lt_symbol_is_first_here(const char *name);

/// Tells whether one image has both addresses.
bool lt_are_in_one_image(uintptr_t one, uintptr_t other);

#endif
